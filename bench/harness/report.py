"""docs/benchmarks.md and its drawings: only what this run measured."""

import math
from html import escape

from . import table
from .environment import ROOT

DOCS = ROOT / "docs"
COLOURS = ["#1b6ca8", "#c8553d", "#588157", "#8d5a97", "#b08900", "#444444"]


def write(about, results, command):
    """Writes the page, and beside it one drawing of ratios for each comparison and one for each plot."""
    folder = DOCS / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    versions = ", ".join(f"{name} {value.removeprefix(name).strip()}" for name, value in about["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        f"Written by `{command}`; do not edit. `bench/README.md` says how things are measured.",
        "",
        f"- {about['date']}, {about['processor']}, {about['cores']} cores, {about['system']}, load at the end {about['load']}",
        f"- {versions}; Python {about['python']}",
        "- Times are medians of interleaved runs, ± half their range. *We are 3x* means that the peer needs three times as long, or does a",
        "  third of the work in the same time. `>` means stopped by the limit.",
        "",
    ]
    for result in results:
        lines += [f"## {result.name}", "", f"{result.summary}.", ""]
        lines += markdown(result)
        drawings = {f"{result.name}.svg": bars(result)} if any(True for _ in result.ratios()) else {}
        drawings |= {f"{result.name}-{number}.svg": growth(plot) for number, plot in enumerate(result.plots, 1)}
        for name, svg in drawings.items():
            (folder / name).write_text(svg)
            lines += [f"![{result.name}](benchmarks/{name})", ""]
        for title, texts in (("Notes", result.notes), ("Skipped", result.skipped), ("Failed", result.failures)):
            if texts:
                lines += [f"{title}:", "", *(f"- {text}" for text in texts), ""]
    (DOCS / "benchmarks.md").write_text("\n".join(lines).rstrip() + "\n")


def markdown(result):
    if not result.rows:
        return []
    row = lambda cells: "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    return [row(table.HEADER), "|---|--:|---|---|--:|---|--:|", *(row(cells) for cells in table.cells(result)), ""]


def bars(result):
    """Ratios as bars on a logarithmic axis; to the right of the line we are ahead."""
    entries = [(f"{problem} · {peer}", ratio, table.ratio_text((ratio, sign))) for problem, peer, ratio, sign in result.ratios()]
    logs = [math.log10(max(ratio, 1e-4)) for _, ratio, _ in entries]
    low, high = min(0.0, *map(math.floor, logs)), max(1.0, *map(math.ceil, logs))
    left, width, step = 430, 420, 20
    height = step * len(entries) + 50
    place = lambda log: left + width * (log - low) / (high - low)
    parts = []
    for power in range(int(low), int(high) + 1):
        x = place(power)
        parts.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{height - 25}" stroke="{"#222" if power == 0 else "#ddd"}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{10.0**power:g}x</text>')
    for number, ((label, ratio, text), log) in enumerate(zip(entries, logs)):
        y = 25 + step * number
        start, end = sorted((place(0), place(log)))
        colour = COLOURS[0] if ratio >= 1 else COLOURS[1]
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="{step - 6}" fill="{colour}"/>')
        parts.append(f'<text x="{end + 4:.1f}" y="{y + 11}">{escape(text)}</text>')
    return drawing(left + width + 70, height, f"{result.name}: how many times faster we are", parts)


def growth(plot):
    """Lines on logarithmic axes."""
    points = [point for line in plot.series.values() for point in line]
    span = lambda values: (math.floor(min(map(math.log10, values))), math.ceil(max(map(math.log10, values)) + 1e-9))
    (left_x, right_x), (low_y, high_y) = span([x for x, _ in points]), span([y for _, y in points])
    left, top, width, height = 70, 30, 460, 300
    place_x = lambda x: left + width * (math.log10(x) - left_x) / (right_x - left_x)
    place_y = lambda y: top + height * (high_y - math.log10(y)) / (high_y - low_y)
    parts = []
    for power in range(left_x, right_x + 1):
        x = place_x(10.0**power)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + height}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{top + height + 16}" text-anchor="middle">{10**power:,}</text>')
    for power in range(low_y, high_y + 1):
        y = place_y(10.0**power)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for number, (name, line) in enumerate(plot.series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{place_x(x):.1f},{place_y(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in line]
        y = top + 12 + 18 * number
        parts.append(f'<rect x="{left + width + 14}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{left + width + 30}" y="{y}">{escape(name)}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{top + height + 36}" text-anchor="middle">{escape(plot.x)}</text>')
    parts.append(f'<text x="16" y="{top + height / 2}" text-anchor="middle" transform="rotate(-90 16 {top + height / 2})">{escape(plot.y)}</text>')
    return drawing(left + width + 260, top + height + 46, plot.title, parts)


def drawing(width, height, title, parts):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="12">'
    back = f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", back, f'<text x="8" y="15" font-weight="bold">{escape(title)}</text>', *parts, "</svg>"]) + "\n"
