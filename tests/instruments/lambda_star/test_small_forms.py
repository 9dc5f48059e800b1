"""Built-in minds with NumPy, for small jobs: the same as the plain loop and the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import allminds as am
from allminds import registry
from allminds.core.blocks import block_difference
from allminds.core.watch import Watch
from allminds.episode import Plain
from allminds.instruments.lambda_star import patterns
from allminds.instruments.lambda_star.fast import arrays, forms
from allminds.instruments.lambda_star.grid import Torus
from allminds.runs import engine

MINDS = [
    "random",
    "local-search",
    "local-search(slip=0.4)",
    "expert",
    "expert(intercept=false)",
    "optimum",
]


@st.composite
def worlds(draw):
    return {
        "rows": draw(st.integers(3, 9)),
        "cols": draw(st.integers(3, 9)),
        "iterations": draw(st.sampled_from([1, 2, 7, 20])),
        "agents": draw(st.integers(1, 4)),
        "patterns": draw(st.sampled_from(["cyclic", "drift"])),
    }


@settings(max_examples=25, deadline=None)
@given(worlds(), st.sampled_from(MINDS), st.integers(0, 10**9), st.integers(0, 500))
def test_numpy_plays_as_the_plain_loop_does(made, mind, seed, first):
    tool, watch = registry.make_instrument("lambda-star", made), Watch()
    line_up = registry.line_up(mind, tool)
    small = tool.small(line_up, watch)
    last = first + 9
    assert small is not None
    with watch.running():
        a = small.play(seed, first, last, traced=first + 3)
        b = Plain(tool, line_up, watch).play(seed, first, last, traced=first + 3)
    assert block_difference(a, b) == ""


@settings(max_examples=15, deadline=None)
@given(worlds(), st.integers(0, 10**9), st.integers(0, 3000), st.integers(1, 300))
def test_numpy_and_kernels_make_the_same_worlds(made, seed, first, count):
    tool = registry.make_instrument("lambda-star", made)
    a = arrays.worlds_by_arrays(tool, seed, first, first + count)
    b = forms.make_worlds(tool, seed, first, first + count)
    for name in a.ways._fields:
        of_a, of_b = getattr(a.ways, name), getattr(b.ways, name)
        assert of_a.dtype == of_b.dtype
        assert np.array_equal(of_a, of_b), name
    for name, values in a.complexity.items():
        assert np.array_equal(values, b.complexity[name]), name


@pytest.mark.parametrize(
    ("mind", "given"),
    [
        ("q-learning", {}),
        ("crowd(local-search*2)", {"agents": 2}),
        ("local-search", {"k": "any"}),
        ("local-search", {"patterns": "released"}),
        ("local-search", {"weights": "1:-0.5"}),
        ("local-search", {"rows": 2, "cols": 9}),
    ],
)
def test_what_numpy_cannot_play_has_no_small_form(mind, given):
    tool = registry.make_instrument("lambda-star", given)
    assert tool.small(registry.line_up(mind, tool), Watch()) is None


def test_line_ups_without_a_kernel_are_never_small():
    """Sittings are the same whichever form plays, so whoever has a small form has a kernel."""
    tool = registry.make_instrument("lambda-star", {"agents": 2})
    for first in MINDS:
        for second in MINDS:
            line_up = registry.line_up(f"{first}, {second}", tool)
            assert tool.small(line_up, Watch()) is not None
            assert tool.fast(line_up, Watch()).compiled


def test_records_are_the_same_whatever_counts_as_small(monkeypatch):
    minds = ["local-search", "expert"]
    small = am.evaluate("lambda-star", minds, episodes=1100)
    monkeypatch.setattr(engine, "SMALL", 0)
    large = am.evaluate("lambda-star", minds, episodes=1100)
    assert small.frame().equals(large.frame())


def test_the_catalogue_that_is_shipped_is_the_one_that_is_drawn():
    torus = Torus(10, 10)
    shipped, made = patterns.catalogue("cyclic", torus, 50), patterns.make("cyclic", torus, 50)
    assert (patterns.SHIPPED / f"segments-v{patterns.VERSION}-cyclic-10x10-50.npz").exists()
    for name, values in vars(made).items():
        assert np.array_equal(values, getattr(shipped, name)), name
        assert values.dtype == getattr(shipped, name).dtype


def test_a_batch_mind_that_sees_the_future_is_told_all_futures():
    class Told(am.BatchMind):
        traits = am.Traits(sees="future", deterministic=True)

        def begin_many(self, tasks):
            self.good, self.step = np.array([task.secret.good for task in tasks]), 0

        def begin(self, task):
            self.begin_many([task])

        def act_many(self, observations, words):
            cells, self.step = np.asarray(observations.cells), self.step + 1
            return Torus(10, 10).toward_many(cells[:, 4], self.good[:, self.step])

    told = am.evaluate("lambda-star", {"told": Told}, episodes=44, ends=False)
    known = am.evaluate("lambda-star", ["expert(intercept=false)"], episodes=44, ends=False)
    assert told["results"][0]["score"] == known["results"][0]["score"]
