"""Forest plots: one difference on each line, over the band of differences too small to matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error
from allminds.inference import Difference

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 60
WIDTH, ROW = 360, 26  # units of the plot inside, and from one line to the next
FONT = "Helvetica, Arial, sans-serif"
# Told apart by colour and by shape; dark enough on white.
VERDICTS = {
    "different": ("#d55e00", "diamond"),
    "different, but smaller than δ": ("#009e73", "triangle-up"),
    "equivalent": ("#0072b2", "circle"),
    "undecided": ("#707070", "square"),
}


def forest(rows: Sequence[tuple[str, Difference]]) -> alt.LayerChart:
    """Plot named differences: 95 % intervals thin, 90 % thick, ±δ shaded."""
    import altair as alt

    if not rows or len(rows) > MOST_ROWS:
        raise Error(f"cannot draw {len(rows)} differences in one figure; 1 to {MOST_ROWS} will do")
    margin = rows[0][1].margin
    data: list[dict[str, Any]] = [
        {
            "name": name, "place": place, "mean": one.mean, "verdict": one.verdict,
            "low": (one.interval or (one.mean,))[0], "high": (one.interval or (one.mean,))[-1],
            "low90": (one.interval90 or (one.mean,))[0],
            "high90": (one.interval90 or (one.mean,))[-1],
        }
        for place, (name, one) in enumerate(rows)
    ]  # fmt: skip
    ends = [value for row in data for value in (row["low"], row["high"])] + [-margin, margin]
    room = 0.05 * (max(ends) - min(ends))
    scale = alt.Scale(domain=[min(ends) - room, max(ends) + room], nice=False, zero=False)
    axis = alt.Axis(labelLimit=0, ticks=False, domain=False, labelPadding=10, grid=True)
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("name:N", title=None, sort=alt.EncodingSortField("place"), axis=axis),
        color=alt.Color("verdict:N", legend=None, scale=_verdicts(0)),
    )

    def along(field: str) -> alt.X:
        title = [
            "difference in score (90 % interval thick, 95 % thin)",
            "shaded: too small to matter",
        ]
        return alt.X(f"{field}:Q", title=title, scale=scale)

    band = alt.Chart(alt.Data(values=[{"from": -margin, "to": margin, "zero": 0}]))
    layers = [
        band.mark_rect(color="#e3ecf3").encode(x=along("from"), x2="to:Q"),
        band.mark_rule(color="#555", strokeDash=[3, 3]).encode(x=along("zero")),
        base.mark_rule(strokeWidth=1.4).encode(x=along("low"), x2="high:Q"),
        base.mark_rule(strokeWidth=4).encode(x=along("low90"), x2="high90:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=along("mean"), shape=alt.Shape("verdict:N", legend=None, scale=_verdicts(1))
        ),
        base.mark_text(align="left", baseline="middle").encode(
            x=alt.value(WIDTH + 10), text="verdict:N"
        ),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=ROW * len(rows), padding=12)
    text = {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal"}
    return (
        chart.configure(font=FONT, background="white")
        .configure_axis(labelColor="#222", titleColor="#222", gridColor="#e4e4e4", **text)
        .configure_axisX(grid=False, tickCount=6)
        .configure_text(fontSize=13)
        .configure_view(stroke=None)
    )


def _verdicts(part: int) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=list(VERDICTS), range=[style[part] for style in VERDICTS.values()])
