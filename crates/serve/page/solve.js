// Solve: an editor for problems, and an answer one can read.

import { ask } from "./api.js";
import { examples, given as digits } from "./examples.js";
import { certificate, editor, h, number, refusal, remember } from "./page.js";

const names = { sudoku: "Sudoku", seating: "Seating", timetable: "Timetable", rucksack: "Rucksack", triangle: "Three that exclude each other" };

/** JSON with a variable or factor a line. */
const write = (problem) => `{"variables": [\n${problem.variables.map((part) => "  " + JSON.stringify(part)).join(",\n")}\n],\n"factors": [\n${problem.factors.map((part) => "  " + JSON.stringify(part)).join(",\n")}\n]}`;

export default function start(root, given) {
  const example = h("select", { "aria-label": "Example" }, Object.entries(names).map(([key, name]) => h("option", { value: key }, name)), h("option", { value: "own" }, "your own"));
  const method = h("select", { "aria-label": "Method" }, ["exact", "ad3", "subgradient", "two-slave", "tree-cut", "spanning-trees"].map((name) => h("option", name)));
  method.value = given.get("method") ?? "exact";
  const input = editor({ "aria-label": "Problem" }, "code");
  const own = given.get("problem");
  example.value = own ? "own" : given.get("example") ?? "sudoku";
  input.value = own ?? write(examples[example.value]());
  const out = h("div", { "aria-live": "polite" });
  const solve = h("button.main", { type: "button", onclick: () => run(false) }, "Solve");
  const prove = h("button", { type: "button", onclick: () => run(true) }, "Prove and verify");
  root.append(
    h("p.lead", "Bring your own scores and constraints: variables with states, factors over them, and the ", h("strong", "best assignment"), " comes back with a bound on every other. A proof is checked by a program that trusts no solver."),
    h("div.two",
      h("div", h("div.bar", h("label", "Example ", example), h("label", "Method ", method), h("span.end", solve, prove)), input, h("p.note", "Ctrl+Enter solves. UAI and AD3's .fg work, too.")),
      out));
  const store = () => {
    const name = example.value;
    remember("solve", { example: name === "own" || name === "sudoku" ? null : name, problem: name === "own" ? input.value : null, method: method.value === "exact" ? null : method.value });
  };
  const run = async (wantsProof) => {
    store();
    solve.disabled = prove.disabled = true;
    try {
      const kind = input.value.trimStart().startsWith("{") ? "application/json" : "text/plain";
      const answer = await ask(`/v1/solve?method=${method.value}&proof=${wantsProof}`, input.value, { kind });
      const parts = [h("p", certificate(answer))];
      if (wantsProof) parts.push(await verify(answer));
      if (answer.assignment) parts.push(read(example.value, answer.assignment));
      else parts.push(h("p", answer.status === "infeasible" ? "There is no solution: the constraints contradict each other." : "No assignment was found in time; the bound still holds."));
      out.replaceChildren(h("div.card", { id: "answer" }, parts), h("details", h("summary", "The answer as JSON"), h("pre", JSON.stringify({ ...answer, proof: undefined }, null, 1))));
    } catch (error) { out.replaceChildren(refusal(error)); }
    solve.disabled = prove.disabled = false;
  };
  const verify = async (answer) => {
    const size = JSON.stringify(answer.proof).length;
    const checked = await ask("/v1/verify", { problem: input.value, proof: answer.proof });
    return checked.verified
      ? h("p", h("span.seal.optimal", "verified"), ` independently: value ${number(checked.value)}, bound ${number(checked.bound)}; the proof has ${number(size)} bytes.`)
      : h("p.refused", `not verified: ${checked.reason}`);
  };
  example.addEventListener("change", () => { if (example.value !== "own") input.value = write(examples[example.value]()); run(false); });
  method.addEventListener("change", () => run(false));
  input.addEventListener("input", () => { example.value = "own"; });
  input.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(false); });
  run(false);
}

/** An assignment, as its example wants to be read. */
function read(example, assignment) {
  if (example === "sudoku") {
    return h("table.sudoku", { "aria-label": "Sudoku" }, Array.from({ length: 9 }, (_, row) => h("tr", Array.from({ length: 9 }, (_, column) =>
      h(digits[row * 9 + column] === "0" ? "td" : "td.given", assignment[`r${row + 1}c${column + 1}`])))));
  }
  const entries = Object.entries(assignment);
  if (entries.every(([, state]) => state === 0 || state === 1)) {
    return h("p", "Chosen: ", entries.filter(([, state]) => state === 1).map(([name], at) => [at > 0 && ", ", h("b", name)]), entries.every(([, state]) => !state) && "nothing");
  }
  const groups = new Map();
  for (const [name, state] of entries) groups.set(state, [...(groups.get(state) ?? []), name]);
  const sorted = [...groups].sort(([one], [other]) => String(one).localeCompare(String(other)));
  return h("table", sorted.map(([state, members]) => h("tr", h("th", String(state)), h("td", members.join(", ")))));
}
