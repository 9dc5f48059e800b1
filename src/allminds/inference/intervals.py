"""Intervals of a mean: every interval that allminds prints is computed here.

Each class holds what was observed and answers two questions: `interval(level)`, and `tails(value)`,
the one-sided p-values of a truth at most, and at least, `value`. `of_mean` chooses among them for
the mean score of some units, `of_paired_hits` for the difference of two minds that are right or
wrong on the same units.

- Hits, fewer than 20: Clopper and Pearson (1934), exact. From 20 on: Wilson (1927); over strata
  with weights, Wilson's for the effective number of units.
- Mean of bounded scores: Student's t with the CR2 standard error of Bell and McCaffrey (2002) and
  Satterthwaite's degrees of freedom. Where the sample cannot bear that (fewer than 8 units, hardly
  any variance, a few units far from all others, or a mean so near to an end of the scale that rare
  values may not have shown up yet):
  the betting interval of Waudby-Smith and Ramdas (2024), valid for any bounded scores and any n.
- Difference of paired hits: Tango's (1998) score interval.

Coverage of all of them is measured by ``allminds calibrate``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from allminds.inference.laws import (
    brent,
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
)
from allminds.inference.units import (
    EXPECTED,
    Numbers,
    Units,
    Values,
    clustered_error,
    differing,
    skewed,
    sums,
)

Interval = tuple[float, float]

LEVEL = 0.95
EXACT_BELOW = 20  # hits: the exact interval below, Wilson's from there on
FEWEST = 8  # units for a normal approximation
OUTER = 0.25  # of the scale at either end: where the mean lies there, Student's t needs
# n · (its distance to that end / range) of `EXPECTED`, as for a count of rare hits
NEARLY = 0.02  # of the scale: scores that vary less than this have nearly no variance
POOLED = 10  # units that a stratum of the stratified Wilson interval has at least

_BETS = (np.arange(24) + 0.5) / 24  # shares of the capital that are bet, mixed evenly


class Evidence(Protocol):
    """The evidence of some units about the mean that they are a sample of."""

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute the two-sided confidence interval of the mean."""
        ...

    def tails(self, value: float) -> tuple[float, float]:
        """Compute one-sided p-values of a true mean at most, and at least, `value`."""
        ...


# ---------------------------------------------------------------- the kinds of evidence


@dataclass(frozen=True)
class Student:
    """A mean with a standard error and degrees of freedom, on a scale from `low` to `high`."""

    mean: float
    stderr: float
    freedom: float
    low: float = -math.inf
    high: float = math.inf

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute mean ± t · standard error, cut to the scale."""
        low, high = t_interval(self.mean, self.stderr, self.freedom, level)
        return max(low, self.low), min(high, self.high)

    def tails(self, value: float) -> tuple[float, float]:
        """Compute both p-values from the t distribution."""
        t = (self.mean - value) / self.stderr
        return student_cdf(self.freedom, -t), student_cdf(self.freedom, t)


@dataclass(frozen=True)
class Hits:
    """A count of `hits` among `n` units, all of the same weight."""

    hits: int
    n: int

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute Clopper and Pearson's interval for n below 20, Wilson's from there on."""
        if self.n >= EXACT_BELOW:
            return wilson(self.hits / self.n, self.n, _z(level))
        return clopper_pearson(self.hits, self.n, (1 - level) / 2)

    def tails(self, value: float) -> tuple[float, float]:
        """Find the levels at which the interval ends at `value`."""
        return level_tails(self.interval, self.hits / self.n, value)


@dataclass(frozen=True)
class StratifiedHits:
    """Σ_h W_h p_h: rates p of hits in strata of n units each, whose shares W sum to 1."""

    rate: Values
    n: Values  # effective: (Σ w)² / Σ w² where weights differ within a stratum
    share: Values

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute Wilson's interval for the number of units that would be as sure without strata.

        Their number is p(1 - p) / Σ W² p_h(1 - p_h)/n_h, with every p_h drawn a little towards ½,
        so that strata without variance count too.
        """
        drawn = (self.rate * self.n + 0.25) / (self.n + 0.5)
        variance = float((self.share**2 * drawn * (1 - drawn) / self.n).sum())
        whole = float((self.share * drawn).sum())
        return wilson(self._mean(), whole * (1 - whole) / variance, _z(level))

    def tails(self, value: float) -> tuple[float, float]:
        """Find the levels at which the interval ends at `value`."""
        return level_tails(self.interval, self._mean(), value)

    def _mean(self) -> float:
        return min(float((self.share * self.rate).sum()), 1.0)


@dataclass(frozen=True)
class Betting:
    """A weighted mean of independent scores in [low, high], whatever their distribution.

    A gambler that bets the share c of its capital that scores are above m, unit after unit, has Π
    (1 - c + c·y/m) in the end. If the true mean were m the capital would be 1 or less on average,
    so m is refused once the mean of the capitals over many c reaches 2/α. This is valid for means
    that differ from unit to unit, since bets do not change on the way.
    """

    scores: Values
    weights: Values  # sum to 1
    low: float
    high: float
    count: Values | None = None  # units that are alike and have one row

    def interval(self, level: float = LEVEL) -> Interval:
        """Find the means that are refused neither as too low nor as too high."""
        least = math.log(2 / (1 - level))
        low, high = self._lower(self._unit(), least), 1 - self._lower(1 - self._unit(), least)
        width = self.high - self.low
        return self.low + width * max(low, 0.0), self.low + width * min(high, 1.0)

    def tails(self, value: float) -> tuple[float, float]:
        """Compute 1 / the gambler's capital, at most 1, for either side."""
        m = (value - self.low) / (self.high - self.low)
        at_most, at_least = self._capital(self._unit(), m), self._capital(1 - self._unit(), 1 - m)
        return math.exp(-max(at_most, 0.0)), math.exp(-max(at_least, 0.0))

    def _unit(self) -> Values:
        """Rescale the scores to shares of the scale."""
        return (self.scores - self.low) / (self.high - self.low)

    def _capital(self, y: Values, m: float) -> float:
        """Compute the logarithm of the capital after bets on a mean above m."""
        if m <= 0:
            return math.inf if (y > 0).any() else 0.0
        n = len(y) if self.count is None else self.count.sum()
        scaled = n * self.weights * y / m
        each = np.log1p(_BETS[:, None] * (scaled - 1))
        logs = np.add.reduce(each if self.count is None else each * self.count, axis=1)
        top = float(np.maximum.reduce(logs))  # methods of arrays take longer than the sums do
        return top + math.log(float(np.add.reduce(np.exp(logs - top))) / len(logs))

    def _lower(self, y: Values, least: float) -> float:
        """Find the m at which the capital falls to `least`."""
        weighted = self.weights * y
        mean = float((weighted if self.count is None else weighted * self.count).sum())
        if self._capital(y, mean * 1e-12) < least:
            return 0.0
        return brent(lambda m: self._capital(y, m) - least, mean * 1e-12, mean, 1e-9)


@dataclass(frozen=True)
class PairedHits:
    """Two minds on `n` common units: `gained` the first alone solved, `lost` the second alone."""

    gained: int
    lost: int
    n: int

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute Tango's interval: the differences whose score statistic is within ±z."""
        z, mean = _z(level), (self.gained - self.lost) / self.n
        low = _root(lambda at: self._score(at) - z, -1.0, mean) if mean > -1 else -1.0
        high = _root(lambda at: self._score(at) + z, mean, 1.0) if mean < 1 else 1.0
        return low, high

    def tails(self, value: float) -> tuple[float, float]:
        """Compute both p-values from the score statistic."""
        z = self._score(value)
        return normal_cdf(-z), normal_cdf(z)

    def _score(self, at: float) -> float:
        """Compute the score statistic (b - c - nΔ) / √(n(2q + Δ(1 - Δ))).

        q is the likeliest chance of a loss if Δ were true.
        """
        b, c, n = self.gained, self.lost, self.n
        middle = -b - c + (2 * n - b + c) * at
        root = math.sqrt(max(middle**2 - 8 * n * -c * at * (1 - at), 0.0))
        q = (root - middle) / (4 * n)
        variance = n * (2 * q + at * (1 - at))
        above = b - c - n * at
        if variance <= 0:
            return 0.0 if above == 0 else math.copysign(math.inf, above)
        return above / math.sqrt(variance)


# ---------------------------------------------------------------- the choice of evidence


def of_mean(units: Units) -> Evidence:
    """Choose the evidence about a mean score that the sample can bear."""
    alone, scale = units.clusters == units.number, (units.low, units.high)
    if alone and scale == (0.0, 1.0) and bool(np.isin(units.score, scale).all()):
        return _of_hits(units)
    student = student_of(units)
    return betting_of(units) if student is None else student


def of_difference(units: Units, hits: bool) -> Evidence:
    """Choose the evidence about the mean of paired differences; `hits` if both minds had hits."""
    alone = units.clusters == len(units.score)
    if hits and alone and np.ptp(units.weights) < 1e-12:
        gained, lost = int((units.score > 0).sum()), int((units.score < 0).sum())
        return PairedHits(gained, lost, len(units.score))
    # Differences are on twice the scale, and two minds often differ by little everywhere.
    nearly = NEARLY if units.clusters < EXACT_BELOW else NEARLY / 4
    student = student_of(units, nearly) if differing(units) >= FEWEST else None
    return betting_of(units) if student is None else student


def _of_hits(units: Units) -> Evidence:
    """Count hits of equal weight as one sample; count weighted hits by pools of strata."""
    weights, n = units.weights, units.number
    if np.ptp(weights) < 1e-12 and (n < EXACT_BELOW or len(units.share) == 1):
        return Hits(int(units.times(units.score).sum()), n)
    if n < EXACT_BELOW:
        return betting_of(units)
    pool = _pooled(units)
    share = sums(pool, units.times(weights))
    rate = sums(pool, units.times(weights * units.score)) / share
    return StratifiedHits(rate, share**2 / sums(pool, units.times(weights**2)), share)


def _pooled(units: Units) -> Numbers:
    """Merge neighbouring strata until each has `POOLED` units."""
    sizes = np.bincount(units.stratum, units.count)
    pool, number, held = np.zeros(len(sizes), np.int64), 0, 0
    for h, size in enumerate(sizes):
        pool[h] = number
        held += int(size)
        if held >= POOLED and sizes[h + 1 :].sum() >= POOLED:
            number, held = number + 1, 0
    return pool[units.stratum]


def student_of(units: Units, nearly: float = NEARLY) -> Student | None:
    """Build Student's t for the mean, or return None where the sample cannot bear it.

    Scores whose standard deviation is below `nearly` of the scale have nearly no variance.
    """
    n, mean, width = units.clusters, units.mean, units.high - units.low
    if n < FEWEST or np.ptp(units.score) == 0:
        return None
    inside = min(mean - units.low, units.high - mean) / width if width < math.inf else 1.0
    if inside < OUTER and n * inside < EXPECTED:
        return None
    stderr, freedom = clustered_error(units)
    if not stderr > 1e-12 * max(1.0, abs(mean)):
        return None
    # Scores that hardly vary, and samples whose variance rests on a few units far from the others:
    # a rare score that has not come up, or once too seldom, would put the truth outside.
    if width < math.inf and (stderr * n**0.5 < nearly * width or skewed(units)):
        return None
    return Student(mean, stderr, freedom, units.low, units.high)


def betting_of(units: Units) -> Betting:
    """Build the betting evidence, with one score for each cluster."""
    weights = sums(units.cluster, units.weights)
    scores = sums(units.cluster, units.weights * units.score) / weights
    clipped = np.clip(scores, units.low, units.high)
    return Betting(clipped, weights, units.low, units.high, units.count)


# ---------------------------------------------------------------- formulas


def mostly_alike(values: Values) -> bool:
    """Check whether more than half of the values are the same: their spread says nothing."""
    _, counts = np.unique(values, return_counts=True)
    return bool(2 * counts.max() > len(values))


def t_interval(mean: float, stderr: float, freedom: float, level: float = LEVEL) -> Interval:
    """Compute mean ± t · standard error."""
    reach = student_quantile(float(freedom), (1 + level) / 2) * stderr
    return mean - reach, mean + reach


def plain_interval(mean: float, stderr: float, n: float) -> Interval | None:
    """Compute Student's interval of n values; return None below eight, or if none differs."""
    if n < FEWEST or stderr <= 1e-12:
        return None
    return t_interval(mean, stderr, n - 1)


def clopper_pearson(hits: float, n: float, tail: float) -> Interval:
    """Compute exact bounds of a rate, each wrong with probability `tail` at most."""
    from scipy.special import betaincinv

    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


def wilson(rate: float, n: float, z: float) -> Interval:
    """Compute Wilson's interval: the rates within z standard errors of the observed one."""
    z2 = z * z / n
    middle = (rate + z2 / 2) / (1 + z2)
    reach = math.sqrt(z2 * (rate * (1 - rate) + z2 / 4)) / (1 + z2)
    # the rate is always inside, whatever rounding does at 0 and 1
    return min(max(middle - reach, 0.0), rate), max(min(middle + reach, 1.0), rate)


def _z(level: float) -> float:
    return normal_quantile((1 + level) / 2)


def _root(function: Callable[[float], float], low: float, high: float, steps: int = 36) -> float:
    """Find by bisection where a falling function crosses 0 between two values."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def level_tails(
    interval: Callable[[float], Interval], estimate: float, value: float
) -> tuple[float, float]:
    """Compute one-sided p-values from the levels at which an interval ends at `value`."""
    if value == estimate:
        return 1.0, 1.0
    end = 0 if value < estimate else 1

    def outside(alpha: float) -> float:
        found = interval(1 - 2 * alpha)[end]
        return found - value if end == 0 else value - found

    p = _root(lambda log: -outside(math.exp(log)), math.log(1e-15), math.log(0.5), 24)
    p = math.exp(p)
    return (p, 1 - p) if end == 0 else (1 - p, p)
