"""Figures written to files, .svg or .png, whole or not at all; and the plots of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from allminds.core.errors import Error
from allminds.core.files import write_bytes
from allminds.report.charts import drawing, ink
from allminds.report.charts.drawing import STYLES, Mark, Style

MOST_LINES = 10  # more than these an eye cannot tell apart by dash
LIKE_COLOUR = {"floor": drawing.FLOOR, "ceiling": drawing.CEILING}


def check_name(out: Path) -> None:
    """Require a name that a figure can have, before any work is done for it."""
    if out.suffix not in (".svg", ".png"):
        raise Error(f"cannot draw {out}: name a file that ends in .svg or .png")


def save(svg: str, out: Path) -> Path:
    """Write a picture to a file that ends in .svg or .png, whole or not at all."""
    check_name(out)
    svg = ink.on_white(svg)
    return write_bytes(out, svg.encode() if out.suffix == ".svg" else png(svg, scale=2.0))


def png(svg: str, scale: float = 1.0) -> bytes:
    """Convert an SVG picture to PNG."""
    try:
        import vl_convert
    except ImportError:
        raise Error(
            "PNG needs vl-convert-python, which is not installed; name an .svg file, or: "
            "pip install 'allminds[plot]'"
        ) from None
    made: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return made


# ---------------------------------------------------------------- the plots of commands


def draw_lines(
    points: Sequence[tuple[str, float, float]],
    x_title: str,
    y_title: str,
    out: Path,
    y_domain: tuple[float, float] | None = None,
) -> None:
    """Draw (name, x, y) as lines with their own colour, dash, symbol and name; .svg or .png."""
    names = list(dict.fromkeys(name for name, _, _ in points))
    if len(names) > MOST_LINES:
        raise Error(f"{len(names)} lines are too many for one figure; {MOST_LINES} will do")
    marks: list[Mark] = []
    for number, name in enumerate(names):
        own = [(x, y) for one, x, y in points if one == name]
        every = max(1, len(own) // 6)
        marks += [Mark(name, x, y, y, y, (n + number) % every == 0) for n, (x, y) in enumerate(own)]
    save(line_plot(marks, styles_of(names), (x_title, y_title), y_domain), out)


def line_plot(
    marks: Sequence[Mark],
    styles: dict[str, Style],
    titles: tuple[str, str],
    y_domain: tuple[float, float] | None = None,
) -> str:
    """Draw lines with their names at their ends, in one panel."""
    low, high = min(mark.x for mark in marks), max(mark.x for mark in marks)
    margin = 0.0 if high > low else 0.5
    whole = high - low <= 12 and all(float(mark.x).is_integer() for mark in marks)
    ticks = tuple(range(int(low), int(high) + 1)) if whole else ()
    (made,) = drawing.panels(
        marks, [styles], drawing.short_names(list(styles)),
        (titles[0], (low - margin, high + margin)),
        (titles[1], y_domain or drawing.y_domain(marks)), ticks,
    )  # fmt: skip
    return made


def styles_of(names: Sequence[str]) -> dict[str, Style]:
    """Give every line a style; those beyond the first six mix the parts of the first anew."""
    found = {}
    for n, name in enumerate(names):
        first, lap = STYLES[n % len(STYLES)], n // len(STYLES)
        dash, shape = (STYLES[(n + step * lap) % len(STYLES)] for step in (2, 3))
        found[name] = replace(first, dash=dash.dash, shape=shape.shape)
    return found


def score_plot(rows: Sequence[dict[str, Any]], title: str) -> str:
    """Draw a dot and its 95 % interval for every mind, in the order given."""
    marks = [
        Mark(row["mind"], 0, row["score"], *(row["ci95"] or (row["score"], row["score"])))
        for row in rows
        if row["score"] is not None
    ]
    if not marks:
        raise Error("no mind has a score to draw")
    ends = {row["mind"]: row.get("end") for row in rows}
    styles = {mark.mind: LIKE_COLOUR.get(ends[mark.mind] or "", STYLES[0]) for mark in marks}
    values = [end for mark in marks for end in (mark.low, mark.high)]
    margin = 0.04 * (max(values) - min(values)) or 0.1
    domain = (min(values) - margin, max(values) + margin)
    labels = drawing.short_names([mark.mind for mark in marks])
    return drawing.dots(marks, styles, ("", f"{title}, with 95 % intervals"), domain, labels)
