"""The examples run, and say what their docstrings say."""

from __future__ import annotations

import ast
import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import allminds as am
from allminds import registry
from allminds.check import check_mind
from allminds.core.blocks import block_difference
from allminds.core.watch import Watch
from allminds.episode import form

EXAMPLES = Path(__file__).parents[1] / "examples"
FORMS = ["plain_mind.py:Careful", "batched_mind.py:Careful", "numba_mind.py:careful"]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_users_mind_keeps_the_contract(name):
    check_mind(f"{EXAMPLES}/{name}", "lambda-star", {"rows": 6, "cols": 6, "agents": 2})


def test_the_three_forms_are_one_mind():
    tool = registry.make_instrument("lambda-star", {"rows": 6, "cols": 7})
    blocks = [
        form(tool, registry.line_up(f"{EXAMPLES}/{name}", tool), Watch()).play(3, 0, 150, 20)
        for name in FORMS
    ]
    assert block_difference(blocks[0], blocks[1]) == ""
    assert block_difference(blocks[0], blocks[2]) == ""


MADE = "one_mind_per_instrument.py"
EVEN = ("matching-pennies", "rock-paper-scissors")  # against chance nobody gains


def one_mind_per_instrument() -> dict[str, object]:
    spec = importlib.util.spec_from_file_location("one_mind_per_instrument", EXAMPLES / MADE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MINDS


def test_there_is_a_mind_for_every_instrument():
    built_in = [name for name, cls in registry.instruments().items() if "allminds." in str(cls)]
    assert list(one_mind_per_instrument()) == built_in


@pytest.mark.parametrize("name", registry.instruments())
def test_a_mind_written_from_a_page_fails_no_exercise_and_beats_the_floor(name):
    """Against random in a game. The seed is fixed; the gaps were found at 42 exercises."""
    mind = one_mind_per_instrument()[name]
    strict = am.How(strict=True, jobs=1)
    found = am.evaluate(name, {"mine": mind}, against="random", episodes=42, how=strict)
    scores = found.scores.set_index("mind")
    (mine,) = [one for one in scores.index if one.startswith("mine")]
    assert scores.loc[mine, "failed"] == 0
    (floor,) = scores.index[scores["end"] == "floor"]
    assert name in EVEN or scores.loc[mine, "score"] > scores.loc[floor, "score"] + 0.1


def test_the_minds_written_from_pages_are_typed():
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(EXAMPLES / MADE)],
        capture_output=True, text=True, check=False, cwd=EXAMPLES.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_example_of_results_writes_its_files(tmp_path, capsys):
    main = runpy.run_path(str(EXAMPLES / "results.py"))["main"]
    results = main(tmp_path / "out", episodes=110)
    shown = capsys.readouterr().out
    assert "On the same exercises:" in shown
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "records.csv", "summary.json", "scores.html", "complexity.svg",
    }  # fmt: skip
    by_mind = {row["mind"]: row["score"] for row in results["results"]}
    assert by_mind["roams"] > by_mind["waits"] > by_mind["random"]


NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def by_jupyter(text: str, place: Path) -> list[str]:
    """Execute a notebook as Jupyter does, and return the text of its outputs."""
    import nbclient
    import nbformat

    made = nbclient.NotebookClient(
        nbformat.reads(text, as_version=4), timeout=300, resources={"metadata": {"path": place}}
    ).execute()
    outputs = [one for cell in made.cells for one in cell.get("outputs", [])]
    return [one.get("text") or one.get("data", {}).get("text/plain", "") for one in outputs]


def by_hand(text: str, capsys) -> list[str]:
    """Execute the cells of a notebook in one namespace, and show the value of a last expression."""
    names: dict[str, object] = {"__name__": "notebook"}
    for number, cell in enumerate(json.loads(text)["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
            if value is not None:
                print(value)
    return [capsys.readouterr().out]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_from_top_to_bottom(notebook, tmp_path, monkeypatch, capsys):
    """By Jupyter where it is installed, as in CI; otherwise cell by cell."""
    text = notebook.read_text(encoding="utf-8")
    assert len(text) < 20_000
    assert not any(cell.get("outputs") for cell in json.loads(text)["cells"])
    monkeypatch.chdir(tmp_path)
    if importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"):
        shown = "".join(by_jupyter(text, tmp_path))
    else:
        shown = "".join(by_hand(text, capsys))
    assert "cannot be repeated or resumed without the Python objects careful, rests, first" in shown


def test_the_protocol_of_ones_own_and_the_mind_that_hears_keep_the_contract():
    file = EXAMPLES / "own_protocol.py"
    check_mind(f"{file}:Doubtful(mode,pattern(y=2))", "c-test")
    check_mind(f"debate(mode,mode,{file}:Stubborn)", "c-test")
    check_mind(f"{file}:Doubtful({file}:Stubborn,random)", "lambda", {"form": "general"})
