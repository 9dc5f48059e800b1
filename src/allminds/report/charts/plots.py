"""The plots of one test: score against complexity, learning inside an episode, adaptive path.

More than eight lines are more than an eye can tell apart: then there are several panels, the floor
and the ceiling in each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from allminds.report.charts import drawing
from allminds.report.charts.drawing import CEILING, FLOOR, OWN, STYLES, Dot, Mark, Style, y_domain
from allminds.report.data import Point, Stretch, TestData

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
