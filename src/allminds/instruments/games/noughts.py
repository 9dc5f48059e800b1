"""Noughts and crosses: three in a row, by turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, NamedTuple

from allminds.contracts import Discrete, Environment, Traits
from allminds.core.bases import PolicyMind
from allminds.core.seeding import Random
from allminds.core.settings import Settings
from allminds.instruments.games.game import Game
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
