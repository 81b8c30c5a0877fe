"""Progress bars on standard error, for a terminal."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Advance = Callable[[int], object]


@contextmanager
def progress_bar(
    description: str, total: int | None = None, initial: int = 0, *, shows_end: bool = False
) -> Iterator[Advance]:
    """Show a bar, and yield the function that advances it. Without a total it shows the count and the time.

    Log lines are printed above the bar. With `shows_end` its end is printed without a terminal, too.
    """
    console = Console(stderr=True)
    ends = [TaskProgressColumn(), TimeRemainingColumn()] if total is not None else [TimeElapsedColumn()]
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *ends,
        console=console,
        disable=not (console.is_terminal or shows_end),
    )
    with bar:
        task = bar.add_task(description, total=total, completed=initial)
        with _logs_above_the_bar():
            yield lambda count: bar.advance(task, count)


@contextmanager
def _logs_above_the_bar() -> Iterator[None]:
    """Let handlers write to the stream with which the bar has replaced standard error."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, logging.StreamHandler)]
    before = [(handler, handler.setStream(sys.stderr)) for handler in handlers]
    try:
        yield
    finally:
        for handler, stream in before:
            if stream is not None:
                handler.setStream(stream)
