"""Majority: the group is right when more than half of its members are (P0 Eq. 2, §7-8).

Members vote independently, except in `bounds`, which hold for any dependence between them. How
many options there are does not matter: a group without a majority for the right one fails.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from allminds.errors import Error, nearest
from allminds.voting.counts import Floats, accuracies, number_right

Ties = Literal["coin", "fail"]


class Bounds(NamedTuple):
    """The least and the greatest accuracy a group can have."""

    low: float
    high: float


def majority_accuracy(p: ArrayLike, ties: Ties = "coin") -> float:
    """The probability P_x(A) that a majority of independent members with accuracies p is right.

    With exactly half of an even number right, a coin decides, or, as in the paper, the group
    fails (``ties="fail"``).
    """
    members = accuracies(p)
    return min(1.0, float(number_right(members) @ _wins(members.size, ties)))


def bounds(p: ArrayLike) -> Bounds:
    """The accuracy of a majority whatever the dependence between its members; their number is odd.

    With s = Σp and n = 2l + 1 it lies in (s - l)/(l + 1) to s/(l + 1). Among equally accurate
    members both ends can be reached.
    """
    members = accuracies(p)
    if members.size % 2 == 0:
        raise Error(f"bounds are for an odd number of members, and this group has {members.size}.")
    s, l = float(members.sum()), (members.size - 1) // 2
    return Bounds(max(0.0, (s - l) / (l + 1)), min(1.0, s / (l + 1)))


def replacement_gain(p1: float, p2: float, p3: float, p3_new: float) -> float:
    """What a majority of three gains when its third member p3 gives way to p3'.

    It is (p1 + p2 - 2 p1 p2)(p3' - p3): the third vote matters when the first two differ. (The
    paper's last step, 2 (1 - p1) p2 (p3' - p3), is right only for p1 = p2.)
    """
    accuracies([p1, p2, p3, p3_new])
    return (p1 + p2 - 2 * p1 * p2) * (p3_new - p3)


def gain_of_replacing(p: ArrayLike, index: int, new: float, ties: Ties = "coin") -> float:
    """What a majority of any size gains when member `index`, from 0, gets the accuracy `new`.

    The chance that this vote decides, times the difference in accuracy.
    """
    members = accuracies(p)
    accuracies([new])
    if not 0 <= index < members.size:
        raise Error(f"there is no member {index}; count from 0 to {members.size - 1}.")
    decides = number_right(np.delete(members, index)) @ np.diff(_wins(members.size, ties))
    return float(decides) * (new - float(members[index]))


def _wins(n: int, ties: Ties) -> Floats:
    """The chance that the group is right when 0, 1, …, n of its members are."""
    if ties not in ("coin", "fail"):
        raise Error(f"ties cannot be '{ties}'; {nearest(ties, ('coin', 'fail'))}")
    twice = 2 * np.arange(n + 1)
    return np.where(twice > n, 1.0, np.where((twice == n) & (ties == "coin"), 0.5, 0.0))
