"""Pluralistic ignorance: everyone acts on what the others seem to believe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, model_validator

from allminds.contracts import Record, Task, Traits
from allminds.core.bases import PolicyMind
from allminds.core.seeding import Random
from allminds.core.settings import Settings
from allminds.instruments.games.game import Game, GameSettings, Rounds
from allminds.registry import instrument, mind

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
