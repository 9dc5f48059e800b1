"""Results made elsewhere: what comes in, what is refused, and in what words."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import allminds as am
from allminds.core.errors import Error
from allminds.runs.imports import import_results, read_results, read_together
from allminds.runs.plan import Plan
from allminds.runs.run import run

GOOD = "exercise,mind,score,K\ne1,ann,0.5,3\ne1,bob,-0.25,3\ne2,ann,1,4\ne2,bob,0,4\n"


@pytest.fixture
def write(tmp_path):
    def made(text, name="made.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


def test_a_csv_comes_in_as_the_common_table(write):
    frame = read_results(write(GOOD))
    assert list(frame.columns) == [
        "run", "exercise", "instrument", "settings", "seed", "index", "K", "mind", "traits",
        "group", "slot", "team", "steps", "score", "learning", "status", "reason",
    ]  # fmt: skip
    assert list(frame["exercise"]) == ["e1", "e1", "e2", "e2"]
    assert list(frame["mind"]) == ["ann", "bob", "ann", "bob"]
    assert list(frame["score"]) == [0.5, -0.25, 1.0, 0.0]
    assert list(frame["K"]) == [3, 3, 4, 4]
    assert set(frame["status"]) == {"ok"}
    assert list(frame["index"]) == [0, 0, 1, 1]


def test_an_import_is_a_folder_that_says_where_it_comes_from(write, tmp_path):
    source = write(GOOD)
    out = import_results(source, tmp_path / "in" / "people")
    files = ["SHA256SUMS", "imported.json", "records.parquet"]
    assert sorted(path.name for path in out.iterdir()) == files
    made = json.loads((out / "imported.json").read_text())
    assert made["source"] == str(source)
    assert (made["format"], made["rows"], made["exercises"]) == ("csv", 4, 2)
    assert made["minds"] == ["ann", "bob"]
    assert len(made["sha256"]) == 64
    pd.testing.assert_frame_equal(read_results(out), read_results(source), check_dtype=False)


def test_an_import_leaves_nothing_behind_when_it_fails(write, tmp_path):
    with pytest.raises(Error):
        import_results(write(GOOD + "e3,ann,2,1\n"), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.csv"]


def test_a_broken_write_leaves_nothing_behind(write, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(Error, match="No space left on device"):
        import_results(write(GOOD), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.csv"]


def test_a_folder_that_holds_something_is_not_written_into(write, tmp_path):
    source = write(GOOD)
    import_results(source, tmp_path / "out")
    with pytest.raises(Error, match="is not empty"):
        import_results(source, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    import_results(source, tmp_path / "empty")
    with pytest.raises(Error, match="no format 'xls'"):
        import_results(source, tmp_path / "new", "xls")


def test_known_columns_are_taken_as_what_they_are(write):
    frame = read_results(
        write(
            "exercise, mind, score, status, slot, repeat, test, person, instrument\n"
            'e1,"a, b",0.5,ok,0,1,1,ann,quiz\n'
            'e1,"a, b",0.7,,1,1,1,ann,quiz\n'
            'e1,"a, b",,timeout,0,2,1,ann,quiz\n'
        )
    )
    assert set(frame["mind"]) == {"a, b"}
    assert sorted(frame["status"]) == ["ok", "ok", "timeout"]
    assert frame["score"].isna().sum() == 1
    assert sorted(frame["slot"]) == [0, 0, 1]
    assert list(frame["repeat"].sort_values()) == [1, 1, 2]
    assert set(frame["instrument"]) == {"quiz"}
    assert set(frame["person"]) == {"ann"}


def test_exercises_of_ours_say_what_they_are(write):
    line = "lambda-star@3/0a1b2c/7/12,ann,0.5\n"
    [row] = read_results(write("exercise,mind,score\n" + line)).to_dict("records")
    place = (row["instrument"], row["settings"], row["seed"], row["index"])
    assert place == ("lambda-star", "0a1b2c", 7, 12)


def test_gaps_in_a_complexity_are_gaps(write):
    frame = read_results(write("exercise,mind,score,K\ne1,a,0,3\ne2,a,0,\n"))
    assert frame["K"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; line 1 must name the columns"),
        ("exercise,mind,score\n", "is empty: there is no result below line 1"),
        ("exercise,mind\ne1,a\n", "line 1: there is no column 'score' among exercise, mind"),
        ("exercise;mind;score\ne1;a;0,5\n", "columns are parted by commas"),
        ("exercise,mind,score,score\ne1,a,1,1\n", "line 1: column 4 is named 'score' like another"),
        ("exercise,mind,score,\ne1,a,1,1\n", "line 1: column 4 has no name"),
        ("exercise,mind,score\ne1,a,0.5\ne2,a,1.5\n", "line 3: score 1.5 is above 1"),
        ("exercise,mind,score\ne1,a,-1.5\n", "line 2: score -1.5 is below -1"),
        ("exercise,mind,score\n\ne1,a,high\n", "line 3: score 'high' is not a number"),
        ("exercise,mind,score\ne1,a,nan\n", "line 2: score 'nan' is not a number"),
        ("exercise,mind,score\ne1,a,\n", "line 2: no score"),
        ("exercise,mind,score\ne1,,1\n", "line 2: mind is missing"),
        ("exercise,mind,score\n,a,1\n", "line 2: exercise is missing"),
        ("exercise,mind,score\ne1,a\n", "line 2: 2 values for the 3 columns"),
        ("exercise,mind,score\ne1,a,1\ne1,a,1\n", "line 3: the same play as in line 2"),
        ("exercise,mind,score,repeat\ne1,a,1,0\ne1,a,1,0\n", "line 3: the same play as in line 2"),
        ("exercise,mind,score,status\ne1,a,1,okay\n", "line 2: status 'okay' is unknown"),
        ("exercise,mind,score,slot\ne1,a,1,-1\n", "line 2: slot '-1' is not a whole number"),
        ("exercise,mind,score,K\ne1,a,1,3\ne2,a,1,x\n", "line 3: 'x' in column K is not a number"),
        ('exercise,mind,score\n"e1,a,1\n', "line 2: unexpected end of data"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_number(write, text, said):
    with pytest.raises(Error) as caught:
        read_results(write(text))
    assert said in str(caught.value)
    assert "made.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_results(tmp_path):
    with pytest.raises(Error, match="holds no results"):
        read_results(tmp_path)
    with pytest.raises(Error, match="holds no results"):
        read_results(tmp_path / "none")
    (tmp_path / "bytes.csv").write_bytes(b"exercise,mind,score\n\xff\xfe,a,1\n")
    with pytest.raises(Error, match="not text in UTF-8"):
        read_results(tmp_path / "bytes.csv")


def test_damaged_folders(write, tmp_path):
    out = import_results(write(GOOD), tmp_path / "out")
    (out / "records.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(Error, match="is damaged"):
        read_results(out)
    (out / "imported.json").write_text('{"schema": 99}')
    with pytest.raises(Error, match="is damaged"):
        read_results(out)


def test_run_folders_are_read_as_their_records(tmp_path):
    settings = {"rows": 5, "cols": 5, "iterations": 10}
    test = {"instrument": "lambda-star", "settings": settings, "minds": ["random"], "episodes": 10}
    folder = run(Plan.model_validate({"tests": [test], "seed": 3}), tmp_path / "run")
    frame = read_results(tmp_path / "run")
    pd.testing.assert_frame_equal(frame, folder.records().drop(columns="test"))


# ---------------------------------------------------------------- several at once


def test_a_mind_with_the_same_scores_in_two_places_is_one_mind(write):
    one = write("exercise,mind,score\ne1,floor,0\ne2,floor,0.1\ne1,ann,0.5\n", "one.csv")
    two = write("exercise,mind,score\ne1,floor,0\ne3,floor,0.2\ne1,bob,0.25\n", "two.csv")
    whole = read_together([one, two])
    assert sorted(whole["mind"].unique()) == ["ann", "bob", "floor"]
    assert sorted(whole[whole["mind"] == "floor"]["exercise"]) == ["e1", "e2", "e3"]


def test_a_mind_with_other_scores_in_another_place_is_told_apart(write):
    one = write("exercise,mind,score\ne1,ann,0.5\ne1,bob,0\n", "one.csv")
    two = write("exercise,mind,score\ne1,ann,0.75\n", "two.csv")
    minds = sorted(read_together([one, two])["mind"].unique())
    assert minds == [f"ann in {one}", f"ann in {two}", "bob"]


def test_a_mind_on_another_instrument_is_the_same_mind(write):
    one = write("exercise,mind,score,instrument\ne1,ann,0.5,c-test\n", "one.csv")
    two = write("exercise,mind,score,instrument\ne9,ann,0.75,matrices\n", "two.csv")
    assert read_together([one, two])["mind"].tolist() == ["ann", "ann"]


def test_a_line_up_is_compared_by_its_first_slot(tmp_path):
    test = {"instrument": "prisoners-dilemma", "minds": ["tit-for-tat,defect", "defect"]}
    plan = am.Plan(tests=[am.Test(**test, episodes=3)])
    am.run(plan, tmp_path / "run")
    whole = read_together([tmp_path / "run"])
    means = whole.groupby("mind")["score"].mean().round(2).to_dict()
    assert means == {"tit-for-tat, defect": -0.64, "defect": -0.6}


def test_one_place_twice_is_an_error(write):
    path = write(GOOD)
    with pytest.raises(Error, match="named twice"):
        read_together([path, path])


# ---------------------------------------------------------------- the authors' rows


def test_the_authors_rows_come_in(reference, tmp_path):
    out = import_results(reference / "lambda_2011_rows.csv", tmp_path / "p3", "lambda-2011")
    frame = read_results(out)
    assert len(frame) == 280
    assert frame["exercise"].nunique() == 140
    assert (frame.groupby("exercise")["mind"].nunique() == 2).all()
    assert frame.groupby("mind")["person"].nunique().to_dict() == {"people": 20, "q-learning": 20}
    corr = {
        m: np.corrcoef(rows["K_prefix"], rows["score"])[0, 1] for m, rows in frame.groupby("mind")
    }
    assert corr["people"] == pytest.approx(-0.257, abs=5e-4)
    assert corr["q-learning"] == pytest.approx(-0.444, abs=5e-4)
    with pytest.raises(Error, match="columns are parted by commas"):
        read_results(reference / "lambda_2011_rows.csv")
