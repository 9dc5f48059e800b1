"""Prediction: what a curve fitted to some complexities says of those it has not seen.

For questions, answered right or wrong, these are the curves of Chmait et al. (2017) and their
rivals; for scores, the curves of `statistics.curves`. The curve that predicts best is named, with
its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allminds.core.errors import Error
from allminds.report.charts.drawing import CEILING, FLOOR
from allminds.report.charts.plots import SCHEMES, Calibration, calibration_panels, calibrations
from allminds.report.data import TestData
from allminds.statistics.accuracy import Counts, Foreseen, compare, foresee
from allminds.statistics.accuracy.beyond import (
    FARTHEST,
    Stack,
    hopeless,
    steps_beyond,
    tried_levels,
)
from allminds.statistics.accuracy.predict import Comparison, Scheme
from allminds.statistics.curves import ForeseenScores, foresee_scores

LEAST_LEVELS = 3  # of complexity, for hits; a line needs one more
BEYOND = (1, 3, 5)  # distances between levels to predict beyond the hardest


@dataclass(frozen=True)
class Predicted:
    """The minds of one test under both schemes, by the curve that wins each."""

    data: TestData
    minds: list[str]
    counts: Counts  # by level
    compared: Comparison
    foreseen: dict[Scheme, Foreseen]

    def rows(self) -> list[Calibration]:
        """List what was predicted of every mind at every complexity left out."""
        return calibrations(self.minds, self.foreseen)


def counts_of(data: TestData) -> tuple[list[str], Counts] | None:
    """Count hits by mind and complexity; None where the accuracy model does not apply."""
    if not data.hits or data.binned or data.tool.adaptive:
        return None
    levels = sorted({point.k for point in data.points if point.k > 0})
    minds = [mind for mind in data.minds if any(p.mind == mind for p in data.points)]
    if len(levels) < LEAST_LEVELS or not minds:
        return None
    hits, trials = (np.zeros((len(minds), len(levels))) for _ in range(2))
    for point in data.points:
        if point.k > 0:
            at = minds.index(point.mind), levels.index(point.k)
            trials[at] = point.exercises
            hits[at] = round(point.exercises * point.mean)
    return minds, Counts.of(levels, hits, trials, chance=data.tool.chance)


def predicted(data: TestData) -> Predicted | None:
    """Fit on some complexities and predict the others; None where there are too few."""
    found = counts_of(data)
    if found is None:
        return None
    minds, counts = found
    folds = len(counts.difficulty)
    try:
        compared = compare(counts, folds=folds)
        foreseen = {
            scheme: foresee(counts, compared.winner(scheme), scheme, folds=folds)
            for scheme in SCHEMES
        }
    except Error:
        return None
    return Predicted(data, minds, counts, compared, foreseen)


# ---------------------------------------------------------------- beyond the hardest level


def beyond_rows(minds: Sequence[str], counts: Counts) -> list[dict[str, Any]]:
    """Predict each mind beyond the hardest level by stacked curves, or say why not."""
    made = []
    for m, mind in enumerate(minds):
        own = tried_levels(counts, m)
        why_not = hopeless(own, max(BEYOND))
        found = []
        if not why_not:
            stack, d = Stack.of(own), own.difficulty
            step = float(d[-1] - d[0]) / (len(d) - 1)
            found = [stack.beyond(float(d[-1]) + n * step, None, 0.95) for n in BEYOND]
        made.append({"mind": mind, "found": found, "why_not": why_not})
    return made


def upper_checked(counts: Counts) -> tuple[int, int]:
    """Count the observed rates of upper levels that lay where the lower ones predicted."""
    cut = float(np.median(counts.difficulty))
    inside: list[bool] = []
    for m in range(counts.minds):
        below = tried_levels(counts.items(counts.difficulty < cut), m)
        if hopeless(below, 0):
            continue
        stack, own = Stack.of(below), tried_levels(counts, m)
        for n in np.flatnonzero(own.difficulty >= cut):
            at, trials = float(own.difficulty[n]), int(own.trials[0, n])
            if steps_beyond(below, at) <= FARTHEST:
                few, many = stack.beyond(at, trials, 0.95).rate_interval or (0.0, 1.0)
                inside.append(few - 1e-9 <= own.hits[0, n] / trials <= many + 1e-9)
    return sum(inside), len(inside)


# ---------------------------------------------------------------- scores other than hits


def score_row(data: TestData) -> dict[str, Any] | None:
    """Predict a score by a line through the other complexities; None for hits or paths."""
    levels = sorted({point.k for point in data.points})
    if data.hits or data.tool.adaptive or len(levels) <= LEAST_LEVELS:
        return None
    minds = list(dict.fromkeys(point.mind for point in data.points))
    means, exercises = (np.zeros((len(minds), len(levels))) for _ in range(2))
    for point in data.points:
        at = minds.index(point.mind), levels.index(point.k)
        means[at], exercises[at] = point.mean, point.exercises
    lines = {scheme: foresee_scores(levels, means, exercises, scheme) for scheme in SCHEMES}
    return {
        "data": data,
        "lines": [{"best": best, "other": other} for best, other in lines.values()],
        "values": [(s, *row) for s, (best, _) in lines.items() for row in _values(best, minds)],
    }


def _values(found: ForeseenScores, minds: Sequence[str]) -> list[tuple[str, float, float, float]]:
    """List mind, complexity, predicted and observed score."""
    return [
        (mind, float(k), float(found.predicted[m, n]), float(found.observed[m, n]))
        for m, mind in enumerate(minds)
        for n, k in enumerate(found.difficulties)
        if found.weights[m, n] > 0
    ]


# ---------------------------------------------------------------- the section


def section(tests: Sequence[TestData], found: Sequence[Predicted]) -> dict[str, Any] | None:
    """Collect what the page shows about prediction; None if no test has known complexities."""
    scores = [row for row in map(score_row, tests) if row]
    if not found and not scores:
        return None
    return {"questions": [_question(one) for one in found], "scores": scores}


def _question(one: Predicted) -> dict[str, Any]:
    rows = one.rows()
    tool = one.data.tool
    by_name = {tool.floor_mind: FLOOR, tool.ceiling_mind: CEILING}
    ends = {mind: by_name.get(one.data.bare.get(mind, mind)) for mind in one.minds}
    return {
        "data": one.data,
        "column": one.data.column,
        "upper_from": one.compared.upper_from,
        "levels": one.counts.difficulty.tolist(),
        "schemes": [_scheme(one, scheme, words) for scheme, words in SCHEMES.items()],
        "minds": [_mind(one, m) for m in range(len(one.minds))],
        "panels": calibration_panels(rows, ends),
        "rows": rows,
        "beyond": beyond_rows(one.minds, one.counts),
        "checked": upper_checked(one.counts),
    }


def _scheme(one: Predicted, scheme: Scheme, words: str) -> dict[str, Any]:
    found = one.foreseen[scheme]
    rivals = [row for row in one.compared.rows if row.scheme == scheme]
    return {
        "words": words,
        "winner": found.curve,
        "error": found.absolute_error,
        "chance_error": found.chance_error,
        "brier": found.brier,
        "log_loss": found.log_loss,
        "rivals": rivals,
    }


def _mind(one: Predicted, m: int) -> dict[str, Any]:
    own = {scheme: found.mind(m) for scheme, found in one.foreseen.items()}
    return {"mind": one.minds[m], "foreseen": list(own.values())}
