"""The vote itself: many answers in, one answer out."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TypeVar

from allminds.core.errors import Error, nearest
from allminds.core.seeding import Random
from allminds.voting.counts import TIE, Ties

Answer = TypeVar("Answer", bound=Hashable)


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
    return _by_lot([answer for answer, total in totals.items() if total >= best - tie], random)


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
    return _by_lot(halves if len(halves) == 2 else [*halves, None], random)


def _by_lot(tied: Sequence[Answer], random: Random) -> Answer:
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
