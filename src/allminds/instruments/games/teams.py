"""Two teams in a world that rewards every mind alone: the way from Λ* to team Λ*, and from Λ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from allminds.contracts import Environment, Space
from allminds.core.seeding import Random

TEAMS = 2

Shares = Literal["difference", "own"]


@dataclass(frozen=True)
class InTeams:
    """A world whose minds are two teams: the first half of the slots, and the second.

    All members of a team get the mean of what they would get alone (`own`), or half of what that
    is above the other team's mean (`difference`), which makes the game zero-sum.
    """

    world: Environment
    shares: Shares

    @cached_property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """Two teams of the same size."""
        size = len(self.world.actions) // TEAMS
        return tuple(tuple(range(size * team, size * (team + 1))) for team in range(TEAMS))

    @property
    def steps(self) -> int:
        """The world's."""
        return self.world.steps

    @property
    def score(self) -> Literal["mean", "total"]:
        """The world's."""
        return self.world.score

    @property
    def actions(self) -> Sequence[Space]:
        """The world's."""
        return self.world.actions

    @property
    def complexity(self) -> Mapping[str, float]:
        """The world's."""
        return self.world.complexity

    @property
    def facts(self) -> Mapping[str, Any]:
        """The world's."""
        return self.world.facts

    def reset(self, random: Random) -> Any:
        """As the world begins."""
        return self.world.reset(random)

    def awaited(self, state: Any) -> tuple[int, ...]:
        """As in the world."""
        return self.world.awaited(state)

    def observe(self, state: Any, slot: int) -> Any:
        """As in the world."""
        return self.world.observe(state, slot)

    def step(
        self, state: Any, actions: Mapping[int, Any], random: Random
    ) -> tuple[Any, Sequence[float]]:
        """The world's step; what everyone would get alone is shared by teams."""
        after, alone = self.world.step(state, actions, random)
        one, other = (math.fsum(alone[slot] for slot in team) / len(team) for team in self.teams)
        if self.shares == "difference":
            one, other = (one - other) / 2, (other - one) / 2
        size = len(self.teams[0])
        return after, [one] * size + [other] * size

    def secret(self, state: Any, slot: int, random: Random) -> Any:
        """As in the world."""
        return self.world.secret(state, slot, random)
