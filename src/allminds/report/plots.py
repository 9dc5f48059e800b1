"""Plots as SVG text: told apart without colour, legible on a phone, nothing fetched.

A plot is some 440 units wide with type of 13, so that it can shrink to a phone's width or grow to
a column of print. A line is named at its end. More than eight lines are more than an eye can
tell apart: then there are several panels, the floor and the ceiling in each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from allminds.report.data import Point, Stretch, TestData

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 440, 250  # of the whole with its labels; of the plot inside
LABEL_GAP = 15  # units from one label to the next
LONGEST_LABEL = 18  # letters
OTHERS = 6  # minds in a panel besides the floor and the ceiling
FONT = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Style:
    """A colour, a dash pattern and a shape, each of which suffices to tell a mind."""

    colour: str
    dash: tuple[float, ...]
    shape: str


# Dark enough on white, and apart for all common kinds of colour blindness.
FLOOR = Style("#707070", (1, 3), "cross")
CEILING = Style("#000000", (1, 0), "diamond")
STYLES = (
    Style("#0072b2", (1, 0), "circle"),
    Style("#d55e00", (7, 3), "square"),
    Style("#117733", (3, 2), "triangle-up"),
    Style("#aa4499", (9, 3, 2, 3), "triangle-down"),
    Style("#997700", (5, 2, 1, 2, 1, 2), "triangle-right"),
    Style("#882255", (12, 3), "triangle-left"),
)


@dataclass(frozen=True)
class Mark:
    """A point of a line: `low` and `high` are its interval, `shown` says whether it has a symbol."""

    mind: str
    x: float
    y: float
    low: float
    high: float
    shown: bool = True


@dataclass(frozen=True)
class Frame:
    """What the panels of a figure have in common."""

    x_title: str
    y_title: str
    x_domain: tuple[float, float]
    y_domain: tuple[float, float]
    room: float  # for the labels at the right


# ---------------------------------------------------------------- the two figures


def score_panels(data: TestData) -> list[str]:
    """Score against complexity, with an interval at every point."""
    marks = [_mark(point) for point in data.points]
    if not marks:
        return []
    return _panels(data, marks, f"complexity {data.column}", "score, with 95 % intervals")


def _mark(point: Point) -> Mark:
    low, high = point.interval or (point.mean, point.mean)
    return Mark(point.mind, point.k, point.mean, low, high)


def learning_panels(data: TestData) -> list[str]:
    """Mean reward at each step of an episode; a symbol at some steps only, as lines are dense."""
    every = max(1, len(data.curve) // 7)
    numbers = {mind: number for number, mind in enumerate(data.minds)}
    marks = [
        Mark(mind, _middle(stretch), mean, mean, mean, (n + 2 * numbers[mind]) % every == 0)
        for n, stretch in enumerate(data.curve)
        for mind, mean in stretch.means.items()
    ]
    return _panels(data, marks, "step of the episode", "mean reward") if marks else []


def _middle(stretch: Stretch) -> float:
    return (stretch.first + stretch.last) / 2


def cut_intervals(data: TestData) -> bool:
    """Whether some interval is too long for the picture."""
    marks = [_mark(point) for point in data.points]
    low, high = _y_domain(marks)
    return any(mark.low < low or mark.high > high for mark in marks)


# ---------------------------------------------------------------- panels


def _panels(data: TestData, marks: Sequence[Mark], x_title: str, y_title: str) -> list[str]:
    drawn = {mark.mind for mark in marks}
    labels = short_names(data.minds)
    longest = max(len(labels[mind]) for mind in drawn)
    xs = [mark.x for mark in marks]
    frame = Frame(x_title, y_title, (min(xs), max(xs)), _y_domain(marks), 34 + 7.0 * longest)
    return [
        _svg(frame, [mark for mark in marks if mark.mind in styles], styles, labels)
        for styles in _shared_out(data, drawn)
    ]


def _shared_out(data: TestData, drawn: set[str]) -> list[dict[str, Style]]:
    """The minds of each panel with their styles; floor and ceiling stand in all of them."""
    ends = {data.tool.floor_mind: FLOOR, data.tool.ceiling_mind or "": CEILING}
    fixed = {mind: style for mind, style in ends.items() if mind in drawn}
    others = [mind for mind in data.minds if mind not in ends]
    count = max(1, math.ceil(len(others) / OTHERS))
    size = max(1, math.ceil(len(others) / count))
    panels = []
    for first in range(0, max(len(others), 1), size):
        pairs = zip(others[first : first + size], STYLES, strict=False)
        styles = {mind: style for mind, style in pairs if mind in drawn}
        if styles or not others:
            panels.append(fixed | styles)
    return panels or [fixed]


def _y_domain(marks: Iterable[Mark]) -> tuple[float, float]:
    """Room for all means, and for intervals as far as they do not dwarf the means."""
    marks = list(marks)
    low, high = min(mark.y for mark in marks), max(mark.y for mark in marks)
    reach = 0.5 * (high - low) or 0.1
    bottom = min(max(mark.low, low - reach) for mark in marks)
    top = max(min(mark.high, high + reach) for mark in marks)
    margin = 0.04 * (top - bottom) or 0.05
    return bottom - margin, top + margin


def short_names(minds: Sequence[str]) -> dict[str, str]:
    """Names that fit beside a line: the middle of a long one is left out, and none occurs twice."""
    short: dict[str, str] = {}
    for number, mind in enumerate(minds, 1):
        name = mind
        if len(mind) > LONGEST_LABEL:
            name = f"{mind[: LONGEST_LABEL // 2]}…{mind[1 - LONGEST_LABEL // 2 :]}"
        if name in short.values():
            name = f"{name[: LONGEST_LABEL - 4]} #{number}"
        short[mind] = name
    return short


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as can be to those wanted, `gap` apart and, if they fit, within low..high."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # the place of a block's first member, and its members' wishes
    wishes: list[list[float]] = []
    for i in order:
        blocks.append([wanted[i]])
        wishes.append([wanted[i]])
        while len(blocks) > 1 and blocks[-1][0] < blocks[-2][0] + gap * len(wishes[-2]):
            wishes[-2] += wishes.pop()
            blocks.pop()
            members = wishes[-1]
            mean = sum(wish - gap * n for n, wish in enumerate(members)) / len(members)
            blocks[-1][0] = mean
    places = [b[0] + gap * n for b, w in zip(blocks, wishes, strict=True) for n in range(len(w))]
    for n in range(len(places)):  # back inside at the bottom, then at the top
        least = low if n == 0 else places[n - 1] + gap
        places[n] = max(places[n], least)
    for n in reversed(range(len(places))):
        most = high if n == len(places) - 1 else places[n + 1] - gap
        places[n] = min(places[n], most)
    result = [0.0] * len(wanted)
    for place, i in zip(places, order, strict=True):
        result[i] = place
    return result
