"""Plots as SVG text: readable without colour and on a phone, with nothing fetched.

A plot is some 410 units wide with type of 13, so that it can shrink to a phone's width or grow to
a column of print. A line is named at its end.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from allminds.core.errors import Error
from allminds.inference import Difference
from allminds.report.charts import ink

WIDTH, HEIGHT = 410, 240  # of the whole with its labels; of the plot inside
TOP, ROW = 28, 24  # room for a title; from one row of dots to the next
SPOT = 6.5  # units from one dot to the next
LABEL_GAP = 15  # units from one label to the next
LONGEST_LABEL = 18  # letters


@dataclass(frozen=True)
class Style:
    """A colour, a dash pattern and a shape, each of which suffices to identify a mind."""

    colour: str
    dash: tuple[float, ...]
    shape: str
    heavy: bool = False  # of the minds that the page is about


# Dark enough on white, and apart for all common kinds of colour blindness.
FLOOR = Style("#707070", (1, 3), "cross")
CEILING = Style("#000000", (1, 0), "diamond")
STYLES = (
    Style("#0072b2", (10, 1.5), "circle"),
    Style("#d55e00", (7, 3), "square"),
    Style("#117733", (3, 2), "triangle-up"),
    Style("#aa4499", (9, 3, 2, 3), "triangle-down"),
    Style("#997700", (5, 2, 1, 2, 1, 2), "triangle-right"),
    Style("#882255", (5, 5), "triangle-left"),
)
OWN = (  # of the minds that the page is about, in the shapes that strips give them
    Style("#d55e00", (1, 0), "circle", True),
    Style("#a6007c", (9, 2), "square", True),
    Style("#7a3b00", (5, 2), "triangle-up", True),
    Style("#b00020", (9, 3, 2, 3), "triangle-down", True),
)
PERSON = Style("#6a51a3", (1, 0), "circle")  # a dot is a person


@dataclass(frozen=True)
class Mark:
    """A point of a line: `low` and `high` are its interval, `shown` whether it has a symbol."""

    mind: str
    x: float
    y: float
    low: float
    high: float
    shown: bool = True


@dataclass(frozen=True)
class Dot:
    """A dot for one person, and the words that are shown when it is pointed at."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class Frame:
    """Titles, domains and ticks that the panels of a figure have in common."""

    x_title: str
    y_title: str
    x_domain: tuple[float, float]
    y_domain: tuple[float, float]
    room: float  # for the labels at the right
    ticks: tuple[float, ...] = ()  # where the x axis is marked; anywhere if none are given
    tick_lines: tuple[tuple[str, ...], ...] = ()  # what stands there, if the ticks are 0, 1, 2, …


# ---------------------------------------------------------------- panels


def panels(
    marks: Sequence[Mark],
    shares: Sequence[dict[str, Style]],
    labels: dict[str, str],
    x: tuple[str, tuple[float, float]],
    y: tuple[str, tuple[float, float]],
    ticks: tuple[float, ...] = (),
    tick_lines: tuple[tuple[str, ...], ...] = (),
    dots: Sequence[Dot] = (),
) -> list[str]:
    """Draw a panel for each share of the minds, in one frame; an axis is (title, domain).

    Dots of persons are in all of them.
    """
    longest = max(len(labels[mind]) for share in shares for mind in share)
    room = 32 + ink.LETTER * longest
    frame = Frame(x[0], y[0], x[1], y[1], room, ticks, tick_lines)
    return [
        svg(frame, [mark for mark in marks if mark.mind in share], share, labels, dots)
        for share in shares
    ]


def evenly(names: Sequence[str], most: int) -> list[list[str]]:
    """Split the names into as few lots of at most `most` as possible, of nearly one size."""
    lots = max(1, math.ceil(len(names) / most))
    size = max(1, math.ceil(len(names) / lots))
    return [list(names[first : first + size]) for first in range(0, max(len(names), 1), size)]


# ---------------------------------------------------------------- places and names
def y_domain(marks: Iterable[Mark]) -> tuple[float, float]:
    """Choose a domain for all means, and for intervals as far as they do not dwarf the means."""
    marks = list(marks)
    low, high = min(mark.y for mark in marks), max(mark.y for mark in marks)
    reach = 0.5 * (high - low) or 0.1
    bottom = min(max(mark.low, low - reach) for mark in marks)
    top = max(min(mark.high, high + reach) for mark in marks)
    margin = 0.04 * (top - bottom) or 0.05
    return bottom - margin, top + margin


def short_names(minds: Sequence[str]) -> dict[str, str]:
    """Shorten names to fit beside a line; number those that would look alike."""
    cut = {mind: _shortened(mind) for mind in minds}
    alike = Counter(cut.values())
    return {
        mind: cut[mind] if cut[mind] == mind or alike[cut[mind]] == 1 else _numbered(mind, number)
        for number, mind in enumerate(minds, 1)
    }


def _numbered(mind: str, number: int) -> str:
    return f"{mind.partition('(')[0][: LONGEST_LABEL - 4]} #{number}"


def without_folders(mind: str) -> str:
    """Drop the folders of the files in a name."""
    return re.sub(r"[^(),*]*/(?=[^/(),*]*\.py:)", "", mind)


def _shortened(mind: str) -> str:
    """Shorten a name: drop the folders of a file, and then its middle."""
    if len(mind) <= LONGEST_LABEL:
        return mind
    mind = without_folders(mind)
    half = LONGEST_LABEL // 2
    return mind if len(mind) <= LONGEST_LABEL else f"{mind[:half]}…{mind[1 - half :]}"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Place labels as near as can be to `wanted`, `gap` apart and, if they fit, in low..high."""
    import numpy as np
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    even = isotonic_regression(np.asarray(wanted, float)[order] - steps).x
    places = np.empty(len(order))
    places[order] = np.clip(even, low, max(low, high - steps[-1])) + steps
    return [float(place) for place in places]


# ---------------------------------------------------------------- drawing


def svg(
    frame: Frame,
    marks: Sequence[Mark],
    styles: dict[str, Style],
    labels: dict[str, str],
    dots: Sequence[Dot] = (),
) -> str:
    """Draw one panel: dots, intervals, lines and symbols, and at the right the names."""
    left = ink.y_room(frame.y_domain)
    width = WIDTH - left - frame.room
    box = ink.Box(left, TOP, width, HEIGHT, frame.x_domain, frame.y_domain)
    parts = [ink.y_axis(box, frame.y_title), ink.x_axis(box, frame.x_title, frame.ticks,
                                                       frame.tick_lines)]  # fmt: skip
    parts.append(
        ink.spots(((box.x(dot.x), box.y(dot.y), dot.words) for dot in dots), PERSON.colour)
    )
    of = {mind: sorted((m for m in marks if m.mind == mind), key=lambda m: m.x) for mind in styles}
    of = {mind: own for mind, own in of.items() if own}
    for mind, own in of.items():
        parts.append(ink.titled(_drawn(box, own, styles[mind]), mind))
    parts.append(_names(box, {mind: own[-1] for mind, own in of.items()}, styles, labels))
    return ink.picture(WIDTH, box.bottom + ink.depth(frame.tick_lines), parts)


def _drawn(box: ink.Box, own: Sequence[Mark], style: Style) -> str:
    """Draw the line of one mind, with its intervals as far as they fit into the picture."""
    low, high = box.up
    reach = (
        (box.x(m.x), box.y(max(m.low, low)), box.x(m.x), box.y(min(m.high, high)))
        for m in own
        if m.high > m.low
    )
    places = [(box.x(m.x), box.y(m.y)) for m in own]
    shown = [place for place, mark in zip(places, own, strict=True) if mark.shown]
    solid = style.dash[1:] == (0,)
    return (
        ink.rules(reach, style.colour, 1, 0.65)
        + ink.line(places, style.colour, 2.8 if style.heavy else 1.6, () if solid else style.dash)
        + ink.symbols(style.shape, shown, style.colour, 4.2 if style.heavy else 3.0)
    )


def _names(
    box: ink.Box, last: dict[str, Mark], styles: dict[str, Style], labels: dict[str, str]
) -> str:
    """Draw the names at the right, each with its symbol and tied to the end of its line."""
    order = list(last)[::-1]  # of two that end together, the first stands above
    ends = [-box.y(last[mind].y) for mind in order]
    places = spread(ends, LABEL_GAP, -box.bottom, -box.top) if order else []
    parts = []
    for mind, place in zip(order, places, strict=True):
        style, y = styles[mind], -place
        tie = (box.x(last[mind].x), box.y(last[mind].y), box.right + 12, y)
        parts.append(ink.rules([tie], style.colour, 0.8, 0.7))
        parts.append(ink.symbols(style.shape, [(box.right + 18, y)], style.colour, 3.6))
        parts.append(ink.text(box.right + 26, y, labels[mind], bold=style.heavy))
    return "".join(parts)


def dots(
    marks: Sequence[Mark],
    styles: dict[str, Style],
    titles: tuple[str, str],
    domain: tuple[float, float],
    labels: dict[str, str] | None = None,
    persons: Sequence[Dot] = (),
) -> str:
    """Draw one row for each mind: its name, its mean and its interval along a common axis.

    Above the first row stand the dots of persons, heaped up where they have the same score.
    """
    named = labels or {mark.mind: mark.mind for mark in marks}
    left = min(14 + ink.LETTER * max(len(named[mark.mind]) for mark in marks), WIDTH / 2)
    across = ink.Box(left, TOP, WIDTH - left - 12, 1, domain, (1, 0))
    heap = _heaped([across.x(dot.x) for dot in persons])
    room = SPOT * (max((level for _, level in heap), default=-1) + 1)
    box = ink.Box(left, TOP + room, across.width, ROW * len(marks), domain, (len(marks), 0))
    parts = [ink.text(2, TOP - 14, titles[0]), ink.x_axis(box, titles[1])]
    low, high = domain
    for row, mark in enumerate(marks):
        y, style = box.y(row + 0.5), styles[mark.mind]
        parts.append(ink.text(box.left - 8, y, named[mark.mind], "end"))
        parts.append(ink.rules([(box.left, y, box.right, y)], ink.GRID))
        reach = (box.x(max(mark.low, low)), y, box.x(min(mark.high, high)), y)
        parts.append(ink.rules([reach], style.colour, 1.4))
        parts.append(ink.symbols(style.shape, [(box.x(mark.y), y)], style.colour, 3.8))
    pairs = zip(heap, persons, strict=True)
    spots = ((x, box.top - SPOT * level, dot.words) for (x, level), dot in pairs)
    parts.append(ink.spots(spots, PERSON.colour))
    return ink.picture(WIDTH, box.bottom + ink.depth(), parts)


def _heaped(places: Sequence[float]) -> list[tuple[float, int]]:
    """Lift dots that would cover another, each to the lowest level on which it has room."""
    ends: list[list[float]] = []  # by level, the places taken
    found = []
    for x in places:
        level = next(
            (n for n, taken in enumerate(ends) if all(abs(x - at) >= SPOT for at in taken)),
            len(ends),
        )
        if level == len(ends):
            ends.append([])
        ends[level].append(x)
        found.append((x, level))
    return found


# ---------------------------------------------------------------- forest plots


MOST_ROWS = 60
ACROSS, LINE, ABOVE = 300, 26, 10  # units of the plot inside, of one line, above the first
# Told apart by colour and by shape; dark enough on white.
VERDICTS = {
    "different": ("#d55e00", "diamond"),
    "different, but smaller than δ": ("#009e73", "triangle-up"),
    "equivalent": ("#0072b2", "circle"),
    "undecided": ("#707070", "square"),
}
NOTES = (
    "difference in score (90 % interval thick, 95 % thin)",
    "shaded: too small to matter",
)


def forest(rows: Sequence[tuple[str, Difference]]) -> str:
    """Draw a forest plot: a line for each named difference, over the band of ±δ.

    Intervals of 95 % are thin, those of 90 % thick.
    """
    if not rows or len(rows) > MOST_ROWS:
        raise Error(f"cannot draw {len(rows)} differences in one figure; 1 to {MOST_ROWS} will do")
    margin = rows[0][1].margin
    ends = [end for _, one in rows for end in one.interval or (one.mean,)] + [-margin, margin]
    spare = 0.05 * (max(ends) - min(ends))
    left = 20 + ink.LETTER * max(len(name) for name, _ in rows)
    box = ink.Box(
        left,
        ABOVE,
        ACROSS,
        LINE * len(rows),
        (min(ends) - spare, max(ends) + spare),
        (len(rows), 0),
    )
    parts = [ink.bar(box.x(-margin), box.top, box.x(margin), box.bottom, "#e3ecf3")]
    parts += [_difference(box, place, name, one) for place, (name, one) in enumerate(rows)]
    parts.append(ink.rules([(box.x(0), box.top, box.x(0), box.bottom)], ink.SOFT, 1, 1, (3, 3)))
    parts.append(ink.x_axis(box, NOTES[0]))
    below = box.bottom + ink.depth()
    parts.append(ink.text((box.left + box.right) / 2, below + 2, NOTES[1], "middle", ink.SOFT))
    room = 26 + ink.LETTER * max(len(one.verdict) for _, one in rows)
    return ink.picture(box.right + room, below + 16, parts)


def _difference(box: ink.Box, place: int, name: str, one: Difference) -> str:
    """Draw one difference: its name, its intervals, its mean and the verdict on it."""
    y = box.y(place + 0.5)
    colour, shape = VERDICTS[one.verdict]
    parts = [ink.text(box.left - 10, y, name, "end")]
    parts.append(ink.rules([(box.left, y, box.right, y)], ink.GRID))
    for ends, width in ((one.interval, 1.4), (one.interval90, 4.0)):
        if ends is not None:
            parts.append(ink.rules([(box.x(ends[0]), y, box.x(ends[1]), y)], colour, width))
    parts.append(ink.symbols(shape, [(box.x(one.mean), y)], colour, 4.4))
    parts.append(ink.text(box.right + 12, y, one.verdict, colour=colour))
    return "".join(parts)
