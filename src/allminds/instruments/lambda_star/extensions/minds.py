"""Minds and groups for the extensions of Λ*, beside those of Λ* itself, which play them too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allminds import registry
from allminds.contracts import MindBase, Subject, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments import lambda_star as torus
from allminds.instruments.lambda_star.extensions.environment import Unfolding
from allminds.instruments.lambda_star.grid import action_of
from allminds.instruments.lambda_star.minds import STAY, reveal, sight, torus_of
from allminds.instruments.lambda_star.world import State, View
from allminds.registry import group, mind

COORDINATION = "lambda-star-coordination"
RESPONSIVE = "lambda-star-responsive"
COVERAGE = "lambda-star-coverage"
ALL = (COORDINATION, RESPONSIVE, COVERAGE)
RIGHT, DOWN = action_of(0, 1), action_of(1, 0)


@mind("stay", ALL)
class Stay(MindBase):
    """Stays where it is."""

    traits = Traits(deterministic=True)

    def act(self, observation: View, random: Random) -> int:
        """Stay in the same cell."""
        return STAY


# ---------------------------------------------------------------- coverage


@mind("sweep", ALL)
class Sweep(MindBase):
    """Sweeps the torus as one mows a lawn: along a band as wide as it sees, then the next."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Compute how far it is along a band and across it."""
        self.across = min(2 * task.facts["range"] + 1, task.facts["cols"])
        self.along = task.facts["cols"] - self.across
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Go right until the band is seen, then down to the next."""
        place = self.step % (self.along + self.across)
        self.step += 1
        return RIGHT if place < self.along else DOWN


@mind("explorer", ALL)
class Explorer(MindBase):
    """Goes where it sees most that it has not seen yet; it remembers all that it saw."""

    def begin(self, task: Task) -> None:
        """Begin with nothing seen."""
        self.torus, self.reach, self.seen = torus_of(task), task.facts["range"], 0

    def act(self, observation: View, random: Random) -> int:
        """Move to where most is new."""
        self.seen |= sight(self.torus, observation.cell, self.reach)
        return reveal(self.torus, self.reach, observation.cell, self.seen, random)


@dataclass
@group("scouts", ALL)
class Scouts:
    """Explorers with one memory: in slot order each goes where most is new to all of them."""

    members: Sequence[Subject] = ()

    is_group = True
    alone = "explorer"

    def __post_init__(self) -> None:
        """Reject members: all scouts are explorers."""
        if self.members:
            raise Error("scouts are explorers all of them; leave out the members")

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin with nothing seen."""
        self.torus, self.reach, self.seen = torus_of(tasks[0]), tasks[0].facts["range"], 0

    def act(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move one after the other, each knowing what those before it are about to see."""
        for view in observations:
            self.seen |= sight(self.torus, view.cell, self.reach)
        actions = []
        for view, words in zip(observations, random, strict=True):
            actions.append(reveal(self.torus, self.reach, view.cell, self.seen, words))
            self.seen |= sight(self.torus, self.torus.moved(view.cell, actions[-1]), self.reach)
        return actions


# ---------------------------------------------------------------- the responsive world


@mind("expert", RESPONSIVE)
class RespondingExpert(MindBase):
    """Knows where Good and Evil will be next, and goes where that pays most; alone on the torus.

    They respond to where it stands and not to where it goes, so that one step ahead it can be
    certain. Among moves that pay the same it takes the one that ends nearest to Good. It looks one
    step ahead and no farther, so it is no ceiling.
    """

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Learn how the world goes on."""
        if task.slots > 1:
            raise Error(f"expert foresees one mind's world, not that of {task.slots}; set agents=1")
        told: Unfolding = task.secret
        self.world, self.state, self.random = told

    def act(self, observation: View, random: Random) -> int:
        """Move to the best of nine cells at the next step."""
        step = self.state.step + 1
        good, evil = self.world.travel(self.state, self.random.at_step(step))
        torus = self.world.torus
        after = [
            State(step, good, evil, (torus.moved(observation.cell, action),))
            for action in range(1, 10)
        ]
        worth = [
            (self.world.rewards(state)[0], -torus.distance(state.minds[0], good)) for state in after
        ]
        best = worth.index(max(worth))
        self.state = after[best]
        return best + 1


# ---------------------------------------------------------------- those of Λ*

_OF_THE_FUTURE = ("expert", "optimum", "imitation")  # where Good's way does not depend on the minds
for _name, _maker in torus.MINDS.items():
    registry.mind(_name, COORDINATION if _name in _OF_THE_FUTURE else ALL)(_maker)
