"""Parse what is typed: numbers, ranges and settings."""

from __future__ import annotations

import math
from typing import Any

from allminds.core.errors import Error

MOST = 2000  # values in a range


def numbers(text: str, where: str) -> list[float]:
    """Parse a number, several with commas between, or a range of whole steps."""
    try:
        if ".." in text:
            low, high = ends(text, where)
            return [low + step for step in range(int(high - low) + 1)]
        found = [float(part) for part in text.split(",")]
        if not all(math.isfinite(value) for value in found):
            raise ValueError
        return found
    except ValueError:
        raise Error(f"{where} takes a number, or a range such as 5..25, not '{text}'") from None


def ends(text: str, where: str) -> tuple[float, float]:
    """Parse the ends of a range."""
    low, dots, high = text.partition("..")
    try:
        found = float(low), float(high)
    except ValueError:
        raise Error(f"{where} takes a range such as 5..25, not '{text}'") from None
    if not dots or not 0 <= found[1] - found[0] <= MOST:
        raise Error(f"{where}: '{text}' is no range of at most {MOST} steps")
    return found


def whole_numbers(text: str, where: str) -> list[int]:
    """Parse `text` like `numbers`, but accept integers only."""
    found = numbers(text, where)
    if not all(value.is_integer() for value in found):
        raise Error(f"{where} takes whole numbers, not '{text}'")
    return [int(value) for value in found]


def settings_of(given: list[str]) -> dict[str, Any]:
    """Parse settings from KEY=VALUE words."""
    settings: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Error(f"--set takes KEY=VALUE, such as rows=10, not '{text}'")
        settings[name.strip()] = value.strip()
    return settings


def budget_of(text: str | None) -> tuple[str, float] | None:
    """Parse a wanted reliability, such as rel=0.95."""
    from allminds.statistics.reliability import BUDGETS

    if text is None:
        return None
    figure, _, value = text.partition("=")
    try:
        wanted = float(value)
    except ValueError:
        wanted = 0.0
    if figure not in BUDGETS or not 0 < wanted < 1:
        raise Error(f"--budget takes rel=0.95 or generalisability=0.9, not '{text}'")
    return figure, wanted
