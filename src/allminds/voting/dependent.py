"""Votes of members whose errors depend on each other in any way: sharp bounds.

Only the members' accuracies are known. Every joint distribution of right and wrong with these
accuracies is possible, and the accuracy of the vote is linear in it, so that its least and its
greatest value are linear programs. For rules that only count votes the programs are small: by
the theorem on sums of matroid base polytopes, a distribution π of the number S of right members
goes with accuracies p if and only if, for m = 1..n, the m largest p sum to E min(S, m) or less,
with equality at m = n. That leaves n + 1 unknowns instead of 2^n, and for a majority a closed
form (Rüger 1978): P(S >= k) <= min over j < k of (Σ of all but the j largest p)/(k - j).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from allminds.core.errors import Error
from allminds.voting.rules import (
    Bounds,
    Floats,
    Ties,
    accuracies,
    finite_weights,
    lead_wins,
    majority_wins,
    number_of_options,
)

STATES = 50_000  # of a linear program: 15 members of unequal weight, or more if some are equal
COUNTED = 500  # members of a plurality


class WeightedBounds(NamedTuple):
    """The least and the greatest accuracy of a weighted vote, and whether both can be reached."""

    low: float
    high: float
    sharp: bool  # False: no vote lies outside, but perhaps none comes near


def bounds(p: ArrayLike, ties: Ties = "coin") -> Bounds:
    """Bound the accuracy of a majority sharply, whatever the dependence between its members.

    Both ends can be reached by members with exactly the accuracies p. Ties, which an even number
    of members can have, are broken by a coin or fail, as in `majority_accuracy`.
    """
    members = accuracies(p)
    wins = majority_wins(members.size, ties)
    # A majority fails where enough members are wrong: the same bound, for the wrong ones.
    return Bounds(1 - _greatest(1 - members, 1 - wins[::-1]), _greatest(members, wins))


def plurality_bounds(p: ArrayLike, options: int) -> Bounds:
    """Bound the accuracy of a plurality sharply, whatever the dependence between its members.

    Which wrong option a wrong vote falls on may depend on the other votes too. At best wrong
    votes are spread over all wrong options; at worst they agree, and the plurality is a majority.
    """
    members, m = accuracies(p), number_of_options(options)
    n = members.size
    if n > COUNTED:
        raise Error(f"bounds of a plurality are for {COUNTED} members or fewer, and this has {n}.")
    right = np.arange(n + 1)
    level = (n - right) - (m - 1) * (right - 1)  # wrong options that must draw level, at best
    spread = np.where(level > m - 1, 0.0, 1 / (np.maximum(level, 0) + 1))
    spread[0] = 0.0
    classes = [(n, np.sort(members)[::-1])]
    return Bounds(bounds(members).low, _program(classes, spread))


def weighted_bounds(p: ArrayLike, weights: ArrayLike, ties: Ties = "coin") -> WeightedBounds:
    """Bound a weighted vote between two options (or one for more than half of all weight).

    A negative weight is a vote for the other option. Sharp if there are no more than 15 members
    of different weight, or as many of equal weight as make no more than 50,000 states; beyond,
    bounds that hold but may not be reached.
    """
    members, given = accuracies(p), finite_weights(weights, accuracies(p).size)
    members = np.where(given < 0, 1 - members, members)[given != 0]
    weight = np.abs(given[given != 0])
    if not weight.size:
        tie = float(majority_wins(2, ties)[1])
        return WeightedBounds(tie, tie, True)
    kinds, of = np.unique(weight, return_inverse=True)
    classes = [(int((of == k).sum()), np.sort(members[of == k])[::-1]) for k in range(kinds.size)]
    if np.prod([float(size + 1) for size, _ in classes]) > STATES:
        return _outer(members, weight)
    counts = _states([size for size, _ in classes])
    lead = (2 * counts - [size for size, _ in classes]) @ kinds
    value = lead_wins(lead, float(weight.sum()), ties)
    return WeightedBounds(-_program(classes, -value), _program(classes, value), True)


# ---------------------------------------------------------------- closed form


def _greatest(p: Floats, wins: Floats) -> float:
    """Maximise E wins(S) for a majority's `wins`, which are 0, perhaps ½ once, then 1.

    E wins(S) <= E g(S) for every convex g >= wins, and E g(S) <= g(0) + Σ p_(i) Δg(i) with the
    largest p first; these g are the ones of which the least value is the sharp bound.
    """
    falling = np.sort(p)[::-1]
    rest = np.append(np.cumsum(falling[::-1])[::-1], 0.0)  # Σ of all but the j largest
    sure = int(np.argmax(wins >= 1)) if (wins >= 1).any() else wins.size
    half = bool((wins == 0.5).any())
    j = np.arange(sure - 1 if half else sure)
    found = rest[j] / (sure - j)
    least = min(1.0, float(found.min())) if found.size else 1.0
    return min(least, 0.5 + 0.5 * float(rest[sure - 1])) if half else least


def _outer(p: Floats, weight: Floats) -> WeightedBounds:
    """Bound the vote for any weights: a vote that wins has half of all weight at least.

    Of the members that are not set aside, the right ones then have what is left of that half, so
    that their expected weight bounds the chance (Markov). The most accurate are set aside first.
    """
    half = float(weight.sum()) / 2

    def greatest(right: Floats) -> float:
        order = np.argsort(-right, kind="stable")
        aside = np.append(0.0, np.cumsum(weight[order]))
        kept = np.append(np.cumsum((weight * right)[order][::-1])[::-1], 0.0)
        needed = half - aside
        can = needed > 0
        return min(1.0, float((kept[can] / needed[can]).min()))

    return WeightedBounds(1 - greatest(1 - p), greatest(p), False)


# ---------------------------------------------------------------- linear programs


def _states(sizes: list[int]) -> Floats:
    """List all numbers of right members by class, one row each."""
    grid = np.indices([size + 1 for size in sizes]).reshape(len(sizes), -1)
    return np.asarray(grid.T, dtype=np.float64)


def _program(classes: list[tuple[int, Floats]], value: Floats) -> float:
    """Maximise the expected value over distributions of the numbers right, class by class.

    A class is its size and its members' accuracies, largest first. Given the numbers right, the
    members that are right in one class need not depend on the others, so each class has conditions
    of its own.
    """
    from scipy.optimize import linprog

    counts = _states([size for size, _ in classes])
    at_least, least, equal, exact = [], [], [np.ones(len(counts))], [1.0]
    for n, (size, falling) in enumerate(classes):
        sums = np.cumsum(falling)
        at_least += [np.minimum(counts[:, n], m) for m in range(1, size)]
        least += sums[:-1].tolist()
        equal.append(counts[:, n])
        exact.append(float(sums[-1]))
    found = linprog(
        -value,
        A_ub=-np.array(at_least) if at_least else None,
        b_ub=-np.array(least) if least else None,
        A_eq=np.array(equal),
        b_eq=np.array(exact),
        method="highs",
    )
    if found.x is None:
        raise Error(f"the bounds of these votes were not found: {found.message}")
    return float(np.clip(value @ found.x, value.min(), value.max()))
