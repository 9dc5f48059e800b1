"""Games on a board: noughts and crosses, by turns; and predator and prey, three that chase one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from allminds.contracts import Discrete, Environment, Task, Traits
from allminds.core.bases import PolicyMind
from allminds.core.seeding import Random
from allminds.core.settings import Settings
from allminds.instruments.games.game import Game
from allminds.instruments.lambda_star.grid import ACTIONS, Torus
from allminds.registry import instrument, mind

EMPTY, CROSS, NOUGHT = ".", "x", "o"
MARKS = (CROSS, NOUGHT)
LINES = (
    *((n, n + 1, n + 2) for n in (0, 3, 6)),
    *((n, n + 3, n + 6) for n in (0, 1, 2)),
    (0, 4, 8),
    (2, 4, 6),
)
LABELS = tuple(f"{row}{col}" for row in "abc" for col in "123")


def winner(cells: str) -> str:
    """Return the mark that has three in a row, or nothing."""
    for a, b, c in LINES:
        if cells[a] != EMPTY and cells[a] == cells[b] == cells[c]:
            return cells[a]
    return ""


class Board(NamedTuple):
    """What both minds see, and the whole state: nine cells in reading order, and whose turn."""

    cells: str
    turn: int  # slot 0 has the crosses and begins

    @property
    def legal(self) -> tuple[int, ...]:
        """The cells that are empty."""
        return tuple(n for n, mark in enumerate(self.cells) if mark == EMPTY)

    @property
    def over(self) -> bool:
        """True if there are three in a row, or the board is full."""
        return EMPTY not in self.cells or bool(winner(self.cells))

    @property
    def situation(self) -> str:
        """The key by which a learner tells situations apart."""
        return self.cells

    def played(self, cell: int) -> Board:
        """Return the board after a move."""
        marked = self.cells[:cell] + MARKS[self.turn] + self.cells[cell + 1 :]
        return Board(marked, 1 - self.turn)

    def rewards(self) -> tuple[float, float]:
        """Return what slot 0 and slot 1 get for having come here."""
        mark = winner(self.cells)
        won = float((mark == CROSS) - (mark == NOUGHT))
        return won, 0.0 - won


@dataclass(frozen=True)
class Noughts(Environment):
    """The game itself: ±1 when a mind wins, else 0."""

    steps: int = 9
    score: Literal["mean", "total"] = "total"

    @cached_property
    def actions(self) -> Sequence[Discrete]:
        """A cell, by its number or as a1 .. c3."""
        return (Discrete(9, labels=LABELS),) * 2

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of cells."""
        return {"cells": 9.0}

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The rules, which are known."""
        return {"rules": self}

    def reset(self, random: Random) -> Board:
        """Begin with an empty board."""
        return Board(EMPTY * 9, 0)

    def awaited(self, state: Board) -> tuple[int, ...]:
        """Await the mind whose turn it is."""
        return () if state.over else (state.turn,)

    def step(
        self, state: Board, actions: Mapping[int, int], random: Random
    ) -> tuple[Board, Sequence[float]]:
        """Put a mark on the board."""
        after = state.played(int(actions[state.turn]))
        return after, after.rewards()


class NoughtsSettings(Settings):
    """Settings of noughts and crosses: there are none."""


@instrument
class NoughtsAndCrosses(Game):
    """Noughts and crosses: slot 0 has the crosses and begins; three in a row win.

    **Actions** a cell, 0..8 in reading order or `a1` .. `c3`; a taken cell is a malformed answer.
    **Observation** `Board`: the cells and whose turn it is. **Rewards** ±1 at the end, 0 for a
    draw; the score is their total. Perfect play is a draw; a mind that plays by lot against
    another scores 187/630 with the crosses.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "noughts-and-crosses"
    version = 2
    chance = 187 / 630
    ceiling = 1.0
    Settings: ClassVar[type[Settings]] = NoughtsSettings

    def world(self) -> Noughts:
        """Build the only environment there is."""
        return Noughts()

    def told(self, observation: Board) -> str:
        """Draw the board, and tell whose turn it is."""
        rows = [
            f"{'abc'[row]} {' '.join(observation.cells[3 * row : 3 * row + 3])}" for row in range(3)
        ]
        return "\n".join(
            ["  1 2 3", *rows, f"You have the {['crosses', 'noughts'][observation.turn]}."]
        )

    def show_state(self, environment: Noughts, state: Board) -> str:
        """Draw the board as three lines of text."""
        return "\n".join(" ".join(state.cells[row : row + 3]) for row in (0, 3, 6))


# ---------------------------------------------------------------- minds


@mind("minimax", "noughts-and-crosses")
class Minimax(PolicyMind):
    """Looks to the end of the game, and takes the first move that the best reply hurts least."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Board) -> Sequence[float]:
        """Choose a move of perfect play."""
        worth = {cell: -value(observation.played(cell)) for cell in observation.legal}
        return self.certain(max(worth, key=lambda cell: (worth[cell], -cell)))


@cache
def value(board: Board) -> float:
    """Compute what the game is worth to the mind that is to move, if both play perfectly."""
    if board.over:
        return board.rewards()[board.turn]
    return max(-value(board.played(cell)) for cell in board.legal)


# ---------------------------------------------------------------- predator and prey


PREDATORS = 3
PREY = 3  # its slot
MOVES = (2, 4, 5, 6, 8)  # of the torus: up, left, stay, right, down
STEP = Discrete(len(MOVES), labels=tuple(ACTIONS[move - 1] for move in MOVES))


class Hunt(NamedTuple):
    """The state: where all minds stand, and whether the prey was caught."""

    step: int
    cells: tuple[int, ...]  # of the predators, and of the prey
    caught: bool


class Sight(NamedTuple):
    """What a mind sees: the step, its own slot, and where all stand."""

    step: int
    slot: int
    cells: tuple[int, ...]

    @property
    def situation(self) -> tuple[int, ...]:
        """The key by which a learner tells situations apart."""
        return self.cells


@dataclass(frozen=True)
class Chase(Environment):
    """Predators (slots 0, 1, 2) and a prey (slot 3) that all move at once.

    The prey is caught when a predator stands in its cell or changes places with it: then it gets
    -1 and each predator 1/3. If it lives through the last step it is the other way round.
    """

    torus: Torus
    steps: int
    score: Literal["mean", "total"] = "total"
    teams: tuple[tuple[int, ...], ...] = ((0, 1, 2), (PREY,))

    @property
    def actions(self) -> Sequence[Discrete]:
        """The moves: one step along a row or a column, or none."""
        return (STEP,) * (PREDATORS + 1)

    @property
    def complexity(self) -> Mapping[str, float]:
        """The size of the field."""
        return {"cells": float(self.torus.cells)}

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The size of the field."""
        return {"rows": self.torus.rows, "cols": self.torus.cols}

    def reset(self, random: Random) -> Hunt:
        """Put each mind in a cell of its own: the first of a random permutation."""
        return Hunt(0, self.torus.starts(PREDATORS + 1, random, 0), False)

    def awaited(self, state: Hunt) -> tuple[int, ...]:
        """Await all, until the prey is caught or the time is over."""
        return () if state.caught or state.step == self.steps else (0, 1, 2, PREY)

    def observe(self, state: Hunt, slot: int) -> Sight:
        """Show everything, and which slot the mind has."""
        return Sight(state.step, slot, state.cells)

    def step(
        self, state: Hunt, actions: Mapping[int, int], random: Random
    ) -> tuple[Hunt, Sequence[float]]:
        """Move all at once; settle whether the prey is caught."""
        before = state.cells
        cells = tuple(
            self.torus.moved(cell, MOVES[int(actions[slot])]) for slot, cell in enumerate(before)
        )
        caught = any(
            cells[slot] == cells[PREY]
            or (cells[slot] == before[PREY] and before[slot] == cells[PREY])
            for slot in range(PREDATORS)
        )
        after = Hunt(state.step + 1, cells, caught)
        won = 1.0 if caught else -1.0 if after.step == self.steps else 0.0
        return after, [won / PREDATORS] * PREDATORS + [0.0 - won]


class ChaseSettings(Settings):
    """Settings of predator and prey."""

    rows: int = Field(7, ge=3, le=10, description="rows of the torus")
    cols: int = Field(7, ge=3, le=10, description="columns of the torus")
    steps: int = Field(20, ge=1, le=1000, description="steps the prey has to live through")


@instrument
class PredatorPrey(Game):
    """Predator and prey: a team of three predators (slots 0-2) against one prey (slot 3).

    On a torus of 7 by 7 all move at once, one cell along a row or a column. The teams are not of
    the same size, so the game is not team-symmetric.

    **Actions** up, left, stay, right, down. **Observation**: the step, the own slot, and the
    cells of the predators and of the prey. **Rewards** at the end, in total zero: 1/3 for each
    predator and -1 for the prey if it is caught, the negatives if it is not. The score is their
    total. The chance level is that of a predator when all move by lot.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "predator-prey"
    version = 2
    ceiling = 1 / PREDATORS
    lowest, highest = -1 / PREDATORS, 1 / PREDATORS  # of a predator
    Settings: ClassVar[type[Settings]] = ChaseSettings

    def failed_score(self, environment: Environment, slot: int, rewards: Sequence[float]) -> float:
        """Score an unfinished hunt as lost: -1 for the prey, a predator's loss for the others."""
        return -1.0 if slot == PREY else super().failed_score(environment, slot, rewards)

    def world(self) -> Chase:
        """Build the field that the settings describe."""
        return Chase(Torus(self.settings.rows, self.settings.cols), self.settings.steps)

    @cached_property
    def chance(self) -> float:  # type: ignore[override] # found when asked for
        """The score of a predator when all move by lot; computed when it is asked for."""
        survives = survival(self.settings.rows, self.settings.cols, self.settings.steps)
        return (1 - 2 * survives) / PREDATORS

    def told(self, observation: Sight) -> str:
        """Draw where all stand, and tell the mind its role."""
        who = "the prey P" if observation.slot == PREY else f"predator {observation.slot}"
        return f"{self._drawn(observation.cells)}\nStep {observation.step + 1}. You are {who}."

    def show_state(self, environment: Chase, state: Hunt) -> str:
        """Draw the field with all minds."""
        return self._drawn(state.cells)

    def _drawn(self, cells: tuple[int, ...]) -> str:
        torus = self.environment.torus
        marks = {cell: "012P"[slot] for slot, cell in enumerate(cells)}
        rows = [[torus.cell(row, col) for col in range(torus.cols)] for row in range(torus.rows)]
        return "\n".join(" ".join(marks.get(cell, ".") for cell in row) for row in rows)


def survival(rows: int, cols: int, steps: int) -> float:
    """Compute the chance that the prey lives when all move by lot, by dynamic programming.

    The chances are kept for where each predator stands as seen from the prey, [row, column] for
    each of the three. Once the prey's move is known the predators move independently.
    """
    import numpy as np

    shape = (rows, cols)
    here = np.ones((rows * cols,) * PREDATORS)
    for place in range(rows * cols):
        here[place, place, :] = here[place, :, place] = here[:, place, place] = 0.0
    here[0] = here[:, 0] = here[:, :, 0] = 0.0
    here = (here / here.sum()).reshape(shape * PREDATORS)
    ways = [divmod(move - 1, 3) for move in MOVES]
    moves = [(row - 1, col - 1) for row, col in ways]
    for _ in range(steps):
        here = sum(_moved(here, shape, moves, prey) for prey in moves) / len(moves)
    return float(here.sum())


def _moved(
    here: Any, shape: tuple[int, int], moves: list[tuple[int, int]], prey: tuple[int, int]
) -> Any:
    """Move all predators by lot and the prey by one move; drop what is caught."""
    import numpy as np

    for predator in range(PREDATORS):
        axes = (2 * predator, 2 * predator + 1)
        after = sum(
            np.roll(here, (move[0] - prey[0], move[1] - prey[1]), axes) for move in moves
        ) / len(moves)
        ahead, behind = (prey[0] % shape[0], prey[1] % shape[1]), (-prey[0], -prey[1])
        if prey != (0, 0):  # the two would change places
            _at(after, axes, behind)[...] -= _at(here, axes, ahead) / len(moves)
        _at(after, axes, (0, 0))[...] = 0.0
        here = after
    return here


def _at(array: Any, axes: tuple[int, int], place: tuple[int, int]) -> Any:
    """Return the part of an array where two axes are at a place, as a view."""
    where: list[Any] = [slice(None)] * array.ndim
    where[axes[0]], where[axes[1]] = place
    return array[tuple(where)]


# ---------------------------------------------------------------- minds


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
            away = min(self.torus.walk(cell, other) for other in others)
            worth.append(-self.torus.walk(cell, observation.cells[PREY]) if hunts else away)
        best = [value == max(worth) for value in worth]
        return [good / sum(best) for good in best]
