"""plan-size as a user meets it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import allminds as am
from allminds.cli.app import app
from allminds.core.errors import Error
from allminds.runs.plan import Plan

ONE = am.How(jobs=1)


def called(*words):
    """What it prints, or the error it raises."""
    done = CliRunner().invoke(
        app, ["plan-size", *(str(word) for word in words)], env={"COLUMNS": "100"}
    )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def planned(*words):
    return json.loads(called(*words, "--json"))["plans"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    small = {"rows": 5, "cols": 5, "iterations": 10, "k": "2..4"}
    tests = [
        {"instrument": "lambda-star", "minds": ["random", "local-search"], "episodes": 30,
         "settings": small},
        {"instrument": "prisoners-dilemma", "minds": ["random", "tit-for-tat,random"],
         "episodes": 25},
    ]  # fmt: skip
    out = tmp_path_factory.mktemp("runs") / "run"
    am.run(Plan.model_validate({"tests": tests}), out, ONE)
    return out


def test_a_run_has_a_plan_for_every_test(folder):
    plans = planned(folder)
    assert [one["instrument"].split()[0] for one in plans] == ["lambda-star", "prisoners-dilemma"]
    assert plans[0]["instrument"].endswith("k=2..4")
    assert plans[1]["minds"] == ["random", "tit-for-tat, random"]
    figures = [one["figure"] for one in plans[0]["answers"]]
    assert figures == [
        "interval", "interval", "difference", "generalisability", "dependability", "rel",
    ]  # fmt: skip
    shown = called(folder, "--interval", 0.03)
    assert shown.count("a pilot of") == 2
    assert "± score" in shown
    assert "Rel" not in shown


def test_the_same_pilot_on_the_spot_and_in_a_file_gives_the_same_plan(tmp_path):
    found = am.evaluate("lambda", ["random", "follower"], episodes=70, ends=False, how=ONE)
    here = planned("--instrument", "lambda", "-m", "random", "-m", "follower", "--pilot", 70)
    for name in ("a.csv", "a.parquet"):
        there = planned(found.save(tmp_path / name))
        assert there[0]["answers"] == here[0]["answers"]


def test_a_table_from_elsewhere_is_planned_by_plain_means(tmp_path):
    rng = np.random.default_rng(1)
    lines = ["exercise,mind,score"]
    for mind in ("ann", "bob"):
        lines += [f"e{n},{mind},{rng.random():.4f}" for n in range(100)]
    path = tmp_path / "quiz.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (one,) = planned(path, "--interval", 0.01)
    ann = one["answers"][0]
    assert ann["exercises"] == pytest.approx(1.96**2 / 12 / 0.01**2, rel=0.25)  # uniform: 1/12
    assert ann["low"] < ann["exercises"] < ann["high"]


def test_settings_tell_what_a_table_was_made_with(tmp_path):
    settings = {"form": "generated"}
    found = am.evaluate("c-test", ["random", "mode"], episodes=90, settings=settings, how=ONE)
    path = found.save(tmp_path / "a.csv")
    (plain,), (own,) = planned(path), planned(path, "--set", "form=generated")
    without, mine = (
        next(one for one in made["answers"] if one["who"] == "mode") for made in (plain, own)
    )
    assert without != mine
    (row,) = [row for row in found["results"] if row["mind"] == "mode"]
    assert mine["pilot"] == pytest.approx(1.987 * row["stderr"], rel=1e-3)


def test_a_plan_is_drawn(folder, tmp_path):
    called(folder, "--interval", 0.05, "--plot", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert "wanted ±0.05" in (tmp_path / "a.svg").read_text()


def test_what_cannot_be_said_is_said(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("exercise,mind,score\ne1,ann,0.5\ne1,bob,0.25\n", encoding="utf-8")
    shown = " ".join(called(path).split())
    assert "ann: one exercise says nothing of how much scores vary" in shown
    assert "ann − bob: fewer than two exercises in common" in shown
    with pytest.raises(Error, match="nothing to draw"):
        called(path, "--plot", tmp_path / "a.svg")


def test_of_many_pairs_the_hardest_are_shown(tmp_path):
    rng = np.random.default_rng(2)
    lines = ["exercise,mind,score"]
    for mind in range(7):  # 21 pairs; the higher the number, the wider the scores
        lines += [f"e{n},m{mind},{rng.normal(0, 0.02 + 0.03 * mind):.4f}" for n in range(30)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = called(path, "--difference", 0.02)
    assert "m5 − m6" in shown
    assert "m0 − m1" not in shown
    assert "11 more pairs take no more exercises" in shown
    assert len(planned(path, "--difference", 0.02)[0]["answers"]) == 21


def test_the_minds_are_floor_and_ceiling_if_none_is_named():
    (one,) = planned("--instrument", "matrices", "--pilot", 24, "--interval", 0.1)
    assert set(one["minds"]) == {"random", "rule-induction"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a pilot that was made"),
        (["x.csv", "--instrument", "lambda"], "name a pilot that was made"),
        (["x.csv", "--mind", "random"], "--mind and --pilot are for a pilot on the spot"),
        (["nowhere"], "holds no results"),
        (["--instrument", "lamda"], "no instrument 'lamda'"),
        (["--instrument", "lambda", "--interval", "0"], "a wanted interval is above 0"),
        (["--instrument", "lambda", "--reliability", "1"], "lies between 0 and 1"),
        (["--instrument", "lambda", "-m", "nobody"], "no mind 'nobody'"),
    ],
)
def test_wrong_words_are_one_sentence(words, said):
    with pytest.raises(Error, match=said) as caught:
        called(*words)
    assert "\n" not in str(caught.value)


def test_a_run_folder_knows_its_settings(folder):
    with pytest.raises(Error, match="leave out --set"):
        called(folder, "--set", "k=2")
