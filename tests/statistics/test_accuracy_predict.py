"""Predicted and supported are two things; difficulty from scores has its error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from allminds import Error
from allminds.statistics.accuracy import (
    Counts,
    accuracy,
    clopper_pearson,
    compare,
    infer_difficulty,
    maximum_likelihood,
    prediction,
)
from allminds.statistics.accuracy.beyond import COVERAGE

LEVELS = np.repeat(np.arange(6.0, 16.0), 4)


def made(alpha, beta, seed, trials=1):
    alphas = np.atleast_1d(alpha)[:, None]
    hits = np.random.default_rng(seed).binomial(
        trials, accuracy(LEVELS, alphas, options=26, beta=beta)
    )
    return Counts.of(LEVELS, hits, trials, options=26)


def test_the_interval_of_eq_1_is_that_of_the_ability():
    counts = made(12.0, 1.0, 3, trials=5)
    found = prediction(counts, 9.0, comparison=compare(counts, ["E1"], folds=4))
    ability = maximum_likelihood(counts)[0]
    assert found.predicted == found.e1
    assert found.e1.accuracy == pytest.approx(accuracy(9.0, ability.alpha, options=26), abs=1e-4)
    ends = accuracy(9.0, np.array(ability.interval), options=26)
    scatter = found.e1.interval[1] - found.e1.interval[0]
    assert scatter >= ends[1] - ends[0] - 1e-3  # widened where answers scatter more
    alpha_low = maximum_likelihood(counts, confidence=0.9)[0].interval[0]
    assert found.supported.by_curve <= accuracy(9.0, alpha_low, options=26) + 1e-3


def test_support_needs_answers_at_that_difficulty():
    counts = made(12.0, 1.0, 4, trials=5)
    comparison = compare(counts, ["E1"], folds=4)
    assert prediction(counts, 9.5, comparison=comparison).supported is None
    beyond = prediction(counts, 30.0, comparison=comparison)
    assert beyond.beyond
    assert beyond.supported is None
    here = prediction(counts, 9.0, comparison=comparison)
    support = here.supported
    assert (support.hits, support.trials) == (counts.hits[0, LEVELS == 9].sum(), 20)
    assert support.by_data == pytest.approx(stats.beta.ppf(0.05, support.hits, 21 - support.hits))
    assert support.at_least == min(support.by_curve, support.by_data)
    assert support.at_least < here.predicted.accuracy


def test_inside_the_levels_tried_the_winner_predicts_and_beyond_them_the_stack():
    counts = made([8.0, 10.0, 12.0], 3.0, 5, trials=10)
    comparison = compare(counts, ["E1", "E2", "constant"], folds=4)
    inside = prediction(counts, 10.0, 1, comparison=comparison)
    assert inside.predicted.curve == comparison.winner("items") == "E2"
    assert inside.e1.curve == "E1"
    assert not inside.beyond
    beyond = prediction(counts, 17.0, 1, comparison=comparison)
    assert beyond.predicted.curve == "stacked"
    assert beyond.predicted.coverage == COVERAGE[2]
    assert beyond.predicted.interval[0] < beyond.predicted.accuracy < beyond.predicted.interval[1]
    far = prediction(counts, 30.0, 1, comparison=comparison)
    assert far.predicted.interval is None
    assert "levels beyond" in far.predicted.why_not


def test_predicted_intervals_cover_and_supported_accuracies_hold():
    """30 single minds, 40 answers each: 95 % nominal, known to ± .04 (one standard error)."""
    comparison = compare(made([9.0, 12.0], 3.0, 6, trials=40), ["E1", "E2"], folds=4)
    truth = float(accuracy(11.0, 11.0, options=26, beta=3.0))
    found = [
        prediction(made(11.0, 3.0, 100 + run), 11.0, comparison=comparison) for run in range(30)
    ]
    inside = [one.predicted.interval[0] <= truth <= one.predicted.interval[1] for one in found]
    assert np.mean(inside) > 0.95 - 0.08
    assert np.mean([one.supported.at_least <= truth for one in found]) > 0.95 - 0.08


def test_a_mind_always_right_is_predicted_right_with_a_one_sided_interval():
    counts = Counts.of(LEVELS, np.ones(len(LEVELS)), options=26)
    found = prediction(counts, 15.0, comparison=compare(counts, ["E1", "E2"], folds=4))
    assert found.predicted.accuracy > 0.999
    assert found.predicted.interval[1] > 0.999
    assert 0.5 < found.predicted.interval[0] < 0.999
    assert found.supported.at_least == pytest.approx(0.05 ** (1 / 4), abs=0.01)  # 4 of 4 right


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (3, 7), (7, 7)])
def test_exact_bounds_are_those_of_the_binomial(hits, trials):
    low, high = clopper_pearson(hits, trials, 0.025)
    exact = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))


def test_difficulty_is_inferred_with_its_error():
    found = infer_difficulty(60, 100, 12.0, 1.5, options=26)
    c, p = 1 / 26, 0.6
    d = -12 * np.log((p - c) / (1 - c))
    assert found.difficulty == pytest.approx(d)
    variance = 144 * p * (1 - p) / (100 * (p - c) ** 2) + (d * 1.5 / 12) ** 2
    assert found.stderr == pytest.approx(np.sqrt(variance))
    assert found.interval == pytest.approx(
        (d - 1.96 * found.stderr, d + 1.96 * found.stderr), abs=0.01
    )


def test_the_error_of_an_inferred_difficulty_is_its_spread():
    rng = np.random.default_rng(9)
    p = float(accuracy(8.0, 12.0, options=26))
    alphas = rng.normal(12.0, 0.6, 2000)
    found = [
        infer_difficulty(hits, 200, alpha, 0.6, options=26)
        for hits, alpha in zip(rng.binomial(200, p, 2000), alphas, strict=True)
    ]
    assert np.std([one.difficulty for one in found]) == pytest.approx(found[0].stderr, rel=0.15)
    inside = [one.interval[0] <= 8.0 <= one.interval[1] for one in found]
    assert abs(np.mean(inside) - 0.95) < 0.015  # three standard errors


def test_at_an_edge_the_interval_of_difficulty_is_one_sided():
    always = infer_difficulty(20, 20, 12.0, options=26)
    assert always.difficulty == 0 == always.interval[0]
    assert 0 < always.interval[1] < 5
    assert always.stderr is None
    never = infer_difficulty(0, 20, 12.0, options=26)
    assert never.difficulty == np.inf == never.interval[1]
    assert never.interval[0] > 10


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: infer_difficulty(2, 100, 12.0, options=2), "surely below chance"),
        (lambda: infer_difficulty(2, 1, 12.0, options=2), "cannot be"),
        (lambda: infer_difficulty(0, 0, 12.0, options=2), "one trial"),
        (lambda: infer_difficulty(9, 10, -1.0, options=2), "ability"),
        (lambda: infer_difficulty(9, 10, 1.0, options=2, confidence=0.3), "confidence"),
        (lambda: infer_difficulty(9, 10, 1.0, options=1), "one option"),
        (lambda: prediction(made(9.0, 1.0, 1), -1.0), "difficulty"),
        (lambda: prediction(made(9.0, 1.0, 1), 9.0, 4), "no mind 4"),
        (lambda: prediction(Counts.of([7], [0], 0, options=26), 9.0), "never tried"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(wrong, says):
    with pytest.raises(Error, match=says):
        wrong()
