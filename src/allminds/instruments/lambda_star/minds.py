"""Single minds for Λ* (P4 §5.2.1), in plain Python; `fast` has their compiled twins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.grid import Torus, action_of
from allminds.instruments.lambda_star.world import Foresight, View
from allminds.registry import mind

INSTRUMENT = "lambda-star"


def torus_of(task: Task) -> Torus:
    """Return the torus that a mind is told of."""
    return Torus(task.facts["rows"], task.facts["cols"])


def uniform_best(values: Sequence[float], random: Random, j: int = 0) -> int:
    """Return the index of a largest value, drawn uniformly among equals."""
    best = max(values)
    indices = [index for index, value in enumerate(values) if value == best]
    return indices[random.below_at(len(indices), j)]


@dataclass
@mind("local-search", INSTRUMENT)
class LocalSearch(MindBase):
    """Goes toward the best reward it sees, its own cell included; uniform among equals.

    `slip` is the share of steps that it makes at random instead: a worse mind of the same kind.
    """

    slip: float = 0.0

    def __post_init__(self) -> None:
        """Require a `slip` in [0, 1]."""
        if not 0 <= self.slip <= 1:
            raise Error(f"local-search: slip must be in [0, 1], not {self.slip:g}")

    def begin(self, task: Task) -> None:
        """Remember the torus of the task."""
        self.torus = torus_of(task)

    def act(self, observation: View, random: Random) -> int:
        """Step toward a best cell in sight."""
        if self.slip > 0 and random.unit_at(2) < self.slip:
            return 1 + random.below_at(9, 3)
        target = observation.cells[uniform_best(observation.rewards, random)]
        return self.torus.toward(observation.cell, target)


@dataclass
@mind("expert", INSTRUMENT)
class Expert(MindBase):
    """The oracle of Chmait et al. (2016): knows where Good will be, and goes there.

    With `intercept` it heads for the first future cell of Good that it can reach in time;
    without, always for Good's next cell. It does not look out for Evil, so it is no ceiling.
    """

    intercept: bool = True

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Learn the future cells of Good."""
        self.torus = torus_of(task)
        self.future: Foresight = task.secret
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Step toward where Good will be."""
        cell, ahead = observation.cell, self.future.good[self.step + 1 :]
        self.step += 1
        target = ahead[0]
        if self.intercept:
            for moves, place in enumerate(ahead, start=1):
                if self.torus.distance(cell, place) <= moves:
                    target = place
                    break
        return self.torus.toward(cell, target)


@mind("optimum", INSTRUMENT)
class Optimum(MindBase):
    """The true ceiling: backward induction over the ways of Good and Evil; first among equals."""

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Compute the best action for every cell and step."""
        torus, future = torus_of(task), task.secret
        cells = range(1, torus.cells + 1)
        value = dict.fromkeys(cells, 0.0)
        self.plan: list[dict[int, int]] = []
        for good, evil in zip(reversed(future.good[1:]), reversed(future.evil[1:]), strict=True):
            worth = {c: _gain(torus, c, good) - _gain(torus, c, evil) + value[c] for c in cells}
            after = {c: [worth[torus.moved(c, action)] for action in range(1, 10)] for c in cells}
            value = {c: max(after[c]) for c in cells}
            best = {c: 1 + after[c].index(value[c]) for c in cells}
            self.plan.append(best)
        self.plan.reverse()
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Take the action that was planned."""
        self.step += 1
        return self.plan[self.step - 1][observation.cell]


def _gain(torus: Torus, cell: int, place: int) -> float:
    distance = torus.distance(cell, place)
    return 1 / (distance + 1) if distance < 2 else 0.0


@dataclass
class TableLearner(MindBase):
    """Shared by Q-learning and SARSA: a table over (cell, iteration) and nine actions.

    It practises on the episode's own environment and is then tested with the table frozen.
    Defaults are those of the authors' released code: α = γ = 0.3, the table starts at 2, greedy
    with uniform ties, rewards times 10 in training.
    """

    alpha: float = 0.3  # learning rate α
    gamma: float = 0.3  # discount γ
    epsilon: float = 0.0  # share of random actions in training
    initial: float = 2.0
    scale: float = 10.0  # of rewards in training
    sessions: int = 100

    def __post_init__(self) -> None:
        """Check the parameters, and make an empty table."""
        name = type(self).__name__
        if not 0 < self.alpha <= 1:
            raise Error(f"{name}: alpha must be in (0, 1], not {self.alpha:g}")
        for key in ("gamma", "epsilon"):
            if not 0 <= getattr(self, key) <= 1:
                raise Error(f"{name}: {key} must be in [0, 1], not {getattr(self, key):g}")
        if not 0 <= self.sessions <= 1_000_000:
            raise Error(f"{name}: sessions must be in 0..1000000, not {self.sessions}")
        self.traits = Traits(learns=True, practice=self.sessions)
        self.table: dict[tuple[int, int], list[float]] = {}

    def begin(self, task: Task) -> None:
        """Go back to the first iteration; what was learnt stays."""
        self.training = task.rehearsal
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Take a best action by the table; in training, sometimes any."""
        self.state = (observation.cell, self.step)
        explores = self.training and self.epsilon > 0 and random.unit_at(1) < self.epsilon
        self.action = random.below_at(9, 2) if explores else uniform_best(self._row(), random)
        self.step += 1
        return self.action + 1

    def _row(self, state: tuple[int, int] | None = None) -> list[float]:
        key = self.state if state is None else state
        return self.table.setdefault(key, [self.initial] * 9)


@dataclass
@mind("q-learning", INSTRUMENT)
class QLearning(TableLearner):
    """Q-learning (Watkins and Dayan 1992; Chmait et al. 2016, Alg. 1), by default 100 sessions."""

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Update Q(s,a) += α (R + γ max Q(s',·) - Q(s,a))."""
        if not self.training:
            return
        ahead = (
            0.0 if done or observation is None else max(self._row((observation.cell, self.step)))
        )
        row = self._row()
        row[self.action] += self.alpha * (
            self.scale * reward + self.gamma * ahead - row[self.action]
        )


@dataclass
@mind("sarsa", INSTRUMENT)
class Sarsa(TableLearner):
    """SARSA: as Q-learning, but it looks ahead to the action that it really takes next."""

    def begin(self, task: Task) -> None:
        """Begin a play with no update pending."""
        super().begin(task)
        self.owed: tuple[list[float], int, float] | None = None  # row, action, reward

    def act(self, observation: View, random: Random) -> int:
        """Act, then make the pending update of the step before: its next action is known now."""
        action = super().act(observation, random)
        if self.owed is not None:
            self._settle(self._row()[self.action])
        return action

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Keep Q(s,a) += α (R + γ Q(s',a') - Q(s,a)) pending until a' is known."""
        if self.training:
            self.owed = (self._row(), self.action, self.scale * reward)
            if done:
                self._settle(0.0)

    def _settle(self, ahead: float) -> None:
        assert self.owed is not None
        row, action, reward = self.owed
        row[action] += self.alpha * (reward + self.gamma * ahead - row[action])
        self.owed = None


# ---------------------------------------------------------------- what has been seen of a torus


STAY = action_of(0, 0)


@lru_cache(maxsize=1 << 12)
def sight(torus: Torus, cell: int, reach: int) -> int:
    """Encode the cells that a mind sees from a cell: bit `c` is set for cell c."""
    seen = 0
    for other in torus.around(cell, reach):
        seen |= 1 << other
    return seen


@lru_cache(maxsize=1 << 12)
def _sights(torus: Torus, cell: int, reach: int) -> tuple[int, ...]:
    """Compute `sight` after each of the nine moves from a cell."""
    return tuple(sight(torus, torus.moved(cell, action), reach) for action in range(1, 10))


def cells_of(bits: int) -> Iterator[int]:
    """Yield the cells whose bits are set, in reading order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def reveal(torus: Torus, reach: int, cell: int, seen: int, random: Random) -> int:
    """Choose the move that shows most cells not yet seen, by lot among equals.

    If no move shows any, step toward the nearest cell not yet seen, the first of several.
    """
    fresh = [(shown & ~seen).bit_count() for shown in _sights(torus, cell, reach)]
    if max(fresh) > 0:
        return 1 + uniform_best(fresh, random)
    unseen = list(cells_of(((2 << torus.cells) - 2) & ~seen))
    if not unseen:
        return STAY
    return torus.toward(cell, min(unseen, key=lambda other: torus.distance(cell, other)))
