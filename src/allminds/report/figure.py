"""One figure as a file: lines of named series, for the commands that draw."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from allminds.errors import Error

MOST_LINES = 10  # more than these an eye cannot tell apart by dash


def draw_lines(
    points: Sequence[tuple[str, float, float]], x_title: str, y_title: str, out: Path
) -> None:
    """Draw (name, x, y) as lines, told apart by colour, dash and name; .svg or .png."""
    import altair as alt
    import vl_convert

    if out.suffix not in (".svg", ".png"):
        raise Error(f"cannot draw {out}: name a file that ends in .svg or .png")
    names = list(dict.fromkeys(name for name, _, _ in points))
    if len(names) > MOST_LINES:
        raise Error(f"{len(names)} lines are too many for one figure; {MOST_LINES} will do")
    rows = [{"name": name, "x": x, "y": y} for name, x, y in points]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("x:Q", title=x_title),
            y=alt.Y("y:Q", title=y_title, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("name:N", title=None, scale=alt.Scale(domain=names, scheme="dark2")),
            strokeDash=alt.StrokeDash("name:N", title=None, scale=alt.Scale(domain=names)),
        )
        .properties(width=420, height=280)
    )
    spec = chart.to_dict()
    if out.suffix == ".svg":
        made = vl_convert.vegalite_to_svg(spec).encode()
    else:
        made = vl_convert.vegalite_to_png(spec, scale=2)
    temporary = out.with_name(out.name + ".tmp")
    try:
        temporary.write_bytes(made)
        os.replace(temporary, out)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Error(f"cannot write {out}: {error.strerror or error}") from None
