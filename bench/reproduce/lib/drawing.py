"""Lines over an axis, as SVG."""

import math

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555")


def lines(title, across, up, series, logarithmic=False):
    """A drawing of several series of points, by name; with `logarithmic`, both axes are."""
    shown = {name: sorted(points) for name, points in series.items() if points}
    points = [point for line in shown.values() for point in line]
    left, right, top, bottom = 90, 520, 40, 340
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" font-family="sans-serif" font-size="13">']
    parts.append(f'<title>{title}</title><rect width="760" height="400" fill="white"/><text x="{left}" y="22">{title}</text>')
    if points:
        x_place, x_ticks = axis([x for x, _ in points], left, right, logarithmic)
        y_place, y_ticks = axis([y for _, y in points], bottom, top, logarithmic)
        for x in x_ticks:
            parts.append(f'<line x1="{x_place(x):.1f}" y1="{top}" x2="{x_place(x):.1f}" y2="{bottom}" stroke="#e4e4e4"/>')
            parts.append(f'<text x="{x_place(x):.1f}" y="{bottom + 18}" text-anchor="middle">{x:.4g}</text>')
        for y in y_ticks:
            parts.append(f'<line x1="{left}" y1="{y_place(y):.1f}" x2="{right}" y2="{y_place(y):.1f}" stroke="#e4e4e4"/>')
            parts.append(f'<text x="{left - 8}" y="{y_place(y) + 4:.1f}" text-anchor="end">{y:.6g}</text>')
    for place, (name, line) in enumerate(shown.items()):
        colour = COLOURS[place % len(COLOURS)]
        path = " ".join(f"{x_place(x):.1f},{y_place(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x_place(x):.1f}" cy="{y_place(y):.1f}" r="2.5" fill="{colour}"/>' for x, y in line]
        parts.append(f'<text x="{right + 14}" y="{top + 12 + 20 * place}" fill="{colour}">{name}</text>')
    parts.append(f'<text x="{(left + right) / 2}" y="{bottom + 40}" text-anchor="middle">{across}</text>')
    middle = (top + bottom) / 2
    parts.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{up}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def axis(values, start, end, logarithmic):
    """Where a value lies between two places, and the values that are written beside the axis."""
    low, high = min(values), max(values)
    if logarithmic:
        low, high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        high += low == high
        return lambda value: start + (end - start) * (math.log10(value) - low) / (high - low), [10.0**power for power in range(low, high + 1)]
    room = 0.05 * (high - low) or 1.0
    low, high = low - room, high + room
    return lambda value: start + (end - start) * (value - low) / (high - low), [low + (high - low) * tick / 4 for tick in range(5)]
