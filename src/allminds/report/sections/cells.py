"""A crossed design of many cells: one table of all of them instead of a section for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.core.settings import settings_text
from allminds.report.data import TestData
from allminds.report.designs import Design, by_words
from allminds.report.words import first_line


def section(design: Design, tests: Sequence[TestData]) -> dict[str, Any]:
    """Collect what the page shows about the cells of a design."""
    cells = [tests[number] for number in design.cells]
    settings = dict(cells[0].summary["settings"])
    for data in cells:
        for name, value in data.summary["settings"].items():
            if name in settings and settings[name] != value:
                del settings[name]
    tool = cells[0].tool
    rows = [row for data in cells for row in _rows(data)]
    return {
        "tool": tool,
        "about": first_line(tool),
        "settings": settings_text(settings),
        "factors": design.levels,
        "cells": len(cells),
        "episodes": cells[0].test.episodes,
        "rows": rows,
    }


def _rows(data: TestData) -> list[dict[str, Any]]:
    """List the minds of one cell, by the words they are made of."""
    shown, levels = by_words(data.words), list(data.test.levels.values())
    return [
        row | {"levels": levels, "shown": shown[row["mind"]]} for row in data.summary["results"]
    ]
