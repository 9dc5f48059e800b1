"""Drawing as SVG text: told apart without colour, legible on a phone, nothing fetched.

A plot is some 410 units wide with type of 13, so that it can shrink to a phone's width or grow to
a column of print. A line is named at its end.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 410, 240  # of the whole with its labels; of the plot inside
LABEL_GAP = 15  # units from one label to the next
LONGEST_LABEL = 18  # letters
PADDING = {"left": 4, "top": 8, "bottom": 4, "right": 10}  # fonts differ a little in width
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
    Style("#0072b2", (10, 1.5), "circle"),
    Style("#d55e00", (7, 3), "square"),
    Style("#117733", (3, 2), "triangle-up"),
    Style("#aa4499", (9, 3, 2, 3), "triangle-down"),
    Style("#997700", (5, 2, 1, 2, 1, 2), "triangle-right"),
    Style("#882255", (5, 5), "triangle-left"),
)


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
class Frame:
    """What the panels of a figure have in common."""

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
) -> list[str]:
    """A panel for each share of the minds, all of one frame; an axis is a title and a domain."""
    longest = max(len(labels[mind]) for share in shares for mind in share)
    room = 26 + 6.6 * longest
    frame = Frame(x[0], y[0], x[1], y[1], room, ticks, tick_lines)
    return same_width(
        [
            svg(frame, [mark for mark in marks if mark.mind in share], share, labels)
            for share in shares
        ]
    )


def same_width(svgs: Sequence[str]) -> list[str]:
    """Plots as wide as the widest, so that type has one size in all of them."""
    size = re.compile(r'<svg([^>]*) width="([\d.]+)"([^>]*) viewBox="0 0 [\d.]+ ')
    found = [size.search(svg) for svg in svgs]
    widest = max((match[2] for match in found if match), key=float, default="0")
    return [
        size.sub(rf'<svg\1 width="{widest}"\3 viewBox="0 0 {widest} ', svg, count=1) for svg in svgs
    ]


def evenly(names: Sequence[str], most: int) -> list[list[str]]:
    """The names in as few lots of at most `most` as will do, of nearly one size."""
    lots = max(1, math.ceil(len(names) / most))
    size = max(1, math.ceil(len(names) / lots))
    return [list(names[first : first + size]) for first in range(0, max(len(names), 1), size)]


# ---------------------------------------------------------------- places and names
def y_domain(marks: Iterable[Mark]) -> tuple[float, float]:
    """Room for all means, and for intervals as far as they do not dwarf the means."""
    marks = list(marks)
    low, high = min(mark.y for mark in marks), max(mark.y for mark in marks)
    reach = 0.5 * (high - low) or 0.1
    bottom = min(max(mark.low, low - reach) for mark in marks)
    top = max(min(mark.high, high + reach) for mark in marks)
    margin = 0.04 * (top - bottom) or 0.05
    return bottom - margin, top + margin


def short_names(minds: Sequence[str]) -> dict[str, str]:
    """Names that fit beside a line. Long ones that would look alike are numbered instead."""
    cut = {mind: _shortened(mind) for mind in minds}
    alike = Counter(cut.values())
    return {
        mind: cut[mind] if cut[mind] == mind or alike[cut[mind]] == 1 else _numbered(mind, number)
        for number, mind in enumerate(minds, 1)
    }


def _numbered(mind: str, number: int) -> str:
    return f"{mind.partition('(')[0][: LONGEST_LABEL - 4]} #{number}"


def _shortened(mind: str) -> str:
    """Without the folders of a file, and then without its middle."""
    if len(mind) <= LONGEST_LABEL:
        return mind
    mind = re.sub(r"[^(),*]*/(?=[^/(),*]*\.py:)", "", mind)
    half = LONGEST_LABEL // 2
    return mind if len(mind) <= LONGEST_LABEL else f"{mind[:half]}…{mind[1 - half :]}"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as can be to those wanted, `gap` apart and, if they fit, within low..high."""
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
    frame: Frame, marks: Sequence[Mark], styles: dict[str, Style], labels: dict[str, str]
) -> str:
    """One panel."""
    import altair as alt
    import vl_convert

    keys = {mind: str(number) for number, mind in enumerate(styles)}
    data = [_row(mark, keys[mark.mind], frame) for mark in _ordered(marks, keys)]
    ends = _ends(data, {keys[mind]: labels[mind] for mind in keys}, frame)
    chart = alt.layer(*_lines(frame, styles), *_names(frame, styles))
    chart = chart.properties(width=_inside(frame), height=HEIGHT, padding=PADDING)
    drawing = dressed(chart).to_dict()
    drawing["datasets"] = {"points": data, "ends": ends}  # last: altair would copy and check them
    made: str = vl_convert.vegalite_to_svg(drawing)
    return made


def _ordered(marks: Sequence[Mark], keys: dict[str, str]) -> list[Mark]:
    return sorted(marks, key=lambda mark: (int(keys[mark.mind]), mark.x))


def _row(mark: Mark, key: str, frame: Frame) -> dict[str, Any]:
    low, high = frame.y_domain
    return {
        "key": key,
        "x": mark.x,
        "y": mark.y,
        "low": max(mark.low, low),
        "high": min(mark.high, high),
        "shown": mark.shown,
    }


def _inside(frame: Frame) -> float:
    return WIDTH - frame.room - 44  # for the axis at the left


def _ends(
    data: Sequence[dict[str, Any]], labels: dict[str, str], frame: Frame
) -> list[dict[str, Any]]:
    """The last point of every line, and where its name goes so that no two collide."""
    last = {row["key"]: row for row in data}
    last = dict(reversed(last.items()))  # of two that end together, the first stands above
    bottom, top = frame.y_domain
    unit = (top - bottom) / HEIGHT
    places = spread([row["y"] for row in last.values()], LABEL_GAP * unit, bottom, top)
    return [
        {"key": key, "x": row["x"], "y": row["y"], "place": place, "name": labels[key]}
        for (key, row), place in zip(last.items(), places, strict=True)
    ]


def _lines(frame: Frame, styles: dict[str, Style]) -> list[alt.Chart]:
    """Intervals, lines and symbols."""
    import altair as alt

    base = alt.Chart(alt.NamedData("points"))
    base = base.encode(x=_x(frame), y=_y(frame, "y"), **_colour(styles))
    rules = base.mark_rule(strokeWidth=1, opacity=0.65).encode(y=_y(frame, "low"), y2="high:Q")
    symbols = base.transform_filter("datum.shown").mark_point(filled=True, size=26, opacity=1)
    lines = base.mark_line(strokeWidth=1.6).encode(strokeDash=_dash(styles))
    return [rules, lines, symbols.encode(shape=_shape(styles))]


def _names(frame: Frame, styles: dict[str, Style]) -> list[alt.Chart]:
    """The names at the right, each with its symbol and tied to the end of its line."""
    import altair as alt

    edge = _inside(frame)
    base = alt.Chart(alt.NamedData("ends"))
    colour = _colour(styles)
    ties = base.mark_rule(strokeWidth=0.8, opacity=0.7).encode(
        x=_x(frame), y=_y(frame, "y"), x2=alt.value(edge + 12), y2="place:Q", **colour
    )
    symbols = base.mark_point(filled=True, size=40, opacity=1).encode(
        x=alt.value(edge + 18), y=_y(frame, "place"), shape=_shape(styles), **colour
    )
    names = base.mark_text(align="left", baseline="middle", color="#222").encode(
        x=alt.value(edge + 26), y=_y(frame, "place"), text="name:N"
    )
    return [ties, symbols, names]


def _x(frame: Frame) -> alt.X:
    import altair as alt

    axis: dict[str, Any] = {"values": list(frame.ticks), "labelOverlap": False}
    if frame.tick_lines:
        low, high = frame.x_domain
        axis["labelExpr"] = f"{json.dumps(frame.tick_lines)}[datum.value]"
        axis["labelLimit"] = _inside(frame) / (high - low) - 4
    shown = alt.Axis(**axis) if frame.ticks else alt.Axis()
    return alt.X("x:Q", title=frame.x_title, scale=_scale(frame.x_domain), axis=shown)


def _y(frame: Frame, field: str) -> alt.Y:
    """A field on the common vertical axis; all layers say the same title, so it stands once."""
    import altair as alt

    return alt.Y(f"{field}:Q", title=frame.y_title, scale=_scale(frame.y_domain))


def _scale(domain: tuple[float, float]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=list(domain), nice=False, zero=False)


def _of(styles: dict[str, Style], values: list[Any]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=[str(number) for number in range(len(styles))], range=values)


def _colour(styles: dict[str, Style]) -> dict[str, Any]:
    import altair as alt

    scale = _of(styles, [style.colour for style in styles.values()])
    return {"color": alt.Color("key:N", scale=scale, legend=None)}


def _dash(styles: dict[str, Style]) -> alt.StrokeDash:
    import altair as alt

    scale = _of(styles, [list(style.dash) for style in styles.values()])
    return alt.StrokeDash("key:N", scale=scale, legend=None)


def _shape(styles: dict[str, Style]) -> alt.Shape:
    import altair as alt

    scale = _of(styles, [style.shape for style in styles.values()])
    return alt.Shape("key:N", scale=scale, legend=None)


def dots(
    marks: Sequence[Mark],
    styles: dict[str, Style],
    titles: tuple[str, str],
    domain: tuple[float, float],
) -> str:
    """One row a mind: its name, its mean and its interval along a common axis."""
    import altair as alt
    import vl_convert

    keys = {mind: str(number) for number, mind in enumerate(styles)}
    longest = max(len(mind) for mind in styles)
    frame = Frame(*titles, (0, 1), domain, 0)
    rows = [_row(mark, keys[mark.mind], frame) | {"name": mark.mind} for mark in marks]
    axis = alt.Axis(
        labelLimit=0, grid=True, domain=False, ticks=False, labelPadding=8,
        titleAlign="right", titleX=-8,
    )  # fmt: skip
    base = alt.Chart(alt.NamedData("points")).encode(
        y=alt.Y("name:N", sort=None, title=titles[0], axis=axis), **_colour(styles)
    )

    def along(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=titles[1], scale=_scale(domain))

    rules = base.mark_rule(strokeWidth=1.4).encode(x=along("low"), x2="high:Q")
    symbols = base.mark_point(filled=True, size=46, opacity=1)
    symbols = symbols.encode(x=along("y"), shape=_shape(styles))
    chart = alt.layer(rules, symbols).properties(
        width=WIDTH - 22 - 6.6 * longest, height=24 * len(rows), padding=PADDING
    )
    drawing = dressed(chart).to_dict()
    drawing["datasets"] = {"points": rows}
    made: str = vl_convert.vegalite_to_svg(drawing)
    return made


def dressed(chart: alt.LayerChart) -> alt.LayerChart:
    """One type throughout; the vertical axis's title lies flat above it, to be read at a glance."""
    import altair as alt

    axis: dict[str, Any] = {
        "labelColor": "#222",
        "titleColor": "#222",
        "titleFontWeight": "normal",
        "domainColor": "#555",
        "tickColor": "#555",
        "tickCount": 6,
        "labelFlush": False,
        "labelFontSize": 13,
        "titleFontSize": 13,
    }
    flat: dict[str, Any] = {
        "titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleBaseline": "bottom",
        "titleX": -40, "titleY": -8, "gridColor": "#e4e4e4",
    }  # fmt: skip
    return (
        chart.configure(font=FONT, aria=False, autosize=alt.AutoSizeParams(type="pad"))
        .configure_axisX(grid=False, **axis)
        .configure_axisY(**axis, **flat)
        .configure_text(fontSize=13)
        .configure_view(stroke=None)
    )
