"""The chance level of every test: a mind that draws its action by lot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.contracts import Discrete, MindBase, Task
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.registry import mind


@mind("random")
class RandomMind(MindBase):
    """Uniform over the actions of its slot, or over those that the observation says are legal."""

    def begin(self, task: Task) -> None:
        """Look up the actions to choose from."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"random knows no way to draw an action of {task.instrument}")
        self.actions = task.actions

    def act(self, observation: Any, random: Random) -> int:
        """Draw any action, or any legal one."""
        legal = getattr(observation, "legal", None)
        if legal is not None:
            return int(legal[random.below(len(legal))])
        return self.actions.start + random.below(self.actions.n)

    def policy(self, observation: Any) -> Sequence[float]:
        """Give the same chance to all legal actions."""
        start, n = self.actions.start, self.actions.n
        legal = getattr(observation, "legal", None)
        if legal is None:
            return [1 / n] * n
        return [1 / len(legal) if start + number in legal else 0.0 for number in range(n)]
