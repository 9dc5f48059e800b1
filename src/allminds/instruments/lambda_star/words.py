"""What minds on a torus see and do, in words: for people and language models."""

from __future__ import annotations

import math
from typing import Any, Literal

from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.instruments.lambda_star.grid import ACTIONS
from allminds.instruments.lambda_star.world import MOVE, View


def show_view(
    view: View, form: Literal["text", "html", "svg", "array"], name: str, digits: int = 1
) -> Any:
    """Draw the neighbourhood as a small table of rewards."""
    side = math.isqrt(len(view.rewards))
    if form == "array":
        import numpy as np

        return np.array(view.rewards).reshape(side, side)
    lines = [view.rewards[side * row : side * (row + 1)] for row in range(side)]
    if form == "text":
        return "\n".join(" ".join(f"{value:+.{digits}f}" for value in line) for line in lines)
    if form == "html":
        cells = "".join(
            f"<tr>{''.join(f'<td>{value:+.{digits}f}</td>' for value in line)}</tr>"
            for line in lines
        )
        return f"<table>{cells}</table>"
    raise Error(f"{name} cannot be shown as {form}; choose text, html or array")


def read_move(answer: str) -> int | Failure:
    """Read an action by its number 1..9 or its name."""
    text = answer.strip().lower()
    if text in ACTIONS:
        return ACTIONS.index(text) + 1
    if text.isascii() and text.isdigit() and MOVE.contains(int(text)):
        return int(text)
    return Failure("malformed", f"'{answer[:60]}' is neither 1..9 nor a direction")
