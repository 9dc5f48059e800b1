"""The plots of one test: score against complexity, learning, adaptive path, predictions.

More than eight lines are more than an eye can tell apart: then there are several panels, the floor
and the ceiling in each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allminds.report.charts import drawing, ink
from allminds.report.charts.drawing import (
    CEILING,
    FLOOR,
    OWN,
    STYLES,
    WIDTH,
    Dot,
    Mark,
    Style,
    y_domain,
)
from allminds.report.data import Point, Stretch, TestData

if TYPE_CHECKING:
    from allminds.statistics.accuracy.predict import Foreseen, Scheme

OTHERS = 6  # minds in a panel besides the floor and the ceiling


# ---------------------------------------------------------------- the figures


def score_panels(
    data: TestData, only: Collection[str] = (), about: Sequence[str] = ()
) -> list[str]:
    """Draw score against complexity, with an interval at every point; of some minds `only`.

    Minds that the page is `about` are drawn heavily, as the user's are.
    """
    marks = [mark(point) for point in data.points if not only or point.mind in only]
    if not marks:
        return []
    low, high = min(mark.x for mark in marks), max(mark.x for mark in marks)
    margin = 0.02 * (high - low) or 0.5
    titles = (f"complexity {data.column}", f"{measured(data)}, with 95 % intervals")
    return panels(data, marks, titles, (low - margin, high + margin), about=about)


def measured(data: TestData) -> str:
    """Name what is measured at a complexity; the score of an adaptive test is something else."""
    return "mean reward" if data.tool.adaptive else "score"


def mark(point: Point) -> Mark:
    """Turn a point of a test into a mark of its plot."""
    low, high = point.interval or (point.mean, point.mean)
    return Mark(point.mind, point.k, point.mean, low, high)


def learning_panels(data: TestData) -> list[str]:
    """Draw the mean reward at each step of an episode, with a symbol at some steps only."""
    return _along(data, data.curve, ("step of the episode", "mean reward"))


def path_panels(data: TestData) -> list[str]:
    """Draw the complexity that an adaptive test gave each mind, exercise by exercise."""
    return _along(data, data.path, ("exercise of an administration", f"complexity {data.column}"))


def _along(data: TestData, stretches: Sequence[Stretch], titles: tuple[str, str]) -> list[str]:
    every = max(1, len(stretches) // 7)
    numbers = {mind: number for number, mind in enumerate(data.minds)}
    marks = [
        Mark(mind, _middle(stretch), mean, mean, mean, (n + 2 * numbers[mind]) % every == 0)
        for n, stretch in enumerate(stretches)
        for mind, mean in stretch.means.items()
    ]
    return panels(data, marks, titles, (1, stretches[-1].last)) if marks else []


def _middle(stretch: Stretch) -> float:
    return (stretch.first + stretch.last) / 2


def cut_intervals(data: TestData) -> bool:
    """Check whether some interval is too long for the picture."""
    marks = [mark(point) for point in data.points]
    low, high = y_domain(marks)
    return any(one.low < low or one.high > high for one in marks)


# ---------------------------------------------------------------- panels


def panels(
    data: TestData,
    marks: Sequence[Mark],
    titles: tuple[str, str],
    across: tuple[float, float],
    up: tuple[float, float] | None = None,
    dots: Sequence[Dot] = (),
    about: Sequence[str] = (),
) -> list[str]:
    """Draw the lines of a test's minds, some in each panel, and dots under those of all."""
    shares = _shared_out(data, {mark.mind for mark in marks}, data.yours or about)
    labels = drawing.short_names(data.minds)
    y = (titles[1], up or y_domain(marks))
    return drawing.panels(marks, shares, labels, (titles[0], across), y, dots=dots)


def _shared_out(data: TestData, drawn: set[str], about: Sequence[str]) -> list[dict[str, Style]]:
    """Assign minds to panels with their styles; whom it is about and both ends stand in all."""
    ends = {data.tool.floor_mind: FLOOR, data.tool.ceiling_mind or "": CEILING}
    fixed: dict[str, Style] = {}
    for mind in data.minds:  # one of several runs' floors and ceilings will do
        style = ends.get(data.bare.get(mind, mind))
        if style and style not in fixed.values() and mind in drawn:
            fixed[mind] = style
    mine = dict(zip(about, OWN, strict=False)) if len(about) <= len(OWN) else {}
    fixed |= {mind: style for mind, style in mine.items() if mind in drawn}
    others = [
        mind for mind in data.minds if data.bare.get(mind, mind) not in ends and mind not in mine
    ]
    panels = []
    for lot in drawing.evenly(others, OTHERS):
        styles = {m: style for m, style in zip(lot, STYLES, strict=False) if m in drawn}
        if styles:
            panels.append(fixed | styles)
    return panels or [fixed]


# ---------------------------------------------------------------- predicted and observed


SIDE = 220  # units of the square
AXIS = (-0.02, 1.02)
IN_A_PANEL = 6  # minds
SCHEMES: dict[Scheme, str] = {
    "items": "each complexity left out in turn",
    "upper": "the upper complexities left out at once",
}


@dataclass(frozen=True)
class Calibration:
    """One mind at one complexity that the curve had not seen."""

    mind: str
    scheme: Scheme
    k: float
    predicted: float
    observed: float
    interval: tuple[float, float]
    trials: int


def calibrations(minds: Sequence[str], foreseen: Mapping[Scheme, Foreseen]) -> list[Calibration]:
    """Pair what was predicted of every mind at every complexity left out with what was observed."""
    from allminds.inference.intervals import Hits

    made = []
    for scheme, found in foreseen.items():
        for m, mind in enumerate(minds):
            for n, k in enumerate(found.counts.difficulty):
                trials = int(found.counts.trials[m, n])
                if trials:
                    rate = float(found.observed[m, n])
                    made.append(
                        Calibration(
                            mind=mind,
                            scheme=scheme,
                            k=float(k),
                            predicted=float(found.predicted[m, n]),
                            observed=rate,
                            interval=Hits(round(rate * trials), trials).interval(),
                            trials=trials,
                        )
                    )
    return made


def calibration_panels(
    rows: Sequence[Calibration], ends: Mapping[str, Style | None] | None = None
) -> list[dict[str, str]]:
    """Draw a square of some minds for every way of leaving out; `ends` have their own styles."""
    minds = list(dict.fromkeys(row.mind for row in rows))
    labels = drawing.short_names(minds)
    made = []
    for lot in drawing.evenly(minds, IN_A_PANEL):
        own = iter(STYLES)
        styles = {mind: (ends or {}).get(mind) or next(own) for mind in lot}
        for scheme, words in SCHEMES.items():
            here = [row for row in rows if row.scheme == scheme and row.mind in styles]
            if here:
                made.append({"words": words, "svg": square(here, styles, labels)})
    return made


def square(
    rows: Sequence[Calibration], styles: Mapping[str, Style], labels: Mapping[str, str]
) -> str:
    """Draw one picture, with its minds named beside it."""
    left = ink.y_room(AXIS)
    box = ink.Box(left, drawing.TOP, SIDE, SIDE, AXIS, AXIS)
    parts = [
        ink.y_axis(box, "observed, with 95 % intervals"),
        ink.x_axis(box, "predicted"),
        ink.rules([(box.x(0), box.y(0), box.x(1), box.y(1))], ink.SOFT, 1, 1, (4, 3)),
    ]
    for n, (mind, style) in enumerate(styles.items()):
        own = [row for row in rows if row.mind == mind]
        reach = (
            (box.x(row.predicted), box.y(row.interval[0]), box.x(row.predicted),
             box.y(row.interval[1]))
            for row in own
        )  # fmt: skip
        places = [(box.x(row.predicted), box.y(row.observed)) for row in own]
        parts.append(ink.rules(reach, style.colour, 1, 0.4))
        parts.append(ink.symbols(style.shape, places, style.colour, 3.4))
        y = box.top + 8 + 18 * n
        parts.append(ink.symbols(style.shape, [(box.right + 14, y)], style.colour, 3.8))
        parts.append(ink.text(box.right + 24, y, labels[mind]))
    return ink.picture(WIDTH, box.bottom + ink.depth(), parts)
