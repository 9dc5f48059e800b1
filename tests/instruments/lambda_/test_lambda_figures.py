"""The figures that DEFINITIONS gives for the test of P3, on 20,000 generated tests of ours.

Tolerances are those of the project's plan; by cells, four standard errors of both simulations.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from allminds import registry
from allminds.core.blocks import Block
from allminds.core.watch import Watch
from allminds.episode import form

TESTS = 20_000


@functools.cache
def results(who):
    """Scores and K_approx: [test, size]."""
    tool = registry.make_instrument("lambda", {})
    way = form(tool, registry.line_up(who, tool), Watch())
    block = Block.join([way.play(2011, n, n + 1400, 0) for n in range(0, 7 * TESTS, 1400)])
    return block.score.reshape(TESTS, 7), block.complexity["K"].reshape(TESTS, 7)


def test_q_learning():
    scores, k = results("q-learning")
    means = scores.mean(axis=1)
    assert means.mean() == pytest.approx(0.273, abs=0.004)
    assert means.std(ddof=1) == pytest.approx(0.124, abs=0.004)
    assert np.corrcoef(scores.ravel(), k.ravel())[0, 1] == pytest.approx(-0.457, abs=0.02)


def test_q_learning_by_cells():
    scores, k = results("q-learning")
    published = [0.428, 0.363, 0.304, 0.259, 0.218, 0.182, 0.155]
    errors = scores.std(axis=0) / TESTS**0.5
    assert (np.abs(scores.mean(axis=0) - published) < 4 * 2**0.5 * errors + 0.0005).all()
    for size in range(7):
        assert np.corrcoef(scores[:, size], k[:, size])[0, 1] < -0.3


@pytest.mark.parametrize(
    ("who", "mean", "within"),
    [("follower", 0.271, 0.005), ("expert", 0.977, 0.004), ("optimum", 0.990, 0.004)],
)
def test_those_who_are_told(who, mean, within):
    assert results(who)[0].mean() == pytest.approx(mean, abs=within)


def test_a_random_mind_gets_nothing():
    means = results("random")[0].mean(axis=1)
    assert abs(means.mean()) < 4 * means.std() / TESTS**0.5


def test_nobody_beats_the_optimum():
    best = results("optimum")[0]
    for who in ("random", "follower", "expert", "q-learning"):
        assert (results(who)[0] <= best).all()


def test_where_the_published_20_tests_lie(reference):
    """Samples of 20 of our tests: the published mean, sd and correlation lie well inside."""
    scores, k = results("q-learning")
    samples = [slice(n, n + 20) for n in range(0, TESTS, 20)]
    means = [scores[s].mean() for s in samples]
    sds = [scores[s].mean(axis=1).std(ddof=1) for s in samples]
    correlations = [np.corrcoef(scores[s].ravel(), k[s].ravel())[0, 1] for s in samples]
    for ours, theirs in [(means, 0.259), (sds, 0.122), (correlations, -0.444)]:
        assert 0.025 < np.mean(np.array(ours) < theirs) < 0.975
