"""Score against complexity, as a chart for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.inference import plain_interval
from allminds.report.drawing import CEILING, FLOOR, STYLES, Mark, Style, y_domain

if TYPE_CHECKING:
    import altair as alt

Floats = NDArray[np.float64]
MOST_VALUES, BINS = 24, 16  # more values of a complexity than this are put into bins
WIDTH, HEIGHT = 460, 280


def complexity_chart(
    scores: Mapping[str, tuple[Floats, Floats]], column: str, ends: Sequence[str | None]
) -> alt.LayerChart:
    """Draw mean scores with 95 % intervals at every complexity, a line for each mind.

    `scores` has the complexity and the score of every exercise by mind, NaN where it is missing;
    `ends` are the floor and the ceiling. A point without a rule has no interval.
    """
    import altair as alt

    points = [point for mind, (at, score) in scores.items() for point in _points(mind, at, score)]
    styles = _styles(list(scores), ends)
    keys = {
        "color": alt.Color("mind:N", title=None, scale=_scale(styles, "colour")),
        "shape": alt.Shape("mind:N", title=None, scale=_scale(styles, "shape")),
    }
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("at:Q", title=f"complexity {column}", scale=alt.Scale(zero=False)),
        tooltip=["mind:N", "at:Q", "score:Q", "low:Q", "high:Q", "exercises:Q"],
    )
    marks = []
    for p in points:
        low, high = (p["low"], p["high"]) if p["low"] is not None else (p["score"], p["score"])
        marks.append(Mark(p["mind"], p["at"], p["score"], low, high))
    scale = alt.Scale(domain=list(y_domain(marks)), nice=False)  # a long interval is cut
    y = alt.Y("score:Q", title="score, with 95 % intervals", scale=scale)
    dash = alt.StrokeDash("mind:N", title=None, scale=_scale(styles, "dash"))
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(clip=True)
        .encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=keys["color"]),
        base.mark_line(strokeWidth=1.5).encode(y=y, color=keys["color"], strokeDash=dash),
        base.mark_point(filled=True, size=45, opacity=1).encode(y=y, **keys),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _points(mind: str, at: Floats, score: Floats) -> Iterator[dict[str, Any]]:
    """Yield the mean at every value of a complexity, or in every bin where there are many."""
    if len(np.unique(at)) > MOST_VALUES:
        edges = np.linspace(at.min(), at.max(), BINS + 1)
        place = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, BINS - 1)
        at = (edges[place] + edges[place + 1]) / 2
    there = ~np.isnan(score)
    at, score = at[there], score[there]
    for value in np.unique(at):
        here = score[at == value]
        mean, count = float(here.mean()), len(here)
        stderr = float(here.std(ddof=1)) / count**0.5 if count > 1 else 0.0
        low, high = plain_interval(mean, stderr, count) or (None, None)
        yield {
            "mind": mind, "at": float(value), "score": mean, "low": low, "high": high,
            "exercises": count,
        }  # fmt: skip


def _styles(minds: Sequence[str], ends: Sequence[str | None]) -> dict[str, Style]:
    """Give a style to each mind; where there are more minds than styles, they begin again."""
    fixed = dict(zip(ends, (FLOOR, CEILING), strict=True))
    others = [mind for mind in minds if mind not in fixed]
    given = {mind: STYLES[n % len(STYLES)] for n, mind in enumerate(others)}
    return {mind: fixed.get(mind) or given[mind] for mind in minds}


def _scale(styles: dict[str, Style], part: str) -> alt.Scale:
    import altair as alt

    values = [getattr(style, part) for style in styles.values()]
    return alt.Scale(domain=list(styles), range=[list(v) if part == "dash" else v for v in values])
