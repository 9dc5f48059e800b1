"""The tables of a study: whole, explained, and read by pandas, R and Psych-DS's rules."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from html import unescape

import pandas as pd
import pytest
from studio import CELLS, Person, Server, make, study
from typer.testing import CliRunner

from allminds.cli import app
from allminds.web.export import export_folder

EN = {"en": "How calm, =1+1?", "es": "¿Tranquilo?"}
QUESTIONS = [
    {"name": "calm", "kind": "scale", "text": EN, "when": "before",
     "rows": [{"value": "now", "text": EN}, {"value": "usually", "text": EN}]},
    {"name": "years", "kind": "number", "text": EN, "required": False},
]  # fmt: skip
TESTS = [
    {"instrument": "lambda", "settings": CELLS, "exercises": 2, "name": "cells", "practice": 1,
     "practice_settings": CELLS},
    {"instrument": "c-test", "exercises": 2},
]  # fmt: skip


@pytest.fixture
def folder(where, clock, tmp_path):
    """The export of four participants in two arms: three to the end, one half way."""
    made = study(
        tests=TESTS, questions=QUESTIONS, order="latin", arms=[{"name": "a"}, {"name": "b"}],
        bonus={"currency": "EUR", "base": 1, "per_point": {"c-test": 0.5}, "most": 2},
        careless={"exclude": ["unfinished"]}, ask=["age"],
    )  # fmt: skip
    _, links = make(where, made, 4, clock)
    server = Server(where, clock).start()
    try:
        for number, link in enumerate(links):
            person = Person(server)
            person.join(link)
            person.post("/consent", accept="yes", about_age="25-34")
            person.post("/answers", **{"calm.now": "2", "calm.usually": "5"})
            if number == 3:
                person.post("/next")
                person.choose()
                continue
            assert person.finish() == "questions"
            assert person.post("/answers", years="" if number else "33") == "done"
        export_folder(server.store, server.store.study(), tmp_path / "people")
    finally:
        server.stop()
    return tmp_path / "people"


def read(folder, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pd.read_csv(folder / f"{table}.csv")


def test_the_three_tables_belong_together_and_count_what_happened(folder):
    people, exercises, trials = (read(folder, t) for t in ("participants", "exercises", "trials"))
    assert list(people["label"]) == ["p0", "p1", "p2", "p3"]
    assert sorted(people["arm"]) == ["a", "a", "b", "b"]
    assert set(people["order"]) == {"cells c-test", "c-test cells"}
    assert list(people["calm.now"]) == [2] * 4, "numbers stay numbers"
    assert people["years"].tolist()[0] == 33
    assert set(people["age"]) == {"25-34"}
    assert people["bonus"].notna().tolist() == [True] * 3 + [False], "none while it runs"
    assert people["duration_s"].notna().sum() == 3
    assert people["excluded"].fillna("").tolist() == ["", "", "", "unfinished"]
    assert set(trials["label"]) == set(people["label"])
    counted = exercises[exercises["practice"] == 0]
    whole = counted[counted["outcome"] == "ok"].groupby("label").size()
    assert whole.to_dict() == {"p0": 4, "p1": 4, "p2": 4, "p3": 1}
    assert (exercises["outcome"] == "open").sum() == 1
    made = trials.groupby(["label", "idx"]).size()
    told = exercises.set_index(["label", "idx"])["steps"]
    assert (told[told > 0] == made).all()
    assert set(trials["test_position"]) == {1, 2}
    for name, number in (("cells", 0), ("c-test", 1)):
        assert set(trials.loc[trials["test_name"] == name, "test"]) == {number}
    assert trials["shown"].str.len().min() > 3
    same = trials.groupby("observation_hash")["shown"].nunique()
    assert (same == 1).all(), "one content has one hash"


def test_every_column_is_in_the_codebook(folder):
    book = read(folder, "codebook").fillna("")
    for table in ("participants", "exercises", "trials"):
        mine = book[book["table"] == table]
        assert list(mine["column"]) == list(read(folder, table).columns)
        assert (mine["meaning"] != "").all(), list(mine.loc[mine["meaning"] == "", "column"])


def test_it_is_a_dataset_by_the_rules_of_psych_ds(folder):
    """The rules: a JSON-LD description at the root; data files in data/, named by keywords and
    values, with a header row and no empty or repeated column; every column is a variable.
    """
    root = folder / "psych-ds"
    about = json.loads((root / "dataset_description.json").read_text(encoding="utf-8"))
    assert about["@type"] == "Dataset"
    assert about["@context"] == "https://schema.org/"
    for needed in ("name", "description", "variableMeasured"):
        assert about[needed]
    variables = [one["name"] for one in about["variableMeasured"]]
    assert len(variables) == len(set(variables))
    files = sorted((root / "data").iterdir())
    assert len(files) == 3
    for path in files:
        assert re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+_)+data\.csv", path.name)
        columns = path.read_text(encoding="utf-8").splitlines()[0].split(",")
        assert len(set(columns)) == len(columns)
        assert set(columns) <= set(variables)
        table = path.name.removeprefix("table-").removesuffix("_data.csv")
        assert path.read_bytes() == (folder / f"{table}.csv").read_bytes()


def test_r_reads_it_without_a_warning(folder):
    if shutil.which("Rscript") is None:
        pytest.skip("there is no R here: apt install r-base-core")
    code = (
        "options(warn=2); for (t in c('participants','exercises','trials','codebook')) {"
        "d <- read.csv(paste0(t, '.csv')); cat(t, nrow(d), ncol(d), '\\n') }"
    )
    out = subprocess.run(
        ["Rscript", "-e", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    for line in out.splitlines():
        table, rows, columns = line.split()
        assert (int(rows), int(columns)) == read(folder, table).shape


def test_the_report_and_compare_apply_the_rule_of_exclusion_and_show_both(where, clock, tmp_path):
    """One of nine is excluded; the page has the comparison with and without, and says who."""
    from allminds.evaluate import evaluate
    from allminds.runs.imports import read_together
    from allminds.runs.run import How
    from allminds.statistics.comparison import included

    check = {
        "name": "reads", "kind": "choice", "text": EN, "when": "before", "right": "yes",
        "options": [{"value": v, "text": EN} for v in ("yes", "no")],
    }  # fmt: skip
    test = {"instrument": "c-test", "exercises": 6, "pause_every": 0}
    made = study(tests=[test], questions=[check], careless={"exclude": ["attention"]})
    _, links = make(where, made, 9, clock)
    server = Server(where, clock).start()
    try:
        for number, link in enumerate(links):
            person = Person(server)
            person.join(link)
            person.post("/consent", accept="yes")
            person.post("/answers", reads="no" if number == 4 else "yes")
            person.post("/next")
            while person.screen == "exercise":
                person.choose(number)
            assert person.screen == "done"
        export_folder(server.store, server.store.study(), tmp_path / "people")
    finally:
        server.stop()
    evaluate("c-test", ["random"], episodes=6, seed=1, out=tmp_path / "run", how=How(jobs=1))
    frame = read_together([tmp_path / "people", tmp_path / "run"])
    kept, said = included(frame)
    assert said == "1 of 9 participants are left out by their study's rule (attention)"
    assert set(frame["mind"]) - set(kept["mind"]) == {"person/p4"}
    assert len(frame) - len(kept) == 6
    page = tmp_path / "page.html"
    words = ["report", str(tmp_path / "run"), str(tmp_path / "people"), "-o", str(page)]
    assert CliRunner().invoke(app, words).exit_code == 0
    text = " ".join(unescape(re.sub("<[^>]+>", " ", page.read_text("utf-8"))).split())
    assert said in text
    assert "8 people took 6 exercises" in text
    assert "by the study's rule of exclusion, and with everybody" in text
    both = ["compare", str(tmp_path / "run"), str(tmp_path / "people"), "--json"]
    ruled, whole = (CliRunner().invoke(app, [*both, *more]) for more in ([], ["--with-excluded"]))
    assert f"{said}; --with-excluded keeps them." in json.loads(ruled.stdout)["notes"]
    assert json.loads(ruled.stdout)["comparisons"] != json.loads(whole.stdout)["comparisons"]
