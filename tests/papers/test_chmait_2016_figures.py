"""P4 §6 computed: the corners of every extension, as the page shows them."""

from __future__ import annotations

import math

import pytest

from allminds.papers import paper, scores


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
