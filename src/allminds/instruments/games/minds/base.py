"""What minds for games are made of: a policy, and an action drawn by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.contracts import Discrete, MindBase, Task
from allminds.core.errors import Error
from allminds.core.seeding import Random

MATRIX_GAMES = (
    "matching-pennies",
    "rock-paper-scissors",
    "prisoners-dilemma",
    "stag-hunt",
    "public-goods",
)
GAMES = (
    *MATRIX_GAMES,
    "commons",
    "pluralistic-ignorance",
    "noughts-and-crosses",
    "predator-prey",
)


def drawn(chances: Sequence[float], random: Random) -> int:
    """Draw an index by its chance; what is certain needs no random word."""
    if 1.0 in chances:
        return chances.index(1.0)
    place, total, last = random.unit(), 0.0, 0
    for index, chance in enumerate(chances):
        total += chance
        if chance > 0:
            last = index
            if place < total:
                return index
    return last


def certain(action: int, actions: int) -> list[float]:
    """Return the policy that takes one action for certain."""
    return [float(other == action) for other in range(actions)]


class PolicyMind(MindBase):
    """A mind that says how likely it is to take each action: override `policy`.

    `policy` is called once at every turn, in order, and may remember what it is shown; the
    attributes of a mind are its memory. It learns of its own last action by being shown it, not
    by having drawn it, so that all that it may do can be followed (see `games.exact`).
    """

    def begin(self, task: Task) -> None:
        """Look up the actions to choose from."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"{type(self).__name__} cannot choose an action of {task.instrument}")
        self.first, self.n = task.actions.start, task.actions.n

    def policy(self, observation: Any) -> Sequence[float]:
        """Return the probability of every action, in their order."""
        raise NotImplementedError

    def act(self, observation: Any, random: Random) -> int:
        """Draw an action by the policy."""
        return self.first + drawn(self.policy(observation), random)
