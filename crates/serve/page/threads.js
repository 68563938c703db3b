// Threads: a chat log with arcs from answers to what they answer.

import { ask } from "./api.js";
import { certificate, editor, h, later, refusal, remember, s } from "./page.js";

const EXAMPLE = `14:02 <ann> does anyone know why my wifi drops after suspend?
14:02 <bob> morning all
14:03 <cleo> ann: which card is it?
14:03 <dan> I upgraded last night and now there is no sound
14:04 <ann> cleo: an intel one, let me look
14:04 <bob> dan: is the output muted in the mixer?
14:05 <ann> cleo: it says AX200
14:05 <dan> bob: no, the mixer does not even show the card
14:06 <cleo> ann: try to reload the iwlwifi module after waking up
14:07 <bob> dan: then the module is missing, what does lsmod say?
14:08 <ann> cleo: that works, thanks!
14:09 <dan> bob: nothing with snd in it`;

export default function start(root, given) {
  const input = editor({ "aria-label": "Chat log", rows: 8 });
  input.value = given.get("log") ?? EXAMPLE;
  const out = h("div");
  root.append(h("p.lead", "In a busy channel several conversations run at once. An arc leads from a message to the one that it ", h("strong", "answers"), "; look at a message to follow its thread."),
    h("div.two", h("div", input, h("p.note", "Lines as ", h("code", "14:02 <ann> text"), " or ", h("code", "ann: text"), "; or drop a file.")), out));
  const run = async () => {
    remember("threads", { log: input.value === EXAMPLE ? null : input.value });
    if (!input.value.trim()) return out.replaceChildren(h("p.note", "There are no messages yet."));
    try {
      paint(await ask("/v1/link", { log: input.value }));
    } catch (error) { out.replaceChildren(refusal(error)); }
  };
  const message = (unit) => h("div", { tabindex: 0 }, unit.time && h("time", unit.time), unit.author && h("b", unit.author), unit.text);
  const paint = (answer) => {
    const rows = answer.units.map(message);
    const picture = s("svg", { "aria-hidden": true });
    const chat = h("div.card.chat", picture, rows);
    out.replaceChildren(h("p", { id: "links" }, `${answer.links.length} links. `, answer.certificates.slice(0, 3).map(certificate)), chat);
    // Where rows stand is known when they are shown.
    const wide = 78;
    rows.forEach((row) => { row.style.marginLeft = `${wide}px`; });
    const top = chat.getBoundingClientRect().top;
    const middle = rows.map((row) => { const { top: own, height } = row.getBoundingClientRect(); return own - top + Math.min(height / 2, 16); });
    const arcs = answer.links.map(([source, target]) => {
      const [from, to] = [middle[source], middle[target]];
      const reach = Math.min(wide - 14, 12 + 7 * Math.sqrt(source - target) * 2.2);
      return s("path", { d: `M${wide} ${from}C${wide - reach} ${from} ${wide - reach} ${to} ${wide} ${to}` });
    });
    picture.append(...arcs, ...middle.map((y) => s("circle", { cx: wide, cy: y, r: 2.6 })));
    const thread = (row) => {
      const seen = new Set([row]);
      for (const at of seen) for (const [source, target] of answer.links) { if (source === at) seen.add(target); if (target === at) seen.add(source); }
      return seen;
    };
    rows.forEach((row, number) => {
      const light = () => { const lit = thread(number); arcs.forEach((arc, at) => arc.classList.toggle("on", lit.has(answer.links[at][0]))); };
      row.addEventListener("pointerenter", light);
      row.addEventListener("focus", light);
    });
  };
  input.addEventListener("input", later(run, 400));
  run();
}
