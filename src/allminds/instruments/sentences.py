"""Sentences that the rules of several tests have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.contracts import Task


def joined(*sentences: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(filter(None, sentences))


def lasts(task: Task, of: str = "steps") -> str:
    """Say how many steps there are, if there is more than one."""
    return f"There are {task.steps} {of}." if task.steps > 1 else ""


def either(words: Sequence[str]) -> str:
    """List the possible answers as <a, b or c>."""
    return f"<{', '.join(words[:-1])} or {words[-1]}>"


def you_all(task: Task) -> str:
    """Name the players from the side of one of them."""
    others = task.slots - 1
    return f"You and {'another' if others == 1 else f'{others} others'}"


def labels(task: Task) -> Sequence[str]:
    """Return the names of a player's actions."""
    space: Any = task.actions
    return tuple(space.labels)


def number(value: float) -> str:
    """Write a pay-off in at most three digits."""
    return f"{value:.3g}"


def two_teams(tool: Any, task: Task, yours: str = "") -> str:
    """Say that there are teams of equal size, and what they get."""
    size = len(task.team)
    paid = (
        "half of how much the mean gain of its members is above that of the other team"
        if tool.settings.shares == "difference"
        else "the mean gain of its members"
    )
    return joined(
        f"There are two teams of {size} player{'s' * (size > 1)}.",
        yours,
        f"Everybody in a team gets {paid}. Get as much as you can for your team.",
    )
