"""Questions as data sets, and what blind minds get on them."""

from __future__ import annotations

import csv
import errno
import json
from collections import Counter
from pathlib import Path

import pytest

from allminds.core.errors import Error
from allminds.instruments.series import datasets
from allminds.instruments.series.datasets import battery
from allminds.instruments.series.items import LETTERS


def test_both_files_have_the_promised_rows(tmp_path):
    found = datasets.chosen(range(7, 16), 90, ["induction", "abduction"], seed=2)
    datasets.write(found, tmp_path / "set", 2, 26)
    lines = [json.loads(line) for line in (tmp_path / "set/questions.jsonl").open()]
    with open(tmp_path / "set/questions.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [{key: str(value) for key, value in line.items()} for line in lines] == table
    assert list(lines[0]) == list(datasets.COLUMNS)
    assert Counter((line["form"], line["k"]) for line in lines) == {
        (form, k): 5 for form in ("induction", "abduction") for k in range(7, 16)
    }
    for line in lines:
        assert line["series"][line["blank"] - 1] == "_"
    assert len({line["series"] for line in lines}) == 90
    assert "90 questions" in (tmp_path / "set/README.md").read_text()


def test_the_seed_decides():
    def series(seed: int) -> list[str]:
        return [one.series for one in datasets.chosen([8, 9], 20, ["induction"], seed)]

    assert series(1) == series(1) != series(2)


def test_where_questions_are_few_the_others_give_more():
    found = datasets.chosen([7, 8], 520, ["induction"], seed=1)
    assert Counter(one.k for one in found) == {7: 231, 8: 289}


def test_more_than_the_bank_has_are_made_anew():
    found = datasets.chosen([9], 400, ["induction"], seed=1)
    assert len({one.series for one in found}) == 400
    assert {one.k for one in found} == {9}


def test_five_options_hold_the_answer_and_the_rivals(tmp_path):
    found = datasets.chosen([9, 12], 200, ["induction"], seed=1)
    for row, one in zip(datasets.rows(found, 1, 5), found, strict=True):
        assert len(set(row["options"])) == 5
        assert row["answer"] in row["options"]
        assert set(one.rivals[:4]) <= set(row["options"])


@pytest.mark.parametrize(
    ("ks", "count", "said"),
    [([3], 5, "no questions of k = 3"), ([7], 300, "there are 231 such"),
     ([8], 10_000, r"there are [\d,]+ induction questions of k = 8")],
)  # fmt: skip
def test_what_there_is_not_is_said(ks, count, said):
    with pytest.raises(Error, match=said):
        datasets.chosen(ks, count, ["induction"], seed=1)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Error, match="not empty"):
        datasets.write(datasets.chosen([7], 5, ["induction"], 1), tmp_path, 1, 26)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    real = Path.write_text

    def full(path, *args, **keywords):
        if path.name == "questions.csv":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, *args, **keywords)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(Error, match="No space left"):
        datasets.write(datasets.chosen([7], 5, ["induction"], 1), tmp_path / "set", 1, 26)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- blind minds


def test_a_shortcut_that_works_is_seen():
    options, answers = ["abcde", "bcdea", "cdeab", "deabc"] * 25, ["c", "d", "e", "a"] * 25
    found = {one.name: one for one in battery(options, answers)}
    assert found["place 3"].hits == 1
    assert not found["place 3"].at_chance
    assert found["place 1"].hits == 0
    assert found["the nearest to the others"].chance == 0.2


def test_learning_is_from_other_questions():
    """All answers the same: known from the others; each another: nothing can be known."""
    same = battery([LETTERS] * 40, ["q"] * 40)[0]
    different = battery([LETTERS] * 26, list(LETTERS))[0]
    assert (same.hits, same.at_chance) == (1.0, False)
    assert different.hits == 0
