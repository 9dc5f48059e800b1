"""A study of somebody else's that names code: no command runs it unsaid."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import allminds.cli  # noqa: F401 - registers the commands
from allminds.cli.app import app
from allminds.core.errors import Error
from allminds.web import serve as serving
from allminds.web import study

MINE = """
from pathlib import Path
Path("ran").write_text("this file was run")
from allminds.instruments.lambda_.instrument import Lambda
from allminds.registry import instrument
@instrument
class Mine(Lambda):
    name = "NAME"
class Mind:
    def act(self, observation, random):
        return 0
"""
STUDY = """
slug = "theirs"
languages = ["en"]
participants = 3
retention = 2030-12-31
[title]
en = "Theirs"
[consent]
version = "1"
text = { en = "Agree?" }
[[tests]]
check = false
practice = 0
exercises = 2
"""
NUMBERS = itertools.count()
LAMBDA = 'instrument = "lambda"\nsettings = { form = "general", cells = 3, steps = 4 }\n'
WAYS = {
    "an instrument": 'instrument = "mine.py:Mine"\n',
    "a mind": LAMBDA + 'minds = ["mine.py:Mind"]\n',
    "a program": LAMBDA + 'minds = ["program(touch,ran)"]\n',
    "a policy": LAMBDA + 'minds = ["policy(mine.zip)"]\n',
    "an opponent": 'instrument = "prisoners-dilemma"\nopponent = "mine.py:Mind"\n',
}


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def forget() -> None:
    """Remove the traces of a file that was imported, as if another process had done it."""
    Path("ran").unlink(missing_ok=True)
    for cache in (study._tool, study._machine, study.stored):
        cache.cache_clear()
    for name in [one for one in sys.modules if one.startswith("allminds_user_")]:
        del sys.modules[name]


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """Write a study that leads to code in one of the ways."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE.replace("NAME", f"mine-{next(NUMBERS)}"))
    forget()
    return lambda way: Path("study.toml").write_text(STUDY + WAYS[way])


@pytest.mark.parametrize("way", WAYS)
def test_a_study_is_not_made_of_code_that_is_not_trusted(theirs, way):
    theirs(way)
    done = call("study", "new", "study.toml", "--out", "study.db")
    assert isinstance(done.exception, Error)
    assert "study new runs it only if you trust it: --trust" in str(done.exception)
    assert not Path("ran").exists()
    assert not Path("study.db").exists()


@pytest.mark.parametrize("way", ["an instrument", "a mind", "an opponent"])
@pytest.mark.parametrize(
    "words",
    [
        ["serve", "study.db"],
        ["study", "export", "study.db", "--out", "o"],
        ["study", "invite", "study.db", "--count", "1"],
        ["study", "backup", "study.db", "--out", "copy.db"],
        ["study", "withdraw", "study.db", "--everybody"],
        ["compare", "study.db"],
        ["report", "study.db"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_their_database_runs_nothing(theirs, way, words, monkeypatch):
    """Whether or not a command needs it: what would need it is refused."""
    theirs(way)
    made = call("study", "new", "study.toml", "--out", "study.db", "--trust")
    assert made.exit_code == 0, made.exception
    assert Path("ran").exists(), "with --trust it is run, so this can fail"
    forget()
    monkeypatch.setattr(serving, "_listening", lambda *_: pytest.fail("it was served"))
    serving_it = words[0] == "serve"
    done = call(*words)
    assert not Path("ran").exists()
    if serving_it:
        assert isinstance(done.exception, Error)
        assert "serve runs it only if you trust it: --trust" in str(done.exception)
