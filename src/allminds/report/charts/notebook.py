"""Charts for notebooks, by Altair (the extra `plot`), which a user can change as she likes.

Everything else that allminds draws is drawn by `drawing` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error
from allminds.inference import Difference, plain_interval
from allminds.report.charts.drawing import (
    CEILING,
    FLOOR,
    MOST_ROWS,
    NOTES,
    STYLES,
    VERDICTS,
    Mark,
    Style,
    y_domain,
)

if TYPE_CHECKING:
    import altair as alt

Floats = NDArray[np.float64]
MOST_VALUES, BINS = 24, 16  # more values of a complexity than this are put into bins
WIDTH, HEIGHT, ROW = 460, 280, 26


def need_altair() -> None:
    """Require Altair, which nothing but the charts of a notebook needs."""
    from importlib.util import find_spec

    if find_spec("altair") is None:
        raise Error("charts need Altair, which is not installed: pip install 'allminds[plot]'")


def score_chart(rows: Sequence[dict[str, Any]], title: str) -> alt.LayerChart:
    """Build a chart with a dot and its 95 % interval for every mind, in the order given."""
    need_altair()
    import altair as alt

    points = [
        {"mind": row["mind"], "score": row["score"], "low": low, "high": high}
        for row in rows
        if row["score"] is not None
        for low, high in [row["ci95"] or (row["score"], row["score"])]
    ]
    if not points:
        raise Error("no mind has a score to draw")
    axis = alt.Axis(labelLimit=0)
    base = alt.Chart(alt.Data(values=points)).encode(
        y=alt.Y("mind:N", title=None, sort=[point["mind"] for point in points], axis=axis),
        tooltip=["mind:N", "score:Q", "low:Q", "high:Q"],
    )
    scale = alt.Scale(zero=False)
    ends = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6)), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(x="score:Q")
    return (ends + dots).properties(width=WIDTH, height=ROW * len(points))


def difference_chart(rows: Sequence[tuple[str, Difference]]) -> alt.LayerChart:
    """Build the chart of named differences: 95 % intervals thin, 90 % thick, ±δ shaded."""
    need_altair()
    import altair as alt

    if not rows or len(rows) > MOST_ROWS:
        raise Error(f"cannot draw {len(rows)} differences in one figure; 1 to {MOST_ROWS} will do")
    margin = rows[0][1].margin
    data = [
        {
            "name": name, "place": place, "mean": one.mean, "verdict": one.verdict,
            "low": (one.interval or (one.mean,))[0], "high": (one.interval or (one.mean,))[-1],
            "low90": (one.interval90 or (one.mean,))[0],
            "high90": (one.interval90 or (one.mean,))[-1],
        }
        for place, (name, one) in enumerate(rows)
    ]  # fmt: skip
    colour, shape = (
        alt.Scale(domain=list(VERDICTS), range=[style[n] for style in VERDICTS.values()])
        for n in (0, 1)
    )
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("name:N", title=None, sort=alt.EncodingSortField("place"),
                axis=alt.Axis(labelLimit=0)),
        color=alt.Color("verdict:N", title=None, scale=colour),
        tooltip=["name:N", "mean:Q", "low:Q", "high:Q", "verdict:N"],
    )  # fmt: skip
    band = alt.Chart(alt.Data(values=[{"from": -margin, "to": margin, "zero": 0}]))
    across = {"title": list(NOTES), "scale": alt.Scale(zero=False)}
    layers = [
        band.mark_rect(color="#e3ecf3").encode(x=alt.X("from:Q", **across), x2="to:Q"),
        band.mark_rule(color="#555", strokeDash=[3, 3]).encode(x=alt.X("zero:Q", **across)),
        base.mark_rule(strokeWidth=1.4).encode(x=alt.X("low:Q", **across), x2="high:Q"),
        base.mark_rule(strokeWidth=4).encode(x=alt.X("low90:Q", **across), x2="high90:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=alt.X("mean:Q", **across), shape=alt.Shape("verdict:N", title=None, scale=shape)
        ),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(rows))


def complexity_chart(
    scores: Mapping[str, tuple[Floats, Floats]], column: str, ends: Sequence[str | None]
) -> alt.LayerChart:
    """Draw mean scores with 95 % intervals at every complexity, a line for each mind.

    `scores` has the complexity and the score of every exercise by mind, NaN where it is missing;
    `ends` are the floor and the ceiling. A point without a rule has no interval.
    """
    need_altair()
    import altair as alt

    points, styles = complexity_points(scores), complexity_styles(list(scores), ends)
    keys = {
        "color": alt.Color("mind:N", title=None, scale=_scale(styles, "colour")),
        "shape": alt.Shape("mind:N", title=None, scale=_scale(styles, "shape")),
    }
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("at:Q", title=f"complexity {column}", scale=alt.Scale(zero=False)),
        tooltip=["mind:N", "at:Q", "score:Q", "low:Q", "high:Q", "exercises:Q"],
    )
    scale = alt.Scale(domain=list(y_domain(marks_of(points))), nice=False)  # long ones are cut
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


def complexity_points(scores: Mapping[str, tuple[Floats, Floats]]) -> list[dict[str, Any]]:
    """Compute the mean score of every mind at every complexity, with its interval."""
    return [point for mind, (at, score) in scores.items() for point in _points(mind, at, score)]


def marks_of(points: Sequence[dict[str, Any]]) -> list[Mark]:
    """Turn points into marks; one without an interval has none of any width."""
    marks = []
    for p in points:
        low, high = (p["low"], p["high"]) if p["low"] is not None else (p["score"], p["score"])
        marks.append(Mark(p["mind"], p["at"], p["score"], low, high))
    return marks


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


def complexity_styles(minds: Sequence[str], ends: Sequence[str | None]) -> dict[str, Style]:
    """Give a style to each mind; where there are more minds than styles, they begin again."""
    fixed = dict(zip(ends, (FLOOR, CEILING), strict=True))
    others = [mind for mind in minds if mind not in fixed]
    given = {mind: STYLES[n % len(STYLES)] for n, mind in enumerate(others)}
    return {mind: fixed.get(mind) or given[mind] for mind in minds}


def _scale(styles: dict[str, Style], part: str) -> alt.Scale:
    import altair as alt

    values = [getattr(style, part) for style in styles.values()]
    return alt.Scale(domain=list(styles), range=[list(v) if part == "dash" else v for v in values])
