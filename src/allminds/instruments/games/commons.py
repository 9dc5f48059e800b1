"""The commons: a resource that grows back, unless too much is taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from allminds.contracts import Record, Task, Traits
from allminds.core.bases import PolicyMind
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.settings import Settings
from allminds.instruments.games.game import Game, GameSettings, Rounds
from allminds.registry import instrument, mind


class Stock(NamedTuple):
    """What every mind sees, and the whole state: how much is left.

    Growth is known, and so is the harvest of the step before.
    """

    step: int
    stock: int

    @property
    def situation(self) -> int:
        """The key by which a learner tells situations apart."""
        return self.stock


@dataclass(frozen=True)
class Commons(Rounds):
    """A stock in whole units, from which everyone asks for 0..`most` units a step.

    Each mind gets what it asks for; if all ask for more than there is, it is shared as asked for,
    and the stock is gone for good. What is left grows by ⌊growth · left · (1 - left/capacity)⌋. The
    reward is what the mind got, rescaled from 0..`most` to [-1, 1].
    """

    steps: int
    players: int
    capacity: int
    most: int
    growth: float

    @cached_property
    def labels(self) -> Sequence[str]:
        """The numbers of units to ask for."""
        return [f"take-{units}" for units in range(self.most + 1)]

    def reset(self, random: Random) -> Stock:
        """Begin with all that the land bears."""
        return Stock(0, self.capacity)

    def step(
        self, state: Stock, actions: Mapping[int, int], random: Random
    ) -> tuple[Stock, Sequence[float]]:
        """Share out the harvest, then let the stock grow."""
        asked = [int(actions[slot]) for slot in range(self.players)]
        total = sum(asked)
        share = min(1.0, state.stock / total) if total else 1.0
        rewards = [2 * units * share / self.most - 1 for units in asked]
        return Stock(state.step + 1, self.grown(max(state.stock - total, 0))), rewards

    def grown(self, left: int) -> int:
        """Return the stock a step later, if so much is left."""
        return left + int(self.growth * left * (1 - left / self.capacity))

    # ------------------------------------------------------------ what became of it

    @cached_property
    def best_harvest(self) -> float:
        """The best harvest W* of this game: the most that all together can take, a step.

        It is found by dynamic programming from the last step back: `worth` has what each stock
        yields in the steps that are left. Near the end the best is to spend the stock itself.
        """
        stocks = np.arange(self.capacity + 1)
        after = np.array([self.grown(left) for left in range(self.capacity + 1)])
        worth = np.zeros(self.capacity + 1, np.int64)
        for _ in range(self.steps):
            worth = stocks + _highest(worth[after] - stocks, self.players * self.most)
        return int(worth[-1]) / self.steps

    @property
    def lasting_harvest(self) -> int:
        """The stationary reference: the most that all together can take every step for ever."""
        return min(self.players * self.most, self.grown(self.best_left) - self.best_left)

    @property
    def best_left(self) -> int:
        """The stock that has to be left for that; the least among equals."""
        return max(range(self.capacity + 1), key=lambda left: (self.grown(left) - left, -left))

    def harvests(self, record: Record) -> list[float]:
        """List what all minds together took, step by step."""
        return [
            math.fsum((reward + 1) * self.most / 2 for reward in step) for step in record.rewards
        ]

    def tragedy(self, record: Record, against: Literal["best", "lasting"] = "best") -> float:
        """Compute 1 - W/W*, W the mean joint harvest a step and W* one of two references.

        `best` is the most that this game of so many steps can yield, so that the tragedy is from 0
        to 1. `lasting` is the most that can be taken for ever; against it the tragedy is below 0
        where the stock itself was spent.
        """
        reference = self.best_harvest if against == "best" else self.lasting_harvest
        harvests = self.harvests(record)
        return 1 - math.fsum(harvests) / len(harvests) / reference

    def collapse(self, record: Record) -> int | None:
        """Return the step after which nothing was left, from 1; None if something always was."""
        state = self.reset(Random(0))
        for actions in record.actions:
            state, _ = self.step(state, actions, Random(0))
            if state.stock == 0:
                return state.step
        return None


def _highest(values: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Return the highest of each value and the `reach` values before it."""
    found, covered = values.copy(), 1  # each entry is the highest of so many values
    while covered <= reach:
        shift = min(covered, reach + 1 - covered)
        found[shift:] = np.maximum(found[shift:], found[:-shift].copy())
        covered += shift
    return found


class CommonsSettings(GameSettings):
    """Settings of the commons."""

    players: int = Field(4, ge=2, le=8, description="how many harvest")
    capacity: int = Field(24, ge=1, le=10_000, description="units the land bears; the start")
    most: int = Field(3, ge=1, le=100, description="units one may ask for in a step")
    growth: float = Field(0.8, gt=0, le=4, description="rate of growth")

    @model_validator(mode="after")
    def _it_can_grow(self) -> CommonsSettings:
        world = Commons(self.steps, self.players, self.capacity, self.most, self.growth)
        if world.lasting_harvest < 1:
            raise ValueError("it never grows by a whole unit; set more capacity or growth")
        if max(map(world.grown, range(self.capacity + 1))) > self.capacity:
            raise ValueError(f"it outgrows its capacity of {self.capacity}; set less growth")
        return self


@instrument
class CommonsGame(Game):
    """Commons: a renewable resource that over-use destroys (Hardin 1968).

    Everyone asks for 0..3 units of a stock of 24 that grows by the logistic law, in whole units.
    Four can take one unit each for ever; if all take three, nothing is left after three steps.

    **Actions** `take-0` .. `take-3`. **Observation** `Stock`: the step, and what is left.
    **Rewards** what one got, rescaled from 0..3 units to [-1, 1].

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly; 3, the tragedy is measured against the best of so many steps.
    """

    name = "commons"
    version = 3
    ceiling = 1.0
    Settings: ClassVar[type[Settings]] = CommonsSettings

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.chance = chance(self.environment)

    def world(self) -> Commons:
        """Build the commons that the settings describe."""
        given = self.settings
        return Commons(given.steps, given.players, given.capacity, given.most, given.growth)

    def told(self, observation: Stock) -> str:
        """Tell how much is left."""
        return (
            f"Step {observation.step + 1} of {self.settings.steps}. "
            f"{observation.stock} units are left."
        )


def chance(world: Commons) -> float:
    """Compute the expected score of a mind when all ask for a random number of units."""
    totals: dict[int, float] = {0: 1.0}
    each = 1 / (world.most + 1)
    for _ in range(world.players):
        before, totals = totals, {}
        for (total, likely), units in product(before.items(), range(world.most + 1)):
            totals[total + units] = totals.get(total + units, 0.0) + likely * each
    stocks, harvest = {world.capacity: 1.0}, 0.0
    for _ in range(world.steps):
        following: dict[int, float] = {}
        for (stock, here), (total, likely) in product(stocks.items(), totals.items()):
            harvest += here * likely * min(stock, total)
            after = world.grown(max(stock - total, 0))
            following[after] = following.get(after, 0.0) + here * likely
        stocks = following
    return 2 * harvest / world.players / world.steps / world.most - 1


# ---------------------------------------------------------------- minds


class Harvester(PolicyMind):
    """A mind that knows how the stock grows."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Learn how the stock grows."""
        super().begin(task)
        rules = task.facts["rules"]
        if not isinstance(rules, Commons):
            raise Error(f"{task.instrument} is not a commons game")
        self.left, self.players, self.most = rules.best_left, rules.players, rules.most


@mind("greedy", "commons")
class Greedy(Harvester):
    """Asks for as many units as it may."""

    def policy(self, observation: Stock) -> Sequence[float]:
        """Ask for the most units."""
        return self.certain(self.most)


@mind("sustain", "commons")
class Sustain(Harvester):
    """Asks for its share of what can be taken so that the stock grows most."""

    def policy(self, observation: Stock) -> Sequence[float]:
        """Ask for an equal share, in whole units."""
        share = max(observation.stock - self.left, 0) // self.players
        return self.certain(min(share, self.most))
