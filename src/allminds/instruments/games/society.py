"""Games of a whole society: a commons that grows back or not, and pluralistic ignorance.

In the commons everyone takes from one resource; in pluralistic ignorance everyone acts on what the
others seem to believe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import fmean
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


# ---------------------------------------------------------------- pluralistic ignorance


OPPOSE, SUPPORT = 0, 1
LABELS = ("oppose", "support")


def sign(action: int) -> int:
    """Return -1 to oppose, 1 to support."""
    return 2 * action - 1


class Public(NamedTuple):
    """What a mind sees: what it thinks itself, and what the others did in public last time."""

    step: int
    attitude: int  # its own: OPPOSE or SUPPORT
    others: tuple[int, ...]

    @property
    def situation(self) -> tuple[int, int]:
        """The key by which a learner tells situations apart."""
        return self.attitude, sum(self.others)


class Acts(NamedTuple):
    """The state: the last public act of everyone."""

    step: int
    last: tuple[int, ...]


@dataclass(frozen=True)
class Norm(Rounds):
    """A norm that all have supported in public so far, and some oppose in private.

    The reward of an act is (1 - c)·(act · own attitude) + c·(act · mean act of the others), with
    acts and attitudes ±1 and c the weight of conformity: it pays to be true to oneself, and it
    pays to agree. The first `opposed` slots oppose in private.
    """

    steps: int
    players: int
    opposed: int
    conformity: float

    labels = LABELS

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The weight of conformity, but not what the others think."""
        return {"conformity": self.conformity}

    @cached_property
    def attitudes(self) -> tuple[int, ...]:
        """The private attitude of everyone."""
        return tuple(OPPOSE if slot < self.opposed else SUPPORT for slot in range(self.players))

    def reset(self, random: Random) -> Acts:
        """Begin with all having supported the norm."""
        return Acts(0, (SUPPORT,) * self.players)

    def observe(self, state: Acts, slot: int) -> Public:
        """Show the own attitude, which is private, and the acts of all, which are public."""
        others = state.last[:slot] + state.last[slot + 1 :]
        return Public(state.step, self.attitudes[slot], others)

    def step(
        self, state: Acts, actions: Mapping[int, int], random: Random
    ) -> tuple[Acts, Sequence[float]]:
        """Pay every act for truth and for agreement."""
        acts = tuple(int(actions[slot]) for slot in range(self.players))
        total = sum(map(sign, acts))
        rewards = []
        for act, attitude in zip(acts, self.attitudes, strict=True):
            agreement = sign(act) * (total - sign(act)) / (self.players - 1)
            truth = sign(act) * sign(attitude)
            rewards.append((1 - self.conformity) * truth + self.conformity * agreement)
        return Acts(state.step + 1, acts), rewards

    # ------------------------------------------------------------ what became of it

    def ignorance(self, record: Record) -> tuple[float, bool]:
        """Return |mean public act - mean private attitude|/2, and whether their signs differ."""
        public = fmean(sign(int(act)) for step in record.actions for act in step.values())
        private = fmean(map(sign, self.attitudes))
        return abs(public - private) / 2, public * private < 0


class NormSettings(GameSettings):
    """Settings of pluralistic ignorance."""

    players: int = Field(5, ge=2, le=10, description="how many there are")
    opposed: int = Field(4, ge=0, description="how many oppose the norm in private")
    conformity: float = Field(0.6, ge=0, le=1, description="weight of agreement")

    @model_validator(mode="after")
    def _no_more_than_there_are(self) -> NormSettings:
        if self.opposed > self.players:
            raise ValueError(f"opposed must be at most the {self.players} players")
        return self


@instrument
class PluralisticIgnorance(Game):
    """Pluralistic ignorance: most oppose a norm in private, and support it as all others seem to.

    Five minds, four of whom oppose in private what all have supported in public so far. After
    Prentice and Miller (1993). The game has two equilibria when conformity weighs more than half.

    **Actions** `oppose`, `support`. **Observation** `Public`: the own attitude, and the others'
    last acts. **Rewards** 0.4 for truth and 0.6 for agreement with the others, in [-1, 1].

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "pluralistic-ignorance"
    version = 2
    chance = 0.0
    ceiling = 1.0
    Settings: ClassVar[type[Settings]] = NormSettings

    def world(self) -> Norm:
        """Build the norm that the settings describe."""
        given = self.settings
        return Norm(given.steps, given.players, given.opposed, given.conformity)

    def told(self, observation: Public) -> str:
        """Tell the own attitude and the others' acts."""
        others = ", ".join(LABELS[act] for act in observation.others)
        return (
            f"Round {observation.step + 1} of {self.settings.steps}. In private you "
            f"{LABELS[observation.attitude]} it. In public the others last chose: {others}."
        )


# ---------------------------------------------------------------- minds


@mind("honest", "pluralistic-ignorance")
class Honest(PolicyMind):
    """Acts in public as it thinks in private."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Public) -> Sequence[float]:
        """Act by its own attitude."""
        return self.certain(observation.attitude)


@mind("conform", "pluralistic-ignorance")
class Conform(PolicyMind):
    """Acts as most others did last; as it thinks if they were divided."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Public) -> Sequence[float]:
        """Act as the majority of the others did."""
        balance = sum(map(sign, observation.others))
        return self.certain(int(balance > 0) if balance else observation.attitude)


@mind("best-reply", "pluralistic-ignorance")
class BestReply(PolicyMind):
    """Does what would have paid best against the others' last acts; as it thinks if equal."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Learn how much conformity weighs."""
        super().begin(task)
        self.conformity: float = task.facts["conformity"]

    def policy(self, observation: Public) -> Sequence[float]:
        """Act by the sign of (1 - c)·attitude + c·mean act."""
        mean = sum(map(sign, observation.others)) / len(observation.others)
        pull = (1 - self.conformity) * sign(observation.attitude) + self.conformity * mean
        return self.certain(int(pull > 0) * SUPPORT if pull else observation.attitude)
