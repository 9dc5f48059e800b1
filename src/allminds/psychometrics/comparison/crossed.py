"""People are a sample of people, items a sample of items: comparisons that are crossed.

The engine is a linear mixed model with random intercepts, fitted by restricted maximum likelihood
(REML), with Satterthwaite's degrees of freedom, as lme4 and lmerTest compute them:

    score ~ who + (1 | person) + (1 | item)

`crossed` compares two kinds of minds with it. A program has no person effect, and its successes
do not scatter over items as those of people do: it may solve an item always, or never. So people
are compared with a program by differences on the same item, d = person - program, and
d ~ 1 + (1 | person) + (1 | item): whatever the program makes of an item is in the item's effect.
Two groups of people (arms): score ~ who + (1 | person) + (1 | item) + (1 | who:item). Two programs,
or two individuals: items only.

With few people REML often puts the variance between them at 0, and Satterthwaite then counts rows
instead of people. So three standard errors are computed: of the crossed model, of a t-test over
people, and of a t-test over items, each with its own degrees of freedom; the widest interval is
said, and the largest p. If the people do not differ at all (all of them right, say), a sample
variance of 0 shows little: of P equal people, up to 1 - (α/2)^(1/P) of all people may be unlike
them (Clopper and Pearson 1934), and may score anything that is possible.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.errors import Error

Values = NDArray[np.float64]
Codes = NDArray[np.intp]

NOTHING = 1e-7  # a share of the total sum of squares below this is rounding
ALIKE = 1e-12  # scores that differ by less are equal
EDGE = 1e-4  # a variance component below this share of the residual is at its edge, 0
FEW = 8  # people: below this an exact test stands beside t (Difference verdicts need it)
MOST_ORDERS = 20_000  # rearrangements that the exact test goes through


# ---------------------------------------------------------------- the engine


@dataclass(frozen=True)
class Contrast:
    """A linear function of the fixed effects, with Satterthwaite's degrees of freedom."""

    estimate: float
    stderr: float
    df: float

    @property
    def p(self) -> float:
        """The two-sided p of a t-test against 0."""
        from scipy.special import stdtr

        return float(2 * stdtr(self.df, -abs(self.estimate) / self.stderr))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The t-interval at `level`."""
        reach = reach_of(self.stderr, self.df, level)
        return self.estimate - reach, self.estimate + reach


class LinearMixed:
    """score = X β + Σ Z_k u_k + e with u_k ~ N(0, σ² θ_k²), e ~ N(0, σ²), fitted by REML.

    `factors` hold the level of every row, or -1 where a row has none (a program has no person).
    β and σ² are profiled out; the ratios θ are searched. The block of the largest factor is
    diagonal and is eliminated, so that the matrix to factor has the size of the other levels.
    """

    def __init__(self, score: Values, design: Values, factors: Sequence[Codes]) -> None:
        self.rows, self.columns = design.shape
        self.freedom = self.rows - self.columns
        rough, *_ = np.linalg.lstsq(design, score, rcond=None)
        both = np.column_stack(
            [design, score - design @ rough]
        )  # [X, y]; small numbers cancel less
        self._moments = both.T @ both
        sizes = [int(factor.max()) + 1 for factor in factors]
        self._large = int(np.argmax(sizes)) if sizes else 0
        rest = [k for k in range(len(factors)) if k != self._large]
        self._sizes = np.array(sizes, int)
        self._of = np.repeat(rest, [sizes[k] for k in rest]).astype(int)  # the factor of a level
        if sizes:
            large = factors[self._large]
            self._diagonal = np.bincount(large[large >= 0], minlength=sizes[self._large])
            self._large_sums = _sums(both, large, sizes[self._large])
        if rest:
            self._sums = np.vstack([_sums(both, factors[k], sizes[k]) for k in rest])
            self._inner = np.vstack(
                [np.hstack([_meet(factors, sizes, k, m) for m in rest]) for k in rest]
            )
            self._cross = np.vstack([_meet(factors, sizes, k, self._large) for k in rest])
        total, ceiling = float(self._moments[-1, -1]), np.full(len(sizes), 1e4)
        rest_of_it = self._parts(ceiling)[1]  # with effects that are as good as free
        self.exact = rest_of_it <= NOTHING * total or total <= NOTHING**2  # nothing is left over
        self.theta = np.zeros(len(sizes)) if self.exact else self._search()
        _, self.rss, information, corner, _ = self._parts(self.theta)
        self.residual = self.rss / self.freedom  # σ²
        self.components = tuple(float(t * t) * self.residual for t in self.theta)
        self.effects = rough + np.linalg.solve(information, corner)

    def _parts(
        self, theta: Values, slopes: bool = False
    ) -> tuple[float, float, Values, Values, Values]:
        """log|V| + log|X'V⁻¹X|, y'P y, X'V⁻¹X, X'V⁻¹y for V = I + Σ θ_k² Z_k Z_k'; and slopes.

        The slopes are those of the profiled deviance in θ.
        """
        from scipy.linalg import solve_triangular

        left, logs = self._moments, 0.0
        lost = np.zeros(len(theta))  # q_k - tr(M⁻¹)_k, where M = I + ΛZ'ZΛ
        predicted: list[tuple[int, Values]] = []  # M⁻¹ΛZ'[X, y], by factor
        if len(theta):
            big = theta[self._large]
            d = 1 + big**2 * self._diagonal
            logs = float(np.log(d).sum())
            B = big * self._large_sums
            left = left - B.T @ (B / d[:, None])
            U = B / d[:, None]
            trace = float((1 / d).sum())
            if len(self._of):
                scale = theta[self._of]
                C = (scale[:, None] * self._cross) * (big / d)
                S = scale[:, None] * self._inner * scale - (C * d) @ C.T
                S[np.diag_indices_from(S)] += 1
                L = np.linalg.cholesky(S)
                logs += 2 * float(np.log(np.diag(L)).sum())
                R = solve_triangular(
                    L, scale[:, None] * self._sums - C @ B, lower=True, check_finite=False
                )
                left = left - R.T @ R
                if slopes:
                    inverse = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
                    trace += float(((inverse @ C) ** 2).sum())
                    traces = (inverse**2).sum(axis=0)
                    other = inverse.T @ R
                    U = U - C.T @ other
                    for k in np.unique(self._of):
                        lost[k] = float((1 - traces[self._of == k]).sum())
                        predicted.append((int(k), other[self._of == k]))
            lost[self._large] = len(d) - trace
            predicted.append((self._large, U))
        information, corner = left[:-1, :-1], left[:-1, -1]
        sign, log = np.linalg.slogdet(information)
        if sign <= 0:
            raise Error("the fixed effects of the mixed model cannot be told apart")
        beta = np.linalg.solve(information, corner)
        rss = max(float(left[-1, -1] - corner @ beta), 1e-300)
        slope = np.zeros(len(theta))
        if slopes:
            inverse = np.linalg.inv(information)
            for k, u in predicted:
                e = u[:, -1] - u[:, :-1] @ beta
                fixed = float(np.einsum("ij,jk,ik->", u[:, :-1], inverse, u[:, :-1]))
                gain = lost[k] - fixed - self.freedom / rss * float(e @ e)
                slope[k] = 2 * gain / theta[k] if theta[k] > 0 else 0.0
        return logs + float(log), rss, information, corner, slope

    def deviance(self, theta: Values) -> float:
        """-2 restricted log-likelihood, profiled over β and σ²."""
        return self._value(theta, False)[0]

    def _value(self, theta: Values, slopes: bool = True) -> tuple[float, Values]:
        log, rss, _, _, slope = self._parts(theta, slopes)
        return log + self.freedom * (1 + math.log(2 * math.pi * rss / self.freedom)), slope

    def _search(self) -> Values:
        from scipy.optimize import minimize

        count = len(self._sizes)
        theta = np.full(count, 0.5)
        for _ in range(2 + count):
            if not count:
                break
            theta = minimize(
                self._value, theta, jac=True, method="L-BFGS-B", bounds=[(0, 1e4)] * count,
                options={"ftol": 1e-14, "gtol": 1e-8},
            ).x  # fmt: skip
            least, stuck = self.deviance(theta), False
            for k in np.flatnonzero(theta**2 < EDGE):
                # The slope at 0 is always 0: look on both sides whether 0 is a valley or a ridge.
                zero, near = theta.copy(), theta.copy()
                zero[k], near[k] = 0.0, 0.02
                if self.deviance(zero) <= least + 1e-7:
                    theta = zero
                if self.deviance(near) < least - 1e-9:
                    theta, stuck = near, True
            if not stuck:
                break
        return theta

    def contrast(self, weights: ArrayLike) -> Contrast:
        """weights · β with Satterthwaite's degrees of freedom.

        df = 2 v² / (g' A g): v the variance of the contrast, g its gradient in (θ, σ), A twice the
        inverse Hessian of the deviance in them (by differences, as lmerTest does).
        """
        c = np.asarray(weights, float)

        def at(theta: Values) -> Values:  # deviance with σ held fixed, y'P y, variance over σ²
            log, rss, information, *_ = self._parts(theta)
            return np.array([log + rss / self.residual, rss, c @ np.linalg.solve(information, c)])

        middle, first, second = _differences(at, self.theta)
        s, k = math.sqrt(self.residual), len(self.theta)
        hessian, gradient = np.empty((k + 1, k + 1)), np.empty(k + 1)
        hessian[:k, :k] = second[..., 0]
        hessian[:k, k] = hessian[k, :k] = -2 * first[:, 1] / s**3
        hessian[k, k] = 4 * self.freedom / s**2
        gradient[:k], gradient[k] = self.residual * first[:, 2], 2 * s * middle[2]
        values, vectors = np.linalg.eigh(hessian)
        kept = values > 1e-8
        along = vectors[:, kept].T @ gradient
        variance = float(middle[2]) * self.residual
        df = variance**2 / float((along**2 / values[kept]).sum())
        return Contrast(float(c @ self.effects), math.sqrt(variance), df)


def _sums(both: Values, factor: Codes, size: int) -> Values:
    """Sum the columns of `both` by level of a factor: Z'[X, y]."""
    there = factor >= 0
    return np.column_stack([np.bincount(factor[there], column[there], size) for column in both.T])


def _meet(factors: Sequence[Codes], sizes: Sequence[int], k: int, m: int) -> Values:
    """Count how often the levels of two factors meet: Z_k'Z_m."""
    there = (factors[k] >= 0) & (factors[m] >= 0)
    flat = factors[k][there] * sizes[m] + factors[m][there]
    counts = np.bincount(flat, minlength=sizes[k] * sizes[m])
    return counts.reshape(sizes[k], sizes[m]).astype(float)


def _differences(function: Callable[[Values], Values], at: Values) -> tuple[Values, Values, Values]:
    """The value, gradient and Hessian of a vector function, by central differences.

    All is even in each θ, so that a step below 0 does no harm.
    """
    count, steps = len(at), 1e-3 * np.maximum(np.abs(at), 0.1)
    E = np.diag(steps)
    middle = function(at)
    first = np.zeros((count, len(middle)))
    second = np.zeros((count, count, len(middle)))
    for k in range(count):
        up, down = function(at + E[k]), function(at - E[k])
        first[k] = (up - down) / (2 * steps[k])
        second[k, k] = (up - 2 * middle + down) / steps[k] ** 2
        for m in range(k):
            a, b = function(at + E[k] + E[m]), function(at + E[k] - E[m])
            c, d = function(at - E[k] + E[m]), function(at - E[k] - E[m])
            second[k, m] = second[m, k] = (a - b - c + d) / (4 * steps[k] * steps[m])
    return middle, first, second


def reach_of(stderr: float, df: float, level: float) -> float:
    """Half the width of a t-interval."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2)) * stderr


# ---------------------------------------------------------------- comparing


@dataclass(frozen=True)
class Spread:
    """A standard error of a difference, with its degrees of freedom."""

    over: Literal["both", "people", "items"]  # what is taken for a sample
    stderr: float
    df: float


@dataclass(frozen=True)
class Alike:
    """Units of which none differs from another: their variance of 0 is no measure of the spread."""

    units: int
    below: float  # how far the difference would fall if every unit not seen had the worst score
    above: float

    def reach(self, alpha: float) -> tuple[float, float]:
        """How far below and above the estimate the truth may lie, at confidence 1 - alpha."""
        unseen = 1 - (alpha / 2) ** (1 / self.units)
        return unseen * self.below, unseen * self.above


@dataclass(frozen=True)
class Crossed:
    """The mean score of `first` minus that of `second`; None is what cannot be estimated.

    `stderr` and `df` are those of the widest of the `spreads`. Intervals and p are the most cautious
    of all spreads, and allow for units that are all alike.
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
    bounds: tuple[float, float] | None  # what a difference can be
    trouble: tuple[str, ...]  # what to bear in mind, in sentences

    def at(self, level: float) -> tuple[float, float] | None:
        """The interval at a confidence level, inside what is possible."""
        if self.estimate is None or not (self.spreads or self.alike):
            return None
        reach = max((reach_of(one.stderr, one.df, level) for one in self.spreads), default=0.0)
        margins = [one.reach(1 - level) for one in self.alike]
        low = self.estimate - math.hypot(reach, *(below for below, _ in margins))
        high = self.estimate + math.hypot(reach, *(above for _, above in margins))
        if not math.isfinite(high - low):
            return None
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return low, high


@dataclass(frozen=True)
class _Side:
    """One of the two that are compared: a mean score for each cell (person, item)."""

    name: str
    score: Values
    person: Codes | None  # None: a program, or an individual
    item: Codes | None

    @property
    def units(self) -> Codes:
        """What is independent in this side: people, else items, else scores."""
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
    """Number the values of the rows that are used; None is -1."""
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
    """Number the combinations of several codes."""
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
    """Turn a difference round: second minus first."""

    def turn(pair: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if pair is None else (-pair[1], -pair[0])

    return replace(
        found, first=found.second, second=found.first,
        estimate=None if found.estimate is None else -found.estimate,
        interval=turn(found.interval), interval90=turn(found.interval90),
        people=found.people[::-1],
        alike=tuple(replace(one, below=one.above, above=one.below) for one in found.alike),
    )  # fmt: skip


# ---------------------------------------------------------------- two ways of comparing


def _compared(one: _Side, other: _Side, low: float | None, high: float | None) -> Crossed:
    """Compare by differences in common cells if there are any, else side by side."""
    keys: tuple[Codes, Codes] | None = None
    if one.item is not None and other.item is not None:
        keys = one.item, other.item
        if other.person is not None:  # the same people under two conditions, or else two groups
            keys = _joined(one.person, one.item), _joined(other.person, other.item)
    if keys is not None and np.isin(*keys).any():
        made = _by_differences(one, other, keys, low, high)
    else:
        made = _side_by_side(one, other, low, high)
    return made.judged(one, other, low, high)


@dataclass
class _Evidence:
    """What the two ways of comparing hand to the judgement that they share."""

    estimate: float
    spreads: list[Spread]
    alike: list[Alike]
    exact: list[float]
    people: tuple[int, int]
    items: int
    rows: int
    fitted: LinearMixed | None = None
    parts: Sequence[str] = ()  # what the components of the fitted model are
    missing: str = ""  # why nothing can be inferred
    said: Sequence[str] = ()

    def judged(self, one: _Side, other: _Side, low: float | None, high: float | None) -> Crossed:
        """Take the most cautious of all that was found."""
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
            spreads=tuple(spreads), alike=tuple(self.alike),
            bounds=None if low is None or high is None else (low - high, high - low),
            trouble=tuple([*([self.missing] if self.missing else []), *self.said]),
        )  # fmt: skip
        if self.missing:
            return replace(made, stderr=None, df=None, p_exact=None, spreads=(), alike=())
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
    if np.ptp(by_item) <= ALIKE:
        span = (low - high, high - low) if low is not None and high is not None else (None, None)
        found.alike.append(_unseen(len(by_item), found.estimate, *span))
    if len(by_item) < FEW:
        found.exact.append(_flipped(by_item))
    if person is None:
        return found
    by_person = _means(d, person)
    if len(by_person) < 2:
        found.missing = "One person is not a sample of people, so that nothing follows for others."
        return found
    found.spreads.append(_t("people", by_person))
    if len(by_person) < FEW:
        found.exact.append(_flipped(by_person))
    if other.person is None and _same(one.score[rows], person, item):
        found.alike.append(_unseen(len(by_person), float(one.score[rows].mean()), low, high))
    _fit_into(found, d, np.ones((len(d), 1)), [1.0], {"person": person, "item": item})
    return found


def _side_by_side(one: _Side, other: _Side, low: float | None, high: float | None) -> _Evidence:
    """Fit score ~ who + (1 | person) + (1 | item) + (1 | who:item) to two groups of rows."""
    score = np.concatenate([one.score, other.score])
    is_one = np.repeat([1.0, 0.0], [len(one.score), len(other.score)])
    found = _Evidence(
        estimate=float(_means(one.score, one.units).mean() - _means(other.score, other.units).mean()),
        spreads=[], alike=[], exact=[], people=_people(one, other), items=0, rows=len(score),
    )  # fmt: skip
    units = [_means(side.score, side.units) for side in (one, other)]
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


# ---------------------------------------------------------------- the pieces of evidence


def _t(over: Literal["people", "items"], values: Values) -> Spread:
    """The standard error of a mean over units."""
    if len(values) < 2 or np.ptp(values) <= ALIKE:
        return Spread(over, 0.0, max(len(values) - 1, 1))
    return Spread(over, float(values.std(ddof=1)) / math.sqrt(len(values)), len(values) - 1)


def _welch(over: Literal["people", "items"], first: Values, second: Values) -> Spread:
    """The standard error of a difference of two independent means (Welch 1947)."""
    return _added(over, _t("people", first), _t("people", second))


def _added(over: Literal["both", "people", "items"], one: Spread, other: Spread) -> Spread:
    """The standard error of a sum of independent parts, with Satterthwaite's df."""
    a, b = one.stderr**2, other.stderr**2
    df = (a + b) ** 2 / (a**2 / one.df + b**2 / other.df) if a + b > 0 else one.df + other.df
    return Spread(over, math.sqrt(a + b), df)


def _over(units: Literal["people", "items"], one: _Side, other: _Side) -> Spread:
    """The standard error over units: paired on those that both have, if they have at least two."""
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
    """True if no unit differs from another: neither in its mean nor on any item."""
    if np.ptp(_means(score, unit)) > ALIKE:
        return False
    if item is None:
        return True
    _, place = np.unique(item, return_inverse=True)
    return bool(np.abs(score - _means(score, item)[place]).max() <= ALIKE)


def _unseen(units: int, mean: float, low: float | None, high: float | None) -> Alike:
    """How far units that were not seen may lie from those that are all alike."""
    if low is None or high is None:
        return Alike(units, math.inf, math.inf)
    return Alike(units, max(mean - low, 0.0), max(high - mean, 0.0))


def _flipped(values: Values) -> float:
    """The exact p of Fisher's test of signs, turned round in every way."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(values))))
    sums = np.abs(signs @ values)
    return float((sums >= abs(values.sum()) - ALIKE).mean())


def _relabelled(first: Values, second: Values) -> list[float]:
    """The exact p of Fisher's test of labels, given in every way; none if there are too many."""
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
    """Fit the crossed model and add its standard error; where nothing is left over, add those."""
    kept: dict[str, Codes] = {}
    for name, codes in factors.items():
        there = codes >= 0
        _, place = np.unique(codes[there], return_inverse=True)
        dense = np.full(len(codes), -1, np.intp)
        dense[there] = place
        twin = any(  # the same groups of rows under another name cannot be told apart
            len(np.unique(_joined(dense, one))) == dense.max() + 1 == one.max() + 1
            for one in kept.values()
            if (dense >= 0).all() and (one >= 0).all()
        )
        if dense.max() + 1 < there.sum() and not twin:  # one row a level is the residual itself
            kept[name] = dense
    fitted = LinearMixed(score, design, list(kept.values()))
    if fitted.exact:  # the limit of REML for a residual of 0
        if len(found.spreads) == 2:
            found.spreads.append(_added("both", *found.spreads))
        return
    made = fitted.contrast(weights)
    found.estimate, found.fitted, found.parts = made.estimate, fitted, list(kept)
    found.spreads.append(Spread("both", made.stderr, made.df))


def _p(found: Crossed) -> float | None:
    """The two-sided p: the level at which an interval would just reach 0."""
    from scipy.special import stdtr

    if found.estimate is None or found.at(0.95) is None:
        return None
    if not found.alike:
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
    """Say in sentences what a reader should bear in mind."""
    said = []
    if found.alike:
        said.append(
            "All people, or all items, are alike here: how much others differ is not known, so "
            "that the interval allows for those that were not seen."
        )
        if found.interval is None:
            said.append("Without the lowest and highest score possible there is no interval.")
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

    As lme4's glmer with nAGQ = 1, standard errors from the Hessian of the deviance. It stands
    beside `crossed`, which decides: where all are right or all wrong there is no log odds ratio,
    and with few people Wald's interval is too narrow.
    """
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
    model = _Laplace(y, np.column_stack([np.ones(len(y)), is_first]), [factors[k] for k in named])
    return model.fitted(named)


class _Laplace:
    """-2 log-likelihood of a logistic mixed model in (θ, β), the random effects at their mode."""

    def __init__(self, y: Values, design: Values, factors: Sequence[Codes]) -> None:
        self.y, self.X, self.factors = y, design, list(factors)
        self.sizes = [int(codes.max()) + 1 for codes in factors]
        self.ends = np.cumsum([0, *self.sizes])
        self.u = np.zeros(self.ends[-1])

    def _spread(self, theta: Values, u: Values) -> Values:
        """Λ u by row, summed over factors."""
        eta = np.zeros(len(self.y))
        for k, codes in enumerate(self.factors):
            there = codes >= 0
            eta[there] += theta[k] * u[self.ends[k] : self.ends[k + 1]][codes[there]]
        return eta

    def _gather(self, theta: Values, values: Values) -> Values:
        """ΛZ' values, by level."""
        return np.concatenate([
            theta[k] * np.bincount(codes[codes >= 0], values[codes >= 0], self.sizes[k])
            for k, codes in enumerate(self.factors)
        ])  # fmt: skip

    def _matrix(self, theta: Values, weight: Values) -> Values:
        """I + ΛZ'WZΛ, whose determinant is Laplace's correction."""
        made = np.eye(self.ends[-1])
        for k, one in enumerate(self.factors):
            for m, other in enumerate(self.factors):
                there = (one >= 0) & (other >= 0)
                flat = one[there] * self.sizes[m] + other[there]
                table = np.bincount(flat, weight[there], self.sizes[k] * self.sizes[m])
                block = theta[k] * theta[m] * table.reshape(self.sizes[k], self.sizes[m])
                made[self.ends[k] : self.ends[k + 1], self.ends[m] : self.ends[m + 1]] += block
        return made

    def deviance(self, values: Values) -> float:
        """Find the mode of the random effects by Newton's steps, and approximate around it."""
        from scipy.special import expit

        count = len(self.factors)
        theta, fixed = values[:count], self.X @ values[count:]

        def penalised(u: Values) -> tuple[float, Values]:
            eta = fixed + self._spread(theta, u)
            log = np.logaddexp(0, eta) - self.y * eta
            return 2 * float(log.sum()) + float(u @ u), eta

        u = self.u
        least, eta = penalised(u)
        for _ in range(100):
            mu = expit(eta)
            M = self._matrix(theta, mu * (1 - mu))
            step = np.linalg.solve(M, self._gather(theta, self.y - mu) - u)
            size = 1.0
            value, eta = penalised(u + step)
            while value > least + 1e-9 and size > 1e-6:
                size /= 2
                value, eta = penalised(u + size * step)
            u, gain, least = u + size * step, least - value, value
            if abs(gain) < 1e-11 * (1 + abs(least)):
                break
        self.u = u
        mu = expit(eta)
        _, log = np.linalg.slogdet(self._matrix(theta, mu * (1 - mu)))
        return least + float(log)

    def fitted(self, named: Sequence[int]) -> Logistic:
        """Search (θ, β) and take Wald's interval from the Hessian."""
        from scipy.optimize import minimize
        from scipy.special import ndtr, ndtri

        count = len(self.factors)
        shares = [float(self.y[self.X[:, 1] == k].mean()) for k in (0, 1)]
        odds = [math.log(one / (1 - one)) for one in shares]
        start = np.array([*[0.7] * count, odds[0], odds[1] - odds[0]])
        bounds = [(0.0, 50.0)] * count + [(None, None)] * 2
        found = minimize(
            self.deviance, start, method="L-BFGS-B", jac="3-point", bounds=bounds,
            options={"ftol": 1e-13, "gtol": 1e-6},
        ).x  # fmt: skip
        _, _, second = _differences(lambda at: np.array([self.deviance(at)]), found)
        hessian = second[..., 0]
        kept = np.array([k >= count or found[k] > 1e-3 for k in range(len(found))])
        values, vectors = np.linalg.eigh(hessian[np.ix_(kept, kept)])
        variances: dict[int, float] = {
            name: float(found[k]) ** 2 for k, name in enumerate(named)
        }  # 0: people, 1: items
        if values[0] <= 1e-6 or abs(found[-1]) > 15:
            return Logistic(None, None, None, None, variances.get(0), variances.get(1),
                            "Not estimable: the likelihood has no clear maximum.")  # fmt: skip
        stderr = math.sqrt(2 * float((vectors[-1] ** 2 / values).sum()))
        estimate = float(found[-1])
        reach = float(ndtri(0.975)) * stderr
        return Logistic(
            estimate, stderr, (estimate - reach, estimate + reach),
            float(2 * ndtr(-abs(estimate) / stderr)), variances.get(0), variances.get(1),
        )  # fmt: skip
