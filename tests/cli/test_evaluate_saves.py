"""`allminds evaluate` saves its run like `allminds run`, and what a user may do with either."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from commands import allminds

from allminds.runs.store import RunFolder

SLOW = """
import pathlib
import time


class Slow:
    def act(self, observation, random):
        if not pathlib.Path("hurry").exists():
            time.sleep(0.02)
        return 5
"""


def test_an_evaluation_is_a_run_folder_that_other_commands_take(tmp_path):
    words = ("evaluate", "c-test", "matching-pennies", "-m", "random", "--episodes", 20)
    first = allminds(*words, "--report", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout.rstrip().splitlines()[-2:] == ["run: runs/1", "report: runs/1/report.html"]
    second = allminds(*words, cwd=tmp_path)
    assert "run: runs/2" in second.stdout
    made = RunFolder.open(tmp_path / "runs/1")
    assert made.plan.yours == ["random"]
    assert [test["instrument"] for test in made.summary()["tests"]] == [
        "c-test",
        "matching-pennies",
    ]
    assert (tmp_path / "runs/1/report.html").exists()
    assert not (tmp_path / "runs/2/report.html").exists()
    sums = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=made.path, capture_output=True)
    assert sums.returncode == 0


def test_nothing_is_saved_if_nothing_shall_be_or_something_was_wrong(tmp_path):
    words = ("evaluate", "c-test", "-m", "random", "--episodes", 20)
    assert "run: " not in allminds(*words, "--no-save", cwd=tmp_path).stdout
    assert allminds("evaluate", "c-test", "-m", "rnadom", cwd=tmp_path).returncode == 2
    assert allminds(*words, "--engine", "tcp://127.0.0.1:9", cwd=tmp_path).returncode == 2
    assert not list(tmp_path.iterdir())
    done = allminds(*words, "--no-save", "--report", cwd=tmp_path)
    assert (done.returncode, "--no-save writes nothing" in done.stderr) == (2, True)


def test_where_nothing_can_be_written_the_scores_are_shown_all_the_same(tmp_path):
    (tmp_path / "runs").write_text("in the way")
    done = allminds("evaluate", "c-test", "-m", "random", "--episodes", 20, cwd=tmp_path)
    assert done.returncode == 0
    assert "levin-search" in done.stdout
    assert done.stderr.startswith("allminds: the run is not saved: cannot write runs")
    assert done.stderr.count("\n") == 1
    named = allminds("evaluate", "c-test", "-m", "random", "--out", "runs/x", cwd=tmp_path)
    assert (named.returncode, named.stdout) == (2, "")
    report = allminds("evaluate", "c-test", "-m", "random", "--report", cwd=tmp_path)
    assert report.returncode == 2


@pytest.mark.slow
def test_an_interrupted_evaluation_is_resumed_like_a_run(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    words = ["evaluate", "lambda-star", "-m", "slow.py:Slow", "--set", "iterations=5",
             "--episodes", "400", "--jobs", "1"]  # fmt: skip
    job = subprocess.Popen(
        [sys.executable, "-m", "allminds", *words],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not list(tmp_path.glob("runs/1/records/*.parquet")) and time.monotonic() < end:
        time.sleep(0.1)
    os.kill(job.pid, signal.SIGINT)
    _, said = job.communicate(timeout=60)
    assert job.returncode == 130
    assert "allminds run --resume runs/1" in said
    before = RunFolder.open(tmp_path / "runs/1").records()
    assert 0 < len(before) < 3 * 400
    (tmp_path / "hurry").touch()
    done = allminds("run", "--resume", "runs/1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = RunFolder.open(tmp_path / "runs/1").summary()["tests"][0]["results"]
    assert {row["mind"]: row["episodes"] for row in made} == {
        "slow.py:Slow": 400, "random": 400, "optimum": 400,
    }  # fmt: skip


def test_a_plan_is_narrowed_and_a_stored_one_is_run_again(tmp_path):
    words = ("run", "--only", "c-test", "--only", "match*", "--episodes", 20, "--seed", 5)
    done = allminds(*words, "-m", "random", "--out", "one", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    one = RunFolder.open(tmp_path / "one")
    assert {test.instrument for test in one.plan.tests} == {"c-test", "matching-pennies"}
    assert ({test.episodes for test in one.plan.tests}, one.plan.seed) == ({20}, 5)
    assert one.plan.yours == ["random"]
    assert allminds("run", "one/plan.json", "--out", "two", cwd=tmp_path).returncode == 0
    two = RunFolder.open(tmp_path / "two")
    assert two.run == one.run
    assert two.records().equals(one.records())
    wrong = allminds("run", "--only", "c-tset", cwd=tmp_path)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "only: no test of the plan has an instrument 'c-tset'; did you mean" in wrong.stderr
    assert not (tmp_path / "runs").exists()
    mixed = allminds("run", "--resume", "one", "--seed", 3, cwd=tmp_path)
    assert "--resume takes the plan from its folder" in mixed.stderr


def test_against_is_the_same_as_from_python(tmp_path):
    import allminds as am

    words = ("evaluate", "stag-hunt", "-m", "stag", "--against", "hare", "--episodes", 20, "--json")
    found = json.loads(allminds(*words, cwd=tmp_path).stdout)
    there = am.evaluate("stag-hunt", ["stag"], against="hare", episodes=20)
    assert [row["mind"] for row in found["results"]] == ["stag, hare", "random, hare"]
    assert [row["score"] for row in found["results"]] == there.scores["score"].tolist()
    assert (found["yours"], found["folder"]) == (["stag"], "runs/1")
