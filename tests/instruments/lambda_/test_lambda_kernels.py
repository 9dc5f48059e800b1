"""The compiled form equals the plain Python, bit for bit, over many settings and seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allminds import registry
from allminds.core.blocks import block_difference
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.instruments.lambda_.fast import forms as fast
from allminds.instruments.lambda_.fast.forms import Compiled, make_worlds

MINDS = [
    "random",
    "follower",
    "expert",
    "optimum",
    "q-learning",
    "q-learning(epsilon=0.3,alpha=0.7,gamma=0.9,initial=0)",
    "sarsa",
    "sarsa(epsilon=0.5,alpha=1)",
    "q-lambda",
    "q-lambda(trace=0.4,epsilon=0.2,alpha=0.5)",
]


@st.composite
def forms(draw):
    made = {"form": draw(st.sampled_from(["test", "general"]))}
    made["disabled"] = draw(st.sampled_from([0.0, 0.0, 0.15]))
    if made["form"] == "general":
        made["steps"] = draw(st.sampled_from([None, 1, 2, 7, 100]))
        if draw(st.booleans()):
            made["cells"] = draw(st.integers(2, 6))
            made["actions"] = draw(st.none() | st.integers(2, made["cells"]))
    return made


def compare(tool, who, seed, first, last):
    line_up = registry.line_up(who, tool)
    quick = form(tool, line_up, Watch())
    assert isinstance(quick, Compiled)
    a = quick.play(seed, first, last, traced=first + 3)
    b = Plain(tool, line_up, Watch()).play(seed, first, last, traced=first + 3)
    assert block_difference(a, b) == ""


@pytest.mark.parametrize("mind", MINDS)
@given(made=forms(), seed=st.integers(0, 2**40), first=st.integers(0, 2**30))
@example(made={}, seed=7, first=0)
@settings(max_examples=12)
def test_kernels_equal_the_reference(mind, made, seed, first):
    compare(registry.make_instrument("lambda", made), mind, seed, first, first + 7)


def test_a_zlib_that_differs_is_asked_itself(monkeypatch):
    make_worlds.cache_clear()
    monkeypatch.setattr(fast, "zlib_agrees", lambda: False)
    compare(registry.make_instrument("lambda", {}), "random", 3, 0, 30)
    make_worlds.cache_clear()


def test_any_block_of_exercises_gives_the_same_records():
    tool = registry.make_instrument("lambda", {})
    quick = form(tool, registry.line_up("q-learning", tool), Watch())
    whole = quick.play(4, 0, 700, 0)
    for first, last in [(0, 1), (127, 129), (5, 300), (699, 700)]:
        part = quick.play(4, first, last, 0)
        assert np.array_equal(part.score, whole.score[first:last])
        for name, values in part.complexity.items():
            assert np.array_equal(values, whole.complexity[name][first:last])


@pytest.mark.parametrize(
    "made",
    [{"agents": 2}, {"rewards": "trail"}, {"observation": "adjacent"},
     {"form": "given", "space": "1+|1-", "pattern": "1"}],
)  # fmt: skip
def test_what_no_kernel_knows_is_left_to_the_plain_form(made):
    tool = registry.make_instrument("lambda", made)
    assert isinstance(form(tool, registry.line_up("q-learning", tool), Watch()), Plain)


def test_a_users_mind_is_left_to_the_plain_form():
    tool = registry.make_instrument("lambda", {})
    assert isinstance(form(tool, registry.line_up(lambda _seen: 0, tool), Watch()), Plain)


def test_no_connected_space_is_an_error_in_the_compiled_form_too():
    tool = registry.make_instrument(
        "lambda", {"form": "general", "cells": 9, "actions": 2, "disabled": 0.5}
    )
    with pytest.raises(
        Error, match=r"spaces of 9 cells, 2 actions and disabled=0\.5 was connected"
    ):
        form(tool, registry.line_up("random", tool), Watch()).play(1, 0, 1, 0)
