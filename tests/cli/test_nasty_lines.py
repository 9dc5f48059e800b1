"""Nasty command lines: one sentence each, no traceback, exit code 2, nothing written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands import allminds

from allminds.core.errors import printable

NASTY = [
    ["study", "invite", "postgresql://u:p@[::1", "--count", "1"],
    ["evaluate", "lambda-star", "-m", "random", "--set", "k=2..999999999"],
    ["evaluate", "lambda-star", "-m", "random", "--set", f"k=2..{'9' * 5000}"],
    ["evaluate", "c-test", "-m", "random", "--set", "form=generated", "--set", "k=2..999999999"],
    ["plan-size", "--instrument", "c-test", "--pilot", "1000000000000"],
    ["testbed", "prisoners-dilemma", "--episodes", "1000000000000", "--sampled"],
    ["make", "series", "--count", "999999999999", "--out", "x"],
    ["make", "matrices", "--count", "999999999999", "--out", "x"],
    ["make", "items", "c-test", "--count", "1000000000000", "--out", "x"],
    ["evaluate", "lambda-star", "-m", "\x1b[31mred\x1b[0m"],
    ["evaluate", "\x1b]0;title\x07", "-m", "random"],
    ["predict", "--ability", "1e400", "--difficulty", "5"],
]


@pytest.mark.parametrize("words", NASTY, ids=[" ".join(words)[:60] for words in NASTY])
def test_it_is_one_sentence(words, tmp_path):
    done = allminds(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr + done.stdout
    assert not list(tmp_path.iterdir())


def test_a_run_without_end_wants_a_yes(tmp_path):
    small = ["--set", "rows=5", "--set", "cols=5", "--set", "iterations=5"]
    done = allminds("evaluate", "lambda-star", "-m", "random", *small, "--episodes", 10**12)
    assert done.returncode == 2
    assert "1,000,000,000,000 exercises would take about" in done.stderr
    assert "--yes" in done.stderr


def test_a_plan_without_end_wants_a_yes(tmp_path):
    small = "settings = {rows = 5, cols = 5, iterations = 5}"
    plan = f'[[tests]]\ninstrument = "lambda-star"\nminds = ["random"]\n{small}\n'
    (tmp_path / "plan.toml").write_text(f"{plan}episodes = 1_000_000_000_000\n")
    done = allminds("run", "plan.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "1,000,000,000,000 exercises would take about" in done.stderr
    assert "--yes" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


def test_what_a_mind_says_steers_no_terminal(tmp_path):
    (tmp_path / "loud.py").write_text(
        "def loud(seen):\n    raise ValueError('\\x1b[2Jgone\\x07')\n", encoding="utf-8"
    )
    words = ["-m", "loud.py:loud", "--set", "rows=5", "--set", "cols=5", "--episodes", "3"]
    done = allminds("evaluate", "lambda-star", *words, "--jobs", 1, cwd=tmp_path)
    assert "gone" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert printable("a\x1b[0mb\n") == "a\\x1b[0mb\n"


def test_the_name_of_a_file_that_is_written_steers_no_terminal(tmp_path):
    out = "\u202elmth.evil"  # a terminal would show it from right to left
    words = ["--only", "paired hits", "--repeats", "3", "--out", out]
    done = allminds("calibrate", *words, cwd=tmp_path)
    assert (tmp_path / out).is_file()
    assert "page: \\x202elmth.evil" in done.stdout
    assert out not in done.stdout + done.stderr


def test_a_spreadsheet_computes_nothing_of_an_export(tmp_path):
    rows = "exercise,mind,score\n1,=1+2,0.5\n1,@SUM(A1),0.25\n"
    (tmp_path / "in.csv").write_text(rows)
    assert allminds("export", "in.csv", "out.csv", cwd=tmp_path).returncode == 0
    cells = (tmp_path / "out.csv").read_text().replace("\n", ",").split(",")
    assert "'=1+2" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "@"))]


@pytest.mark.slow
def test_a_sample_of_the_thousand_nasty_lines(tmp_path):
    """All of them by benchmarks/nasty.py, which says what a line must not do."""
    command = Path(__file__).parents[2] / "benchmarks" / "nasty.py"
    done = subprocess.run(
        [sys.executable, command, "--count", "40", "--seed", "2"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none failed" in done.stdout
