"""Every registered instrument goes through a run, its summary and its report."""

from __future__ import annotations

import pytest
from test_conformance import SMALL

from allminds import registry
from allminds.report import write_report
from allminds.runs.plan import Plan
from allminds.runs.run import How, run

MORE = {"c-test": {"form": "generated"}}


@pytest.mark.parametrize("name", registry.instruments())
def test_an_instrument_is_run_and_reported(tmp_path, name):
    settings = SMALL.get(name, MORE.get(name, {}))
    tool = registry.make_instrument(name, settings)
    minds = [mind for mind in (tool.floor_mind, tool.ceiling_mind) if mind]
    test = {"instrument": name, "settings": settings, "minds": minds, "episodes": 9}
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run", How())
    (found,) = folder.summary()["tests"]
    assert [row["episodes"] for row in found["results"]] == [9] * len(minds)
    assert "<h1>" in write_report(folder, tmp_path / "report.html").read_text()


def test_late_steps_count_only_the_exercises_that_reach_them(tmp_path):
    """P3's exercises have 20 to 80 steps: seven reach step 20, one reaches step 80."""
    test = {"instrument": "lambda", "minds": ["random"], "episodes": 7}
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run", How())
    count = folder.curves().set_index("step")["count"]
    assert [count[step] for step in (1, 20, 21, 30, 31, 80)] == [7, 7, 6, 6, 5, 1]
