"""Votes by rankings: Borda, harmonic, maximin and Copeland.

Chmait and others (2017) name these rules and leave them for later, since they need a ranking of
all options where a test gives only the first. So a model of rankings is stated here. Member i,
of accuracy p_i, ranks m options as Plackett and Luce do: the next place goes to each option that
is left with a chance in proportion to its weight, p_i (m-1)/(1-p_i) for the right option and 1 for
each wrong one. The right option is then first with probability p_i, and wrong options are alike.

Every rule is a sum over ballots: of points by place, or of wins in each pair of options. The
distribution of the sum over independent members is therefore a convolution, one member after
another, and exact. Groups of which the sum has more than `STATES` values are sampled instead, with
a standard error. `ranked_bounds` assumes neither the model nor independence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error, nearest
from allminds.core.seeding import Random
from allminds.voting.rules import (
    Answer,
    Bounds,
    Floats,
    Ties,
    accuracies,
    by_lot,
    majority_wins,
    number_of_options,
)

Ints = NDArray[np.int64]

STATES = 2_000_000  # sums of a group's ballots that are kept, 16 MB
FEW = 6  # options at most, of which all rankings are gone through
PROFILES = 20_000  # ballots of all members together that the bounds go through
SAMPLES = 100_000  # elections, fewer where they are large
WORK = 400_000_000  # comparisons and points of all samples together, some seconds
LEAST = 1_000  # samples; groups too large for so many are refused
CHUNK = 4_000_000  # numbers drawn at a time, which bounds the memory


class VoteAccuracy(NamedTuple):
    """The accuracy of a ranked vote, and the standard error if it was sampled (0 if exact)."""

    accuracy: float
    stderr: float


# ---------------------------------------------------------------- the rules


def _borda(options: int) -> Ints:
    """Give m - 1 points to the first place, one less to each next one."""
    return np.arange(options - 1, -1, -1)


def _harmonic(options: int) -> Ints:
    """Give 1, 1/2, …, 1/m points, times their common denominator, so that ties are exact."""
    whole = math.lcm(*range(1, options + 1))
    return np.array([whole // place for place in range(1, options + 1)])


def _maximin(support: Ints, voters: int) -> Ints:  # noqa: ARG001 - as every rule of pairs
    """Take the support of each option in its worst pair."""
    m = support.shape[-1]
    own = np.where(np.eye(m, dtype=bool), np.iinfo(np.int64).max, support)
    return np.asarray(own.min(axis=-1))


def _copeland(support: Ints, voters: int) -> Ints:
    """Count each option's pairs won, less those lost."""
    lead = np.sign(2 * support - voters)
    m = support.shape[-1]
    lead[..., np.arange(m), np.arange(m)] = 0
    return np.asarray(lead.sum(axis=-1))


POINTS: dict[str, Callable[[int], Ints]] = {"borda": _borda, "harmonic": _harmonic}
PAIRS: dict[str, Callable[[Ints, int], Ints]] = {"maximin": _maximin, "copeland": _copeland}
RANKED_RULES = (*POINTS, *PAIRS)


def _check_rule(rule: str) -> None:
    if rule not in RANKED_RULES:
        raise Error(f"there is no ranked vote '{rule}'; {nearest(rule, RANKED_RULES)}")


def _tallies(rule: str, places: Ints) -> Ints:
    """Turn ballots into what the rule adds up; places[…, a] is the place of option a, from 0.

    A rule of points adds the points of each option, a rule of pairs 1 for each pair a < b in which
    a is before b.
    """
    m = places.shape[-1]
    if rule in POINTS:
        return np.asarray(POINTS[rule](m)[places])
    first, second = np.triu_indices(m, 1)
    return (places[..., first] < places[..., second]).astype(np.int64)


def _scores(rule: str, totals: Ints, options: int, voters: int) -> Ints:
    """Score the options from the sums of all ballots; the largest score wins."""
    if rule in POINTS:
        return totals
    first, second = np.triu_indices(options, 1)
    support = np.zeros((*totals.shape[:-1], options, options), np.int64)
    support[..., first, second] = totals
    support[..., second, first] = voters - totals
    return PAIRS[rule](support, voters)


def _right(rule: str, totals: Ints, options: int, voters: int, ties: Ties) -> Floats:
    """Compute the chance that option 0, the right one, wins; options that tie draw lots."""
    scores = _scores(rule, totals, options, voters)
    best = scores.max(axis=-1)
    tied = (scores == best[..., None]).sum(axis=-1)
    lot = majority_wins(2, ties)[1] > 0
    wins = (scores[..., 0] == best) & (lot | (tied == 1))
    return np.where(wins, 1 / tied, 0.0)


# ---------------------------------------------------------------- the vote itself


def ranked_vote(
    ballots: Sequence[Sequence[Answer] | None],
    random: Random,
    rule: str = "borda",
    ties: Ties = "coin",
) -> Answer | None:
    """Elect an option from rankings of all options, best first.

    Ties are broken by lot, or with ``ties="fail"`` elect nothing. None is an abstention. Tied
    options are in the order of the first ballot.

    Examples
    --------
    >>> from allminds.core.seeding import Random
    >>> ranked_vote(["abc", "bca", "bac"], Random(1), "borda")
    'b'
    """
    _check_rule(rule)
    given = [list(ballot) for ballot in ballots if ballot is not None]
    if not given:
        return None
    options = given[0]
    for number, ballot in enumerate(given, 1):
        if len(set(ballot)) != len(options) or set(ballot) != set(options):
            raise Error(
                f"ballot {number} ranks {ballot!r}, and should rank each of {options!r} once."
            )
    places = np.array([[ballot.index(option) for option in options] for ballot in given])
    totals = _tallies(rule, places).sum(axis=0)
    scores = _scores(rule, totals, len(options), len(given))
    best = np.flatnonzero(scores == scores.max())
    if len(best) > 1 and not majority_wins(2, ties)[1]:
        return None
    return by_lot([options[one] for one in best], random)


# ---------------------------------------------------------------- its accuracy


def ranked_accuracy(
    p: ArrayLike,
    options: int,
    rule: str = "borda",
    ties: Ties = "coin",
    random: Random | None = None,
) -> VoteAccuracy:
    """Compute the probability that a ranked vote of independent members p elects the right option.

    Exact while the sum of all ballots has no more than `STATES` values: for up to 9 members and 4
    options by every rule. Beyond, `SAMPLES` elections are drawn by `random`.

    Examples
    --------
    >>> found = ranked_accuracy([0.6, 0.6, 0.6], 4, "borda")
    >>> round(found.accuracy, 4), found.stderr
    (0.8148, 0.0)
    """
    members, m = accuracies(p), number_of_options(options)
    _check_rule(rule)
    if _few_states(rule, m, members.size):
        return VoteAccuracy(_exact(members, m, rule, ties), 0.0)
    if random is None:
        raise Error(
            f"{members.size} members and {m} options have too many outcomes to go through; "
            "give a generator of random numbers, and the vote is sampled."
        )
    return _sampled(members, m, rule, ties, random)


def _few_states(rule: str, m: int, n: int) -> bool:
    """Return True if the sum of n ballots has at most `STATES` values; options may be many."""
    if m > FEW:
        return False
    if rule in POINTS:  # all points given are known, so those of the last option follow
        return bool((n * int(POINTS[rule](m).max()) + 1) ** (m - 1) <= STATES)
    return bool((n + 1) ** math.comb(m, 2) <= STATES)


def _place_of_right(p: float, m: int) -> Floats:
    """Compute the chances that a member puts the right option first, second, …, last."""
    if p == 1:
        return np.array([1.0] + [0.0] * (m - 1))
    weight = p * (m - 1) / (1 - p)
    left, found = 1.0, []
    for others in range(m - 1, -1, -1):
        takes = weight / (weight + others) if others else 1.0
        found.append(left * takes)
        left *= 1 - takes
    return np.array(found)


def _exact(members: Floats, m: int, rule: str, ties: Ties) -> float:
    places = np.array(list(itertools.permutations(range(m))))
    ballots = _tallies(rule, places)
    kept = ballots[:, :-1] if rule in POINTS else ballots
    each = math.factorial(m - 1)  # orders of the wrong options, all alike
    sizes = members.size * kept.max(axis=0) + 1
    spread = np.zeros(sizes)
    spread[(0,) * sizes.size] = 1.0
    for p in members:
        chances = _place_of_right(float(p), m)[places[:, 0]] / each
        after = np.zeros_like(spread)
        for ballot, chance in zip(kept, chances, strict=True):
            if chance:
                here = tuple(slice(int(step), None) for step in ballot)
                before = tuple(
                    slice(0, size - int(step)) for size, step in zip(sizes, ballot, strict=True)
                )
                after[here] += chance * spread[before]
        spread = after
    reached = np.argwhere(spread)
    if rule in POINTS:
        given = members.size * int(ballots[0].sum())
        reached = np.column_stack([reached, given - reached.sum(axis=1)])
    wins = _right(rule, reached, m, members.size, ties)
    return min(1.0, math.fsum(wins * spread[spread != 0]))


def _sampled(members: Floats, m: int, rule: str, ties: Ties, random: Random) -> VoteAccuracy:
    """Draw elections: the place of the right option, and the others in any order."""
    n = members.size
    size = n * m * (m if rule in PAIRS else 1)
    samples = min(SAMPLES, WORK // size)
    if samples < LEAST:
        raise Error(f"a ranked vote of {n:,} members on {m:,} options is too large to sample.")
    draw = random.generator()
    chances = np.array([_place_of_right(float(p), m) for p in members]).cumsum(axis=1)
    found = []
    for begin in range(0, samples, max(1, CHUNK // size)):
        some = min(samples - begin, max(1, CHUNK // size))
        at = (draw.random((some, n, 1)) >= chances[:, :-1]).sum(axis=-1)
        others = draw.random((some, n, m - 1)).argsort(axis=-1)
        others += others >= at[..., None]
        places = np.concatenate([at[..., None], others], axis=-1)
        totals = _tallies(rule, places).sum(axis=1)
        found.append(_right(rule, totals, m, n, ties))
    wins = np.concatenate(found)
    return VoteAccuracy(float(wins.mean()), float(wins.std(ddof=1) / math.sqrt(wins.size)))


# ---------------------------------------------------------------- its bounds


def ranked_bounds(p: ArrayLike, options: int, rule: str = "borda", ties: Ties = "coin") -> Bounds:
    """Bound the accuracy of a ranked vote sharply, whatever the rankings and their dependence.

    Only the chances p that each member's first is the right option are known: the least and the
    greatest accuracy are linear programs over which members are right, with the worst and the best
    ballots in each case. For three members and four options, or other groups of which all ballots
    together are no more than `PROFILES`.
    """
    members, m = accuracies(p), number_of_options(options)
    _check_rule(rule)
    n = members.size
    if not few_ballots(n, m):
        raise Error(
            f"{n} members with {m} options have too many ballots to go through for bounds; "
            f"{PROFILES:,} is the most (3 members with 4 options)."
        )
    places = np.array(list(itertools.permutations(range(m))))
    profile = np.array(list(itertools.product(range(len(places)), repeat=n)))
    wins = _right(rule, _tallies(rule, places)[profile].sum(axis=1), m, n, ties)
    who = (places[profile, 0] == 0) @ (1 << np.arange(n))  # a bit for each member that is right
    worst, best = np.ones(1 << n), np.zeros(1 << n)
    np.minimum.at(worst, who, wins)
    np.maximum.at(best, who, wins)
    return Bounds(_least(worst, members), 1 - _least(1 - best, members))


def few_ballots(members: int, options: int) -> bool:
    """Return True if all ballots of a group together are few enough for `ranked_bounds`."""
    return members * math.lgamma(options + 1) <= math.log(PROFILES)


def _least(value: Floats, members: Floats) -> float:
    """Minimise the mean value over all ways in which members of these accuracies are right."""
    from scipy.optimize import linprog

    right = (np.arange(value.size)[:, None] >> np.arange(members.size)) & 1
    found = linprog(
        value,
        A_eq=np.column_stack([np.ones(value.size), right]).T,
        b_eq=np.array([1.0, *members]),
        method="highs",
    )
    if found.x is None:
        raise Error(f"the bounds of this vote were not found: {found.message}")
    return float(np.clip(value @ found.x, 0, 1))
