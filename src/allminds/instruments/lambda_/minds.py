"""Minds for Λ (P3 §4), in plain Python; `kernels` has their compiled twins, `model` one more."""

from __future__ import annotations

from dataclasses import dataclass

from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_.world import Foresight, View
from allminds.instruments.lambda_star.minds import uniform_best
from allminds.registry import mind

INSTRUMENTS = ("lambda", "lambda-anytime", "lambda-staircase")

Place = tuple[tuple[int, int], int]  # the cells of both symbols, and its own


# ---------------------------------------------------------------- minds that are told something


@mind("follower", INSTRUMENTS)
class Follower(MindBase):
    """Goes where Good is now, if an action leads there, else anywhere.

    It is told which symbol is Good, and nothing else; it learns nothing.
    """

    traits = Traits(sees="future")

    def begin(self, task: Task) -> None:
        """Which of the two is Good."""
        self.good: int = task.secret.good_symbol

    def act(self, observation: View, random: Random) -> int:
        """After Good."""
        goal = observation.symbols[self.good]
        if goal in observation.reachable:
            return observation.reachable.index(goal)
        return random.below(len(observation.reachable))


@mind("expert", INSTRUMENTS)
class Expert(MindBase):
    """Knows the space and Good's next cell, and goes there by a shortest way.

    It does not look out for Evil, nor further ahead, so it is no ceiling.
    """

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Learn the space, and the way of Good."""
        self.future: Foresight = task.secret
        self.far = [self.future.space.distances(goal) for goal in range(self.future.space.cells)]
        self.step = 0

    def act(self, observation: View, random: Random) -> int:  # noqa: ARG002
        """The first action that leads nearest to where Good will be."""
        self.step += 1
        far = self.far[self.future.good[self.step]]
        ahead = [far[cell] for cell in observation.reachable]
        return ahead.index(min(ahead))


@mind("optimum", INSTRUMENTS)
class Optimum(MindBase):
    """The true ceiling: backward induction over the way of Good and Evil; first among equals."""

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Work out the best action for every cell and step."""
        future: Foresight = task.secret
        if future.rewards != "position":
            raise Error(f"optimum knows only rewards=position, not {future.rewards}; take expert")
        cells = range(future.space.cells)
        value = [0] * future.space.cells
        self.plan: list[list[int]] = []
        for good, evil in zip(reversed(future.good[1:]), reversed(future.evil[1:]), strict=True):
            worth = [(cell == good) - (cell == evil) + value[cell] for cell in cells]
            ahead = [[worth[to] for to in future.space.reachable(cell)] for cell in cells]
            value = [max(row) for row in ahead]
            self.plan.append([row.index(best) for row, best in zip(ahead, value, strict=True)])
        self.plan.reverse()
        self.step = 0

    def act(self, observation: View, random: Random) -> int:  # noqa: ARG002
        """As planned."""
        self.step += 1
        return self.plan[self.step - 1][observation.cell]


# ---------------------------------------------------------------- minds that learn a table


@dataclass
class TableLearner(MindBase):
    """A table over places (the cells of both symbols and its own) and actions.

    Defaults are P3's: α = 0.05, γ = 0.35, the table starts at 2, rewards are shifted to [0, 2],
    and it takes a best action, by lot among equals. It learns as it goes, within one exercise.
    """

    alpha: float = 0.05  # learning rate α
    gamma: float = 0.35  # discount γ
    epsilon: float = 0.0  # share of random actions
    initial: float = 2.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        name = type(self).__name__
        if not 0 < self.alpha <= 1:
            raise Error(f"{name}: alpha must be in (0, 1], not {self.alpha:g}")
        for key in ("gamma", "epsilon"):
            if not 0 <= getattr(self, key) <= 1:
                raise Error(f"{name}: {key} must be in [0, 1], not {getattr(self, key):g}")
        self.traits = Traits(learns=True)

    def begin(self, task: Task) -> None:  # noqa: ARG002
        """An empty table."""
        self.table: dict[Place, list[float]] = {}

    def act(self, observation: View, random: Random) -> int:
        """A best action by the table; sometimes any."""
        self.row = self._row(observation)
        explores = self.epsilon > 0 and random.unit_at(1) < self.epsilon
        choices = len(self.row)
        self.action = random.below_at(choices, 2) if explores else uniform_best(self.row, random)
        return self.action

    def _row(self, seen: View) -> list[float]:
        """The values of the actions in a place."""
        place = (seen.symbols, seen.cell)
        return self.table.setdefault(place, [self.initial] * len(seen.reachable))


@dataclass
@mind("q-learning", INSTRUMENTS)
class QLearning(TableLearner):
    """Q-learning (Watkins and Dayan 1992) exactly as in P3."""

    def learn(self, reward: float, observation: View | None, done: bool) -> None:  # noqa: ARG002
        """Q(s,a) += α (R + 1 + γ max Q(s',·) - Q(s,a))."""
        if observation is not None:  # after the last step there is nobody to learn for
            target = reward + 1.0 + self.gamma * max(self._row(observation))
            self.row[self.action] += self.alpha * (target - self.row[self.action])


@dataclass
@mind("sarsa", INSTRUMENTS)
class Sarsa(TableLearner):
    """SARSA: as Q-learning, but it looks ahead to the action that it really takes next."""

    def begin(self, task: Task) -> None:
        """Nothing is owed at the start."""
        super().begin(task)
        self.owed: tuple[list[float], int, float] | None = None  # row, action, reward

    def act(self, observation: View, random: Random) -> int:
        """Act, then settle what the step before is owed: its next action is known now."""
        action = super().act(observation, random)
        if self.owed is not None:
            row, before, reward = self.owed
            target = reward + 1.0 + self.gamma * self.row[action]
            row[before] += self.alpha * (target - row[before])
        return action

    def learn(self, reward: float, observation: View | None, done: bool) -> None:  # noqa: ARG002
        """Q(s,a) += α (R + 1 + γ Q(s',a') - Q(s,a)), when a' is known."""
        self.owed = (self.row, self.action, reward)


@dataclass
@mind("q-lambda", INSTRUMENTS)
class QLambda(TableLearner):
    """Watkins's Q(λ): every step also teaches the steps that led to it, the less the older.

    Replacing traces, which end where it took an action that was not best.
    """

    trace: float = 0.9  # λ

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not 0 <= self.trace <= 1:
            raise Error(f"QLambda: trace must be in [0, 1], not {self.trace:g}")

    def begin(self, task: Task) -> None:
        """No traces yet."""
        super().begin(task)
        self.traces: dict[tuple[int, int], tuple[list[float], float]] = {}  # (row, action)

    def act(self, observation: View, random: Random) -> int:
        """As the others; a worse action than the best ends all traces."""
        action = super().act(observation, random)
        if self.row[action] != max(self.row):
            self.traces.clear()
        return action

    def learn(self, reward: float, observation: View | None, done: bool) -> None:  # noqa: ARG002
        """δ = R + 1 + γ max Q(s',·) - Q(s,a); Q += α δ e; e <- γ λ e."""
        if observation is None:
            return
        target = reward + 1.0 + self.gamma * max(self._row(observation))
        error = target - self.row[self.action]
        self.traces[id(self.row), self.action] = (self.row, 1.0)
        for (place, action), (row, left) in self.traces.items():
            row[action] += self.alpha * error * left
            self.traces[place, action] = (row, left * (self.gamma * self.trace))
