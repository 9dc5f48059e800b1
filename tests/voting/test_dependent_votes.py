"""Votes of members that depend on each other: bounds against linear programs over all states."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linprog

from allminds.core.errors import Error
from allminds.voting import (
    bounds,
    correlated_majority,
    correlated_plurality,
    correlated_weighted,
    estimate_correlation,
    majority_accuracy,
    plurality_accuracy,
    plurality_bounds,
    weighted_bounds,
)
from allminds.voting.dependent import _outer

accuracy = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
groups = st.lists(accuracy, min_size=1, max_size=7)


def program(p, votes, right, value):
    """The least and the greatest expected value over all joint distributions: an oracle."""
    table = np.vstack([np.ones(len(votes)), right.T]).astype(float)
    ends = [
        linprog(sign * value, A_eq=table, b_eq=np.r_[1, p], method="highs").fun * sign
        for sign in (1, -1)
    ]
    return tuple(ends)


def states(n):
    return np.array(list(itertools.product((0, 1), repeat=n)))


def worth(lead, tie):
    return np.where(np.abs(lead) < 1e-9, tie, (lead > 0).astype(float))


# ---------------------------------------------------------------- any dependence


def test_the_bounds_of_the_issue():
    assert bounds([0.9, 0.9, 0.1]) == pytest.approx((0.80, 0.95), abs=1e-12)


def test_the_closed_form_of_the_definitions_is_not_sharp():
    """DEFINITIONS §5 gives max(0, (s - l)/(l + 1)) to min(1, s/(l + 1)): it holds, no more."""
    p = [0.9, 0.9, 0.1]
    s, l = sum(p), 1
    assert ((s - l) / (l + 1), s / (l + 1)) == pytest.approx((0.45, 0.95))
    right = states(3)
    sharp = program(p, right, right, worth(2 * right.sum(axis=1) - 3, 0.5))
    assert sharp == pytest.approx((0.80, 0.95), abs=1e-9)


@given(groups, st.sampled_from([("coin", 0.5), ("fail", 0.0)]))
@settings(max_examples=80, deadline=None)
def test_bounds_of_a_majority_are_those_of_all_joint_distributions(p, ties):
    right = states(len(p))
    expected = program(p, right, right, worth(2 * right.sum(axis=1) - len(p), ties[1]))
    assert bounds(p, ties[0]) == pytest.approx(expected, abs=1e-7)


@given(st.data(), st.sampled_from([("coin", 0.5), ("fail", 0.0)]))
@settings(max_examples=80, deadline=None)
def test_bounds_of_a_weighted_vote_are_those_of_all_joint_distributions(data, ties):
    p = data.draw(groups)
    some = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.3])
    weights = np.array(data.draw(st.lists(some, min_size=len(p), max_size=len(p))))
    right = states(len(p))
    expected = program(p, right, right, worth((2 * right - 1) @ weights, ties[1]))
    found = weighted_bounds(p, weights, ties[0])
    assert found.sharp
    assert found[:2] == pytest.approx(expected, abs=1e-7)
    kept = weights != 0
    if kept.any():
        outer = _outer(np.where(weights < 0, 1 - np.array(p), p)[kept], np.abs(weights[kept]))
        assert outer.low <= expected[0] + 1e-7
        assert outer.high >= expected[1] - 1e-7


@given(st.lists(accuracy, min_size=1, max_size=5), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_bounds_of_a_plurality_are_those_of_all_joint_votes(p, m):
    votes = np.array(list(itertools.product(range(m), repeat=len(p))))
    counts = np.stack([(votes == option).sum(axis=1) for option in range(m)], axis=1)
    best = counts == counts.max(axis=1, keepdims=True)
    expected = program(p, votes, votes == 0, best[:, 0] / best.sum(axis=1))
    assert plurality_bounds(p, m) == pytest.approx(expected, abs=1e-7)


@given(groups, st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_every_model_lies_within_the_bounds(p, correlation):
    for ties in ("coin", "fail"):
        low, high = bounds(p, ties)
        assert low - 1e-9 <= correlated_majority(p, correlation, ties) <= high + 1e-9
        assert low - 1e-9 <= majority_accuracy(p, ties) <= high + 1e-9


def test_many_members_have_bounds_too():
    rng = np.random.default_rng(1)
    low, high = bounds(rng.random(10_001))
    assert 0 <= low <= high <= 1
    equal = np.full(25, 0.6)
    assert weighted_bounds(equal, np.ones(25))[:2] == pytest.approx(bounds(equal), abs=1e-7)
    found = weighted_bounds(rng.random(25), rng.random(25))
    assert not found.sharp
    assert 0 <= found.low <= found.high <= 1


# ---------------------------------------------------------------- one common factor


def latent(p, correlation):
    """P of each state from the multivariate normal distribution: an oracle."""
    n = len(p)
    tau = stats.norm.ppf(p)
    right = states(n)
    chance = []
    for state in right:
        sign = np.where(state, 1.0, -1.0)
        cov = correlation * np.outer(sign, sign)
        np.fill_diagonal(cov, 1.0)
        rng = np.random.default_rng(1)
        normal = stats.multivariate_normal
        chance.append(normal.cdf(sign * tau, np.zeros(n), cov, abseps=1e-7, releps=1e-7, rng=rng))
    return right, np.array(chance)


def test_five_members_at_07_with_a_correlation_of_05():
    assert correlated_majority([0.7] * 5, 0.5) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("correlation", [0.1, 0.5, 0.9])
def test_the_model_is_a_multivariate_normal_one(correlation):
    p, weights = [0.7, 0.4, 0.85, 0.55], [1.0, 2.0, 0.5, 1.2]
    right, chance = latent(p, correlation)
    for ties, tie in (("coin", 0.5), ("fail", 0.0)):
        expected = chance @ worth(2 * right.sum(axis=1) - 4, tie)
        assert correlated_majority(p, correlation, ties) == pytest.approx(expected, abs=1e-5)
        expected = chance @ worth((2 * right - 1) @ np.array(weights), tie)
        found = correlated_weighted(p, weights, correlation, ties)
        assert found == pytest.approx(expected, abs=1e-5)


def test_two_members_agree_as_often_as_the_arcsine_says():
    """P(both right) = ¼ + asin(ρ)/2π at p = ½: exact to 1e-10."""
    for rho in (0.05, 0.3, 0.6, 0.95, 0.999):
        both = 0.25 + math.asin(rho) / (2 * math.pi)
        assert correlated_majority([0.5, 0.5], rho, "fail") == pytest.approx(both, abs=1e-10)


@given(groups, st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_without_correlation_members_are_independent(p, m):
    assert correlated_majority(p, 0) == pytest.approx(majority_accuracy(p), abs=1e-12)
    assert correlated_plurality(p, 0, m) == pytest.approx(plurality_accuracy(p, m), abs=1e-12)
    weights = np.arange(1.0, len(p) + 1)
    right = np.array(list(itertools.product((0, 1), repeat=len(p))))
    lead = (2 * right - 1) @ weights
    chance = np.where(right, p, 1 - np.array(p)).prod(axis=1)
    expected = float(chance @ np.where(lead == 0, 0.5, lead > 0))
    assert correlated_weighted(p, weights, 0) == pytest.approx(expected, abs=1e-12)


def test_with_full_correlation_the_middle_member_decides():
    assert correlated_majority([0.9, 0.3, 0.6], 1) == pytest.approx(0.6)
    assert correlated_majority([0.9, 0.3, 0.6], 0.9999999) == pytest.approx(0.6, abs=1e-4)
    assert correlated_plurality([0.7] * 5, 1, 3) == pytest.approx(0.7)


# ---------------------------------------------------------------- from actual votes


def answers(rng, p, correlation, items):
    z, e = rng.normal(size=(items, 1)), rng.normal(size=(items, len(p)))
    latent = np.sqrt(correlation) * z + np.sqrt(1 - correlation) * e
    return (stats.norm.ppf(p) + latent > 0).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("items", [20, 60])
def test_intervals_of_the_correlation_cover(correlation, items):
    """100 tests, nominal 95 %: more than 13 misses have a chance of .001."""
    rng = np.random.default_rng(4)
    votes = (answers(rng, [0.5, 0.6, 0.75, 0.8], correlation, items) for _ in range(100))
    found = [one for one in map(estimate_correlation, votes) if one is not None]
    missed = sum(not one.interval[0] <= correlation <= one.interval[1] for one in found)
    assert missed <= 13
    assert len(found) > 95


def test_items_given_twice_are_no_more_than_items():
    rng = np.random.default_rng(5)
    hits = answers(rng, [0.5, 0.6, 0.75], 0.5, 80)
    once = estimate_correlation(hits)
    twice = estimate_correlation(np.repeat(hits, 2, axis=0), np.repeat(np.arange(80), 2))
    assert twice.units == once.units == 80
    assert twice.value == pytest.approx(once.value, abs=1e-3)
    assert np.subtract(*twice.interval) == pytest.approx(np.subtract(*once.interval), rel=0.15)


def test_what_tells_nothing_has_no_correlation():
    assert estimate_correlation(np.ones((50, 3))) is None
    assert estimate_correlation([[1, 0], [0, 1]] * 3) is None
    copies = estimate_correlation(np.repeat(np.arange(40)[:, None] % 2, 3, axis=1))
    assert copies.interval[1] == 1
    assert copies.value > 0.99


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: correlated_majority([0.5], -0.1), "0 to 1"),
        (lambda: correlated_majority([0.5], math.nan), "0 to 1"),
        (lambda: correlated_majority([0.5, 0.5], 0.5, "coins"), "did you mean 'coin'"),
        (lambda: correlated_weighted([0.5] * 16, np.ones(16), 0.5), "15 members or fewer"),
        (lambda: weighted_bounds([0.5], [1, 2]), "one for each of the 1"),
        (lambda: plurality_bounds([0.5] * 501, 3), "500 members"),
        (lambda: plurality_bounds([0.5], 1), "2 or more"),
        (lambda: estimate_correlation([[0.5, 1]]), "1 for right and 0 for wrong"),
    ],
)
def test_what_is_wrong_is_said(call, says):
    with pytest.raises(Error, match=says):
        call()
