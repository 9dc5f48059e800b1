"""Difficulty curves: capability, spread, generality, and when they are only bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.errors import Error
from allminds.psychometrics.curves import curve_intervals, difficulty_curve

RNG = np.random.default_rng


@pytest.mark.parametrize("alpha", [0.7, 11.28, 40.0])
def test_under_eq_1_capability_and_spread_are_both_alpha(alpha):
    h = np.linspace(0, 30 * alpha, 60_001)
    curve = difficulty_curve(h, np.exp(-h / alpha), floor=0)
    assert not curve.cut_off
    assert curve.capability == pytest.approx(alpha, rel=1e-6)
    assert curve.spread == pytest.approx(alpha, rel=1e-6)
    assert curve.relative_spread == pytest.approx(1, rel=1e-6)


def test_e2_tells_generality_from_capability():
    """ψ = exp(-(h/α)^β) is Weibull's: mean αΓ(1 + 1/β), variance known too."""
    from scipy.stats import weibull_min

    h = np.linspace(0, 100, 40_001)
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


@pytest.mark.slow
def test_intervals_cover_as_stated():
    """ψ = 1 - h/10 at 0..10, 30 exercises each; 300 studies, within 4 standard errors."""
    rng, times, hits = RNG(1), 300, np.zeros(2)
    h = np.repeat(np.arange(11.0), 30)
    for _ in range(times):
        score = (rng.random(len(h)) < 1 - h / 10).astype(float)
        found = curve_intervals(h, score, rng, floor=0, draws=200)
        hits += [
            found.capability[0] <= 5 <= found.capability[1],
            found.spread[0] <= 10 / np.sqrt(12) <= found.spread[1],
        ]
    assert (abs(hits / times - 0.95) < 4 * np.sqrt(0.95 * 0.05 / times)).all()


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
