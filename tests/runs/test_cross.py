"""Crossed designs: a few lines become every combination."""

from __future__ import annotations

import pytest

from allminds.core.errors import Error
from allminds.runs.designs import expanded
from allminds.runs.plan import built_in, read_plan
from allminds.runs.run import Resolved

TEST = {
    "instrument": "lambda-star",
    "minds": ["{protocol}({members}*{agents})", "{members}", "random"],
    "settings": {"k": "any"},
    "factors": {
        "grid": [{"rows": 5, "cols": 5}, {"rows": 6, "cols": 7}],
        "size": [{"agents": 2}, {"agents": 3}],
    },
    "words": {"protocol": ["auction", "tree"], "members": ["local-search", "expert"]},
}


def test_every_combination_becomes_a_test_with_its_levels_and_words():
    tests = expanded({"seed": 3, "tests": [TEST]}, "here")["tests"]
    assert [test["levels"] for test in tests] == [
        {"grid": grid, "size": size} for grid in ("5x5", "6x7") for size in ("2", "3")
    ]
    assert tests[1]["settings"] == {"k": "any", "rows": 5, "cols": 5, "agents": 3}
    assert tests[1]["minds"] == [
        "auction(local-search*3)", "auction(expert*3)", "tree(local-search*3)", "tree(expert*3)",
        "local-search", "expert", "random",
    ]  # fmt: skip
    assert tests[1]["words"]["tree(expert*3)"] == {"protocol": "tree", "members": "expert"}
    assert tests[1]["words"]["random"] == {}


def test_what_is_not_crossed_stays_as_it_is():
    plain = {"tests": [{"instrument": "x", "minds": ["a"]}, 3], "seed": 1}
    assert expanded(plain, "here") == plain
    assert expanded({"seed": 1}, "here") == {"seed": 1}
    once = expanded({"tests": [TEST]}, "here")
    assert expanded(once, "here") == once


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"factors": 3}, "factors must be a table of lists"),
        ({"factors": {"grid": []}}, "factors.grid must be a list of settings"),
        ({"factors": {"grid": [5]}}, "5 is none"),
        ({"words": {"protocol": [1]}}, "1 is none"),
        ({"minds": ["{protocoll}"]}, "did you mean 'protocol'"),
        ({"minds": ["{"]}, "cannot read the mind '{'"),
        ({"minds": ["{agents:zz}"]}, "plain names in its braces"),
        ({"minds": 3}, "minds a list of names"),
        ({"settings": 3}, "settings must be a table"),
        ({"factors": {"g": [{"rows": 5}], "h": [{"rows": 6}]}}, "factors g and h both set 'rows'"),
        ({"factors": {"grid": [{"rows": 5}, {"rows": 5}]}}, "an empty level, or one twice"),
        ({"factors": {"protocol": [{"rows": 5}]}}, "is a factor and a word"),
        ({"words": {"protocol": ["tree", "tree"], "members": ["random"]}}, "a level twice"),
    ],
)
def test_a_crossed_test_that_cannot_be_is_one_sentence(change, said):
    with pytest.raises(Error) as caught:
        expanded({"tests": [TEST | change]}, "the plan p.toml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["battery", "groups", "factors"])
def test_the_plans_that_come_with_allminds_are_sound(name):
    assert name in built_in()
    assert Resolved.of(read_plan(name))


def test_the_factor_plan_crosses_what_the_paper_names():
    plan = read_plan("factors")
    assert set(plan.tests[0].levels) == {"complexity", "grid", "iterations", "size"}
    assert len(plan.tests) == 81
    words = [word for word in plan.tests[0].words.values() if len(word) == 2]
    assert len(words) == 24
    assert {tuple(sorted(word)) for word in words} == {("members", "protocol")}
