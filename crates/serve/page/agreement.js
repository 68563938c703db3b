// Agreement: the same text decoded sentence by sentence and together, what tied its words, and how strongly.

import { ask } from "./api.js";
import { certificate, editor, h, later, newest, refusal, remember } from "./page.js";
import { kind } from "./tree.js";

const EXAMPLE = `Marlow spoke first. Marlow left at noon. Nobody in Leeds had told Marlow. Everton bought Marlow.

MARLOW SHINES FOR EVERTON`;

export default function start(root, given) {
  const input = editor({ "aria-label": "Text", rows: 5 });
  input.value = given.get("text") ?? EXAMPLE;
  const slider = h("input", { type: "range", min: 0, max: 6, step: 0.1, "aria-label": "Strength of agreement" });
  slider.value = given.get("strength") ?? 4;
  const shown = h("output");
  const out = h("div");
  root.append(
    h("p.lead", "A name that is clear in one sentence should help where it is not. Left, each sentence is decoded by itself; right, ", h("strong", "all at once"),
      ": occurrences of a word and of a phrase are tied, and the answer is the best of all labellings together, with a certificate. Words that are tied are dotted; look at one to see its partners."),
    input, h("div.bar", h("label", "Strength ", slider, shown), h("span.note", "0: nobody agrees; 1: a tie counts as much as the model's margin")), out);
  let answer;
  const run = newest(async () => {
    shown.textContent = Number(slider.value).toFixed(2);
    remember("agreement", { text: input.value === EXAMPLE ? null : input.value, strength: slider.value === "4" ? null : slider.value });
    try {
      answer = await ask("/v1/agreement", { text: input.value, strength: Number(slider.value) });
      paint();
    } catch (error) { out.replaceChildren(refusal(error)); }
  });
  const paint = () => {
    const partners = new Map();
    const key = (sentence, word) => `${sentence}:${word}`;
    for (const tie of answer.ties) {
      const [one, other] = tie.places.map(({ sentence, start, end }) => Array.from({ length: end - start }, (_, at) => key(sentence, start + at)));
      one.forEach((word, at) => {
        for (const [from, to] of [[word, other[at]], [other[at], word]]) partners.set(from, (partners.get(from) ?? new Set()).add(to));
      });
    }
    /** All words that hang together with one. */
    const group = (from) => {
      const seen = new Set([from]);
      for (const word of seen) for (const next of partners.get(word) ?? []) seen.add(next);
      return seen;
    };
    const changed = answer.sentences.reduce((sum, { alone, agreed }) => sum + alone.filter((label, word) => label !== agreed[word]).length, 0);
    const cells = [];
    const light = (own) => { const lit = own ? group(own) : new Set(); cells.forEach((cell) => cell.classList.toggle("lit", lit.has(cell.dataset.key))); };
    const passage = (labels) => h("div.passage", answer.sentences.map((sentence, number) => h("span", marks(sentence, sentence[labels], (word) => {
      const own = key(number, word), tied = partners.has(own), differs = sentence.alone[word] !== sentence.agreed[word];
      const cell = h(`span.word${tied ? ".tied" : ""}${differs ? ".differs" : ""}`, { "data-key": own, tabindex: tied ? 0 : null, title: differs ? `alone ${sentence.alone[word]}, together ${sentence.agreed[word]}` : null }, sentence.words[word]);
      if (tied) {
        cell.addEventListener("pointerenter", () => light(own));
        cell.addEventListener("focus", () => light(own));
        cell.addEventListener("pointerleave", () => light());
      }
      cells.push(cell);
      return cell;
    }), " ")));
    const counts = new Map();
    for (const { text } of answer.ties) counts.set(text, (counts.get(text) ?? 0) + 1);
    out.replaceChildren(
      h("div.columns", h("div.card", h("h2", "Sentence by sentence"), passage("alone")), h("div.card", h("h2", "Together"), passage("agreed"))),
      h("p", { id: "verdict" }, h("b", `${changed} label${changed === 1 ? "" : "s"} changed.`), " ", ...answer.units.map(certificate)),
      h("p.note", `Tied: ${[...counts].map(([text, count]) => (count > 1 ? `${text} (${count})` : text)).join(", ") || "nothing"}.`,
        answer.learned ? " The model has learned how much each tie counts." : " This model has learned no agreement: all ties count the same."));
  };
  input.addEventListener("input", later(run));
  slider.addEventListener("input", run);
  run();
}

/** The words of a sentence, names in marks with their types. */
function marks(sentence, labels, cell) {
  const parts = [];
  let mark;
  sentence.words.forEach((_, word) => {
    const [position, type] = labels[word] === "O" || labels[word] === "_" ? [] : labels[word].split(/-(.*)/);
    const begins = type && (/^[BSU]/.test(position) || !mark || mark.type !== type);
    if (!type || begins) mark = undefined;
    if (begins) { mark = { type, node: h(`mark.${kind(type)}`) }; parts.push(mark.node); }
    const next = labels[word + 1] ?? "O";
    const goes = type && /^[IELM]-/.test(next) && next.endsWith(`-${type}`);
    (mark?.node ?? { append: (...nodes) => parts.push(...nodes) }).append(cell(word));
    if (mark && !goes) { mark.node.append(h("i", type)); mark = undefined; }
    const space = sentence.spaces[word] ? " " : "";
    if (space) (mark?.node ?? { append: (node) => parts.push(node) }).append(space);
  });
  return parts;
}
