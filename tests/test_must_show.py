"""What was once said wrongly: the cases at the edges, each with what must be said instead."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import allminds as am
from allminds.cli.app import app
from allminds.inference import Plays, Rule, difference
from allminds.inference.verdict import Difference, odds_explained
from allminds.report import data
from allminds.report.page import excluded_gist, prediction_gist
from allminds.report.sections import groups as grouped
from allminds.report.sections import reliability as reliable
from allminds.runs.plan import Plan, Test
from allminds.runs.summary import answer_of_run

ONE = am.How(jobs=1)


def called(*words):
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "100"})
    assert done.exception is None, done.exception
    return done.stdout


def evaluated(*words):
    found = json.loads(called("evaluate", *words, "--json", "--jobs", 1))
    return {row["mind"]: row for row in found["results"]}


# ---------------------------------------------------------------- intervals


def test_a_mind_that_is_always_right_has_an_interval_with_a_width_and_within_the_scale():
    row = evaluated("matrices", "--mind", "rule-induction", "--episodes", 30)["rule-induction"]
    low, high = row["ci95"]
    assert row["score"] == 1
    assert 0 < low < high <= 1
    assert low < 0.9  # of 30 hits of 30 nobody knows more: 1 - .025^(1/30) = .116 by the exact one


@pytest.mark.parametrize("episodes", [2, 3, 8, 19, 20, 21, 30])
@pytest.mark.parametrize("mind", ["rule-induction", "position"])
def test_intervals_of_few_hits(episodes, mind):
    for row in evaluated("matrices", "--mind", mind, "--episodes", episodes).values():
        low, high = row["ci95"]
        assert 0 <= low < high <= 1
        assert low <= row["score"] <= high


def test_two_exercises_both_right_against_both_wrong_decide_nothing():
    def plays(*score):
        n = np.arange(len(score))
        none = np.zeros(len(score), bool)
        return Plays(n, n, np.zeros(len(score)), np.array(score, float), none, np.full(2, np.nan))

    found = difference(plays(1, 1), plays(0, 0), Rule(low=0.0), ("right", "wrong"))
    assert (found.mean, found.verdict) == (1.0, "undecided")
    assert found.interval[0] < 0.5


def test_nor_do_they_in_compare(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("exercise,mind,score\ne0,a,1\ne1,a,1\ne0,b,0\ne1,b,0\n")
    [found] = json.loads(called("compare", path, "--json"))["comparisons"]
    assert found["differences"][0]["verdict"] == "undecided"
    assert "undecided" in called("compare", path)
    for row in found["standings"]:
        assert row["ci95"][1] - row["ci95"][0] > 0.5


# ---------------------------------------------------------------- verdicts beside intervals


def found(p, interval, mean=0.1):
    return Difference("a", "b", True, (40,), mean, None, interval, interval, p, 0.9, p, 0.9)


def test_a_verdict_that_seems_to_contradict_its_interval_is_explained():
    plain = [found(0.2, (-0.1, 0.3)), found(0.01, (0.05, 0.3)), found(0.2, None)]
    assert odds_explained(plain) == []
    (said,) = odds_explained([*plain, found(0.06, (0.01, 0.3))])
    assert said.startswith("An interval is of its pair alone")
    (said,) = odds_explained([*plain, found(0.04, (-0.01, 0.3))])
    assert "two methods" in said
    assert len(odds_explained([found(0.06, (0.01, 0.3)), found(0.04, (-0.01, 0.3))])) == 2


def test_compare_and_the_report_explain_it(tmp_path):
    """Always the same by far: the interval leaves out 0, and p of a few pairs does not suffice."""

    def always(action):
        return lambda observation: action

    minds = {"mild": always(0), "hard": always(1), "wsls": "win-stay-lose-shift"}
    run = am.evaluate(
        "prisoners-dilemma", minds, against="tit-for-tat", episodes=20,
        out=tmp_path / "run", how=ONE,
    )  # fmt: skip
    said = "An interval is of its pair alone"
    assert said in " ".join(called("compare", tmp_path / "run").split())
    page = run.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert said in page
    assert ", an interval not corrected as that is." in page


# ---------------------------------------------------------------- repeats


@pytest.fixture(scope="module")
def once_and_a_hundred_times():
    return [
        am.evaluate("c-test", ["pattern(y=3)"], episodes=episodes, how=ONE)["results"][0]
        for episodes in (20, 2000)
    ]


def test_the_published_form_a_hundred_times_is_no_surer_than_once(once_and_a_hundred_times):
    once, often = once_and_a_hundred_times
    assert (once["episodes"], often["episodes"]) == (20, 2000)
    assert once["units"] == often["units"] == 20
    assert often["score"] == pytest.approx(once["score"], abs=1e-12)
    assert often["ci95"] == pytest.approx(once["ci95"], abs=1e-9)
    assert often["stderr"] == pytest.approx(once["stderr"], abs=1e-9)


@pytest.mark.parametrize("episodes", [40, 2000])
def test_the_table_says_that_there_are_20_items(episodes):
    shown = called("evaluate", "c-test", "--mind", "pattern(y=3)", "--episodes", episodes)
    header = next(line for line in shown.splitlines() if "95 % interval" in line)
    row = next(line for line in shown.splitlines() if line.strip().startswith("pattern(y=3)"))
    assert "items" in header
    assert row.split()[-1] == "20"


def test_compare_of_repeats_is_no_surer_either(tmp_path):
    verdicts = []
    for episodes in (20, 400):
        test = Test(instrument="c-test", minds=["pattern(y=3)", "mode"], episodes=episodes)
        am.run(Plan(tests=[test]), tmp_path / str(episodes), ONE)
        [found] = json.loads(called("compare", tmp_path / str(episodes), "--json"))["comparisons"]
        [pair] = found["differences"]
        verdicts.append((pair["units"], pair["mean"], pair["interval"], pair["verdict"]))
    (one, mean, ends, word), (other, again, limits, same) = verdicts
    assert one == other
    assert mean == pytest.approx(again)
    assert ends == pytest.approx(limits)
    assert word == same


# ---------------------------------------------------------------- adaptive tests


@pytest.fixture(scope="module")
def staircase(tmp_path_factory):
    folder = tmp_path_factory.mktemp("staircase") / "run"
    test = Test(
        instrument="lambda-staircase", minds=["model-based", "q-learning"], episodes=400,
        settings={"time": 2000, "steps": 20},
    )  # fmt: skip
    return am.run(Plan(tests=[test]), folder, ONE)


def test_levels_are_compared_and_are_those_that_evaluate_prints(staircase):
    [found] = json.loads(called("compare", staircase.path, "--json"))["comparisons"]
    here = evaluated(
        "lambda-staircase", "--mind", "model-based", "--mind", "q-learning", "--episodes", 400,
        "--set", "time=2000", "--set", "steps=20",
    )  # fmt: skip
    for row in found["standings"]:
        assert row["score"] == pytest.approx(here[row["mind"]]["score"], abs=1e-9)
        assert row["ci95"] == pytest.approx(here[row["mind"]]["ci95"], abs=1e-9)
    [pair] = found["differences"]
    assert {pair["first"], pair["second"]} == {"model-based", "q-learning"}
    gap = here[pair["first"]]["score"] - here[pair["second"]]["score"]
    assert pair["mean"] == pytest.approx(gap, abs=1e-9)
    assert pair["verdict"] == "different"


def test_the_same_number_is_printed_twice(staircase):
    shown = called("compare", staircase.path)
    for row in staircase.summary()["tests"][0]["results"]:
        assert f"{row['score']:.3f}" in shown


# ---------------------------------------------------------------- at a glance


def pair(mean=0.0, p=0.5, same=0.5):
    ends = (mean - 0.01, mean + 0.01)
    return Difference("a", "b", True, (40,), mean, 0.01, ends, ends, p, same, p, same)


def groups(*found):
    return {"tables": [{"rows": [{"gain": one} for one in found]}], "pooled": []}


def test_groups_that_did_better_worse_the_same_or_neither():
    better, worse = pair(0.2, 0.001), pair(-0.2, 0.001)
    same, open_ = pair(0.0, 0.9, 0.001), pair(0.02)
    said = grouped.gist(groups(better, worse, same, open_), [])
    assert "4 groups" in said
    assert "1 did better, 1 worse" in said
    assert "1 neither by more than 0.05" in said
    assert "1 cannot be told apart" in said


def test_nothing_is_said_of_groups_that_are_not_there():
    said = grouped.gist(groups(pair(0.02)), [])
    assert "0 did better, 0 worse" in said
    assert "neither by more" not in said
    said = grouped.gist(groups(pair(0.2, 0.001)), [])
    assert "told apart" not in said
    assert grouped.gist(None, []) == ""


def rows(*values):
    return {
        "rows": [
            {
                "generalisability": value,
                "interval": None,
                "data": SimpleNamespace(label=f"test {n}"),
            }
            for n, value in enumerate(values)
        ]
    }


def test_reliability_is_claimed_of_those_tests_that_have_it():
    said = reliable.gist(rows(0.95, 0.99))
    assert "On 2 of 2 tests" in said
    assert "the least" not in said
    assert "cannot be estimated" not in said


def test_and_not_of_those_that_have_not():
    said = reliable.gist(rows(0.95, 0.4, None))
    assert "On 1 of 2 tests" in said
    assert "the least is 0.400 on test 1" in said
    assert "On 1 test it cannot be estimated" in said
    assert "all" not in said.lower()
    assert reliable.gist(None) == ""


def test_where_it_cannot_be_estimated_anywhere_no_test_is_called_reliable():
    assert ".9 or more" not in reliable.gist(rows(None, None))


def test_failures_and_gaps_are_counted():
    none = excluded_gist([])
    assert none == "No exercise failed, and none is missing."
    failed = {"mind": "a", "failed": 3, "missing": 0}
    said = excluded_gist([failed])
    assert said == "3 plays of 1 mind failed and count as failures."
    assert "missing" not in said
    gaps = excluded_gist([{"mind": "b", "failed": 0, "missing": 2}])
    assert gaps.startswith("Missing are 2 plays")
    assert "not complete" in gaps
    both = excluded_gist([failed, {"mind": "b", "failed": 0, "missing": 2}])
    assert "3 plays of 1 mind failed" in both  # the other failed nothing


def test_who_is_above_the_floor_and_who_is_not(tmp_path):
    test = Test(
        instrument="lambda-star", minds=["random", "local-search", "optimum"], episodes=66,
        settings={"rows": 5, "cols": 5, "iterations": 20},
    )  # fmt: skip
    plan = Plan(tests=[test], yours=["local-search", "random"])
    found = answer_of_run(am.run(plan, tmp_path / "run", ONE))
    on = {mind.mind: mind.tests[0] for mind in found.minds}
    mine, floor = on["local-search"], on["random"]
    assert mine.outcome(mine.floor) == "better"
    assert floor.floor is None
    assert floor.outcome("local-search") == "worse"


def test_two_exercises_put_nobody_above_the_floor(tmp_path):
    minds = ["random", "rule-induction", "ink"]
    test = Test(instrument="matrices", minds=minds, episodes=2)
    found = answer_of_run(am.run(Plan(tests=[test], yours=minds[1:]), tmp_path / "run", ONE))
    assert {mind.tests[0].outcome("random") for mind in found.minds} == {"undecided"}


def test_a_test_in_which_no_score_varies_is_not_called_reliable(tmp_path):
    """Minds that all do the same cannot be told apart, whatever the number of exercises."""
    minds = ["stag, stag", "best-reply, stag", "fictitious-play, stag"]
    test = Test(instrument="stag-hunt", minds=minds, episodes=40)
    [found] = data.read_tests(am.run(Plan(tests=[test]), tmp_path / "run", ONE))
    assert np.nanstd(found.scores) == 0
    row = reliable.row_of(found)
    assert row["generalisability"] in (None, 0)
    said = reliable.gist({"rows": [row]})
    assert not said or "On 0 of" in said


def test_prediction_is_spoken_of_only_where_there_is_one():
    assert prediction_gist(None) == ""
    assert prediction_gist({"questions": []}) == ""
    one = {
        "data": SimpleNamespace(label="c-test"),
        "schemes": [{"error": 0.123, "winner": "logistic"}],
    }
    said = prediction_gist({"questions": [one]})
    assert "c-test 0.123 (logistic)" in said
