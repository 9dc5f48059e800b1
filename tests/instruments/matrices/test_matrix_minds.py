"""The instrument and its minds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from allminds import registry
from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.episode import play
from allminds.instruments.matrices.instrument import Item

TOOL = registry.make_instrument("matrices")


def seen(i, tool=TOOL):
    return tool.exercise(51, i).environment.observe(None, 0)


def mean(who, count, tool=TOOL):
    line_up = registry.line_up(who, tool)
    return np.mean([play(tool.exercise(52, i), line_up).score[0] for i in range(count)])


def test_rule_induction_solves_everything():
    assert mean("rule-induction", 150) == 1.0
    eight = registry.make_instrument("matrices", {"rules": 3, "candidates": 8})
    assert mean("rule-induction", 50, eight) == 1.0


@pytest.mark.parametrize(
    "who", ["context-blind-vote", "blind-table", "ink", "brightness", "position(place=2)"]
)
def test_blind_minds_are_at_chance(who):
    assert abs(mean(who, 300) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 300)


def test_those_that_see_some_of_the_matrix_lie_between():
    assert 0.6 < mean("last-row-only", 150) < 1.0
    assert 0.25 < mean("shuffled-rows", 150) < 0.9


def test_chance_ceiling_and_complexity():
    assert TOOL.chance == 0.25
    assert registry.make_instrument("matrices", {"rules": 3, "candidates": 8}).chance == 0.125
    columns = [TOOL.exercise(1, i).environment.complexity for i in range(3)]
    assert sorted(column["C"] for column in columns) == [1.0, 2.0, 3.0]
    assert {"I_context", "I_answer", "L_rules", "needed_rules"} <= set(columns[0])


def test_what_is_seen_has_no_answer_in_it():
    item = seen(0)
    assert isinstance(item, Item)
    assert (len(item.cells), len(item.options)) == (8, 4)
    assert "answer" not in item._fields


@pytest.mark.parametrize(
    ("said", "action"),
    [("A", 0), ("d", 3), ("(b)", 1), ("3", 2), ("Answer: C.", 2), ("option 4", 3), ("**B**", 1)],
)
def test_answers_that_are_understood(said, action):
    assert TOOL.read(said, seen(0)) == action


@pytest.mark.parametrize("said", ["E", "5", "0", "", "A or B", "the first", "AB"])
def test_answers_that_are_not(said):
    failure = TOOL.read(said, seen(0))
    assert isinstance(failure, Failure)
    assert "A to D" in failure.reason


def test_it_is_shown_in_words_as_a_picture_and_as_numbers():
    item = seen(1)
    assert "D:" in TOOL.show(item, "text")
    assert TOOL.show(item, "svg").startswith("<svg")
    assert "<svg" in TOOL.show(item, "html")
    assert TOOL.show(item, "array").shape == (12, 10)


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ("nearest-panel(cell=9)", "cell must be in 1..8"),
        ("position(place=0)", "place must be in 1..8"),
        ("ink(take=some)", "take must be most or least"),
        ("brightness(take=some)", "take must be brightest or darkest"),
        ("blind-table(problems=0)", "problems must be 1 or more"),
    ],
)
def test_minds_with_bad_parameters_are_told(who, said):
    with pytest.raises(Error, match=said):
        registry.line_up(who, TOOL)


def test_rules_that_do_not_go_together_are_found_before_the_first_exercise():
    with pytest.raises(Error, match="go together"):
        registry.make_instrument("matrices", {"rules": "3", "attributes": "size,count"})
