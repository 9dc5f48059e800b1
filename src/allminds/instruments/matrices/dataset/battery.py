"""The battery of shortcuts: what a set of problems gives away, printed with every set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from allminds.core.errors import Error
from allminds.instruments.matrices.dataset import shortcuts
from allminds.instruments.matrices.dataset.shortcuts import BlindTable, Score, Sight, best, less
from allminds.instruments.matrices.making.panel import NAMES, Problem

BLIND: dict[str, Score] = {
    "majority vote": shortcuts.vote,
    "most ink": shortcuts.ink,
    "least ink": less(shortcuts.ink),
    "darkest": shortcuts.darkness,
    "brightest": less(shortcuts.darkness),
}
PARTIAL: dict[str, Score] = {
    "seen in context": shortcuts.in_context,
    "not seen in context": less(shortcuts.in_context),
    "nearest to cell 8": shortcuts.nearest(8),
    "nearest to cell 6": shortcuts.nearest(6),
    "nearest to cell 5": shortcuts.nearest(5),
    "last row only": shortcuts.last_row,
    "rows 1 and 2 shuffled": shortcuts.shuffled_rows,
}


@dataclass(frozen=True)
class Entry:
    """How often a shortcut finds the answer; a lot among equals counts by its chance."""

    name: str
    hits: float
    stderr: float
    chance: float
    blind: bool  # sees the options alone, and so must be at chance

    @property
    def at_chance(self) -> bool:
        """True within four standard errors of chance."""
        return abs(self.hits - self.chance) <= 4 * self.stderr + 1e-9

    @property
    def fair(self) -> bool:
        """True if at chance, or not required to be."""
        return self.at_chance or not self.blind


def battery(
    problems: Sequence[Problem],
    measured: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> list[Entry]:
    """Try all shortcuts on a set of problems with equally many options.

    `measured` has more that a blind mind could go by, such as the size of files: for each problem
    a number for each option. The highest and the lowest are tried.
    """
    return of_sights([shortcuts.sight(problem) for problem in problems], measured)


def of_sights(
    sights: Sequence[Sight], measured: Mapping[str, Sequence[Sequence[float]]] | None = None
) -> list[Entry]:
    """Try all shortcuts, like `battery`, on problems in codes."""
    if len(sights) < 2:
        raise Error("the battery needs two problems or more: one half learns from the other")
    if len({len(seen.options) for seen in sights}) != 1:
        raise Error("the battery needs problems with equally many options")
    entries = [_entry("blind table", sights, _learnt(sights), blind=True)]
    scores = BLIND | {
        f"position {NAMES[place]}": shortcuts.position(place)
        for place in range(len(sights[0].options))
    }
    entries += [_entry(name, sights, _each(sights, score), True) for name, score in scores.items()]
    for name, values in (measured or {}).items():
        entries.append(_entry(f"largest {name}", sights, values, True))
        turned = [[-value for value in row] for row in values]
        entries.append(_entry(f"smallest {name}", sights, turned, True))
    return entries + [
        _entry(name, sights, _each(sights, score), False) for name, score in PARTIAL.items()
    ]


def unfair(entries: Sequence[Entry]) -> list[Entry]:
    """List the blind shortcuts that are not at chance."""
    return [entry for entry in entries if not entry.fair]


def _each(sights: Sequence[Sight], score: Score) -> list[list[float]]:
    return [score(seen.cells, seen.options) for seen in sights]


def _learnt(sights: Sequence[Sight]) -> list[list[float]]:
    """Score by a table that each half of the set learns from the other."""
    tables = [BlindTable.learnt(sights[half::2]) for half in (1, 0)]
    return [tables[n % 2](seen.cells, seen.options) for n, seen in enumerate(sights)]


def _entry(
    name: str, sights: Sequence[Sight], scores: Sequence[Sequence[float]], blind: bool
) -> Entry:
    hits = []
    for seen, some in zip(sights, scores, strict=True):
        chosen = best(some)
        hits.append((seen.answer in chosen) / len(chosen))
    mean = sum(hits) / len(hits)
    variance = sum((hit - mean) ** 2 for hit in hits) / (len(hits) - 1)
    chance = 1 / len(sights[0].options)
    return Entry(name, mean, math.sqrt(variance / len(hits)), chance, blind)
