"""Learners for Λ that can carry what they learnt over a course: MC-AIXI and policy gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allminds.contracts import Task
from allminds.instruments.aixi.mind import Aixi
from allminds.instruments.aixi.tree import Code, width
from allminds.instruments.gradient import Features, PolicyGradient
from allminds.instruments.lambda_.minds import INSTRUMENTS
from allminds.instruments.lambda_.world import HIDDEN, View
from allminds.instruments.unequal import PLAIN
from allminds.registry import mind

Pair = tuple[int, int]


class Credit:
    """What standing with each of the two symbols has brought in an exercise."""

    def __init__(self) -> None:
        self.sums = [0.0, 0.0]

    def note(self, reward: float, seen: View) -> None:
        """Add a reward to the symbols that are in the own cell."""
        for symbol, cell in enumerate(seen.symbols):
            if cell == seen.cell:
                self.sums[symbol] += reward

    def ordered(self, symbols: Pair) -> Pair:
        """Put the symbol that has brought more first."""
        return symbols if self.sums[0] >= self.sums[1] else (symbols[1], symbols[0])


@dataclass
@mind("mc-aixi", INSTRUMENTS)
class LambdaAixi(Aixi):
    """MC-AIXI (Veness and others 2011): learns a model of the world bit by bit, and plans in it.

    Written in bits, an observation is, for either symbol, the first action that leads to where it
    is now, or none; the symbol that has brought more in the exercise comes first. Rewards are -1, 0
    and 1, and halves too where a trail or a team can bring them. Its model mixes all prediction
    suffix trees over the last `depth` bits, and it takes the best action by `simulations`
    simulations of the next `horizon` steps, with the exploration constant `bound`. A share
    `explore` of its actions is drawn by lot; after every step this share is multiplied by `decay`.
    With `carry` it keeps a model for each number of actions over the exercises of a course.
    """

    depth: int = 24
    horizon: int = 3
    simulations: int = 60

    def code(self, task: Task) -> Code:
        self.credit = Credit()
        self.none: int = task.actions.n  # type: ignore[attr-defined] # Λ's are Discrete
        whole = task.facts["rewards"] == "position" and len(task.team) == 1
        shares = (0.0, 1.0) if whole else (0.0, 0.5, 1.0)
        sums = {share * weight for weight in task.facts.get("weights", PLAIN) for share in shares}
        rewards = tuple(sorted(sums))
        return Code(self.none, 2 * width(self.none + 1), rewards)

    def bits(self, observation: View) -> int:
        ways, number = observation.reachable, 0
        for cell in self.credit.ordered(observation.symbols):
            action = ways.index(cell) if cell in ways else self.none
            number = number << width(self.none + 1) | action
        return number

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Note which symbol was in its cell, and learn the percept."""
        if observation is not None:
            self.credit.note(reward, observation)
        super().learn(reward, observation, done)


@dataclass
@mind("policy-gradient", INSTRUMENTS)
class LambdaGradient(PolicyGradient):
    """Policy gradient (Williams 1992; Baxter and Bartlett 2001) on six features of an action.

    The symbol that has brought more in the exercise is called the first. An action leads to the
    first symbol or not, to the second, to the cell where the first went when both were last where
    they are now, or where the second went, to a cell where it has not been, or it stays. It learns
    one weight for each of these six with the learning `rate`; `trace` is the share of a step's
    credit that goes on to the step before. With `carry` it keeps the weights over the exercises of
    a course.
    """

    count = 6

    def begin(self, task: Task) -> None:
        """Begin with nothing seen of the world."""
        super().begin(task)
        self.credit, self.went, self.visited = Credit(), dict[Pair, Pair](), set[int]()
        self.before: Pair | None = None

    def features(self, observation: View) -> Features:
        self.visited.add(observation.cell)
        if self.before is not None:
            self.went[self.before] = observation.symbols
        self.before = observation.symbols
        unknown = (HIDDEN, HIDDEN)
        now = self.credit.ordered(observation.symbols)
        soon = self.credit.ordered(self.went.get(observation.symbols, unknown))
        rows = [
            [*(to == cell for cell in (*now, *soon)), to not in self.visited, action == 0]
            for action, to in enumerate(observation.reachable)
        ]
        return np.array(rows, float)

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Note which symbol was in its cell, and follow the gradient."""
        if observation is not None:
            self.credit.note(reward, observation)
        super().learn(reward, observation, done)
