"""Majority: the group is right when more than half of its members are (P0 Eq. 2, §7-8).

Members vote independently; for others see `dependent` and `correlated`. How many options there
are does not matter: a group without a majority for the right one fails.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from allminds.core.errors import Error
from allminds.voting.counts import Ties, accuracies, majority_wins, number_right


def majority_accuracy(p: ArrayLike, ties: Ties = "coin") -> float:
    """The probability P_x(A) that a majority of independent members with accuracies p is right.

    With exactly half of an even number right, a coin decides, or, as in the paper, the group
    fails (``ties="fail"``).
    """
    members = accuracies(p)
    return min(1.0, float(number_right(members) @ majority_wins(members.size, ties)))


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
    decides = number_right(np.delete(members, index)) @ np.diff(majority_wins(members.size, ties))
    return float(decides) * (new - float(members[index]))
