"""The authors' rows of P3, as they come and as they may go wrong."""

from __future__ import annotations

import numpy as np
import pytest

from allminds.core.errors import Error
from allminds.instruments.lambda_.rows import read_rows, read_space

GOOD = "3;3;12-|1-2--|1++2--;N Movements;1;Pattern;p2210;4;0;Human;4;After;9;Yes;No;0,25;-1;1;1;0"


def written(tmp_path, *lines):
    path = tmp_path / "rows.csv"
    path.write_text("\r\n".join(lines), encoding="utf-8")
    return path


def test_the_authors_file_has_20_tests_of_7_exercises_for_two_subjects(reference):
    rows = read_rows(reference / "lambda_2011_rows.csv")
    assert len(rows) == 280
    places = {(row.subject, row.test, row.cells) for row in rows}
    assert places == {
        (who, test, cells)
        for who in ("people", "q-learning")
        for test in range(20)
        for cells in range(3, 10)
    }


def test_both_subjects_met_the_same_environments(reference):
    rows = read_rows(reference / "lambda_2011_rows.csv")
    met = {
        who: {(row.test, row.cells): (row.space, row.pattern) for row in rows if row.subject == who}
        for who in ("people", "q-learning")
    }
    assert met["people"] == met["q-learning"]


def test_rows_have_the_published_lengths_and_means(reference):
    rows = read_rows(reference / "lambda_2011_rows.csv")
    for row in rows:
        assert row.steps == len(row.rewards) == 10 * (row.cells - 1)
        assert row.score == pytest.approx(np.mean(row.rewards), abs=1e-8)
        assert len(row.space) == row.cells
        assert all(len(exits) == row.actions for exits in row.space)
        assert all(exits[0] == cell for cell, exits in enumerate(row.space))  # action 0 stays
        assert all(to is None or 0 <= to < row.cells for exits in row.space for to in exits)
    means = {
        who: np.mean([row.score for row in rows if row.subject == who])
        for who in ("people", "q-learning")
    }
    assert means["people"] == pytest.approx(0.2369, abs=5e-5)
    assert means["q-learning"] == pytest.approx(0.2585, abs=5e-5)


def test_a_space_is_read_as_offsets_on_the_ring():
    assert read_space("12-|1-2--|1++2--", 3, 3) == ((0, 0, 2), (1, 0, 2), (2, 1, 0))
    assert read_space("2+|1+++++", 2, 3) == ((0, None, 1), (1, 0, None))


def test_rows_of_a_subject_with_as_many_cells_are_tests_one_after_another(tmp_path):
    machine = GOOD.replace("Human", "QLearning")
    rows = read_rows(written(tmp_path, GOOD, machine, "", ";;;", GOOD, ""))
    assert [(row.subject, row.test) for row in rows] == [
        ("people", 0),
        ("q-learning", 0),
        ("people", 1),
    ]
    assert rows[0].rewards == (-1, 1, 1, 0)
    assert rows[0].pattern == (2, 2, 1, 0)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (GOOD, "3;3;12-", "3 columns"),
        ("3;3;", ";3;", "nothing in the column for cells (column 1)"),
        ("p2210", "", "nothing in the column for pattern (column 7)"),
        ("Human", "Robot", "neither Human nor QLearning"),
        ("3;3;", "three;3;", "'three' in column 1"),
        ("0,25", "a quarter", "'a quarter' in column 16 is not a number"),
        ("0,25", "1,25", "the score 1.25 in column 16 lies outside"),
        ("0,25", "0,5", "not the mean of the rewards"),
        ("-1;1;1;0", "-1;1;1", "3 rewards for 4 steps"),
        ("-1;1;1;0", "-1;1;;0", "'' in column 19 is not a reward"),
        ("-1;1;1;0", "-1;1;2;0", "'2' in column 19 is not a reward"),
        ("p2210", "p2213", "action 3 of the pattern"),
        ("p2210", "2210", "not a pattern"),
        ("|1++2--", "", "the space has 2 cells"),
        ("1++2--", "1++3--", "has action 3 twice or outside"),
        ("1++2--", "1++1--", "has action 1 twice or outside"),
        ("1++2--", "1+-2--", "not action numbers"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line_with_its_number(tmp_path, old, new, said):
    assert old in GOOD
    path = written(tmp_path, GOOD, GOOD.replace(old, new, 1))
    with pytest.raises(Error) as caught:
        read_rows(path)
    assert "line 2: " in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_empty_is_said_to_be(tmp_path):
    with pytest.raises(Error, match="cannot read"):
        read_rows(tmp_path / "none.csv")
    with pytest.raises(Error, match="has no rows"):
        read_rows(written(tmp_path, ""))
