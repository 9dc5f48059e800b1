"""Strips from floor to ceiling with a dot for every mind, and a total by weights that were given.

A strip is a line from floor to ceiling with a dot, and an interval, for every score on it. Strips
stand in the rows of a table, beside the figures that they show.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from allminds.core.errors import Error, nearest
from allminds.report.charts import ink
from allminds.report.data import TestData

WIDTH, HEIGHT = 240, 18  # units
MARGIN = 8
LOWEST = -1.0  # what lies further below the floor is drawn at the edge, as an arrow
FLOOR, CEILING, MIND, OWN = "floor", "ceiling", "mind", "own"  # OWN: whom the page is about
SHAPES = ("circle", "square", "triangle-up", "triangle-down")  # of whom the page is about


@dataclass(frozen=True)
class Dot:
    """A normalised score with its interval, what it is, and the words that tell whose it is."""

    value: float
    low: float
    high: float
    kind: str = MIND
    words: str = ""
    shape: int = 0  # of OWN: its number in `SHAPES`
    best: bool = False  # the best fair mind has a ring
    clairvoyant: bool = False  # drawn faint: it is no rival


def domain(dots: Iterable[Dot]) -> tuple[float, float]:
    """Choose one axis for all strips of a page: floor and ceiling, and whatever lies beyond."""
    ends = [(dot.low, dot.high) for dot in dots]
    low = min([0.0, *(low for low, _ in ends)])
    high = max([1.0, *(high for _, high in ends)])
    return max(low, LOWEST), min(high, 1 - LOWEST)


def strip(dots: Sequence[Dot], ends: tuple[float, float]) -> str:
    """Draw the strip as SVG; the figures stand beside it in the page."""
    low, high = ends

    def x(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    middle = HEIGHT / 2
    parts = [f'<path d="M{x(low)} {middle:g}H{x(high)}" class="axis"/>']
    parts += [f'<path d="M{x(at)} 2V{HEIGHT - 2}" class="end"/>' for at in (0.0, 1.0)]
    alone = len(dots) == 1
    for dot in sorted(dots, key=lambda one: (one.kind == OWN, one.best, one.kind == MIND)):
        at = x(dot.value)
        reach = ""
        if dot.high > dot.low and (alone or dot.kind == OWN):
            reach = f'<path d="M{x(dot.low)} {middle:g}H{x(dot.high)}" class="reach s{dot.shape}"/>'
        parts.append(_named(reach + _symbol(dot, at, middle, low), dot.words, at))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" class="strip" aria-hidden="true">'
        + "".join(parts)
        + "</svg>"
    )


def _named(drawn: str, words: str, x: float) -> str:
    """Let a symbol say whose it is when it is pointed at, tapped, or read aloud."""
    if not words:
        return drawn
    said = html.escape(words)
    anchor = "start" if x < WIDTH / 3 else "end" if x > 2 * WIDTH / 3 else "middle"
    return (
        f'<g tabindex="-1"><title>{said}</title>{drawn}'
        f'<text x="{x}" y="-2" text-anchor="{anchor}">{said}</text></g>'
    )


def _symbol(dot: Dot, x: float, y: float, low: float) -> str:
    """Draw a cross for the floor, a diamond for the ceiling, an arrow for what is out of sight."""
    if dot.value < low:
        kind = "own" if dot.kind == OWN else "mind"
        return f'<path d="M{x + 5} {y - 5}L{x - 2} {y}L{x + 5} {y + 5}Z" class="{kind}"/>'
    if dot.kind == FLOOR:
        return f'<path d="M{x - 3} {y - 3}l6 6m0 -6l-6 6" class="cross"/>'
    if dot.kind == CEILING:
        return f'<path d="M{x} {y - 5}l4.5 5l-4.5 5l-4.5 -5Z" class="top"/>'
    if dot.kind == OWN:
        shape = SHAPES[dot.shape % len(SHAPES)]
        return f'<path d="{ink.outline(shape, x, y, 5)}" class="own s{dot.shape % len(SHAPES)}"/>'
    kind = "best" if dot.best else "mind seer" if dot.clairvoyant else "mind"
    return f'<circle cx="{x}" cy="{y:g}" r="{3.8 if dot.best else 3.2}" class="{kind}"/>'


# ---------------------------------------------------------------- normalised scores


@dataclass(frozen=True)
class ProfileMark:
    """One mind on one test: 0 is the floor, 1 the ceiling, both as measured there."""

    mind: str
    data: TestData
    value: float
    interval: tuple[float, float] | None
    kind: str  # floor, ceiling or mind

    @property
    def dot(self) -> Dot:
        """The dot that is drawn for this score."""
        low, high = self.interval or (self.value, self.value)
        return Dot(self.value, low, high, self.kind)


def places(data: TestData) -> list[ProfileMark]:
    """List the normalised scores of a test, best first; none where there is no scale."""
    found = [
        ProfileMark(
            mind=row["mind"],
            data=data,
            value=row["normalised"],
            interval=None if row["normalised_ci95"] is None else tuple(row["normalised_ci95"]),
            kind={"floor": FLOOR, "ceiling": CEILING}.get(row["end"] or "", MIND),
        )
        for row in data.summary["results"]
        if row["normalised"] is not None
    ]
    return sorted(found, key=lambda place: -place.value)


def best(found: Sequence[ProfileMark]) -> ProfileMark | None:
    """Find the best mind that is neither end of the scale, or else the ceiling."""
    for kind in (MIND, CEILING):
        own = [place for place in found if place.kind == kind]
        if own:
            return own[0]
    return None


# ---------------------------------------------------------------- the weighted total


def section(tests: Sequence[TestData], weights: Mapping[str, float]) -> dict[str, Any] | None:
    """Collect the weighted total; None if no weights were given."""
    scaled = [(data, found) for data in tests if (found := places(data))]
    check_weights(weights, [data for data, _ in scaled])
    if not weights:
        return None
    ends = domain(place.dot for _, found in scaled for place in found)
    return total(scaled, weights, ends) | {"axis": axis(ends)}


def axis(ends: tuple[float, float]) -> dict[str, float]:
    """Locate floor and ceiling above the strips, in per cent of their width."""
    low, high = ends
    at = {name: (value - low) / (high - low) for name, value in (("floor", 0.0), ("ceiling", 1.0))}
    inside = WIDTH - 2 * MARGIN
    return {name: 100 * (MARGIN + share * inside) / WIDTH for name, share in at.items()}


def check_weights(weights: Mapping[str, float], tests: Sequence[TestData]) -> None:
    """Require weights of instruments that have a score, 0 or more, and not all 0."""
    known = list(dict.fromkeys(data.tool.name for data in tests))
    for name, weight in weights.items():
        if name not in known:
            raise Error(f"there is no score on '{name}' to weigh; {nearest(name, known)}")
        if not (math.isfinite(weight) and weight >= 0):
            raise Error(f"the weight of {name} is {weight:g}; it must be a number, 0 or more")
    if weights and not sum(weights.values()) > 0:
        raise Error("all weights are 0; give one above 0")


def total(
    scaled: Sequence[tuple[TestData, list[ProfileMark]]],
    weights: Mapping[str, float],
    limits: tuple[float, float],
) -> dict[str, Any]:
    """Compute the weighted mean of the minds that took all that has weight, best first.

    An instrument given in several settings counts as their mean. Tests have exercises of their
    own, so their errors are independent.
    """
    whole = sum(weights.values())
    shares: dict[str, list[tuple[float, ProfileMark]]] = {}
    needed = 0
    for name, weight in weights.items():
        own = [found for data, found in scaled if data.tool.name == name and weight > 0]
        needed += len(own)
        for found in own:
            for place in found:
                share = weight / whole / len(own)
                shares.setdefault(place.mind, []).append((share, place))
    rows = []
    for mind, parts in shares.items():
        if len(parts) < needed:
            continue
        value = sum(share * place.value for share, place in parts)
        ends = [(share, *place.interval) for share, place in parts if place.interval]
        interval = None
        if len(ends) == len(parts):  # Zou and Donner's (2008), from the intervals of the parts
            down, up = (
                math.sqrt(sum((share * (place.value - end[side])) ** 2
                              for (share, place), end in zip(parts, ends, strict=True)))
                for side in (1, 2)
            )  # fmt: skip
            interval = (value - down, value + up)
        dot = Dot(value, *(interval or (value, value)))
        rows.append({"mind": mind, "value": value, "interval": interval,
                     "strip": strip([dot], limits)})  # fmt: skip
    return {
        "weights": dict(weights),
        "rows": sorted(rows, key=lambda row: -row["value"]),
        "without": [mind for mind, parts in shares.items() if len(parts) < needed],
    }
