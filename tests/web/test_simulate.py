"""Machines take studies through HTTP, and score what they score in the runner, to the last bit."""

from __future__ import annotations

import pytest
from studio import CELLS, study

from allminds.core.errors import Error
from allminds.web.checking import read_study
from allminds.web.simulate import fitting, simulate

STAR = {"rows": 3, "cols": 3, "iterations": 8}
STAIRS = {"time": 24, "steps": 8, "cells": 4}
TESTS = {
    "lambda": ({"settings": {"form": "test"}, "exercises": 1}, "q-learning"),
    "lambda-star": ({"settings": STAR, "exercises": 2}, "q-learning(sessions=3)"),
    "lambda-staircase": ({"settings": STAIRS, "practice": 0}, "q-learning"),
    "c-test": ({"settings": {"form": "generated", "k": "7..9"}, "exercises": 3}, "pattern"),
    "matrices": ({"exercises": 3}, "rule-induction"),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_machine_at_the_browser_scores_what_it_scores_in_the_runner(name, tmp_path):
    given, mind = TESTS[name]
    made = study(tests=[{"instrument": name, "practice": 1, "check": True} | given])
    found = simulate(made, [mind], 2, str(tmp_path / "trial.db"), jobs=2)
    assert found["minds"] == [mind]
    assert found["as_played"] == 2
    assert found["as_in_the_runner"]


def test_q_learning_through_http_on_both_databases(where):
    """Several actions may lead to one cell: the server plays the lowest, to the same effect."""
    given = {"instrument": "lambda", "settings": CELLS | {"cells": 3, "actions": 3, "steps": 12}}
    made = study(tests=[given | {"exercises": 4}], seed=77)
    found = simulate(made, ["q-learning"], 2, where, jobs=2)
    assert (found["as_played"], found["as_in_the_runner"]) == (2, True)


def test_the_runner_itself_has_the_same_scores(tmp_path):
    """Not the loop that drives the browser: the command that people use."""
    from allminds.runs.imports import read_results
    from allminds.runs.plan import Plan
    from allminds.runs.run import How, run

    settings = CELLS | {"actions": 3, "steps": 12}
    test = {"instrument": "lambda", "settings": settings}
    made = study(tests=[test | {"exercises": 3}], seed=9)
    simulate(made, ["q-learning"], 1, str(tmp_path / "a.db"), tmp_path / "people")
    people = read_results(tmp_path / "people").set_index("exercise")["score"]
    plan = Plan(seed=9, tests=[test | {"minds": ["q-learning"], "episodes": 3}])
    run(plan, tmp_path / "run", How(jobs=1))
    programs = read_results(tmp_path / "run").set_index("exercise")["score"]
    assert people.to_dict() == programs.to_dict()


def test_minds_are_matched_with_tests_and_the_floor_fills_in():
    made = study(tests=[{"instrument": "lambda", "exercises": 1}, {"instrument": "c-test"}])
    assert fitting(made, ["q-learning"]) == ["q-learning", "random"]
    assert fitting(made, ["pattern", "q-learning"]) == ["q-learning", "pattern"]
    with pytest.raises(Error, match="cannot take any test"):
        fitting(made, ["rule-induction"])


def test_the_example_study_can_be_read_for_a_trial():
    from allminds.web.checking import EXAMPLE
    from allminds.web.simulate import roomy

    trial = roomy(read_study(EXAMPLE), 50)
    assert trial.participants == 50
    assert trial.seed >= 1 << 32  # drawn


def test_what_a_study_exports_is_in_the_report_with_its_caveats(tmp_path):
    from typer.testing import CliRunner

    from allminds.cli.app import app
    from allminds.report import write_report
    from allminds.runs.plan import Plan
    from allminds.runs.run import How, run

    test = {"instrument": "c-test", "settings": {"form": "generated", "k": "7..9"}}
    made = study(tests=[test | {"exercises": 6, "feedback": True}], seed=9)
    simulate(made, ["pattern"], 3, str(tmp_path / "a.db"), tmp_path / "people", jobs=2)
    plan = Plan(seed=9, tests=[test | {"minds": ["random", "mode"], "episodes": 10}])
    folder = run(plan, tmp_path / "run", How(jobs=1))
    page = write_report(folder, tmp_path / "page.html", exports=[tmp_path / "people"])
    text = page.read_text("utf-8")
    assert "How 2 minds and 3 people did on c-test" in text
    assert "People were told after every question whether they were right." in text
    assert "sign of a reward" not in text, "questions have none"
    assert "machine-" not in text, "labels of participants are not in the report"
    for what in ("people/results.csv", "people/records.parquet", "a.db"):
        words = ["report", str(tmp_path / "run"), str(tmp_path / what)]
        reply = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "other.html")])
        assert reply.exit_code == 0, (what, reply.exception)
        assert "How 2 minds and 3 people" in (tmp_path / "other.html").read_text("utf-8")
    with pytest.raises(Error, match=r"name results\.csv"):
        write_report(folder, tmp_path / "no.html", exports=[tmp_path / "people" / "trials.csv"])
