"""P0 computed again: what agrees, what does not, and why."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from quotes import assert_quoted

from allminds.core.errors import Error
from allminds.papers import asked_for, figure, paper, write_page
from allminds.papers import chmait_2017 as p0


@pytest.fixture(scope="module")
def claims():
    return {claim.what: claim for claim in p0.claims()}


@cache
def part(name):
    """A table or figure, made once for all tests that look at it."""
    return paper("chmait-2017").parts[name]()


def test_what_can_agree_agrees(claims):
    """Numbers that rest on other items or on what the paper does not say differ; no others do."""
    differ = {what for what, claim in claims.items() if not claim.agrees}
    assert differ == {
        "ω", "ability α = ω r̃ of the min-distance mind",
        "ability below which options matter more than difficulty",
        "difficulty at which A¹ and A⁴ are equal, m = 3", "C-test score of A¹",
        "C-test score of A⁴",
    }  # fmt: skip
    assert all(claims[what].note for what in differ)


def test_figures_of_the_text(claims):
    assert claims["ω"].ours == pytest.approx(36.4, abs=0.05)
    crossing = claims["difficulty at which A¹ and A⁴ are equal, m = 3"]
    assert crossing.ours == pytest.approx(13.12, abs=0.005)
    assert "m = 4 to 7 would agree (13.96 at m = 5)" in crossing.note
    assert "18.5 at m = 2 to 23.0 at m = 26" in crossing.note
    assert claims["cut-off of π and A¹ at m = 3, by -12 ln ¼"].ours == pytest.approx(
        16.6355, abs=1e-4
    )


def test_what_the_paper_says_in_words_holds_or_not():
    held = {one.said: one.holds for one in p0.statements()}
    assert sum(held.values()) == 3
    assert not held["for D > 25 A¹ and A² have very similar accuracies"]


def test_what_no_paper_prints_is_called_ours(claims):
    assert not any("plurality" in what for what in claims)
    (plurality,) = [one.value for one in p0.worked() if one.what.startswith("plurality")]
    assert plurality == pytest.approx(0.6661, abs=5e-5)


def test_the_contradiction_about_the_ability_of_the_single_mind_is_shown():
    table = part("figure-5").summary.set_index(["equal at D", "m"])
    assert list(table.loc["π and A¹", 3]) == [15.64, 16.64, 16.65]


def test_figure_5_has_four_panels_with_stars_in_three_of_them():
    plots = [plot for _, plot in part("figure-5").plots]
    star = 'stroke-width="1.8"'
    assert [plot.count(star) for plot in plots] == [3, 3, 3, 0]  # none at m = 2


def test_table_1_has_every_mind_and_both_readings_of_distances():
    table = part("table-1").table.set_index("mind")
    assert set(p0.MINDS) < set(table.index)
    assert table.loc["min-distance", "r̃"] == 0.312
    assert table.loc["min-distance(by=value)", "r̃"] == 0.349


def test_a_group_of_equals_wins_exactly_where_its_members_are_mostly_right():
    curves = p0.group_curves(3)
    hard = np.array([2.0, 8.0, 15.0, 17.0, 25.0])
    alone, group = curves["alone"](hard), curves["A1"](hard)
    assert ((group > alone) == (alone > 0.5)).all()


@pytest.mark.parametrize("name", ["table-1", "figure-2", "figure-3", "figure-4", "figure-5"])
def test_every_figure_has_its_data_and_plots(name):
    made = part(name)
    assert len(made.table)
    assert all(plot.startswith("<svg") for _, plot in made.plots)
    assert made.table.select_dtypes("number").notna().all(axis=None)


@pytest.mark.slow
def test_an_adaptive_test_needs_fewer_items():
    table = paper("chmait-2017").parts["adaptive"]().table
    assert (table["adaptive items"] < table["fixed items"]).all()
    assert (table["root mean square error of ln α"] < 0.35).all()  # se .25, 50 minds each


def test_intervals_beyond_the_data_cover_most_truths(monkeypatch):
    monkeypatch.setattr("allminds.papers.chmait_2017.PREDICTED", 6)
    table = paper("chmait-2017").parts["beyond"]().table.set_index("truth")
    assert table.loc["all, 1 beyond", "accuracy covered"] > 0.85
    assert {"E1", "step", "constant"} <= set(table.index)


def test_the_students_are_foreseen_best_by_a_steeper_curve():
    part = paper("chmait-2017").parts["students"]()
    wins = part.table[part.table["wins"]].set_index("scheme")["curve"]
    assert wins["items"] == "E2"
    assert "E1" not in set(wins)


def test_every_mind_and_the_students_are_calibrated_at_complexities_left_out():
    part = paper("chmait-2017").parts["calibration"]()
    table = part.table
    assert set(table["mind"]) == {*p0.MINDS, "students"}
    assert len(table) == 2 * len(set(table["mind"]))  # left out in turn, and the upper at once
    assert table["mean absolute error"].between(0, 1).all()
    people = table[table["mind"] == "students"].set_index("left out")
    between = people.loc["each complexity left out in turn"]
    assert between["answers"] == 35 * 48
    assert between["curve that won"] == "E2"
    assert between["mean absolute error"] < 0.15
    for curve in table["curve that won"]:
        assert curve in part.said
    assert len(part.plots) == 6  # nine minds in two lots, and the students, twice


def test_the_page_is_one_file_without_scripts_or_requests(tmp_path):
    write_page(asked_for(["chmait-2017:figure-2", "chmait-2017:figure-4"]), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.count("<svg") == 2
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_what_there_is_not_is_said():
    with pytest.raises(Error, match="no paper 'p7'"):
        asked_for(["p7"])
    with pytest.raises(Error, match="chmait-2017 has no 'figure-9'"):
        asked_for(["chmait-2017:figure-9"])


def test_numbers_are_short():
    assert [figure(x) for x in (-0.12345, 1e6, "a", float("nan"))] == [
        "−0.1235", "1,000,000", "a", "none",
    ]  # fmt: skip


@pytest.mark.slow
def test_every_claim_and_statement_is_in_the_text():
    assert_quoted("chmait-2017")
