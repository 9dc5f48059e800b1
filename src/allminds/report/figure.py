"""Figures written to files, .svg or .png, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error

if TYPE_CHECKING:
    import altair as alt


def write_whole(out: Path, made: bytes) -> Path:
    """Write under a temporary name, sync and rename; a full disk leaves the old file."""
    temporary = out.with_name(out.name + ".tmp")
    try:
        try:
            with open(temporary, "wb") as file:
                file.write(made)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, out)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise Error(f"cannot write {out}: {error.strerror or error}") from None
    return out


# ---------------------------------------------------------------- figures


WIDTH, ROW = 420, 24
MOST_LINES = 10  # more than these an eye cannot tell apart by dash


def draw_lines(
    points: Sequence[tuple[str, float, float]],
    x_title: str,
    y_title: str,
    out: Path,
    y_domain: tuple[float, float] | None = None,
) -> None:
    """Draw (name, x, y) as lines with their own colour, dash and name; .svg or .png."""
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
        .properties(width=WIDTH, height=280)
    )
    save_chart(chart, out)


def score_chart(rows: Sequence[dict[str, Any]], title: str) -> alt.LayerChart:
    """Build a chart with a dot and its 95 % interval for every mind, in the order given."""
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
