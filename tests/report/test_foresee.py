"""What curves and lines foresee at difficulties that were left out of the fit, by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.statistics.accuracy import Counts, Foreseen, accuracy, compare, foresee
from allminds.statistics.curves import foresee_scores

LEVELS = np.arange(2.0, 12.0)


def exact(alphas, trials=1000):
    """Minds that hit exactly as often as Eq. 1 says."""
    rates = accuracy(LEVELS[None], np.array(alphas)[:, None], options=5)
    return Counts.of(LEVELS, rates * trials, trials, options=5)


# ---------------------------------------------------------------- accuracy


@pytest.mark.parametrize("scheme", ["items", "upper"])
def test_minds_on_the_curve_are_foreseen_without_error(scheme):
    found = foresee(exact([4.0, 9.0]), "E1", scheme, folds=len(LEVELS))
    assert found.absolute_error == pytest.approx(0, abs=1e-6)
    assert found.predicted == pytest.approx(found.observed, abs=1e-6)
    assert len(found.counts.difficulty) == (10 if scheme == "items" else 5)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=6),
    st.lists(st.floats(0.01, 0.99), min_size=6, max_size=6),
)
def test_errors_are_those_of_the_single_answers(pairs, predicted):
    """Mean absolute error, Brier score and log loss, answer by answer."""
    trials = np.array([[hits + misses for hits, misses in pairs]], float)
    if not trials.sum():
        return
    hits = np.array([[hits for hits, _ in pairs]], float)
    p = np.array([predicted[: len(pairs)]])
    counts = Counts.of(np.arange(1.0, len(pairs) + 1), hits, trials, chance=0.1)
    found = Foreseen("E1", "items", counts, p)
    answers = [
        (p[0, n], float(answer), hits[0, n] / trials[0, n])
        for n, (right, wrong) in enumerate(pairs)
        for answer in [1] * right + [0] * wrong
    ]
    assert found.brier == pytest.approx(np.mean([(q - x) ** 2 for q, x, _ in answers]))
    assert found.log_loss == pytest.approx(
        -np.mean([np.log(q if x else 1 - q) for q, x, _ in answers])
    )
    assert found.absolute_error == pytest.approx(np.mean([abs(q - rate) for q, _, rate in answers]))


def test_chance_alone_makes_the_error_it_is_said_to_make():
    """Of rates that scatter binomially round right predictions; four standard errors."""
    rng = np.random.default_rng(7)
    p, n = np.linspace(0.2, 0.8, 7), 40
    errors = []
    for _ in range(400):
        counts = Counts.of(np.arange(1.0, 8), rng.binomial(n, p)[None], n, chance=0.1)
        errors.append(Foreseen("E1", "items", counts, p[None]).absolute_error)
    counts = Counts.of(np.arange(1.0, 8), (n * p)[None], n, chance=0.1)
    said = Foreseen("E1", "items", counts, p[None]).chance_error
    assert said == pytest.approx(np.mean(errors), abs=4 * np.std(errors) / 20)


def test_one_mind_is_a_part_of_all():
    counts = Counts.of(LEVELS, [[9, 9, 8, 7, 5, 5, 3, 2, 2, 1], [5] * 10], 10, options=5)
    found = foresee(counts, "E2", folds=10)
    parts = [found.mind(0), found.mind(1)]
    assert found.brier == pytest.approx(np.mean([one.brier for one in parts]))
    assert found.log_loss == pytest.approx(np.mean([one.log_loss for one in parts]))


def test_what_wins_has_the_log_loss_that_compare_says():
    counts = Counts.of(LEVELS, [[9, 9, 8, 7, 5, 5, 3, 2, 2, 1], [9, 7, 5, 5, 4, 4, 2, 2, 2, 2]], 10,
                       options=5)  # fmt: skip
    for row in compare(counts, folds=10).rows:
        found = foresee(counts, row.curve, row.scheme, folds=10)
        assert found.log_loss == pytest.approx(-row.per_trial)


# ---------------------------------------------------------------- scores


def test_a_straight_line_is_foreseen_exactly_and_beats_a_constant():
    means = np.array([0.9 - 0.05 * LEVELS, 0.1 + 0.02 * LEVELS])
    for scheme in ("items", "upper"):
        best, other = foresee_scores(LEVELS, means, np.full(means.shape, 7), scheme)
        assert (best.line, other.line) == ("straight line", "constant")
        assert best.absolute_error == pytest.approx(0, abs=1e-12)
        assert other.absolute_error > 0.05


def test_lines_are_those_of_weighted_least_squares():
    rng = np.random.default_rng(3)
    means, counts = rng.random((1, 10)), rng.integers(1, 9, (1, 10)).astype(float)
    found = {one.line: one for one in foresee_scores(LEVELS, means, counts)}
    for n in range(10):
        rest = np.arange(10) != n
        slope, level = np.polyfit(LEVELS[rest], means[0, rest], 1, w=np.sqrt(counts[0, rest]))
        assert found["straight line"].predicted[0, n] == pytest.approx(level + slope * LEVELS[n])
        mean = np.average(means[0, rest], weights=counts[0, rest])
        assert found["constant"].predicted[0, n] == pytest.approx(mean)


def test_difficulties_without_a_score_count_for_nothing():
    means = np.array([0.9 - 0.05 * LEVELS])
    counts = np.full(means.shape, 5.0)
    counts[0, 3] = 0
    means[0, 3] = 99
    best, _ = foresee_scores(LEVELS, means, counts)
    assert best.absolute_error == pytest.approx(0, abs=1e-12)
    assert np.isnan(best.observed[0, 3])


def test_too_little_to_foresee_is_an_error():
    with pytest.raises(Error, match="four difficulties"):
        foresee_scores([1, 2, 3], [[0, 0, 0]], [[1, 1, 1]])
    with pytest.raises(Error, match="means"):
        foresee_scores([1, 2, 3, 4], [0, 0, 0, 0], [1, 1, 1, 1])
