"""The number of exercises for a wanted precision, from the variance in a pilot.

There are four questions, each with its own answer: the 95 % interval of a mind's score, that of the
difference of two minds on the same exercises, generalisability Eρ² and dependability Φ, and Rel of
Insa-Cabrera and Hernández-Orallo (2015). A score's error is the one that the instrument's own tally
gives, so that strata, weights by complexity and administrations of adaptive tests count as they do
in every table; it falls with the root of the number of exercises. A number is given with an
assurance, the chance that it is enough: neither the pilot's variance nor that of the exercises to
come is the true one, and a number from the pilot's variance as it stands would be enough in about
half of all studies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from allminds.core.errors import Error
from allminds.inference import Units
from allminds.inference.units import clustered_error
from allminds.statistics.pilot import Pilot, Spread, within
from allminds.statistics.reliability import (
    Strata,
    Values,
    components,
    exercises_for_generalisability,
    exercises_for_rel,
    of_measured,
    reliance,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allminds.statistics.reliability import Components

Figure = Literal["interval", "difference", "generalisability", "dependability", "rel"]
MOST_PAIRS = 200
UNSURE = "the pilot is too small to be sure that the minds differ beyond chance; make it larger"
ALIKE = "the same in all exercises of the pilot, which cannot say how many will do"


@dataclass(frozen=True)
class Wanted:
    """The precision that is wanted; None stands for what is not asked for."""

    interval: float | None = None  # half the length of the 95 % interval of a mind's score
    difference: float | None = None  # the same of the difference of two minds
    reliability: float | None = None  # Eρ², and Φ
    rel: float | None = None  # e^(-TE)
    assurance: float = 0.8  # the chance with which the number is to do

    def __post_init__(self) -> None:
        """Require lengths above 0, and reliabilities between 0 and 1."""
        for name in ("interval", "difference"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise Error(f"a wanted {name} is above 0, such as 0.02, not {value:g}")
        for name in ("reliability", "rel"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise Error(f"a wanted {name} lies between 0 and 1, such as 0.9, not {value:g}")
        if not 0.5 <= self.assurance < 1:
            raise Error(f"an assurance lies between 0.5 and 1, such as 0.8, not {self.assurance:g}")


@dataclass(frozen=True)
class Answer:
    """The number of exercises that is enough, and its uncertainty; or `why` there is none."""

    figure: Figure
    who: str  # a mind, a pair of minds, or all of them
    wanted: float
    pilot: float | None  # the figure with the pilot's own number of exercises
    exercises: int | None  # that will do with the assurance asked for
    even: int | None  # as if the pilot's variance were the true one: a coin toss
    low: int | None  # 95 % of that: as the pilot's variance may be less or more than it looks
    high: int | None  # None: no number is surely enough
    why: str = ""


def plan(pilot: Pilot, wanted: Wanted) -> list[Answer]:
    """Answer all that is wanted, in the order of `Wanted`."""
    found: list[Answer] = []
    if wanted.interval is not None:
        for mind, spread in pilot.spreads.items():
            found.append(_of_spread("interval", mind, wanted.interval, spread, pilot, wanted))
    if wanted.difference is not None:
        found += _differences(pilot, wanted.difference, wanted)
    if wanted.reliability is not None:
        found += _reliabilities(pilot, wanted.reliability, wanted.assurance)
    if wanted.rel is not None:
        found.append(_rel(pilot, wanted.rel, wanted.assurance))
    return found


def precision(
    pilot: Pilot, most: int, assurance: float = 0.8, points: int = 60
) -> Iterator[tuple[str, int, float]]:
    """Compute, by exercises, half the length that every mind's interval has at most."""
    steps = np.unique(np.geomspace(pilot.unit * 2, max(most, pilot.unit * 3), points).astype(int))
    for mind, spread in pilot.spreads.items():
        if isinstance(spread, Spread):
            for exercises in steps.tolist():
                reach = spread.half_width(exercises, assurance)
                if math.isfinite(reach):
                    yield mind, exercises, reach


# ---------------------------------------------------------------- intervals


def _of_spread(
    figure: Figure, who: str, width: float, spread: Spread | str, pilot: Pilot, wanted: Wanted
) -> Answer:
    if isinstance(spread, str):
        return _cannot(figure, who, width, spread)
    if spread.variance == 0:
        return _cannot(figure, who, width, ALIKE, 0.0)
    reach = spread.half_width(pilot.exercises)
    now = reach if math.isfinite(reach) else None
    low, high = spread.range()
    try:
        exercises = spread.exercises_for(width, wanted.assurance)
        even = spread.exercises_for(width)
        least = spread.with_variance(low).exercises_for(width)
    except Error as error:
        return _cannot(figure, who, width, str(error), now)
    return Answer(figure, who, width, now, exercises, even, least, _or_none(spread, high, width))


def _cannot(
    figure: Figure, who: str, wanted: float, why: str, pilot: float | None = None
) -> Answer:
    """Answer that there is no number, and why."""
    return Answer(figure, who, wanted, pilot, None, None, None, None, why)


def _or_none(spread: Spread, variance: float, wanted: float) -> int | None:
    try:
        return spread.with_variance(variance).exercises_for(wanted)
    except Error:
        return None


def _differences(pilot: Pilot, width: float, wanted: Wanted) -> list[Answer]:
    """Answer for all pairs; the interval is that of `compare`."""
    pairs = list(itertools.combinations(range(len(pilot.minds)), 2))
    if not pairs:
        why = "a difference needs two or more minds"
        return [_cannot("difference", "all minds", width, why)]
    if len(pairs) > MOST_PAIRS:
        raise Error(
            f"{len(pairs)} pairs are too many to plan for; at most {MOST_PAIRS} are possible"
        )
    return [
        _of_spread(
            "difference", f"{pilot.minds[a]} − {pilot.minds[b]}", width,
            pair_spread(pilot.units[:, a] - pilot.units[:, b], pilot.strata, pilot.unit),
            pilot, wanted,
        )
        for a, b in pairs
    ]  # fmt: skip


def pair_spread(differences: Values, strata: Strata, unit: int = 1) -> Spread | str:
    """Estimate how much the difference of two minds varies, with the strata of `compare`.

    `unit` is the number of exercises that each difference stands for; NaN is missing.
    """
    rows = ~np.isnan(differences)
    there, lost = differences[rows], float(1 - rows.mean())
    if len(there) < 2:
        return "fewer than two exercises in common"
    if np.ptp(there) == 0 or unit > 1:
        residuals = there - there.mean()
        return Spread.of_residuals(residuals, len(there) - 1, unit=unit, lost=lost)
    strata = np.unique(strata[rows], return_inverse=True)[1].astype(np.intp)
    residuals, freedom, groups = within(there, strata)
    if not freedom:
        residuals, freedom, groups = within(there, np.zeros(len(there), np.intp))
        strata = np.zeros(len(there), np.intp)
    share = np.full(groups, 1 / groups)
    units = Units(there, strata.astype(np.int64), np.arange(len(there)), share, -2.0, 2.0)
    spread = Spread.of_residuals(residuals, freedom, strata=groups, lost=lost)
    return spread.with_variance(clustered_error(units)[0] ** 2 * len(there))


# ---------------------------------------------------------------- reliability


def _reliabilities(pilot: Pilot, wanted: float, assurance: float) -> list[Answer]:
    def cannot(why: str) -> list[Answer]:
        figures: Sequence[Figure] = ("generalisability", "dependability")
        return [_cannot(one, "all minds", wanted, why) for one in figures]

    units, strata = pilot.common()
    if len(pilot.minds) < 2:
        return cannot("reliability is about differences between minds, and there is one mind")
    if len(units) <= len(np.unique(strata)):
        return cannot("too few exercises in common: two or more in some stratum are needed")
    values = units[:, :, None]
    parts = components(values, strata)
    if parts.relative_error + parts.exercises == 0:
        return cannot("no score varies from exercise to exercise, so the pilot cannot say")
    ends = of_measured(values, strata)
    sure = of_measured(values, strata, (1 - assurance, 0.975))
    shares = None if ends is None or sure is None else (sure[0], *ends)
    return [
        _of_components("generalisability", parts.relative_error, parts, shares, wanted, pilot),
        _of_components(
            "dependability", parts.relative_error + parts.exercises, parts, shares, wanted, pilot
        ),
    ]


def _of_components(
    figure: Figure, error: float, parts: Components, shares: tuple[float, float, float] | None,
    wanted: float, pilot: Pilot,
) -> Answer:  # fmt: skip
    """Compute the number for Eρ² or Φ; Φ's uncertainty is taken as that of Eρ², in proportion.

    `shares` are Eρ² of the pilot: the lower bound with the assurance asked for, and the 95 % ends.
    """
    units = parts.counts[1]
    now = parts.minds / (parts.minds + error / units) if parts.minds + error else None
    try:
        exact = exercises_for_generalisability(wanted, parts.minds, error)
    except Error as problem:
        return _cannot(figure, "all minds", wanted, str(problem), now)
    if shares is None or not parts.relative_error:
        return _cannot(figure, "all minds", wanted, UNSURE, now)
    odds = wanted / (1 - wanted) * error / parts.relative_error
    # Eρ²/(1-Eρ²) grows with the number of exercises
    counts = [units * odds * (1 - s) / s if s > 0 else math.inf for s in shares]
    assured, high, low = (pilot.whole(count) for count in counts)
    if assured is None:
        return _cannot(figure, "all minds", wanted, UNSURE, now)
    even = pilot.whole(exact)
    return Answer(figure, "all minds", wanted, now, max(assured, even or 0), even, low, high)


def _rel(pilot: Pilot, wanted: float, assurance: float) -> Answer:
    """Compute the number for Rel; TE is the squared standard error of a score, over minds."""
    from scipy.special import chdtri

    spreads = [one for one in pilot.spreads.values() if isinstance(one, Spread)]
    if len(spreads) < len(pilot.spreads):
        mind, why = next(one for one in pilot.spreads.items() if isinstance(one[1], str))
        return _cannot("rel", "all minds", wanted, f"{mind}: {why}")
    errors = [one.variance / one.exercises for one in spreads]
    given = 1 - max(one.lost for one in spreads)
    lows, highs = zip(*(one.range() for one in spreads), strict=True)
    middle = [one.variance for one in spreads]
    known = min(one.freedom for one in spreads)  # minds had the same exercises, and go together
    worse = known / float(chdtri(known, assurance)) if known > 0 else 1.0
    sure = [one * worse for one in middle] if known > 0 else list(highs)
    exercises, even, low, high = (
        pilot.whole(exercises_for_rel(wanted, sum(these) / len(these)) / given / pilot.unit)
        for these in (sure, middle, lows, highs)
    )
    return Answer("rel", "all minds", wanted, reliance(errors), exercises, even, low, high)
