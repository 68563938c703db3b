// A sentence as a picture: arcs above the words, tags and names below.

import { s } from "./page.js";

const ruler = document.createElement("canvas").getContext("2d");
function width(text, font) {
  ruler.font = font;
  return ruler.measureText(text).width;
}
const styles = getComputedStyle(document.documentElement);
const family = (name) => styles.getPropertyValue(name);

const GAP = 15, STEP = 21, TOP = 16, ROW = 17;

/** How high each arc must go to clear those that it spans. */
function levels(tokens) {
  const arcs = tokens.map((token, word) => ({ word, from: Math.min(token.head - 1, word), to: Math.max(token.head - 1, word) }))
    .filter(({ word }) => tokens[word].head > 0)
    .sort((a, b) => a.to - a.from - (b.to - b.from));
  const level = new Array(tokens.length).fill(0);
  const heights = new Array(tokens.length).fill(0);
  for (const { word, from, to } of arcs) {
    let most = 0;
    for (let gap = from; gap < to; gap++) most = Math.max(most, heights[gap]);
    level[word] = most + 1;
    for (let gap = from; gap < to; gap++) heights[gap] = most + 1;
  }
  return level;
}

/** The words from one to the root. */
export function chain(tokens, word) {
  const words = [word];
  while (tokens[word].head > 0 && words.length <= tokens.length) words.push(word = tokens[word].head - 1);
  return words;
}

/** Draws a sentence; `show` says which layers, `pick` is called with a word that is looked at. */
export function draw(sentence, show, pick) {
  const { tokens } = sentence;
  const [serif, sans] = [family("--serif"), family("--sans")];
  const hasTree = show.tree && tokens.every((token) => token.head != null);
  const widths = tokens.map((token) => Math.max(
    width(token.form, `17px ${serif}`),
    show.tags && token.upos ? width(token.upos, `600 10.5px ${sans}`) + 5 : 0,
    show.lemmas && token.lemma ? width(token.lemma, `italic 12.5px ${serif}`) : 0,
    hasTree ? width(token.deprel ?? "", `11px ${sans}`) * 0.72 : 0));
  const centres = [];
  let x = 8;
  for (const wide of widths) { centres.push(x + wide / 2); x += wide + GAP; }
  const level = hasTree ? levels(tokens) : [];
  const base = hasTree ? TOP + STEP * (Math.max(0, ...level) + 1) : 4;
  const picture = s("svg.tree", { role: "group", "aria-label": sentence.text });
  const arcs = s("g");
  const parts = new Map();
  if (hasTree) {
    // Ends of arcs at one word stand side by side: the longer an arc, the nearer to the middle of its bundle.
    tokens.forEach((token, word) => {
      const group = s("g");
      if (token.head === 0) {
        const top = base - STEP * (Math.max(0, ...level) + 1) + 2;
        group.append(s("path.arc", { d: `M${centres[word]} ${top + 10}V${base - 5}` }),
          s("text.relation", { x: centres[word], y: top + 6, "text-anchor": "middle" }, token.deprel ?? "root"));
      } else {
        const head = token.head - 1, y = base - 6 - STEP * level[word];
        const from = centres[head] + (word > head ? 5 : -5), to = centres[word];
        const r = Math.min(9, Math.abs(to - from) / 2) * Math.sign(to - from);
        group.append(s("path.arc", { d: `M${from} ${base - 5}V${y + 9}Q${from} ${y} ${from + r} ${y}H${to - r}Q${to} ${y} ${to} ${y + 9}V${base - 6}` }),
          s("text.relation", { x: (from + to) / 2, y: y + 3.8, "text-anchor": "middle" }, token.deprel ?? ""));
      }
      const at = centres[word];
      group.append(s("path.head", { d: `M${at - 3.6} ${base - 9}h7.2L${at} ${base - 2}z` }));
      parts.set(word, group);
    });
    // Long arcs first, so that labels of short ones stand above them.
    [...parts.keys()].sort((a, b) => level[b] - level[a]).forEach((word) => arcs.append(parts.get(word)));
  }
  picture.append(arcs);
  let bottom = base + 20;
  const rows = [[show.tags, "upos", "tag"], [show.lemmas, "lemma", "lemma"]].filter(([wanted, key]) => wanted && tokens.some((token) => token[key]));
  const least = (word, token) => Math.min(token.tag_confidence ?? 1, token.head_confidence ?? 1,
    ...(sentence.entities ?? []).filter(({ start, end }) => start <= word && word < end).map((name) => name.confidence ?? 1));
  const words = tokens.map((token, word) => {
    const doubt = show.confidence ? 1 - least(word, token) : 0;
    const wide = widths[word] + 8;
    const height = 24 + rows.length * ROW;
    const group = s("g.word", { tabindex: 0, role: "button", "aria-label": describe(token) },
      s("rect.plate", { x: centres[word] - wide / 2, y: base, width: wide, height }),
      doubt > 0.005 && s("rect.doubt", { x: centres[word] - wide / 2, y: base, width: wide, height: 24, opacity: Math.min(0.55, doubt).toFixed(3) }),
      s("text.form", { x: centres[word], y: base + 17, "text-anchor": "middle" }, token.form),
      rows.map(([, key, kind], row) => s(`text.${kind}`, { x: centres[word], y: base + 33 + row * ROW, "text-anchor": "middle" }, token[key] ?? "")));
    const look = () => {
      const line = hasTree ? chain(tokens, word) : [word];
      parts.forEach((part, own) => part.setAttribute("class", line.includes(own) ? "chain" : ""));
      words.forEach((other, own) => other.classList.toggle("on", line.includes(own)));
      pick(word);
    };
    group.addEventListener("pointerenter", look);
    group.addEventListener("focus", look);
    return group;
  });
  picture.append(...words);
  bottom += rows.length * ROW;
  if (show.entities && sentence.entities?.length) {
    for (const entity of sentence.entities) {
      const [from, to] = [centres[entity.start] - widths[entity.start] / 2, centres[entity.end - 1] + widths[entity.end - 1] / 2];
      picture.append(s(`g.${kind(entity.type)}`, s("path.span", { d: `M${from} ${bottom + 6}H${to}` }),
        s("text.name", { x: (from + to) / 2, y: bottom + 20, "text-anchor": "middle" }, entity.type)));
    }
    bottom += 24;
  }
  const size = { width: Math.ceil(x - GAP + 10), height: bottom + 4 };
  picture.setAttribute("width", size.width);
  picture.setAttribute("height", size.height);
  picture.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  return picture;
}

/** The class that colours a type of names. */
export const kind = (type) => (["PER", "LOC", "ORG", "MISC"].includes(type) ? type : "other");

const describe = (token) => [token.form, token.upos, token.deprel && (token.head ? `${token.deprel} of word ${token.head}` : "root")].filter(Boolean).join(", ");
