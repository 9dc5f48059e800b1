"""Groups in their quick form: groups of one, mixtures, the authors' figures, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plainly import evaluate

from allminds import registry
from allminds.core.bases import FunctionMind
from allminds.core.blocks import block_difference
from allminds.core.errors import Error
from allminds.core.line_up import LineUp, Subject
from allminds.core.watch import Watch
from allminds.episode import Plain, form, play
from allminds.instruments.lambda_star import groups as collectives
from allminds.instruments.lambda_star.fast.forms import Compiled


def tool_of(**made):
    return registry.make_instrument("lambda-star", made)


# ---------------------------------------------------------------- groups of one, kernels, mixtures

ALL = [
    "stigmergy", "crowd", "auction", "dictator", "tree", "imitation", "majority",
    "weighted-majority", "shared-q-learning(sessions=3)", "shared-sarsa(sessions=2,epsilon=0.4)",
]  # fmt: skip


def test_an_auction_without_fallback_is_followed_even_if_nobody_sees_anything():
    tool = tool_of(rows=9, cols=8, agents=4, iterations=15)
    line_up = registry.line_up("auction(fallback=false)", tool)
    quick = form(tool, line_up, Watch())
    assert isinstance(quick, Compiled)
    plain = Plain(tool, line_up, Watch()).play(3, 0, 20, 9)
    assert block_difference(quick.play(3, 0, 20, 9), plain) == ""
    ours = form(tool, registry.line_up("auction", tool), Watch()).play(3, 0, 500, 0)
    theirs = quick.play(3, 0, 500, 0)
    assert (ours.score != theirs.score).any(axis=1).mean() > 0.1


AS_LOCAL_SEARCH = ["stigmergy", "auction", "dictator", "tree", "majority", "weighted-majority"]


@pytest.mark.parametrize("name", AS_LOCAL_SEARCH)
def test_a_group_of_one_is_local_search_bit_for_bit(name):
    tool = tool_of(rows=6, cols=5)
    one = form(tool, registry.line_up(name, tool), Watch()).play(3, 0, 200, 200)
    alone = form(tool, registry.line_up("local-search", tool), Watch()).play(3, 0, 200, 200)
    assert block_difference(one, alone) == ""


@pytest.mark.parametrize(("group", "single"), [("shared-q-learning", "q-learning"),
                                               ("shared-sarsa", "sarsa")])  # fmt: skip
def test_a_table_shared_by_one_is_its_own(group, single):
    tool = tool_of(rows=5, cols=5, iterations=20)
    habits = "(sessions=5,epsilon=0.2)"
    one = form(tool, registry.line_up(group + habits, tool), Watch()).play(3, 0, 30, 30)
    alone = form(tool, registry.line_up(single + habits, tool), Watch()).play(3, 0, 30, 30)
    assert block_difference(one, alone) == ""


@st.composite
def grounds(draw):
    kind = draw(st.sampled_from(["cyclic", "drift", "released"]))
    rows = draw(st.integers(3, 8))
    return {
        "rows": rows,
        "cols": rows if kind == "released" else draw(st.integers(3, 8)),
        "iterations": draw(st.sampled_from([1, 6, 20])),
        "agents": draw(st.integers(1, 6)),
        "patterns": kind,
        "k": "any",
    }


def compare(tool, name, seed, first):
    line_up, watch = registry.line_up(name, tool), Watch()
    quick = form(tool, line_up, watch)
    plain = Plain(tool, line_up, watch).play(seed, first, first + 3, traced=first + 3)
    assert block_difference(quick.play(seed, first, first + 3, traced=first + 3), plain) == ""
    return quick


@pytest.mark.parametrize("name", ALL)
@given(made=grounds(), seed=st.integers(0, 2**40), first=st.integers(0, 2**30))
@settings(max_examples=10)
def test_kernels_equal_the_reference(name, made, seed, first):
    assert isinstance(compare(tool_of(**made), name, seed, first), Compiled)


KINDS = ["local-search", "local-search(slip=0.3)", "random", "expert", "expert(intercept=false)",
         "optimum"]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("shared")])
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5), st.integers(0, 2**30))
@settings(max_examples=8)
def test_kernels_equal_the_reference_for_any_mixture_of_members(name, members, seed):
    tool = tool_of(rows=6, cols=5, agents=len(members), iterations=12, k="any")
    mixture = f"{name}({','.join(members)})"
    assert isinstance(compare(tool, mixture, seed, 0), Compiled)


@pytest.mark.parametrize("name", ALL)
def test_groups_with_a_sight_of_two(name):
    compare(tool_of(rows=6, cols=7, agents=3, range=2, iterations=10), name, 5, 40)


@pytest.mark.parametrize("name", ALL)
def test_groups_where_the_neighbourhood_meets_itself_run_in_plain_python(name):
    tool = tool_of(rows=2, cols=3, agents=2, iterations=6)
    record = play(tool.exercise(1, 0), registry.line_up(name, tool))
    assert record.status == ("ok", "ok")


@pytest.mark.parametrize("protocol", [name for name in ALL if not name.startswith("shared")])
@pytest.mark.parametrize("answer", [0, 10, "5", 5.9, True, None])
def test_a_members_nonsense_fails_the_exercise(protocol, answer):
    tool = tool_of(rows=5, cols=5, agents=2, iterations=4, k="any")
    subject = Subject("nonsense", lambda: FunctionMind(lambda seen: answer))
    group = registry.subject(protocol, tool).make.func((subject, subject))
    record = play(
        tool.exercise(1, 0), LineUp.alone(Subject(protocol, lambda: group, group.traits, True), 2)
    )
    assert record.status == ("malformed", "malformed")


class Contrary(collectives.Protocol):
    """A protocol of one's own: all do the opposite of what the last member wishes."""

    def choose(self, observations, random):
        return [10 - self.wishes(observations, random)[-1]] * len(observations)


def test_a_protocol_of_ones_own_is_one_small_class():
    tool = tool_of(rows=5, cols=5, agents=3, iterations=20)
    found = evaluate(
        "lambda-star", [Contrary, "dictator"], settings=tool.settings.model_dump(), episodes=60
    )["results"]
    assert found[0]["failed"] == 0
    assert found[0]["score"] < 0.1


# ---------------------------------------------------------------- the authors' figures


@pytest.mark.parametrize(
    ("side", "theirs", "error"), [(5, 0.44434, 0.00161), (10, 0.47723, 0.00174)]
)
def test_the_dictator_agrees_with_the_authors_program(side, theirs, error):
    """5 agents, 50 iterations, released patterns: four combined standard errors."""
    (row,) = evaluate(
        "lambda-star", ["dictator"], episodes=20_000, seed=7,
        settings={"rows": side, "cols": side, "agents": 5, "patterns": "released"},
    )["results"]  # fmt: skip
    assert abs(row["score"] - theirs) < 4 * np.hypot(error, row["stderr"])


def test_the_order_of_protocols_on_released_patterns():
    """10x10, 5 agents, by our rules; crowd and auction cannot be told apart here."""
    order = ["dictator", "local-search", "stigmergy", "tree", "auction", "imitation", "expert"]
    found = evaluate(
        "lambda-star", [*order, "crowd"], episodes=8000, seed=7,
        settings={"agents": 5, "patterns": "released"},
    )["results"]  # fmt: skip
    score = {row["mind"]: row["score"] for row in found}
    assert [score[name] for name in order] == sorted(score[name] for name in order)
    assert score["tree"] < score["crowd"] < score["imitation"]
    assert abs(score["crowd"] - score["auction"]) < 0.01


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("name", "agents", "said"),
    [
        ("stigmergy(gamma=0)", 3, "gamma must be in (0, 1)"),
        ("stigmergy(gamma=1.5)", 3, "gamma must be in (0, 1)"),
        ("auction(local-search*2)", 3, "has 2 members for 3 slots; set agents=2"),
        ("auction(local-search*0)", 3, "'0' after '*' is not a number of members"),
        ("tree(nobody*3)", 3, "no mind 'nobody'"),
        ("tree(q-learning*3)", 3, "learns by practice"),
        ("tree(dictator,random,random)", 3, "dictator is a group"),
        ("shared-q-learning(random*3)", 3, "leave out the members"),
        ("shared-q-learning(alpha=7)", 3, "alpha must be in (0, 1]"),
        ("crowd(speed=3)", 3, "no parameter 'speed'"),
        ("local-search(slip=2)", 3, "slip must be in [0, 1]"),
        ("majority", 200, "200 minds do not fit"),
    ],
)
def test_groups_that_cannot_be(name, agents, said):
    with pytest.raises(Error) as caught:
        registry.line_up(name, tool_of(agents=agents, k="any"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
