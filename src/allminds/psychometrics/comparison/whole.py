"""All that can be said about some minds on one instrument, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.errors import Error
from allminds.estimate import t_interval
from allminds.psychometrics.comparison.anova import Anova, repeated_measures
from allminds.psychometrics.comparison.correlation import Correlation, correlations
from allminds.psychometrics.comparison.differences import MARGIN, Difference, differences
from allminds.psychometrics.comparison.ranks import ranks
from allminds.psychometrics.comparison.resampling import DRAWS
from allminds.psychometrics.comparison.table import (
    Scores,
    check_constant,
    complexities,
    scores_of,
    unit_means,
)
from allminds.psychometrics.reliability import Reliability, counted_minds, reliability

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 40  # of a factor


@dataclass(frozen=True)
class Standing:
    """One mind: its mean score, and its place among those who had the same exercises."""

    mind: str
    score: float
    stderr: float | None
    interval: tuple[float, float] | None  # 95 %, by t over units; by Wilson for hits
    units: int
    exercises: int
    failed: int
    rank: int | None
    ranks: tuple[int, int] | None  # 95 %


@dataclass(frozen=True)
class Comparison:
    """Minds side by side; `notes` say in sentences what could not be done, and why."""

    minds: tuple[str, ...]  # in the order of the table
    unit: str  # what is drawn anew in thought: "exercise", or the column of tests
    exercises: int
    common: int  # exercises that all minds have
    standings: tuple[Standing, ...]  # best first
    differences: tuple[Difference, ...]
    correlations: tuple[Correlation, ...]
    reliability: Reliability
    reliable: tuple[str, ...]  # the minds that it is about
    anova: Anova | None
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        made = asdict(self)
        for row, one in zip(made["differences"], self.differences, strict=True):
            row["verdict"] = one.verdict
        for name in ("total_error", "stderr"):
            values = made["reliability"][name]
            made["reliability"][name] = values and dict(zip(self.reliable, values, strict=True))
        return made


def compare(
    frame: pd.DataFrame,
    rng: np.random.Generator,
    *,
    unit: str | None = None,
    by: str | None = None,
    margin: float = MARGIN,
    allow_unpaired: bool = False,
    draws: int = DRAWS,
) -> Comparison:
    """Compare the minds of a results table: means, pairs, ranks, complexity, reliability.

    `unit` names the column of the tests that exercises come in; `by` a factor, at whose values the
    correlation with complexity is shown and, within tests, the analysis of variance is made.
    """
    scores = scores_of(frame, unit)
    idle = [name for n, name in enumerate(scores.minds) if not scores.common([n]).any()]
    notes = [f"{name} has no score: all its exercises failed." for name in idle]
    if len(scores.minds) - len(idle) < 2:
        raise Error("a comparison needs two or more minds with scores")
    if idle:
        frame = frame[~frame["mind"].astype(str).isin(idle)]
        scores = scores_of(frame, unit)
    if by is not None:
        _check_factor(frame, by)
    pairs = differences(scores, margin, allow_unpaired)
    anova, said = _anova(frame, unit, by)
    measures = [name for name in complexities(scores.exercises) if name != by]
    kept, left = _counted(frame, scores)
    return Comparison(
        minds=scores.minds,
        unit=unit or "exercise",
        exercises=len(scores.exercises),
        common=int(scores.common(range(len(scores.minds))).sum()),
        standings=_standings(scores, rng, draws),
        differences=tuple(pairs),
        correlations=tuple(correlations(scores, measures, by)),
        reliability=reliability(scores.values[:, kept], scores.unit),
        reliable=tuple(scores.minds[n] for n in kept),
        anova=anova,
        notes=(*notes, *said, *([left] if left else [])),
    )


def _counted(frame: pd.DataFrame, scores: Scores) -> tuple[list[int], str]:
    """The minds that reliability is about, by the traits and the instrument in the table."""
    from allminds import registry

    traits: dict[str, str] = {}
    if "traits" in frame:
        rows = frame.assign(mind=frame["mind"].astype(str)).drop_duplicates("mind")
        traits = dict(zip(rows["mind"], rows["traits"].fillna("").astype(str), strict=True))
    names = frame["instrument"].astype(str).unique() if "instrument" in frame else ()
    known = [registry.instruments().get(name) for name in names]
    ends = {end for cls in known if cls for end in (cls.floor_mind, cls.ceiling_mind)}
    return counted_minds(scores.minds, traits, ends - {None})


def _standings(scores: Scores, rng: np.random.Generator, draws: int) -> tuple[Standing, ...]:
    places = {one.mind: one for one in ranks(scores, rng, draws)}
    known = scores.values[~np.isnan(scores.values)]
    hits = scores.values.shape[2] == 1 and len(np.unique(scores.unit)) == len(scores.unit)
    hits = hits and bool(np.isin(known, (0, 1)).all())
    found = []
    for n, mind in enumerate(scores.minds):
        rows = scores.common([n])
        units = unit_means(scores.means[rows, n], scores.unit[rows])
        mean, count = float(units.mean()), len(units)
        stderr = float(units.std(ddof=1) / np.sqrt(count)) if count > 1 else None
        interval = None if stderr is None else t_interval(mean, stderr, count - 1)
        place = places.get(mind)
        found.append(
            Standing(
                mind=mind,
                score=mean,
                stderr=stderr,
                interval=wilson(mean, count) if hits else interval,
                units=count,
                exercises=int(rows.sum()),
                failed=scores.failed[n],
                rank=place.rank if place else None,
                ranks=place.interval if place else None,
            )
        )
    return tuple(sorted(found, key=lambda one: -one.score))


def wilson(rate: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate of hits."""
    z2 = 1.959963984540054**2
    middle = (rate + z2 / (2 * count)) / (1 + z2 / count)
    reach = np.sqrt(z2 * (rate * (1 - rate) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    return float(middle - reach), float(middle + reach)


def _check_factor(frame: pd.DataFrame, by: str) -> None:
    check_constant(frame, by)
    levels = frame[by].nunique()
    if levels > MOST_LEVELS:
        raise Error(f"'{by}' has {levels} values; compare by a column of at most {MOST_LEVELS}")


def _anova(
    frame: pd.DataFrame, unit: str | None, by: str | None
) -> tuple[Anova | None, tuple[str, ...]]:
    """Mind and factor within tests, where every test has every value of the factor."""
    if by is None or unit is None or by == unit:
        return None, ()
    good = frame[frame["status"].astype(str) == "ok"] if "status" in frame else frame
    try:
        return repeated_measures(good, unit, ("mind", by)), ()
    except Error as error:
        return None, (f"No analysis of variance: {error}.",)
