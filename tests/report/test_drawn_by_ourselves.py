"""What commands and the report draw needs neither Altair nor vl-convert; PNG and notebooks do."""

from __future__ import annotations

import ast
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import allminds

PACKAGES = ("altair", "vl_convert")
ALLOWED = {  # who may import them, inside a function that says what is missing
    "report/charts/notebook.py", "report/charts/files.py", "bridges/vectors.py",
    "results.py",  # types of what `plot` returns
}  # fmt: skip
WITHOUT = """
import sys
for name in ("altair", "vl_convert"):
    sys.modules[name] = None
from allminds.cli.app import main
import allminds.cli
sys.argv = ["allminds", *sys.argv[1:]]
main()
"""
COMMANDS = {
    "evaluate": "evaluate prisoners-dilemma -m defect --episodes 20",
    "vote": "vote 0.6 0.6 0.6",
    "crossing": "crossing 12 12,12,12 --options 3",
    "predict": "predict --ability 11 --difficulty 1..9 --options 2",
    "complexity": "complexity 734987349873 --measure lz76",
    "testbed": "testbed matching-pennies --set steps=1 --minds heads,tails,random",
}


def run(words, folder):
    call = [sys.executable, "-c", WITHOUT, *words.split()]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)


def test_two_files_alone_import_them():
    root = Path(allminds.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in PACKAGES for name in names):
                found.add(path.relative_to(root).as_posix())
    assert found == ALLOWED


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_draws_svg_without_them(name, tmp_path):
    made = run(f"{COMMANDS[name]} --plot plot.svg", tmp_path)
    assert made.returncode == 0, made.stderr
    root = ET.fromstring((tmp_path / "plot.svg").read_text("utf-8"))
    assert root.tag.endswith("svg")
    assert float(root.get("width")) > 300
    assert "".join(root.itertext()).strip(), "a plot has words"


def test_a_png_file_says_what_is_missing(tmp_path):
    made = run("vote 0.6 0.6 0.6 --plot plot.png", tmp_path)
    assert made.returncode == 2
    assert "pip install 'allminds[plot]'" in made.stderr
    assert len(made.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir()), "nothing is half-written"


def test_a_notebook_without_altair_gets_one_sentence(monkeypatch):
    found = allminds.evaluate("prisoners-dilemma", ["defect"], episodes=10)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for draw in (found.plot, found.plot_differences):
        with pytest.raises(allminds.Error, match=r"pip install 'allminds\[plot\]'"):
            draw()
