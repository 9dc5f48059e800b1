"""Simple minds that belong to one game: commons, pluralistic ignorance, public goods, the hunt."""

from __future__ import annotations

from collections.abc import Sequence

from allminds.contracts import Task, Traits
from allminds.core.errors import Error
from allminds.instruments.games.commons import Commons, Stock
from allminds.instruments.games.game import Round
from allminds.instruments.games.minds.base import PolicyMind, certain
from allminds.instruments.games.pluralistic import SUPPORT, Public, sign
from allminds.instruments.games.predators import MOVES, PREY, Sight
from allminds.instruments.lambda_star.grid import Torus
from allminds.registry import mind

GIVE, KEEP = 0, 1


@mind("conditional-cooperator", "public-goods")
class ConditionalCooperator(PolicyMind):
    """Gives first, and then if at least half of the others gave (Fischbacher et al. 2001)."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Round) -> Sequence[float]:
        """Give if at least half of the others gave."""
        gave = observation.others.count(GIVE)
        return certain(GIVE if 2 * gave >= len(observation.others) else KEEP, self.n)


# ---------------------------------------------------------------- commons


class Harvester(PolicyMind):
    """A mind that knows how the stock grows."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Learn how the stock grows."""
        super().begin(task)
        rules = task.facts["rules"]
        if not isinstance(rules, Commons):
            raise Error(f"{task.instrument} is no commons")
        self.left, self.players, self.most = rules.best_left, rules.players, rules.most


@mind("greedy", "commons")
class Greedy(Harvester):
    """Asks for as many units as it may."""

    def policy(self, observation: Stock) -> Sequence[float]:
        """Ask for the most units."""
        return certain(self.most, self.n)


@mind("sustain", "commons")
class Sustain(Harvester):
    """Asks for its share of what can be taken so that the stock grows most."""

    def policy(self, observation: Stock) -> Sequence[float]:
        """Ask for an equal share, in whole units."""
        share = max(observation.stock - self.left, 0) // self.players
        return certain(min(share, self.most), self.n)


# ---------------------------------------------------------------- pluralistic ignorance


@mind("honest", "pluralistic-ignorance")
class Honest(PolicyMind):
    """Acts in public as it thinks in private."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Public) -> Sequence[float]:
        """Act by its own attitude."""
        return certain(observation.attitude, self.n)


@mind("conform", "pluralistic-ignorance")
class Conform(PolicyMind):
    """Acts as most others did last; as it thinks if they were divided."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Public) -> Sequence[float]:
        """Act as the majority of the others did."""
        balance = sum(map(sign, observation.others))
        return certain(int(balance > 0) if balance else observation.attitude, self.n)


@mind("best-reply", "pluralistic-ignorance")
class BestReply(PolicyMind):
    """Does what would have paid best against the others' last acts; as it thinks if equal."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Learn how much conformity weighs."""
        super().begin(task)
        self.conformity: float = task.facts["conformity"]

    def policy(self, observation: Public) -> Sequence[float]:
        """Act by the sign of (1 - c)·attitude + c·mean act."""
        mean = sum(map(sign, observation.others)) / len(observation.others)
        pull = (1 - self.conformity) * sign(observation.attitude) + self.conformity * mean
        return certain(int(pull > 0) * SUPPORT if pull else observation.attitude, self.n)


# ---------------------------------------------------------------- predator and prey


@mind("greedy", "predator-prey")
class GreedyHunter(PolicyMind):
    """As predator steps toward the prey, as prey away from the nearest predator; ties by lot."""

    def begin(self, task: Task) -> None:
        """Learn the size of the field."""
        super().begin(task)
        self.torus = Torus(task.facts["rows"], task.facts["cols"])

    def policy(self, observation: Sight) -> Sequence[float]:
        """Weigh moves by the distance along rows and columns."""
        own = observation.cells[observation.slot]
        others = observation.cells[:PREY]
        hunts = observation.slot != PREY
        worth = []
        for move in MOVES:
            cell = self.torus.moved(own, move)
            away = min(self._steps(cell, other) for other in others)
            worth.append(-self._steps(cell, observation.cells[PREY]) if hunts else away)
        best = [value == max(worth) for value in worth]
        return [good / sum(best) for good in best]

    def _steps(self, a: int, b: int) -> int:
        (row, col), (to_row, to_col) = self.torus.place(a), self.torus.place(b)
        rows, cols = abs(row - to_row), abs(col - to_col)
        return min(rows, self.torus.rows - rows) + min(cols, self.torus.cols - cols)
