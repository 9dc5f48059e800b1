"""A fitness landscape in plain Python: hills on a torus, minds that walk on them, and measures.

The land is the upper hull of its hills. The hill in cell c of height h adds h · (1 + d²/w²)⁻² in a
cell at distance d from c, and the land is the largest of these. A cell that is not a hilltop has
higher ground next to it (one step toward the top of the hill it is on), so the local optima are
tops of hills and nothing else, and the global one is the top of the highest hill, whatever the
others do. Distance is Euclidean round the torus: with it, ground rises in one direction and not
in three.

The fitness is the land as seen from the sea: a cell above sea level counts its height as a share of
the highest one's, a cell below its depth as a share of the deepest's. Sea level is where all
heights and depths cancel out. So fitness runs from -1 to 1, a mind that moves by lot expects 0 at
every step, as in Λ*, and what is higher is fitter, as before.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Exercise, Record
from allminds.core.errors import Error
from allminds.core.seeding import WORLD, Random, key
from allminds.instruments.lambda_star.grid import Torus, neighbours
from allminds.instruments.lambda_star.minds import STAY
from allminds.instruments.lambda_star.world import TorusWorld, View

Field = NDArray[np.float64]  # [row, column]

SHARE = 0.3  # of the land that lies on hills: π w² · hills / cells
LOWEST, HIGHEST = 0.2, 0.9  # heights of all hills but the highest, which is 1
APART = 3  # king moves between two tops, at the least
ROOM = 20  # cells for each hill, at the least
ATTEMPTS = 1000


@dataclass(frozen=True)
class Hills:
    """What a landscape is made of: the highest hill is the first, of height 1."""

    torus: Torus
    heights: tuple[float, ...]
    tops: tuple[int, ...]  # cells

    @property
    def land(self) -> Field:
        """The upper hull of the hills."""
        rows, cols = self.torus.rows, self.torus.cols
        slope = hill(self.torus, len(self.heights))
        land = np.zeros((rows, cols))
        for height, top in zip(self.heights, self.tops, strict=True):
            row, col = self.torus.place(top)
            moved = slope[rows - row : 2 * rows - row, cols - col : 2 * cols - col]
            np.maximum(land, height * moved, out=land)
        return land

    @property
    def field(self) -> Field:
        """The fitness of every cell: mean 0, the global optimum 1, the lowest cell -1."""
        land = self.land
        lowest, level = float(land.min()), sea_level(land)
        return np.where(
            land > level, (land - level) / (1 - level), (land - level) / (level - lowest)
        )


@lru_cache(maxsize=64)
def hill(torus: Torus, hills: int) -> Field:
    """Compute a hill of height 1 in cell 1, as wide as the number of hills leaves room for.

    The torus is laid out twice in both directions, so that a hill in any cell is a part of it.
    """
    width = SHARE * torus.cells / (math.pi * hills)  # w²
    rows, cols = (np.minimum(np.arange(n), n - np.arange(n)) for n in (torus.rows, torus.cols))
    squared = rows[:, None] ** 2 + cols[None, :] ** 2
    once: Field = 1 / ((1 + squared / width) * (1 + squared / width))
    return np.tile(once, (2, 2))


def sea_level(land: Field) -> float:
    """Find where heights, as shares of the highest, cancel depths, as shares of the deepest.

    By bisection, until there is no number between: the higher the sea, the less heights weigh, and
    the more depths do.
    """
    heights = sorted(land.ravel().tolist())
    sums = [0.0, *accumulate(heights)]  # of the lowest 0, 1, 2, … cells
    lowest, highest = heights[0], heights[-1]
    low, high = lowest, highest
    while low < (level := (low + high) / 2) < high:
        under = bisect(heights, level)
        depth = under * level - sums[under]
        height = sums[-1] - sums[under] - (len(heights) - under) * level
        if height * (level - lowest) > depth * (highest - level):
            low = level
        else:
            high = level
    return level


def most_hills(torus: Torus) -> int:
    """Return how many hills there is room for."""
    return max(1, torus.cells // ROOM)


# ---------------------------------------------------------------- drawing one


def draw(torus: Torus, hills: int, random: Random) -> Hills:
    """Draw hills by lot until every one of them is a local optimum of its own.

    Attempt n uses the words of step n: word j places hill j on a uniform cell that is far enough
    from the tops before it, and word `hills` + j gives it a height. The first is the highest.
    """
    for attempt in range(ATTEMPTS):
        words = random.at_step(attempt)
        tops = _places(torus, hills, words)
        heights = [LOWEST + (HIGHEST - LOWEST) * words.unit_at(hills + j) for j in range(1, hills)]
        if tops is not None:
            found = Hills(torus, (1.0, *heights), tops)
            if sorted(optima(found.land)) == sorted(tops):
                return found
    raise Error(
        f"no landscape of {hills} hills was found on {torus.rows}x{torus.cols} cells; "
        "set fewer peaks"
    )


def _places(torus: Torus, hills: int, words: Random) -> tuple[int, ...] | None:
    """Draw cells at least `APART` from each other; None if there is no room for the next."""
    free = list(range(1, torus.cells + 1))
    tops: list[int] = []
    for j in range(hills):
        if not free:
            return None
        tops.append(free[words.below_at(len(free), j)])
        near = set(torus.around(tops[-1], APART - 1))
        free = [cell for cell in free if cell not in near]
    return tuple(tops)


# ---------------------------------------------------------------- what is known of one


def optima(field: Field) -> list[int]:
    """List the local optima: cells above all eight neighbours."""
    around = field.ravel()[neighbours(Torus(*field.shape))]
    at_least = (around >= around[STAY - 1]).sum(axis=0)
    return [int(cell) + 1 for cell in np.flatnonzero(at_least == 1)]


def autocorrelation(field: Field) -> float:
    """Correlate the fitness of a cell with that of the next cell in its row or column.

    Near 1 the land is smooth, near 0 rugged: one step tells nothing of the next.
    """
    apart = field - field.mean()
    beside = (apart * np.roll(apart, 1, 0)).mean() + (apart * np.roll(apart, 1, 1)).mean()
    return float(beside / 2 / (apart * apart).mean())


def basin(field: Field) -> float:
    """Compute the share of cells from which a hill climber comes to the global optimum.

    It goes to the highest of the nine cells round it, by lot among equals; so the chance of a cell
    is the mean of those it may go to, and after as many steps as the longest climb all is settled.
    """
    cells = neighbours(Torus(*field.shape))
    around = field.ravel()[cells]
    best = around == around.max(axis=0)
    likely = best / best.sum(axis=0)
    chances, before = (field.ravel() == field.max()).astype(float), None
    while before is None or (chances != before).any():
        before, chances = chances, (likely * chances[cells]).sum(axis=0)
    return float(chances.mean())


Fitness = tuple[float, ...]  # of cells 1, 2, … in reading order


class Standpoint(NamedTuple):
    """The state after `step` steps: the tops of the hills and the minds, as cells."""

    step: int
    tops: tuple[int, ...]
    minds: tuple[int, ...]


class Forecast(NamedTuple):
    """What a mind that sees the future is told: the fields at steps 0..ϑ, and their best cells."""

    sought: tuple[int, ...]  # the cell of the global optimum
    fields: tuple[Fitness, ...]


@dataclass(frozen=True)
class Landscape(TorusWorld):
    """Minds on a landscape whose hills stand still or, with a chance `drift`, move each step."""

    hills: Hills  # at the start
    steps: int  # ϑ
    agents: int
    reach: int  # of a mind's sight
    drift: float
    complexity: Mapping[str, float]

    @property
    def torus(self) -> Torus:  # type: ignore[override] # that of its hills
        """The torus that the hills stand on."""
        return self.hills.torus

    def field(self, state: Standpoint) -> Fitness:
        """Return the fitness of every cell."""
        return fitness(self.hills, state.tops)

    def reset(self, random: Random) -> Standpoint:
        """Place the minds on the first cells of a random permutation, as in Λ*."""
        return Standpoint(0, self.hills.tops, self.hills.torus.starts(self.agents, random, 2))

    def observe(self, state: Standpoint, slot: int) -> View:
        """Show the cells round a mind and their fitness."""
        field = self.field(state)
        cells = self.hills.torus.around(state.minds[slot], self.reach)
        return View(cells, tuple(field[cell - 1] for cell in cells))

    def step(
        self, state: Standpoint, actions: Mapping[int, int], random: Random
    ) -> tuple[Standpoint, Sequence[float]]:
        """Move the minds, then let hills drift; reward each mind by its own cell."""
        moved = self.hills.torus.moved
        minds = tuple(moved(cell, int(actions[slot])) for slot, cell in enumerate(state.minds))
        after = Standpoint(state.step + 1, self._drifted(state.tops, random), minds)
        field = self.field(after)
        return after, [field[cell - 1] for cell in minds]

    def secret(self, state: Standpoint, slot: int, random: Random) -> Forecast:
        """Return the fields to come, which no mind can change."""
        tops = [state.tops]
        for step in range(1, self.steps + 1):
            tops.append(self._drifted(tops[-1], random.at_step(step)))
        fields = [self.field(state._replace(tops=of)) for of in tops]
        return Forecast(tuple(of[0] for of in tops), tuple(fields))

    def _drifted(self, tops: tuple[int, ...], random: Random) -> tuple[int, ...]:
        """Move each hill a king move with chance `drift`: words 2j and 2j + 1 are hill j's."""
        if self.drift == 0:
            return tops
        return tuple(
            self.hills.torus.moved(top, 1 + random.below_at(9, 2 * j + 1))
            if random.unit_at(2 * j) < self.drift
            else top
            for j, top in enumerate(tops)
        )


@lru_cache(maxsize=256)
def fitness(hills: Hills, tops: tuple[int, ...]) -> Fitness:
    """Compute the field of some hills with their tops moved; the last are remembered."""
    return tuple(replace(hills, tops=tops).field.ravel().tolist())


# ---------------------------------------------------------------- measures


@dataclass(frozen=True)
class Measures:
    """Measures of all minds on a landscape together (Chmait et al. 2016, §6.2)."""

    exploitation: float  # mean reward
    exploration: float  # distinct cells stood on after a move / min(cells, minds · steps)
    regret: float  # the global maximum, which is 1, less the mean reward
    steps_to_optimum: int | None  # the first step after which a mind stood on it, from 0; if any


def measures(exercise: Exercise, record: Record) -> Measures:
    """Compute the measures of a record whose actions were all kept."""
    states = ways(exercise, record)
    rewards = [reward for step in record.rewards for reward in step]
    mean = math.fsum(rewards) / len(rewards)
    visited = {cell for state in states[1:] for cell in state.minds}
    cells = exercise.environment.facts["rows"] * exercise.environment.facts["cols"]
    found = (state.step for state in states if state.tops[0] in state.minds)
    return Measures(
        exploitation=mean,
        exploration=len(visited) / min(cells, len(rewards)),
        regret=1.0 - mean,
        steps_to_optimum=next(found, None),
    )


def ways(exercise: Exercise, record: Record) -> list[Standpoint]:
    """List the states of an exercise before the first step and after every one."""
    if set(record.status) != {"ok"} or len(record.actions) != record.steps:
        raise Error(f"exercise {record.index}: only a whole record can be measured")
    world, random = exercise.environment, Random(key(exercise.seed, exercise.index, WORLD))
    states = [world.reset(random)]
    for step, actions in enumerate(record.actions, start=1):
        states.append(world.step(states[-1], actions, random.at_step(step))[0])
    return states
