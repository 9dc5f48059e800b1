"""Shares of variance against a plain analysis of variance, and their intervals by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds.statistics.comparison.effects import variance_shares

NAMES = ["a", "b", "c"]


def shares(scores):
    found = variance_shares(scores, NAMES[: scores.ndim - 1])
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
def test_shares_are_those_of_a_regression_less_chance(seed, shape):
    """Chance: what the same effect has on average in the deviations of exercises, over n."""
    scores = np.random.default_rng(seed).normal(size=(*shape, 6))
    means = scores.mean(axis=-1)
    total = ((means - means.mean()) ** 2).sum()
    found = shares(scores)
    whole = sums_of_squares(means)
    parts = [sums_of_squares(scores[..., i] - means) for i in range(6)]
    for key, value in whole.items():
        chance = sum(
            part[key] * ((d := scores[..., i] - means) - d.mean()).reshape(-1).var() * d.size
            for i, part in enumerate(parts)
        ) / (5 * 6 * total)
        share = max(0.0, value - chance)
        assert found[tuple(NAMES[f] for f in key)].share == pytest.approx(share, abs=1e-9)
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


def test_nothing_to_share_out_is_nothing():
    assert all(effect.share == 0 for effect in shares(np.zeros((2, 2, 3))).values())
    assert variance_shares(np.zeros((2, 2, 1)), NAMES[:2]) == []


def test_exercises_that_some_cell_lacks_are_left_out():
    scores = np.random.default_rng(1).normal(size=(2, 3, 8))
    whole = shares(scores[..., 1:])
    scores[0, 1, 0] = np.nan
    assert shares(scores) == whole
