"""The command line as a user meets it: figures, errors in one line, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import allminds, assert_refused, started

SMALL = ["--set", "rows=5", "--set", "cols=5", "--set", "iterations=20"]


def test_evaluate_prints_json_in_the_promised_shape(tmp_path):
    done = allminds(
        "evaluate", "lambda-star", "--mind", "local-search", "--mind", "expert(intercept=false)",
        *SMALL, "--episodes", 200, "--seed", 7, "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == [
        "instrument", "settings", "seed", "episodes", "results", "yours", "folder",
    ]  # fmt: skip
    assert found["yours"] == ["local-search", "expert(intercept=false)"]
    assert found["folder"] == "runs/1"
    assert found["settings"]["rows"] == 5
    assert [(row["mind"], row["end"]) for row in found["results"]] == [
        ("local-search", None), ("expert(intercept=false)", None), ("random", "floor"),
        ("optimum", "ceiling"),
    ]  # fmt: skip
    keys = ["mind", "score", "stderr", "ci95", "normalised", "normalised_ci95", "learning",
            "episodes", "units", "clusters", "failed", "missing", "finished", "bounds", "coverage",
            "ranked", "end", "failures", "reason", "seconds"]  # fmt: skip
    low, high = (row["score"] for row in found["results"][2:])
    for row in found["results"]:
        assert list(row) == keys
        assert row["ci95"][0] < row["score"] < row["ci95"][1]
        assert row["normalised"] == pytest.approx((row["score"] - low) / (high - low))
        assert row["episodes"] == row["units"] == row["clusters"] == 200
        assert (row["failed"], row["missing"], row["coverage"], row["ranked"]) == (0, 0, 1, True)
        assert (row["finished"], row["bounds"], row["failures"]) == (None, None, {})


def test_what_cannot_be_estimated_is_null():
    done = allminds("evaluate", "lambda-star", "-m", "random", *SMALL, "--episodes", 1, "--json")
    row = json.loads(done.stdout)["results"][0]
    for name in ("stderr", "normalised", "normalised_ci95", "finished", "bounds", "reason"):
        assert row[name] is None, name


def test_a_single_exercise_has_a_wide_interval():
    """Bets of ½ on average come to ½ + y/2m, which is 40 at m = y/79, y being the score in 0..1."""
    done = allminds("evaluate", "lambda-star", "-m", "random", *SMALL, "--episodes", 1, "--json")
    for row in json.loads(done.stdout)["results"]:
        y = (row["score"] + 1) / 2
        ends = (-1 + 2 * y / 79, 1 - 2 * (1 - y) / 79)
        assert row["ci95"] == pytest.approx(ends, abs=1e-7)


def test_the_table_has_floor_and_ceiling():
    done = started("evaluate", "lambda-star", "-m", "local-search", *SMALL, "--episodes", 100)
    assert "floor" in done.stdout
    assert "ceiling" in done.stdout
    assert done.stderr == ""  # no progress in a pipe
    assert max(map(len, done.stdout.splitlines())) <= 80


BAD = [
    (["evaluate", "lambda-star", "--mind", "lokal-search"], "did you mean 'local-search'"),
    (["evaluate", "lambda-stars", "--mind", "random"], "did you mean 'lambda-star'"),
    (["evaluate", "lambda-star", "-m", "random", "--set", "rows=1"], "rows must be"),
    (["evaluate", "lambda-star", "-m", "random", "--set", "agents=200"], "do not fit"),
    (["evaluate", "lambda-star", "-m", "random", "--set", "iterations=0"], "iterations must be"),
    (["evaluate", "lambda-star", "-m", "random", "--set", "k=77"], "has K = 77"),
    (["evaluate", "lambda-star", "-m", "q-learning(alpha=1.01)"], "alpha must be in (0, 1]"),
    (["evaluate", "lambda-star", "-m", "random", "--set", "colour=red"], "no setting 'colour'"),
    (["evaluate", "lambda-star", "-m", "random", "--set", "rows"], "--set takes KEY=VALUE"),
    (["evaluate", "lambda-star", "-m", "no_such_module:Mind"], "No module named"),
    (["evaluate", "lambda-star", "-m", "random", "--episodes", "0"], "episodes must be"),
    (["evaluate", "lambda-star", "-m", "random", "--engine", "ray"], "no engine 'ray'"),
    (["evaluate", "lambda-star", "--json"], "name at least one mind"),
    (["evaluate", "lambda-star", "-m", "random", "--jobs", "0"], "--jobs"),
    (["evaluate"], "Missing argument"),
    (["evaluate", "lambda-star", "--no-such-option"], "No such option"),
    (["no-such-verb"], "No such command"),
    (["run", "no-such-plan.toml"], "cannot read the plan"),
    (["run", "--resume", "."], "not a run folder"),
    (["run", "--resume", ".", "--mind", "random"], "leave out"),
    (["report", "."], "not a run folder"),
    (["replay", ".", "--exercise", "1"], "not a run folder"),
    (["list", "mindss"], "did you mean 'minds'"),
    (["complexity", ""], "empty"),
    (["complexity", "abc", "--measure", "lz79"], "measure"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_one_line_and_exit_code_2(words, said, tmp_path):
    assert_refused(words, said, tmp_path)


def test_a_process_ends_with_what_the_command_says(tmp_path):
    words, said = BAD[0]
    done = started(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == allminds(*words, cwd=tmp_path).stderr
    assert said in done.stderr


PLAN = """
seed = 3
[[tests]]
instrument = "lambda-star"
minds = ["random", "local-search"]
episodes = 50
[tests.settings]
rows = 5
cols = 5
iterations = 10
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "plan.toml").write_text(PLAN)
    done = allminds("run", "plan.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "local-search" in done.stdout
    return folder / "runs" / "1"


def test_a_run_writes_its_folder_and_one_report(finished):
    files = {"SHA256SUMS", "lock", "plan.json", "report.html", "summary.json"}
    folders = {"curves", "records", "timings", "traces"}
    assert {path.name for path in finished.iterdir()} == files | folders
    assert "<html" in (finished / "report.html").read_text()


def test_a_report_can_be_written_again_elsewhere(finished, tmp_path):
    done = allminds("report", finished, "--out", tmp_path / "again.html")
    assert done.returncode == 0
    assert (tmp_path / "again.html").exists()


def test_replay_shows_every_step_and_agrees_with_the_record(finished):
    done = allminds("replay", finished, "--exercise", 7, "--mind", "local-search")
    assert done.returncode == 0, done.stderr
    assert "step 10" in done.stdout
    assert "as recorded" in done.stdout
    shown = json.loads(
        allminds("replay", finished, "--exercise", 7, "--mind", "local-search", "--json").stdout
    )
    assert len(shown["actions"]) == 10
    assert sum(reward for (reward,) in shown["rewards"]) / 10 == pytest.approx(shown["score"][0])
    for words, said in [
        (["--exercise", 50], "no exercise 50"),
        (["--exercise", 1, "--mind", "expert"], "not in this test"),
        (["--exercise", 1, "--test", 2], "no test 2"),
    ]:
        done = allminds("replay", finished, *words)
        assert done.returncode == 2
        assert said in done.stderr


def test_write_plan_prints_a_plan_that_runs(tmp_path):
    done = allminds("run", "--write-plan")
    from allminds.runs.plan import read_plan

    (tmp_path / "plan.toml").write_text(done.stdout)
    assert read_plan(tmp_path / "plan.toml") == read_plan("battery")


def test_complexity_in_text_and_json():
    assert allminds("complexity", "7,3,4,9,8,7,3,4,9,8,7,3,4,9,8,7,3,4,9,8", "--measure", "lz76"
                    ).stdout == "6\n"  # fmt: skip
    found = json.loads(allminds("complexity", "1001111011000010", "--json").stdout)
    assert found == {"measure": "lz76", "value": 6}


def test_list_and_version():
    assert "lambda-star" in allminds("list").stdout
    assert "q-learning" in allminds("list", "minds").stdout
    assert json.loads(allminds("list", "minds", "--json").stdout)["minds"]
    assert allminds("--version").stdout.startswith("allminds ")


def test_a_home_that_cannot_be_written_to_still_works(tmp_path):
    (tmp_path / "file").write_text("")
    done = started(
        "evaluate", "prisoners-dilemma", "-m", "random", "--episodes", 10, "--json",
        cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "file"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["episodes"] == 10


def test_an_interrupt_says_how_to_go_on(tmp_path):
    import signal
    import time

    (tmp_path / "plan.toml").write_text(PLAN.replace("50", "50000000"))
    child = subprocess.Popen(
        [sys.executable, "-m", "allminds", "run", "plan.toml", "--yes"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    records = tmp_path / "runs" / "1" / "records"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(records.glob("*.parquet")):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    try:
        _, said = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130
    assert "go on with: allminds run --resume runs/1" in said
    assert "Traceback" not in said
