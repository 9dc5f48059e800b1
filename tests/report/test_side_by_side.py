"""Several runs in one report: paired where they have the same exercises, marked where they meet."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from html_page import Page
from typer.testing import CliRunner

from allminds.cli.app import app
from allminds.core.errors import Error
from allminds.report import data, write_report
from allminds.report.sections import groups, profile, runs
from allminds.report.words import number
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, run
from allminds.runs.store import RunFolder

HERE = How(jobs=1)
SMALL = {"rows": 5, "cols": 5, "iterations": 10, "agents": 2}


def torus(minds, episodes, **settings):
    return Test(instrument="lambda-star", minds=minds, episodes=episodes, settings=SMALL | settings)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    where = tmp_path_factory.mktemp("runs")
    first = [torus(["random", "local-search", "stigmergy", "optimum"], 44)]
    first.append(Test(instrument="stag-hunt", minds=["random", "stag"], episodes=10))
    second = [torus(["random", "local-search", "crowd", "optimum"], 22)]
    second.append(torus(["optimum"], 22, range=2))
    one = run(Plan(tests=first), where / "one", HERE)
    other = run(Plan(tests=second, time_limit=5.0), where / "other", HERE)
    return one, other


@pytest.fixture(scope="module")
def tests(folders):
    return data.read_tests(*folders)


@pytest.fixture(scope="module")
def page(folders, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "both.html"
    return Page(write_report(list(folders), out).read_text("utf-8"))


def test_tests_with_the_same_exercises_are_one(tests):
    assert [data.label for data in tests] == [
        "lambda-star, range 1", "stag-hunt", "lambda-star, range 2"
    ]  # fmt: skip
    assert tests[0].test.episodes == 44
    assert [[source.run for source in data.sources] for data in tests] == [[1, 2], [1], [2]]


def test_minds_in_both_runs_are_marked_everywhere_and_others_are_not(tests):
    assert tests[0].minds == [
        "random · run 1", "local-search · run 1", "stigmergy", "optimum · run 1",
        "random · run 2", "local-search · run 2", "crowd", "optimum · run 2",
    ]  # fmt: skip
    assert tests[1].minds == ["random · run 1", "stag"]
    assert tests[2].minds == ["optimum · run 2"]


def test_every_mind_keeps_the_scores_of_its_own_run(tests, folders):
    for source in tests[0].sources:
        rows = folders[source.run - 1].records()
        rows = rows[(rows["test"] == 0)].groupby(["mind", "index"], observed=True)["score"].mean()
        for name, shown in source.names.items():
            mine = tests[0].scores[:, tests[0].minds.index(shown)]
            assert mine[~np.isnan(mine)] == pytest.approx(rows[name].to_numpy())


def test_the_same_mind_on_the_same_exercises_is_the_same(tests, page, folders):
    found = runs._pairs(tests[0])
    assert [row["mind"] for row in found] == ["random", "local-search", "optimum"]
    for row in found:
        assert (row["gain"].mean, row["gain"].differs, row["gain"].units) == (0.0, False, (22,))
        assert row["gain"].verdict == "undecided"  # what never differs proves nothing
    shown = page.tables["cards again"][0][1:]
    assert [row[3:] for row in shown] == [["the same", "–", "22"]] * 3


def test_a_mind_that_did_otherwise_in_the_later_run_is_not_the_same(tests):
    scores = tests[0].scores.copy()
    place = tests[0].minds.index("local-search · run 2")
    change = np.where(np.arange(22) % 2, 0.25, -0.125)
    scores[:22, place] += change
    found = {row["mind"]: row for row in runs._pairs(replace(tests[0], scores=scores))}
    gain = found["local-search"]["gain"]
    assert found["local-search"]["runs"] == "run 2 − run 1"
    assert gain.differs
    levels = tests[0].about[2, :22]
    means = [change[levels == level].mean() for level in np.unique(levels)]
    assert gain.mean == pytest.approx(np.mean(means))
    assert gain.interval[0] < gain.mean < gain.interval[1]
    assert not found["random"]["gain"].differs


def test_what_differs_is_said(page, folders):
    assert "The time limit is 5 s in run 2, 10 s in run 1." in page.text
    assert [row[1] for row in page.tables["runs"][0][1:]] == ["one", "other"]
    assert [row[-1] for row in page.tables["given"][0][1:]] == ["yes", "–", "–"]
    assert page.text.count(", a hash of the plan") == 2


def test_another_seed_means_other_exercises(folders, tmp_path):
    again = run(Plan(tests=folders[0].plan.tests[1:], seed=2), tmp_path / "run", HERE)
    found = data.read_tests(folders[0], again)
    assert [one.label for one in found][1:] == ["stag-hunt (test 2)", "stag-hunt (test 3)"]
    said = " ".join(runs._differences([folders[0], again]))
    assert "Run 2 has seed 2 and run 1 has 1" in said


def test_the_same_plan_twice_is_said_to_be_the_same(folders):
    assert runs._differences([folders[0], folders[0]]) == [
        "Run 2 has the plan of run 1, to the letter."
    ]


def test_a_group_is_set_against_its_members_of_its_own_run(tests):
    found = {group.mind: group for group in groups.groups_of(tests[0])}
    assert list(found["stigmergy"].kinds) == ["local-search · run 1"]
    assert list(found["crowd"].kinds) == ["local-search · run 2"]


def test_floors_of_both_runs_are_floors(tests):
    kinds = {place.mind: place.kind for place in profile.places(tests[0])}
    assert kinds["random · run 1"] == kinds["random · run 2"] == "floor"
    assert kinds["optimum · run 1"] == kinds["optimum · run 2"] == "ceiling"
    assert kinds["local-search · run 2"] == "mind"


def test_a_report_of_no_run_is_an_error(tmp_path):
    with pytest.raises(Error, match="no run to report"):
        write_report([], tmp_path / "report.html")


def test_records_of_an_older_run_have_no_line_ups(folders, tests, tmp_path):
    """Then a record is of the mind that it names."""
    shutil.copytree(folders[0].path, tmp_path / "old")
    for part in (tmp_path / "old" / "records").iterdir():
        table = pq.read_table(part)
        if "line_up" in table.column_names:
            pq.write_table(table.drop_columns(["line_up"]), part)
    (tmp_path / "old" / "SHA256SUMS").unlink()  # nor had such a run sums of its files
    made = json.loads((tmp_path / "old" / "plan.json").read_text("utf-8"))
    del made["sums"]
    (tmp_path / "old" / "plan.json").write_text(json.dumps(made), "utf-8")
    old = data.read_tests(RunFolder.open(tmp_path / "old"))
    new = data.read_tests(folders[0])
    assert [one.points for one in old] == [one.points for one in new]
    assert [one.traits for one in old] == [one.traits for one in new]


# ---------------------------------------------------------------- the command


def told(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_the_command_writes_one_file_for_several_runs(folders, tmp_path):
    out = tmp_path / "both.html"
    done = told(*(folder.path for folder in folders), "-o", out)
    assert done.exit_code == 0, done.output
    assert "2 runs side by side" in out.read_text("utf-8")


def test_the_command_takes_weights(folders, tmp_path):
    out = tmp_path / "one.html"
    weights = "lambda-star=1,stag-hunt=0.5"
    assert told(folders[0].path, "-o", out, "--weights", weights).exit_code == 0
    page = Page(out.read_text("utf-8"))
    assert "Weights: lambda-star 1, stag-hunt 0.5." in page.text
    (row,) = page.tables["total"][0][1:]  # random alone took both, and is the floor of both
    assert [row[0], *row[2:]] == ["random", number(0.0), "–"]


@pytest.mark.parametrize("weights", ["c-test", "=2", "a=b", "lambda-star=1,"])
def test_weights_that_cannot_be_read_are_an_error(folders, weights):
    done = told(folders[0].path, "--weights", weights)
    assert isinstance(done.exception, Error)
    assert "--weights takes" in str(done.exception)


def test_several_runs_need_a_file_to_write_to(folders):
    done = told(*(folder.path for folder in folders))
    assert "name it with --out" in str(done.exception)
