"""The chance level of every test: a mind that draws its action by lot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Discrete, Task
from allminds.core.bases import BatchMind
from allminds.core.errors import Error
from allminds.core.seeding import Random, Words, below
from allminds.registry import mind


@mind("random")
class RandomMind(BatchMind):
    """Uniform over the actions of its slot, or over those that the observation says are legal."""

    def begin(self, task: Task) -> None:
        """Look up the actions to choose from."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"random knows no way to draw an action of {task.instrument}")
        self.actions = task.actions

    def act(self, observation: Any, random: Random) -> int:
        """Draw any action, or any legal one."""
        allowed = self.actions.allowed(observation)
        return int(allowed[random.below(len(allowed))])

    def act_many(self, observations: Any, words: Words) -> NDArray[np.int64]:
        """Draw any action in every episode, where all are legal."""
        allowed = np.array(self.actions.allowed(None))
        return allowed[below(words[:, 0], len(allowed)).astype(np.int64)]

    def policy(self, observation: Any) -> Sequence[float]:
        """Give the same chance to all legal actions."""
        allowed = self.actions.allowed(observation)
        return [1 / len(allowed) if n in allowed else 0.0 for n in self.actions.numbers]
