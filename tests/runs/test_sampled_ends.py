"""Floor and ceiling of a long test play an evenly spread sample, and are paired there."""

from __future__ import annotations

import itertools
import json

import pytest

import allminds as am
from allminds.core.errors import Error
from allminds.runs import plan, resolve

SETTINGS = {"rows": 5, "cols": 5, "iterations": 10}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Begin to sample beyond 120 exercises, in four stretches."""
    monkeypatch.setattr(plan, "MOST_ENDS", 120)
    monkeypatch.setattr(resolve, "MOST_ENDS", 120)
    monkeypatch.setattr(plan, "PIECES", 4)


def of(results, mind):
    return next(row for row in results["results"] if row["mind"] == mind)


def test_the_sample_is_spread_evenly():
    assert plan.sample_of(120) == [(0, 120)]
    assert plan.sample_of(1000) == [(0, 30), (250, 280), (500, 530), (750, 780)]
    assert plan.sample_of(121)[-1][1] <= 121
    pieces = plan.sample_of(123_457)
    assert sum(high - low for low, high in pieces) == 120
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(pieces))


def mean_over_k(records, mind, there):
    rows = records[(records["mind"] == mind) & records["index"].isin(there)]
    return rows.groupby("K")["score"].mean().mean()


def test_scores_are_normalised_on_the_sample():
    """The oracle: the whole test with ends in full, cut to the sample by hand."""
    given = {"settings": SETTINGS, "episodes": 600}
    found = am.evaluate("lambda-star", ["local-search"], **given)
    full = am.evaluate("lambda-star", ["local-search"], ends="full", **given)
    there = [n for low, high in plan.sample_of(600) for n in range(low, high)]
    for mind in ("random", "optimum"):
        assert of(found, mind)["episodes"] == 120
        assert of(found, mind)["sampled"] == 600
        assert of(full, mind)["episodes"] == 600
        assert "sampled" not in of(full, mind)
        assert sorted(found.frame().query(f"mind == '{mind}'")["index"]) == there
        assert of(found, mind)["score"] == pytest.approx(mean_over_k(full.frame(), mind, there))
    mine = of(found, "local-search")
    assert mine["episodes"] == 600
    assert mine["score"] == of(full, "local-search")["score"]
    own, low, high = (
        mean_over_k(full.frame(), mind, there) for mind in ("local-search", "random", "optimum")
    )
    assert mine["normalised"] == pytest.approx((own - low) / (high - low))
    assert mine["normalised"] != of(full, "local-search")["normalised"]
    assert mine["normalised_ci95"][0] < mine["normalised"] < mine["normalised_ci95"][1]


def test_the_table_says_so():
    found = am.evaluate("lambda-star", ["local-search"], settings=SETTINGS, episodes=600)
    assert "120 of the 600 exercises, evenly spread" in " ".join(str(found).split())
    full = am.evaluate(
        "lambda-star", ["local-search"], settings=SETTINGS, episodes=600, ends="full"
    )
    assert "evenly" not in str(full)


def test_minds_that_were_asked_for_and_short_tests_are_played_in_full():
    given = {"settings": SETTINGS, "episodes": 200}
    found = am.evaluate("lambda-star", ["random", "local-search"], **given)
    assert of(found, "random")["episodes"] == 200
    assert of(found, "optimum")["episodes"] == 120
    short = am.evaluate("lambda-star", ["local-search"], settings=SETTINGS, episodes=120)
    assert {row["episodes"] for row in short["results"]} == {120}


def test_a_user_s_mind_is_paired_with_them_too():
    def always_right(observation):
        return 6

    found = am.evaluate("lambda-star", [always_right], settings=SETTINGS, episodes=300)
    assert of(found, "always_right")["normalised"] is not None


def test_a_run_that_lost_a_part_of_the_sample_is_resumed(tmp_path):
    given = {"settings": SETTINGS, "episodes": 600, "out": tmp_path / "run"}
    found = am.evaluate("lambda-star", ["local-search"], **given)
    before = json.loads((tmp_path / "run/summary.json").read_text())
    parts = sorted((tmp_path / "run/records").glob("part-000-001-*"))
    assert len(parts) == 4
    for folder in ("records", "curves", "timings"):
        (tmp_path / "run" / folder / parts[1].name).unlink()
    (tmp_path / "run/summary.json").unlink()
    again = am.resume(tmp_path / "run")
    after = again.summary()
    for summary in (before, after):
        for row in summary["tests"][0]["results"]:
            row.pop("seconds")
    assert after == before
    assert again.is_complete()
    assert found["episodes"] == 600


def test_comparing_and_reporting_use_the_exercises_in_common(tmp_path):
    found = am.evaluate("lambda-star", ["local-search"], settings=SETTINGS, episodes=300)
    rows = am.compare(found, minds=["local-search", "random"])
    assert rows["verdict"].tolist() == ["different"]
    page = am.report(found, tmp_path / "report.html").read_text()
    assert "evenly spread" in page


def test_ends_must_be_said_clearly():
    with pytest.raises(Error, match="ends must be True, False or 'full'"):
        am.evaluate("lambda-star", ["local-search"], ends="half")
