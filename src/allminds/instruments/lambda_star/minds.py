"""Single minds for Λ* (Chmait et al. 2016, §5.2.1); `fast` has their compiled twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from allminds.contracts import Discrete, MindBase, Task, Traits
from allminds.core.bases import BatchMind
from allminds.core.errors import Error
from allminds.core.seeding import Random, Words, below, units
from allminds.instruments import tables
from allminds.instruments.lambda_star.grid import (
    KING,
    Cells,
    Torus,
    action_of,
    half_worths_of,
    neighbours,
)
from allminds.instruments.lambda_star.world import View
from allminds.instruments.tables import planned, planned_many, uniform_best
from allminds.registry import mind

INSTRUMENT = "lambda-star"
BOOTSTRAPS = ("next", "released")
STATES = ("cell", "view")


def torus_of(task: Task) -> Torus:
    """Return the torus that a mind is told of; reject a test that has none."""
    if not {"rows", "cols"} <= set(task.facts):
        raise Error(f"{task.instrument} has no torus of cells, which this mind or group needs")
    return Torus(task.facts["rows"], task.facts["cols"])


def moves_of(task: Task) -> tuple[int, ...]:
    """Return the moves that a mind may make."""
    space = task.actions
    return tuple(space.allowed(None)) if isinstance(space, Discrete) else KING


def toward_all(torus: Torus, cells: Cells, targets: Cells, moves: tuple[int, ...]) -> Cells:
    """Compute `Torus.toward` for many cells at once."""
    if moves == KING:
        return torus.toward_many(cells, targets)
    pairs = zip(cells.tolist(), targets.tolist(), strict=True)
    return np.array([torus.toward(cell, target, moves) for cell, target in pairs])


def toward_best(torus: Torus, view: View, random: Random, moves: tuple[int, ...] = KING) -> int:
    """Step toward a best reward in sight, the own cell included; by lot among equals."""
    return torus.toward(view.cell, view.cells[uniform_best(view.rewards, random)], moves)


@dataclass
@mind("local-search", INSTRUMENT)
class LocalSearch(BatchMind):
    """Goes toward the best reward it sees, its own cell included; uniform among equals.

    `slip` is the share of steps that it makes at random instead: a worse mind of the same kind.
    """

    slip: float = 0.0

    moves = KING  # until a task says which it may make

    def __post_init__(self) -> None:
        """Require a `slip` in [0, 1]."""
        if not 0 <= self.slip <= 1:
            raise Error(f"local-search: slip must be in [0, 1], not {self.slip:g}")
        self.words = 4 if self.slip > 0 else 1

    def begin(self, task: Task) -> None:
        """Remember the torus of the task, and the moves."""
        self.torus, self.moves = torus_of(task), moves_of(task)

    def act(self, observation: View, random: Random) -> int:
        """Step toward a best cell in sight."""
        if self.slip > 0 and random.unit_at(2) < self.slip:
            return self.moves[random.below_at(len(self.moves), 3)]
        return toward_best(self.torus, observation, random, self.moves)

    def act_many(self, observations: View, words: Words) -> Cells:
        """Step toward a best cell in sight, in many episodes at once."""
        cells, rewards = np.asarray(observations.cells), np.asarray(observations.rewards)
        best = rewards == rewards.max(axis=1, keepdims=True)
        pick = below(words[:, 0], best.sum(axis=1)).astype(np.int64)
        place = (best.cumsum(axis=1) > pick[:, None]).argmax(axis=1)
        targets = cells[np.arange(len(cells)), place]
        made = toward_all(self.torus, cells[:, cells.shape[1] // 2], targets, self.moves)
        if self.slip > 0:
            moves = np.array(self.moves)
            other = moves[below(words[:, 3], len(moves)).astype(np.int64)]
            made = np.where(units(words[:, 2]) < self.slip, other, made)
        return made


@dataclass
@mind("expert", INSTRUMENT)
class Expert(BatchMind):
    """The oracle of Chmait et al. (2016): knows where Good will be, and goes there.

    In a slot in which Evil weighs more than Good, it goes after Evil.

    With `intercept` it heads for the first future cell of Good that it can reach in time;
    without, always for Good's next cell. It does not look out for Evil, so it is no ceiling.
    """

    intercept: bool = True

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Learn the future cells of Good."""
        self.torus, self.moves = torus_of(task), moves_of(task)
        self.sought: tuple[int, ...] = task.secret.sought
        self.step = 0

    def begin_many(self, tasks: Sequence[Task]) -> None:
        """Learn the future cells of Good in every episode."""
        self.begin(tasks[0])
        self.all_sought = np.array([task.secret.sought for task in tasks])

    def act_many(self, observations: View, words: Words) -> Cells:
        """Step toward where Good will be, in many episodes at once."""
        cells = np.asarray(observations.cells)
        cell, ahead = cells[:, cells.shape[1] // 2], self.all_sought[:, self.step + 1 :]
        self.step += 1
        targets = ahead[:, 0]
        if self.intercept:
            in_time = self.torus.distances(cell[:, None], ahead) <= np.arange(1, ahead.shape[1] + 1)
            targets = ahead[np.arange(len(cell)), in_time.argmax(axis=1)]  # 0 if in time for none
        return toward_all(self.torus, cell, targets, self.moves)

    def act(self, observation: View, random: Random) -> int:
        """Step toward where Good will be."""
        cell, ahead = observation.cell, self.sought[self.step + 1 :]
        self.step += 1
        target = ahead[0]
        if self.intercept:
            for moves, place in enumerate(ahead, start=1):
                if self.torus.distance(cell, place) <= moves:
                    target = place
                    break
        return self.torus.toward(cell, target, self.moves)


@mind("optimum", INSTRUMENT)
class Optimum(BatchMind):
    """The true ceiling: backward induction over the ways of Good and Evil; first among equals."""

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Compute the best move for every step and cell."""
        torus, told, self.moves = torus_of(task), task.secret, moves_of(task)
        love, hate = told.weights
        fields = (
            [
                love * torus.worth(c, good) + hate * torus.worth(c, evil)
                for c in range(1, torus.cells + 1)
            ]
            for good, evil in zip(told.good[1:], told.evil[1:], strict=True)
        )
        own = [move - 1 for move in self.moves]
        self.plan, self.step = planned(fields, neighbours(torus)[own]), 0

    def act(self, observation: View, random: Random) -> int:
        """Take the move that was planned."""
        self.step += 1
        return self.moves[int(self.plan[self.step - 1][observation.cell - 1])]

    def begin_many(self, tasks: Sequence[Task]) -> None:
        """Compute the best move for every step and cell of every episode, with plain weights."""
        torus, self.moves, self.step = torus_of(tasks[0]), moves_of(tasks[0]), 0
        told, worths = [task.secret for task in tasks], half_worths_of(torus)
        good, evil = (np.array(of).T - 1 for of in zip(*(one[:2] for one in told), strict=True))
        fields = (worths[:, good[t]] - worths[:, evil[t]] for t in range(1, len(good)))
        own = [move - 1 for move in self.moves]
        self.plans = planned_many(fields, neighbours(torus)[own])

    def act_many(self, observations: View, words: Words) -> Cells:
        """Take the moves that were planned."""
        cells = np.asarray(observations.cells)
        self.step += 1
        place = self.plans[self.step - 1][cells[:, cells.shape[1] // 2] - 1, np.arange(len(cells))]
        return np.asarray(np.array(self.moves)[place])


@dataclass
class TableLearner(tables.Tabular):
    """Shared by Q-learning and SARSA: a table over (cell, iteration) and nine actions.

    It practises on the episode's own environment and is then tested with the table frozen.
    Defaults are those of the authors' released code: α = γ = 0.3, the table starts at 2, greedy
    with uniform ties, rewards times 10 in training.

    With `carry` it keeps its table over a course and learns as it goes, without sessions. Values of
    (cell, iteration) are those of the patterns it met: with a new pattern, whose Good is elsewhere,
    they are memories of another place. With `state=view` the table is over the rewards in sight,
    which mean the same whatever the pattern.
    """

    scale: float = 10.0  # of rewards in training
    sessions: int = 100
    state: str = field(default="cell", kw_only=True)  # what the table is over: cell or view

    def __post_init__(self) -> None:
        """Require a `state` of cell or view."""
        super().__post_init__()
        if self.state not in STATES:
            raise Error(f"{self.name}: state is cell or view, not {self.state}")

    def begin(self, task: Task) -> None:
        """Go back to the first iteration; what was learnt stays."""
        super().begin(task)
        self.learning, self.step = self.carry or task.rehearsal, 0
        self.own = [move - 1 for move in moves_of(task)]

    def row(self, seen: View) -> list[float]:
        return self.at(seen, self.step)

    def at(self, seen: View, step: int) -> list[float]:
        """Return the values of what is seen at an iteration."""
        place = seen.rewards if self.state == "view" else (seen.cell, step)
        return self.table.setdefault(place, [self.initial] * 9)

    def worth(self, reward: float) -> float:
        return self.scale * reward

    def chosen(self, values: Sequence[float], random: Random) -> int:
        """Choose among the slot's own moves; a table has values for all nine."""
        return self.own[super().chosen([values[move] for move in self.own], random)]

    def best(self, values: Sequence[float]) -> float:
        """Return the best value of the slot's own moves."""
        return max(values[move] for move in self.own)

    def act(self, observation: View, random: Random) -> int:
        action = super().act(observation, random)
        self.step += 1
        return action + 1


@dataclass
@mind("q-learning", INSTRUMENT)
class QLearning(TableLearner, tables.OffPolicy):
    """Q-learning (Watkins and Dayan 1992; Chmait et al. 2016, Alg. 1), by default 100 sessions.

    With `carry` it keeps its table over a course instead, and learns without sessions; with
    `state=view` the table is over the rewards in sight, and not over cells and iterations.

    With `bootstrap=released` the value ahead is that of the new cell at the *first* iteration, as
    in the program that the authors released, and not at the next one.
    """

    bootstrap: str = "next"

    def __post_init__(self) -> None:
        """Require a `bootstrap` of next or released."""
        super().__post_init__()
        if self.bootstrap not in BOOTSTRAPS:
            raise Error(f"{self.name}: bootstrap is next or released, not {self.bootstrap}")

    def ahead(self, seen: View) -> float:
        """Return the best value of the new cell at the next iteration, or at the first."""
        step = 0 if self.bootstrap == "released" else self.step
        return self.best(self.at(seen, step))


@dataclass
@mind("sarsa", INSTRUMENT)
class Sarsa(TableLearner, tables.OnPolicy):
    """SARSA: as Q-learning, but it looks ahead to the action that it really takes next.

    `carry` and `state` as in `q-learning`.
    """


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


# ---------------------------------------------------------------- a user's own function


class CompiledMind(MindBase):
    """Base of the classes that `compiled_mind` makes; `fast` recognises them by it."""

    function: Callable[..., int]

    def begin(self, task: Task) -> None:
        """Count steps from 0."""
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Call the same function for one episode."""
        cells, rewards = np.array(observation.cells), np.array(observation.rewards)
        action = type(self).function(cells, rewards, self.step, np.uint64(random.word_at(0)))
        self.step += 1
        return int(action)


def compiled_mind(function: Callable[..., int]) -> type[CompiledMind]:
    """Compile a function of (cells, rewards, step, bits) with Numba and make a mind of it.

        @compiled_mind
        def greedy(cells, rewards, step, bits):
            return 1 + int(np.argmax(rewards))

    `cells` and `rewards` are the neighbourhood in reading order, `step` counts from 0, `bits` is
    the random word of this step (see `allminds.core.compiled.below`), and the answer is an action
    1..9. It is the quickest way to bring a mind of your own.
    """
    from numba import njit

    body = {
        "function": staticmethod(njit(nogil=True)(function)),
        "__doc__": function.__doc__,
        "__module__": function.__module__,
    }
    made: type[CompiledMind] = type(function.__name__, (CompiledMind,), body)
    return made
