"""The table of `allminds calibrate`: how often statements are wrong, and the gate they must pass.

A row simulates a world whose truth is known, calls the functions that allminds prints from, and
counts how often the statement is wrong. The gate: a 95 % interval may miss in at most 7 % and, if
it is an approximation, must miss in at least 2 %; a verdict may be false in at most 5 %. A row
fails only if the 99.9 % interval of its own simulation lies wholly outside.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from allminds.core.errors import Error

Kind = Literal["approximate", "bounded", "verdict", "outside"]
Simulation = Callable[[np.random.Generator, int], tuple[int, int]]
REPEATS = {"quick": 400, "medium": 1000, "full": 5000}
AT_LEAST = 20  # repeats of the slowest row
SURE = 0.999  # level of a row's own Monte Carlo interval
ALLOWED: dict[Kind, tuple[float, float]] = {  # shares of wrong statements
    "approximate": (0.02, 0.07),
    "bounded": (0.0, 0.07),
    "verdict": (0.0, 0.05),
    "outside": (0.0, 1.0),
}


@dataclass(frozen=True)
class Row:
    """One statement in one situation; `simulate` returns how many were wrong, and of how many.

    A row is "approximate" if its interval is meant to be neither too short nor too long (20 units
    or more, away from the ends of the scale), "bounded" if it is exact, holds for any scores of a
    bounded scale, or rests on fewer units, and a "verdict" if a word is counted. "Outside" is a
    world that breaks what an interval assumes: it is counted and shown, and no gate holds it.
    """

    section: str
    name: str
    kind: Kind
    simulate: Simulation
    nominal: float = 0.05  # share of wrong statements that is claimed
    cost: float = 1.0  # how many times as slow as most rows, so that it has fewer repeats
    most: float | None = None  # share of wrong statements that passes, if not that of its kind

    @property
    def allowed(self) -> tuple[float, float]:
        """The least and the greatest share of wrong statements that pass the gate."""
        least, greatest = ALLOWED[self.kind]
        return least, greatest if self.most is None else self.most


@dataclass(frozen=True)
class Found:
    """The result of a row: how many statements were wrong, of how many."""

    row: Row
    wrong: int
    total: int

    @property
    def rate(self) -> float:
        """The share of wrong statements."""
        return self.wrong / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 99.9 % interval of that share, by Clopper and Pearson."""
        from scipy.special import betaincinv

        x, n, tail = self.wrong, self.total, (1 - SURE) / 2
        low = float(betaincinv(x, n - x + 1, tail)) if x else 0.0
        high = float(betaincinv(x + 1, n - x, 1 - tail)) if x < n else 1.0
        return low, high

    @property
    def passes(self) -> bool:
        """True if the interval of the share overlaps what is allowed."""
        (low, high), (least, greatest) = self.interval, self.row.allowed
        return low <= greatest and high >= least


def chosen(rows: Sequence[Row], word: str | None) -> list[Row]:
    """Select the rows whose section or name contains a word."""
    if word is None:
        return list(rows)
    found = [row for row in rows if word.lower() in f"{row.section}: {row.name}".lower()]
    if not found:
        sections = "; ".join(dict.fromkeys(row.section for row in rows))
        raise Error(f"no row contains '{word}'; the sections are: {sections}")
    return found


def calibrate(rows: Sequence[Row], repeats: int, seed: int) -> Iterator[Found]:
    """Simulate rows one after the other, each with its own random stream, named after it."""
    for row in rows:
        name = zlib.crc32(f"{row.section}: {row.name}".encode())
        times = max(round(repeats / row.cost), min(repeats, AT_LEAST))
        yield Found(row, *row.simulate(np.random.default_rng([seed, name]), times))


def failures(found: Sequence[Found]) -> list[str]:
    """Write a sentence for every row that fails the gate."""
    return [
        f"{one.row.section}: {one.row.name}: wrong in {one.rate:.3f} "
        f"[{one.interval[0]:.3f}, {one.interval[1]:.3f}] of {one.total:,}, "
        f"allowed is {one.row.allowed[0]:.2f} to {one.row.allowed[1]:.2f}"
        for one in found
        if not one.passes
    ]
