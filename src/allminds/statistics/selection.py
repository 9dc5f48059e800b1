"""The choice of a mind, or a group, for given tasks, after Chmait et al. (2017, §6.1 and §8).

An accuracy curve is any function of difficulty D, an array in and an array of probabilities out;
`group_curve` makes one of the curves of members that vote. Where two curves cross, the better
choice changes; among those good enough on every task, the cheapest is chosen. `against_best`
compares a vote with its best member, which is chosen on other exercises.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error, nearest
from allminds.voting import Ties, majority_accuracy, plurality_accuracy

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]
Rule = Literal["majority", "plurality"]

ROUNDING = 1e-9  # what a curve may leave 0 to 1 by
SAME = 1e-12  # accuracies, scores and costs this close are equal
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
    from scipy.optimize import brentq

    if not (math.isfinite(low) and math.isfinite(high) and low < high and points >= 3):
        raise Error(
            f"difficulties from {low} to {high} in {points} points are not a range to search."
        )
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
    from scipy.optimize import brentq, minimize_scalar

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


# ---------------------------------------------------------------- a pool of minds

# For a given size of group, a more accurate member never does harm under majority or plurality, and
# the accuracy of the group is linear in each member's. All of the search rests on these two.


@dataclass(frozen=True)
class Pool:
    """The minds to choose from, cheapest first; a group is a list of their places, [] for none."""

    who: list[int]  # copies of one mind have the same number
    costs: Floats
    table: Floats  # [mind, task]
    threshold: float
    accuracy: Callable[[Floats], float]

    def cost(self, group: list[int]) -> float:
        """Sum the costs of a group; infinite for no group."""
        return math.fsum(self.costs[group]) if group else math.inf

    def reached(self, members: Floats) -> list[float]:
        """Compute the accuracy of a group of such members on each task."""
        return [self.accuracy(column) for column in members.T]

    def good(self, members: Floats) -> bool:
        """Check whether a group of such members is accurate enough on each task."""
        return all(self.accuracy(column) >= self.threshold - SAME for column in members.T)

    def search(self, size: int, best: list[int]) -> list[int]:
        """Find the cheapest group of one size if it is cheaper than the best so far.

        For a given size a more accurate member never does harm, so a group is given up when it
        would fail even with the best of the remaining minds, chosen for each task separately.
        """

        def go_on(first: int, chosen: list[int]) -> None:
            nonlocal best
            left = size - len(chosen)
            for i in range(first, len(self.who) - left + 1):
                cheapest = [*chosen, *range(i, i + left)]
                if self.cost(cheapest) >= self.cost(best) - SAME:
                    return
                if i > first and self.who[i] == self.who[i - 1]:
                    continue  # another copy instead of this one is the same group
                rest = np.sort(self.table[i + 1 :], axis=0)[len(self.who) - i - left :]
                if not self.good(np.concatenate([self.table[[*chosen, i]], rest])):
                    continue
                if left == 1:
                    best = [*chosen, i]
                else:
                    go_on(i + 1, [*chosen, i])

        go_on(0, [])
        return best

    def exchange(self, size: int) -> list[int]:
        """Find a cheap group of one size: start from the most accurate and exchange members."""
        starts = [*self.table.T, self.table.mean(axis=1), self.table.min(axis=1)]
        groups = (sorted(np.argsort(-values, kind="stable")[:size].tolist()) for values in starts)
        good = [self._cheaper(group) for group in groups if self.good(self.table[group])]
        return min(good, key=self.cost, default=[])

    def _cheaper(self, group: list[int]) -> list[int]:
        """Make the exchange that saves most, again and again.

        Accuracy is linear in one member's, so that two values of it tell all replacements.
        """
        while True:
            saved, after = SAME, group
            for leaves in group:
                kept = [i for i in group if i != leaves]
                ends = [
                    self.reached(np.vstack([self.table[kept], np.full(self.table.shape[1], end)]))
                    for end in (0.0, 1.0)
                ]
                low, high = np.array(ends)
                enough = (low + (high - low) * self.table >= self.threshold).all(axis=1)
                enough[group] = False
                comes = int(np.argmax(enough))  # the first is the cheapest
                if enough[comes] and self.costs[leaves] - self.costs[comes] > saved:
                    saved = float(self.costs[leaves] - self.costs[comes])
                    after = sorted([*kept, comes])
            if after is group:
                return group
            group = after

    def at_least(self, size: int) -> float:
        """Compute a cost that no good group of one size is below; infinite if there is none.

        If the group's j-th dearest member costs x, all but j - 1 of them cost x or less. So x is no
        less than the smallest cost for which j - 1 minds of any cost, and the others of cost x or
        less, would be good enough if they were the most accurate such minds, chosen for each task
        separately.
        """
        dearest = []
        for free in range(size):
            low, high = size - free, len(self.who) + 1  # how many of the cheapest are needed
            while low < high:
                middle = (low + high) // 2
                if middle > len(self.who) or self._might_do(middle, size - free, free):
                    high = middle
                else:
                    low = middle + 1
            dearest.append(math.inf if low > len(self.who) else float(self.costs[low - 1]))
        return math.fsum(dearest)

    def _might_do(self, cheap: int, bound: int, free: int) -> bool:
        """Check whether `bound` of the cheapest and `free` of all minds could be good enough."""
        near = np.sort(self.table[:cheap], axis=0)
        rest = np.sort(np.vstack([near[: cheap - bound], self.table[cheap:]]), axis=0)
        return self.good(np.vstack([near[cheap - bound :], rest[len(rest) - free :]]))


# ---------------------------------------------------------------- a vote against its best member


LEAST_UNITS = 4  # exercises, or clusters: two to choose on and two to compare on


@dataclass(frozen=True)
class AgainstBest:
    """A vote beside the member that did best on other exercises than it is compared on.

    A verdict on `differences` says whether the vote and *that* member differ. Whether the vote is
    better than every member, the true best included, is said by `beats_all`.
    """

    chosen: int  # the member that did best on the half it was chosen on
    compared: NDArray[np.intp]  # the exercises of the other half
    differences: Floats  # vote less chosen member, on these
    each: Floats  # [exercise, member]: vote less member, on all exercises
    rows: NDArray[np.intp]  # the exercises of `each`

    def beats_all(self, better: Callable[[Floats], bool]) -> bool:
        """Check whether `better` holds for the vote's differences from each member.

        All must be decided, so no correction for their number is due (Berger 1982): the vote is
        wrongly said to beat its best member no more often than one comparison errs.
        """
        return all(better(column) for column in self.each.T)


def against_best(
    members: Floats,
    vote: Floats,
    rng: np.random.Generator,
    cluster: NDArray[np.int64] | None = None,
) -> AgainstBest | None:
    """Choose the best member on half of the exercises, and compare the vote with it on the rest.

    `members` are scores[exercise, member], NaN where there is none; exercises of one `cluster`
    stay together. The halves are drawn by `rng`, a tie between members too. Chosen and compared
    on the same exercises, the best of equal members seems better than it is, so that a vote as
    good as each of them "loses" in up to .15 of cases. None with fewer than four units.
    """
    rows = np.flatnonzero(~np.isnan(np.column_stack([members, vote])).any(axis=1))
    units = rows if cluster is None else np.asarray(cluster)[rows]
    kinds, unit = np.unique(units, return_inverse=True)
    if len(kinds) < LEAST_UNITS:
        return None
    first = np.isin(unit, rng.permutation(len(kinds))[: len(kinds) // 2])
    scores = members[rows[first]].mean(axis=0)
    chosen = int(rng.choice(np.flatnonzero(scores >= scores.max() - SAME)))
    other = rows[~first]
    return AgainstBest(
        chosen=chosen,
        compared=other,
        differences=vote[other] - members[other, chosen],
        each=vote[rows, None] - members[rows],
        rows=rows,
    )
