"""Prediction beyond the data: its coverage, its weights, and when nothing is said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from allminds import Error
from allminds.statistics.accuracy import Counts, accuracy, predict_beyond
from allminds.statistics.accuracy.beyond import (
    COVERAGE,
    Mixture,
    Stack,
    decline,
    trials_beyond,
    tried_levels,
)

LEVELS = np.arange(1.0, 9.0)


def exact(p, trials, chance=0.2):
    return Counts.of(LEVELS, np.asarray(p) * trials, trials, chance=chance)


@pytest.mark.slow
def test_the_coverage_that_is_printed_is_the_measured_one():
    """Other minds than those it was measured on; .02 is three standard errors by mind."""
    made, refused = trials_beyond(np.random.default_rng(3), 80)
    for steps, printed in COVERAGE.items():
        covered = np.mean([one.covered for one in made if one.steps == steps])
        assert covered == pytest.approx(printed, abs=0.02)
    assert refused["constant"] > 0.85 * 80  # without a decline, nothing is said


def test_plentiful_answers_on_a_curve_give_it_the_weight():
    truth = accuracy(LEVELS, 5.0, chance=0.2, beta=4.0)
    stack = Stack.of(tried_levels(exact(truth, 2000), 0))
    weights = dict(zip([grid.name for grid in stack.grids], stack.weights, strict=True))
    assert weights["E2"] > 0.6
    assert weights["E1"] < 1e-6
    assert sum(weights.values()) == pytest.approx(1)
    found = predict_beyond(exact(truth, 2000), 9.0)
    assert found.accuracy == pytest.approx(
        float(accuracy(9.0, 5.0, chance=0.2, beta=4.0)), abs=0.02
    )


def test_a_plateau_above_chance_is_not_predicted_to_end():
    p = [1, 0.99, 0.95, 0.8, 0.62, 0.52, 0.5, 0.5]
    found = predict_beyond(exact(p, 200), 11.0)
    assert found.accuracy == pytest.approx(0.5, abs=0.05)
    assert found.weights["logistic free floor"] > 0.5


def test_a_mind_at_chance_is_predicted_to_stay_there():
    found = predict_beyond(exact(np.full(8, 0.2), 50), 10.0)
    assert found.accuracy == pytest.approx(0.2, abs=0.03)
    assert found.interval[0] <= 0.2 <= found.interval[1]


@pytest.mark.parametrize(
    ("counts", "at", "says"),
    [
        (exact(np.full(8, 0.7), 20), 9.0, "no decline"),
        (exact(np.ones(8), 20), 9.0, "no decline"),
        (exact(np.linspace(0.1, 0.9, 8), 20), 9.0, "no decline"),
        (exact(np.linspace(1, 0.2, 8), 20), 14.0, "levels beyond"),
        (Counts.of([1, 2, 3], [9, 5, 1], 10, chance=0.0), 4.0, "too few"),
        (Counts.of([1, 2, 3, 4], [2, 1, 0, 0], 2, chance=0.0), 5.0, "too few"),
    ],
)
def test_where_extrapolation_is_hopeless_that_is_said(counts, at, says):
    found = predict_beyond(counts, at)
    assert says in found.why_not
    assert (found.accuracy, found.interval, found.coverage) == (None, None, None)


def test_more_answers_and_nearer_levels_say_more():
    truth = accuracy(LEVELS, 6.0, chance=0.2, beta=3.0)
    few, many = (predict_beyond(exact(truth, n), 9.0) for n in (5, 500))
    assert np.subtract(*many.interval) > np.subtract(*few.interval)  # low - high


def test_the_rate_of_new_items_scatters_more_than_the_accuracy():
    truth = accuracy(LEVELS, 6.0, chance=0.2, beta=3.0)
    found = predict_beyond(exact(truth, 100), 9.0, items=10)
    assert found.rate_interval[0] <= found.interval[0]
    assert found.rate_interval[1] >= found.interval[1]


def test_the_rate_of_new_items_is_binomial_round_a_known_accuracy():
    known = Mixture(np.array([0.3]), np.array([1.0]))
    for n in (1, 7, 20, 100):
        expected = stats.binom.ppf([0.025, 0.975], n, 0.3) / n
        assert known.rate_interval(n, 0.95) == pytest.approx(tuple(expected))
    assert Mixture(np.array([1.0]), np.array([1.0])).rate_interval(9, 0.95) == (1.0, 1.0)
    assert Mixture(np.array([0.0]), np.array([1.0])).rate_interval(9, 0.95) == (0.0, 0.0)


def test_the_decline_is_the_trend_test_of_the_counts():
    """Against the regression of single answers, whose correlation gives the same z."""
    counts = Counts.of([1, 2, 3, 4], [9, 8, 5, 3], 10, chance=0.0)
    right = [1] * 9 + [0] + [1] * 8 + [0] * 2 + [1] * 5 + [0] * 5 + [1] * 3 + [0] * 7
    r = np.corrcoef(np.repeat([1, 2, 3, 4], 10), right)[0, 1]
    assert decline(counts) == pytest.approx(stats.norm.cdf(r * np.sqrt(40)))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda c: predict_beyond(c, 8.0), "not beyond the data: 8 was the hardest"),
        (lambda c: predict_beyond(c, np.inf), "not beyond"),
        (lambda c: predict_beyond(c, 9.0, confidence=0.3), "confidence"),
        (lambda c: predict_beyond(c, 9.0, 3), "no mind 3"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(call, says):
    with pytest.raises(Error, match=says):
        call(exact(np.linspace(1, 0.3, 8), 10))
