"""Plots of the papers' figures, in the size and the look of a report's plots.

Lines, densities and heat maps come first; then what the papers print and a report has no use for:
marks on curves, bars, clouds and boxes, drawn by hand with `report.charts.ink`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.report.charts import ink
from allminds.report.charts.drawing import (
    HEIGHT,
    LABEL_GAP,
    STYLES,
    TOP,
    WIDTH,
    Mark,
    Style,
    panels,
    spread,
)

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


# ---------------------------------------------------------------- marks and distributions


Points = Sequence[tuple[float, float]]
Axis = tuple[str, tuple[float, float]]  # title and domain


def _box(x: Axis, y: Axis, room: float = 12) -> ink.Box:
    left = ink.y_room(y[1])
    return ink.Box(left, TOP, WIDTH - left - room, HEIGHT, x[1], y[1])


def _whole(box: ink.Box, x: Axis, y: Axis, parts: Sequence[str], at: Sequence[float] = ()) -> str:
    axes = [ink.y_axis(box, y[0]), ink.x_axis(box, x[0], at)]
    return ink.picture(WIDTH, box.bottom + ink.depth(), [*axes, *parts])


# ---------------------------------------------------------------- curves with marks


def marked_curves(
    curves: Mapping[str, Points], behind: Mapping[str, Points], stars: Points, x: Axis, y: Axis
) -> str:
    """Plot named curves over dotted markers of the same names, with a * at some places."""
    box = _box(x, y, 32 + ink.LETTER * max(map(len, curves)))
    styles = dict(zip(curves, STYLES, strict=False))
    parts = []
    for name, points in behind.items():
        places = [(box.x(a), box.y(b)) for a, b in points]
        parts.append(ink.symbols("circle", places, styles[name].colour, 1.4))
    for name, points in curves.items():
        style = styles[name]
        places = [(box.x(a), box.y(b)) for a, b in points]
        parts.append(ink.line(places, style.colour, 1.6, style.dash))
    parts.append(_end_names(box, curves, styles))
    parts += [_star(box.x(a), box.y(b)) for a, b in stars]
    return _whole(box, x, y, parts)


def _end_names(box: ink.Box, curves: Mapping[str, Points], styles: Mapping[str, Style]) -> str:
    """Write the names beside the ends of their curves, apart from each other."""
    names = list(curves)[::-1]
    ends = [-box.y(curves[name][-1][1]) for name in names]
    parts = []
    for name, place in zip(names, spread(ends, LABEL_GAP, -box.bottom, -box.top), strict=True):
        colour = styles[name].colour
        tie = (box.right, box.y(curves[name][-1][1]), box.right + 12, -place)
        parts.append(ink.rules([tie], colour, 0.8, 0.7))
        parts.append(ink.text(box.right + 16, -place, name))
    return "".join(parts)


def _star(x: float, y: float) -> str:
    """Draw the * by which a paper marks a place."""
    arms = [(x + 6 * np.cos(t), y + 6 * np.sin(t)) for t in np.pi * (np.arange(6) / 3 + 1 / 6)]
    halo = ink.symbols("circle", [(x, y)], "#fff", 5)
    return halo + ink.rules([(x, y, a, b) for a, b in arms], ink.INK, 1.8)


# ---------------------------------------------------------------- distributions


def r_bandwidth(values: NDArray[np.float64]) -> float:
    """Compute the bandwidth that R's `density` uses by default (Silverman's rule, `bw.nrd0`)."""
    low, high = np.quantile(values, [0.25, 0.75])
    sd = float(values.std(ddof=1))
    least = min(sd, float(high - low) / 1.34) or sd or 1.0
    return float(0.9 * least * len(values) ** -0.2)


def histogram(values: NDArray[np.float64], x_title: str, width: float, top: float) -> str:
    """Plot a histogram of densities in bins of a width over -1..1, with R's kernel estimate."""
    edges = np.arange(-1, 1 + width / 2, width)
    heights, _ = np.histogram(values, edges, density=True)
    grid = np.linspace(-1.2, 1.2, 121)
    h = r_bandwidth(values)
    kernel = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / h) ** 2)
    density = kernel.sum(axis=1) / (len(values) * h * np.sqrt(2 * np.pi))
    x, y = (x_title, (-1.2, 1.2)), ("density", (0.0, top))
    box = _box(x, y)
    parts = [
        _bar(box, low, high, height)
        for low, high, height in zip(edges[:-1], edges[1:], heights, strict=True)
    ]
    places = [(box.x(a), box.y(b)) for a, b in zip(grid, density, strict=True)]
    parts.append(ink.line(places, STYLES[1].colour, 2))
    return _whole(box, x, y, parts)


def _bar(box: ink.Box, low: float, high: float, height: float) -> str:
    return (
        f'<rect x="{box.x(low):.1f}" y="{box.y(height):.1f}" '
        f'width="{box.x(high) - box.x(low):.1f}" height="{box.bottom - box.y(height):.1f}" '
        f'fill="#dce8f2" stroke="{STYLES[0].colour}"/>'
    )


def cloud(named: Mapping[str, Points], x: Axis, y: Axis) -> str:
    """Plot every point of named samples, each with a symbol of its own, and their names above."""
    box = _box(x, y)
    parts = []
    for n, ((name, points), style) in enumerate(zip(named.items(), STYLES, strict=False)):
        places = [(box.x(a), box.y(b)) for a, b in points]
        parts.append(ink.symbols(style.shape, places, style.colour, 2.4))
        at = box.right - 150 * (len(named) - n) + 30
        parts.append(ink.symbols(style.shape, [(at, TOP - 14)], style.colour, 3.6))
        parts.append(ink.text(at + 8, TOP - 14, f"{name} ({len(points)})"))
    return _whole(box, x, y, parts)


def boxes_beside(
    samples: Mapping[str, pd.DataFrame], by: str, value: str, x_title: str, y: Axis
) -> str:
    """Plot box plots of named samples side by side, with their means joined by a line each.

    Boxes are quartiles, the black segment the median, and whiskers reach the furthest value
    within 1.5 box lengths, as R draws them; values beyond are dots.
    """
    keys = sorted({float(key) for frame in samples.values() for key in frame[by]})
    x: Axis = (x_title, (keys[0] - 0.6, keys[-1] + 0.6))
    box = _box(x, y)
    wide = 0.7 / len(samples)
    parts = []
    for n, ((name, frame), style) in enumerate(zip(samples.items(), STYLES, strict=False)):
        middle = (n - (len(samples) - 1) / 2) * wide
        means = []
        for key in keys:
            of = frame.loc[frame[by] == key, value].to_numpy()
            parts.append(_one_box(box, key + middle, 0.42 * wide, of, style.colour))
            means.append((box.x(key + middle), box.y(float(of.mean()))))
        dash = () if n == 0 else (5, 4)
        parts.append(ink.line(means, style.colour, 1.8, dash))
        parts.append(ink.symbols(style.shape, means, style.colour, 2.6))
        at = box.right - 130 * (len(samples) - n) + 30
        parts.append(ink.line([(at - 22, TOP - 14), (at + 2, TOP - 14)], style.colour, 1.8, dash))
        parts.append(ink.text(at + 8, TOP - 14, name))
    return _whole(box, x, y, parts, keys)


def _one_box(box: ink.Box, at: float, half: float, values: NDArray[np.float64], colour: str) -> str:
    low, middle, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = 1.5 * (high - low)
    inside = values[(values >= low - reach) & (values <= high + reach)]
    bottom, top = float(inside.min()), float(inside.max())
    outside = values[(values < low - reach) | (values > high + reach)]
    x, left, right = box.x(at), box.x(at - half), box.x(at + half)
    whiskers = [(x, box.y(bottom), x, box.y(low)), (x, box.y(high), x, box.y(top))]
    return (
        ink.rules(whiskers, colour)
        + f'<rect x="{left:.1f}" y="{box.y(high):.1f}" width="{right - left:.1f}" '
        f'height="{box.y(low) - box.y(high):.1f}" fill="#fff" stroke="{colour}"/>'
        + ink.rules([(left, box.y(middle), right, box.y(middle))], "#000", 2.4)
        + ink.symbols("circle", [(x, box.y(float(v))) for v in outside], colour, 1.6)
    )
