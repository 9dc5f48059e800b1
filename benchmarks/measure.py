"""How things are timed, and tables that can be printed and written down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable

Play = Callable[[int, int], object]  # plays exercises first..last-1


@dataclass(frozen=True)
class Effort:
    """How long one timing takes at least, and of how many the quickest counts."""

    seconds: float
    repeats: int


def cost(play: Play, size: int, effort: Effort, first: int = 0) -> float:
    """Seconds an exercise: the quickest of several timings, each on exercises of its own.

    The first call only tells how many calls fill a timing, unless it alone took as long as all
    timings would.
    """
    start = time.perf_counter()
    play(first, first + size)
    once = time.perf_counter() - start
    if once > effort.seconds * effort.repeats:
        return once / size
    calls = max(1, math.ceil(effort.seconds / once))
    best = math.inf
    for _ in range(effort.repeats):
        start = time.perf_counter()
        for _ in range(calls):
            first += size
            play(first, first + size)
        best = min(best, (time.perf_counter() - start) / (calls * size))
    return best


def best_of(function: Callable[[], object], repeats: int) -> float:
    """Seconds of the quickest call."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


# ---------------------------------------------------------------- tables


@dataclass(frozen=True)
class Table:
    """A table of results, with what has to be known to read it."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1  # columns of words, to the left; the rest are numbers

    def show(self, console: Console) -> None:
        """Print it."""
        made = RichTable(title=self.title, title_justify="left", caption=self.note)
        made.caption_justify = "left"
        for n, name in enumerate(self.columns):
            made.add_column(name, justify="left" if n < self.labels else "right")
        for row in self.rows:
            made.add_row(*row)
        console.print(made)
        console.print()

    def markdown(self) -> str:
        """As a section of the README."""
        rules = ["---" if n < self.labels else "---:" for n in range(len(self.columns))]
        lines = [f"| {' | '.join(cells)} |" for cells in (self.columns, rules, *self.rows)]
        return "\n".join([f"### {self.title}", "", self.note, "", *lines, ""])


def times(ratio: float | None) -> str:
    """A ratio, as 1,234 x."""
    if ratio is None:
        return "-"
    return f"{ratio:,.0f} x" if ratio >= 20 else f"{ratio:.1f} x"


def micro(seconds: float | None) -> str:
    """Seconds as microseconds, in three digits or so."""
    if seconds is None:
        return "-"
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def verdict(ratio: float, target: float) -> str:
    """Whether a target was reached in this run; shown, never asserted."""
    return f">= {target:,.0f} x {'met' if ratio >= target else 'MISSED'}"
