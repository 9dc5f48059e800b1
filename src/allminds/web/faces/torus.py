"""Λ* before a person: the cells round about, with the reward that lies in each.

Actions 1..9 run in reading order, and the digit stands in the cell. A mind is told the number of
every cell it sees, so the person is told row and column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from allminds.core.seeding import Random
from allminds.instruments.lambda_star.grid import ACTIONS, MOVES, action_of
from allminds.instruments.lambda_star.instrument import LambdaStar
from allminds.instruments.lambda_star.world import View
from allminds.web.faces import FaceBase
from allminds.web.sessions import Step

CHOICES = tuple(str(action) for action in range(1, 10))


class TorusFace(FaceBase):
    """The neighbourhood as a square of cells; a choice is an action 1..9."""

    def __init__(self, tool: LambdaStar) -> None:
        self.tool = tool

    def told(self) -> dict[str, Any]:
        """How large the torus is, and how much of it is seen."""
        given = self.tool.settings
        return {
            "kind": "torus",
            "rows": given.rows,
            "cols": given.cols,
            "side": 2 * given.range + 1,
            "others": given.agents - 1,
        }

    def view(self, observation: View, before: Step | None, shuffle: Random) -> dict[str, Any]:  # noqa: ARG002
        """The rewards round about, the digits of the moves, and where on the torus this is."""
        side = math.isqrt(len(observation.cells))
        row, col = self.tool.torus.place(observation.cell)
        return self.told() | {
            "side": side,
            "cells": [_cell(n, side, reward) for n, reward in enumerate(observation.rewards)],
            "row": row + 1,
            "col": col + 1,
            "moved": list(MOVES[before.action - 1]) if before else [0, 0],  # down, to the right
        }

    def choices(self, observation: View) -> Sequence[str]:  # noqa: ARG002
        """Nine king moves."""
        return CHOICES

    def chosen(self, choice: str, observation: View) -> int:  # noqa: ARG002
        """The choice is the action."""
        return int(choice)


def _cell(n: int, side: int, reward: float) -> dict[str, Any]:
    """Cell n in reading order; beyond the nine in the middle no move leads."""
    row, col = n // side - side // 2, n % side - side // 2
    action = action_of(row, col) if max(abs(row), abs(col)) <= 1 else 0
    return {
        "reward": float(reward),
        "sign": (reward > 0) - (reward < 0),
        "digit": str(action) if action else "",
        "direction": ACTIONS[action - 1] if action else "",
    }
