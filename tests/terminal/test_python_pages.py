"""The pages on results and planning, and the example, do what they say."""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def page_runner():
    """What runs the other pages."""
    path = ROOT / "tests" / "docs" / "executed_pages.py"
    spec = importlib.util.spec_from_file_location("executed_pages_again", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("page", ["python.md", "planning.md"])
def test_a_page_does_what_it_says(page, tmp_path):
    wrong = page_runner().run((ROOT / "docs" / page).read_text(encoding="utf-8"), tmp_path)
    assert not wrong, f"{page}, {wrong[0]}"


@pytest.mark.slow
def test_the_example_runs_and_writes_its_files(tmp_path, capsys):
    main = runpy.run_path(str(ROOT / "examples" / "results.py"))["main"]
    results = main(tmp_path / "out", episodes=110)
    shown = capsys.readouterr().out
    assert "On the same exercises:" in shown
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "records.csv", "summary.json", "scores.html", "complexity.svg",
    }  # fmt: skip
    by_mind = {row["mind"]: row["score"] for row in results["results"]}
    assert by_mind["roams"] > by_mind["waits"] > by_mind["random"]


def test_reaching_for_evaluate_loads_nothing_heavy():
    code = "import allminds, sys\nallminds.evaluate, allminds.Results\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pandas", "pyarrow", "altair", "scipy", "numba", "statsmodels", "jinja2", "joblib"}
    assert not heavy & set(done.stdout.split())
