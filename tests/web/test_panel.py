"""A whole study: taken by careful, careless, quitting and returning participants, then analysed."""

from __future__ import annotations

import json
import re
import warnings
from html import unescape
from pathlib import Path

import pandas as pd
import panel
import pytest
from studio import make
from typer.testing import CliRunner

from allminds.cli import app
from allminds.evaluate import evaluate
from allminds.runs.run import How
from allminds.web.export import export_folder
from allminds.web.store import Store


def words(page: Path) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", page.read_text("utf-8"))).split())


@pytest.mark.slow
def test_a_study_is_taken_closed_exported_and_reported(where, clock, tmp_path):
    """All clickers are excluded, no careful participant is marked; benchmarks/participants.py
    has the rates among more of them.
    """
    plan, who = panel.made(panel.study(12)), panel.kinds(12)
    assert set(who) == set(panel.KINDS)
    _, links = make(where, plan, 12, clock)
    ends = dict(enumerate(panel.take_all(where, plan, links, clock, who)))
    assert [end for kind, end in ends.values() if kind != "quitting"] == ["done"] * 11
    store = Store(where)
    try:
        store.set_state(store.study(), "closed", ends=clock())
        clock.now += 25 * 3_600_000
        export_folder(store, store.study(), tmp_path / "people", now=clock())
    finally:
        store.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        people = pd.read_csv(tmp_path / "people" / "participants.csv")
    for name in ("marks", "excluded"):
        people[name] = people[name].fillna("")
    assert people["label"].tolist() == [f"p{n}" for n in range(12)]
    assert people["arm"].value_counts().to_dict() == {"signs": 6, "numbers": 6}
    assert set(people["order"].value_counts()) == {6}
    kind = pd.Series(who)
    assert set(people.loc[kind.isin(["careful", "returning"]), "marks"]) == {""}
    assert (people.loc[kind.isin(["clicker", "liar"]), "excluded"] != "").all()
    assert set(people.loc[kind == "quitting", "marks"]) == {"unfinished"}
    assert (people["bonus"].isna() == (kind == "quitting")).all()
    assert people["bonus"].dropna().between(0, 6).all()
    evaluate(
        "c-test", ["random", "mode"], episodes=8, seed=77, out=tmp_path / "run", how=How(jobs=1),
        settings={"form": "generated", "options": 5},
    )  # fmt: skip
    page, out = tmp_path / "page.html", (people["excluded"] != "").sum()
    call = ["report", str(tmp_path / "run"), str(tmp_path / "people"), "-o", str(page)]
    assert CliRunner().invoke(app, call).exit_code == 0
    assert f"{out} of 12 participants are left out by their study's rule" in words(page)


STUDY = """
slug = "one"
languages = ["en"]
participants = 5
retention = 2100-01-01
seed = 2914603817265043981
title = { en = "One" }
consent = { version = "1", text = { en = "Agree?" } }
[[tests]]
instrument = "c-test"
exercises = 6
practice = 0
settings = { form = "generated", options = 5 }
"""


def test_one_command_leads_from_a_study_and_a_run_to_the_page(tmp_path, monkeypatch):
    """`allminds report STUDY.toml RUN`: the database beside the file is exported on the way."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    run = CliRunner().invoke
    missing = run(app, ["report", "study.toml", "run", "-o", "page.html"])
    assert "there is no database study.db beside study.toml" in str(missing.exception)
    took = ["study", "simulate", "study.toml", "--participants", "5", "--database", "study.db"]
    assert run(app, took).exit_code == 0
    evaluate(
        "c-test", ["random"], episodes=6, seed=2914603817265043981, out=Path("run"),
        settings={"form": "generated", "options": 5}, how=How(jobs=1),
    )  # fmt: skip
    made = run(app, ["report", "study.toml", "run", "-o", "page.html"])
    assert made.exit_code == 0, made.output
    assert "5 people took 6 exercises" in words(Path("page.html"))
    compared = run(app, ["compare", "study.toml", "run", "--json"])
    assert json.loads(compared.stdout)["comparisons"]
    assert sorted(path.name for path in Path().iterdir()) == [
        "page.html", "run", "study.db", "study.toml",
    ]  # fmt: skip
