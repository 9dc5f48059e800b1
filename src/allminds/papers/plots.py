"""Plots that the papers print and a report has no use for: marks on curves, bars, clouds, boxes.

Everything is drawn by hand with `report.charts.ink`, in the size and the look of a report's plots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.report.charts import ink
from allminds.report.charts.drawing import HEIGHT, LABEL_GAP, STYLES, TOP, WIDTH, Style, spread

if TYPE_CHECKING:
    import pandas as pd

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
