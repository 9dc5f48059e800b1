"""Learners for Λ* that can carry what they learnt over a course: MC-AIXI and policy gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from allminds.contracts import Task
from allminds.core.seeding import Random
from allminds.instruments.aixi.mind import Aixi
from allminds.instruments.aixi.tree import Code, width
from allminds.instruments.gradient import Features, PolicyGradient
from allminds.instruments.lambda_star.grid import MOVES
from allminds.instruments.lambda_star.minds import INSTRUMENT, STAY, moves_of, torus_of
from allminds.instruments.lambda_star.world import View
from allminds.instruments.unequal import PLAIN
from allminds.registry import mind

NOTHING = 9  # the code for seeing the same reward everywhere
PAID = (  # the shares of Good's and of Evil's weight that a cell can have
    (0, 0), (1, 0), (0, 1), (0.5, 0), (0, 0.5), (0.5, 0.5), (1, 0.5), (0.5, 1)
)  # fmt: skip


@dataclass
@mind("mc-aixi", INSTRUMENT)
class LambdaStarAixi(Aixi):
    """MC-AIXI (Veness and others 2011): learns a model of the world bit by bit, and plans in it.

    Written in bits, an observation is the move toward the best cell in sight, the first among
    equals, or that all cells are alike. Rewards are -1, -0.5, 0, 0.5 and 1. Its model mixes all
    prediction suffix trees over the last `depth` bits, and it takes the best action by
    `simulations` simulations of the next `horizon` steps, with the exploration constant `bound`. A
    share `explore` of its actions is drawn by lot; after every step this share is multiplied by
    `decay`. With `carry` it keeps its model over the exercises of a course.
    """

    depth: int = 16
    horizon: int = 2
    simulations: int = 100

    def code(self, task: Task) -> Code:
        self.torus, self.moves = torus_of(task), moves_of(task)
        good, evil = task.facts.get("weights", PLAIN)
        sums = {g * good + e * evil for g, e in PAID}
        return Code(len(self.moves), width(NOTHING + 1), tuple(sorted(sums)))

    def act(self, observation: View, random: Random) -> int:
        return self.moves[super().act(observation, random) - self.first]

    def bits(self, observation: View) -> int:
        rewards = observation.rewards
        if min(rewards) == max(rewards):
            return NOTHING
        best = observation.cells[rewards.index(max(rewards))]
        return self.torus.toward(observation.cell, best) - 1


@dataclass
@mind("policy-gradient", INSTRUMENT)
class TorusGradient(PolicyGradient):
    """Policy gradient (Williams 1992; Baxter and Bartlett 2001) on three features of a move.

    They are the reward in sight in the cell that the move leads to, whether it is the move made
    last, and whether it stays. It learns one weight for each with the learning `rate`; `trace` is
    the share of a step's credit that goes on to the step before. With `carry` it keeps the weights
    over the exercises of a course.
    """

    count = 3

    def begin(self, task: Task) -> None:
        """Begin with no move made."""
        super().begin(task)
        self.last, self.moves = 0, moves_of(task)

    def features(self, observation: View) -> Features:
        middle, side = len(observation.cells) // 2, math.isqrt(len(observation.cells))
        rows = []
        for action in self.moves:
            row, col = MOVES[action - 1]
            seen = observation.rewards[middle + side * row + col]
            rows.append([seen, action == self.last, action == STAY])
        return np.array(rows, float)

    def act(self, observation: View, random: Random) -> int:
        self.last = self.moves[super().act(observation, random) - self.first]
        return self.last
