"""Two sides of a comparison, and errors of their difference over people or items, for `crossed`.

What is compared is a list of units with weights (`inference.Units`), as for the score of one mind:
strata and weights are those of the figure that `evaluate` prints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.inference.intervals import Betting, betting_of
from allminds.inference.units import Units, clustered_error, skewed, sums
from allminds.statistics.comparison.mixed import Codes, Values

ALIKE = 1e-12  # scores that differ by less are equal
FEW = 8  # people or items: below this an exact test stands beside t
MOST_ORDERS = 20_000  # rearrangements that the exact test goes through

Over = Literal["both", "people", "items"]


# ---------------------------------------------------------------- two sides


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a mean score for each cell (person, item)."""

    name: str
    score: Values
    person: Codes | None  # None: a program, or an individual
    item: Codes | None
    stratum: Values | None = None  # of the item

    @property
    def units(self) -> Codes:
        """The codes of the independent units of this side: people, else items, else scores."""
        if self.person is not None:
            return self.person
        return np.arange(len(self.score)) if self.item is None else self.item


def sides_of(
    score: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object] | None,
    names: tuple[str, str],
    stratum: ArrayLike | None,
) -> tuple[Side, Side]:
    values, kinds = np.asarray(score, float), np.array([str(one) for one in who])
    people = [None] * len(values) if person is None else [name_of(one) for one in person]
    things = None if item is None else [name_of(one) for one in item]
    for name, column in (("who", kinds), ("person", people), ("item", things)):
        if column is not None and len(column) != len(values):
            raise Error(f"there are {len(values)} scores, but {len(column)} values of '{name}'")
    if names[0] == names[1]:
        raise Error(f"{names[0]} cannot be compared with itself; name two kinds of minds")
    used = ~np.isnan(values) & np.isin(kinds, names)
    of_person = numbers_of(people, used)
    of_item = None if things is None else numbers_of(things, used)
    if of_item is not None and (of_item < 0).any():
        raise Error("some scores have no item; give every score one, or none")
    made = []
    strata = None if stratum is None else np.asarray(stratum, float)[used]
    for name in names:
        rows = kinds[used] == name
        if not rows.any():
            raise Error(f"{name} has no score, so that there is nothing to compare")
        own = of_person[rows]
        if own.min() < 0 <= own.max():
            raise Error(f"some scores of {name} have a person and some have none")
        items = None if of_item is None else of_item[rows]
        of = None if strata is None else strata[rows]
        made.append(_cells(name, values[used][rows], None if own[0] < 0 else own, items, of))
    return made[0], made[1]


def name_of(value: object) -> str | None:
    """Return the name of a person or item, None if there is none."""
    return None if value is None or value != value or value == "" else str(value)


def numbers_of(values: Sequence[str | None], used: NDArray[np.bool_]) -> Codes:
    """Assign numbers to the values of the rows that are used; None is -1."""
    chosen = [value for value, use in zip(values, used, strict=True) if use]
    order = {value: n for n, value in enumerate(sorted({v for v in chosen if v is not None}))}
    return np.array([-1 if value is None else order[value] for value in chosen], np.intp)


def _cells(
    name: str, score: Values, person: Codes | None, item: Codes | None, stratum: Values | None
) -> Side:
    """Average the scores of each person (if any) on each item (if any)."""
    if person is None and item is None:
        return Side(name, score, None, None)
    key = joined(person, item)
    _, place = np.unique(key, return_index=True)
    return Side(
        name,
        means(score, key),
        None if person is None else person[place],
        None if item is None else item[place],
        None if stratum is None else stratum[place],
    )


def joined(*codes: Codes | None) -> Codes:
    """Assign numbers to the combinations of several codes."""
    given = [code for code in codes if code is not None]
    made = given[0]
    for code in given[1:]:
        made = made * 1_000_000 + code
    return made


def people_in(one: Side, other: Side) -> tuple[int, int]:
    """Count the people on either side; a program has none."""
    first, second = (
        0 if side.person is None else len(np.unique(side.person)) for side in (one, other)
    )
    return first, second


# ---------------------------------------------------------------- units that are alike


@dataclass(frozen=True)
class Spread:
    """A standard error of a difference, with its degrees of freedom."""

    over: Over  # what is taken for a sample
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


def unseen(units: int, mean: float, low: float | None, high: float | None) -> Alike:
    """Compute how far unseen units may lie from those that are all alike."""
    if low is None or high is None:
        return Alike(units, math.inf, math.inf)
    return Alike(units, max(mean - low, 0.0), max(high - mean, 0.0))


def same(score: Values, unit: Codes, item: Codes | None) -> bool:
    """Check that no unit differs from another, neither in its mean nor on any item."""
    if np.ptp(means(score, unit)) > ALIKE:
        return False
    if item is None:
        return True
    _, place = np.unique(item, return_inverse=True)
    return bool(np.abs(score - means(score, item)[place]).max() <= ALIKE)


def means(values: Values, codes: Codes) -> Values:
    """Average values by code, in the order of the codes."""
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(place, values) / counts)


# ---------------------------------------------------------------- standard errors


def clustered(over: Over, units: Units) -> Spread:
    """Compute the standard error of a weighted mean whose clusters are a sample."""
    if units.clusters < 2 or np.ptp(units.score) <= ALIKE:
        return Spread(over, 0.0, max(units.clusters - 1, 1))
    stderr, df = clustered_error(units)
    return Spread(over, stderr if stderr > ALIKE else 0.0, df)


def student(over: Over, values: Values) -> Spread:
    """Compute the standard error of a plain mean."""
    if len(values) < 2 or np.ptp(values) <= ALIKE:
        return Spread(over, 0.0, max(len(values) - 1, 1))
    return Spread(over, float(values.std(ddof=1)) / math.sqrt(len(values)), len(values) - 1)


def welch(over: Over, first: Values, second: Values) -> Spread:
    """Compute the standard error of a difference of two independent means (Welch 1947)."""
    return added(over, student("people", first), student("people", second))


def added(over: Over, one: Spread, other: Spread) -> Spread:
    """Compute the standard error of a sum of independent parts, with Satterthwaite's df."""
    a, b = one.stderr**2, other.stderr**2
    df = (a + b) ** 2 / (a**2 / one.df + b**2 / other.df) if a + b > 0 else one.df + other.df
    return Spread(over, math.sqrt(a + b), df)


def paired_over(units: Over, one: Side, other: Side) -> Spread:
    """Compute the standard error over units.

    It is paired on the units that both sides have, if they are at least two.
    """
    a, b = (
        side.units if units == "people" or side.item is None else side.item for side in (one, other)
    )
    common = np.intersect1d(a, b)
    each = [(np.unique(codes), means(side.score, codes)) for side, codes in ((one, a), (other, b))]
    if len(common) < 2:
        return welch(units, each[0][1], each[1][1])
    first, second = (values[np.isin(levels, common)] for levels, values in each)
    return student(units, first - second)


def of_few_hits(units: Units, low: float | None, high: float | None) -> list[Spread]:
    """Compute the standard error of a program's share of hits, two of each kind added.

    This follows Agresti (1998): the variance of a few hits is often too low, and 0 if all are
    alike. Of weighted hits there are as many as would be as sure without weights.
    """
    if low is None or high is None or not np.isin(units.score, (low, high)).all():
        return []
    weight = sums(units.cluster, units.weights)
    hits = float((units.weights * (units.score == high)).sum())
    n = 1 / float((weight**2).sum())
    share = (hits * n + 2) / (n + 4)
    stderr = (high - low) * math.sqrt(share * (1 - share) / n)
    return [Spread("items", stderr, units.clusters - 1)]


def bets(units: Units) -> list[Betting]:
    """Build the betting evidence over clusters, where their variance rests on a few of them."""
    if not math.isfinite(units.high - units.low) or np.ptp(units.score) <= ALIKE:
        return []
    return [betting_of(units)] if skewed(units) else []


# ---------------------------------------------------------------- exact tests


def flipped(units: Units) -> float:
    """Compute the exact p of Fisher's test over all assignments of signs to clusters."""
    pulls = sums(units.cluster, units.weights * units.score)
    signs = np.array(list(itertools.product((1, -1), repeat=len(pulls))))
    return float((np.abs(signs @ pulls) >= abs(pulls.sum()) - ALIKE).mean())


def relabelled(first: Values, second: Values) -> list[float]:
    """Compute the exact p of Fisher's test over all assignments of labels; [] if too many."""
    together, few = np.concatenate([first, second]), min(len(first), len(second))
    if math.comb(len(together), few) > MOST_ORDERS:
        return []
    places = np.array(list(itertools.combinations(range(len(together)), few)))
    totals = together[places].sum(axis=1)
    expected = few * together.mean()
    seen = abs((first if len(first) == few else second).sum() - expected)
    return [float((np.abs(totals - expected) >= seen - ALIKE).mean())]
