"""Votes: the vote itself, and the probability that one of independent members is right.

Every rule starts from the number of members that are right (`number_right`). Members whose errors
depend on each other are in `dependent`: bounds, and a model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error, nearest
from allminds.core.seeding import Random

Answer = TypeVar("Answer", bound=Hashable)
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


# ---------------------------------------------------------------- rules, for independent members


def majority_accuracy(p: ArrayLike, ties: Ties = "coin") -> float:
    """Compute the probability P_x(A) that a majority of independent members p is right.

    With exactly half of an even number right, a coin decides, or, as in the paper, the group
    fails (``ties="fail"``).
    """
    members = accuracies(p)
    return min(1.0, float(number_right(members) @ majority_wins(members.size, ties)))


def gain_of_replacing(p: ArrayLike, index: int, new: float, ties: Ties = "coin") -> float:
    """Compute the gain of a majority of any size if member `index`, from 0, gets accuracy `new`.

    It is the chance that this vote decides, times the difference in accuracy. The paper's last
    step, 2 (1 - p1) p2 (p3' - p3) for three members, is right only for p1 = p2.
    """
    members = accuracies(p)
    accuracies([new])
    if not 0 <= index < members.size:
        raise Error(f"there is no member {index}; count from 0 to {members.size - 1}.")
    decides = number_right(np.delete(members, index)) @ np.diff(majority_wins(members.size, ties))
    return float(decides) * (new - float(members[index]))


# ---------------------------------------------------------------- plurality


NEGLIGIBLE = 1e-18  # a number of right votes less likely than this changes no digit


def plurality_accuracy(p: ArrayLike, options: int) -> float:
    """Compute the probability that independent members p elect the right one of m options.

    A wrong vote falls on each of the m - 1 wrong options alike. With two options this is a
    majority with ties by coin. Exact::

        P = Σ_{a>=1} d_a Σ_{t>=0} 1/(t+1) · C(m-1,t) · w! (a!)^(-t)
              · [z^(w-ta)] (Σ_{j<a} z^j/j!)^(m-1-t) / (m-1)^w,    w = n - a,

    where d_a is the chance of a right votes, and t wrong options tie with the right one.
    """
    return plurality_of(number_right(accuracies(p)), options)


def plurality_of(d: Floats, options: int) -> float:
    """Compute the accuracy of a plurality whose number of right votes is distributed as d."""
    wrong_options = number_of_options(options) - 1
    n = d.size - 1
    counts = (a for a in range(1, n + 1) if d[a] > NEGLIGIBLE)
    return min(1.0, math.fsum(d[a] * _wins(a, n - a, wrong_options) for a in counts))


def _wins(right: int, wrong: int, options: int) -> float:
    """Compute the chance that `right` votes win against `wrong` ones spread over the wrong options.

    The formula's z^j/j! are scaled to Poisson probabilities of mean wrong/options: each factor is
    a probability then, whatever the numbers of votes and options.
    """
    if right > wrong:
        return 1.0
    mean = wrong / options
    log_votes = [_log_poisson(j, mean) for j in range(right + 1)]
    fewer = np.exp(log_votes[:right])
    most_ties = min(options, wrong // right)
    rest = _power(fewer, options - most_ties, wrong + 1)
    total = 0.0
    for t in range(most_ties, -1, -1):
        left = wrong - t * right
        if left < rest.size:
            log_tied = math.log(math.comb(options, t)) + t * log_votes[right]
            total += math.exp(log_tied) * float(rest[left]) / (t + 1)
        rest = np.convolve(rest, fewer)[: wrong + 1]
    return min(1.0, total / math.exp(_log_poisson(wrong, wrong)))


def _log_poisson(j: int, mean: float) -> float:
    return j * math.log(mean) - mean - math.lgamma(j + 1)


def _power(polynomial: Floats, exponent: int, terms: int) -> Floats:
    """Compute the lowest terms of a power of a polynomial, by squaring."""
    result = np.ones(1)
    square = polynomial[:terms]
    while exponent:
        if exponent % 2:
            result = np.convolve(result, square)[:terms]
        exponent //= 2
        if exponent:
            square = np.convolve(square, square)[:terms]
    return result


# ---------------------------------------------------------------- weighted votes


def vote_weights(p: ArrayLike, options: int, trials: ArrayLike | None = None) -> Floats:
    """Compute the best weights for independent votes, log((m-1) p / (1-p)), for m options.

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


def _numbers_of_trials(trials: ArrayLike, members: int) -> Floats:
    found = np.asarray(trials, dtype=np.float64)
    if found.shape not in ((), (members,)) or not (found >= 1).all():
        raise Error(f"trials are numbers, 1 or more: one for all, or one for each of {members}.")
    return found


# ---------------------------------------------------------------- the vote itself


def vote(
    answers: Sequence[Answer | None],
    random: Random,
    weights: Sequence[float] | None = None,
    options: Sequence[Answer] | None = None,
) -> Answer | None:
    """Elect the answer with most votes, or with most weight; ties are broken by lot.

    None is an abstention and does not count; without any answer there is no winner. The candidates
    are the answers given, in that order, or all `options`: only then can an option without votes
    win against one that all weight (of members worse than chance) speaks against.
    """
    given = _given(answers, weights)
    if not given:
        return None
    votes: dict[Answer, list[float]] = {option: [] for option in options or ()}
    for answer, weight in given:
        if options is not None and answer not in votes:
            raise Error(f"the answer {answer!r} is not among the {len(options)} options.")
        votes.setdefault(answer, []).append(weight)
    totals = {answer: math.fsum(of) for answer, of in votes.items()}
    tie = TIE * math.fsum(abs(weight) for _, weight in given)
    best = max(totals.values())
    return by_lot([answer for answer, total in totals.items() if total >= best - tie], random)


def majority_vote(
    answers: Sequence[Answer | None], random: Random, ties: Ties = "fail"
) -> Answer | None:
    """Elect the answer of more than half of the members that answered, or None if there is none.

    With ``ties="coin"`` an answer of exactly half wins by a coin, against the other half's answer
    or, if they disagree, against None: what `majority_accuracy` predicts by default.
    """
    if ties not in ("coin", "fail"):
        raise Error(f"ties cannot be '{ties}'; {nearest(ties, ('coin', 'fail'))}")
    given = [answer for answer, _ in _given(answers, None)]
    counts = {answer: given.count(answer) for answer in dict.fromkeys(given)}
    for answer, count in counts.items():
        if 2 * count > len(given):
            return answer
    halves: list[Answer | None] = [a for a, count in counts.items() if 2 * count == len(given)]
    if ties == "fail" or not halves:
        return None
    return by_lot(halves if len(halves) == 2 else [*halves, None], random)


def by_lot(tied: Sequence[Answer], random: Random) -> Answer:
    """Draw one of the answers that tie; a single one needs no lot."""
    return tied[random.below(len(tied))] if len(tied) > 1 else tied[0]


def _given(
    answers: Sequence[Answer | None], weights: Sequence[float] | None
) -> list[tuple[Answer, float]]:
    """Pair every answer that is not None with its weight, and check the weights."""
    if not answers:
        raise Error("nobody votes; give the answer of at least one member.")
    found = [1.0] * len(answers) if weights is None else [float(weight) for weight in weights]
    if len(found) != len(answers) or not all(map(math.isfinite, found)):
        raise Error(f"weights are finite numbers, one for each of the {len(answers)} answers.")
    return [(a, weight) for a, weight in zip(answers, found, strict=True) if a is not None]
