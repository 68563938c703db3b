// What all views share: elements, the address, words for certificates.

/** Makes an element: `h("p.note", {title: "…"}, "text", child)`. Text is never read as HTML. */
export function h(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElement(tag || "div"), classes, rest);
}

/** The same for SVG. */
export function s(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), classes, rest);
}

function fill(element, classes, rest) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const part of rest.flat(Infinity)) {
    if (part == null || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object") {
      for (const [key, value] of Object.entries(part)) {
        if (value == null || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (key in element && !(element instanceof SVGElement) && typeof value !== "string") element[key] = value;
        else element.setAttribute(key, value === true ? "" : value);
      }
    } else element.append(String(part));
  }
  return element;
}

/** The view and its parameters, as the address holds them. */
export function address() {
  const [view, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view, given: new URLSearchParams(query) };
}

/** Longer addresses are cut by some programs that pass them on. */
const LONGEST = 12000;

/** Keeps what a view shows in the address, so that it can be sent. Defaults are left out. */
export function remember(view, values) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value != null && value !== "") query.set(key, value);
  const text = `#/${view}${query.size ? "?" + query : ""}`;
  if (text.length <= LONGEST) history.replaceState(null, "", text);
  else say("too long for the address: the link shows the view without it");
}

let hiding;
/** Says something in passing. */
export function say(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.add("on");
  clearTimeout(hiding);
  hiding = setTimeout(() => status.classList.remove("on"), 2600);
}

/** Calls `work` when nothing has happened for a while. */
export function later(work, milliseconds = 220) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}

/** Calls `work` as often as it can be done, always ending with the newest: for sliders. */
export function newest(work) {
  let running = false, waiting = false;
  const run = async () => {
    if (running) { waiting = true; return; }
    running = true;
    try { await work(); } finally {
      running = false;
      if (waiting) { waiting = false; run(); }
    }
  };
  return run;
}

/** Why something could not be done, in the server's own words. */
export const refusal = (error) => h("p.refused", { role: "alert" }, error.message);

/** A number with the digits that matter. */
export function number(value) {
  if (value == null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size >= 1e6 || (size > 0 && size < 1e-3) ? value.toExponential(3) : value.toLocaleString("en", { maximumFractionDigits: size < 10 ? 4 : 2 });
}

export const time = (seconds) => (seconds < 1 ? `${number(Math.round(seconds * 1e5) / 100)} ms` : `${number(seconds)} s`);

const percent = (value, bound) => Number(((100 * (bound - value)) / Math.max(Math.abs(value), 1e-9)).toPrecision(2));

/** Value, bound and status, for people. */
export function certificate(proven) {
  const { value, bound, status } = proven;
  return h("span.certificate",
    h(`span.seal.${status}`, status === "feasible" ? `within ${number(percent(value, bound))} % of the best` : status),
    value != null && h("span", "value ", h("b.value", number(value))),
    bound != null && h("span", "bound ", h("b.bound", number(bound))),
    h("span", `${proven.iterations} iteration${proven.iterations === 1 ? "" : "s"}, ${time(proven.seconds)}`));
}

/** A text field that also takes files that are dropped on it. */
export function editor(options, ...names) {
  const area = h(`textarea.${["editor", ...names].join(".")}`, { spellcheck: "false", ...options });
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("drop"); });
  area.addEventListener("dragleave", () => area.classList.remove("drop"));
  area.addEventListener("drop", async (event) => {
    event.preventDefault();
    area.classList.remove("drop");
    const file = event.dataTransfer.files[0];
    const text = file ? await file.text() : event.dataTransfer.getData("text");
    if (text.length > 4e6) return say("that file is too large for a page; use the API");
    area.value = text;
    area.dispatchEvent(new Event("input"));
  });
  return area;
}

/** Copies text and says so. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    download(new Blob([text]), what === "SVG" ? "consonant.svg" : "consonant.txt");
  }
}

/** Hands a file to the browser. */
export function download(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say(`${name} saved`);
}
