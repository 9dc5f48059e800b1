"""The profile of a social testbed as a figure: its properties, and the minds in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.report.charts import ink
from allminds.report.charts.files import save

if TYPE_CHECKING:
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
LEFT, WIDTH, ROW = 210, 330, 21
MOST_MINDS = 20  # in the picture
GRADED, BINARY = "graded", "binary"
COLOURS = {GRADED: "#0072b2", BINARY: "#d55e00", "value": "#0072b2"}
Row = dict[str, Any]


def draw_testbed(survey: Survey, out: Path) -> None:
    """Write the figure to a file that ends in .svg or .png."""
    save(figure(survey), out)


def figure(survey: Survey) -> str:
    """Draw three panels, one below the other: properties, scores, ratings."""
    exact = survey.profile.made["exact"]
    how = "exact: ● value or graded form, ◇ binary form" if exact else "sampled, 95 % intervals"
    scores, ratings = score_rows(survey), rating_rows(survey)
    shown = [
        (property_rows(survey.properties), how, (-1.0, 1.0)),
        (scores, "score Υ(π)", _domain(scores)),
    ]
    if ratings:
        shown.append((ratings, "rating: mean margin over the others", _domain(ratings)))
    parts = [ink.text(12, 18, f"{survey.profile.game.name}: {survey.profile.kind}")]
    end = 22.0
    for rows, title, domain in shown:
        panel, end = _panel(end + 14, rows, title, domain)
        parts.append(panel)
    return ink.picture(LEFT + WIDTH + 20, end + 8, parts)


# ---------------------------------------------------------------- rows


def property_rows(properties: Mapping[str, Property]) -> list[Row]:
    """List what is drawn of every property: graded and binary form, value, or "none"."""
    rows = []
    for name, label in DRAWN.items():
        one = properties[name]
        if one.figure is None:
            rows.append({"name": label, "kind": "none", "x": -1.0, "note": "none"})
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


def _panel(
    top: float, rows: Sequence[Row], title: str, domain: tuple[float, float]
) -> tuple[str, float]:
    """Draw one panel below `top`: a row for each name; return it and where it ends."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    box = ink.Box(LEFT, top, WIDTH, ROW * len(names), domain, (len(names), 0))
    parts = []
    for place, name in enumerate(names):
        y = box.y(place + 0.5)
        parts.append(ink.text(box.left - 8, y, name, "end"))
        parts.append(ink.rules([(box.left, y, box.right, y)], ink.GRID))
    parts.append(ink.rules([(box.x(0), box.top, box.x(0), box.bottom)], "#999", 1, 1, (3, 3)))
    below = sorted(rows, key=lambda row: row["kind"] != BINARY)  # the hollow ones
    parts += [_mark(box, row, box.y(names.index(row["name"]) + 0.5)) for row in below]
    parts.append(ink.x_axis(box, title))
    return "".join(parts), box.bottom + ink.depth()


def _mark(box: ink.Box, row: Row, y: float) -> str:
    """Draw the symbol of a row with its interval, or the word "none"."""
    low, high = box.across
    if row["kind"] == "none":
        width = 8 + ink.LETTER * len(row["note"])
        ground = ink.bar(box.left, y - 8, box.left + width, y + 8, "#fff")
        return ground + ink.text(box.left + 4, y, row["note"], colour="#707070")
    x = box.x(min(max(row["x"], low), high))
    if row["kind"] == BINARY:
        return ink.hollow("diamond", x, y, COLOURS[BINARY], 4.2)
    made = ink.symbols("circle", [(x, y)], COLOURS[GRADED], 4.2)
    if "low" in row:
        ends = (box.x(max(row["low"], low)), y, box.x(min(row["high"], high)), y)
        made = ink.rules([ends], COLOURS[GRADED], 1.6) + made
    return made
