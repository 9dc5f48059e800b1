"""Λ* and Λ between two teams: worlds that reward every mind alone, with rewards shared in teams."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from allminds import registry
from allminds.contracts import Exercise, Failure, Instrument, Record
from allminds.core.bases import Wrapper
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.settings import Settings, checked
from allminds.instruments import lambda_, lambda_star
from allminds.instruments.lambda_.instrument import Lambda, LambdaSettings
from allminds.instruments.lambda_star.instrument import LambdaStar, LambdaStarSettings
from allminds.instruments.unequal import each_slot, mean
from allminds.presentation import Presentation

TEAMS = 2

Shares = Literal["difference", "own"]


@dataclass(frozen=True)
class InTeams(Wrapper):
    """A world whose minds are two teams: the first half of the slots, and the second.

    All members of a team get the mean of what they would get alone (`own`), or half of what that
    is above the other team's mean (`difference`), which makes the game zero-sum.
    """

    shares: Shares

    @cached_property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """Two teams of the same size."""
        size = len(self.inner.actions) // TEAMS
        return tuple(tuple(range(size * team, size * (team + 1))) for team in range(TEAMS))

    def step(
        self, state: Any, actions: Mapping[int, Any], random: Random
    ) -> tuple[Any, Sequence[float]]:
        """Make the world's step; share by teams what every mind would get alone."""
        after, alone = self.inner.step(state, actions, random)
        one, other = (math.fsum(alone[slot] for slot in team) / len(team) for team in self.teams)
        if self.shares == "difference":
            one, other = (one - other) / 2, (other - one) / 2
        size = len(self.teams[0])
        return after, [one] * size + [other] * size


# ---------------------------------------------------------------- Λ* and Λ between teams


class TeamGame(Instrument):
    """An instrument `alone`, whose minds are rewarded one by one, played by two teams.

    Its `Settings` are those of the other instrument and `shares`; `agents` counts both teams.
    """

    version = 2
    ceiling = 1.0
    scored = "first"  # whose team is the first
    Settings: ClassVar[type[Settings]]
    per_slot: ClassVar[tuple[str, ...]]  # settings with a value for all, each team or each slot
    alone: LambdaStar | Lambda

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(self.Settings, settings, self.name)
        self.slots = self.settings.agents
        if self.slots % TEAMS:
            raise Error(
                f"{self.name}: {self.slots} agents make no two equal teams; set an even number"
            )
        half = self.slots // TEAMS
        teams = range(half), range(half, self.slots)
        own = {
            name: ",".join(each_slot(getattr(self.settings, name), teams, name, self.name))
            for name in self.per_slot
        }
        self.alone = self.without_teams(self.settings.model_dump(exclude={"shares"}) | own)
        self.strata = self.alone.strata

    @cached_property
    def chance(self) -> float:  # type: ignore[override] # worked out when it is asked for
        """The expected score of the first team, if all minds are random."""
        size, found = self.slots // TEAMS, self.alone.slot_chances
        one, other = mean(found[:size]), mean(found[size:])
        return one if self.settings.shares == "own" else (one - other) / 2

    @abstractmethod
    def without_teams(self, settings: Mapping[str, Any]) -> LambdaStar | Lambda:
        """Make the other instrument from its settings."""

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Set the exercise of the other instrument, played by teams."""
        exercise = self.alone.exercise(seed, i, history)
        world = InTeams(exercise.environment, self.settings.shares)
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return replace(exercise, id=place, tool=self, environment=world)

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.games.present import presentation_of

        return presentation_of(self)

    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show an observation as the other instrument does."""
        return self.alone.show(observation, form)

    def read(self, answer: str, observation: Any) -> Any | Failure:
        """Parse an answer as the other instrument does."""
        return self.alone.read(answer, observation)

    def show_state(self, environment: InTeams, state: Any) -> str:
        """Draw the state as the other instrument does."""
        world: Any = environment.inner
        return self.alone.show_state(world, state)


class TeamLambdaStarSettings(LambdaStarSettings):
    """Settings of Λ* between teams."""

    agents: int = Field(4, ge=2, description="minds on the torus at once, both teams")
    shares: Shares = Field("difference", description="a team's gain over the other, or its own")


@registry.instrument
class TeamLambdaStar(TeamGame):
    """Λ* between two teams: keep nearer to Good and farther from Evil than the other team.

    The torus, the patterns and the minds are those of `lambda-star`; the first half of the slots
    is one team, the second half the other. A line-up names minds or groups in slot order:
    ``stigmergy(local-search*2), random*2``. The score is that of the first team.

    **Actions**, **Observation**, **Episode end**: as in `lambda-star`. **Rewards**: half of how
    much the mean reward of the team's cells is above that of the other team's.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "team-lambda-star"
    per_slot = ("range", "moves", "weights")
    Settings: ClassVar[type[Settings]] = TeamLambdaStarSettings

    def without_teams(self, settings: Mapping[str, Any]) -> LambdaStar:
        """Make the instrument Λ* itself."""
        return LambdaStar(**settings)


class TeamLambdaSettings(LambdaSettings):
    """Settings of Λ between teams."""

    agents: int = Field(4, ge=2, le=100, description="minds in the space at once, both teams")
    teams: Literal[0] = Field(0, description="there are always two")
    shares: Shares = Field("difference", description="a team's gain over the other, or its own")


@registry.instrument
class TeamLambda(TeamGame):
    """Λ between two teams: keep with Good and away from Evil in a graph of cells.

    Spaces, patterns and minds are those of `lambda`; the first half of the slots is one team, the
    second half the other. A line-up names minds in slot order: ``q-learning*2, random*2``. The
    score is that of the first team.

    **Actions**, **Observation**, **Episode end**: as in `lambda`. **Rewards**: half of how much
    the mean reward of the team's cells is above that of the other team's.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "team-lambda"
    per_slot = ("observation", "moves", "weights")
    Settings: ClassVar[type[Settings]] = TeamLambdaSettings

    def without_teams(self, settings: Mapping[str, Any]) -> Lambda:
        """Make the instrument Λ itself."""
        return Lambda(**settings)


for _name, _maker in lambda_star.MINDS.items():
    registry.mind(_name, TeamLambdaStar.name)(_maker)

for _name, _mind in {
    "follower": lambda_.minds.Follower,
    "expert": lambda_.minds.Expert,
    "optimum": lambda_.minds.Optimum,
    "q-learning": lambda_.minds.QLearning,
    "sarsa": lambda_.minds.Sarsa,
    "q-lambda": lambda_.minds.QLambda,
    "model-based": lambda_.minds.ModelBased,
}.items():
    registry.mind(_name, TeamLambda.name)(_mind)
