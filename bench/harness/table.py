"""Results as they are kept, printed and written."""

from dataclasses import dataclass, field

from .measure import Side


@dataclass
class Row:
    """One problem: our side, and each peer's."""

    problem: str
    ours: Side
    theirs: dict = field(default_factory=dict)  # name of the peer -> Side
    unit: str = "s"
    ourselves: bool = False  # the other side is us as well: more threads, an earlier day

    @property
    def higher_is_better(self):
        return self.unit.endswith("/s")

    def ratio(self, peer):
        """How many times better we are, and whether that is exact (`=`), at least (`≥`) or at most (`≤`) so; None if nobody finished."""
        theirs = self.theirs[peer]
        if not self.ours.samples or not theirs.samples or (self.ours.limited and theirs.limited):
            return None
        ratio = theirs.median / max(self.ours.median, 1e-9)
        if self.higher_is_better:
            ratio = 1 / ratio
        return ratio, "≥" if theirs.limited else "≤" if self.ours.limited else "="


@dataclass
class Plot:
    """How something grows: lines on logarithmic axes."""

    title: str
    x: str
    y: str
    series: dict  # name -> [(x, y)]


@dataclass
class Result:
    """All that one comparison found."""

    name: str
    summary: str
    rows: list = field(default_factory=list)
    plots: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    failures: list = field(default_factory=list)

    def ratios(self):
        """(problem, peer, ratio, sign) wherever there is a ratio to a peer."""
        for row in self.rows:
            if row.ourselves:
                continue
            for peer in row.theirs:
                if (found := row.ratio(peer)) is not None:
                    yield row.problem, peer, *found


HEADER = ["problem", "ours", "our answer", "peer", "theirs", "their answer", "we are"]


def number(value, unit):
    """A measured value with a sensible number of digits."""
    if unit == "s":
        if value < 0.1:
            return f"{value * 1e3:.3g} ms"
        return f"{value:.2f} s" if value < 100 else f"{value:.0f} s"
    return f"{value:,.0f} {unit}"


def side_text(side, unit):
    if not side.samples:
        return "–"
    text = (">" if side.limited else "") + number(side.median, unit)
    return text + (f" ±{100 * side.spread:.0f}%" if side.spread is not None else "")


def ratio_text(found):
    if found is None:
        return "–"
    ratio, sign = found
    figure = f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"
    return figure if sign == "=" else sign + figure


def cells(result):
    """The rows as text: one line for each problem and peer."""
    for row in result.rows:
        ours = [row.problem, side_text(row.ours, row.unit), row.ours.quality]
        if not row.theirs:
            yield ours + ["", "", "", ""]
        for peer, side in row.theirs.items():
            yield ours + [peer, side_text(side, row.unit), side.quality, ratio_text(row.ratio(peer))]
            ours = ["", "", ""]


def as_text(result):
    """The table for the terminal."""
    lines = [HEADER, *cells(result)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    right = {1, 4, 6}
    text = []
    for line in lines:
        padded = [cell.rjust(width) if column in right else cell.ljust(width) for column, (cell, width) in enumerate(zip(line, widths))]
        text.append("  ".join(padded).rstrip())
    text.insert(1, "-" * max(len(line) for line in text))
    return "\n".join(text)


def as_json(result):
    """The result as plain data: every sample, not only medians."""
    side = lambda side: {
        "median": side.median if side.samples else None,
        "spread": side.spread if side.samples else None,
        "samples": side.samples,
        "limited": side.limited,
        "answer": side.quality,
    }
    return {
        "summary": result.summary,
        "rows": [
            {
                "problem": row.problem,
                "unit": row.unit,
                "ours": side(row.ours),
                "theirs": {
                    peer: side(theirs) | {"ratio": found[0] if (found := row.ratio(peer)) else None, "sign": found[1] if found else None}
                    for peer, theirs in row.theirs.items()
                },
            }
            for row in result.rows
        ],
        "plots": [vars(plot) for plot in result.plots],
        "notes": result.notes,
        "skipped": result.skipped,
        "failures": result.failures,
    }
