"""The comparison of a vote with its best member, which is chosen on other exercises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]  # [exercise, member], NaN where there is none

LEAST_UNITS = 4  # exercises, or clusters: two to choose on and two to compare on
SAME = 1e-12  # scores this close are equal


@dataclass(frozen=True)
class AgainstBest:
    """A vote beside the member that did best on other exercises than it is compared on.

    A verdict on `differences` says whether the vote and *that* member differ. Whether the vote is
    better than every member, the true best included, is said by `beats_all`.
    """

    chosen: int  # the member that did best on the half it was chosen on
    compared: NDArray[np.intp]  # the exercises of the other half
    differences: NDArray[np.float64]  # vote less chosen member, on these
    each: NDArray[np.float64]  # [exercise, member]: vote less member, on all exercises
    rows: NDArray[np.intp]  # the exercises of `each`

    def beats_all(self, better: Callable[[NDArray[np.float64]], bool]) -> bool:
        """Check whether `better` holds for the vote's differences from each member.

        All must be decided, so no correction for their number is due (Berger 1982): the vote is
        wrongly said to beat its best member no more often than one comparison errs.
        """
        return all(better(column) for column in self.each.T)


def against_best(
    members: Scores,
    vote: NDArray[np.float64],
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


# ---------------------------------------------------------------- simulation


@dataclass(frozen=True)
class Simulated:
    """A simulated vote: the verdicts on it, and what is true."""

    said: int  # 1 it gains on the chosen member, -1 it loses, 0 undecided
    truth: float  # accuracy of the vote less that of the chosen member
    beats_all: bool  # it was said to beat each member
    truth_of_best: float  # accuracy of the vote less that of the truly best member


def votes_against_best(
    rng: np.random.Generator,
    repeats: int,
    decide: Callable[[NDArray[np.float64]], int],
    accuracies: Sequence[float],
    vote: float | None = None,
    exercises: int = 60,
    correlation: float = 0.0,
) -> list[Simulated]:
    """Simulate votes, and decide on each by `decide` (1, 0 or -1 for differences by exercise).

    The vote is the majority of members with these accuracies, or has an accuracy of its own; the
    errors of all share a latent `correlation`.
    """
    from scipy.special import ndtri

    from allminds.voting import correlated_majority

    true = correlated_majority(accuracies, correlation, "fail") if vote is None else vote
    p = np.array([*accuracies, true])
    made = []
    for _ in range(repeats):
        common, own = rng.normal(size=(exercises, 1)), rng.normal(size=(exercises, len(p)))
        latent = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        hits = (ndtri(p) + latent > 0).astype(np.float64)
        members = hits[:, :-1]
        voted = (members.mean(axis=1) > 0.5).astype(float) if vote is None else hits[:, -1]
        found = against_best(members, voted, rng)
        if found is not None:
            made.append(
                Simulated(
                    said=decide(found.differences),
                    truth=float(true - p[found.chosen]),
                    beats_all=found.beats_all(lambda values: decide(values) > 0),
                    truth_of_best=float(true - max(accuracies)),
                )
            )
    return made


def false_words(made: Sequence[Simulated]) -> tuple[int, int]:
    """Count the wrong verdicts on a vote and its chosen member, and the votes."""
    return sum(bool(one.said and one.said * one.truth <= SAME) for one in made), len(made)


def false_boasts(made: Sequence[Simulated]) -> tuple[int, int]:
    """Count the votes that are wrongly said to beat each of their members, and the votes."""
    return sum(one.beats_all and one.truth_of_best <= SAME for one in made), len(made)
