"""Value and bound over time, as numbers and as a picture that needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy

from .errors import UsageError


class Trace(numpy.ndarray[Any, Any]):
    """An array with a row of iteration, seconds, bound and value for each look at a search; ``solve(trace=True)`` records them."""

    def plot(self, axes: Any = None, *, title: str | None = None) -> Any:
        """Draws value and bound over time with matplotlib, on ``axes`` if given; returns the axes."""
        if not len(self):
            raise UsageError("there is nothing to plot: solve with trace=True")
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.gca()
        for column, name in ((2, "bound"), (3, "value")):
            axes.step(self[:, 1], self[:, column], where="post", label=name)
        axes.set_xlabel("seconds")
        axes.set_ylabel("score")
        if title is not None:
            axes.set_title(title)
        axes.legend()
        return axes
