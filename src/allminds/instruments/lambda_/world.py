"""Λ itself, in plain Python: the specification that the kernels must equal bit for bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from allminds.contracts import Discrete, Environment
from allminds.core.seeding import Random
from allminds.instruments.lambda_.space import Space, check_pattern, travel

HIDDEN = -1  # the cell of somebody who is out of sight

Rewards = Literal["position", "trail"]
Sight = Literal["full", "adjacent"]


class View(NamedTuple):
    """What a mind sees; of the two symbols one is Good and one Evil, and it is not told which."""

    symbols: tuple[int, int]  # their cells
    cell: int  # its own
    reachable: tuple[int, ...]  # where each action leads
    others: tuple[int, ...]  # the cells of the other minds, in slot order
    cells: int  # how many there are


class State(NamedTuple):
    """The state of the world after `step` steps."""

    step: int
    good: int
    evil: int
    minds: tuple[int, ...]
    trail: tuple[float, ...]  # the reward lying in each cell, if there are trails


class Foresight(NamedTuple):
    """What a mind that sees the future is told."""

    space: Space
    good_symbol: int  # which of the two symbols is Good
    good: tuple[int, ...]  # its cells at steps 0, 1, 2, …
    evil: tuple[int, ...]
    rewards: Rewards


@dataclass(frozen=True)
class World(Environment):
    """One environment μ of Λ: a space in which Good and Evil repeat a pattern of actions."""

    space: Space
    pattern: str
    steps: int
    agents: int
    teams: tuple[tuple[int, ...], ...]
    good_symbol: int  # 0 or 1: which of the two symbols is Good
    rewards: Rewards
    sight: Sight
    complexity: Mapping[str, float]

    def __post_init__(self) -> None:
        """Reject a pattern with actions that the space does not have."""
        check_pattern(self.pattern, self.space)

    @property
    def actions(self) -> Sequence[Discrete]:
        """The actions of the space, for everyone."""
        return (Discrete(self.space.actions),) * self.agents

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts that every mind is told: the number of cells, and what it will see of them."""
        return {"cells": self.space.cells, "observation": self.sight, "rewards": self.rewards}

    def reset(self, random: Random) -> State:
        """Place Good and Evil in two different cells (words 0, 1), each mind in any (2, 3, …)."""
        cells = self.space.cells
        good, evil = random.below_at(cells, 0), random.below_at(cells - 1, 1)
        evil = evil if evil < good else evil + 1
        minds = tuple(random.below_at(cells, 2 + slot) for slot in range(self.agents))
        return State(0, good, evil, minds, self._left((0.0,) * cells, good, evil))

    def observe(self, state: State, slot: int) -> View:
        """Show both symbols, the own cell, where actions lead, and the other minds."""
        cell = state.minds[slot]
        reachable = self.space.reachable(cell)

        def seen(other: int) -> int:
            return other if self.sight == "full" or other in (cell, *reachable) else HIDDEN

        good, evil = seen(state.good), seen(state.evil)
        symbols = (evil, good) if self.good_symbol else (good, evil)
        others = (*state.minds[:slot], *state.minds[slot + 1 :])
        shown = tuple(seen(other) for other in others)
        return View(symbols, cell, reachable, shown, self.space.cells)

    def step(
        self, state: State, actions: Mapping[int, int], random: Random
    ) -> tuple[State, Sequence[float]]:
        """Move minds, Good and Evil at the same time; then reward every mind."""
        minds = tuple(
            self.space.moved(cell, int(actions[slot])) for slot, cell in enumerate(state.minds)
        )
        step = state.step + 1
        good, evil = self._travel(step, state.good, state.evil, random)
        if self.rewards == "position":
            gains = [float(cell == good) - float(cell == evil) for cell in minds]
            return State(step, good, evil, minds, ()), self._shared(gains)
        trail = self._left(tuple(left / 2 for left in state.trail), good, evil)
        gains = [trail[cell] / minds.count(cell) for cell in minds]
        trail = tuple(0.0 if cell in minds else left for cell, left in enumerate(trail))
        return State(step, good, evil, minds, trail), self._shared(gains)

    def secret(self, state: State, slot: int, random: Random) -> Foresight:
        """Return the way of Good and Evil, which no mind can change."""
        good, evil = [state.good], [state.evil]
        for step in range(1, self.steps + 1):
            after = self._travel(step, good[-1], evil[-1], random.at_step(step))
            good.append(after[0])
            evil.append(after[1])
        return Foresight(self.space, self.good_symbol, tuple(good), tuple(evil), self.rewards)

    def _travel(self, step: int, good: int, evil: int, random: Random) -> tuple[int, int]:
        action = int(self.pattern[(step - 1) % len(self.pattern)])
        return travel(self.space, action, good, evil, random)

    def _left(self, trail: tuple[float, ...], good: int, evil: int) -> tuple[float, ...]:
        """Let Good and Evil leave 1 and -1 where they are, in place of what lay there."""
        if self.rewards == "position":
            return ()
        fresh = {good: 1.0, evil: -1.0}
        return tuple(fresh.get(cell, left) for cell, left in enumerate(trail))

    def _shared(self, gains: Sequence[float]) -> Sequence[float]:
        """Give all members of a team the mean of what they gained."""
        shared = list(gains)
        for team in self.teams:
            mean = math.fsum(gains[slot] for slot in team) / len(team)
            for slot in team:
                shared[slot] = mean
        return shared
