"""Lists and progress bars in a terminal; a pipe gets the lists only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from allminds import registry
from allminds.core.errors import printable


def show_listing(rows: list[dict[str, str]]) -> None:
    """Print rows under their names, in columns."""
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(value)) for value in row.values()))
    Console().print(table)


def listing(what: str) -> list[dict[str, str]]:
    """List instruments, the minds of every instrument, or papers, with a line on each."""
    if what == "papers":
        from allminds.papers import PAPERS, paper

        return [{"paper": name, "what": paper(name).what} for name in PAPERS]
    found = registry.instruments()
    if what == "instruments":
        return [
            {"instrument": name, "version": str(cls.version), "what": registry.first_line(cls)}
            for name, cls in found.items()
        ]
    return [
        {"instrument": name, "mind": mind, "what": registry.first_line(maker)}
        for name in found
        for mind, maker in registry.minds(name).items()
    ]


# ---------------------------------------------------------------- progress


class _Rate(ProgressColumn):
    """A column that shows exercises a second."""

    def render(self, task: Any) -> Text:
        """Show the speed so far."""
        speed = task.finished_speed or task.speed
        return Text("" if not speed else f"{speed:,.0f}/s")


@contextlib.contextmanager
def watching(resume: str = "") -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar with rate and time left, if a terminal is attached.

    An interrupt becomes one line that says how to go on, and exit code 130.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(),
        TimeRemainingColumn(),
    )  # fmt: skip
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    tasks: dict[str, Any] = {}

    def progress(what: str, done: int, total: int) -> None:
        task = what.partition(":")[0]  # what stands behind a colon changes as it goes on
        if task not in tasks:
            tasks[task] = bar.add_task(what, total=total)
            if console.is_terminal and _will_compile():
                bar.console.print("compiling kernels, the first time only (about 20 s) …")
        bar.update(tasks[task], description=what, completed=done, total=total or None)

    try:
        with bar:
            yield progress
    except KeyboardInterrupt:
        hint = f"; go on with: {resume}" if resume else ""
        print(f"allminds: stopped{hint}", file=sys.stderr)
        sys.exit(130)


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a line that says what is being done just now, if a terminal is attached."""
    console = Console(stderr=True)
    with console.status(f"{what} …") as status:
        yield lambda line: status.update(f"{what}: {line}")


def _will_compile() -> bool:
    """Return whether the kernels are not on disk yet."""
    compiled = sys.modules.get("allminds.core.compiled")
    return compiled is not None and not compiled.is_warm()
