"""Who hears how far a call is: a function, a bar, and the logger ``consonant`` in any case."""

from __future__ import annotations

import contextlib
import logging
from typing import Any, Callable, Iterator, Union

logger = logging.getLogger("consonant")

#: A function that is called with a line of text, or ``True`` for a bar (by tqdm, or lines on standard error without it).
Progress = Union[Callable[[str], object], bool, None]


@contextlib.contextmanager
def listening(progress: Progress, total: int | None = None, title: str = "epochs") -> Iterator[Callable[[str], object]]:
    """A function for lines of text. An epoch's line moves the bar on.

    >>> with listening(print) as tell:
    ...     tell("epoch 1")
    epoch 1
    """
    with contextlib.ExitStack() as stack:
        show = _bar(stack, total, title) if progress is True else progress or None

        def tell(line: str) -> None:
            logger.info("%s", line)
            if show is not None:
                show(line)

        yield tell


def _bar(stack: contextlib.ExitStack, total: int | None, title: str) -> Callable[[str], object]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        import functools
        import sys

        return functools.partial(print, file=sys.stderr)
    bar: Any = stack.enter_context(tqdm(total=total, desc=title, unit=""))

    def show(line: str) -> None:
        bar.set_postfix_str(line.strip(), refresh=False)
        bar.update("epoch" in line)

    return show


def counted(items: Any, progress: Progress, total: int | None, title: str) -> Any:
    """The items of an iterator, counted as they pass."""
    if not progress:
        return items
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return items
        return tqdm(items, total=total, desc=title)
    return _told(items, progress, title)


def _told(items: Any, progress: Callable[[str], object], title: str) -> Iterator[Any]:
    number = 0
    for number, item in enumerate(items, 1):
        yield item
        if number % 1000 == 0:
            progress(f"{number} {title}")
    if number % 1000:
        progress(f"{number} {title}")
