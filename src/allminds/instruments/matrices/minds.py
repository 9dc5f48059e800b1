"""Minds for matrices: those that find the rules, and those that try without.

Each scores the options (see `battery`) and takes the best, by lot among equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.matrices.dataset import battery
from allminds.instruments.matrices.dataset.battery import BlindTable, Sight, best
from allminds.instruments.matrices.instrument import Item
from allminds.instruments.matrices.making.generator import coded
from allminds.instruments.matrices.making.rules import Code, MatricesSettings, encoded
from allminds.registry import mind

INSTRUMENT = "matrices"


class Scoring(MindBase):
    """A mind that scores the options; override `scores`."""

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        """Give a number to each option, from cells and options in codes."""
        raise NotImplementedError

    def act(self, observation: Item, random: Random) -> int:
        """Choose the option with the highest score; draw lots among equals."""
        cells, options = ([encoded(panel) for panel in panels] for panels in observation)
        chosen = best(self.scores(cells, options))
        return chosen[0] if len(chosen) == 1 else chosen[random.below(len(chosen))]


@mind("rule-induction", INSTRUMENT)
class RuleInduction(Scoring):
    """Keeps what holds of eight cells, along rows and columns, and takes the option it predicts."""

    traits = Traits(deterministic=True)

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.rule_induction(cells, options)


@mind("pixel-solver", INSTRUMENT)
class PixelSolver(MindBase):
    """Recovers the attributes of every panel from its pixels, then finds the rules."""

    traits = Traits(deterministic=True)

    def act(self, observation: Item, random: Random) -> int:
        """Render the observation first, and look only at the pictures."""
        from allminds.instruments.matrices.drawing import raster
        from allminds.instruments.matrices.drawing.eyes import solved

        cells, options = ([raster.panel_rgb(panel) for panel in panels] for panels in observation)
        return solved(cells, options)


# ---------------------------------------------------------------- blind: the options alone


@mind("context-blind-vote", INSTRUMENT)
class ContextBlindVote(Scoring):
    """Takes the option that shares most values with the others; solves RAVEN, not these."""

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.vote(cells, options)


@dataclass
@mind("blind-table", INSTRUMENT)
class BlindTableMind(Scoring):
    """Learns from other problems which values are right when on offer, and sees options alone."""

    problems: int = 2000  # it has seen, of another seed

    def __post_init__(self) -> None:
        """Require at least one problem to learn from."""
        if self.problems < 1:
            raise Error(f"blind-table: problems must be 1 or more, not {self.problems}")

    def begin(self, task: Task) -> None:
        """Learn, once for all exercises with these settings."""
        self.table = _learnt(task.facts["settings"], self.problems)

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return self.table(cells, options)


_OTHER_SEED = 0x5EED0B1D


@lru_cache(maxsize=8)
def _learnt(settings: MatricesSettings, count: int) -> BlindTable:
    found = (coded(_OTHER_SEED, index, settings) for index in range(count))
    return BlindTable.learnt(Sight(one.cells[:8], one.options, one.answer) for one in found)


@dataclass
@mind("ink", INSTRUMENT)
class Ink(Scoring):
    """Takes the option with the most ink, or the least."""

    take: Literal["most", "least"] = "most"

    def __post_init__(self) -> None:
        """Require that `take` is one of the two choices."""
        _one_of("ink", self.take, "most", "least")

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.BLIND[f"{self.take} ink"](cells, options)


@dataclass
@mind("brightness", INSTRUMENT)
class Brightness(Scoring):
    """Takes the brightest option, or the darkest."""

    take: Literal["brightest", "darkest"] = "brightest"

    def __post_init__(self) -> None:
        """Require that `take` is one of the two choices."""
        _one_of("brightness", self.take, "brightest", "darkest")

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.BLIND[self.take](cells, options)


@dataclass
@mind("position", INSTRUMENT)
class Position(Scoring):
    """Always takes the option at the same place; any of them where there are fewer."""

    place: int = 1  # from 1

    def __post_init__(self) -> None:
        """Require that `place` is one of the options."""
        _one_of_eight("position: place", self.place)

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.position(self.place - 1)(cells, options)


# ---------------------------------------------------------------- those that see some of the matrix


@mind("in-context", INSTRUMENT)
class InContext(Scoring):
    """Takes the option most of whose values occur among the cells."""

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.in_context(cells, options)


@dataclass
@mind("nearest-panel", INSTRUMENT)
class NearestPanel(Scoring):
    """Takes the option most like one of the cells, the eighth unless told otherwise."""

    cell: int = 8  # from 1

    def __post_init__(self) -> None:
        """Require that the cell is one of the eight."""
        _one_of_eight("nearest-panel: cell", self.cell)

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.nearest(self.cell)(cells, options)


@mind("last-row-only", INSTRUMENT)
class LastRowOnly(Scoring):
    """Takes the likeliest option after the two cells before it, by Bayes; never looks further."""

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.last_row(cells, options)


@mind("shuffled-rows", INSTRUMENT)
class ShuffledRows(Scoring):
    """Rule induction by a mind to whom rows 1 and 2 are in disorder."""

    def scores(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        return battery.shuffled_rows(cells, options)


def _one_of(name: str, value: str, *known: str) -> None:
    if value not in known:
        raise Error(f"{name}: take must be {' or '.join(known)}, not '{value}'")


def _one_of_eight(name: str, value: int) -> None:
    if not 1 <= value <= 8:
        raise Error(f"{name} must be in 1..8, not {value}")
