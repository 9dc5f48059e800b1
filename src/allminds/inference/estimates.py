"""Estimates: from plays to one score with its interval, wherever allminds prints one.

A play is one exercise taken by one mind. Plays of the same item are repeats and count as one unit;
units that share a cluster (shifts of one series, one person, one test of seven) are not independent
and their errors are clustered. A failed exercise counts, with the score that
`Instrument.failed_score` gives it; a missing one (the fault of the provider, of another mind or of
the machine) does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import STATUSES
from allminds.core.blocks import Block
from allminds.inference import verdict
from allminds.inference.intervals import (
    FEWEST,
    Evidence,
    Interval,
    Student,
    mostly_alike,
    of_mean,
    t_interval,
)
from allminds.inference.units import Numbers, Units, Values, clustered_error, standard_error
from allminds.inference.verdict import MARGIN, MOST_FAILED, Difference

if TYPE_CHECKING:
    from allminds.inference.ability import Ability

NOT_PLAYED = tuple(STATUSES.index(status) for status in ("void", "missing"))


@dataclass(frozen=True)
class Rule:
    """The rule by which the plays of a mind become one figure.

    The figure is the mean over the strata of a complexity, each of the same weight, or each
    weighing n · complexity (r̃ of the C-test). In an adaptive test an administration of `sitting`
    plays has one `figure`, made of the complexities it asked for and of the scores, and is one
    unit; `error` is that figure's standard error and degrees of freedom from within a single one.
    A figure that is `bounded` is a mean of scores, of those that are not missing. A figure that is
    an `ability` has an interval of its own, and there is one administration.
    """

    strata: str | None = None
    weighted: bool = False
    low: float = -1.0  # the lowest and the highest score there can be
    high: float = 1.0
    scored: tuple[int, ...] = (0,)  # slots whose mean is the score of a play
    sitting: int = 1
    figure: Callable[[Values, Values], float] | None = None
    error: Callable[[Values, Values], tuple[float, float] | None] | None = None
    bounded: bool = False
    ability: Callable[[Values, Values], Ability] | None = None

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest difference that two scores can have."""
        return self.low - self.high, self.high - self.low


@dataclass(frozen=True)
class Estimate:
    """A score with the figures printed beside it; None stands for what cannot be estimated."""

    score: float | None = None
    stderr: float | None = None
    ci95: Interval | None = None
    normalised: float | None = None  # (score - floor) / (ceiling - floor), as measured
    normalised_ci95: Interval | None = None
    learning: float | None = None  # mean of the second half of the steps minus the first
    episodes: int = 0  # plays that were asked for
    units: int = 0  # items, or administrations
    clusters: int = 0  # independent ones among them
    failed: int = 0
    missing: int = 0
    finished: float | None = None  # the score of the plays that did not fail, if some did
    bounds: Interval | None = None  # the score, had every failure been the worst or the best

    @property
    def coverage(self) -> float | None:
        """The share of the plays that were finished, without the missing ones."""
        asked = self.episodes - self.missing
        return (asked - self.failed) / asked if asked else None

    def with_interval(self, other: Estimate) -> Estimate:
        """Replace the interval and the standard error by those of `other`."""
        return replace(self, ci95=other.ci95, stderr=other.stderr)

    @property
    def ranked(self) -> bool:
        """True if the score may stand in a ranking: at most 5 % of the plays failed."""
        return self.score is not None and not too_many(self.failed, self.episodes - self.missing)


def too_many(failed: int, plays: int) -> bool:
    """Check whether more than 5 % of the plays failed."""
    return failed > MOST_FAILED * plays


@dataclass(frozen=True)
class Plays:
    """The plays of one mind on one test, in the order of their exercises.

    With a `count`, a row stands for so many plays that are alike, each of an item of its own (see
    `Tally`); these have a mean, but cannot be paired.
    """

    item: Numbers  # equal for plays of the same item, in all minds of a test
    cluster: Numbers  # the items themselves, if nothing makes some of them alike
    stratum: Values
    score: Values  # failures count; NaN where the play is missing
    failed: NDArray[np.bool_]
    learning: Values
    count: Values | None = None

    def __len__(self) -> int:
        return len(self.score)

    def number(self, rows: NDArray[np.bool_]) -> int:
        """Count the plays for which `rows` is True."""
        return int(rows.sum() if self.count is None else self.count[rows].sum())

    @property
    def fails_too_often(self) -> bool:
        """True if more than 5 % of the plays that are not missing failed."""
        return too_many(self.number(self.failed), self.number(~np.isnan(self.score)))

    def where(self, rows: NDArray[np.bool_]) -> Plays:
        """Select the plays for which `rows` is True."""
        there = {name: of for name, of in vars(self).items() if of is not None}
        return Plays(**{name: of[rows] for name, of in there.items()})

    def scored_as(self, score: Values) -> Plays:
        """Copy the plays with other scores."""
        return replace(self, score=score)

    def units(self, rule: Rule) -> Units | None:
        """Average the repeats of each item into one unit; return None if nothing was played."""
        missing = np.isnan(self.score)
        if missing.all():
            return None
        if missing.any():
            return self.where(~missing).units(rule)
        if self.count is not None:
            score, first = self.score, np.arange(len(self))
        else:
            _, first, code = np.unique(self.item, return_index=True, return_inverse=True)
            score = np.bincount(code, self.score) / np.bincount(code)
        values, stratum = np.unique(self.stratum[first], return_inverse=True)
        share = np.ones(len(values))
        if rule.weighted:
            share = np.bincount(stratum, self.count) * values
        share = share / share.sum() if share.sum() > 0 else np.ones(len(values)) / len(values)
        cluster = np.arange(len(first))
        if self.cluster is not self.item and self.count is None:
            _, cluster = np.unique(self.cluster[first], return_inverse=True)
        return Units(score, stratum, cluster, share, rule.low, rule.high, self.count)

    def figures(self, rule: Rule) -> Values:
        """Compute the figure of every whole administration, or of all plays while none is whole."""
        assert rule.figure is not None
        score = (
            self.score if rule.bounded or rule.ability else np.nan_to_num(self.score, nan=rule.low)
        )
        size = rule.sitting
        cuts = [slice(n, n + size) for n in range(0, len(score) - size + 1, size)]
        cuts = cuts or [slice(0, len(score))]
        return np.array([rule.figure(self.stratum[cut], score[cut]) for cut in cuts])


# ---------------------------------------------------------------- one mind


def estimate(plays: Plays, rule: Rule) -> Estimate:
    """Estimate the score of a mind, its interval, and the bounds that its failures leave."""
    found = Estimate(
        episodes=plays.number(np.ones(len(plays), bool)),
        failed=plays.number(plays.failed),
        missing=plays.number(np.isnan(plays.score)),
    )
    mean, units, evidence, stderr = summed(plays, rule)
    if mean is None:
        return found
    found = replace(
        found, score=mean, stderr=stderr, units=units[0], clusters=units[1],
        ci95=None if evidence is None else evidence.interval(), learning=_learning(plays),
    )  # fmt: skip
    if not found.failed or rule.figure is not None:
        return found
    finished = summed(plays.where(~plays.failed), rule)[0]
    ends = [np.where(plays.failed, end, plays.score) for end in (rule.low, rule.high)]
    low, high = (summed(plays.scored_as(score), rule)[0] for score in ends)
    return replace(found, finished=finished, bounds=(low or 0.0, high or 0.0))


def summed(
    plays: Plays, rule: Rule
) -> tuple[float | None, tuple[int, int], Evidence | None, float | None]:
    """Compute the mean, the numbers of units and clusters, the evidence and the standard error."""
    if rule.figure is not None:
        return _levels(plays, rule)
    units = plays.units(rule)
    if units is None:
        return None, (0, 0), None, None
    counts = (units.number, units.clusters)
    return units.mean, counts, of_mean(units), standard_error(units)


def _levels(
    plays: Plays, rule: Rule
) -> tuple[float | None, tuple[int, int], Evidence | None, float | None]:
    """Average over administrations, with the error between them or, if there is one, within it."""
    if not len(plays):
        return None, (0, 0), None, None
    if rule.ability is not None:
        found = rule.ability(plays.stratum, plays.score)
        return found.value, (found.items, found.items), found, None
    figures = plays.figures(rule)
    if rule.bounded:
        units = _as_units(figures[~np.isnan(figures)], rule.low, rule.high)
        if not len(units.score):
            return None, (0, 0), None, None
        counts = (len(units.score), units.clusters)
        return units.mean, counts, of_mean(units), standard_error(units)
    mean, n = float(figures.mean()), len(figures)
    error = over_figures(figures)
    if rule.error is not None and n == 1:
        error = rule.error(plays.stratum, np.nan_to_num(plays.score))
    evidence = None if error is None else Student(mean, *error)
    stderr = evidence.stderr if isinstance(evidence, Student) else None
    return mean, (n, n), evidence, stderr


def _as_units(figures: Values, low: float, high: float) -> Units:
    """Take the figures of administrations as independent units."""
    n = len(figures)
    return Units(figures, np.zeros(n, np.int64), np.arange(n), np.ones(1), low, high)


def over_figures(figures: Values) -> tuple[float, float] | None:
    """Compute the standard error of the mean of independent figures, and its degrees of freedom.

    None if more than half of them are one value, as at either end of the scale.
    """
    if len(figures) < 2 or mostly_alike(figures):
        return None
    return float(figures.std(ddof=1)) / len(figures) ** 0.5, len(figures) - 1.0


def _learning(plays: Plays) -> float | None:
    """Average over the strata what the plays gained from their first half to their second."""
    there = ~np.isnan(plays.learning)
    if not there.any():
        return None
    gained, count = plays.learning[there], None
    if plays.count is not None:
        count = plays.count[there]
        gained = gained * count
    _, stratum = np.unique(plays.stratum[there], return_inverse=True)
    means = np.bincount(stratum, gained) / np.bincount(stratum, count)
    return math.fsum(means.tolist()) / len(means)


# ---------------------------------------------------------------- several minds


def difference(
    first: Plays, second: Plays, rule: Rule, names: tuple[str, str], margin: float = MARGIN,
    unpaired: bool = False,
) -> Difference | None:  # fmt: skip
    """Estimate the difference of two minds in the figure of `estimate`, on the items of both.

    None if they have no item in common, unless `unpaired` comparisons are wanted.
    """
    failed = any(one.fails_too_often for one in (first, second))
    if rule.figure is not None:
        return _between_levels(first, second, rule, names, margin, failed)
    one, other = _common(first, second)
    if not len(one):
        if not unpaired:
            return None
        sides = [summed(plays, rule) for plays in (first, second)]
        a, b = ((mean or 0.0, counts[1], evidence) for mean, counts, evidence, _ in sides)
        return verdict.apart(a, b, names, margin, failed)
    mine, theirs = one.units(rule), other.units(rule)
    assert mine is not None
    assert theirs is not None
    low, high = rule.range
    units = replace(mine, score=mine.score - theirs.score, low=low, high=high)
    scores = np.concatenate([mine.score, theirs.score])
    return verdict.paired(units, bool(np.isin(scores, (0.0, 1.0)).all()), names, margin, failed)


def _common(first: Plays, second: Plays) -> tuple[Plays, Plays]:
    """Keep the plays of the items that both minds have, without the missing ones."""
    if np.array_equal(first.item, second.item) and not np.isnan(first.score + second.score).any():
        return first, second
    one, other = (plays.where(~np.isnan(plays.score)) for plays in (first, second))
    both = np.intersect1d(one.item, other.item)
    return one.where(np.isin(one.item, both)), other.where(np.isin(other.item, both))


def _between_levels(
    first: Plays, second: Plays, rule: Rule, names: tuple[str, str], margin: float, failed: bool
) -> Difference:
    """Compare levels of an adaptive test by administrations; from within, if there is one."""
    figures = [plays.figures(rule) for plays in (first, second)]
    n = min(len(found) for found in figures)
    if n < 2:
        sides = [_levels(plays, rule) for plays in (first, second)]
        a, b = ((mean or 0.0, counts[1], evidence) for mean, counts, evidence, _ in sides)
        return verdict.apart(a, b, names, margin, failed)
    gaps = figures[0][:n] - figures[1][:n]
    if rule.bounded and not np.isnan(gaps).all():
        units = _as_units(gaps[~np.isnan(gaps)], *rule.range)
        return verdict.paired(units, False, names, margin, failed)
    units = _as_units(gaps, -math.inf, math.inf)  # a level has no range that would bound it
    return verdict.of_levels(units, names, margin, failed)


def normalised(
    own: Plays, floor: Plays, ceiling: Plays | float, rule: Rule
) -> tuple[float, Interval | None] | None:
    """Compute (score - floor) / (ceiling - floor) on common items, by the delta method.

    A known bound stands in for a ceiling that no mind plays. None where floor and ceiling are not
    "different" with the floor below, so that there is no scale.
    """
    mine, low = _common(own, floor)
    if isinstance(ceiling, Plays):
        top, low = _common(ceiling, low)
        mine, _ = _common(mine, low)
    found = [plays.units(rule) for plays in (mine, low)]
    if found[0] is None or found[1] is None:
        return None
    units, bottom = found[0], found[1]
    above: Values | float = ceiling if isinstance(ceiling, float) else _scores(top, rule)
    gap, width = units.score - bottom.score, above - bottom.score
    low_end, high_end = rule.range
    span = np.broadcast_to(width, gap.shape).astype(float)
    scale = replace(units, score=span, low=low_end, high=high_end)
    hits = bool(np.isin(np.concatenate([bottom.score, bottom.score + span]), (0.0, 1.0)).all())
    if verdict.paired(scale, hits, ("ceiling", "floor")).sign <= 0:
        return None
    whole = scale.mean
    value = replace(units, score=gap).mean / whole
    if units.clusters < FEWEST:
        return value, None
    stderr, freedom = clustered_error(replace(units, score=(gap - value * width) / whole))
    return value, t_interval(value, stderr, freedom) if stderr > 1e-12 else None


def _scores(plays: Plays, rule: Rule) -> Values:
    units = plays.units(rule)
    assert units is not None
    return units.score


# ---------------------------------------------------------------- from records to plays


def plays_of(block: Block, rule: Rule) -> Plays:
    """Convert a line-up's block of records to plays."""
    scored = list(rule.scored)
    score, failed = play_scores(block.score[:, scored], block.status[:, scored])
    stratum = block.complexity[rule.strata] if rule.strata else np.zeros(len(score))
    index = np.arange(block.first, block.first + len(score))
    item = index if block.item is None else block.item
    cluster = item if block.cluster is None else block.cluster
    learning = np.where(failed, np.nan, block.learning[:, scored].mean(axis=1))
    return Plays(item, cluster, stratum, score, failed, learning)


def play_scores(score: Values, status: NDArray[np.int8]) -> tuple[Values, NDArray[np.bool_]]:
    """Compute the score of each play from its slots [play, slot], and whether the play failed.

    It failed if a slot's mind did, and then that slot's score counts; it is missing (NaN) if a slot
    has none through no fault of its own.
    """
    lost = np.isin(status, NOT_PLAYED)
    at_fault = (status > 0) & ~lost
    failed = np.asarray(at_fault.any(axis=1))
    counted = np.where(failed[:, None], at_fault, True)
    with np.errstate(invalid="ignore"):
        total = np.where(counted, score, 0.0).sum(axis=1) / counted.sum(axis=1)
    return np.where(~failed & np.asarray(lost.any(axis=1)), np.nan, total), failed
