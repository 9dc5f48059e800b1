"""Matrices drawn: problems a second as SVG and as PNG files, on one core."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from measure import Effort, Table, times

from allminds.instruments.matrices.drawing.eyes import solved
from allminds.instruments.matrices.drawing.raster import composite_png, panel_png, panel_rgb
from allminds.instruments.matrices.drawing.svg import composite_svg, matrix_svg, panel_svg
from allminds.instruments.matrices.making.generator import batch
from allminds.instruments.matrices.making.panel import Problem

PUBLIC = 20.0  # problems a second of public generators with their images, by the specification
TARGETS = {"composite SVG": 3000.0, "12 PNG panels": 200.0}
WARMING = 300  # problems drawn before the clock starts: stamps of most glyphs


def panels_svg(problem: Problem) -> None:
    """Eight cells and the options, each a document."""
    for panel in (*problem.cells[:8], *problem.options):
        panel_svg(panel)


def panels_png(problem: Problem) -> None:
    """Eight cells and the options, each a file."""
    for panel in (*problem.cells[:8], *problem.options):
        panel_png(panel)


def from_pixels(problem: Problem) -> None:
    """Rendered, recovered and solved."""
    drawn = [panel_rgb(panel) for panel in (*problem.cells[:8], *problem.options)]
    solved(drawn[:8], drawn[8:])


WAYS: dict[str, Callable[[Problem], object]] = {
    "composite SVG": composite_svg,
    "matrix SVG": matrix_svg,
    "12 SVG panels": panels_svg,
    "12 PNG panels": panels_png,
    "composite PNG": composite_png,
    "solved from pixels": from_pixels,
}


def drawing(effort: Effort) -> Table:
    """Problems a second of every way to draw them; each problem is drawn once, by one way."""
    first = 0
    rows = []
    for name, way in WAYS.items():
        once, first = seconds(way, first, WARMING)
        each = max(20, int(effort.seconds / once))
        best = math.inf
        for _ in range(effort.repeats):
            spent, first = seconds(way, first, each)
            best = min(best, spent)
        rows.append([name, f"{1 / best:,.0f}", times(1 / best / PUBLIC), _target(name, 1 / best)])
    return Table(
        "Matrices drawn",
        "One core; problems made beforehand, each drawn once. Public generators write about "
        f"{PUBLIC:.0f} problems a second with their images.",
        ("way", "problems/s", "x public", "target"),
        rows,
    )


def seconds(way: Callable[[Problem], object], first: int, count: int) -> tuple[float, int]:
    """Seconds a problem, for problems that nobody has drawn yet; and the number of the next."""
    fresh = list(batch(1, range(first, first + count)))
    start = time.perf_counter()
    for problem in fresh:
        way(problem)
    return (time.perf_counter() - start) / count, first + count


def _target(name: str, rate: float) -> str:
    wanted = TARGETS.get(name)
    if wanted is None:
        return ""
    return f">= {wanted:,.0f}/s {'met' if rate >= wanted else 'MISSED'}"


if __name__ == "__main__":
    from rich.console import Console

    drawing(Effort(0.5, 3)).show(Console(width=120))
