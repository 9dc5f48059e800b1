"""Shares of variance against a plain analysis of variance, and their intervals by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds.psychometrics.factors import variance_shares

NAMES = ["a", "b", "c"]


def shares(scores, draws=20):
    found = variance_shares(scores, NAMES[: scores.ndim - 1], np.random.default_rng(1), draws)
    return {effect.factors: effect for effect in found}


def sums_of_squares(means):
    """The decomposition by regression on dummy columns: a different road to the same shares."""
    cells = list(itertools.product(*(range(n) for n in means.shape)))
    y = means.reshape(-1) - means.mean()

    def explained(factors):
        columns = [
            [float(all(cell[f] == level[i] for i, f in enumerate(factors))) for cell in cells]
            for level in itertools.product(*(range(means.shape[f]) for f in factors))
        ]
        x = np.array([[1.0] * len(cells), *columns]).T
        fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
        return float((fitted**2).sum())

    total = float((y**2).sum())
    single = {(f,): explained((f,)) for f in range(means.ndim)}
    pairs = {
        (f, g): explained((f, g)) - single[(f,)] - single[(g,)]
        for f, g in itertools.combinations(range(means.ndim), 2)
    }
    return {key: value / total for key, value in (single | pairs).items()}


@given(st.integers(0, 1000), st.tuples(*[st.integers(2, 4)] * 3))
@settings(max_examples=25)
def test_shares_equal_those_of_a_regression(seed, shape):
    scores = np.random.default_rng(seed).normal(size=(*shape, 6))
    found = shares(scores)
    for key, value in sums_of_squares(scores.mean(axis=-1)).items():
        assert found[tuple(NAMES[f] for f in key)].share == pytest.approx(value, abs=1e-9)
    assert sum(effect.share for effect in found.values()) == pytest.approx(1.0)


def test_an_effect_that_is_alone_has_all_of_the_variance():
    levels = np.array([0.0, 1.0, 3.0])
    scores = np.broadcast_to(levels[:, None, None], (3, 4, 5)).copy()
    found = shares(scores)
    assert found[("a",)].share == pytest.approx(1.0)
    assert found[("a", "b")].share == pytest.approx(0.0, abs=1e-12)


def test_a_pure_interaction_shows_as_one():
    scores = np.zeros((2, 2, 3))
    scores[0, 0], scores[1, 1] = 1.0, 1.0
    found = shares(scores)
    assert found[("a", "b")].share == pytest.approx(1.0)


def test_nothing_to_share_out_is_nothing_and_failures_are_left_out():
    assert all(effect.share == 0 for effect in shares(np.zeros((2, 2, 3))).values())
    scores = np.random.default_rng(1).normal(size=(2, 3, 8))
    scores[0, 1, 2] = np.nan
    assert all(np.isfinite(effect.share) for effect in shares(scores).values())


def test_intervals_cover_the_share_at_their_rate():
    """60 samples of a design with a known main effect: 95 % nominal, at least 85 % seen."""
    rng = np.random.default_rng(5)
    truth = np.array([0.0, 0.5, 1.0])[:, None] + np.array([0.0, 0.3])[None, :]
    means = truth - truth.mean()
    share = 2 * ((means.mean(axis=1)) ** 2).sum() / (means**2).sum()
    hits = 0
    for _ in range(60):
        scores = truth[..., None] + rng.normal(scale=0.5, size=(3, 2, 80))
        found = variance_shares(scores, ["a", "b"], rng, 200)
        low, high = next(effect.interval for effect in found if effect.factors == ("a",))
        hits += low <= share <= high
    assert hits >= 51
