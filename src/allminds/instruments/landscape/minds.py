"""Minds and groups for fitness landscapes, beside those of Λ*, which see and do the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from allminds import registry
from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.seeding import Random
from allminds.instruments import lambda_star as torus
from allminds.instruments.lambda_star.grid import MOVES, neighbours
from allminds.instruments.lambda_star.minds import STAY, reveal, sight, torus_of, toward_best
from allminds.instruments.lambda_star.world import View
from allminds.instruments.tables import planned
from allminds.registry import group, mind

INSTRUMENT = "landscape"
TOP = 1.0  # the fitness of the global optimum, whatever the landscape


@dataclass
@mind("annealing", INSTRUMENT)
class Annealing(MindBase):
    """Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): worse cells too, at first.

    It looks at a random one of the eight cells round it and goes there if it is better, or else
    with chance exp(difference / T). T falls evenly from `heat` to 0.
    """

    heat: float = 0.3

    def __post_init__(self) -> None:
        """Require a `heat` above 0."""
        if not self.heat > 0:
            raise Error(f"annealing: heat must be above 0, not {self.heat:g}")

    def begin(self, task: Task) -> None:
        """Begin at the full temperature."""
        self.steps, self.step = task.steps, 0

    def act(self, observation: View, random: Random) -> int:
        """Go perhaps to a neighbour drawn by lot."""
        heat = self.heat * (1 - self.step / self.steps)
        self.step += 1
        move = random.below_at(8, 0)
        row, col = MOVES[move if move < STAY - 1 else move + 1]
        middle, side = len(observation.cells) // 2, math.isqrt(len(observation.cells))
        there = middle + side * row + col
        gain = observation.rewards[there] - observation.rewards[middle]
        if gain > 0 or random.unit_at(1) < math.exp(gain / heat):
            return STAY + 3 * row + col
        return STAY


class Map:
    """What has been seen of a landscape, and when to stop looking.

    Looking ends with its share of the steps, or with the global optimum in sight: there is nothing
    better than 1.
    """

    def __init__(self, task: Task, share: float) -> None:
        self.torus, self.reach = torus_of(task), task.facts["range"]
        self.left = round(share * task.steps)  # steps to look
        self.seen = 0  # cells, as bits
        self.known: dict[int, float] = {}

    def note(self, view: View) -> None:
        """Note what a mind sees."""
        self.seen |= sight(self.torus, view.cell, self.reach)
        self.known.update(zip(view.cells, view.rewards, strict=True))

    def target(self) -> int | None:
        """Return the best cell known, when the time for looking is over; None before."""
        self.left -= 1
        best = max(self.known, key=self.known.__getitem__)
        return best if self.left < 0 or self.known[best] == TOP else None

    def explore(self, cell: int, random: Random) -> int:
        """Choose the move that shows most, and count its cells as seen."""
        action = reveal(self.torus, self.reach, cell, self.seen, random)
        self.seen |= sight(self.torus, self.torus.moved(cell, action), self.reach)
        return action


@dataclass
@mind("explorer", INSTRUMENT)
class Explorer(MindBase):
    """First sees as much as it can, then goes to the best cell that it has seen.

    `share` is the part of its steps that it spends on looking, at the most.
    """

    share: float = 0.4

    def __post_init__(self) -> None:
        """Require a `share` in [0, 1]."""
        _check_share("explorer", self.share)

    def begin(self, task: Task) -> None:
        """Begin with nothing known."""
        self.map = Map(task, self.share)

    def act(self, observation: View, random: Random) -> int:
        """Go to where most is new, or to the best cell known."""
        self.map.note(observation)
        target = self.map.target()
        if target is None:
            return self.map.explore(observation.cell, random)
        return self.map.torus.toward(observation.cell, target)


@dataclass
@mind("restarts", INSTRUMENT)
class Restarts(MindBase):
    """Climbs, and from a top that is not the highest goes off to climb another.

    It goes off for `stride` steps, to where it sees most that is new; with its share of the steps
    over it returns to the best top it knows.
    """

    share: float = 0.4
    stride: int = 5

    def __post_init__(self) -> None:
        """Require a `share` in [0, 1] and a `stride` of at least 1."""
        _check_share("restarts", self.share)
        if self.stride < 1:
            raise Error(f"restarts: stride must be 1 or more, not {self.stride}")

    def begin(self, task: Task) -> None:
        """Begin with nothing known."""
        self.map, self.roaming = Map(task, self.share), 0

    def act(self, observation: View, random: Random) -> int:
        """Return to the best top, go off to new ground, or climb."""
        self.map.note(observation)
        target = self.map.target()
        if target is not None:
            return self.map.torus.toward(observation.cell, target)
        self.roaming -= 1
        on_top = observation.rewards[len(observation.cells) // 2] == max(observation.rewards)
        if self.roaming < 0 and on_top:
            self.roaming = self.stride - 1
        if self.roaming >= 0:
            return self.map.explore(observation.cell, random)
        return toward_best(self.map.torus, observation, random)


@dataclass
@group("scouts", INSTRUMENT)
class Scouts:
    """Explorers with one map: each looks where no other has, then all go to the best cell on it."""

    members: Sequence[Subject] = ()
    share: float = 0.4

    is_group = True
    alone = "explorer"

    def __post_init__(self) -> None:
        """Reject members: all scouts are explorers."""
        _check_share("scouts", self.share)
        if self.members:
            raise Error("scouts are explorers all of them; leave out the members")

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin with nothing known."""
        self.map = Map(tasks[0], self.share)

    def act(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move one after the other, each knowing what those before it are about to see."""
        for view in observations:
            self.map.note(view)
        target = self.map.target()
        if target is None:
            pairs = zip(observations, random, strict=True)
            return [self.map.explore(view.cell, words) for view, words in pairs]
        return [self.map.torus.toward(view.cell, target) for view in observations]


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise Error(f"{name}: share must be in [0, 1], not {share:g}")


@mind("optimum", INSTRUMENT)
class HighestPeak(MindBase):
    """The true ceiling: backward induction over the fields to come; first among equals."""

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Compute the best move for every cell and step."""
        self.plan = planned(task.secret.fields[1:], neighbours(torus_of(task)))
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Take the move that was planned."""
        self.step += 1
        return 1 + int(self.plan[self.step - 1][observation.cell - 1])


registry.mind("policy-gradient", INSTRUMENT)(torus.learners.TorusGradient)
registry.mind("hill-climber", INSTRUMENT)(torus.MINDS["local-search"])
for _name, _maker in torus.MINDS.items():  # the expert's Good is here the global optimum
    if _name != "optimum":
        registry.mind(_name, INSTRUMENT)(_maker)
