"""Minds as a user would bring them, which have no kernel: copies of random and local search.

Three ways to write each: a class with `act`, a class with `act_many`, and a compiled function.
All must give the scores of the built-in mind to the bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import MindBase, Task
from allminds.core.bases import BatchMind
from allminds.core.compiled import below
from allminds.core.seeding import Random, Words
from allminds.core.seeding import below as below_many
from allminds.instruments.lambda_star import Torus, View
from allminds.instruments.lambda_star.minds import compiled_mind


class OwnRandom(MindBase):
    """Any action."""

    def act(self, observation: View, random: Random) -> int:  # noqa: ARG002
        """Any action."""
        return 1 + random.below(9)


class OwnLocalSearch(MindBase):
    """Toward a best cell in sight."""

    def begin(self, task: Task) -> None:
        """Remember the torus."""
        self.torus = Torus(task.facts["rows"], task.facts["cols"])

    def act(self, observation: View, random: Random) -> int:
        """One step toward it."""
        best = max(observation.rewards)
        ties = [index for index, value in enumerate(observation.rewards) if value == best]
        target = observation.cells[ties[random.below(len(ties))]]
        return self.torus.toward(observation.cell, target)


class RandomOfMany(BatchMind):
    """Any action, in all episodes at once."""

    def act_many(self, observations: View, words: Words) -> NDArray[np.integer[Any]]:  # noqa: ARG002
        """Any action."""
        return 1 + below_many(words[:, 0], 9).astype(np.int64)


class LocalSearchOfMany(BatchMind):
    """Toward a best cell in sight, in all episodes at once; its range of sight is 1."""

    def act_many(self, observations: View, words: Words) -> NDArray[np.integer[Any]]:
        """Cells in sight are in the order of the actions that lead there."""
        rewards = np.asarray(observations.rewards)
        best = rewards == rewards.max(axis=1, keepdims=True)
        pick = below_many(words[:, 0], best.sum(axis=1)).astype(np.int64)
        picked: NDArray[np.int64] = np.argmax(best.cumsum(axis=1) > pick[:, None], axis=1)
        return 1 + picked


@compiled_mind
def compiled_random(_cells: Any, _rewards: Any, _step: int, bits: Any) -> int:
    """Any action."""
    return 1 + np.int64(below(bits, np.uint64(9)))  # type: ignore[return-value]


@compiled_mind
def compiled_local_search(_cells: Any, rewards: Any, _step: int, bits: Any) -> int:
    """Toward a best cell in sight; its range of sight is 1."""
    best, count = rewards[0], 0
    for value in rewards:
        best = max(best, value)
    for value in rewards:
        count += value == best
    pick = np.int64(below(bits, np.uint64(count)))
    for index in range(len(rewards)):
        if rewards[index] == best:
            if pick == 0:
                return index + 1
            pick -= 1
    return 5


class Ways(NamedTuple):
    """The ways to write one mind."""

    act: type[MindBase]
    act_many: type[MindBase]
    compiled: type[MindBase]


OWN = {
    "random": Ways(OwnRandom, RandomOfMany, compiled_random),
    "local-search": Ways(OwnLocalSearch, LocalSearchOfMany, compiled_local_search),
}
