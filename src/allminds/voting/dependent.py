"""Votes of members whose errors depend on each other: sharp bounds, and one stated model.

Bounds. Only the members' accuracies are known. Every joint distribution of right and wrong with
these accuracies is possible, and the accuracy of the vote is linear in it, so that its least and
its greatest value are linear programs. For rules that only count votes the programs are small: by
the theorem on sums of matroid base polytopes, a distribution π of the number S of right members
goes with accuracies p if and only if, for m = 1..n, the m largest p sum to E min(S, m) or less,
with equality at m = n. That leaves n + 1 unknowns instead of 2^n, and for a majority a closed
form (Rüger 1978): P(S >= k) <= min over j < k of (Σ of all but the j largest p)/(k - j).

The model is a common latent factor. Member i is right where τ_i + √ρ Z + √(1-ρ) E_i > 0, with
Φ(τ_i) its accuracy p_i and Z, E_i independent standard normal numbers: Z is what makes a question
easy or hard for all of them, and ρ, the latent correlation of every two members, says how much of
it is common. ρ = 0 is independence; at ρ = 1 a less accurate member is right only where the better
ones are. Given Z members are independent, so that every rule of voting needs one integral over Z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    plurality_of,
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


# ---------------------------------------------------------------- a common latent factor


FAR = 8.5  # standard deviations: beyond lies 1e-17
CLOSE = 1e-12  # two refinements this close agree
WEIGHTED = 15  # members of a weighted vote
HIGHEST = 0.999  # a correlation that is estimated
LEAST_UNITS = 10  # items, or clusters, to estimate it from


def correlated_majority(p: ArrayLike, correlation: float, ties: Ties = "coin") -> float:
    """Compute the accuracy of a majority of members with accuracies p and correlation ρ."""
    members = accuracies(p)
    return min(1.0, float(right_together(members, correlation) @ majority_wins(members.size, ties)))


def correlated_plurality(p: ArrayLike, correlation: float, options: int) -> float:
    """Compute the accuracy of a plurality of members with accuracies p and correlation ρ.

    Wrong votes fall on the wrong options evenly and independently: only being right is correlated.
    Where members also agree on *which* wrong option, a plurality does worse than this.
    """
    return plurality_of(right_together(accuracies(p), correlation), options)


def correlated_weighted(
    p: ArrayLike, weights: ArrayLike, correlation: float, ties: Ties = "coin"
) -> float:
    """Compute the accuracy of a weighted vote between two options, of 15 members or fewer."""
    members = accuracies(p)
    given = finite_weights(weights, members.size)
    if members.size > WEIGHTED:
        raise Error(
            f"a correlated weighted vote is computed for {WEIGHTED} members or fewer, and this "
            f"group has {members.size}; give equal weights, or simulate the votes."
        )
    states = np.indices((2,) * members.size).reshape(members.size, -1).T
    wins = lead_wins((2.0 * states - 1) @ given, float(np.abs(given).sum()), ties)

    def value(right: Floats) -> Floats:
        chance = np.ones((len(right), 1))
        for each in right.T:  # the first member's bit changes slowest, as in `states`
            pair = np.stack([1 - each, each], axis=1)
            chance = (chance[:, :, None] * pair[:, None, :]).reshape(len(right), -1)
        return (chance @ wins)[:, None]

    return float(np.clip(_over_factor(members, correlation, value)[0], 0, 1))


def right_together(p: Floats, correlation: float) -> Floats:
    """Compute the probability that exactly a of n members are right, for a = 0..n."""

    def distribution(right: Floats) -> Floats:
        d = np.zeros((len(right), p.size + 1))
        d[:, 0] = 1.0
        for before, each in enumerate(right.T):
            here = each[:, None]
            d[:, 1 : before + 2] = d[:, 1 : before + 2] * (1 - here) + d[:, : before + 1] * here
            d[:, 0] *= 1 - each
        return d

    return _over_factor(p, correlation, distribution)


def _over_factor(p: Floats, correlation: float, value: Callable[[Floats], Floats]) -> Floats:
    """Average a function of the members' accuracies given Z, [node, member], over Z.

    Gauss and Legendre's rule of 16 points on ever more panels, until two agree to 1e-12.
    """
    if not 0 <= correlation <= 1:
        raise Error(
            f"the latent correlation is {correlation:g}; it lies in 0 to 1 (more than two members "
            "cannot all be negatively correlated with a common factor)."
        )
    if correlation == 0:
        return np.asarray(value(p[None])[0])
    if correlation == 1:
        return _comonotone(p, value)
    from scipy.special import ndtr, ndtri

    tau = ndtri(p)
    x, w = np.polynomial.legendre.leggauss(16)

    def by(panels: int) -> Floats:
        edges = np.linspace(-FAR, FAR, panels + 1)
        half = FAR / panels
        total: Floats = np.zeros(1)
        for some in np.array_split((edges[:-1] + half), max(1, panels // 64)):
            z = (some[:, None] + half * x).ravel()
            weight = np.tile(half * w, len(some)) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
            right = ndtr((tau + np.sqrt(correlation) * z[:, None]) / np.sqrt(1 - correlation))
            total = total + weight @ value(right)
        return total

    panels = 16
    before, now = by(8), by(panels)
    while np.abs(now - before).max() > CLOSE and panels < 1 << 16:
        panels *= 2
        before, now = now, by(panels)
    return now


def _comonotone(p: Floats, value: Callable[[Floats], Floats]) -> Floats:
    """Average at ρ = 1: each question has one difficulty U, and member i is right if U < p_i."""
    ends = np.unique(np.concatenate([[0.0, 1.0], p]))
    middles = (ends[1:] + ends[:-1]) / 2
    return np.asarray(np.diff(ends) @ value((middles[:, None] < p).astype(np.float64)))


# ---------------------------------------------------------------- estimation from votes


@dataclass(frozen=True)
class Correlation:
    """The latent correlation ρ of members, with its 95 % interval."""

    value: float
    interval: tuple[float, float]
    units: int  # items, or clusters of items
    members: int  # that were neither always right nor always wrong


def estimate_correlation(hits: ArrayLike, cluster: ArrayLike | None = None) -> Correlation | None:
    """Estimate ρ from hits[item, member], 1 for right and 0 for wrong, by maximum likelihood.

    Each member's accuracy is its share of hits. The 95 % interval is that of the likelihood
    ratio, made wider by what a jackknife over items (or clusters) finds beyond it, since the
    accuracies are estimates too. None if fewer than two members vary, or fewer than ten units
    are there. Common difficulty counts: items that are hard for all make ρ large.
    """
    x = np.asarray(hits, dtype=np.float64)
    if x.ndim != 2 or not np.isin(x, (0, 1)).all():
        raise Error("hits are a table [item, member] of 1 for right and 0 for wrong.")
    of = np.arange(len(x)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    patterns, of_pattern = np.unique(x, axis=0, return_inverse=True)
    counts = np.zeros((len(np.unique(of)), len(patterns)))  # [unit, pattern]
    np.add.at(counts, (of, of_pattern.ravel()), 1)
    whole = _Votes(patterns, counts.sum(axis=0))
    if whole.varying.sum() < 2 or len(counts) < LEAST_UNITS:
        return None
    best = whole.likeliest()
    widening = _widening(patterns, counts, whole, best)
    low, high = whole.interval(best, widening)
    return Correlation(best, (low, high), len(counts), int(whole.varying.sum()))


class _Votes:
    """Patterns of right and wrong with the count of each, and their likelihood by ρ."""

    def __init__(self, patterns: Floats, times: Floats) -> None:
        from scipy.special import ndtri

        share = times @ patterns / times.sum()
        self.varying: NDArray[np.bool_] = (share > 0) & (share < 1)
        self.patterns, self.times = patterns[:, self.varying], times
        self.tau = ndtri(share[self.varying])

    def loss(self, rho: float) -> float:
        """Compute -ℓ, by evenly spaced points over the common factor."""
        from scipy.special import log_ndtr

        z = np.linspace(-6, 6, 61 if rho < 0.8 else 241)
        weight = np.exp(-z * z / 2)
        u = (self.tau + np.sqrt(rho) * z[:, None]) / np.sqrt(1 - rho)
        logs = self.patterns @ log_ndtr(u).T + (1 - self.patterns) @ log_ndtr(-u).T
        top = logs.max(axis=1)
        chance = np.log(np.exp(logs - top[:, None]) @ weight / weight.sum()) + top
        return -float(self.times @ chance)

    def likeliest(self) -> float:
        """Find the ρ of least loss, the ends included."""
        from scipy.optimize import minimize_scalar

        inner = minimize_scalar(
            self.loss, bounds=(0, HIGHEST), method="bounded", options={"xatol": 1e-4}
        )
        losses = {float(inner.x): float(inner.fun), 0.0: self.loss(0.0)}
        losses[HIGHEST] = self.loss(HIGHEST)
        return min(losses, key=losses.__getitem__)

    def curvature(self, rho: float) -> float:
        """Compute the second derivative of the loss."""
        step = min(0.01, rho / 2, (1 - rho) / 2)
        around = self.loss(rho - step) - 2 * self.loss(rho) + self.loss(rho + step)
        return around / step**2

    def interval(self, best: float, widening: float) -> tuple[float, float]:
        """Find every ρ whose loss is no more than 1.92 times `widening` above the least."""
        from scipy.optimize import brentq
        from scipy.special import chdtri

        most = self.loss(best) + float(chdtri(1, 0.05)) / 2 * widening

        def above(rho: float) -> float:
            return self.loss(rho) - most

        low = 0.0 if above(0.0) <= 0 else float(brentq(above, 0.0, best, xtol=1e-5))
        high = 1.0 if above(HIGHEST) <= 0 else float(brentq(above, best, HIGHEST, xtol=1e-5))
        return low, high


def _widening(patterns: Floats, counts: Floats, whole: _Votes, best: float) -> float:
    """Divide the jackknife's variance of ρ by that of the likelihood alone; 1 at least.

    Units with the same answers are left out once for all of them. Near 0 the likelihood alone is
    enough; near 1, where the jackknife fails, its interval is doubled.
    """
    if not 0.02 < best < 0.98:
        return 1.0 if best < 0.5 else 4.0
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    left = np.array([_Votes(patterns, whole.times - kind).likeliest() for kind in kinds])
    units = len(counts)
    mean = float(times @ left) / units
    variance = (units - 1) / units * float(times @ (left - mean) ** 2)
    return max(1.0, variance * whole.curvature(best))
