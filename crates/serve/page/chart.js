// Lines over one axis, with round ticks.

import { number, s } from "./page.js";

const HEIGHT = 340, LEFT = 74, RIGHT = 112, TOP = 16, BOTTOM = 40;

function ticks(low, high, count) {
  const rough = (high - low) / count, size = 10 ** Math.floor(Math.log10(rough));
  const step = size * [1, 2, 5, 10].find((factor) => factor * size >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

/**
 * Draws lines `{name, points: [[x, y]], style, kind}`; `kind` is a class that colours, `style` a class of the line. With `until`, only what
 * had happened there is drawn, on the axes of the whole.
 */
export function chart(lines, { x: label, y: title, until = Infinity, steps = false, logarithmic = false, height = HEIGHT, wide } = {}) {
  const WIDTH = Math.max(400, Math.min(1060, wide ?? document.getElementById("panel").clientWidth - 40));
  const all = lines.flatMap((line) => line.points).filter(([, y]) => Number.isFinite(y));
  const picture = s("svg.chart", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${title} over ${label}` });
  if (!all.length) return picture;
  const place = (x) => (logarithmic ? Math.log10(Math.max(x, 1)) : x);
  const xs = all.map(([x]) => place(x)), ys = all.map(([, y]) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  let [low, high] = [Math.min(...ys), Math.max(...ys)];
  const margin = (high - low) * 0.06 || Math.max(Math.abs(high) * 0.02, 0.5);
  low -= margin;
  high += margin;
  const X = (x) => LEFT + ((place(x) - left) / (right - left || 1)) * (WIDTH - LEFT - RIGHT);
  const Y = (y) => height - BOTTOM - ((y - low) / (high - low)) * (height - TOP - BOTTOM);
  for (const y of ticks(low, high, 5)) {
    picture.append(s("path.grid", { d: `M${LEFT} ${Y(y)}H${WIDTH - RIGHT}` }), s("text", { x: LEFT - 8, y: Y(y) + 4, "text-anchor": "end" }, number(Number(y.toPrecision(6)))));
  }
  const across = logarithmic ? Array.from({ length: 7 }, (_, power) => 10 ** power).filter((x) => place(x) >= left && place(x) <= right) : ticks(left, right, 6);
  for (const x of across.length ? across : [all[0][0]]) picture.append(s("text", { x: X(x), y: height - BOTTOM + 18, "text-anchor": "middle" }, number(x)));
  picture.append(s("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: height - 4, "text-anchor": "middle" }, label));
  const ends = [];
  for (const line of lines) {
    const points = line.points.filter(([x, y]) => Number.isFinite(y) && x <= until);
    if (!points.length) continue;
    let path = `M${X(points[0][0]).toFixed(1)} ${Y(points[0][1]).toFixed(1)}`;
    for (const [x, y] of points.slice(1)) path += steps ? `H${X(x).toFixed(1)}V${Y(y).toFixed(1)}` : `L${X(x).toFixed(1)} ${Y(y).toFixed(1)}`;
    const [x, y] = points.at(-1);
    const group = s(`g.${line.kind}`, s(`path.${line.style ?? "line"}`, { d: path }), s("circle.dot", { cx: X(x), cy: Y(y), r: 3.2 }));
    // What is done stays as it is.
    const edge = Number.isFinite(until) ? X(Math.min(until, logarithmic ? 10 ** right : right)) : WIDTH - RIGHT;
    if (steps && edge > X(x) + 1) group.append(s("path.hold", { d: `M${X(x)} ${Y(y)}H${edge}` }));
    ends.push({ y: Y(y), line });
    picture.append(group);
  }
  // Names at the right, moved apart where they would stand on each other.
  ends.sort((a, b) => a.y - b.y);
  let last = -Infinity;
  for (const end of ends.filter((end) => end.line.name)) {
    last = Math.max(end.y + 4, last + 14);
    picture.append(s(`g.${end.line.kind}`, s("text.label", { x: WIDTH - RIGHT + 8, y: last }, end.line.name)));
  }
  if (Number.isFinite(until)) picture.append(s("path.now", { d: `M${X(Math.min(until, logarithmic ? 10 ** right : right))} ${TOP}V${height - BOTTOM}` }));
  return picture;
}
