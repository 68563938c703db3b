// Train: a training's log as it grows, loss and dev.

import { ask } from "./api.js";
import { chart } from "./chart.js";
import { h, number, refusal, time } from "./page.js";

const EVERY = 2000;

export default function start(root) {
  const out = h("div", { id: "training" });
  const file = h("input", { type: "file", accept: ".jsonl,.json,.log,.txt", "aria-label": "Log of a training" });
  root.append(
    h("p.lead", "Follow a training while it runs: ", h("code", "consonant train … --log FILE"), " writes it, ", h("code", "consonant serve --log FILE"), " shows it here. Or open a log that is done."),
    h("div.bar", h("label", "Open a log ", file)), out);
  let events = [], next = 0, timer;
  const paint = (name) => {
    const epochs = events.filter((event) => event.event === "epoch");
    if (!epochs.length) return out.replaceChildren(h("p.note", `${name}: no epoch is done yet.`));
    const stages = [...new Set(epochs.map((event) => event.stage ?? ""))];
    const lines = (key) => stages.map((stage, number) => ({
      name: stage || key, kind: `m${number % 5}`,
      points: epochs.filter((event) => (event.stage ?? "") === stage && event[key] != null).map((event) => [event.epoch, key === "dev" ? 100 * event[key] : event[key]]),
    })).filter((line) => line.points.length);
    const last = epochs.at(-1);
    const best = epochs.filter((event) => event.dev != null).reduce((best, event) => (best && best.dev >= event.dev ? best : event), undefined);
    const figure = (key, title) => { const found = lines(key); return found.length > 0 && h("div.card", h("h2", title), chart(found, { x: "epoch", y: title, height: 280, wide: 560 })); };
    out.replaceChildren(
      h("p", h("b", name), ` · epoch ${last.epoch}, loss ${number(last.loss)}, ${time(epochs.reduce((sum, event) => sum + (event.seconds ?? 0), 0))}`,
        best && `; best on dev: ${(100 * best.dev).toFixed(2)} ${best.metric ?? ""} at epoch ${best.epoch}`),
      h("div.columns", figure("loss", "Loss"), figure("dev", `On dev${last.metric ? `, ${last.metric}` : ""}`)),
      h("details", h("summary", "Notes"), h("pre", events.filter((event) => event.event !== "epoch").map((event) => event.text ?? String(event)).join("\n") || "none")));
  };
  const poll = async () => {
    try {
      const answer = await ask(`/v1/training?from=${next}`);
      if (answer.restarted) events = [];
      events.push(...answer.events);
      next = answer.next;
      paint(answer.file);
      timer = setTimeout(poll, EVERY);
    } catch (error) {
      if (error.status === 404) return out.replaceChildren(h("p.note", error.message));
      out.replaceChildren(refusal(error));
      timer = setTimeout(poll, 5 * EVERY);
    }
  };
  file.addEventListener("change", async () => {
    clearTimeout(timer);
    const text = await file.files[0].text();
    events = text.split("\n").filter(Boolean).flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
    paint(file.files[0].name);
  });
  poll();
  return () => clearTimeout(timer);
}
