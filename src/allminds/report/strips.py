"""Strips: a line from floor to ceiling with a dot, and an interval, for every score on it.

They stand in the rows of a table, beside the figures that they show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 240, 18  # units
MARGIN = 8
LOWEST = -1.0  # what lies further below the floor is drawn at the edge, as an arrow
FLOOR, CEILING, MIND = "floor", "ceiling", "mind"


@dataclass(frozen=True)
class Dot:
    """A normalised score with its interval, and whose end of the scale it is."""

    value: float
    low: float
    high: float
    kind: str = MIND


def domain(dots: Iterable[Dot]) -> tuple[float, float]:
    """One axis for all strips of a page: floor and ceiling, and whatever lies beyond."""
    ends = [(dot.low, dot.high) for dot in dots]
    low = min([0.0, *(low for low, _ in ends)])
    high = max([1.0, *(high for _, high in ends)])
    return max(low, LOWEST), min(high, 1 - LOWEST)


def strip(dots: Sequence[Dot], ends: tuple[float, float]) -> str:
    """The strip as SVG; a reader of the page has the figures beside it."""
    low, high = ends

    def x(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    middle = HEIGHT / 2
    parts = [f'<path d="M{x(low)} {middle:g}H{x(high)}" class="axis"/>']
    parts += [f'<path d="M{x(at)} 2V{HEIGHT - 2}" class="end"/>' for at in (0.0, 1.0)]
    crowd = " crowd" if len(dots) > 1 else ""
    for dot in sorted(dots, key=lambda one: one.kind == MIND):
        if dot.high > dot.low:
            parts.append(f'<path d="M{x(dot.low)} {middle:g}H{x(dot.high)}" class="reach{crowd}"/>')
        parts.append(_symbol(dot, x(dot.value), middle, low))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" class="strip" aria-hidden="true">'
        + "".join(parts)
        + "</svg>"
    )


def _symbol(dot: Dot, x: float, y: float, low: float) -> str:
    """A cross for the floor, a diamond for the ceiling, an arrow for what is out of sight."""
    if dot.value < low:
        return f'<path d="M{x + 5} {y - 5}L{x - 2} {y}L{x + 5} {y + 5}Z" class="mind"/>'
    if dot.kind == FLOOR:
        return f'<path d="M{x - 3} {y - 3}l6 6m0 -6l-6 6" class="cross"/>'
    if dot.kind == CEILING:
        return f'<path d="M{x} {y - 5}l4.5 5l-4.5 5l-4.5 -5Z" class="top"/>'
    return f'<circle cx="{x}" cy="{y:g}" r="3.6" class="mind"/>'
