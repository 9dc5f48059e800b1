"""Plots in the look of the report, for the figures of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.report.charts import ink
from allminds.report.charts.drawing import STYLES, WIDTH, Mark, panels

if TYPE_CHECKING:
    import pandas as pd

Line = Sequence[tuple[float, float]]
CELL = 26  # units from one row of cells to the next


def lines(
    named: Mapping[str, Line],
    x_title: str,
    y_title: str,
    y_domain: tuple[float, float],
) -> str:
    """Plot named lines, with each name at the line's end."""
    marks = [
        Mark(name, x, y, y, y, shown=number % max(1, len(line) // 6) == 0)
        for name, line in named.items()
        for number, (x, y) in enumerate(line)
    ]
    styles = dict(zip(named, STYLES * 3, strict=False))
    xs = [mark.x for mark in marks]
    labels = {name: name for name in styles}
    (made,) = panels(marks, [styles], labels, (x_title, (min(xs), max(xs))), (y_title, y_domain))
    return made


def density(
    values: Mapping[str, NDArray[np.float64]], x_title: str, mark: float | None = None
) -> str:
    """Plot kernel density estimates of named samples.

    `mark` is a value to compare with, drawn as a vertical line ("theirs").
    """
    from scipy.stats import gaussian_kde

    ends = [end for of in values.values() for end in (float(of.min()), float(of.max()))]
    grid = np.linspace(min(ends), max(ends), 61)
    drawn: dict[str, Line] = {
        name: list(zip(grid, gaussian_kde(of)(grid), strict=True)) for name, of in values.items()
    }
    top = 1.08 * max(y for line in drawn.values() for _, y in line)
    if mark is not None:
        drawn["theirs"] = [(mark, 0.0), (mark, top)]
    return lines(drawn, x_title, "density", (0, top))


def heat(frame: pd.DataFrame, x: str, y: str, value: str) -> str:
    """Plot a value over two factors, darker where it is more, with its figure in each cell."""
    across, up = ([str(level) for level in frame[name].drop_duplicates()] for name in (x, y))
    found = {
        (str(row[x]), str(row[y])): float(row[value])
        for row in frame.to_dict("records")
        if not np.isnan(row[value])
    }
    low, high = min(found.values()), max(found.values())
    left = 16 + ink.LETTER * max(map(len, [*up, y]))
    wide = max(36.0, (WIDTH - left - 12) / len(across))
    box = ink.Box(left, 24, wide * len(across), CELL * len(up), (0, len(across)), (len(up), 0))
    parts = [ink.text(box.left - 8, 12, y, "end")]
    for (one, other), number in found.items():
        at, row = across.index(one), up.index(other)
        ends = (box.x(at), box.y(row), box.x(at + 1), box.y(row + 1))
        share = (number - low) / (high - low) if high > low else 0.5
        parts.append(ink.bar(*ends, _blue(share)))
        middle = ((ends[0] + ends[2]) / 2, (ends[1] + ends[3]) / 2)
        parts.append(ink.text(*middle, f"{number:.2f}".replace("-", "−"), "middle"))
    parts += [ink.text(box.left - 8, box.y(n + 0.5), name, "end") for n, name in enumerate(up)]
    longest = ink.LETTER * max(map(len, across))
    turned = longest > wide
    for n, name in enumerate(across):
        place = (box.x(n + 0.5), box.bottom + 12)
        parts.append(
            ink.text(*place, name, "end", turned=-40) if turned
            else ink.text(*place, name, "middle")
        )  # fmt: skip
    below = box.bottom + (30 + 0.65 * longest if turned else 34)
    parts.append(ink.text((box.left + box.right) / 2, below, x, "middle"))
    return ink.picture(box.right + 12, below + 12, parts)


def _blue(share: float) -> str:
    """Mix the colour of a cell, from nearly white to a light blue."""
    pale, deep = (0xF7, 0xFB, 0xFF), (0x8F, 0xBB, 0xDC)
    mixed = (round(a + share * (b - a)) for a, b in zip(pale, deep, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
