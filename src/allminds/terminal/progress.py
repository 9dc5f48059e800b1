"""Lists and progress bars in a terminal; a pipe gets the lists only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
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

KINDS = {  # of minds
    "single": "single minds", "future": "minds that are told the future",
    "group": "groups, as tree(random*3)", "anywhere": "minds for every instrument",
}  # fmt: skip


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


def show_lines(rows: Sequence[tuple[str, str]], heading: str = "", indent: int = 0) -> None:
    """Print a line for each name: it, and what it is, cut at the edge of a terminal only."""
    console = Console()
    if heading:
        console.print(Text(heading, style="bold"))
    reach = max((len(name) for name, _ in rows), default=0)
    for name, what in rows:
        line = Text(" " * indent + printable(name).ljust(reach + 2))
        line.append(printable(what), style="dim" if console.is_terminal else "")
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        console.print(line, soft_wrap=True)


def show_minds(instrument: str = "") -> None:
    """Print the minds of an instrument, or of all, in groups; no mind stands there twice."""
    if instrument:
        cls = registry.kind(instrument)
        ends = {cls.floor_mind: "floor", cls.ceiling_mind: "ceiling"}
        kinds = registry.minds_by_kind(instrument)
        sections = {KINDS[kind]: list(its.items()) for kind, its in kinds.items() if its}
    else:
        ends = {}
        sections = _families()
    for n, (heading, minds) in enumerate(sections.items()):
        rows = [
            (f"{name} ({ends[name]})" if name in ends else name, registry.first_line(maker))
            for name, maker in minds
        ]
        show_lines(rows, ("\n" if n else "") + heading, indent=2)


def _families() -> dict[str, list[tuple[str, Any]]]:
    """Sort all minds by the instruments that they are for."""
    places: dict[tuple[str, Any], list[str]] = {}
    for instrument in registry.instruments():
        for name, maker in registry.minds(instrument).items():
            places.setdefault((name, maker), []).append(instrument)
    everywhere = registry.minds("*")
    sections: dict[str, list[tuple[str, Any]]] = {}
    for (name, maker), where in places.items():
        heading = "every instrument" if everywhere.get(name) is maker else ", ".join(where)
        sections.setdefault(heading, []).append((name, maker))
    return sections


def listing(what: str, instrument: str = "") -> list[dict[str, str]]:
    """List instruments, the minds of one instrument or of all, or papers, with a line on each."""
    if what == "papers":
        from allminds.papers import PAPERS, paper

        return [{"paper": name, "what": paper(name).what} for name in PAPERS]
    if what == "instruments":
        return [
            {"instrument": name, "version": str(cls.version), "what": registry.first_line(cls)}
            for name, cls in registry.instruments().items()
        ]
    return [
        {"instrument": name, "mind": mind, "what": registry.first_line(maker)}
        for name in ([instrument] if instrument else registry.instruments())
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
