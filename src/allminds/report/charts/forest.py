"""Forest plots: one difference on each line, over the band of differences too small to matter."""

from __future__ import annotations

from collections.abc import Sequence

from allminds.core.errors import Error
from allminds.inference import Difference
from allminds.report.charts import ink

MOST_ROWS = 60
WIDTH, ROW, TOP = 300, 26, 10  # units of the plot inside, of one line, and above the first
# Told apart by colour and by shape; dark enough on white.
VERDICTS = {
    "different": ("#d55e00", "diamond"),
    "different, but smaller than δ": ("#009e73", "triangle-up"),
    "equivalent": ("#0072b2", "circle"),
    "undecided": ("#707070", "square"),
}
NOTES = (
    "difference in score (90 % interval thick, 95 % thin)",
    "shaded: too small to matter",
)


def forest(rows: Sequence[tuple[str, Difference]]) -> str:
    """Draw named differences: 95 % intervals thin, 90 % thick, ±δ shaded."""
    if not rows or len(rows) > MOST_ROWS:
        raise Error(f"cannot draw {len(rows)} differences in one figure; 1 to {MOST_ROWS} will do")
    margin = rows[0][1].margin
    ends = [end for _, one in rows for end in one.interval or (one.mean,)] + [-margin, margin]
    spare = 0.05 * (max(ends) - min(ends))
    left = 20 + ink.LETTER * max(len(name) for name, _ in rows)
    box = ink.Box(
        left, TOP, WIDTH, ROW * len(rows), (min(ends) - spare, max(ends) + spare), (len(rows), 0)
    )
    parts = [ink.bar(box.x(-margin), box.top, box.x(margin), box.bottom, "#e3ecf3")]
    parts += [_row(box, place, name, one) for place, (name, one) in enumerate(rows)]
    parts.append(ink.rules([(box.x(0), box.top, box.x(0), box.bottom)], ink.SOFT, 1, 1, (3, 3)))
    parts.append(ink.x_axis(box, NOTES[0]))
    below = box.bottom + ink.depth()
    parts.append(ink.text((box.left + box.right) / 2, below + 2, NOTES[1], "middle", ink.SOFT))
    room = 26 + ink.LETTER * max(len(one.verdict) for _, one in rows)
    return ink.picture(box.right + room, below + 16, parts)


def _row(box: ink.Box, place: int, name: str, one: Difference) -> str:
    """Draw one difference: its name, its intervals, its mean and the verdict on it."""
    y = box.y(place + 0.5)
    colour, shape = VERDICTS[one.verdict]
    parts = [ink.text(box.left - 10, y, name, "end")]
    parts.append(ink.rules([(box.left, y, box.right, y)], ink.GRID))
    for ends, width in ((one.interval, 1.4), (one.interval90, 4.0)):
        if ends is not None:
            parts.append(ink.rules([(box.x(ends[0]), y, box.x(ends[1]), y)], colour, width))
    parts.append(ink.symbols(shape, [(box.x(one.mean), y)], colour, 4.4))
    parts.append(ink.text(box.right + 12, y, one.verdict, colour=colour))
    return "".join(parts)
