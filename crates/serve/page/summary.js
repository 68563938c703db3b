// Summary: documents side by side, sentences chosen, words struck out, and a budget that moves.

import { ask } from "./api.js";
import { certificate, editor, h, later, newest, refusal, remember } from "./page.js";

const EXAMPLE = [
  "A storm with winds of up to 140 kilometres an hour hit the northern coast on Monday night, leaving some 80,000 homes without power. Officials in Kiel said that two ferries had been torn from their moorings. Schools in the region stayed closed on Tuesday. Repairs to the power lines, which had been damaged by falling trees, would take several days, the operator said.",
  "Tens of thousands of people were still without power on Tuesday after the worst storm in ten years hit the northern coast. Falling trees damaged power lines and blocked railway tracks between Kiel and Hamburg. Nobody was killed, but eleven people were treated in hospital, according to the police. The weather service expects calmer winds by Wednesday.",
  "The storm that hit the northern coast on Monday has cost insurers about 300 million euros, a first estimate says. Most of the damage was done by falling trees. In Kiel, where two ferries were torn from their moorings, the harbour remained closed on Tuesday, while railway traffic to Hamburg was resumed in the evening.",
];

export default function start(root, given) {
  const texts = given.has("doc") ? given.getAll("doc") : EXAMPLE;
  const documents = h("div.columns");
  const slider = h("input", { type: "range", min: 5, max: 160, step: 1, "aria-label": "Words of the summary" });
  slider.value = given.get("words") ?? 40;
  const shown = h("output");
  const whole = h("input", { type: "checkbox", checked: given.get("whole") === "yes" });
  const out = h("div");
  const add = (text) => {
    const area = editor({ rows: 7, "aria-label": "Document" });
    area.value = text;
    const remove = h("button", { type: "button", "aria-label": "Remove the document", onclick: () => { box.remove(); run(); } }, "×");
    const source = h("div.source", { hidden: true });
    const box = h("div.card", h("div.bar", h("b", "Document"), h("span.end", h("button", { type: "button", onclick: () => show(area.hidden) }, "Edit"), remove)), area, source);
    const show = (edits) => { area.hidden = !edits; source.hidden = edits; };
    area.addEventListener("input", later(run, 400));
    Object.assign(box, { area, source, show });
    documents.append(box);
  };
  const boxes = () => [...documents.children].filter((box) => box.area.value.trim());
  root.append(
    h("p.lead", "Several documents about one thing become one summary: sentences are chosen and ", h("strong", "compressed together"), ", so that they say as much as possible within the budget. Move it: every stop is solved anew, with a bound."),
    h("div.bar", h("label", "Words ", slider, shown), h("label", whole, "whole sentences only"), h("span.end", h("button", { type: "button", onclick: () => add("") }, "Add a document"))),
    out, h("h2", "Documents ", h("small", "what was chosen is shaded, what was left out of it struck")), documents);
  let answer;
  const run = newest(async () => {
    shown.textContent = slider.value;
    const used = boxes();
    const given = used.map((box) => box.area.value);
    if (given.join("\0") === EXAMPLE.join("\0")) remember("summary", { words: slider.value === "40" ? null : slider.value, whole: whole.checked ? "yes" : null });
    else {
      const query = new URLSearchParams(given.map((text) => ["doc", text]));
      query.set("words", slider.value);
      if (whole.checked) query.set("whole", "yes");
      if (String(query).length < 12000) history.replaceState(null, "", `#/summary?${query}`);
    }
    if (!given.length) return out.replaceChildren(h("p.note", "There is nothing to summarize yet."));
    try {
      answer = await ask("/v1/summarize", { documents: given.map((text, number) => ({ id: `document ${number + 1}`, text })), words: Number(slider.value), extractive: whole.checked });
      paint(used);
    } catch (error) { out.replaceChildren(refusal(error)); }
  });
  const paint = (used) => {
    const struck = (words) => words.map(({ text, kept, start }, at) => [at > 0 && start > words[at - 1].end ? " " : "", kept ? text : h("del", text)]);
    const most = Math.max(1e-9, ...answer.concepts.map((concept) => concept.weight));
    out.replaceChildren(
      h("div.card.summary", { id: "summary" }, answer.empty ? h("p.note", `The summary is empty: ${answer.empty}.`) : answer.sentences.map((sentence) => h("p", sentence.text)),
        h("div", certificate(answer), h("span.note", ` · ${answer.word_count} words`))),
      h("details", { open: true }, h("summary", `Concepts: ${answer.concepts.filter((concept) => concept.covered).length} of ${answer.concepts.length} covered`),
        h("ul.concepts", answer.concepts.slice(0, 36).map((concept) => {
          const meter = h("span.meter");
          meter.style.width = `${(5 * concept.weight) / most}rem`;
          return h(concept.covered ? "li.covered" : "li", { title: `in ${concept.documents} documents` }, concept.text, meter);
        }))));
    used.forEach((box, number) => {
      const text = [...box.area.value];
      const chosen = answer.sentences.filter((sentence) => sentence.document_index === number);
      const byStart = new Map(chosen.map((sentence) => [sentence.sentence_index, sentence]));
      const parts = [];
      let at = 0;
      answer.places[number]?.forEach(([start, end], index) => {
        parts.push(text.slice(at, start).join(""));
        const sentence = byStart.get(index);
        parts.push(sentence ? h("span.chosen", struck(sentence.words)) : text.slice(start, end).join(""));
        at = end;
      });
      parts.push(text.slice(at).join(""));
      box.source.replaceChildren(...parts.filter((part) => part !== ""));
      if (document.activeElement !== box.area) box.show(false);
    });
  };
  texts.forEach(add);
  slider.addEventListener("input", run);
  whole.addEventListener("change", run);
  run();
}
