"""How things are timed, and tables that can be printed and written down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable

Play = Callable[[int, int], object]  # plays exercises first..last-1


@dataclass(frozen=True)
class Effort:
    """How long one timing takes at least, and of how many the quickest counts."""

    seconds: float
    repeats: int


@dataclass(frozen=True)
class Contender:
    """A way of playing, and how many exercises it is given at a time."""

    play: Play
    size: int
    first: int = 0


def costs(contenders: Mapping[str, Contender], effort: Effort) -> dict[str, float]:
    """Seconds an exercise of each: the quickest of several timings, each on exercises of its own.

    Contenders take turns, so that a neighbour's load on the machine meets them all. The first
    call of each only tells how many calls fill a timing, unless it fills one by itself.
    """
    best = dict.fromkeys(contenders, math.inf)
    calls, turns, first = {}, {}, {}
    for name, one in contenders.items():
        once = _timed(one, one.first, 1)
        if once > effort.seconds:
            best[name] = once / one.size
        calls[name] = max(1, math.ceil(effort.seconds / once))
        turns[name] = min(effort.repeats, int(effort.seconds * effort.repeats / once))
        first[name] = one.first + one.size
    for turn in range(effort.repeats):
        for name, one in contenders.items():
            if turn < turns[name]:
                spent = _timed(one, first[name], calls[name])
                best[name] = min(best[name], spent / (calls[name] * one.size))
                first[name] += calls[name] * one.size
    return best


def _timed(one: Contender, first: int, calls: int) -> float:
    """Seconds for some calls on consecutive exercises."""
    start = time.perf_counter()
    for low in range(first, first + calls * one.size, one.size):
        one.play(low, low + one.size)
    return time.perf_counter() - start


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
