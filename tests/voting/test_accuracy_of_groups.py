"""Majority, plurality and weighted votes: the probabilities against all that can happen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.voting import (
    bounds,
    gain_of_replacing,
    majority_accuracy,
    plurality_accuracy,
    vote_weights,
)

GROUP = (0.55, 0.55, 0.63)  # the paper's

SIZES = [(10, 2), (9, 3), (7, 4), (5, 6), (3, 26)]  # members and options to enumerate up to

accuracy = st.floats(0, 1)
seldom_certain = st.floats(0.02, 0.98)


def groups(most, member=accuracy, least=1):
    return st.lists(member, min_size=least, max_size=most)


def by_enumeration(p, weights, m):
    """Every vote of every member: option 0 is right, ties by lot among all m options."""
    p, weights = np.asarray(p, float), np.asarray(weights, float)
    votes = np.indices((m,) * len(p)).reshape(len(p), -1).T
    chance = np.where(votes == 0, p, (1 - p) / (m - 1)).prod(axis=1)
    sums = np.stack([(votes == option) @ weights for option in range(m)], axis=1)
    best = sums >= sums.max(axis=1, keepdims=True) - 1e-9 * np.abs(weights).sum()
    return float((chance * best[:, 0] / best.sum(axis=1)).sum())


def majority_by_enumeration(p, tie):
    """Every way of being right."""
    right = np.indices((2,) * len(p)).reshape(len(p), -1).T
    chance = np.where(right, p, 1 - np.asarray(p)).prod(axis=1)
    twice = 2 * right.sum(axis=1)
    return float(chance @ np.where(twice > len(p), 1, np.where(twice == len(p), tie, 0)))


def simulated(p, m, draws, seed):
    """How often plurality is right; wrong votes even, ties by lot."""
    rng = np.random.default_rng(seed)
    right = rng.random((draws, len(p))) < p
    votes = np.where(right, 0, rng.integers(1, m, size=right.shape))
    counts = (votes[:, :, None] == np.arange(m)).sum(axis=1)
    lots = counts + rng.random(counts.shape) / 2
    return float((lots.argmax(axis=1) == 0).mean())


# --- majority ---


def test_the_papers_group_of_three():
    assert majority_accuracy(GROUP) == pytest.approx(0.6144, abs=5e-5)
    assert majority_accuracy(GROUP) == pytest.approx(0.61435, abs=1e-12)


@given(groups(10))
@settings(max_examples=30, deadline=None)
def test_a_majority_is_right_as_often_as_its_members_allow(p):
    for ties, worth in (("coin", 0.5), ("fail", 0.0)):
        expected = majority_by_enumeration(p, worth)
        assert majority_accuracy(p, ties) == pytest.approx(expected, abs=1e-12)


@given(accuracy, st.integers(1, 60))
def test_equal_members_are_a_binomial_tail(p, n):
    q, half = Fraction(p), n // 2
    terms = (math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(half + 1, n + 1))
    assert majority_accuracy([p] * n, "fail") == pytest.approx(float(sum(terms)), abs=1e-12)


@pytest.mark.parametrize("n", [10_000, 10_001])
def test_ten_thousand_members_stay_within_zero_and_one(n):
    rng = np.random.default_rng(1)
    for p in (rng.random(n), rng.uniform(0.5, 0.52, n), np.full(n, 0.49), np.r_[0.0, np.ones(n)]):
        assert 0 <= majority_accuracy(p) <= 1
    assert majority_accuracy(np.r_[0.0, np.ones(n)]) == 1


def test_ten_thousand_nearly_equal_members_are_as_good_as_equal_ones():
    n = 10_001
    equal = np.full(n, 0.5)
    assert majority_accuracy(equal) == pytest.approx(0.5, abs=1e-12)
    unequal = np.r_[equal[:-2], 0.5 + 1e-9, 0.5 - 1e-9]  # by another road
    assert majority_accuracy(unequal) == pytest.approx(0.5, abs=1e-12)
    up = np.full(n, 0.505)
    nearly = np.r_[up[:-1], np.nextafter(0.505, 1)]
    assert majority_accuracy(nearly) == pytest.approx(majority_accuracy(up), abs=1e-12)


@given(groups(7, least=3), st.data())
def test_replacing_a_member_gains_the_difference_of_the_groups(p, data):
    index = data.draw(st.integers(0, len(p) - 1))
    new = data.draw(accuracy)
    after = [*p[:index], new, *p[index + 1 :]]
    for ties in ("coin", "fail"):
        difference = majority_accuracy(after, ties) - majority_accuracy(p, ties)
        assert gain_of_replacing(p, index, new, ties) == pytest.approx(difference, abs=1e-12)


@given(accuracy, accuracy, accuracy, accuracy)
def test_the_gain_of_a_third_member_is_in_closed_form(p1, p2, p3, new):
    expected = (p1 + p2 - 2 * p1 * p2) * (new - p3)
    assert gain_of_replacing([p1, p2, p3], 2, new) == pytest.approx(expected, abs=1e-12)


def test_replacing_the_only_member_gains_all_the_difference():
    assert gain_of_replacing([0.4], 0, 0.7) == pytest.approx(0.3)


def test_the_papers_last_step_holds_only_for_equal_partners():
    def printed(p1, p2, p3, new):
        return 2 * (1 - p1) * p2 * (new - p3)

    assert printed(0.6, 0.6, 0.5, 0.7) == pytest.approx(gain_of_replacing([0.6, 0.6, 0.5], 2, 0.7))
    assert printed(0.6, 0.9, 0.5, 0.7) != pytest.approx(gain_of_replacing([0.6, 0.9, 0.5], 2, 0.7))


# --- bounds for any dependence ---


@given(st.sampled_from([3, 5]), st.integers(0, 10**6), st.floats(0.05, 3))
@settings(max_examples=200)
def test_no_dependence_between_members_leaves_the_bounds(n, seed, concentration):
    joint = np.random.default_rng(seed).dirichlet(np.full(2**n, concentration))
    right = np.array(list(itertools.product((0, 1), repeat=n)))
    p = joint @ right
    actual = joint[right.sum(axis=1) > n / 2].sum()
    low, high = bounds(np.clip(p, 0, 1))
    assert low - 1e-12 <= actual <= high + 1e-12


@given(groups(9).filter(lambda p: len(p) % 2))
def test_independent_members_are_within_the_bounds(p):
    low, high = bounds(p)
    assert low - 1e-12 <= majority_accuracy(p) <= high + 1e-12


def test_equal_members_can_reach_both_bounds():
    """Three members, each right half of the time: just enough of them at a time, or too few."""
    votes = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])  # as likely as one another
    assert bounds(votes.mean(axis=0)).high == (votes.sum(axis=1) > 1.5).mean() == 0.75
    mirrored = 1 - votes
    assert bounds(mirrored.mean(axis=0)).low == (mirrored.sum(axis=1) > 1.5).mean() == 0.25


def test_the_bounds_of_the_papers_group():
    assert bounds(GROUP) == pytest.approx(((1.73 - 1) / 2, 1.73 / 2))
    assert bounds([0.5, 0.5]) == pytest.approx((0.5, 0.5))  # a coin makes it their mean
    assert bounds([0.5, 0.5], "fail") == pytest.approx((0.0, 0.5))
    assert bounds([0.1, 0.1, 0.1]).low == 0
    assert bounds([0.9, 0.9, 0.9]).high == 1


# --- plurality ---


def test_plurality_of_known_groups():
    assert plurality_accuracy(GROUP, 3) == pytest.approx(0.6661, abs=5e-5)
    assert plurality_accuracy((0.4, 0.5, 0.3, 0.6), 3) == pytest.approx(0.519, abs=1e-12)


@given(st.data(), st.sampled_from(SIZES))
@settings(max_examples=40, deadline=None)
def test_plurality_is_right_as_often_as_its_members_allow(data, size):
    most, m = size
    p = data.draw(groups(most))
    expected = by_enumeration(p, [1.0] * len(p), m)
    assert plurality_accuracy(p, m) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_plurality_of_the_largest_groups_that_can_be_enumerated(n, m):
    p = np.linspace(0.2, 0.6, n)
    assert plurality_accuracy(p, m) == pytest.approx(by_enumeration(p, np.ones(n), m), abs=1e-12)


@given(groups(40))
def test_plurality_of_two_options_is_a_majority_with_coins(p):
    assert plurality_accuracy(p, 2) == pytest.approx(majority_accuracy(p), abs=1e-12)


@given(st.integers(1, 60), st.integers(2, 26))
@settings(max_examples=40, deadline=None)
def test_a_group_of_guessers_guesses(n, m):
    assert plurality_accuracy([1 / m] * n, m) == pytest.approx(1 / m, abs=1e-12)


@pytest.mark.parametrize("m", [2, 3, 26, 10_000])
def test_two_hundred_guessers_still_guess(m):
    assert plurality_accuracy([1 / m] * 200, m) == pytest.approx(1 / m, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(15, 3), (41, 5), (200, 26)])
def test_plurality_agrees_with_simulation(n, m):
    """Four standard errors: a false alarm in 1 of 16,000 seeds."""
    p = np.linspace(0.5 / m, 1.9 / m, n)
    draws = 20_000
    expected = plurality_accuracy(p, m)
    stderr = math.sqrt(expected * (1 - expected) / draws)
    assert abs(simulated(p, m, draws, seed=n) - expected) < 4 * stderr


# --- weights ---


def test_weights_are_log_odds_against_one_wrong_option():
    assert vote_weights([0.5, 0.8], 2) == pytest.approx([0, math.log(4)])
    assert vote_weights([1 / 26, 0.5], 26) == pytest.approx([0, math.log(25)])


def test_accuracies_are_kept_half_a_trial_from_the_edges():
    assert vote_weights([0, 1], 2, trials=10) == pytest.approx([-math.log(19), math.log(19)])
    assert vote_weights([1, 1], 2, trials=[5, 50]) == pytest.approx([math.log(9), math.log(99)])
    assert vote_weights([0.4], 2, trials=1000) == pytest.approx(vote_weights([0.4], 2))


@given(groups(4, seldom_certain), st.integers(2, 4), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_no_weights_beat_the_best_weights(p, m, seed):
    best = by_enumeration(p, vote_weights(p, m), m)
    others = np.random.default_rng(seed).normal(size=len(p))
    assert best >= by_enumeration(p, others, m) - 1e-12
    assert best >= plurality_accuracy(p, m) - 1e-12
    assert best >= max(p) - 1e-12


# --- errors ---


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: majority_accuracy([0.5, 1.2]), "member 2 is 1.2"),
        (lambda: majority_accuracy([-0.1]), "member 1"),
        (lambda: majority_accuracy([math.nan]), "member 1"),
        (lambda: majority_accuracy([]), "empty"),
        (lambda: majority_accuracy(["most"]), "numbers from 0 to 1"),
        (lambda: majority_accuracy([[0.5]]), "one list"),
        (lambda: majority_accuracy([0.5], "coins"), "did you mean 'coin'"),
        (lambda: bounds([0.5, 0.5], "coins"), "did you mean 'coin'"),
        (lambda: gain_of_replacing([0.5], 1, 0.5), "no member 1"),
        (lambda: plurality_accuracy([0.5], 1), "2 or more"),
        (lambda: plurality_accuracy([0.5], 2.5), "whole number"),
        (lambda: plurality_accuracy([], 3), "empty"),
        (lambda: vote_weights([0.5, 1], 2), "member 2 has accuracy 1"),
        (lambda: vote_weights([0.5], 2, trials=0), "1 or more"),
        (lambda: vote_weights([0.5], 2, trials=[5, 5]), "one for each of 1"),
    ],
)
def test_what_is_wrong_is_said(call, says):
    with pytest.raises(Error, match=says):
        call()
