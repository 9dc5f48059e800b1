"""Minds that go by a table of values: learnt by Q-learning or SARSA, or planned ahead.

What a table is about differs from world to world; how it is read and written is the same in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.rules import missing

MOST_SESSIONS = 1_000_000


def uniform_best(values: Sequence[float], random: Random, j: int = 0) -> int:
    """Return the index of a largest value, drawn uniformly among equals."""
    best = max(values)
    indices = [index for index, value in enumerate(values) if value == best]
    return indices[random.below_at(len(indices), j)]


def planned(rewards: Iterable[Sequence[float]], around: Any) -> list[NDArray[np.int64]]:
    """Plan by backward induction: the best move for every step and cell, the first among equals.

    `rewards` are those of every cell after steps 1, 2, …; `around` is [move, cell], where each
    move leads; cells count from 0.
    """
    around = np.asarray(around)
    value, plan = np.zeros(around.shape[1]), []
    for gain in reversed(list(rewards)):
        after = (value + gain)[around]
        plan.append(after.argmax(axis=0))
        value = after.max(axis=0)
    return plan[::-1]


def planned_many(fields: Iterable[NDArray[np.int8]], around: Any) -> list[NDArray[np.uint8]]:
    """Compute `planned` for many episodes at once: fields and plans are [cell, episode].

    Rewards are whole numbers in -2..2. The move travels in the four lowest bits, reversed, so that
    the largest number is the best value and the first move to it.
    """
    held = list(fields)
    wide = np.int16 if len(held) < 1000 else np.int64
    best, plans = np.zeros(held[0].shape, wide), []
    other = np.empty_like(best)
    for gain in reversed(held):
        worth = np.add(best & ~15, gain.astype(wide) * 16)
        for move, to in enumerate(around):
            np.take(worth, to, axis=0, out=other, mode="clip")  # which is quicker than to check
            other += 15 - move
            best = other.copy() if move == 0 else np.maximum(best, other, out=best)
        plans.append((15 - (best & 15)).astype(np.uint8))
    return plans[::-1]


# ---------------------------------------------------------------- learners


@dataclass
class Tabular(MindBase):
    """A table of the values of actions by situation; the best is taken, by lot among equals.

    With `carry` it keeps the table over the exercises of a course. It then learns in every exercise
    as it goes, and does not rehearse.
    """

    alpha: float = 0.3  # learning rate α
    gamma: float = 0.3  # discount γ
    epsilon: float = 0.0  # share of random actions while it learns
    initial: float = 2.0  # what every value starts at
    carry: bool = field(default=False, kw_only=True)  # keeps its table over a course

    name: ClassVar[str]
    sessions = 0  # rehearsals, if it has any
    learning = True  # whether it writes into its table

    def __post_init__(self) -> None:
        """Check the parameters, and make an empty table."""
        if not 0 < self.alpha <= 1:
            raise Error(f"{self.name}: alpha must be in (0, 1], not {self.alpha:g}")
        for key, value in (("gamma", self.gamma), ("epsilon", self.epsilon)):
            if not 0 <= value <= 1:
                raise Error(f"{self.name}: {key} must be in [0, 1], not {value:g}")
        if not 0 <= self.sessions <= MOST_SESSIONS:
            raise Error(f"{self.name}: sessions must be in 0..{MOST_SESSIONS}, not {self.sessions}")
        practice = 0 if self.carry else self.sessions
        self.traits = Traits(learns=True, practice=practice, carries=self.carry)
        self.table: dict[Any, list[float]] = {}

    def row(self, seen: Any) -> list[float]:
        """Return the values of the actions in the situation that is seen."""
        raise NotImplementedError

    def worth(self, reward: float) -> float:
        """Return what a reward counts in the table."""
        return reward

    def act(self, observation: Any, random: Random) -> int:
        """Take a best action by the table; while it learns, sometimes any."""
        self.values = self.row(observation)
        self.action = self.chosen(self.values, random)
        return self.action

    def chosen(self, values: Sequence[float], random: Random) -> int:
        """Choose by the values of some actions: words 1 and 2 explore, word 0 breaks ties."""
        if self.learning and self.epsilon > 0 and random.unit_at(1) < self.epsilon:
            return random.below_at(len(values), 2)
        return uniform_best(values, random)

    def update(self, values: list[float], action: int, gain: float, ahead: float) -> None:
        """Update Q(s,a) += α (R + γ·(the value ahead) - Q(s,a))."""
        values[action] += self.alpha * missing(values[action], gain, ahead, self.gamma)


class OffPolicy(Tabular):
    """Q-learning (Watkins and Dayan 1992): the value ahead is the best of the next situation."""

    name = "q-learning"

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Update the value of the last action at once; after the end, the value ahead is 0."""
        if self.learning:
            ahead = 0.0 if done or observation is None else self.ahead(observation)
            self.update(self.values, self.action, self.worth(reward), ahead)

    def ahead(self, seen: Any) -> float:
        """Return the best value of the next situation."""
        return max(self.row(seen))


class OnPolicy(Tabular):
    """SARSA: as Q-learning, but it looks ahead to the action that it really takes next."""

    name = "sarsa"

    def begin(self, task: Task) -> None:
        """Begin a play with no update pending."""
        super().begin(task)
        self.owed: tuple[list[float], int, float] | None = None  # values, action, what it brought

    def act(self, observation: Any, random: Random) -> int:
        """Act, then make the pending update of the step before: its next action is known now."""
        action = super().act(observation, random)
        self._settle(self.values[self.action])
        return action

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Keep the update of the last action pending until the next action is known."""
        if self.learning:
            self.owed = (self.values, self.action, self.worth(reward))
            if done:
                self._settle(0.0)

    def _settle(self, ahead: float) -> None:
        if self.owed is not None:
            self.update(*self.owed, ahead)
            self.owed = None
