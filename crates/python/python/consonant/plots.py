"""Pictures that need matplotlib."""

from __future__ import annotations

from typing import Any


def plot(solution: Any, axes: Any = None) -> Any:
    """Value and bound of a solution over time; ``solve(trace=True)`` records them."""
    from .errors import UsageError

    trace = solution.trace
    if not len(trace):
        raise UsageError("there is nothing to plot: solve with trace=True")
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.gca()
    axes.step(trace[:, 1], trace[:, 2], where="post", label="bound")
    axes.step(trace[:, 1], trace[:, 3], where="post", label="value")
    axes.set_xlabel("seconds")
    axes.set_ylabel("score")
    axes.set_title(solution.status)
    axes.legend()
    return axes
