"""The profile of a social testbed as a figure: its properties, and the minds in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.report.drawing import FONT
from allminds.report.figure import save_chart

if TYPE_CHECKING:
    import altair as alt

    from allminds.statistics.testbed.results import Property
    from allminds.statistics.testbed.surveys import Survey

DRAWN = {  # from 0 to 1, or from -1 to 1
    "action_dependency": "action dependency",
    "reward_dependency": "reward dependency",
    "fine_discrimination": "fine discrimination",
    "coarse_discrimination": "coarse discrimination",
    "social_share": "social share",
    "strategic_share": "strategic share",
    "strict_total_grading": "strict grading",
    "partial_grading": "partial grading",
    "cyclic_share": "cyclic share",
    "slot_reward_dependency": "slot reward dependency",
    "competitive_anticipation": "competitive anticipation",
    "cooperative_anticipation": "cooperative anticipation",
    "anticipation_potential": "anticipation potential",
}
WIDTH, ROW = 330, 21
MOST_MINDS = 20  # in the picture
GRADED, BINARY = "graded", "binary"
COLOURS = {GRADED: "#0072b2", BINARY: "#d55e00", "value": "#0072b2"}
Row = dict[str, Any]


def draw_testbed(survey: Survey, out: Path) -> None:
    """Write the figure to a file that ends in .svg or .png."""
    save_chart(figure(survey), out)


def figure(survey: Survey) -> alt.VConcatChart:
    """Draw three panels, one below the other: properties, scores, ratings."""
    import altair as alt

    exact = survey.profile.made["exact"]
    how = "exact: ● value or graded form, ◇ binary form" if exact else "sampled, 95 % intervals"
    panels = [_panel(property_rows(survey.properties), how, (-1.0, 1.0))]
    scores = score_rows(survey)
    panels.append(_panel(scores, "score Υ(π)", _domain(scores)))
    ratings = rating_rows(survey)
    if ratings:
        panels.append(_panel(ratings, "rating: mean margin over the others", _domain(ratings)))
    title = alt.TitleParams(
        f"{survey.profile.game.name}: {survey.profile.kind}", anchor="start", fontSize=15, offset=12
    )
    return (
        alt.vconcat(*panels, title=title, spacing=14)
        .configure(font=FONT, padding=12)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=13, titleFontSize=13, titleFontWeight="normal",
                        labelColor="#222", titleColor="#222", gridColor="#e4e4e4")
    )  # fmt: skip


# ---------------------------------------------------------------- rows


def property_rows(properties: Mapping[str, Property]) -> list[Row]:
    """List what is drawn of every property: graded and binary form, value, or "none"."""
    rows = []
    for name, label in DRAWN.items():
        one = properties[name]
        if one.figure is None:
            rows.append({"name": label, "kind": "none", "x": -0.98, "note": "none"})
            continue
        if one.graded is not None and one.value is not None:
            rows.append({"name": label, "kind": BINARY, "x": float(one.value)})
        kind = GRADED if one.graded is not None else "value"
        rows.append({"name": label, "kind": kind, "x": one.figure} | _ends(one.ci95))
    return rows


def score_rows(survey: Survey) -> list[Row]:
    """List Υ(π) of every mind, best first, up to `MOST_MINDS`."""
    named = [(mind, survey.properties[f"upsilon[{mind}]"]) for mind in survey.minds]
    known = [(mind, one) for mind, one in named if one.figure is not None]
    known.sort(key=lambda pair: -(pair[1].figure or 0.0))
    return [
        {"name": mind, "kind": "value", "x": one.figure} | _ends(one.ci95)
        for mind, one in known[:MOST_MINDS]
    ]


def rating_rows(survey: Survey) -> list[Row]:
    """List r(a) of every mind, best first; empty where all are one team."""
    ratings = survey.profile.ratings
    rows = ratings.as_json() if ratings else []
    return [
        {"name": row["mind"], "kind": "value", "x": row["rating"]} | _ends(row.get("ci95"))
        for row in rows[:MOST_MINDS]
    ]


def _ends(ci95: Sequence[float] | None) -> Row:
    return {} if ci95 is None else {"low": ci95[0], "high": ci95[1]}


def _domain(rows: Sequence[Row]) -> tuple[float, float]:
    ends = [row[key] for row in rows for key in ("x", "low", "high") if key in row]
    reach = max(0.1, 1.08 * max((abs(end) for end in ends), default=1.0))
    return -reach, reach


# ---------------------------------------------------------------- one panel


def _panel(rows: Sequence[Row], title: str, domain: tuple[float, float]) -> alt.LayerChart:
    import altair as alt

    names = list(dict.fromkeys(row["name"] for row in rows))
    base = alt.Chart(alt.Data(values=list(rows)))
    scale = alt.Scale(domain=list(domain), nice=False, clamp=True)
    y = alt.Y("name:N", sort=names, title=None,
              axis=alt.Axis(labelLimit=200, minExtent=178, maxExtent=178, grid=True, ticks=False,
                            domain=False, labelPadding=8))  # fmt: skip
    x = alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5, grid=False))
    marks = base.transform_filter("datum.kind != 'none'")
    intervals = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.6, color=COLOURS[GRADED])
        .encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q", y=y)
    )
    filled = marks.transform_filter(f"datum.kind != '{BINARY}'").mark_point(
        filled=True, size=64, opacity=1, color=COLOURS[GRADED]
    )
    hollow = marks.transform_filter(f"datum.kind == '{BINARY}'").mark_point(
        filled=False, size=60, shape="diamond", strokeWidth=1.6, color=COLOURS[BINARY]
    )
    none = base.transform_filter("datum.kind == 'none'").encode(x=x, y=y, text="note:N")
    words = {"align": "left", "fontSize": 12}
    behind = none.mark_text(stroke="white", strokeWidth=6, **words)
    zero = alt.Chart(alt.Data(values=[{"x": 0}])).mark_rule(color="#999", strokeDash=[3, 3])
    layers = [zero.encode(x=x), intervals, hollow.encode(x=x, y=y), filled.encode(x=x, y=y),
              behind, none.mark_text(color="#777", **words)]  # fmt: skip
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(names))
