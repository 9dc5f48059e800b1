"""Plots in the look of the report, for the figures of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.report.drawing import HEIGHT, PADDING, STYLES, WIDTH, Mark, dressed, panels

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Line = Sequence[tuple[float, float]]


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


def boxes(frame: pd.DataFrame, by: str, value: str, x_title: str, y_title: str) -> str:
    """Plot quartiles, 5th and 95th percentile, and means joined by a line."""
    import altair as alt

    shares = {"low": 0.05, "first": 0.25, "median": 0.5, "third": 0.75, "high": 0.95}
    rows = [
        {"x": key, "mean": float(of.mean())} | {n: float(of.quantile(q)) for n, q in shares.items()}
        for key, of in frame.groupby(by)[value]
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:O", title=x_title, axis=alt.Axis(labelAngle=0))
    )
    y = {"title": y_title}
    chart = alt.layer(
        base.mark_rule().encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_bar(size=22, color="#b9d3e6", stroke="#0072b2").encode(
            y=alt.Y("first:Q", **y), y2="third:Q"
        ),
        base.mark_tick(size=22, thickness=2, color="#000").encode(y=alt.Y("median:Q", **y)),
        base.mark_line(color="#d55e00", point=True).encode(y=alt.Y("mean:Q", **y)),
    )
    return _svg(chart)


def heat(frame: pd.DataFrame, x: str, y: str, value: str) -> str:
    """Plot a value over two factors, darker where it is more, with its figure in each cell."""
    import altair as alt

    rows = [{"x": row[x], "y": row[y], "value": float(row[value])} for _, row in frame.iterrows()]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:O", title=x, axis=alt.Axis(labelAngle=-40, labelLimit=0)),
        y=alt.Y("y:O", title=y, axis=alt.Axis(labelLimit=0)),
    )
    colour = alt.Color("value:Q", legend=None, scale=alt.Scale(range=["#f7fbff", "#8fbbdc"]))
    figure = alt.Text("value:Q", format=".2f")
    return _svg(
        alt.layer(
            base.mark_rect().encode(color=colour), base.mark_text(size=10).encode(text=figure)
        )
    )


def _svg(chart: alt.LayerChart) -> str:
    import vl_convert

    sized = chart.properties(width=WIDTH - 60, height=HEIGHT, padding=PADDING)
    made: str = vl_convert.vegalite_to_svg(dressed(sized).to_dict())
    return made
