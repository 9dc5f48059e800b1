"""Weighted votes: the option with most weight wins, ties by lot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.voting.counts import TIE, Floats, accuracies, finite_weights, number_of_options

MEMBERS, MEMBERS_OF_TWO_OPTIONS = 12, 20  # as many as can be enumerated in some ten seconds
ROWS = 100_000  # states handled at once


def vote_weights(p: ArrayLike, options: int, trials: ArrayLike | None = None) -> Floats:
    """The best weights for independent votes, log((m-1) p / (1-p)), for m options.

    They are log(p / (1-p)) for two options. A member that does worse than chance has a negative
    weight: its vote speaks against an option. An accuracy measured in N trials is kept in
    1/(2N) to 1 - 1/(2N), for no number of trials shows that a member never errs.
    """
    members, m = accuracies(p), number_of_options(options)
    if trials is not None:
        edge = 0.5 / _numbers_of_trials(trials, members.size)
        members = np.clip(members, edge, 1 - edge)
    certain = np.flatnonzero((members == 0) | (members == 1))
    if certain.size:
        member = int(certain[0])
        raise Error(
            f"member {member + 1} has accuracy {members[member]:g}, which no weight can express; "
            "give the number of trials it was measured in."
        )
    weights: Floats = np.log((m - 1) * members / (1 - members))
    return weights


def weighted_accuracy(p: ArrayLike, weights: ArrayLike, options: int) -> float:
    """The probability that independent members with accuracies p elect the right one of m options.

    A wrong vote falls on each of the m - 1 wrong options alike; an option nobody votes for has
    weight 0. Exact, by going through who is right and which wrong votes agree, so for no more
    than 12 members (20 if there are two options).
    """
    members, m = accuracies(p), number_of_options(options)
    given = finite_weights(weights, members.size)
    limit = MEMBERS_OF_TWO_OPTIONS if m == 2 else MEMBERS
    if members.size > limit:
        raise Error(
            f"the accuracy of a weighted vote among {m} options is exact up to {limit} members, "
            f"and this group has {members.size}; simulate the votes of larger groups."
        )
    columns = min(m - 1, members.size + 1)  # one is free for every vote, if there are as many
    start = _States(np.zeros(1), np.zeros((1, columns)), np.zeros(1, np.intp), np.ones(1))
    tie = TIE * float(np.abs(given).sum())
    return min(1.0, _chance(start, members, given, m - 1, tie))


class _States:
    """Ways some members have voted, a row each."""

    def __init__(self, right: Floats, wrong: Floats, used: NDArray[np.intp], chance: Floats):
        self.right = right  # weight of the right option
        self.wrong = wrong  # weight of wrong options, those with votes first
        self.used = used  # how many of them have votes
        self.chance = chance

    def __getitem__(self, rows: slice) -> _States:
        return _States(self.right[rows], self.wrong[rows], self.used[rows], self.chance[rows])


def _chance(states: _States, p: Floats, weights: Floats, options: int, tie: float) -> float:
    """The chance that the right option wins, over all that the remaining members may do."""
    if not p.size:
        return _won(states, options, tie)
    if states.chance.size > ROWS:  # halves, to bound the memory
        middle = states.chance.size // 2
        halves = (states[:middle], states[middle:])
        return sum(_chance(half, p, weights, options, tie) for half in halves)
    states = _one_more(states, float(p[0]), float(weights[0]), options)
    return _chance(states, p[1:], weights[1:], options, tie)


def _one_more(states: _States, p: float, weight: float, options: int) -> _States:
    """All ways another member may vote: right, with wrong votes, or for a wrong option of its own.

    Options without votes are alike: the first free column stands for them all.
    """
    parts = [(states.right + weight, states.wrong, states.used, states.chance * p)]
    for column in range(states.wrong.shape[1]):
        can = states.used >= column
        wrong, used = states.wrong[can], states.used[can]
        wrong[:, column] += weight
        alike = np.where(used == column, options - column, 1)
        chance = states.chance[can] * ((1 - p) * alike / options)
        parts.append((states.right[can], wrong, np.maximum(used, column + 1), chance))
    right, wrong, used, chance = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _States(right, wrong, used, chance)


def _won(states: _States, options: int, tie: float) -> float:
    """The chance that the right option has most weight, or wins the lot."""
    lead = states.right[:, None] - states.wrong
    tied = (np.abs(lead) <= tie).sum(axis=1)
    tied += (np.abs(states.right) <= tie) * (options - lead.shape[1])  # options not in a column
    best = (lead >= -tie).all(axis=1)
    return float((states.chance * best / (tied + 1)).sum())


def _numbers_of_trials(trials: ArrayLike, members: int) -> Floats:
    found = np.asarray(trials, dtype=np.float64)
    if found.shape not in ((), (members,)) or not (found >= 1).all():
        raise Error(f"trials are numbers, 1 or more: one for all, or one for each of {members}.")
    return found
