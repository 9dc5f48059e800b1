"""Learning over courses: curves against experience, and what changed in the minds that carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from allminds.report.data import TestData
from allminds.report.words import count

if TYPE_CHECKING:
    import pandas as pd

    from allminds.statistics.learning import Learning, Point

PLOTTED = 8  # minds in one picture


def section(tests: Sequence[TestData]) -> dict[str, Any] | None:
    """Collect what the page shows of courses; None if no test is one."""
    from allminds.statistics.courses import design_of
    from allminds.statistics.learning import learning
    from allminds.statistics.learning_words import EXPLAINED, sheets

    courses = [data for data in tests if design_of(data.tool)]
    if not courses:
        return None
    named = [f"course {n}" for n in range(1, len(courses) + 1)]
    found = learning([(data.tool, _records(data)) for data in courses], labels=named)
    made = sheets(found)
    return {
        "courses": list(zip(named, courses, strict=True)) if len(courses) > 1 else [],
        "figures": _figures(found),
        "sheets": [sheet for sheet in made if sheet.name != "curve"],
        "curve": EXPLAINED["curve"],
        "notes": found.notes,
        "gist": _gist(found),
    }


def _records(data: TestData) -> pd.DataFrame:
    """Read the records of a test, with its minds as the report names them."""
    import pandas as pd

    from allminds.report.sources import who
    from allminds.runs.store import read_part

    frames = []
    for source in data.sources:
        for part in source.parts:
            frame = read_part(part).to_pandas()
            frame["mind"] = frame[who(part)].astype(str).map(source.names)
            frames.append(frame.drop(columns="line_up", errors="ignore").dropna(subset=["mind"]))
    whole: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return whole


def _gist(found: Learning) -> str:
    """Say of how many minds what was claimed."""
    sure: dict[str, set[str]] = {}
    for one in found.changes:
        if one.found.sign:
            sure.setdefault(one.verdict.partition(",")[0], set()).add(one.mind)
    carrying = len({one.mind for one in found.changes})
    if not sure:
        said = "no change is sure"
    else:
        said = "; ".join(f"{count(len(minds), 'mind')} {word}" for word, minds in sure.items())
    return f"{count(carrying, 'mind')} that can carry, {found.courses:,} courses each: {said}"


# ---------------------------------------------------------------- pictures


def _figures(found: Learning) -> list[dict[str, Any]]:
    """Draw each curve of each course, all its minds in one picture, with its table."""
    from allminds.statistics.learning_words import curve_sheets

    tables = curve_sheets(found)
    lines = dict.fromkeys((one.test, one.line) for one in found.points)
    return [
        {"sheet": sheet, "panels": _drawn([p for p in found.points if (p.test, p.line) == line])}
        for sheet, line in zip(tables, lines, strict=True)
    ]


def _drawn(points: Sequence[Point]) -> list[str]:
    """Draw score against experience, with an interval at every point; none of a single point."""
    from allminds.report.charts import drawing, files

    if len({point.trained for point in points}) < 2:
        return []
    minds = list(dict.fromkeys(point.mind for point in points))
    made = []
    for lot in drawing.evenly(minds, PLOTTED):
        marks = [
            drawing.Mark(p.mind, p.trained, p.score, *(p.interval or (p.score, p.score)))
            for p in points
            if p.mind in lot
        ]
        titles = ("training exercises before", "score, with 95 % intervals")
        made.append(files.line_plot(marks, files.styles_of(list(lot)), titles))
    return made
