"""Data never run code unsaid: each command refuses what it would have to import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import allminds.cli  # noqa: F401 - registers the commands
from allminds.cli.app import app
from allminds.core.errors import Error

MINE = """
from pathlib import Path
Path("ran").write_text("this file was run")
class Mine:
    def act(self, observation, random):
        return 5
"""
PLAN = """
[[tests]]
instrument = "lambda-star"
minds = ["random", "mine.py:Mine"]
episodes = 11
settings = { rows = 5, cols = 5, iterations = 10 }
"""


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """A run folder of somebody whose mind writes a file when it is imported."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    Path("plan.toml").write_text(PLAN)
    assert call("run", "plan.toml", "--out", "run", "--jobs", 1).exit_code == 0
    Path("ran").unlink()
    for name in [one for one in sys.modules if one.startswith("allminds_user_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "words",
    [["report", "run"], ["compare", "run"], ["export", "run", "o.csv"], ["plan-size", "run"]],
)
def test_results_are_read_without_the_mind(theirs, words):
    done = call(*words)
    assert done.exit_code == 0, done.exception
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "run", "--exercise", "1", "--mind", "mine.py:Mine"],
        ["run", "plan.toml", "--dry-run"],
        ["evaluate", "lambda-star", "-m", "mine.py:Mine", "--dry-run"],
        ["evaluate", "lambda-star", "-m", "program(touch,ran)", "--dry-run"],
        ["evaluate", "lambda-star", "-m", "policy(mine.zip)", "--dry-run"],
        ["evaluate", "mine.py:Mine", "-m", "random", "--dry-run"],
    ],
)
def test_code_is_refused_in_one_sentence(theirs, words):
    done = call(*words)
    assert isinstance(done.exception, Error)
    assert "runs it only if you trust it: --trust" in str(done.exception)
    assert not Path("ran").exists()


def test_trust_runs_it(theirs):
    words = ("replay", "run", "--exercise", 1, "--mind", "mine.py:Mine")
    assert call(*words, "--trust").exit_code == 0
    assert Path("ran").exists()


def test_a_name_in_a_table_imports_nothing(theirs):
    rows = "exercise,mind,score,instrument\n" + "".join(
        f"{n},{who},0.5,mine.py:Mine\n" for n in range(4) for who in "ab"
    )
    Path("their.csv").write_text(rows)
    call("compare", "their.csv")
    call("import", "their.csv", "--out", "imported")
    assert not Path("ran").exists()


def test_the_next_command_is_free_again(theirs):
    call("replay", "run", "--exercise", 1, "--mind", "mine.py:Mine")
    words = ("evaluate", "lambda-star", "-m", "mine.py:Mine", "--episodes", 3, "--jobs", 1)
    assert call(*words).exit_code == 0
