"""Games on the screen of a participant: rounds in which all choose at once, and a board.

Words are neutral: what a paper calls to cooperate is the letter A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.core.seeding import Random
from allminds.instruments.games.boards import EMPTY, LINES, MARKS, Board, winner
from allminds.instruments.games.game import MatchingPennies, MatrixGame, Round
from allminds.presentation import Face, Move


class RoundsFace(Face):
    """Both choose at once, and then see what the other chose and what it brought."""

    def __init__(self, tool: MatrixGame, slot: int) -> None:
        super().__init__(tool, slot)
        self.game = tool.environment
        self.coins = isinstance(tool, MatchingPennies)
        self.names = tool.labels if self.coins else tool.names

    def told(self) -> dict[str, Any]:
        """Return the pay-offs: own choice by row, the other's by column."""
        count = len(self.names)
        return {
            "kind": "rounds",
            "coins": self.coins,
            "same": self.slot == 0,  # of coins: whether the same side wins
            "rounds": self.game.steps,
            "names": list(self.names),
            "table": [[self._paid(own, other) for other in range(count)] for own in range(count)],
        }

    def parity(self, numbers: bool) -> Sequence[str]:
        paid = "People saw all rewards as numbers, those of the other too"
        return (f"{paid}.",) if self.coins else (f"{paid}, and letters for the actions.",)

    def view(self, observation: Round, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Return the round before, and what there is to choose from."""
        last = None
        if observation.others:
            (other,) = observation.others
            names = {"own": self.names[observation.own], "other": self.names[other]}
            last = names | self._paid(observation.own, other)
        return self.told() | {"last": last}

    def _paid(self, own: int, other: int) -> dict[str, float]:
        joint = (own, other) if self.slot == 0 else (other, own)
        rewards = self.game.table[joint]
        return {"mine": rewards[self.slot], "theirs": rewards[1 - self.slot]}

    def choices(self, observation: Round) -> Sequence[str]:
        """List the choices, which are the same in every round."""
        return self.names

    def chosen(self, choice: str, observation: Round) -> int:
        """Return the game's own action for a choice."""
        return self.names.index(choice)


class NoughtsFace(Face):
    """Three by three cells, in reading order; a choice is the number of one, from 1."""

    def told(self) -> dict[str, Any]:
        """Whose the crosses are."""
        return {"kind": "noughts", "mark": MARKS[self.slot]}

    def view(self, observation: Board, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Return the board, what is new on it, and how it ended."""
        old = before.observation.cells if before else EMPTY * 9
        turn = not observation.over and observation.turn == self.slot
        won = winner(observation.cells)
        row = [line for line in LINES if won and all(observation.cells[n] == won for n in line)]
        ended = "drawn" if not won else "won" if won == MARKS[self.slot] else "lost"
        return self.told() | {
            "cells": [
                {
                    "number": n + 1,
                    "mark": "" if mark == EMPTY else mark,
                    "open": turn and mark == EMPTY,
                    "new": mark == MARKS[1 - self.slot] and old[n] == EMPTY,
                    "row": any(n in line for line in row),
                }
                for n, mark in enumerate(observation.cells)
            ],
            "ended": ended if observation.over else "",
        }

    def choices(self, observation: Board) -> Sequence[str]:
        """List the cells that are empty."""
        return [str(cell + 1) for cell in observation.legal]

    def chosen(self, choice: str, observation: Board) -> int:
        """Cells are counted from 0."""
        return int(choice) - 1
