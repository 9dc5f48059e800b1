"""A group against its members: paired, slot by slot, exercise by exercise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from allminds import registry
from allminds.episode import form
from allminds.psychometrics.groups import gain
from allminds.watch import Watch


def test_the_difference_and_its_interval_are_those_of_a_paired_t_test():
    rng = np.random.default_rng(2)
    alone = rng.normal(size=(40, 3))
    together = alone + rng.normal(0.2, 0.3, size=(40, 3))
    found = gain(together, alone)
    test = stats.ttest_rel(together.mean(axis=1), alone.mean(axis=1))
    assert found.difference == pytest.approx(float((together - alone).mean()))
    assert found.interval == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert found.verdict == "gains"
    assert gain(alone, together).verdict == "loses"
    assert gain(alone, alone).verdict == "the same"
    assert gain(alone + rng.normal(0, 1, alone.shape), alone).verdict == "undecided"


def test_exercises_that_failed_are_left_out():
    together, alone = np.array([[1.0], [np.nan], [2.0]]), np.zeros((3, 1))
    assert gain(together, alone).exercises == 2
    assert gain(together[1:2], alone[1:2]) is None
    assert gain(together[:1], alone[:1]).interval is None


def test_pairs_differ_by_the_protocol_only():
    """A dictator's own slot is the isolated mind in that slot: the difference is nothing."""
    tool = registry.make_instrument("lambda-star", {"rows": 6, "cols": 6, "agents": 3})
    group, alone = (
        form(tool, registry.line_up(name, tool), Watch()).play(2, 0, 200, 0).score
        for name in ("dictator", "local-search")
    )
    assert gain(group[:, :1], alone[:, :1]).difference == 0.0
    others = gain(group[:, 1:], alone[:, 1:])
    assert others.interval[0] < others.difference < others.interval[1]
