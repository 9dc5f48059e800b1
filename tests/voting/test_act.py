"""The act of voting: who wins, and by which lot."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.voting import (
    majority_accuracy,
    majority_vote,
    plurality_accuracy,
    vote,
    vote_weights,
)

ANY = Random(5)


def lots(n):
    """So many independent lots."""
    return (Random(11, step) for step in range(n))


def test_most_votes_win():
    assert vote(["b", "a", "b", "c"], ANY) == "b"
    assert vote([(1, 2), (1, 2), 7], ANY) == (1, 2)


def test_no_answer_does_not_count():
    assert vote([None, None, "a"], ANY) == "a"
    assert vote([None, None], ANY) is None
    assert majority_vote([None, None, None, "a", "a", "b"], ANY) == "a"
    assert majority_vote([None], ANY) is None


def test_most_weight_wins():
    assert vote(["a", "a", "b"], ANY, weights=[1, 1, 3]) == "b"
    assert vote(["a", None, "b"], ANY, weights=[1, 9, 2]) == "b"


def test_weights_that_add_up_alike_tie():
    """0.1 + 0.2 is 0.3, whatever the computer says."""
    found = {vote(["a", "a", "b"], lot, weights=[0.1, 0.2, 0.3]) for lot in lots(50)}
    assert found == {"a", "b"}


def test_ties_fall_to_each_alike():
    """Within four standard errors: a false alarm in 1 of 16,000 seeds."""
    counts = Counter(vote(["a", "b", "c", "a", "b", "c", "d"], lot) for lot in lots(3000))
    assert set(counts) == {"a", "b", "c"}
    assert all(abs(count - 1000) < 4 * (3000 * 2 / 9) ** 0.5 for count in counts.values())


def test_the_same_lot_decides_the_same():
    answers = ["c", "a", "b"]
    first = [vote(answers, lot) for lot in lots(20)]
    assert first == [vote(answers, lot) for lot in lots(20)]
    assert vote(answers, Random(3)) == answers[Random(3).below(3)]


def test_a_vote_of_negative_weight_speaks_for_the_other_options():
    assert vote(["a"], ANY, weights=[-1.0], options=["a", "b"]) == "b"
    assert vote(["a"], ANY, weights=[-1.0]) == "a"  # nothing else is known


def test_a_majority_is_more_than_half():
    assert majority_vote(["a", "b", "a"], ANY) == "a"
    assert majority_vote(["a", "b", "c"], ANY) is None
    assert majority_vote(["a", "b", "a", "c", "a", "b"], ANY) is None
    assert majority_vote(["a", "b"], ANY) is None


def test_a_coin_decides_between_halves_if_it_may():
    assert {majority_vote(["a", "b"], lot, ties="coin") for lot in lots(50)} == {"a", "b"}
    three = ["a", "a", "b", "c"]
    assert {majority_vote(three, lot, ties="coin") for lot in lots(50)} == {"a", None}
    assert majority_vote(["a", "b", "c"], ANY, ties="coin") is None


def by_weight(p, weights, m):
    """How often option 0 has most weight, over all votes of the members."""
    expected = 0.0
    for votes in itertools.product(range(m), repeat=len(p)):
        totals = [sum(w for v, w in zip(votes, weights, strict=True) if v == o) for o in range(m)]
        tied = [total for total in totals if total >= max(totals) - 1e-9]
        chance = math.prod(
            q if v == 0 else (1 - q) / (m - 1) for v, q in zip(votes, p, strict=True)
        )
        expected += chance * (totals[0] in tied) / len(tied)
    return expected


def test_votes_are_right_as_often_as_predicted():
    """Within four standard errors: each a false alarm in 1 of 16,000 seeds."""
    p, m, draws = np.array([0.1, 0.3, 0.5, 0.6]), 3, 4000
    weights = vote_weights(p, m)  # the first is negative
    rng = np.random.default_rng(8)
    right = rng.random((draws, len(p))) < p
    answers = np.where(right, 0, rng.integers(1, m, size=right.shape)).tolist()
    acts = [
        (plurality_accuracy(p, m), vote),
        (majority_accuracy(p), lambda a, lot: majority_vote(a, lot, ties="coin")),
        (majority_accuracy(p, "fail"), majority_vote),
        (by_weight(p, weights, m), lambda a, lot: vote(a, lot, weights, range(m))),
    ]
    for expected, act in acts:
        hits = sum(act(a, lot) == 0 for a, lot in zip(answers, lots(draws), strict=True))
        assert abs(hits / draws - expected) < 4 * (expected * (1 - expected) / draws) ** 0.5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: vote([], ANY), "nobody votes"),
        (lambda: majority_vote([], ANY), "nobody votes"),
        (lambda: vote(["a"], ANY, weights=[1, 2]), "each of the 1 answers"),
        (lambda: vote(["a"], ANY, weights=[float("nan")]), "finite"),
        (lambda: vote(["x"], ANY, options=["a", "b"]), "'x' is not among the 2"),
        (lambda: majority_vote(["a"], ANY, ties="lot"), "ties cannot be 'lot'"),
    ],
)
def test_what_is_wrong_is_said(call, says):
    with pytest.raises(Error, match=says):
        call()
