"""Lines in the look of the report, for the figures of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allminds.report.drawing import STYLES, Mark, panels

Line = Sequence[tuple[float, float]]


def lines(
    named: Mapping[str, Line],
    x_title: str,
    y_title: str,
    y_domain: tuple[float, float],
) -> str:
    """A plot of named lines, each named at its end."""
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
