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

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.inference.intervals import EXACT_BELOW, Betting, Units, betting_of, skewed
from allminds.statistics.comparison.random_effects import (
    EDGE,
    Codes,
    LaplaceLogit,
    LinearMixed,
    Values,
    reach_of,
    separable,
)

ALIKE = 1e-12  # scores that differ by less are equal
FEW = 8  # people or items: below this an exact test stands beside t
MOST_ORDERS = 20_000  # rearrangements that the exact test goes through


@dataclass(frozen=True)
class Spread:
    """A standard error of a difference, with its degrees of freedom."""

    over: Literal["both", "people", "items"]  # what is taken for a sample
    stderr: float
    df: float


@dataclass(frozen=True)
class Alike:
    """Units of which none differs from another: their variance of 0 does not measure the spread."""

    units: int
    below: float  # how far the difference would fall if every unit not seen had the worst score
    above: float

    def reach(self, alpha: float) -> tuple[float, float]:
        """Compute how far below and above the estimate the truth may lie, at 1 - alpha."""
        unseen = 1 - (alpha / 2) ** (1 / self.units)
        return unseen * self.below, unseen * self.above


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


@dataclass(frozen=True)
class _Side:
    """One side of a comparison: a mean score for each cell (person, item)."""

    name: str
    score: Values
    person: Codes | None  # None: a program, or an individual
    item: Codes | None

    @property
    def units(self) -> Codes:
        """The codes of the independent units of this side: people, else items, else scores."""
        if self.person is not None:
            return self.person
        return np.arange(len(self.score)) if self.item is None else self.item


def crossed(
    score: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object] | None,
    first: str,
    second: str,
    low: float | None = None,
    high: float | None = None,
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
    """
    one, other = _sides(score, who, person, item, (first, second))
    if one.person is None and other.person is not None:
        return _turned(_compared(other, one, low, high))
    return _compared(one, other, low, high)


def _sides(
    score: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object] | None,
    names: tuple[str, str],
) -> tuple[_Side, _Side]:
    values, kinds = np.asarray(score, float), np.array([str(one) for one in who])
    people = [None] * len(values) if person is None else [_named(one) for one in person]
    things = None if item is None else [_named(one) for one in item]
    for name, column in (("who", kinds), ("person", people), ("item", things)):
        if column is not None and len(column) != len(values):
            raise Error(f"there are {len(values)} scores, but {len(column)} values of '{name}'")
    if names[0] == names[1]:
        raise Error(f"{names[0]} cannot be compared with itself; name two kinds of minds")
    used = ~np.isnan(values) & np.isin(kinds, names)
    of_person = _numbers(people, used)
    of_item = None if things is None else _numbers(things, used)
    if of_item is not None and (of_item < 0).any():
        raise Error("some scores have no item; give every score one, or none")
    made = []
    for name in names:
        rows = kinds[used] == name
        if not rows.any():
            raise Error(f"{name} has no score, so that there is nothing to compare")
        own = of_person[rows]
        if own.min() < 0 <= own.max():
            raise Error(f"some scores of {name} have a person and some have none")
        items = None if of_item is None else of_item[rows]
        made.append(_cells(name, values[used][rows], None if own[0] < 0 else own, items))
    return made[0], made[1]


def _named(value: object) -> str | None:
    """Return the name of a person or item, None if there is none."""
    return None if value is None or value != value or value == "" else str(value)


def _numbers(values: Sequence[str | None], used: NDArray[np.bool_]) -> Codes:
    """Assign numbers to the values of the rows that are used; None is -1."""
    chosen = [value for value, use in zip(values, used, strict=True) if use]
    order = {value: n for n, value in enumerate(sorted({v for v in chosen if v is not None}))}
    return np.array([-1 if value is None else order[value] for value in chosen], np.intp)


def _cells(name: str, score: Values, person: Codes | None, item: Codes | None) -> _Side:
    """Average the scores of each person (if any) on each item (if any)."""
    if person is None and item is None:
        return _Side(name, score, None, None)
    key = _joined(person, item)
    _, place = np.unique(key, return_index=True)
    return _Side(
        name,
        _means(score, key),
        None if person is None else person[place],
        None if item is None else item[place],
    )


def _joined(*codes: Codes | None) -> Codes:
    """Assign numbers to the combinations of several codes."""
    given = [code for code in codes if code is not None]
    made = given[0]
    for code in given[1:]:
        made = made * 1_000_000 + code
    return made


def _means(values: Values, codes: Codes) -> Values:
    """Average values by code, in the order of the codes."""
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(place, values) / counts)


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


def _compared(one: _Side, other: _Side, low: float | None, high: float | None) -> Crossed:
    """Compare by differences in common cells if there are any, else side by side."""
    keys: tuple[Codes, Codes] | None = None
    if one.item is not None and other.item is not None:
        keys = one.item, other.item
        if other.person is not None:  # the same people under two conditions, or else two groups
            keys = _joined(one.person, one.item), _joined(other.person, other.item)
        share = min(np.isin(*keys).mean(), np.isin(*keys[::-1]).mean())
        if share < (0.5 if other.person is not None else 1e-9):
            keys = None
    if keys is not None:
        made = _by_differences(one, other, keys, low, high)
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

    def judged(self, one: _Side, other: _Side, low: float | None, high: float | None) -> Crossed:
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
    one: _Side, other: _Side, keys: tuple[Codes, Codes], low: float | None, high: float | None
) -> _Evidence:
    """Fit d ~ 1 + (1 | person) + (1 | item) to differences in the cells that both have."""
    rows = np.isin(keys[0], keys[1])
    order = np.argsort(keys[1])
    mate = order[np.searchsorted(keys[1], keys[0][rows], sorter=order)]
    d = one.score[rows] - other.score[mate]
    assert one.item is not None
    item = one.item[rows]
    person = None if one.person is None else one.person[rows]
    by_item = _means(d, item)
    found = _Evidence(
        estimate=float(by_item.mean()), spreads=[_t("items", by_item)], alike=[], exact=[],
        people=_people(one, other), items=len(by_item), rows=len(d),
    )  # fmt: skip
    left = len(one.score) - len(d) + int((~np.isin(keys[1], keys[0])).sum())
    if left:
        found.said = [f"{left} scores on items that only one of the two had are left out."]
    if len(by_item) < 2:
        found.missing = "One item is not a sample of items, so that nothing follows for others."
        return found
    span = (None, None) if low is None or high is None else (low - high, high - low)
    if np.ptp(by_item) <= ALIKE:
        found.alike.append(_unseen(len(by_item), found.estimate, *span))
    if len(by_item) < FEW:
        found.exact.append(_flipped(by_item))
    found.bets += _bets(by_item, *span)
    if person is None:
        return found
    if other.person is None and len(by_item) < EXACT_BELOW:
        found.spreads += _of_few_hits(_means(other.score[mate], item), low, high)
    by_person = _means(d, person)
    if len(by_person) < 2:
        found.missing = "One person is not a sample of people, so that nothing follows for others."
        return found
    found.spreads.append(_t("people", by_person))
    if len(by_person) < FEW:
        found.exact.append(_flipped(by_person))
    own, within = (one.score[rows], (low, high)) if other.person is None else (d, span)
    if _same(own, person, item):
        found.alike.append(_unseen(len(by_person), float(own.mean()), *within))
    _fit_into(found, d, np.ones((len(d), 1)), [1.0], {"person": person, "item": item})
    return found


def _side_by_side(one: _Side, other: _Side, low: float | None, high: float | None) -> _Evidence:
    """Fit score ~ who + (1 | person) + (1 | item) + (1 | who:item) to two groups of rows."""
    score = np.concatenate([one.score, other.score])
    is_one = np.repeat([1.0, 0.0], [len(one.score), len(other.score)])
    units = [_means(side.score, side.units) for side in (one, other)]
    found = _Evidence(
        estimate=float(units[0].mean() - units[1].mean()), spreads=[], alike=[], exact=[],
        people=_people(one, other), items=0, rows=len(score),
    )  # fmt: skip
    for side, values in zip((one, other), units, strict=True):
        if len(values) < 2:
            what = "person is not a sample of people" if side.person is not None else (
                "score is not a sample of scores" if side.item is None
                else "item is not a sample of items"
            )  # fmt: skip
            found.missing = f"{side.name}: one {what}, so that nothing follows for others."
            return found
        if _same(side.score, side.units, None if side.person is None else side.item):
            unseen = _unseen(len(values), float(values.mean()), low, high)
            if side is other:
                unseen = replace(unseen, below=unseen.above, above=unseen.below)
            found.alike.append(unseen)
    shared = (
        one.person is not None
        and other.person is not None
        and bool(np.isin(one.person, other.person).any())
    )
    if one.person is not None or one.item is None:
        found.spreads.append(_over("people", one, other) if shared else _welch("people", *units))
    if other.person is not None and not shared and min(map(len, units)) < FEW:
        found.exact += _relabelled(*units)
    factors: dict[str, Codes] = {}
    if one.person is not None:
        own = np.full(len(other.score), -1) if other.person is None else other.person
        factors["person"] = np.concatenate([one.person, own])
        if shared:
            factors["who_person"] = _joined(is_one.astype(np.intp), factors["person"])
    if one.item is not None and other.item is not None:
        item = np.concatenate([one.item, other.item])
        found.items = len(np.unique(item))
        if found.items < 2:
            found.missing = "One item is not a sample of items, so that nothing follows for others."
            return found
        found.spreads.append(_over("items", one, other))
        factors["item"] = item
        if other.person is not None:
            factors["who_item"] = _joined(is_one.astype(np.intp), item)
    if one.person is not None:
        design = np.column_stack([np.ones(len(score)), is_one])
        _fit_into(found, score, design, [0.0, 1.0], factors)
    return found


def _people(one: _Side, other: _Side) -> tuple[int, int]:
    sides = (one.person, other.person)
    return tuple(0 if person is None else len(np.unique(person)) for person in sides)  # type: ignore[return-value]


# ---------------------------------------------------------------- standard errors and tests


def _t(over: Literal["people", "items"], values: Values) -> Spread:
    """Compute the standard error of a mean over units."""
    if len(values) < 2 or np.ptp(values) <= ALIKE:
        return Spread(over, 0.0, max(len(values) - 1, 1))
    return Spread(over, float(values.std(ddof=1)) / math.sqrt(len(values)), len(values) - 1)


def _of_few_hits(hits: Values, low: float | None, high: float | None) -> list[Spread]:
    """Compute the standard error of a program's share of hits, two of each kind added.

    This follows Agresti (1998): the variance of a few hits is often too low, and 0 if all are
    alike.
    """
    if low is None or high is None or not np.isin(hits, (low, high)).all():
        return []
    n = len(hits)
    share = (float((hits == high).sum()) + 2) / (n + 4)
    return [Spread("items", (high - low) * math.sqrt(share * (1 - share) / n), n - 1)]


def _welch(over: Literal["people", "items"], first: Values, second: Values) -> Spread:
    """Compute the standard error of a difference of two independent means (Welch 1947)."""
    return _added(over, _t("people", first), _t("people", second))


def _added(over: Literal["both", "people", "items"], one: Spread, other: Spread) -> Spread:
    """Compute the standard error of a sum of independent parts, with Satterthwaite's df."""
    a, b = one.stderr**2, other.stderr**2
    df = (a + b) ** 2 / (a**2 / one.df + b**2 / other.df) if a + b > 0 else one.df + other.df
    return Spread(over, math.sqrt(a + b), df)


def _over(units: Literal["people", "items"], one: _Side, other: _Side) -> Spread:
    """Compute the standard error over units.

    It is paired on the units that both sides have, if they are at least two.
    """
    a, b = (
        side.units if units == "people" or side.item is None else side.item for side in (one, other)
    )
    common = np.intersect1d(a, b)
    means = [
        (np.unique(codes), _means(side.score, codes)) for side, codes in ((one, a), (other, b))
    ]
    if len(common) < 2:
        return _welch(units, means[0][1], means[1][1])
    first, second = (values[np.isin(levels, common)] for levels, values in means)
    return _t(units, first - second)


def _same(score: Values, unit: Codes, item: Codes | None) -> bool:
    """Check that no unit differs from another, neither in its mean nor on any item."""
    if np.ptp(_means(score, unit)) > ALIKE:
        return False
    if item is None:
        return True
    _, place = np.unique(item, return_inverse=True)
    return bool(np.abs(score - _means(score, item)[place]).max() <= ALIKE)


def _unseen(units: int, mean: float, low: float | None, high: float | None) -> Alike:
    """Compute how far unseen units may lie from those that are all alike."""
    if low is None or high is None:
        return Alike(units, math.inf, math.inf)
    return Alike(units, max(mean - low, 0.0), max(high - mean, 0.0))


def _bets(values: Values, low: float | None, high: float | None) -> list[Betting]:
    """Build the betting evidence over units, where their variance rests on a few of them."""
    if low is None or high is None or np.ptp(values) <= ALIKE:
        return []
    n = len(values)
    units = Units(values, np.zeros(n, np.int64), np.arange(n), np.ones(1), low, high)
    return [betting_of(units)] if skewed(units) else []


def _flipped(values: Values) -> float:
    """Compute the exact p of Fisher's test over all assignments of signs."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(values))))
    sums = np.abs(signs @ values)
    return float((sums >= abs(values.sum()) - ALIKE).mean())


def _relabelled(first: Values, second: Values) -> list[float]:
    """Compute the exact p of Fisher's test over all assignments of labels; [] if too many."""
    together, few = np.concatenate([first, second]), min(len(first), len(second))
    if math.comb(len(together), few) > MOST_ORDERS:
        return []
    places = np.array(list(itertools.combinations(range(len(together)), few)))
    sums = together[places].sum(axis=1)
    expected = few * together.mean()
    seen = abs((first if len(first) == few else second).sum() - expected)
    return [float((np.abs(sums - expected) >= seen - ALIKE).mean())]


def _fit_into(
    found: _Evidence, score: Values, design: Values, weights: ArrayLike, factors: dict[str, Codes]
) -> None:
    """Fit the crossed model and add its standard error; if no residual is left, add both errors."""
    kept = separable(factors)
    if not kept:
        return  # every row is a unit of its own: t has said it all
    fitted = LinearMixed(score, design, list(kept.values()))
    if fitted.exact:  # the limit of REML for a residual of 0
        if len(found.spreads) == 2:
            found.spreads.append(_added("both", *found.spreads))
        return
    made = fitted.contrast(weights)
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


# ---------------------------------------------------------------- hits, on the logit scale


@dataclass(frozen=True)
class Logistic:
    """The log odds ratio of `first` against `second`; None where it is not estimable."""

    estimate: float | None
    stderr: float | None
    interval: tuple[float, float] | None  # 95 %, Wald
    p: float | None
    person: float | None  # variances, on the logit scale
    item: float | None
    trouble: str = ""


def logistic(
    hit: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object],
    first: str,
    second: str,
) -> Logistic:
    """Fit logit P(hit) = who + (1 | person) + (1 | item) by Laplace's approximation.

    This is as lme4's glmer with nAGQ = 1, with standard errors from the Hessian of the deviance. It
    stands beside `crossed`, which decides: where all are right or all wrong there is no log odds
    ratio, and with few people Wald's interval is too narrow.
    """
    from scipy.special import ndtr, ndtri

    y, kinds = np.asarray(hit, float), np.array([str(one) for one in who])
    used = ~np.isnan(y) & np.isin(kinds, (first, second))
    y, is_first = y[used], (kinds[used] == first).astype(float)
    if not np.isin(y, (0, 1)).all():
        raise Error("a logistic model is for hits: every score must be 0 or 1")
    for name, rows in ((first, is_first == 1), (second, is_first == 0)):
        if not rows.any():
            raise Error(f"{name} has no score, so that there is nothing to compare")
        if np.ptp(y[rows]) == 0:
            which = "right" if y[rows][0] else "wrong"
            return Logistic(None, None, None, None, None, None,
                            f"Not estimable (separation): {name} is always {which}.")  # fmt: skip
    people = [None] * len(used) if person is None else [_named(one) for one in person]
    factors = [_numbers(people, used), _numbers([_named(one) for one in item], used)]
    named = [k for k, codes in enumerate(factors) if len(np.unique(codes[codes >= 0])) > 1]
    design = np.column_stack([np.ones(len(y)), is_first])
    theta, estimate, stderr = LaplaceLogit(y, design, [factors[k] for k in named]).fitted()
    variances = {k: float(value) ** 2 for k, value in zip(named, theta, strict=True)}
    parts = variances.get(0), variances.get(1)
    if stderr is None:
        return Logistic(None, None, None, None, *parts,
                        "Not estimable: the likelihood has no clear maximum.")  # fmt: skip
    reach = float(ndtri(0.975)) * stderr
    p = float(2 * ndtr(-abs(estimate) / stderr))
    return Logistic(estimate, stderr, (estimate - reach, estimate + reach), p, *parts)
