"""The floor of every table: a mind that draws its action by lot."""

from __future__ import annotations

from typing import Any

from allminds.contracts import Discrete, MindBase, Task
from allminds.errors import Error
from allminds.registry import mind
from allminds.seeding import Random


@mind("random")
class RandomMind(MindBase):
    """Uniform over the actions of its slot."""

    def begin(self, task: Task) -> None:
        """Look what there is to choose from."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"random knows no way to draw an action of {task.instrument}")
        self.actions = task.actions

    def act(self, observation: Any, random: Random) -> int:  # noqa: ARG002
        """Any action."""
        return self.actions.start + random.below(self.actions.n)
