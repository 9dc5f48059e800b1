"""The instrument `lambda`: forms, settings, what is shown and read."""

from __future__ import annotations

import numpy as np
import pytest

from allminds import registry
from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_.world import HIDDEN, State, View


def tool(**settings):
    return registry.make_instrument("lambda", settings)


def test_the_test_of_the_paper_is_seven_exercises_of_350_steps():
    worlds = [tool().exercise(1, i).environment for i in range(14)]
    assert [w.space.cells for w in worlds] == [3, 4, 5, 6, 7, 8, 9] * 2
    assert [w.steps for w in worlds[:7]] == [20, 30, 40, 50, 60, 70, 80]
    assert sum(w.steps for w in worlds[:7]) == 350


def test_patterns_are_as_long_as_there_are_cells_on_average():
    for size in range(7):
        lengths = [len(tool().exercise(5, 7 * n + size).environment.pattern) for n in range(400)]
        cells = size + 3
        assert abs(np.mean(lengths) - cells) < 4 * (cells * (cells - 1) / 400) ** 0.5


def test_other_names_of_the_forms():
    assert tool(form="2011").settings == tool(form=2011).settings == tool().settings
    assert tool(form="geometric").settings == tool(form="general").settings


def test_the_general_class():
    worlds = [tool(form="general", steps=33).exercise(1, i).environment for i in range(300)]
    assert {w.steps for w in worlds} == {33}
    assert {w.space.cells for w in worlds} >= {2, 3, 4, 5}
    fixed = [tool(form="general", cells=5, actions=3).exercise(1, i).environment for i in range(9)]
    assert {(w.space.cells, w.space.actions, w.steps) for w in fixed} == {(5, 3, 40)}


def test_given_environments_come_in_turn():
    made = tool(form="given", space="12-|1-2--|1++2--, 1+|1-", pattern="2210, 1")
    assert made.length == 2
    worlds = [made.exercise(1, i).environment for i in range(3)]
    assert [w.pattern for w in worlds] == ["2210", "1", "2210"]
    assert [str(w.space) for w in worlds[:2]] == ["12++|1-2+|1-2--", "1+|1-"]
    assert [w.steps for w in worlds] == [20, 10, 20]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"form": "given", "space": "1|1-", "pattern": "1"}, "the space 1|1- is not connected"),
        ({"form": "given", "space": "1+|1-", "pattern": "120"}, "has an action '2'"),
        ({"form": "given", "space": "1+|1-", "pattern": "1,0"}, "1 spaces but 2 patterns"),
        ({"form": "given", "space": "1+|1*", "pattern": "1"}, "cell 1 of the space is '1\\*'"),
        ({"form": "given", "pattern": "1"}, "2 to 9 cells, not 1"),
        ({"cells": 4}, "'cells' is a setting of form=general, not test"),
        ({"pattern": "1"}, "'pattern' is a setting of form=given, not test"),
        ({"steps": 4}, "form=test has 10"),
        ({"form": "general", "cells": 3, "actions": 4}, "4 actions are too many for 3 cells"),
        ({"form": "general", "actions": 4}, "set cells too"),
        ({"form": "general", "cells": 10}, "cells must be less than or equal to 9, not 10"),
        ({"form": "anytime"}, "an instrument of its own: lambda-anytime"),
        ({"form": "exam"}, "form must be 'test', 'general' or 'given', not 'exam'"),
        ({"agents": 5, "teams": 2}, "5 agents make no 2 equal teams"),
        ({"rewards": "cake"}, "rewards must be 'position' or 'trail', not 'cake'"),
        ({"disabled": 0.9}, "disabled must be less than or equal to 0.5"),
        ({"speed": 1}, "lambda has no setting 'speed'"),
    ],
)
def test_bad_settings_are_told_in_one_sentence(settings, said):
    with pytest.raises(Error, match=said) as told:
        tool(**settings)
    assert "\n" not in str(told.value)


SEEN = View((0, HIDDEN), 2, (2, 3, 2), (1, HIDDEN), 4)


def test_what_a_person_is_shown():
    text = tool().show(SEEN, "text")
    assert text == (
        "There are 4 cells, 0 to 3. You (○) are in cell 2; ◆ is in cell 0, ★ is out of sight, "
        "△ is in cell 1, △1 is out of sight.\nActions:\n0: stay\n1: to cell 3\n2: to cell 2"
    )
    page = tool().show(SEEN, "html")
    assert "<tr><th>2</th><td>○</td><td>0, 2</td></tr>" in page
    with pytest.raises(Error, match="cannot be shown as svg; choose text or html"):
        tool().show(SEEN, "svg")


@pytest.mark.parametrize(
    ("answer", "action"), [("0", 0), (" 2 ", 2), ("stay", 0), ("Stay", 0), ("01", 1)]
)
def test_answers_are_read(answer, action):
    assert tool().read(answer, SEEN) == action


@pytest.mark.parametrize("answer", ["3", "-1", "", "go", "²", "1.0"])
def test_nonsense_is_a_failure(answer):
    assert isinstance(tool().read(answer, SEEN), Failure)


def test_nothing_shown_tells_which_symbol_is_good():
    """An exercise and its twin with the symbols exchanged look the same but for the signs."""
    exercise = tool().exercise(1, 6)
    environment = exercise.environment
    twin = type(environment)(**vars(environment) | {"good_symbol": 1 - environment.good_symbol})
    state = environment.reset(Random(1))
    one, other = environment.observe(state, 0), twin.observe(state, 0)
    assert one.symbols == other.symbols[::-1]
    assert one[1:] == other[1:]
    assert environment.facts == twin.facts


def test_a_state_as_text():
    exercise = tool(form="given", space="12-|1-2--|1++2--", pattern="2210").exercise(1, 0)
    state = State(1, 0, 2, (2,), ())
    assert tool().show_state(exercise.environment, state) == "0[+] 1[] 2[-0]  next 2 of 2210"
