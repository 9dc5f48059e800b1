"""The generated form: certified questions from the bank, and the mind that searches programs."""

from __future__ import annotations

import pytest
from plainly import evaluate

from allminds import registry
from allminds.check import check_instrument
from allminds.complexity.levin import levin
from allminds.core.errors import Error
from allminds.episode import play
from allminds.instruments.series.bank import known, shipped
from allminds.instruments.series.items import INDUCTION


def test_the_instrument_keeps_the_contract_with_generated_items():
    check_instrument("c-test", {"form": "generated", "k": "7..9", "task": "both", "options": 5})


def test_exercises_run_through_k_in_turn():
    tool = registry.make_instrument("c-test", {"form": "generated", "k": "8..10"})
    found = [tool.exercise(3, i).environment.complexity["k"] for i in range(6)]
    assert found == [8, 9, 10, 8, 9, 10]
    assert tool.exercise(3, 4).environment.shown != tool.exercise(4, 4).environment.shown


def test_the_search_mind_is_right_on_what_is_unquestionable():
    """By definition: the cheapest program for what is shown gives the answer."""
    settings = {"form": "generated", "task": "both"}
    tool = registry.make_instrument("c-test", settings)
    (row,) = evaluate("c-test", [tool.ceiling_mind], episodes=900, settings=settings)["results"]
    assert row["score"] == 1.0


def test_what_the_bank_knows_is_what_a_search_finds():
    for one in shipped()[3::397]:
        if one.k <= 13:
            assert levin(one.series, limit=13).letter == known()[one.series].answer


def test_the_search_mind_on_some_published_items():
    tool = registry.make_instrument("c-test", {})
    for index in (0, 3, 5, 7):
        assert INDUCTION[index].k <= 9
        record = play(tool.exercise(1, index), registry.line_up("levin-search", tool))
        assert record.score == (1.0,)


def test_a_k_that_no_question_has():
    with pytest.raises(Error, match="no question of the bank has k = 3"):
        registry.make_instrument("c-test", {"form": "generated", "k": "3"})
    with pytest.raises(Error, match=r"levin-search: limit must be in 1\.\.13"):
        registry.line_up("levin-search(limit=40)", registry.make_instrument("c-test", {}))
