"""Eq. 1 and its inverses over their whole domain, and errors outside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from allminds import Error
from allminds.statistics import accuracy as model
from allminds.statistics.accuracy import (
    ability,
    accuracy,
    accuracy_difference,
    combined_ability,
    difficulty,
    difficulty_at_equal_accuracy,
    least_useful_ability,
    moderate_difficulty,
    options,
)

ALPHA = st.floats(1e-3, 1e3)
RATIO = st.floats(1e-9, 15)  # D/α: closer to 0, P has too few digits left below 1 to give D back
OPTIONS = st.integers(2, 1000)
BETA = st.floats(0.5, 4)


def test_the_paper_s_cases():
    assert accuracy(12 * np.log(2), 12, options=26) == pytest.approx(0.5 * (1 + 1 / 26))
    assert difficulty(0.5, 12, options=3) == pytest.approx(16.64, abs=0.005)  # P0 section 8
    assert difficulty(0.5, 16.33, options=3) == pytest.approx(22.64, abs=0.005)
    assert accuracy(3.0, 4.0, options=2) == pytest.approx(0.5 + 0.5 * np.exp(-0.75))


@given(ALPHA, RATIO, OPTIONS)
def test_every_inverse_gives_back_what_went_in(alpha, ratio, m):
    d = ratio * alpha
    p = accuracy(d, alpha, options=m)
    assert difficulty(p, alpha, options=m) == pytest.approx(d, rel=1e-6)
    if p < 1:
        assert ability(p, d, options=m) == pytest.approx(alpha, rel=1e-6)
    assert accuracy(d, alpha, options=options(p, d, alpha)) == pytest.approx(p, abs=1e-12)


@given(ALPHA, st.floats(0, 0.99), st.floats(0, 1), BETA)
def test_accuracies_come_back_from_difficulty_and_ability(alpha, c, share, beta):
    p = c + (1 - c) * share
    d = difficulty(p, alpha, chance=c, beta=beta)
    assert accuracy(d, alpha, chance=c, beta=beta) == pytest.approx(p, abs=1e-12)
    assume(c < p < 1)
    found = ability(p, 7.0, chance=c, beta=beta)
    assert accuracy(7.0, found, chance=c, beta=beta) == pytest.approx(p, abs=1e-12)


@given(ALPHA, st.floats(0, 1e4), OPTIONS, st.floats(1, 3), BETA)
def test_accuracy_rises_with_ability_and_falls_with_difficulty_and_options(a, d, m, more, beta):
    p = accuracy(d, a, options=m, beta=beta)
    assert 1 / m <= p <= 1
    assert accuracy(d, a * more, options=m, beta=beta) >= p
    assert accuracy(d * more, a, options=m, beta=beta) <= p
    assert accuracy(d, a, options=m + 1, beta=beta) <= p + 1e-15


def test_it_is_strictly_monotone_where_it_can_be_seen():
    steps = np.linspace(1, 30, 100)
    assert (np.diff(accuracy(10, steps, options=5)) > 0).all()
    assert (np.diff(accuracy(steps, 10, options=5)) < 0).all()
    assert (np.diff(accuracy(10, 10, options=np.arange(1, 30))) < 0).all()


def test_limits():
    assert accuracy(0, 5, options=4) == 1
    assert accuracy(np.inf, 5, options=4) == 0.25
    assert accuracy(5, 1e-300, options=4) == 0.25
    assert accuracy(5, 1e300, options=4) == 1
    assert difficulty(0.25, 5, options=4) == np.inf
    assert difficulty(1, 5, options=4) == 0
    assert accuracy(5, 5, options=1) == 1  # one option: in prediction only


def test_arrays_broadcast_and_numbers_stay_numbers():
    assert accuracy([[1], [2]], [1, 2, 3], options=2).shape == (2, 3)
    assert isinstance(accuracy(1, 2, options=2), float)


@given(st.floats(0, 100), ALPHA, st.integers(1, 50), st.integers(1, 50))
def test_more_options_cost_what_the_corrected_formula_says(d, alpha, m1, m2):
    e = np.exp(-d / alpha)
    by_paper_with_minus = (1 - e) * (m2 - m1) / (m1 * m2)
    found = accuracy_difference(d, alpha, m1, m2)
    assert found == pytest.approx(by_paper_with_minus, abs=1e-12)
    direct = accuracy(d, alpha, options=m1) - accuracy(d, alpha, options=m2)
    assert found == pytest.approx(direct, abs=1e-12)
    one_more = accuracy_difference(d, alpha, m1, m1 + 1)
    assert one_more == pytest.approx((1 - e) / (m1**2 + m1), abs=1e-12)


def test_abilities_combine_by_weights():
    assert combined_ability([10, 20], [0.5, 0.25]) == 10
    assert combined_ability([10, 20, 5], [0, 1, 0]) == 20  # Eq. 1's simple case
    assert combined_ability([[10, 20], [2, 4]], [1, 1]).tolist() == [30, 6]


def test_the_least_useful_ability_just_beats_chance_by_the_margin():
    alpha = least_useful_ability(10, 0.05, options=4)
    assert accuracy(10, alpha, options=4) == pytest.approx(0.30)
    assert accuracy(10, 0.99 * alpha, options=4) < 0.30


@given(st.floats(0.1, 100), ALPHA, ALPHA, OPTIONS)
def test_equal_accuracy_lies_at_difficulties_in_the_ratio_of_abilities(d, a1, a2, m):
    d2 = difficulty_at_equal_accuracy(d, a1, a2)
    same = accuracy(d, a1, options=m)
    assert accuracy(d2, a2, options=m) == pytest.approx(same, abs=1e-12)


def test_moderate_accuracy_is_half_way_whatever_the_steepness():
    for beta in (1, 3.5):
        d = moderate_difficulty(10, beta=beta)
        assert accuracy(d, 10, options=5, beta=beta) == pytest.approx(0.6)
    assert moderate_difficulty(10) == pytest.approx(10 * np.log(2))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: accuracy(-1, 5, options=2), "difficulty"),
        (lambda: accuracy(1, 0, options=2), "ability"),
        (lambda: accuracy(1, -5, options=2), "ability"),
        (lambda: accuracy(1, np.inf, options=2), "ability"),
        (lambda: accuracy(np.nan, 5, options=2), "NaN"),
        (lambda: accuracy("hard", 5, options=2), "number"),
        (lambda: accuracy(1, 5, options=0.5), "options"),
        (lambda: accuracy(1, 5, chance=1.5), "chance"),
        (lambda: accuracy(1, 5), "options=m or chance=c"),
        (lambda: accuracy(1, 5, options=2, chance=0.5), "options=m or chance=c"),
        (lambda: accuracy(1, 5, options=2, beta=0), "steepness"),
        (lambda: difficulty(0.4, 5, options=2), "below chance"),
        (lambda: difficulty([0.9, 0.4], 5, options=2), "0.4"),
        (lambda: difficulty(1.2, 5, options=2), "accuracy"),
        (lambda: difficulty(1, 5, options=1), "one option"),
        (lambda: ability(0.5, 5, options=2), "not above chance"),
        (lambda: ability(1, 5, options=2), "unlimited"),
        (lambda: ability(0.9, 0, options=2), "tells nothing"),
        (lambda: ability(1, 5, options=1), "one option"),
        (lambda: options(np.exp(-1), 5, 5), "above e"),
        (lambda: options(1, 0, 5), "above e"),
        (lambda: combined_ability([1, 2], [1]), "one for each"),
        (lambda: combined_ability([1, 2], [1, -1]), "ability"),
        (lambda: least_useful_ability(5, 0.8, options=4), "margin"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(wrong, says):
    with pytest.raises(Error, match=says):
        wrong()


def test_every_public_name_is_there():
    for name in model.__all__:
        assert hasattr(model, name)
