// Proof: methods on one problem, value and bound moving toward each other.

import { ask } from "./api.js";
import { chart } from "./chart.js";
import { certificate, editor, h, later, number, refusal, remember } from "./page.js";
import { examples } from "./examples.js";

const methods = ["ad3", "subgradient", "two-slave", "spanning-trees", "exact"];
const SENTENCE = "The horse raced past the barn fell, and the man who whistles tunes pianos that nobody who lives here plays.";
const NAMES = "Jordan beat Spencer. Spencer lost to Jordan in Bremen. JORDAN WINS AGAIN. Bremen cheers Jordan, and Spencer leaves Bremen.";
const sources = [["tree", "a sentence's tree"], ["names", "names that agree"], ["own", "a problem of your own"]];

export default function start(root, given) {
  const of = h("select", { "aria-label": "Problem" }, sources.map(([key, name]) => h("option", { value: key }, name)));
  of.value = given.get("of") ?? "tree";
  const defaults = { tree: SENTENCE, names: NAMES, own: JSON.stringify(examples.triangle(), null, 1) };
  const input = editor({ "aria-label": "Text or problem", rows: 3 });
  input.value = given.get("text") ?? defaults[of.value];
  const chosen = new Set((given.get("methods") ?? "ad3,subgradient,exact").split(","));
  const boxes = methods.map((name, number) => h("label", h("input", { type: "checkbox", value: name, checked: chosen.has(name) }), h(`span.swatch.m${number}`), name));
  const rounds = h("input", { type: "number", min: 1, max: 100000, value: given.get("iterations") ?? 200, "aria-label": "Iterations at most" });
  const scrub = h("input", { type: "range", min: 0, max: 1000, value: 1000, "aria-label": "Moment" });
  const play = h("button", { type: "button" }, "▶ Play");
  const picture = h("div.card"), table = h("div.scroll"), disputes = h("div");
  root.append(
    h("p.lead", "Parts of a model are solved apart and pulled toward each other. The ", h("strong.value", "value"), " of the best answer found rises, the ", h("strong.bound", "bound"),
      " that no answer exceeds falls; where they meet, the answer is proven. Solid lines are bounds, dashed lines are values."),
    h("div.bar", h("label", "Solve ", of), boxes, h("label", "iterations ≤ ", rounds)), input,
    picture, h("div.bar", play, h("label", "Moment ", scrub)), table, disputes);

  let answer, asking, frame;
  const run = async () => {
    asking?.abort();
    asking = new AbortController();
    const wanted = boxes.filter((box) => box.firstChild.checked).map((box) => box.firstChild.value);
    remember("proof", { of: of.value === "tree" ? null : of.value, text: input.value === defaults[of.value] ? null : input.value, methods: wanted.join() === "ad3,subgradient,exact" ? null : wanted.join(), iterations: rounds.value === "200" ? null : rounds.value });
    input.classList.toggle("code", of.value === "own");
    if (!wanted.length) return picture.replaceChildren(h("p.note", "Choose a method."));
    try {
      const request = { methods: wanted, max_iterations: Number(rounds.value) || 200 };
      if (of.value === "own") request.problem = input.value;
      else Object.assign(request, { text: input.value, of: of.value });
      answer = await ask("/v1/trace", request, { signal: asking.signal });
      scrub.value = 1000;
      tell();
      paint();
    } catch (error) {
      if (error.name === "AbortError") return;
      answer = undefined;
      picture.replaceChildren(refusal(error));
      table.replaceChildren();
      disputes.replaceChildren();
    }
  };
  const paint = () => {
    if (!answer) return;
    const runs = answer.runs.filter((run) => run.trace.length);
    const most = Math.max(1, ...runs.flatMap((run) => run.trace.map((point) => point.iteration)));
    const share = scrub.value / 1000;
    // The axis is logarithmic: the first steps are the large ones.
    const until = share >= 1 ? Infinity : 10 ** (share * Math.log10(most + 1)) - 0.5;
    const lines = runs.flatMap((run) => ["bound", "value"].map((key) => ({
      name: key === "bound" ? run.method : "", kind: `m${methods.indexOf(run.method)}`, style: key,
      points: run.trace.filter((point) => point[key] != null).map((point) => [Math.max(point.iteration, 1), point[key]]),
    })));
    picture.replaceChildren(lines.some((line) => line.points.length)
      ? chart(lines, { x: "iterations (nodes for exact)", y: "score", until, steps: true, logarithmic: true })
      : h("p.note", "The methods were done before there was anything to trace."));
  };
  const tell = () => {
    const words = answer.words.length ? ` (“${answer.words.slice(0, 9).join(" ")}${answer.words.length > 9 ? " …" : ""}”)` : "";
    table.replaceChildren(h("table", { id: "runs" },
      h("caption.note", `${answer.variables} variables, ${answer.factors} factors${words}`),
      h("thead", h("tr", h("th", "method"), h("th", "what is proven"), h("th.number", "gap"), h("th.number", "in dispute"))),
      h("tbody", answer.runs.map((run) => h("tr", h("td", h(`span.swatch.m${methods.indexOf(run.method)}`), run.method),
        run.refused ? h("td.note", { colspan: 3 }, run.refused) : [h("td", certificate(run.proven)),
          h("td.number", run.proven.value == null || run.proven.bound == null ? "–" : number(Math.max(0, run.proven.bound - run.proven.value))), h("td.number", run.disputed.length)])))));
    const open = answer.runs.filter((run) => run.disputed.length);
    const branches = answer.runs.filter((run) => run.cases?.length).map(({ method, cases }) => cases.length === 1
      ? h("p.note", `${method} is proven without a branch${cases[0].ruled_out ? `; ${cases[0].ruled_out} states are ruled out by a constraint alone` : ""}.`)
      : h("details", { id: "cases", open: true }, h("summary", `${cases.length - 1} cases of ${method}: what each branch fixed`),
        h("ul.cases", cases.slice(1, 200).map(({ depth, fixed, ruled_out }) => {
          const item = h("li", h("span.mono", fixed), ruled_out > 0 && h("span.note", ` rules out ${ruled_out}`));
          item.style.marginLeft = `${1.2 * depth}rem`;
          return item;
        }))));
    disputes.replaceChildren(...branches, ...open.map((run) => h("details", h("summary", `${run.disputed.length} variables that ${run.method} leaves in dispute`),
      h("table", run.disputed.slice(0, 60).map(({ name, belief }) => {
        const meter = h(`span.meter.m${methods.indexOf(run.method)}`);
        meter.style.width = `${8 * belief}rem`;
        return h("tr", h("td", name), h("td.number", belief.toFixed(3)), h("td", meter));
      })))));
  };
  play.addEventListener("click", () => {
    cancelAnimationFrame(frame);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) { scrub.value = 1000; return paint(); }
    const begun = performance.now();
    const step = (now) => {
      scrub.value = Math.min(1000, (now - begun) / 3.5);
      paint();
      if (scrub.value < 1000) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  });
  scrub.addEventListener("input", paint);
  of.addEventListener("change", () => { input.value = defaults[of.value]; if (of.value !== "tree") boxes.forEach((box) => { box.firstChild.checked = true; }); run(); });
  for (const box of [...boxes, rounds]) box.addEventListener("change", run);
  input.addEventListener("input", later(run, 400));
  run();
  return () => { asking?.abort(); cancelAnimationFrame(frame); };
}
