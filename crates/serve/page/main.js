// The tabs: which view is shown, and the keys that move between them.

import { address, h, refusal } from "./page.js";

const views = [
  ["text", "Text"], ["agreement", "Agreement"], ["proof", "Proof"], ["summary", "Summary"],
  ["threads", "Threads"], ["solve", "Solve"], ["train", "Train"],
];
const tabs = document.getElementById("tabs");
const panel = document.getElementById("panel");

for (const [view, name] of views) {
  tabs.append(h("button", { role: "tab", type: "button", id: `tab-${view}`, "aria-controls": "panel", onclick: () => go(view) }, name));
}
tabs.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const all = [...tabs.children];
  const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : step && (all.indexOf(event.target) + step + all.length) % all.length;
  if (next === undefined) return;
  event.preventDefault();
  all[next].focus();
  all[next].click();
});

let shown, leave;
/** Where each view was left. */
const left = new Map();
function go(view) {
  if (shown) left.set(shown, location.hash);
  location.hash = left.get(view) ?? `#/${view}`;
}

async function show() {
  let { view, given } = address();
  if (!views.some(([known]) => known === view)) view = "text";
  for (const tab of tabs.children) {
    const selected = tab.id === `tab-${view}`;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
    if (selected) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  panel.setAttribute("aria-labelledby", `tab-${view}`);
  document.title = `${views.find(([known]) => known === view)[1]} · Consonant`;
  leave?.();
  leave = undefined;
  shown = view;
  const root = h("div");
  try {
    const { default: start } = await import(`./${view}.js`);
    if (shown !== view) return;
    panel.replaceChildren(root);
    leave = start(root, given);
  } catch (error) {
    panel.replaceChildren(refusal(error));
    throw error;
  }
}
addEventListener("hashchange", show);
show();
