"""Λ* and groups computed again, beside the program that the authors released."""

from __future__ import annotations

import csv
import math

import pytest
from quotes import assert_quoted

from allminds.papers import paper, scores
from allminds.papers.chmait_2016 import PROGRAMS


def test_our_copy_of_the_programs_scores_is_the_file(reference):
    """Released, repaired and rewritten are kept apart; only the first two are the authors'."""
    lines = (reference / "lambda_star_programs.csv").read_text().splitlines()
    stored = {
        (row["mind"], int(row["rows"]), int(row["agents"]), row["program"].split()[-1]): (
            float(row["score"]),
            float(row["stderr"]) if row["stderr"] else None,
        )
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    }
    ours = {
        (*place, program): figure
        for place, programs in PROGRAMS.items()
        for program, figure in programs.items()
    }
    assert ours == stored


@pytest.mark.slow
def test_our_scores_are_those_of_the_programs_whose_rules_they_follow():
    """Eighteen numbers, four standard errors each: one run in about 900 would fail by chance.

    Tree and auction as we define them have other rules than the authors' program, and show it.
    """
    table = paper("chmait-2016").parts["released"]().table
    assert set(table.loc[~table["within"], "our mind"]) == {"tree", "auction"}
    assert all(table.loc[~table["within"], "why not"])
    assert len(table) == 20


def test_printed_numbers_agree_but_for_the_spread_of_experiments():
    """Footnote 3; the standard error of an experiment is .004, so six have never less than .001."""
    claims = paper("chmait-2016").claims()
    (spread,) = [claim for claim in claims if not claim.agrees]
    assert spread.where == "§5.1, footnote 3"
    assert 0.0015 < spread.ours < 0.008
    assert not any("K of 7, 3, 4, 9, 8" in claim.what for claim in claims)


def test_the_expert_is_no_upper_bound():
    assert [said.holds for said in paper("chmait-2016").statements()] == [True, False]


@pytest.mark.slow
def test_an_expert_to_follow_is_worth_more_than_company():
    table = paper("chmait-2016").parts["by-size"]().table.set_index("size")
    assert (table.loc[10, "imitation"] > table.loc[10].drop("imitation")).all()


def test_the_search_space_grows_with_the_grid():
    table = paper("chmait-2016").parts["complexity"]().table
    assert table["H bits"].is_monotonic_increasing
    assert set(table["example K"]) == {6}


def test_figures_1_to_4_are_drawn_from_what_runs():
    parts = paper("chmait-2016").parts
    loop = parts["figure-1"]()
    first = loop.table.iloc[0]
    assert f"action a₁: {first['action aᵢ']}" in loop.plots[0][1]
    space = parts["figure-2"]()
    assert len(space.table) == 51
    assert all(sign in space.plots[0][1] for sign in ("⊕", "⊖", "π1", "π2", "π3", "+0.5"))
    grid = parts["figure-3"]()
    assert grid.plots[0][1].count('fill="#d4d4d4"') == 5
    assert set(grid.table["king moves"]) == {1}
    classes = parts["figure-4"]().table.set_index("mind or group")["classes"]
    assert classes["q-learning"].startswith("QLearning < TableLearner < ")
    assert classes["expert"] == "Expert < BatchMind < MindBase"
    assert (
        classes["weighted-majority"]
        == "WeightedMajority < Majority < Protocol < Team < Members < Group"
    )


# ---------------------------------------------------------------- extensions, in section 6


def table(name):
    return paper("chmait-2016").parts[name]().table


@pytest.mark.slow
def test_one_mind_needed_is_lambda_star_and_five_are_hard_for_those_who_search_alone():
    found = table("coordination").set_index("c")
    for mind in ("local-search", "auction", "optimum"):
        plain = scores("lambda-star", mind, 220, (("agents", "5"),))["score"].mean()
        assert found.loc[1, mind] == pytest.approx(plain, abs=1e-12)
        assert found[mind].is_monotonic_decreasing
    assert found.loc[1, "chance"] == pytest.approx(0, abs=1e-15)
    lost = found.loc[1] - found.loc[5]
    assert lost["local-search"] > 4 * lost["auction"]


@pytest.mark.slow
def test_a_world_that_responds_is_hard_on_all():
    found = table("responsive").set_index("q")
    for mind in ("expert", "local-search", "random", "stay"):
        assert found[mind].is_monotonic_decreasing


@pytest.mark.slow
def test_who_stays_sees_no_more_than_at_the_start():
    found = table("coverage").set_index("mind")
    assert found.loc["stay", "step 10"] == pytest.approx(found.loc["stay", "step 50"], abs=1e-12)
    assert found.loc["stay", "score"] <= 5 * 9 / 400
    assert found.loc["scouts", "score"] == found["score"].max()


@pytest.mark.slow
def test_the_landscape_is_drawn_and_measured():
    part = paper("chmait-2016").parts["landscape"]()
    found = part.table.set_index(["mind", "minds", "drift"]).sort_index()
    alone = found.xs(1, level="minds")
    assert (alone["exploitation"] <= alone["exploitation"].loc[["optimum"]].max() + 1e-12).all()
    assert list(found["exploitation"] + found["regret"]) == pytest.approx([1] * len(found))
    assert (found.loc["optimum", "found it"] == 1).all()
    drawn = paper("chmait-2016").parts["figure-5"]().plots
    assert [plot.startswith("<svg") for _, plot in drawn] == [True, True, True]


def test_the_commons_collapse_when_all_take_all():
    found = table("commons").set_index("greedy")
    assert math.isnan(found.loc[0, "collapse at step"])
    assert found.loc[4, "collapse at step"] == 3
    assert found.loc[4, "tragedy 1 - W/W*"] == pytest.approx(1 - 3 / 6)
    assert found["tragedy 1 - W/W*"].is_monotonic_increasing


def test_conformity_keeps_a_norm_alive_that_few_hold():
    found = table("pluralistic-ignorance").set_index(["mind", "conformity"])
    assert set(found.loc["honest", "ignorance"]) == {0.0}
    assert set(found.loc["conform", "ignorance"]) == {0.8}
    assert list(found.loc["best-reply", "opposite"]) == ["no", "no", "yes", "yes"]


@pytest.mark.slow
def test_every_claim_and_statement_is_in_the_text():
    assert_quoted("chmait-2016")
