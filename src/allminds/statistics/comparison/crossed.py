"""Crossed comparisons: people are a sample of people, and items a sample of items.

The model is score ~ who + (1 | person) + (1 | item), by restricted maximum likelihood (REML) with
Satterthwaite's degrees of freedom. A program has no person effect, and its successes do not scatter
over items as those of people do: it may solve an item always, or never. So people are compared with
a program by differences on the same item, d = person - program, d ~ 1 + (1 | person) + (1 | item):
whatever the program scores on an item is in the item's effect. Two groups of people (arms): score ~
who + (1 | person) + (1 | item) + (1 | who:item). The same people twice: by differences. Two
programs, or two individuals: items only.

With few people REML often puts the variance between them at 0, and Satterthwaite then counts rows
instead of people. So three standard errors are computed: of the crossed model, of a t-test over
people, and of a t-test over items, each with its own degrees of freedom; the widest interval is
printed, and the largest p. If the people do not differ at all (all of them right, for example), a
sample variance of 0 shows little: of P equal people, up to 1 - (α/2)^(1/P) of all people may be
unlike them (Clopper and Pearson 1934), and may score anything that is possible. If a few items lie
far from all others, as where most scores are near an end of the scale, the interval also holds the
betting interval over items.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from allminds.inference import Plays, Rule, Units
from allminds.inference.intervals import EXACT_BELOW, Betting
from allminds.inference.units import collapsed
from allminds.statistics.comparison.mixed import (
    EDGE,
    Codes,
    Contrast,
    LinearMixed,
    Values,
    reach_of,
    separable,
)
from allminds.statistics.comparison.spreads import (
    ALIKE,
    FEW,
    Alike,
    Side,
    Spread,
    added,
    bets,
    clustered,
    flipped,
    joined,
    means,
    of_few_hits,
    paired_over,
    people_in,
    relabelled,
    same,
    sides_of,
    unseen,
    welch,
)


@dataclass(frozen=True)
class Crossed:
    """The mean score of `first` minus that of `second`; None stands for what cannot be estimated.

    `stderr` and `df` are those of the widest of the `spreads`. Intervals and p are the most
    cautious of all spreads, and allow for units that are all alike.
    """

    first: str
    second: str
    estimate: float | None
    stderr: float | None
    df: float | None
    interval: tuple[float, float] | None  # 95 %
    interval90: tuple[float, float] | None
    p: float | None  # that there is no difference, two-sided
    p_exact: float | None  # of rearranged signs or labels, if people or items are fewer than 8
    person: float | None  # variance components of the crossed model: between people,
    item: float | None  # between items (in difference, if paired),
    residual: float | None  # and the rest
    who_item: float | None  # of two groups of people: by how much items differ between groups
    rows: int
    people: tuple[int, int]  # of first and second; a program has none
    items: int
    spreads: tuple[Spread, ...]
    alike: tuple[Alike, ...]
    bets: tuple[Betting, ...]  # over items, where a few lie far from all others
    bounds: tuple[float, float] | None  # what a difference can be
    trouble: tuple[str, ...]  # what to bear in mind, in sentences

    def at(self, level: float) -> tuple[float, float] | None:
        """Compute the interval at a confidence level, inside what is possible."""
        if self.estimate is None or not (self.spreads or self.alike):
            return None
        reach = max((reach_of(one.stderr, one.df, level) for one in self.spreads), default=0.0)
        margins = [one.reach(1 - level) for one in self.alike]
        low = self.estimate - math.hypot(reach, *(below for below, _ in margins))
        high = self.estimate + math.hypot(reach, *(above for _, above in margins))
        if not math.isfinite(high - low):
            return None
        ends = [one.interval(level) for one in self.bets]
        low, high = min([low, *(end[0] for end in ends)]), max([high, *(end[1] for end in ends)])
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return low, high


def crossed(
    score: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object] | None,
    first: str,
    second: str,
    low: float | None = None,
    high: float | None = None,
    stratum: ArrayLike | None = None,
    weighted: bool = False,
) -> Crossed:
    """Estimate the mean score of `first` minus that of `second`, for people and items like these.

    Parameters
    ----------
    score
        One score a row; NaN is a missing score. Repeats of a person (or a program) on an item are
        averaged: they are not further people, nor further items.
    who
        The kind of mind of each row: a group of people, or a program.
    person
        The person of each row; None, "" or NaN for a program, and for individuals that are
        compared as such.
    item
        The item of each row; None as a whole if there are none, as with levels of adaptive tests.
    first, second
        The two values of `who` to compare.
    low, high
        The lowest and the highest score possible, by which intervals are bounded. Without them
        there is no interval where all people, or all items, are alike.
    stratum, weighted
        The complexity of each row, if the mean is that over strata of equal weight; weighted, each
        weighs n · complexity (r̃ of the C-test). This holds where both had the same items.
    """
    one, other = sides_of(score, who, person, item, (first, second), stratum)
    bounds = (0.0, 0.0) if low is None or high is None else (low, high)
    strata = None if stratum is None else "stratum"
    rule = Rule(strata, weighted, low=bounds[0], high=bounds[1])
    if one.person is None and other.person is not None:
        return _turned(_compared(other, one, low, high, rule))
    return _compared(one, other, low, high, rule)


def _turned(found: Crossed) -> Crossed:
    """Reverse a difference: second minus first."""

    def turn(pair: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if pair is None else (-pair[1], -pair[0])

    return replace(
        found, first=found.second, second=found.first,
        estimate=None if found.estimate is None else -found.estimate,
        interval=turn(found.interval), interval90=turn(found.interval90),
        people=found.people[::-1],
        alike=tuple(replace(one, below=one.above, above=one.below) for one in found.alike),
        bets=tuple(replace(one, scores=-one.scores, low=-one.high, high=-one.low)
                   for one in found.bets),
    )  # fmt: skip


# ---------------------------------------------------------------- two ways of comparing


def _compared(one: Side, other: Side, low: float | None, high: float | None, rule: Rule) -> Crossed:
    """Compare by differences in common cells if there are any, else side by side."""
    keys: tuple[Codes, Codes] | None = None
    if one.item is not None and other.item is not None:
        keys = one.item, other.item
        if other.person is not None:  # the same people under two conditions, or else two groups
            keys = joined(one.person, one.item), joined(other.person, other.item)
        share = min(np.isin(*keys).mean(), np.isin(*keys[::-1]).mean())
        if share < (0.5 if other.person is not None else 1e-9):
            keys = None
    if keys is not None:
        made = _by_differences(one, other, keys, rule, low is not None and high is not None)
    else:
        made = _side_by_side(one, other, low, high)
    return made.judged(one, other, low, high)


@dataclass
class _Evidence:
    """The evidence of either way of comparing, for the judgement that they share."""

    estimate: float
    spreads: list[Spread]
    alike: list[Alike]
    exact: list[float]
    people: tuple[int, int]
    items: int
    rows: int
    bets: list[Betting] = field(default_factory=list)
    fitted: LinearMixed | None = None
    parts: Sequence[str] = ()  # what the components of the fitted model are
    missing: str = ""  # why nothing can be inferred
    said: Sequence[str] = ()

    def judged(self, one: Side, other: Side, low: float | None, high: float | None) -> Crossed:
        """Take the most cautious of all evidence."""
        spreads = [s for s in self.spreads if s.stderr > 0]
        fitted = self.fitted
        parts: dict[str, float | None] = dict.fromkeys(("person", "item", "who_item"))
        if fitted is not None:
            parts.update(zip(self.parts, fitted.components, strict=True))
        widest = max(spreads, key=lambda s: reach_of(s.stderr, s.df, 0.95), default=None)
        made = Crossed(
            first=one.name, second=other.name, estimate=self.estimate,
            stderr=widest.stderr if widest else None, df=widest.df if widest else None,
            interval=None, interval90=None, p=None, p_exact=max(self.exact, default=None),
            person=parts["person"], item=parts["item"], who_item=parts["who_item"],
            residual=fitted.residual if fitted else None,
            rows=self.rows, people=self.people, items=self.items,
            spreads=tuple(spreads), alike=tuple(self.alike), bets=tuple(self.bets),
            bounds=None if low is None or high is None else (low - high, high - low),
            trouble=(self.missing, *self.said) if self.missing else tuple(self.said),
        )  # fmt: skip
        if self.missing:
            return replace(made, stderr=None, df=None, p_exact=None, spreads=(), alike=(), bets=())
        made = replace(made, interval=made.at(0.95), interval90=made.at(0.90), p=_p(made))
        trouble = [*made.trouble, *_remarks(made)]
        return replace(made, trouble=tuple(trouble))


def _by_differences(
    one: Side, other: Side, keys: tuple[Codes, Codes], rule: Rule, bounded: bool
) -> _Evidence:
    """Fit d ~ 1 + (1 | person) + (1 | item) to differences in the cells that both have.

    The estimate is the mean of the differences with the strata and weights of `rule`.
    """
    rows = np.isin(keys[0], keys[1])
    order = np.argsort(keys[1])
    mate = order[np.searchsorted(keys[1], keys[0][rows], sorter=order)]
    d = one.score[rows] - other.score[mate]
    assert one.item is not None
    item = one.item[rows]
    person = None if one.person is None else one.person[rows]
    stratum = np.zeros(len(d)) if one.stratum is None else one.stratum[rows]

    def units(score: Values, cluster: Codes, low: float, high: float) -> Units:
        cells, nothing = np.arange(len(d)), np.zeros(len(d))
        plays = Plays(cells, cluster, stratum, score, nothing.astype(bool), nothing)
        made = plays.units(replace(rule, low=low, high=high))
        assert made is not None
        return made

    span = rule.range if bounded else (-math.inf, math.inf)
    ends = (rule.low, rule.high) if bounded else (None, None)
    by_item = units(d, item, *span)
    found = _Evidence(
        estimate=by_item.mean, spreads=[clustered("items", by_item)], alike=[], exact=[],
        people=people_in(one, other), items=by_item.clusters, rows=len(d),
    )  # fmt: skip
    left = len(one.score) - len(d) + int((~np.isin(keys[1], keys[0])).sum())
    if left:
        found.said = [f"{left} scores on items that only one of the two had are left out."]
    if found.items < 2:
        found.missing = "One item is not a sample of items, so that nothing follows for others."
        return found
    if np.ptp(means(d, item)) <= ALIKE:
        found.alike.append(unseen(found.items, found.estimate, *(span if bounded else ends)))
    if found.items < FEW:
        found.exact.append(flipped(by_item))
    found.bets += bets(by_item)
    if person is None:
        return found
    if other.person is None and found.items < EXACT_BELOW:
        found.spreads += of_few_hits(units(other.score[mate], item, rule.low, rule.high), *ends)
    by_person = units(d, person, *span)
    if by_person.clusters < 2:
        found.missing = "One person is not a sample of people, so that nothing follows for others."
        return found
    found.spreads.append(clustered("people", by_person))
    if by_person.clusters < FEW:
        found.exact.append(flipped(by_person))
    if same(one.score[rows] if other.person is None else d, person, item):
        own = replace(by_person, score=one.score[rows]).mean
        lost = (own, *ends) if other.person is None else (
            found.estimate, *(span if bounded else ends)
        )  # fmt: skip
        found.alike.append(unseen(by_person.clusters, *lost))
    pool = collapsed(by_item)
    design = (pool[:, None] == np.arange(pool.max() + 1)).astype(float)
    weights = by_item.weights
    factors = {"person": person, "item": item}
    _fit_into(found, d, design, factors, lambda fitted: fitted.weighted(d, weights))
    return found


def _side_by_side(one: Side, other: Side, low: float | None, high: float | None) -> _Evidence:
    """Fit score ~ who + (1 | person) + (1 | item) + (1 | who:item) to two groups of rows."""
    score = np.concatenate([one.score, other.score])
    is_one = np.repeat([1.0, 0.0], [len(one.score), len(other.score)])
    units = [means(side.score, side.units) for side in (one, other)]
    found = _Evidence(
        estimate=float(units[0].mean() - units[1].mean()), spreads=[], alike=[], exact=[],
        people=people_in(one, other), items=0, rows=len(score),
    )  # fmt: skip
    for side, values in zip((one, other), units, strict=True):
        if len(values) < 2:
            what = "person is not a sample of people" if side.person is not None else (
                "score is not a sample of scores" if side.item is None
                else "item is not a sample of items"
            )  # fmt: skip
            found.missing = f"{side.name}: one {what}, so that nothing follows for others."
            return found
        if same(side.score, side.units, None if side.person is None else side.item):
            lost = unseen(len(values), float(values.mean()), low, high)
            if side is other:
                lost = replace(lost, below=lost.above, above=lost.below)
            found.alike.append(lost)
    shared = (
        one.person is not None
        and other.person is not None
        and bool(np.isin(one.person, other.person).any())
    )
    if one.person is not None or one.item is None:
        found.spreads.append(
            paired_over("people", one, other) if shared else welch("people", *units)
        )
    if other.person is not None and not shared and min(map(len, units)) < FEW:
        found.exact += relabelled(*units)
    factors: dict[str, Codes] = {}
    if one.person is not None:
        own = np.full(len(other.score), -1) if other.person is None else other.person
        factors["person"] = np.concatenate([one.person, own])
        if shared:
            factors["who_person"] = joined(is_one.astype(np.intp), factors["person"])
    if one.item is not None and other.item is not None:
        item = np.concatenate([one.item, other.item])
        found.items = len(np.unique(item))
        if found.items < 2:
            found.missing = "One item is not a sample of items, so that nothing follows for others."
            return found
        found.spreads.append(paired_over("items", one, other))
        factors["item"] = item
        if other.person is not None:
            factors["who_item"] = joined(is_one.astype(np.intp), item)
    if one.person is not None:
        design = np.column_stack([np.ones(len(score)), is_one])
        _fit_into(found, score, design, factors, lambda fitted: fitted.contrast([0.0, 1.0]))
    return found


def _fit_into(
    found: _Evidence, score: Values, design: Values, factors: dict[str, Codes],
    estimated: Callable[[LinearMixed], Contrast],
) -> None:  # fmt: skip
    """Fit the crossed model and add its standard error; if no residual is left, add both errors."""
    kept = separable(factors)
    if not kept:
        return  # every row is a unit of its own: t has said it all
    fitted = LinearMixed(score, design, list(kept.values()))
    if fitted.exact:  # the limit of REML for a residual of 0
        over = {one.over: one for one in sorted(found.spreads, key=lambda one: one.stderr)}
        if "people" in over and "items" in over:
            found.spreads.append(added("both", over["people"], over["items"]))
        return
    made = estimated(fitted)
    found.estimate, found.fitted, found.parts = made.estimate, fitted, list(kept)
    found.spreads.append(Spread("both", made.stderr, made.df))


def _p(found: Crossed) -> float | None:
    """Find the two-sided p: the level at which an interval would just reach 0."""
    from scipy.special import stdtr

    if found.estimate is None or found.at(0.95) is None:
        return None
    if not (found.alike or found.bets):
        t = [(one.df, -abs(found.estimate) / one.stderr) for one in found.spreads]
        return max(float(2 * stdtr(df, value)) for df, value in t)
    least, most = -60.0, 0.0  # logarithms of p
    for _ in range(60):
        middle = (least + most) / 2
        span = replace(found, bounds=None).at(1 - math.exp(middle))
        if span is not None and span[0] <= 0 <= span[1]:
            least = middle
        else:
            most = middle
    return math.exp(most)


def _remarks(found: Crossed) -> list[str]:
    """Write in sentences what a reader should bear in mind."""
    said = []
    if found.alike:
        said.append(
            "All people, or all items, are alike here: how much others differ is not known, so "
            "that the interval allows for those that were not seen."
        )
        if found.interval is None:
            said.append("Without the lowest and highest score possible there is no interval.")
    if found.bets:
        said.append(
            "A few items lie far from all others: the interval is not narrower than one that holds "
            "for any scores on items."
        )
    if found.person is not None and found.residual and found.person < EDGE * found.residual:
        said.append(
            "The variance between people is estimated at 0; with few people that is often chance, "
            "so that the interval is not narrower than that of a t-test over people."
        )
    return said
