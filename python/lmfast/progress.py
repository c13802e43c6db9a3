"""A moving bar on a terminal, nothing elsewhere; always on stderr."""

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

Report = Callable[[int], None]


@contextlib.contextmanager
def bytes_bar(what: str, total: int | None) -> Iterator[Report]:
    """A bar over ``total`` bytes, with rate and remaining time; yields what reports bytes done."""
    with _bar(what, total, DownloadColumn(), TransferSpeedColumn()) as report:
        yield report


@contextlib.contextmanager
def count_bar(what: str, total: int) -> Iterator[Report]:
    """A bar over ``total`` things; yields what reports how many are done."""
    with _bar(what, total, MofNCompleteColumn()) as report:
        yield report


@contextlib.contextmanager
def _bar(what: str, total: int | None, *columns: ProgressColumn) -> Iterator[Report]:
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
