"""Minds that always do the same: `always(…)`, and one by the name of each action of most games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.contracts import Task, Traits
from allminds.core.errors import Error, nearest
from allminds.instruments.games.minds.base import MATRIX_GAMES, PolicyMind, certain
from allminds.registry import mind


class Constant(PolicyMind):
    """Always takes the action called `action`."""

    action: str
    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Find the number of the action."""
        super().begin(task)
        labels = getattr(task.actions, "labels", ())
        known = [*labels, *(str(self.first + n) for n in range(self.n))]
        if self.action not in known:
            raise Error(
                f"{task.instrument} has no action '{self.action}'; {nearest(self.action, known)}"
            )
        self.number = known.index(self.action) % self.n

    def policy(self, observation: Any) -> Sequence[float]:
        """Take one action for certain."""
        return certain(self.number, self.n)


@mind("always", (*MATRIX_GAMES, "commons", "pluralistic-ignorance", "predator-prey"))
class Always(Constant):
    """Always takes the same action, by name or number: `always(rock)`; the first if not named."""

    def __init__(self, action: str = "0") -> None:
        self.action = action


@mind("heads", "matching-pennies")
class Heads(Constant):
    """Always shows the side heads."""

    action = "heads"


@mind("tails", "matching-pennies")
class Tails(Constant):
    """Always shows the side tails."""

    action = "tails"


@mind("rock", "rock-paper-scissors")
class Rock(Constant):
    """Always plays the action rock."""

    action = "rock"


@mind("paper", "rock-paper-scissors")
class Paper(Constant):
    """Always plays the action paper."""

    action = "paper"


@mind("scissors", "rock-paper-scissors")
class Scissors(Constant):
    """Always plays the action scissors."""

    action = "scissors"


@mind("cooperate", "prisoners-dilemma")
class Cooperate(Constant):
    """Always cooperates with the other."""

    action = "cooperate"


@mind("defect", "prisoners-dilemma")
class Defect(Constant):
    """Always defects on the other."""

    action = "defect"


@mind("stag", "stag-hunt")
class Stag(Constant):
    """Always hunts the stag."""

    action = "stag"


@mind("hare", "stag-hunt")
class Hare(Constant):
    """Always hunts the hare."""

    action = "hare"


@mind("give", "public-goods")
class Give(Constant):
    """Always gives its unit away."""

    action = "give"


@mind("keep", "public-goods")
class Keep(Constant):
    """Always keeps its own unit."""

    action = "keep"


@mind("oppose", "pluralistic-ignorance")
class Oppose(Constant):
    """Always opposes the norm in public."""

    action = "oppose"


@mind("support", "pluralistic-ignorance")
class Support(Constant):
    """Always supports the norm in public."""

    action = "support"
