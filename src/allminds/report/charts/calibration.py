"""Calibration: predicted against observed accuracy, as rows and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allminds.report.charts import drawing, ink
from allminds.report.charts.drawing import STYLES, WIDTH, Style

if TYPE_CHECKING:
    from allminds.statistics.accuracy.predict import Foreseen, Scheme

SIDE = 220  # units of the square
AXIS = (-0.02, 1.02)
IN_A_PANEL = 6  # minds
SCHEMES: dict[Scheme, str] = {
    "items": "each complexity left out in turn",
    "upper": "the upper complexities left out at once",
}


@dataclass(frozen=True)
class Calibration:
    """One mind at one complexity that the curve had not seen."""

    mind: str
    scheme: Scheme
    k: float
    predicted: float
    observed: float
    interval: tuple[float, float]
    trials: int


def calibrations(minds: Sequence[str], foreseen: Mapping[Scheme, Foreseen]) -> list[Calibration]:
    """Pair what was predicted of every mind at every complexity left out with what was observed."""
    from allminds.inference.intervals import Hits

    made = []
    for scheme, found in foreseen.items():
        for m, mind in enumerate(minds):
            for n, k in enumerate(found.counts.difficulty):
                trials = int(found.counts.trials[m, n])
                if trials:
                    rate = float(found.observed[m, n])
                    made.append(
                        Calibration(
                            mind=mind,
                            scheme=scheme,
                            k=float(k),
                            predicted=float(found.predicted[m, n]),
                            observed=rate,
                            interval=Hits(round(rate * trials), trials).interval(),
                            trials=trials,
                        )
                    )
    return made


def panels(
    rows: Sequence[Calibration], ends: Mapping[str, Style | None] | None = None
) -> list[dict[str, str]]:
    """Draw a square of some minds for every way of leaving out; `ends` have their own styles."""
    minds = list(dict.fromkeys(row.mind for row in rows))
    labels = drawing.short_names(minds)
    made = []
    for lot in drawing.evenly(minds, IN_A_PANEL):
        own = iter(STYLES)
        styles = {mind: (ends or {}).get(mind) or next(own) for mind in lot}
        for scheme, words in SCHEMES.items():
            here = [row for row in rows if row.scheme == scheme and row.mind in styles]
            if here:
                made.append({"words": words, "svg": square(here, styles, labels)})
    return made


def square(
    rows: Sequence[Calibration], styles: Mapping[str, Style], labels: Mapping[str, str]
) -> str:
    """Draw one picture, with its minds named beside it."""
    left = ink.y_room(AXIS)
    box = ink.Box(left, drawing.TOP, SIDE, SIDE, AXIS, AXIS)
    parts = [
        ink.y_axis(box, "observed, with 95 % intervals"),
        ink.x_axis(box, "predicted"),
        ink.rules([(box.x(0), box.y(0), box.x(1), box.y(1))], ink.SOFT, 1, 1, (4, 3)),
    ]
    for n, (mind, style) in enumerate(styles.items()):
        own = [row for row in rows if row.mind == mind]
        reach = (
            (box.x(row.predicted), box.y(row.interval[0]), box.x(row.predicted),
             box.y(row.interval[1]))
            for row in own
        )  # fmt: skip
        places = [(box.x(row.predicted), box.y(row.observed)) for row in own]
        parts.append(ink.rules(reach, style.colour, 1, 0.4))
        parts.append(ink.symbols(style.shape, places, style.colour, 3.4))
        y = box.top + 8 + 18 * n
        parts.append(ink.symbols(style.shape, [(box.right + 14, y)], style.colour, 3.8))
        parts.append(ink.text(box.right + 24, y, labels[mind]))
    return ink.picture(WIDTH, box.bottom + ink.depth(), parts)
