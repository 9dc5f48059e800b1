"""Files, commands and options that the pages name are there."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FILES = re.compile(r"\b(?:tests|examples|benchmarks|docs|src)/[\w/.-]+\.(?:py|js|toml|sh)\b")
CALLS = re.compile(r"(?:^ *\$? *|`)allminds ([a-z](?:[^`\n]|\\\n)*)", re.M)


@pytest.fixture(scope="module")
def options():
    """The options of every command, by its name."""
    spec = importlib.util.spec_from_file_location("docs_make_cli", ROOT / "docs" / "make_cli.py")
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker.options()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page):
    named = set(FILES.findall(page.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_a_page_shows_exist_with_their_options(page, options):
    wrong = []
    for call in CALLS.findall(page.read_text(encoding="utf-8")):
        words = _words(call)
        command = " ".join(words[:2]) if " ".join(words[:2]) in options else words[0]
        if command not in options:
            if not any(known.startswith(f"{command} ") for known in options):
                wrong.append(call)
            continue
        given = {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)}
        if given - options[command] - {"--help", "-h"}:
            wrong.append(call)
    assert wrong == []


def _words(call):
    """The words of a command, without what it is piped into or remarked upon."""
    joined = re.sub(r"\\\n", " ", call)
    try:
        return shlex.split(re.split(r" [|>#] ", joined)[0], comments=True)
    except ValueError:  # a command that is broken off, or in the midst of a sentence
        return joined.split()
