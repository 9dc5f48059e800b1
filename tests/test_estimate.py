"""Scores, standard errors and intervals, against plain formulas and by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.blocks import Block
from allminds.estimate import StratifiedMean


def block(first, score, stratum=None, failed=()):
    score = np.array(score, float).reshape(len(score), -1)
    status = np.zeros(score.shape, np.int8)
    for lane in failed:
        status[lane], score[lane] = 2, np.nan
    return Block(
        first=first,
        complexity={"K": np.array(stratum, float)} if stratum is not None else {},
        score=score,
        learning=score * 0.5,
        status=status,
        steps=np.full(len(score), 10, np.int32),
        curve=np.zeros(10),
        actions=np.zeros((0, 10, score.shape[1]), np.int16),
    )


def estimate(*blocks, strata=None):
    tally = StratifiedMean(strata, 0.0, 1.0)
    for one in blocks:
        tally.add(one)
    return tally.estimate()


def test_the_mean_of_strata_means_with_the_formula_of_the_definitions():
    rng = np.random.default_rng(1)
    stratum = np.arange(90) % 3
    score = rng.uniform(-1, 1, 90) + stratum * 0.1
    found = estimate(block(0, score, stratum), strata="K")
    parts = [score[stratum == h] for h in range(3)]
    assert found.score == pytest.approx(np.mean([part.mean() for part in parts]))
    se = np.sqrt(sum(part.var(ddof=1) / 30 for part in parts)) / 3
    assert found.stderr == pytest.approx(se)
    from scipy import stats

    low, high = stats.t.interval(0.95, 87, loc=found.score, scale=se)
    assert found.ci95 == pytest.approx((low, high))


def test_all_slots_of_an_exercise_are_one_value():
    found = estimate(block(0, [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]))
    assert found.score == 0.5
    assert found.stderr == 0.0


@given(st.lists(st.integers(1, 9000), max_size=6), st.integers(0, 5))
def test_the_figures_are_the_same_bits_in_any_chunks(cuts, seed):
    rng = np.random.default_rng(seed)
    score = rng.uniform(-1, 1, 40_000)
    stratum = np.arange(40_000) % 7
    whole = estimate(block(0, score, stratum), strata="K")
    places = sorted({0, 40_000, *np.cumsum(cuts).tolist()} & set(range(40_001)))
    parts = [block(a, score[a:b], stratum[a:b]) for a, b in itertools.pairwise(places)]
    assert estimate(*parts, strata="K") == whole


def test_failed_exercises_are_counted_and_left_out():
    found = estimate(block(0, [1.0, 1.0, 0.0, 1.0], failed=[2]))
    assert (found.score, found.episodes, found.failed) == (1.0, 4, 1)


def test_what_cannot_be_estimated_is_none():
    nothing = estimate(block(0, [1.0], failed=[0]))
    assert nothing.score is nothing.stderr is nothing.ci95 is nothing.normalised is None
    one = estimate(block(0, [0.3]))
    assert one.score == 0.3
    assert one.stderr is one.ci95 is None


def test_the_interval_covers_the_truth_at_its_rate():
    """2,000 samples of 40 in 4 strata: 95 % ± 4 standard errors of a share (.0049)."""
    rng = np.random.default_rng(3)
    stratum = np.arange(40) % 4
    hits = 0
    for _ in range(2000):
        found = estimate(block(0, rng.normal(stratum / 10, 0.2), stratum), strata="K")
        hits += found.ci95[0] <= 0.15 <= found.ci95[1]
    assert abs(hits / 2000 - 0.95) < 4 * 0.0049


def test_with_one_exercise_in_a_stratum_the_plain_error_stands_in():
    found = estimate(block(0, [0.1, 0.4, 0.2], [1, 2, 3]), strata="K")
    assert found.stderr == pytest.approx(np.std([0.1, 0.4, 0.2], ddof=1) / np.sqrt(3))
