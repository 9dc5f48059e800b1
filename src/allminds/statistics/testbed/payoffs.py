"""A game given as a table: what every slot is paid in every line-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from allminds.contracts import Record
from allminds.core.errors import Error
from allminds.statistics.testbed.games import LineUp, Teams, check_rewards, checked_line_up
from allminds.statistics.testbed.games import Sequence as ActionSequence


@dataclass(frozen=True)
class Known:
    """An outcome that is simply known."""

    rewards: tuple[float, ...]
    step_sum_range: tuple[float, float]
    total_sums: tuple[float, float]


class Payoffs:
    """One step, in which each mind does one thing: `rewards[l_0, l_1, …, i]` goes to slot i.

    `random` names the mind that is the uniformly random one, if any is.
    """

    steps = 1
    score: Literal["mean", "total"] = "mean"

    def __init__(
        self,
        name: str,
        minds: Sequence[str],
        teams: Sequence[Sequence[int]],
        rewards: ArrayLike,
        random: str | None = None,
    ) -> None:
        self.name, self.minds = name, tuple(minds)
        self.teams: Teams = tuple(tuple(team) for team in teams)
        self.rewards = np.asarray(rewards, float)
        self.random = None if random is None else self.minds.index(random)
        places = sorted(slot for team in self.teams for slot in team)
        shape = (len(self.minds),) * len(places) + (len(places),)
        if places != list(range(len(places))):
            raise Error(f"{name}: the teams {self.teams} are no partition of the slots 0, 1, …")
        if self.rewards.shape != shape:
            raise Error(f"{name}: pay-offs of shape {self.rewards.shape}; {shape} is wanted")

    def outcome(self, line_up: LineUp) -> Known:
        """What the table says."""
        line_up = checked_line_up(self, line_up)
        rewards = check_rewards(self, line_up, tuple(float(r) for r in self.rewards[line_up]))
        total = sum(rewards)
        return Known(rewards, (total, total), (total, total))

    def others(self, line_up: LineUp, slot: int) -> Mapping[ActionSequence, float]:
        """Each does its own thing, whoever is in the slot."""
        return {(line_up[:slot] + line_up[slot + 1 :],): 1.0}

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record:
        """The same, as a record of one step."""
        rewards = self.outcome(line_up).rewards
        return Record(
            exercise=f"{self.name}/{seed}/{exercise}",
            index=exercise,
            complexity={},
            steps=1,
            score=rewards,
            learning=(None,) * len(rewards),
            status=tuple("ok" for _ in rewards),
            actions=(dict(enumerate(line_up)),),
            rewards=(rewards,),
        )
