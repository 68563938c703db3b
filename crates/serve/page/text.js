// Text: tree, names, lemmas, tags, confidence; why a word has its tag; copies in every form.

import { ask } from "./api.js";
import { copy, download, editor, h, later, refusal, remember } from "./page.js";
import { chain, draw } from "./tree.js";

const EXAMPLE = "Ann Smith can't come to Kiel before Monday. The old man the boats that Google bought from a bank in Norway.";
const layers = [["tree", "Tree"], ["entities", "Names"], ["tags", "Tags"], ["lemmas", "Lemmas"], ["confidence", "Doubt as shade"]];

export default function start(root, given) {
  const input = editor({ "aria-label": "Text", rows: 3, placeholder: "Type, paste, or drop a file" });
  input.value = given.get("text") ?? EXAMPLE;
  const hidden = new Set((given.get("hide") ?? "lemmas").split(","));
  const boxes = layers.map(([key, name]) => h("label", h("input", { type: "checkbox", checked: !hidden.has(key), onchange: () => { store(); paint(); }, name: key }), name));
  const shows = () => Object.fromEntries(boxes.map((box) => [box.firstChild.name, box.firstChild.checked]));
  const out = h("div", { "aria-live": "off" });
  const why = h("aside", { id: "why", hidden: true, "aria-live": "polite" });
  const button = (name, work) => h("button", { type: "button", onclick: () => work().catch((error) => out.prepend(refusal(error))) }, name);
  const written = (accept) => ask("/v1/annotate", { text: input.value }, { accept });
  root.append(
    h("p.lead", "Raw text becomes sentences, words, tags, names and trees. ", h("strong", "Look at a word"), " to see its way to the root and what decided its tag; what the models doubt is shaded."),
    input,
    h("div.bar", boxes, h("span.end", h("span.note", "Copy as"),
      button("CoNLL-U", async () => copy(await written("text/x-conllu"), "CoNLL-U")),
      button("JSON", async () => copy(JSON.stringify(answer.sentences, null, 1), "JSON")),
      button("SVG", async () => copy(await written("image/svg+xml"), "SVG")),
      button("PNG", async () => download(await png(await written("image/svg+xml")), "consonant.png")))),
    out, why);

  let answer, reasons, asking;
  const store = () => {
    const off = Object.entries(shows()).filter(([, on]) => !on).map(([key]) => key).join(",");
    remember("text", { text: input.value === EXAMPLE ? null : input.value, hide: off === "lemmas" ? null : off || "none" });
  };
  const run = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    store();
    reasons = undefined;
    try {
      answer = await ask("/v1/annotate", { text: input.value, confidence: true, certificate: true }, { signal });
      paint();
      reasons = (await ask("/v1/explain", { text: input.value }, { signal }).catch(() => undefined))?.sentences;
    } catch (error) {
      if (error.name !== "AbortError") out.replaceChildren(refusal(error));
    }
  };
  const paint = () => {
    if (!answer) return;
    const show = shows();
    why.hidden = true;
    out.replaceChildren(...answer.sentences.map((sentence, number) => {
      const unit = answer.certificates?.[0]?.tree[number];
      return h("div.card.sentence", draw(sentence, show, (word) => explain(number, word)),
        unit && h("div.note", `tree: value ${unit.value.toFixed(3)}, bound ${unit.bound.toFixed(3)}, ${unit.status}`));
    }));
    if (!answer.sentences.length) out.replaceChildren(h("p.note", "There are no words yet."));
  };
  const explain = (number, word) => {
    const sentence = answer.sentences[number], token = sentence.tokens[word];
    const reason = reasons?.[number]?.[word], name = sentence.entities?.find(({ start, end }) => start <= word && word < end);
    const sure = [["tag", token.tag_confidence], ["head", token.head_confidence], ["name", name?.confidence]].filter(([, value]) => value != null);
    const way = token.head == null ? [] : chain(sentence.tokens, word).map((at) => sentence.tokens[at].form);
    const facts = [["lemma", token.lemma], ["tag", [token.upos, token.xpos].filter(Boolean).join(" · ")], ["features", token.feats?.replaceAll("|", ", ")],
      ["sure", sure.map(([part, value]) => `${part} ${(100 * value).toFixed(1)} %`).join(", ")]];
    const most = Math.max(1e-9, ...(reason?.features ?? []).map((part) => Math.abs(part.chosen - part.rival)));
    why.replaceChildren(
      h("div", h("h2", token.form, " ", h("small", token.deprel ?? "")), way.length > 0 && h("p.note", [...way, "root"].join(" → ")),
        h("table", facts.filter(([, value]) => value).map(([name, value]) => h("tr", h("th", name), h("td", value))))),
      h("div", reason && h("p.note", `Why ${reason.chosen}`, reason.rival && ` and not ${reason.rival}`, ":"),
        h("table", (reason?.features ?? []).map((part) => {
          const difference = part.chosen - part.rival;
          const meter = h(`span.meter${difference < 0 ? ".against" : ""}`);
          meter.style.width = `${(6 * Math.abs(difference)) / most}rem`;
          return h("tr", h("td.mono", part.name), h("td.number", (difference > 0 ? "+" : "−") + Math.abs(difference).toFixed(2)), h("td", meter));
        }))));
    why.hidden = false;
  };
  input.addEventListener("input", later(run));
  run();
  return () => asking?.abort();
}

/** Draws an SVG on a canvas, twice as large. */
async function png(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
