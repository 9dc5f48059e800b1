"""What `allminds.evaluate` gives back: it prints, plots, compares and exports."""

from __future__ import annotations

import functools
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import allminds as am
from allminds.contracts import Failure
from allminds.core.table import scored
from allminds.report.charts.notebook import score_chart
from allminds.runs import run as runs
from allminds.runs.engine import Given
from allminds.runs.imports import read_results
from allminds.runs.plan import Plan

SMALL = {"rows": 5, "cols": 5, "iterations": 10}
ONE = am.How(jobs=1)


class MyMind:
    """A user's mind with a parameter."""

    def __init__(self, action: int = 5) -> None:
        self.action = action

    def act(self, observation, random):
        return self.action


def breaks_often(observation, random):
    """Answers nonsense in one exercise of a few."""
    return 77 if random.below(30) == 0 else 5


def never_answered(observation, random):
    """Its provider is down: no fault of its own."""
    return Failure("missing", "429")


def evaluated(minds, episodes, seed=1):
    return am.evaluate("lambda-star", minds, settings=SMALL, episodes=episodes, seed=seed, how=ONE)


@pytest.fixture(scope="module")
def results():
    return evaluated(["random", "local-search", MyMind(), breaks_often], 110)


# ---------------------------------------------------------------- a mapping


def test_results_are_the_summary_of_the_administration(results):
    minds = ["random", "local-search", MyMind(), breaks_often, "optimum"]
    plain = runs.give(Given.of("lambda-star", SMALL, minds), 110, how=ONE)
    assert type(plain) is dict
    assert set(results) == {*plain, "yours"}
    assert len(results) == len(plain) + 1
    assert results["yours"] == ["random", "local-search", "MyMind", "breaks_often"]  # no end
    for mine, its in zip(results["results"], plain["results"], strict=True):
        assert mine | {"seconds": 0} == its | {"seconds": 0}
    assert json.loads(json.dumps(results.summary)) == dict(results)


def test_names_classes_functions_and_objects_all_have_names(results):
    names = [row["mind"] for row in results["results"]]
    assert names == ["random", "local-search", "MyMind", "breaks_often", "optimum"]
    named = am.evaluate(
        "lambda-star", {"up": MyMind(2), "down": MyMind(8), "chance": "random", "f": MyMind},
        settings=SMALL, episodes=10, how=ONE,
    )  # fmt: skip
    given = ["up", "down", "chance", "f", "random", "optimum"]
    assert [row["mind"] for row in named["results"]] == given
    assert list(named.wide().index) == given
    lambdas = am.evaluate("lambda-star", [lambda seen: 5], settings=SMALL, episodes=3, how=ONE)
    assert "<lambda>" in str(lambdas)
    assert "&lt;lambda&gt;" in lambdas._repr_html_()


def test_floor_and_ceiling_are_always_there_and_normalise_as_measured(results):
    rows = {row["mind"]: row for row in results["results"]}
    ends = {mind: row["end"] for mind, row in rows.items()}
    assert ends == {
        "random": "floor", "local-search": None, "MyMind": None, "breaks_often": None,
        "optimum": "ceiling",
    }  # fmt: skip
    low, high = rows["random"]["score"], rows["optimum"]["score"]
    for row in rows.values():
        assert row["normalised"] == pytest.approx((row["score"] - low) / (high - low))
    assert (rows["random"]["normalised"], rows["optimum"]["normalised"]) == (0, 1)
    own = rows["local-search"]
    assert own["normalised_ci95"][0] < own["normalised"] < own["normalised_ci95"][1]


def test_a_game_without_a_ceiling_mind_has_the_floor_in_every_place():
    line_ups = ["tit-for-tat,grim", "defect"]
    rows = am.evaluate("prisoners-dilemma", line_ups, episodes=20, how=ONE)["results"]
    assert [(row["mind"], row["end"]) for row in rows] == [
        ("tit-for-tat, grim", None), ("defect", None), ("random, grim", "floor"),
        ("random", "floor"),
    ]  # fmt: skip
    place = (rows[0]["score"] - rows[2]["score"]) / (1 - rows[2]["score"])
    assert rows[0]["normalised"] == pytest.approx(place)


def test_minds_that_are_no_list_are_refused():
    for wrong in ("random", 3, {"random"}):
        with pytest.raises(am.Error, match="minds are a list"):
            am.evaluate("lambda-star", wrong)


def test_a_fixed_form_is_given_once_unless_more_is_asked_for():
    assert am.evaluate("c-test", ["random"], how=ONE)["episodes"] == 20


# ---------------------------------------------------------------- what is shown


def test_text_is_the_table_of_the_command_line(results, capsys):
    from allminds.terminal import show_test

    show_test(results.summary)
    printed = [line.rstrip() for line in capsys.readouterr().out.rstrip().split("\n")]
    assert str(results).split("\n") == printed
    assert repr(results) == str(results)
    row = results["results"][3]
    said = " ".join(str(results).split())
    assert f"breaks_often failed {row['failed']} of 110 exercises" in said
    assert f"({row['failed']} malformed), which count; those finished scored" in said
    assert "not ranked. First: 77 is not one of the actions" in said


def test_html_escapes_names_and_shows_floor_and_ceiling():
    evil = {"<script>alert(1)</script>": MyMind(), '"&x': breaks_often, "random": "random"}
    found = am.evaluate("lambda-star", evil, settings=SMALL, episodes=40, how=ONE)
    text = found._repr_html_()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "&#34;&amp;x" in text
    assert 'random <span style="opacity: .6">floor</span>' in text
    assert 'optimum <span style="opacity: .6">ceiling</span>' in text
    assert "malformed" in text
    assert text.count("<tr>") == 5  # the head, three minds and the ceiling
    assert text.count("<svg") == 4


def test_a_mind_without_a_score_is_last_and_has_dashes():
    found = evaluated(["random", never_answered, lambda seen: 0], episodes=10)
    row = found["results"][1]
    assert (row["score"], row["ci95"], row["coverage"]) == (None, None, None)
    assert (row["failed"], row["missing"], row["ranked"]) == (0, 10, False)
    shown = str(found)
    order = [shown.index(name) for name in ("optimum", "random", "<lambda>", "never_answ")]
    assert order == sorted(order)
    last = next(line for line in shown.splitlines() if line.strip().startswith("never_answ"))
    assert last.split()[1:4] == ["–"] * 3
    assert "too narrow for the column learning." in shown
    assert "…" not in shown
    assert "10 of 10 exercises are missing, through no fault of its own" in " ".join(shown.split())
    assert ">–<" in found._repr_html_()


def test_a_mind_that_fails_everything_has_the_lowest_score_and_is_not_ranked():
    row = evaluated(["random", lambda seen: 0], episodes=10)["results"][1]
    assert (row["score"], row["failed"], row["coverage"], row["ranked"]) == (-1, 10, 0, False)
    assert (row["finished"], row["bounds"], row["failures"]) == (None, [-1, 1], {"malformed": 10})
    assert -1 == row["ci95"][0] < row["ci95"][1] < 1


# ---------------------------------------------------------------- records


def test_the_tidy_table_is_that_of_a_run(tmp_path):
    minds = ["random", "local-search", "optimum"]
    test = {"instrument": "lambda-star", "minds": minds, "episodes": 60, "settings": SMALL}
    folder = am.run(Plan.model_validate({"tests": [test], "seed": 7}), tmp_path / "run", ONE)
    mine = evaluated(minds, episodes=60, seed=7).frame()
    its = am.Results.of(folder).tests[0].frame()
    pd.testing.assert_frame_equal(
        mine.drop(columns="run"), its.drop(columns="run"), check_dtype=False
    )
    assert list(mine.columns) == list(its.columns)


def test_wide_has_the_scores_that_the_table_has(results):
    wide, frame = results.wide(), results.frame()
    assert wide.shape == (5, 110)
    assert wide.notna().all(axis=None)  # failures count
    at = frame.drop_duplicates("exercise").set_index("exercise")["K"].reindex(wide.columns)
    for row in results["results"]:
        of_k = wide.loc[row["mind"]].groupby(at.to_numpy()).mean()
        assert of_k.mean() == pytest.approx(row["score"], abs=1e-12)
    failed = frame[(frame["mind"] == "breaks_often") & (frame["status"] != "ok")]
    assert len(failed) == results["results"][3]["failed"] > 0
    its = wide.loc["breaks_often", failed["exercise"]]
    assert its.tolist() == failed["score"].tolist()
    gaps = evaluated(["random", never_answered], episodes=10).wide()
    assert gaps.loc["never_answered"].isna().all()
    one = frame[(frame["mind"] == "local-search") & (frame["index"] == 7)]
    assert wide.loc["local-search", one["exercise"].iloc[0]] == one["score"].iloc[0]


def test_in_a_game_a_line_up_is_one_mind_and_its_first_slot_counts():
    line_ups = ["tit-for-tat,random", "random,tit-for-tat", "random"]
    found = am.evaluate("prisoners-dilemma", line_ups, episodes=40, how=ONE)
    means = found.wide().mean(axis=1)
    assert len(means) == 3  # the floors are among them: random in the first place
    for row in found["results"]:
        assert means[row["mind"]] == pytest.approx(row["score"], abs=1e-12)
    assert set(found.frame()["line_up"]) == {row["mind"] for row in found["results"]}


def test_all_slots_count_where_minds_are_copies():
    found = am.evaluate("lambda-star", ["random"], settings=SMALL | {"agents": 3},
                        episodes=44, how=ONE)  # fmt: skip
    frame = found.frame()
    frame = frame[frame["mind"] == "random"]
    assert len(frame) == 3 * 44
    means = frame.groupby("exercise", sort=False)["score"].mean()
    assert found.wide().loc["random"].tolist() == pytest.approx(means.tolist())


def test_the_codebook_knows_every_column_of_every_instrument():
    from allminds import registry
    from allminds.core.table import COLUMNS

    found = am.evaluate("c-test", ["random"], how=ONE).codebook()
    assert set(found.index) <= {*COLUMNS, "k", "letters"}
    assert found.loc["k", "meaning"] == "Levin complexity of the series"
    assert found.loc["k", "found"] == "7 to 14"
    assert found.loc["score", "values"] == "reward, −1 to 1"
    for name in registry.instruments():
        tool = registry.make_instrument(name)
        assert set(tool.exercise(0, 0).environment.complexity) <= set(tool.presentation.columns), (
            name
        )


def test_the_slots_that_count_are_those_of_the_instruments_tally():
    from allminds.core.table import scored, scoring_slots

    assert scoring_slots("prisoners-dilemma", 2) == (0,)
    assert scoring_slots("team-lambda-star", 4) == (0,)
    assert scoring_slots("lambda-star", 3) == (0, 1, 2)
    assert scoring_slots("nobody-knows-it", 2) == (0, 1)
    plain = pd.DataFrame({"exercise": ["a", "b"], "mind": ["x", "x"], "score": [0.1, 0.2]})
    pd.testing.assert_frame_equal(scored(plain), plain)


def test_results_can_be_pickled(results):
    again = pickle.loads(pickle.dumps(results))
    assert str(again) == str(results)
    pd.testing.assert_frame_equal(again.frame(), results.frame())


# ---------------------------------------------------------------- a run with line-ups


def test_the_summary_of_a_run_tells_line_ups_apart(tmp_path):
    minds = ["tit-for-tat,defect", "tit-for-tat,random", "random", "random,defect"]
    test = {"instrument": "prisoners-dilemma", "minds": minds, "episodes": 50}
    folder = am.run(Plan.model_validate({"tests": [test], "seed": 2}), tmp_path / "run", ONE)
    here = am.evaluate("prisoners-dilemma", minds, episodes=50, seed=2, how=ONE)
    there = am.Results.of(folder.path)["tests"][0]
    for mine, its in zip(here["results"], there["results"], strict=True):
        assert mine | {"seconds": 0} == its | {"seconds": 0}


def test_a_run_of_several_tests_has_results_of_each(tmp_path):
    tests = [
        {"instrument": "lambda-star", "minds": ["random"], "episodes": 30, "settings": SMALL},
        {"instrument": "c-test", "minds": ["random", "mode"], "episodes": 20},
    ]
    found = am.Results.of(am.run(Plan.model_validate({"tests": tests}), tmp_path / "run", ONE))
    assert [one["instrument"] for one in found.tests] == ["lambda-star", "c-test"]
    assert str(found).count("seed 1") == 2
    assert found._repr_html_().count("<table") == 2
    assert found.wide().shape == (2, 50)
    assert found.wide().loc["mode"].isna().sum() == 30
    assert found.tests[1].wide().shape == (2, 20)
    with pytest.raises(am.Error, match="there are 2 tests; take one"):
        found.plot()
    assert found.tests[1].plot().to_dict()


# ---------------------------------------------------------------- compare and plot


def test_differences_are_those_of_a_paired_t_test_over_strata(results):
    """110 exercises are 22 of each of 5 complexities: se = √Σ s²/22 / 5, freedom 110 - 5."""
    from scipy.stats import t

    wide, frame = results.wide(), results.frame()
    table = results.compare().set_index(["first", "second"])
    one = table.loc[("MyMind", "local-search")]
    at = frame.drop_duplicates("exercise").set_index("exercise")["K"].reindex(wide.columns)
    gaps = (wide.loc["MyMind"] - wide.loc["local-search"]).groupby(at.to_numpy())
    assert gaps.size().tolist() == [22] * 5
    mean, stderr = gaps.mean().mean(), np.sqrt((gaps.var(ddof=1) / 22).sum()) / 5
    low, high = t.interval(0.95, 105, mean, stderr)
    assert one["difference"] == pytest.approx(mean)
    assert (one["low"], one["high"]) == pytest.approx((low, high))
    p = 2 * t.sf(abs(mean / stderr), 105)
    assert p <= one["p_holm"] <= 9 * p
    assert one["verdict"] == "different"
    assert len(table) == 9  # all pairs of five but floor and ceiling
    assert ("optimum", "random") not in table.index


def test_one_mind_is_compared_with_floor_and_ceiling():
    found = evaluated(["local-search"], episodes=22).compare()
    pairs = {frozenset(pair) for pair in zip(found["first"], found["second"], strict=True)}
    assert pairs == {frozenset(("local-search", end)) for end in ("random", "optimum")}


def test_a_mind_without_another_that_has_a_score_has_nobody_to_be_compared_with():
    found = am.evaluate("prisoners-dilemma", ["random"], episodes=10, how=ONE)
    with pytest.raises(am.Error, match="two or more minds"):
        found.compare()
    found = am.evaluate("prisoners-dilemma", [never_answered], episodes=10, how=ONE)
    with pytest.raises(am.Error, match="two or more minds"):
        found.compare()


def test_a_mind_that_fails_everything_is_compared_and_plotted_with_the_lowest_score():
    found = evaluated(["random", "local-search", lambda seen: 0], episodes=22)
    table = found.compare()
    mine = table[(table["first"] == "<lambda>") | (table["second"] == "<lambda>")]
    assert len(mine) == 3
    assert set(mine["verdict"]) == {"different"}
    assert "<lambda>" in json.dumps(found.plot().to_dict())
    assert (found.wide().loc["<lambda>"] == -1).all()


def test_a_mind_of_which_everything_is_missing_is_left_out_of_comparison_and_plot():
    found = evaluated(["random", "local-search", never_answered], episodes=22)
    table = found.compare()
    assert set(table["first"]) | set(table["second"]) == {"random", "local-search", "optimum"}
    assert "never_answered" not in json.dumps(found.plot().to_dict())
    assert found.wide().loc["never_answered"].isna().all()


def test_an_adaptive_test_is_compared_by_its_levels():
    """A level is the mean ξ · reward of an administration; six of them by Student's t."""
    from scipy.stats import ttest_rel

    found = am.evaluate(
        "lambda-anytime", ["random", "q-learning"], settings={"time": 60}, episodes=18, how=ONE
    )
    table = found.compare().set_index(["first", "second"])
    assert ("optimum", "random") not in table.index
    frame = found.frame().sort_values("index")
    gained = (frame["xi"] * frame["score"]).groupby([frame["mind"], frame["index"] // 3]).mean()
    mine, its = gained["q-learning"], gained["random"]
    one = table.loc[("q-learning", "random")]
    exact = ttest_rel(mine, its)
    assert one["units"] == 6
    assert (one["low"], one["high"]) == pytest.approx(tuple(exact.confidence_interval()))
    assert one["p_holm"] >= exact.pvalue * (1 - 1e-12)
    rows = {row["mind"]: row["score"] for row in found["results"]}
    assert one["difference"] == pytest.approx(rows["q-learning"] - rows["random"])
    assert "score on lambda-anytime" in json.dumps(found.plot().to_dict())


def test_the_plot_is_score_against_complexity(results):
    spec = results.plot().to_dict()
    points = spec["data"]["values"] if "data" in spec else spec["layer"][0]["data"]["values"]
    frame = results.frame()
    here = frame[(frame["mind"] == "random") & (frame["K"] == frame["K"].min())]
    one = next(p for p in points if p["mind"] == "random" and p["at"] == frame["K"].min())
    assert one["score"] == pytest.approx(here["score"].mean())
    assert one["exercises"] == len(here)


def test_a_game_is_plotted_by_mind_and_nothing_is_not_plotted():
    found = am.evaluate("prisoners-dilemma", ["random", "defect"], episodes=20, how=ONE)
    spec = json.dumps(found.plot().to_dict())
    assert "score on prisoners-dilemma" in spec
    worst = am.evaluate("prisoners-dilemma", [lambda seen: "no"], episodes=5, how=ONE)
    assert "<lambda>" in json.dumps(worst.plot().to_dict())
    nothing = am.evaluate("prisoners-dilemma", [never_answered], episodes=5, how=ONE)
    assert "never_answered" not in json.dumps(nothing.plot().to_dict())
    with pytest.raises(am.Error, match="no mind has a score"):
        score_chart(nothing["results"][:1], "score")


def test_many_values_of_a_complexity_are_put_into_bins():
    from allminds.report.charts.notebook import BINS, complexity_chart

    rng = np.random.default_rng(3)
    scores = {"a": (rng.random(500), rng.random(500))}
    spec = complexity_chart(scores, "H", ("b", None)).to_dict()
    points = spec["data"]["values"] if "data" in spec else spec["layer"][0]["data"]["values"]
    assert len(points) == BINS
    assert sum(point["exercises"] for point in points) == 500


# ---------------------------------------------------------------- files


def test_results_are_saved_by_their_ending(results, tmp_path):
    for name in ("a.csv", "a.parquet"):
        back = read_results(results.save(tmp_path / name))
        assert len(back) == len(results.frame())
        assert back["score"].sum() == pytest.approx(results.frame()["score"].sum(), abs=1e-12)
    assert json.loads(results.save(tmp_path / "a.json").read_text()) == results.summary
    page = results.save(str(tmp_path / "a.html")).read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "local-search" in page
    assert results.save(tmp_path / "a.svg").read_bytes()[:4] == b"<svg"
    assert results.save(tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    with pytest.raises(am.Error, match=r"cannot write results as 'a\.xyz'"):
        results.save(tmp_path / "a.xyz")


def test_a_partial_run_has_no_results(tmp_path):
    with pytest.raises(am.Error, match="not a run folder"):
        am.Results.of(tmp_path)


# ---------------------------------------------------------------- memory


MILLION = """
import resource, sys
from pathlib import Path
{what}
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
own = [int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM")]
print(*own or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20])
"""


@functools.cache
def peak(what: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", MILLION.format(what=what)],
        capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    return float(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("records", [True, False])
def test_a_million_episodes_in_memory_stay_within_500_mb(records):
    """With all records held, and as the command line does it, with none."""
    many = "from allminds import evaluate\nfound = evaluate('lambda-star', ['random'], ends=False, "
    assert peak(f"{many}records={records}, episodes=10**6, settings={{'iterations': 10}})") < 500


def test_the_ends_can_be_left_out():
    found = am.evaluate("lambda-star", ["local-search"], episodes=20, ends=False)
    assert [row["mind"] for row in found["results"]] == ["local-search"]


def test_a_person_in_a_game_is_a_mind_of_its_own_in_any_slot():
    frame = pd.DataFrame(
        {
            "exercise": ["e"] * 4,
            "instrument": ["prisoners-dilemma"] * 4,
            "mind": ["person/a", "person/b", "grim", "random"],
            "line_up": ["person/a, person/b"] * 2 + ["grim, random"] * 2,
            "slot": [0, 1, 0, 1],
            "score": [0.1, 0.2, 0.3, 0.4],
            "kind": ["person", "person", None, None],
        }
    )
    assert scored(frame)["mind"].tolist() == ["person/a", "person/b", "grim, random"]
