"""P0 computed again: what agrees, what does not, and why."""

from __future__ import annotations

import numpy as np
import pytest

from allminds.core.errors import Error
from allminds.papers import asked_for, paper
from allminds.papers import chmait_2017 as p0
from allminds.papers.paper import figure, write_page


@pytest.fixture(scope="module")
def claims():
    return {claim.what: claim for claim in p0.claims()}


def test_what_can_agree_agrees(claims):
    """Numbers that rest on other items, a misprint or an unsaid range differ; no others do."""
    differ = {what for what, claim in claims.items() if not claim.agrees}
    assert differ == {
        "ω", "r̃ of min-distance (α/28)", "P(m=2) - P(m=3) at D = 10, by the printed formula",
        "ability below which options matter more than difficulty",
        "the same with the text's α = 12.0094", "C-test score of A¹", "C-test score of A⁴",
    }  # fmt: skip
    assert all(claims[what].note for what in differ)


def test_figures_of_the_text(claims):
    assert claims["ω"].ours == pytest.approx(36.4, abs=0.05)
    assert 18.5 <= claims["the same with the text's α = 12.0094"].ours <= 23.0
    assert claims["cut-off of π and A¹, m = 3, α = 12"].ours == pytest.approx(16.64, abs=0.005)


def test_a_group_of_equals_wins_exactly_where_its_members_are_mostly_right():
    curves = p0._curves(3)
    hard = np.array([2.0, 8.0, 15.0, 17.0, 25.0])
    alone, group = curves["alone"](hard), curves["A1"](hard)
    assert ((group > alone) == (alone > 0.5)).all()


@pytest.mark.parametrize("name", ["figure-2", "figure-3", "figure-4", "figure-5"])
def test_every_figure_has_its_data_and_plots(name):
    part = paper("chmait-2017").parts[name]()
    assert len(part.table)
    assert all(plot.startswith("<svg") for _, plot in part.plots)
    assert part.table.select_dtypes("number").notna().all(axis=None)


@pytest.mark.slow
def test_an_adaptive_test_needs_fewer_items():
    table = paper("chmait-2017").parts["adaptive"]().table
    assert (table["adaptive items"] < table["fixed items"]).all()
    assert (table["root mean square error of ln α"] < 0.35).all()  # se .25, 50 minds each


def test_intervals_beyond_the_data_cover_most_truths(monkeypatch):
    monkeypatch.setattr("allminds.papers.chmait_2017_beyond.PREDICTED", 6)
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
