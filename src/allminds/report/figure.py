"""One figure as a file, for the commands that draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.errors import Error
from allminds.report.files import write_whole

if TYPE_CHECKING:
    import altair as alt

MOST_LINES = 10  # more than these an eye cannot tell apart by dash


def draw_lines(
    points: Sequence[tuple[str, float, float]],
    x_title: str,
    y_title: str,
    out: Path,
    y_domain: tuple[float, float] | None = None,
) -> None:
    """Draw (name, x, y) as lines, told apart by colour, dash and name; .svg or .png."""
    import altair as alt

    names = list(dict.fromkeys(name for name, _, _ in points))
    if len(names) > MOST_LINES:
        raise Error(f"{len(names)} lines are too many for one figure; {MOST_LINES} will do")
    rows = [{"name": name, "x": x, "y": y} for name, x, y in points]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("x:Q", title=x_title, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("y:Q", title=y_title, scale=alt.Scale(domain=y_domain or alt.Undefined)),
            color=alt.Color("name:N", title=None, scale=alt.Scale(domain=names, scheme="dark2")),
            strokeDash=alt.StrokeDash("name:N", title=None, scale=alt.Scale(domain=names)),
        )
        .properties(width=420, height=280)
    )
    save_chart(chart, out)


def draw_scores(rows: Sequence[dict[str, Any]], x_title: str, out: Path) -> None:
    """Draw scores with their intervals, best first; a mind without a score has no line."""
    import altair as alt

    shown = sorted((row for row in rows if row["score"] is not None), key=lambda row: -row["score"])
    if not shown:
        raise Error("no mind has a score to draw")
    points = [
        {"mind": row["mind"], "score": row["score"], "low": low, "high": high}
        for row in shown
        for low, high in [row["ci95"] or (row["score"], row["score"])]
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        y=alt.Y("mind:N", title=None, sort=[point["mind"] for point in points])
    )
    scale = alt.Scale(zero=False, nice=True)
    whiskers = base.mark_rule().encode(x=alt.X("low:Q", title=x_title, scale=scale), x2="high:Q")
    dots = base.mark_point(filled=True, size=60).encode(x=alt.X("score:Q", title=x_title))
    save_chart((whiskers + dots).properties(width=420), out)


def save_chart(chart: alt.TopLevelMixin, out: Path) -> None:
    """Write a chart whole or not at all."""
    import vl_convert

    if out.suffix not in (".svg", ".png"):
        raise Error(f"cannot draw {out}: name a file that ends in .svg or .png")
    spec = chart.to_dict()
    if out.suffix == ".svg":
        made = vl_convert.vegalite_to_svg(spec).encode()
    else:
        made = vl_convert.vegalite_to_png(spec, scale=2)
    write_whole(out, made)
