"""Pages that scripts write are as fresh as what they are written from."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def script(name):
    """A script of the docs folder as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["make_cli", "make_papers", "make_gallery", "make_diagram"])
def test_a_written_page_is_fresh(name):
    maker = script(name)
    kept = maker.PAGE.read_text(encoding="utf-8")
    assert kept == maker.page(), f"write it again: python docs/{name}.py"


def test_the_page_of_commands_has_them_all_with_their_options():
    from typer.testing import CliRunner

    import allminds.cli  # noqa: F401 - registers the commands
    from allminds.cli.app import app

    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    said = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).output
    commands = set(re.findall(r"^│ ([a-z][a-z-]*) ", said, re.M))
    assert {"run", "evaluate", "compare", "reproduce"} <= commands
    for command in commands:
        assert f"\n## allminds {command}" in page, command
    assert "`--mind, -m MIND`" in page
    assert "`--exact/--sampled`" in page


def test_every_picture_of_the_gallery_is_there():
    maker = script("make_gallery")
    names = [one.file for one in maker.PLOTS] + [f"{name}.png" for name, _ in maker.SCREENS]
    assert [name for name in names if not (DOCS / "images" / name).is_file()] == []


TAKEN = (  # by the mind in the picture of the report
    "lambda-star", "lambda-star-responsive", "landscape", "lambda-star-coordination",
    "lambda-star-coverage", "team-lambda-star",
)  # fmt: skip


@pytest.mark.slow
def test_the_picture_of_the_report_says_what_the_report_says(tmp_path):
    """Tests that its mind does not take are left out here: they change no figure of its own."""
    maker = script("make_gallery")
    only = [word for name in TAKEN for word in ("--only", name)]
    present = maker.said_first(maker.report_of_own(tmp_path, *only))
    shown = maker.text_in((DOCS / "images" / "report.png").read_bytes())
    all_taken = re.sub(r"(took \d+) of \d+ tests \(\d+ not taken\)", r"\1 tests", shown)
    assert all_taken == present, "take it again: python docs/make_gallery.py --report"


def test_formulas_become_mathml_and_code_stays(monkeypatch):
    markdown = pytest.importorskip("markdown")
    monkeypatch.syspath_prepend(DOCS)
    page = "a $x_1^2$ and `$x$`, $5 or $6\n\n$$\\frac{a_1}{b}$$\n\n- list\n\n    $$c$$\n\n    more"
    made = markdown.markdown(page, extensions=["mathml"])
    assert made.count("<math") == 3
    assert "<code>$x$</code>, $5 or $6" in made
    assert "<em>" not in made
    assert '<p class="formula"><math' in made
    assert made.index("<li>") < made.index("more") < made.index("</li>")
