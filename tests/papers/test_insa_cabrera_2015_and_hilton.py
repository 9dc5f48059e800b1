"""The definitions of Insa-Cabrera and Hernández-Orallo (2015), and the sheet of matrices."""

from __future__ import annotations

import pytest
from quotes import assert_quoted

from allminds.papers import paper


@pytest.mark.slow
def test_the_examples_of_the_text_hold():
    about = paper("insa-cabrera-2015")
    assert [claim.agrees for claim in about.claims()] == [True]
    assert [said.holds for said in about.statements()] == [True] * 4
    assert [one.value for one in about.worked()] == pytest.approx([2, -1, 0, -69 / 800])


@pytest.mark.slow
def test_five_testbeds_have_their_properties():
    table = paper("insa-cabrera-2015").parts["properties"]().table.set_index("property")
    assert list(table.columns) == [
        "matching-pennies", "prisoners-dilemma", "noughts-and-crosses", "predator-prey",
        "team-lambda",
    ]  # fmt: skip
    assert table.loc["zero sum", "matching-pennies"]
    assert not table.loc["zero sum", "prisoners-dilemma"]
    assert table.loc["exact", "noughts-and-crosses"]
    assert not table.loc["exact", "predator-prey"]


def test_the_sheet_has_every_rule_and_attribute():
    part = paper("hilton").parts["sheet"]()
    assert part.table["rule"].nunique() == 5
    assert part.plots[0][1].count("?") == 0  # no text: the mark is drawn, so fonts do not matter
    assert "<svg" in part.plots[0][1]


def test_an_item_like_figure_2():
    part = paper("hilton").parts["figure-2"]()
    assert len(part.table) == 2


@pytest.mark.slow
def test_blind_shortcuts_are_at_chance():
    assert all(claim.agrees for claim in paper("hilton").claims())
    worst = next(one for one in paper("hilton").worked() if "blind" in one.what)
    assert worst.value < 4
    table = paper("hilton").parts["baselines"]().table
    assert set(table["rules"]) == {1, 2, 3}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["insa-cabrera-2015", "hilton"])
def test_every_claim_and_statement_is_in_the_text(name):
    assert_quoted(name)
