"""Where a score falls with complexity: how often it is said wrongly, and how well it is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from allminds.statistics.falls import GROUPS, MOST_LEVELS, fall

REPEATS = 300


def said(scores, complexity, scale=(0.0, 1.0), cluster=None):
    n = np.arange(len(scores))
    return fall(complexity, scores, n, n if cluster is None else cluster, scale)


def hits(p):
    return lambda rng, k: (rng.random(len(k)) < p).astype(float), (0.0, 1.0)


def normal(rng, k):
    return np.clip(0.3 * rng.normal(size=len(k)), -1, 1)


def skewed(rng, k):
    return np.clip(0.1 * rng.exponential(size=len(k)) - 0.1, -1, 1)


def wider(rng, k):
    """As flat as the others, but harder exercises vary more."""
    return np.clip(0.02 * k * rng.normal(size=len(k)), -1, 1)


FLAT = {
    "hits .03": hits(0.03), "hits .5": hits(0.5), "hits .97": hits(0.97),
    "normal": (normal, (-1.0, 1.0)), "skewed": (skewed, (-1.0, 1.0)),
    "wider": (wider, (-1.0, 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("per", [1, 3, 12])
@pytest.mark.parametrize("kind", FLAT)
def test_a_flat_curve_is_said_to_fall_in_at_most_5_per_cent(kind, per):
    """The bound is that of a rate of .05, exceeded by chance once in a thousand."""
    rng = np.random.default_rng(7)
    make, scale = FLAT[kind]
    k = np.repeat(np.arange(2.0, 13.0), per)
    found = [said(make(rng, k), k, scale) for _ in range(REPEATS)]
    false = sum(one is not None and one.p < 0.05 for one in found)
    assert false <= stats.binom.ppf(0.999, REPEATS, 0.05)


def test_clusters_that_hold_all_complexities_do_not_make_a_flat_curve_fall():
    """As tests of seven exercises do: what they have in common cancels, and is no evidence."""
    rng, false = np.random.default_rng(8), 0
    k, cluster = np.tile(np.arange(3.0, 10.0), 20), np.repeat(np.arange(20), 7)
    for _ in range(REPEATS):
        scores = np.clip(0.3 * rng.normal(size=20)[cluster] + 0.1 * rng.normal(size=140), -1, 1)
        found = said(scores, k, (-1.0, 1.0), cluster)
        false += found is not None and found.p < 0.05
    assert false <= stats.binom.ppf(0.999, REPEATS, 0.05)


def test_clusters_within_a_complexity_are_not_taken_for_many_exercises():
    rng, false = np.random.default_rng(9), 0
    k, cluster = np.repeat(np.arange(2.0, 8.0), 40), np.repeat(np.arange(24), 10)
    for _ in range(REPEATS):
        scores = np.clip(0.3 * rng.normal(size=24)[cluster] + 0.05 * rng.normal(size=240), -1, 1)
        found = said(scores, k, (-1.0, 1.0), cluster)
        false += found is not None and found.p < 0.05
    assert false <= stats.binom.ppf(0.999, REPEATS, 0.05)


@pytest.mark.parametrize(("levels", "at"), [(11, 7.0), (22, 12.0), (22, 21.0)])
def test_a_fall_of_one_standard_deviation_is_found_within_one_level(levels, at):
    """Ten exercises at each complexity: claimed, and near, in nine of ten at least."""
    rng, claimed, near = np.random.default_rng(3), 0, 0
    k = np.repeat(np.arange(levels) + 2.0, 10)
    for _ in range(200):
        scores = np.clip(0.3 - 0.2 * (k >= at) + 0.2 * rng.normal(size=len(k)), -1, 1)
        found = said(scores, k, (-1.0, 1.0))
        claimed += found.p < 0.05
        near += found.p < 0.05 and abs(found.at - at) <= 1
    assert claimed >= 0.95 * 200
    assert near >= 0.9 * 200


def test_the_cut_and_both_means_are_those_of_the_exercises():
    k = np.repeat([1.0, 2.0, 3.0, 4.0], 30)
    scores = np.where(k < 3, 1.0, 0.0)
    scores[[0, 70]] = 1 - scores[[0, 70]]
    found = said(scores, k)
    assert (found.last, found.at) == (2.0, 3.0)
    assert (found.before, found.after) == pytest.approx((59 / 60, 1 / 60))
    assert found.units == (60, 60)
    assert found.p < 1e-6
    assert found.drop == pytest.approx(58 / 60)


def test_repeats_of_an_item_are_one_unit():
    k, item = np.repeat([1.0, 2.0], 40), np.repeat(np.arange(8), 10)
    scores = np.where(k < 2, 1.0, 0.0)
    found = fall(k, scores, item, item, (0.0, 1.0))
    assert found.units == (4, 4)
    assert found.p > said(scores, k).p


def test_nothing_is_found_where_nothing_falls():
    k = np.array([1.0, 2.0, 3.0])
    assert said(np.array([0.0, 0.5, 1.0]), k) is None  # it rises
    assert said(np.ones(3), k) is None  # it is flat
    assert said(np.array([1.0]), np.array([1.0])) is None
    assert said(np.array([1.0, 0.0]), np.array([1.0, 1.0])) is None  # one complexity
    assert said(np.array([np.nan, np.nan, 1.0]), k) is None
    two = said(np.array([1.0, 0.0]), np.array([1.0, 2.0]))
    assert two.p == 1.0  # one exercise on a side says nothing


def test_many_complexities_are_put_together():
    k = np.linspace(0.0, 1.0, 600)
    found = said(np.where(k < 0.5, 1.0, 0.0), k)
    assert MOST_LEVELS < 600
    assert found.at == pytest.approx(0.5, abs=1 / GROUPS)
    assert found.p < 1e-6
