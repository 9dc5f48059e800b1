"""The choice of a mind, or a group, for given tasks, after Chmait et al. (2017, §6.1 and §8).

An accuracy curve is any function of difficulty D, an array in and an array of probabilities out;
`group_curve` makes one of the curves of members that vote. Where two curves cross, the better
choice changes; among those good enough on every task, the cheapest is chosen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from allminds.core.errors import Error, nearest
from allminds.voting import Ties, majority_accuracy, plurality_accuracy
from allminds.voting.pool import SAME, Pool

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]
Rule = Literal["majority", "plurality"]

ROUNDING = 1e-9  # what a curve may leave 0 to 1 by
EXACT_GROUPS = 100_000  # up to so many possible groups, the cheapest is certain


@dataclass(frozen=True)
class Crossings:
    """The points where two curves meet in (low, high], or that the curves are the same."""

    at: tuple[float, ...]  # difficulties, ascending
    equal: bool  # the curves are the same throughout; then `at` is empty


def crossings(a: Curve, b: Curve, low: float, high: float, points: int = 4001) -> Crossings:
    """Find the cut-off points ∩ of two curves over difficulties D in (low, high].

    They are found on a grid of so many points and refined; points where the curves touch count too,
    and so do two crossings within one step of the grid. Curves that run together from `low` on, or
    at the end up to `high` (as both fall to chance), do not cross there.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high and points >= 3):
        raise Error(f"difficulties from {low} to {high} in {points} points are no range to search.")
    grid = np.linspace(low, high, points)
    gaps = _values(a, grid) - _values(b, grid)
    signs = np.sign(gaps) * (np.abs(gaps) > SAME)
    apart = np.flatnonzero(signs)
    if not apart.size:
        return Crossings((), equal=True)

    def gap(difficulty: float) -> float:
        at = np.array([difficulty])
        return float(_values(a, at)[0] - _values(b, at)[0])

    found = []
    for i, j in itertools.pairwise(apart):
        if signs[i] != signs[j]:
            found.append(float(brentq(gap, grid[i], grid[j], xtol=1e-12)))
        elif j - i > 1:
            found += _dip(gap, grid[i], grid[j], signs[i])
    for middle in _minima(gaps, signs):
        found += _dip(gap, grid[middle - 1], grid[middle + 1], signs[middle])
    if signs[-1] == 0 and abs(gaps[-2]) > 1000 * SAME:  # else they run together
        found.append(high)
    return Crossings(tuple(sorted(set(found))), equal=False)


def _minima(gaps: Floats, signs: Floats) -> list[int]:
    """Find where on the grid the curves come so near that between its points they may meet.

    A dip between two points is no deeper than the rise beside it, for curves that are smooth or
    have one kink.
    """
    sizes = np.abs(gaps)
    before, here, after = sizes[:-2], sizes[1:-1], sizes[2:]
    one_side = (signs[:-2] == signs[1:-1]) & (signs[2:] == signs[1:-1]) & (signs[1:-1] != 0)
    near = (here < before) & (here <= after) & (2 * here <= np.maximum(before, after))
    return [int(i) + 1 for i in np.flatnonzero(one_side & near)]


def _dip(gap: Callable[[float], float], low: float, high: float, sign: float) -> list[float]:
    """Find the crossings between two points on one side of zero: none, one (touch), or two."""
    lowest = minimize_scalar(
        lambda d: sign * gap(d), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    at = float(lowest.x)
    depth = sign * gap(at)
    if depth > SAME:
        return []
    if depth >= -SAME:
        return [at]
    return [float(brentq(gap, x, y, xtol=1e-12)) for x, y in ((low, at), (at, high))]


def group_curve(
    members: Sequence[Curve],
    rule: Rule = "majority",
    options: int | None = None,
    ties: Ties = "coin",
) -> Curve:
    """Build the accuracy curve of a group of independent members; plurality needs `options`.

    Copies of one deterministic mind vote as one: give its curve once.
    """
    accuracy = _accuracy(rule, options, ties)
    if not members:
        raise Error("the group is empty; give the curve of at least one member.")

    def curve(difficulties: Floats) -> Floats:
        p = np.stack([_values(member, difficulties) for member in members])
        return np.array([accuracy(column) for column in p.T])

    return curve


@dataclass(frozen=True)
class Candidate:
    """A mind that can be chosen: its accuracy curve, and its cost f(α).

    `copies` says how many of it may be in one group, which is 1 for a deterministic mind.
    """

    name: str
    accuracy: Curve
    cost: float
    copies: int = 1


@dataclass(frozen=True)
class Choice:
    """The cheapest group found, and how sure it is that none is cheaper."""

    members: tuple[str, ...]  # cheapest first; () if no group was found
    cost: float  # infinite if no group was found
    accuracies: tuple[float, ...]  # of the group, one for each task
    at_least: float  # a group that will do costs no less; infinite if there is none
    exact: bool  # all groups were considered, or `at_least` was reached

    @property
    def verdict(self) -> str:
        """The sentence on how certain the choice is."""
        if not self.members:
            return "no group will do" if self.exact else "no group was found, but there may be one"
        if self.exact:
            return "no group that will do is cheaper"
        return f"a group that will do may cost {self.at_least:g}, but no less"


def cheapest(
    candidates: Sequence[Candidate], tasks: Sequence[float], threshold: float
) -> Candidate | None:
    """Find the cheapest mind with accuracy p̂ or more on each task (a difficulty).

    The first wins a tie; None if no mind is good enough.
    """
    table = _table(candidates, tasks, threshold)
    enough = (table >= threshold - SAME).all(axis=1)
    good = [candidates[i] for i in np.flatnonzero(enough).tolist()]
    return min(good, key=lambda mind: mind.cost, default=None)


def cheapest_group(
    candidates: Sequence[Candidate],
    tasks: Sequence[float],
    threshold: float,
    size_limit: int,
    rule: Rule = "majority",
    options: int | None = None,
    ties: Ties = "coin",
    exact_groups: int = EXACT_GROUPS,
) -> Choice:
    """Find the cheapest group of 1 to `size_limit` minds with accuracy p̂ or more on each task.

    The search is branch and bound over all groups if there can be no more than `exact_groups` (20
    minds in groups of up to 6, 16 in groups of any size). Beyond, the best exchange of one member
    by a cheaper mind is made until there is none, and `at_least` bounds how far that is from the
    cheapest.
    """
    table = _table(candidates, tasks, threshold)
    if size_limit < 1:
        raise Error(f"the size limit is {size_limit}; a group has 1 member or more.")
    order = sorted(range(len(candidates)), key=lambda i: candidates[i].cost)
    who = [i for i in order for _ in range(min(candidates[i].copies, size_limit))]
    costs = np.array([candidates[i].cost for i in who], float)
    pool = Pool(who, costs, table[who], threshold, _accuracy(rule, options, ties))
    sizes = range(1, min(size_limit, len(who)) + 1)
    best = min((pool.exchange(size) for size in sizes), key=pool.cost)
    lowest = min(pool.at_least(size) for size in sizes)
    exact = pool.cost(best) <= lowest + SAME
    if not exact and sum(math.comb(len(who), size) for size in sizes) <= exact_groups:
        exact = True
        for size in sizes:
            best = pool.search(size, best)
    cost = pool.cost(best)
    names = tuple(candidates[who[i]].name for i in best)
    reached = tuple(pool.reached(pool.table[best])) if best else ()
    return Choice(names, cost, reached, cost if exact else min(lowest, cost), exact)


def _accuracy(rule: Rule, options: int | None, ties: Ties) -> Callable[[Floats], float]:
    if rule == "majority":
        return lambda p: majority_accuracy(p, ties)
    if rule == "plurality":
        if options is None:
            raise Error("plurality depends on the number of options; give it, 2 or more.")
        return lambda p: plurality_accuracy(p, options)
    raise Error(f"there is no rule '{rule}'; {nearest(rule, ('majority', 'plurality'))}")


def _values(curve: Curve, difficulties: Floats) -> Floats:
    """Compute the accuracies on a curve, and check them."""
    values = np.asarray(curve(difficulties), dtype=np.float64)
    if values.shape != difficulties.shape or not (np.abs(values - 0.5) <= 0.5 + ROUNDING).all():
        raise Error("an accuracy curve gives a number from 0 to 1 for each difficulty it is given.")
    return np.clip(values, 0.0, 1.0)


def _table(candidates: Sequence[Candidate], tasks: Sequence[float], threshold: float) -> Floats:
    """Compute the accuracy of each candidate on each task, and check all arguments."""
    if not len(candidates) or not len(tasks):
        raise Error("there is nothing to choose; give at least one candidate and one task.")
    if not 0 <= threshold <= 1:
        raise Error(f"the threshold is {threshold}; an accuracy lies in 0 to 1.")
    for mind in candidates:
        if not (0 <= mind.cost < math.inf and mind.copies >= 1):
            raise Error(f"'{mind.name}' must cost 0 or more, and have 1 copy or more.")
    difficulties = np.array(tasks, float)
    return np.stack([_values(mind.accuracy, difficulties) for mind in candidates])
