"""make series, complexity by levin and reproduce as a user meets them."""

from __future__ import annotations

import json

import pytest
from commands import allminds, assert_refused


def test_series_are_made(tmp_path):
    plot = tmp_path / "letters.svg"
    words = ("--k", "7..9", "--count", 30, "--out", tmp_path / "set", "--plot", plot)
    done = allminds("make", "series", *words)
    assert done.returncode == 0, done.stderr
    assert plot.read_text().startswith("<svg")
    assert "30 questions" in done.stdout
    lines = [json.loads(line) for line in (tmp_path / "set/questions.jsonl").open()]
    assert {line["k"] for line in lines} == {7, 8, 9}
    again = allminds("make", "series", "--out", tmp_path / "set")
    assert (again.returncode, "not empty" in again.stderr) == (2, True)


def test_levin_says_k_the_program_and_what_comes_next():
    done = allminds("complexity", "abcdabcd", "--measure", "levin")
    assert "k = 12" in done.stdout
    assert "next: a" in done.stdout
    found = json.loads(allminds("complexity", "abcde", "--measure", "levin", "--json").stdout)
    assert (found["measure"], found["k"], found["next"]) == ("levin", 7, "f")
    assert found["value"] == pytest.approx(6.7004, abs=1e-4)
    assert found["program"] == "WRITE; SUCC; LOOPTOP"


def test_a_figure_of_a_paper_is_made(tmp_path):
    done = allminds("reproduce", "chmait-2017:figure-4", "--out", tmp_path / "page.html", "--json")
    assert json.loads(done.stdout) == {"page": str(tmp_path / "page.html"), "claims": []}
    assert "<svg" in (tmp_path / "page.html").read_text()


BAD = [
    (["make", "series", "--k", "3", "--out", "x"], "no questions of k = 3"),
    (["make", "series", "--k", "a..b", "--out", "x"], "takes a range"),
    (["make", "series", "--form", "odd", "--out", "x"], "form must be 'induction'"),
    (["make", "series", "--options", "4", "--out", "x"], "choose 26"),
    (["make", "series", "--k", "7", "--count", "9999", "--out", "x"], "there are 231"),
    (["complexity", "ab1", "--measure", "levin"], "'1' is not a letter"),
    (["complexity", "", "--measure", "levin"], "two letters or more"),
    (["complexity", "", "--measure", "lz76"], "empty"),
    (["reproduce", "p77"], "no paper 'p77'"),
    (["list", "wonders"], "cannot list"),
]


@pytest.mark.parametrize(("words", "said"), BAD)
def test_mistakes_are_one_line(words, said, tmp_path):
    assert_refused(words, said, tmp_path)
