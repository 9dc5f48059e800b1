"""The section of one test: scores from ceiling to floor, by complexity, and by step.

A crossed design of many cells has one table of all of them instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.core.settings import settings_text
from allminds.inference.words import best_first, heading, sampled, unit_columns
from allminds.report.data import Stretch, TestData
from allminds.report.sections.people import People
from allminds.report.sections.profile import best, places
from allminds.report.words import first_line, interval, number
from allminds.runs.designs import Design, by_words


def section(data: TestData, people: People | None = None) -> dict[str, Any]:
    """Collect what the page shows about one test, and the people who took it."""
    tool = data.tool
    given = data.settings_given
    return {
        "anchor": data.anchor,
        "label": data.label,
        "heading": f"{tool.name}: {given}" if given else tool.name,
        "gist": _gist(data),
        "about": first_line(tool),
        "settings": settings_text(data.summary["settings"]),
        "ends": any(row["normalised"] is not None for row in data.summary["results"]),
        "units": [
            (name, heading(name, tool.adaptive, bool(tool.parts)))
            for name in unit_columns(data.summary["results"], tool.adaptive)
        ],
        "spread_over": None if tool.adaptive else tool.strata,
        "seats": _seats(data),
        "caution": tool.cautioned(data.summary["episodes"]),
        "sampled": sampled(data.summary["results"]),
        "rows": _rows(data),
        "fair": data.summary.get("fair_ceiling"),
        "people": people,
        "failed": sum(row["failed"] for row in data.summary["results"]),
        "figures": _figures(data),
    }


def _seats(data: TestData) -> str:
    """Say which mind sits in which slot of a game."""
    if data.tool.slots == 1 or data.tool.scored == "all":
        return ""
    others = f"and {data.test.against} in the others" if data.test.against else ""
    alone = "a mind named alone fills all slots, and meets itself"
    return (
        f"The score is that of the first slot: a mind sits there, {others}."
        if others
        else (f"The score is that of the first slot; {alone}.")
    )


def _flat(stretches: Sequence[Stretch]) -> bool:
    """Check whether nothing changes from step to step."""
    return all(stretch.means == stretches[0].means for stretch in stretches)


def _gist(data: TestData) -> str:
    """Write the one line of a folded test: how many minds, and the best between the ends."""
    rows = [row for row in data.summary["results"] if row["score"] is not None]
    if not rows:
        return "nobody has a score"
    found = places(data)
    top = best(found)
    if top is None:
        row = max(rows, key=lambda row: row["score"])
        if found:
            return f"{len(rows)} minds"
        return f"{len(rows)} minds; highest {row['mind']}, {number(row['score'])}"
    ends = f" {interval(top.interval)}" if top.interval else ""
    return f"{len(rows)} minds; nearest the ceiling {top.mind}, {number(top.value)}{ends}"


def _rows(data: TestData) -> list[dict[str, Any]]:
    """Build the table of scores, best first: a mind's figures, its end of the scale, its traits."""
    from allminds.report.charts.drawing import short_names

    numbers = {mind: short.rpartition(" #") for mind, short in short_names(data.minds).items()}
    rows = []
    for row in best_first(data.summary["results"]):
        mind = row["mind"]
        sign = f"#{numbers[mind][2]}" if numbers[mind][1] else ""  # as in the plots
        traits = data.traits.get(mind, "")
        note = row["end"] or sign
        note = note if row["ranked"] or row["score"] is None else f"{note} not ranked".strip()
        rows.append(row | {"note": note, "traits": traits})
    return rows


def _figures(data: TestData) -> list[dict[str, Any]]:
    """Draw the plots with their captions and figures; none where there is nothing to plot."""
    from allminds.report.charts import plots

    found: list[dict[str, Any]] = []
    if data.points:
        what = plots.measured(data).capitalize()
        caption = f"{what} against complexity {data.column}, with 95 % intervals."
        caption += f" {data.column} is put into bins of equal width." if data.binned else ""
        if plots.cut_intervals(data):
            caption += " Intervals that leave the picture are cut; the table has them whole."
        panels, kind = plots.score_panels(data), "score"
        found.append({"kind": kind, "caption": caption, "panels": panels, "points": data.points})
    if data.curve and not _flat(data.curve):
        caption = "Learning inside an episode: mean reward at each step."
        if data.curve[0].last > data.curve[0].first:
            caption = "Learning inside an episode: mean reward a step, over stretches of steps."
        caption = caption[:-1] + ", of all slots." if _seats(data) else caption
        panels, kind = plots.learning_panels(data), "learning"
        found.append({"kind": kind, "caption": caption, "panels": panels, "across": "step"})
        found[-1] |= {"curve": data.curve, "minds": _with_a_line(data, data.curve)}
    if data.path:
        caption = "The path: complexity given to each mind, as it rises and falls with its success."
        panels, kind = plots.path_panels(data), "path"
        found.append({"kind": kind, "caption": caption, "panels": panels, "across": "exercise"})
        found[-1] |= {"curve": data.path, "minds": _with_a_line(data, data.path)}
    for figure in found:
        figure |= {"column": data.column, "measured": plots.measured(data)}
    return found


def _with_a_line(data: TestData, stretches: Sequence[Stretch]) -> list[str]:
    """List the minds that have a line."""
    return [mind for mind in data.minds if any(mind in stretch.means for stretch in stretches)]


# ---------------------------------------------------------------- a design of many cells


def table_of_cells(design: Design, tests: Sequence[TestData]) -> dict[str, Any]:
    """Collect what the page shows of a crossed design: a table of all cells, not a section each."""
    cells = [tests[number] for number in design.cells]
    settings = dict(cells[0].summary["settings"])
    for data in cells:
        for name, value in data.summary["settings"].items():
            if name in settings and settings[name] != value:
                del settings[name]
    tool = cells[0].tool
    rows = [row for data in cells for row in _cell_rows(data)]
    return {
        "tool": tool,
        "about": first_line(tool),
        "settings": settings_text(settings),
        "factors": design.levels,
        "cells": len(cells),
        "episodes": cells[0].test.exercises,
        "rows": rows,
    }


def _cell_rows(data: TestData) -> list[dict[str, Any]]:
    """List the minds of one cell, by the words they are made of."""
    shown, levels = by_words(data.words), list(data.test.levels.values())
    return [
        row | {"levels": levels, "shown": shown[row["mind"]]} for row in data.summary["results"]
    ]
