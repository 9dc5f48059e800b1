"""A walk on a fitness landscape, in plain Python, and measures of what came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from allminds.contracts import Discrete, Environment, Exercise, Record
from allminds.core.errors import Error
from allminds.core.seeding import WORLD, Random, key
from allminds.instruments.lambda_star.world import MOVE, View
from allminds.instruments.landscape.field import Hills

Fitness = tuple[float, ...]  # of cells 1, 2, … in reading order


class Standpoint(NamedTuple):
    """The state after `step` steps: the tops of the hills and the minds, as cells."""

    step: int
    tops: tuple[int, ...]
    minds: tuple[int, ...]


class Forecast(NamedTuple):
    """What a mind that sees the future is told: the fields at steps 0..ϑ, and their best cells."""

    good: tuple[int, ...]  # the cell of the global optimum
    fields: tuple[Fitness, ...]


@dataclass(frozen=True)
class Landscape(Environment):
    """Minds on a landscape whose hills stand still or, with a chance `drift`, move each step."""

    hills: Hills  # at the start
    steps: int  # ϑ
    agents: int
    reach: int  # of a mind's sight
    drift: float
    complexity: Mapping[str, float]

    @property
    def actions(self) -> Sequence[Discrete]:
        """The nine king moves, for every mind."""
        return (MOVE,) * self.agents

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts that every mind is told: the size of the torus and how far it sees."""
        torus = self.hills.torus
        return {"rows": torus.rows, "cols": torus.cols, "range": self.reach}

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
    """Measures of all minds on a landscape together (P4 §6.2)."""

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
