"""The number of members of a group that are right, from which every rule of voting starts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error, nearest

Floats = NDArray[np.float64]
Ties = Literal["coin", "fail"]

TIE = 1e-9  # sums of weights this close, as a share of all weight, are equal


class Bounds(NamedTuple):
    """The least and the greatest accuracy a group can have."""

    low: float
    high: float


def accuracies(p: ArrayLike) -> Floats:
    """Convert the members' accuracies p to an array; reject any outside 0 to 1 by its number."""
    try:
        found = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise Error(
            f"accuracies are numbers from 0 to 1, one for each member, not {p!r}."
        ) from None
    if found.ndim != 1:
        raise Error(f"accuracies are one list, a number for each member, not {found.ndim} deep.")
    if not found.size:
        raise Error("the group is empty; give the accuracy of at least one member.")
    wrong = np.flatnonzero(~((found >= 0) & (found <= 1)))  # so that NaN is wrong too
    if wrong.size:
        member = int(wrong[0])
        raise Error(f"the accuracy of member {member + 1} is {found[member]:g}; it lies in 0 to 1.")
    return found


def number_of_options(options: int) -> int:
    """Check the number of options m: a vote needs two or more."""
    if options < 2 or options != int(options):
        raise Error(f"the number of options is {options}; it is a whole number, 2 or more.")
    return int(options)


def finite_weights(weights: ArrayLike, members: int) -> Floats:
    """Convert the weights of votes to an array; require finite ones, one for each member."""
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (members,) or not np.isfinite(found).all():
        raise Error(f"weights are finite numbers, one for each of the {members} members.")
    return found


def majority_wins(n: int, ties: Ties) -> Floats:
    """Compute the chance that a majority is right when 0, 1, …, n of its members are."""
    if ties not in ("coin", "fail"):
        raise Error(f"ties cannot be '{ties}'; {nearest(ties, ('coin', 'fail'))}")
    twice = 2 * np.arange(n + 1)
    return np.where(twice > n, 1.0, np.where((twice == n) & (ties == "coin"), 0.5, 0.0))


def lead_wins(lead: Floats, total: float, ties: Ties) -> Floats:
    """Compute the chance that a vote is right from the right option's `lead` in weight."""
    tie = majority_wins(2, ties)[1]
    return np.where(np.abs(lead) <= TIE * total, tie, (lead > 0).astype(np.float64))


def number_right(p: Floats) -> Floats:
    """Compute the probability d_a that exactly a of n independent members are right, for a = 0..n.

    Binomial if all are equally accurate, else Poisson-binomial, member by member: sums of
    products of probabilities, so that nothing overflows, cancels or turns negative. Ten thousand
    unequal members take a tenth of a second, and time grows with their square.
    """
    if p.size and np.all(p == p[0]):
        return _binomial(p.size, float(p[0]))
    d = np.zeros(p.size + 1)
    d[0] = 1.0
    for before, right in enumerate(p):
        d[1 : before + 2] = d[1 : before + 2] * (1 - right) + d[: before + 1] * right
        d[0] *= 1 - right
    return d


def _binomial(n: int, p: float) -> Floats:
    """Compute the binomial from its mode outwards by ratios, since n! and p^n overflow."""
    d = np.zeros(n + 1)
    if p in (0.0, 1.0):
        d[int(p) * n] = 1.0
        return d
    mode = min(n, int((n + 1) * p))
    up, down = np.arange(mode, n), np.arange(mode, 0, -1)
    d[mode] = 1.0
    d[mode + 1 :] = np.cumprod((n - up) / (up + 1) * (p / (1 - p)))
    d[:mode] = np.cumprod(down / (n - down + 1) * ((1 - p) / p))[::-1]
    d /= d.sum()
    return d
