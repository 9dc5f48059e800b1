"""Difficulty curves: capability, spread, generality, and when they are only bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.statistics.calibration.figures import (
    curve_truth,
    simulate_curve,
)
from allminds.statistics.curves import curve_intervals, difficulty_curve, falling

RNG = np.random.default_rng


@pytest.mark.parametrize("alpha", [0.7, 11.28, 40.0])
def test_under_eq_1_capability_and_spread_are_both_alpha(alpha):
    h = np.linspace(0, 30 * alpha, 15_001)
    curve = difficulty_curve(h, np.exp(-h / alpha), floor=0)
    assert not curve.cut_off
    assert curve.capability == pytest.approx(alpha, rel=1e-6)
    assert curve.spread == pytest.approx(alpha, rel=1e-6)
    assert curve.relative_spread == pytest.approx(1, rel=1e-6)


def test_e2_tells_generality_from_capability():
    """ψ = exp(-(h/α)^β) is Weibull's: mean αΓ(1 + 1/β), variance known too."""
    from scipy.stats import weibull_min

    h = np.linspace(0, 100, 10_001)
    spreads = []
    for beta in (1.5, 3.5, 8.0):
        curve = difficulty_curve(h, np.exp(-((h / 10) ** beta)), floor=0)
        expected = weibull_min(beta, scale=10)
        assert curve.capability == pytest.approx(expected.mean(), rel=1e-5)
        assert curve.spread == pytest.approx(expected.std(), rel=1e-5)
        assert curve.generality == pytest.approx(1 / expected.std(), rel=1e-5)
        spreads.append(curve.spread)
    assert spreads == sorted(spreads, reverse=True)


def test_a_mind_that_does_all_up_to_a_point_is_as_general_as_can_be():
    h = np.array([0, 5, 5.000001, 10])
    curve = difficulty_curve(h, [1, 1, 0, 0], floor=0)
    assert curve.capability == pytest.approx(5, abs=1e-5)
    assert curve.spread == pytest.approx(0, abs=1e-3)
    never = difficulty_curve([3.0, 4.0], [0.0, 0.0], floor=0)
    assert (never.capability, never.spread, never.generality) == (3, 0, None)


def test_straight_lines_are_integrated_exactly():
    """ψ falls from 1 at 2 to 0 at 8: X is uniform on 2..8."""
    curve = difficulty_curve([2.0, 8.0], [1.0, 0.0], floor=0)
    assert curve.capability == pytest.approx(5)
    assert curve.spread == pytest.approx(6 / np.sqrt(12))
    finer = difficulty_curve([2.0, 3.5, 8.0], [1.0, 0.75, 0.0], floor=0)
    assert finer.spread == pytest.approx(curve.spread)


def test_difficulty_may_begin_below_what_was_measured():
    """There ψ is 1: the same line, measured from 3.5 on."""
    curve = difficulty_curve([3.5, 8.0], [0.75, 0.0], floor=0, start=2.0)
    assert curve.capability == pytest.approx(5)
    assert curve.spread == pytest.approx(6 / np.sqrt(12))


def test_guessing_is_taken_off_after_averaging():
    """Of four options two of eight right is chance; a lucky level below chance is cut to 0."""
    h = np.repeat([1, 2, 3], 8)
    hits = np.r_[np.ones(8), [1] * 5 + [0] * 3, [1] + [0] * 7]
    curve = difficulty_curve(h, hits, floor=0.25)
    assert curve.psi == pytest.approx([1, (5 / 8 - 0.25) / 0.75, 0])
    assert list(curve.counts) == [8, 8, 8]
    scaled = difficulty_curve([1, 2], [0.4, 0.1], floor=-0.1, ceiling=0.9)
    assert scaled.psi == pytest.approx([0.5, 0.2])


def test_failed_exercises_do_not_count():
    curve = difficulty_curve([1, 1, 2, 2], [1, np.nan, 0.5, 0.5], floor=0)
    assert list(curve.counts) == [1, 2]


def test_a_curve_that_is_cut_off_gives_bounds():
    curve = difficulty_curve([0, 10], [1.0, 0.06], floor=0)
    assert curve.cut_off
    assert curve.relative_spread is None
    text = curve.text()
    assert text["capability"].startswith(">= ")
    assert text["spread"].startswith(">= ")
    assert text["generality"].startswith("<= ")
    assert text["spread/capability"] == "–"
    whole = difficulty_curve([0, 10], [1.0, 0.05], floor=0)
    assert not whole.cut_off
    assert whole.text()["capability"] == "5.25"


@given(st.floats(0.5, 20), st.floats(0.1, 3))
def test_the_bounds_of_a_cut_off_curve_are_bounds(alpha, share):
    h = np.linspace(0, 25 * alpha, 2000)
    psi = np.exp(-h / alpha)
    whole = difficulty_curve(h, psi, floor=0)
    seen = h <= max(share * alpha, h[1])
    part = difficulty_curve(h[seen], psi[seen], floor=0)
    assert part.capability <= whole.capability + 1e-9
    assert part.spread <= whole.spread + 1e-9


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_the_spread_of_any_measured_curve_is_real(scores):
    curve = difficulty_curve(np.arange(len(scores)), scores, floor=0)
    assert curve.spread >= 0
    assert 0 <= curve.capability <= len(scores) - 1


@pytest.mark.parametrize("chance", [1 / 26, 1 / 5, 1 / 4])
def test_a_guesser_is_at_the_bottom_of_the_scale(chance):
    """40 levels of 20 items: 1 and 0, where cutting each level by itself gave 2.7 and 8."""
    rng, h = RNG(2), np.repeat(np.arange(1.0, 41), 20)
    curves = [
        difficulty_curve(h, (rng.random(len(h)) < chance).astype(float), floor=chance)
        for _ in range(60)
    ]
    assert np.mean([curve.capability for curve in curves]) < 1.25
    assert np.median([curve.capability for curve in curves]) == 1
    assert np.median([curve.spread for curve in curves]) == 0
    assert not any(curve.cut_off for curve in curves)


@pytest.mark.parametrize("chance", [0, 1 / 26, 1 / 5, 1 / 4])
@pytest.mark.parametrize("levels", [20, 40])
def test_a_spread_is_found_within_15_per_cent_from_20_items_a_level_on(chance, levels):
    """The mean of 100 studies of a logistic curve; 6.7 by cutting each level (40, 1/5)."""
    rng, truth = RNG(3), curve_truth("logistic", levels)
    h = np.repeat(truth.difficulties, 20)
    right = np.repeat(chance + (1 - chance) * truth.psi, 20)
    found = [
        difficulty_curve(h, (rng.random(len(h)) < right).astype(float), floor=chance)
        for _ in range(100)
    ]
    assert np.mean([one.spread for one in found]) == pytest.approx(truth.spread, rel=0.15)
    assert np.mean([one.capability for one in found]) == pytest.approx(truth.capability, rel=0.05)


def test_a_falling_curve_is_scipys_isotonic_regression():
    from scipy.optimize import isotonic_regression

    rng = RNG(4)
    for _ in range(50):
        means, counts = rng.normal(5, 1, 12), rng.integers(1, 9, 12).astype(float)
        found = falling(means[None], counts, np.ones((1, 12)), known=0.0)[0]
        expected = isotonic_regression(means, weights=counts, increasing=False).x
        assert found == pytest.approx(expected)


def test_intervals_of_spread_miss_at_their_rate():
    """At most 7 % of 12 situations with 25 studies each, give or take 4 standard errors."""
    wrong, total = 0, 0
    for shape in ("guesser", "logistic", "gradual", "step", "line"):
        for chance in (0, 0.2, 0.25):
            missed, made = simulate_curve(
                RNG(6), 25, figure="spread", shape=shape, chance=chance, items=20, draws=150
            )
            # without chance these have no level with both right and wrong answers
            assert made > 0 or (chance == 0 and shape in ("guesser", "step"))
            wrong, total = wrong + missed, total + made
    assert wrong / total < 0.07 + 4 * np.sqrt(0.07 * 0.93 / total)


def test_what_cannot_be_said_has_no_interval():
    few = curve_intervals([1, 1, 2, 2], [1, 0, 0, 0], RNG(1), floor=0, draws=20)
    assert few.spread is None
    assert few.text()["spread"] == "–"
    assert few.capability[0] < 1.25 < few.capability[1]
    flat = curve_intervals([1, 1, 2, 2], [0.5, 0.5, 0.2, 0.2], RNG(1), floor=0, draws=20)
    assert flat.capability is flat.spread is None
    sure = curve_intervals(np.repeat([1, 2], 30), [1.0] * 30 + [0.0] * 30, RNG(1), floor=0)
    assert sure.spread is None
    assert sure.capability[0] < 1.5 < sure.capability[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1, 2], [1.0]), "one difficulty for every score"),
        (([1, 1], [1.0, 0.5]), "two or more difficulties"),
        (([1, 2], [1.0, np.nan]), "two or more difficulties"),
        (([1, np.nan], [1.0, 0.5]), "missing or not finite"),
    ],
)
def test_curves_that_cannot_be_drawn(given, said):
    with pytest.raises(Error, match=said):
        difficulty_curve(*given, floor=0)


def test_ends_that_are_no_ends():
    with pytest.raises(Error, match="must lie above the floor"):
        difficulty_curve([1, 2], [1, 0], floor=1.0)
    with pytest.raises(Error, match="cannot begin at 3"):
        difficulty_curve([1, 2], [1, 0], floor=0, start=3.0)
