"""Abilities from hits: recovered, consistent, covered by their intervals, one-sided at an edge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from allminds import Error
from allminds.statistics.accuracy import (
    Counts,
    accuracy,
    consistent,
    item_information,
    log_likelihood,
    maximum_likelihood,
    omega,
    scores,
)

LEVELS = np.arange(7.0, 15.0)
RUNS = 300
ERROR = (0.95 * 0.05 / RUNS) ** 0.5  # standard error of a coverage of 95 %: .013


def answers(alpha, trials, runs, seed, beta=1.0):
    """`runs` minds of ability alpha, with `trials` answers at each level."""
    p = accuracy(LEVELS, alpha, options=26, beta=beta)
    hits = np.random.default_rng(seed).binomial(trials, p, size=(runs, len(LEVELS)))
    return Counts.of(LEVELS, hits, trials, options=26)


def covered(found, truth):
    return np.mean([low <= truth <= high for low, high in (one.interval for one in found)])


def test_the_score_weighs_hits_by_difficulty():
    counts = Counts.of([7, 8, 10], [[1, 1, 0], [0, 0, 1]], options=26)
    assert scores(counts).tolist() == [15 / 25, 10 / 25]


def test_omega_is_recovered_from_simulated_minds():
    """Hit rates made by α = 30 r̃ with r̃ their own score: only some abilities allow that."""

    def mismatch(alpha, scale):
        return alpha / scale - float(LEVELS @ accuracy(LEVELS, alpha, options=26) / LEVELS.sum())

    alphas = [brentq(mismatch, *ends, args=(30,)) for ends in [(0.5, 2.5), (3, 8), (10, 40)]]
    rates = accuracy(LEVELS, np.array(alphas)[:, None], options=26)
    exact = omega(Counts.of(LEVELS, rates, options=26))
    assert exact.omega == pytest.approx(30, rel=1e-6)
    assert exact.alphas == pytest.approx(alphas, rel=1e-6)
    assert exact.mean_squared_error == pytest.approx(0, abs=1e-12)
    hits = np.random.default_rng(4).binomial(2000, rates)
    assert omega(Counts.of(LEVELS, hits, 2000, options=26)).omega == pytest.approx(30, rel=0.03)


def test_condition_one_is_reported_for_each_mind():
    rates = accuracy(LEVELS, np.array([[2.0], [12.0], [60.0]]), options=26)
    found = omega(Counts.of(LEVELS, rates, options=26))
    half = np.log(2) * found.alphas
    assert found.discriminative.tolist() == [6 <= value <= 16 for value in half]
    assert not found.discriminative.all()


def test_items_of_one_level_are_pooled_for_omega():
    by_item = Counts.of([7, 7, 9, 9], [1, 0, 1, 1], options=26)
    by_level = Counts.of([7, 9], [1, 2], 2, options=26)
    assert omega(by_item).omega == pytest.approx(omega(by_level).omega)


def test_the_paper_s_ability_contradicts_its_curve_and_the_consistent_one_does_not():
    """r̃ = .8 gives α = 28 · .8 = 22.4, which predicts r̃ = .63 on the 20 induction items."""
    levels = np.array([7, 7, 8, 9, 9, 10, 10, 10, 10, 11, 11, 11, 12, 12, 12, 12, 13, 13, 14, 14.0])

    def score_of(alpha):
        return float(levels @ accuracy(levels, alpha, options=26) / levels.sum())

    assert score_of(22.4) == pytest.approx(0.63, abs=0.005)
    counts = Counts.of(levels, np.full(20, 0.8), options=26)
    assert score_of(consistent(counts)[0].alpha) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("beta", [1.0, 3.0])
def test_plentiful_data_give_the_ability_back(beta):
    rates = accuracy(LEVELS, 11.0, options=26, beta=beta)
    counts = Counts.of(LEVELS, 1e6 * rates, 1e6, options=26)
    for found in (consistent(counts, beta=beta)[0], maximum_likelihood(counts, beta=beta)[0]):
        assert found.alpha == pytest.approx(11.0, rel=1e-6)
        assert found.interval[0] < 11.0 < found.interval[1]


@pytest.mark.parametrize(("alpha", "trials"), [(5.0, 6), (12.0, 3), (30.0, 3)])
def test_both_intervals_cover_the_truth_at_the_nominal_rate(alpha, trials):
    """Over 3,000 runs: .947 .942 .964 (likelihood), .951 .952 .952 (consistent)."""
    counts = answers(alpha, trials, RUNS, seed=2)
    assert abs(covered(maximum_likelihood(counts), alpha) - 0.95) < 3 * ERROR
    assert abs(covered(consistent(counts), alpha) - 0.95) < 3 * ERROR


def test_the_standard_error_is_the_spread_of_the_estimates():
    counts = answers(12.0, 40, 300, seed=8)
    promised = (40 * item_information(LEVELS, 12.0, options=26).sum()) ** -0.5
    found = maximum_likelihood(counts)
    assert np.std(np.log([one.alpha for one in found])) == pytest.approx(promised, rel=0.12)
    assert found[0].stderr == pytest.approx(found[0].alpha * promised, rel=0.2)
    spread = np.std([one.alpha for one in consistent(counts)])
    assert consistent(counts)[0].stderr == pytest.approx(spread, rel=0.2)


def test_the_profile_interval_ends_where_the_likelihood_has_fallen_by_its_share():
    counts = Counts.of(LEVELS, [3, 3, 2, 2, 1, 2, 0, 1], 3, options=26)
    found = maximum_likelihood(counts)[0]
    top = float(log_likelihood(counts, found.alpha))
    for end in found.interval:
        fallen = 2 * (top - float(log_likelihood(counts, end)))
        assert fallen == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-6)


def test_always_right_bounds_ability_from_below_only():
    found = maximum_likelihood(Counts.of(LEVELS, np.ones(8), options=26))[0]
    assert found.alpha == np.inf == found.interval[1]
    assert 8 < found.interval[0] < np.inf
    assert found.stderr is None
    assert consistent(Counts.of(LEVELS, np.ones(8), options=26))[0].alpha == np.inf


def test_no_better_than_chance_bounds_ability_from_above_only():
    for hits in (np.zeros(8), np.eye(8)[7]):  # nothing right, or the hardest alone
        counts = Counts.of(LEVELS, hits, 20, options=26)
        found = maximum_likelihood(counts)[0]
        assert found.alpha == 0 == found.interval[0]
        assert 0 < found.interval[1] < 10
        assert consistent(counts)[0].alpha == 0


def test_expected_hits_just_short_of_all_leave_ability_open_above():
    found = maximum_likelihood(Counts.of(LEVELS, np.full(8, 0.9999), options=26))[0]
    assert found.interval[1] == np.inf


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Counts.of([7, 8], [1, 1, 1], options=26), "do not fit"),
        (lambda: Counts.of([7, 8], [1, 1], [1, 1, 1], options=26), "do not fit"),
        (lambda: Counts.of([0, 8], [1, 1], options=26), "above 0"),
        (lambda: Counts.of([7, 8], [2, 1], options=26), "hits <= trials"),
        (lambda: Counts.of([7, 8], [1, 1], options=1), "chance below 1"),
        (lambda: scores(Counts.of([7, 8], [0, 0], 0, options=26)), "never tried"),
        (lambda: maximum_likelihood(Counts.of([7], [0], 0, options=26)), "never tried"),
        (lambda: omega(Counts.of([7, 8], [0, 0], options=26)), "any ω"),
        (lambda: consistent(Counts.of([7], [1], options=26), confidence=2), "confidence"),
        (lambda: Counts.of([7], [1], options=26).mind(1), "no mind 1"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(wrong, says):
    with pytest.raises(Error, match=says):
        wrong()
