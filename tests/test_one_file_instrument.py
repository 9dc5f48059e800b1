"""An instrument in one file of the user's is a whole one: every door is open to it.

The file is that of docs/howto/write-an-instrument.md; nothing is installed, and no entry point
names it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import allminds as am
from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.runs.run import How

PAGE = Path(__file__).parents[1] / "docs/howto/write-an-instrument.md"
MINE = "mine.py:NextSymbol"
URL = "https://study.example.org"
ONE = How(jobs=1)


@pytest.fixture(scope="module", autouse=True)
def forgotten():
    """Leave no instrument behind for other tests."""
    registry.load()
    tables = (registry._instruments, registry._minds)
    before = [dict(table) for table in tables]
    yield
    for table, known in zip(tables, before, strict=True):
        table.clear()
        table.update(known)
    for name in [name for name in sys.modules if name.startswith("allminds_user_")]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def folder(tmp_path_factory, monkeypatch) -> Path:
    """A folder with mine.py in it, the same for all tests of a process, as the current one."""
    made = tmp_path_factory.getbasetemp() / "mine"
    if not made.exists():
        made.mkdir()
        text = re.search(r'```python title="mine.py"\n(.*?)^```$', PAGE.read_text(), re.S | re.M)
        assert text is not None
        (made / "mine.py").write_text(text[1])
    monkeypatch.chdir(made)
    return made


def allminds(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "allminds", *words],
        capture_output=True, text=True, check=False, env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------- the command line and Python


def test_it_is_evaluated_by_the_command_line():
    found = json.loads(allminds("evaluate", MINE, "--mind", "random", "--episodes", "30", "--json"))
    assert found["instrument"] == "next-symbol"
    assert [row["mind"] for row in found["results"]] == ["random", "oracle"]


def test_it_is_shown_with_a_mind_that_plays_it():
    shown = allminds("show", MINE, "--set", "steps=3")
    assert "from mine import Seen" in shown
    assert "LZ76 phrases" in shown
    code = am.describe(MINE, settings={"steps": 3})["mind"]
    Path("smallest.py").write_text(code)
    done = subprocess.run([sys.executable, "smallest.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert " mine " in done.stdout
    assert "failed" not in done.stdout


def test_several_processes_play_it():
    """Processes that know nothing of the file load it by the text that names it."""
    settings = {"steps": 200}
    minds = ["repeater", "random"]
    one, two = (
        am.evaluate(MINE, minds, episodes=900, settings=settings, how=How(jobs=jobs))
        for jobs in (1, 2)
    )
    assert one.frame().equals(two.frame())


def test_a_class_will_do():
    cls = registry.kind(MINE)
    found = am.evaluate(cls, ["repeater"], episodes=20, how=ONE)
    named = am.evaluate(MINE, ["repeater"], episodes=20, how=ONE)
    one, other = (results.frame().drop(columns="run") for results in (found, named))
    assert one.equals(other)  # but for the name of the run, a hash of the plan's words
    assert registry.reference(cls).endswith(f"{os.sep}{MINE}")
    assert registry.reference(registry.kind("c-test")) == "c-test"


def test_a_class_without_registration_will_do():
    class Other(registry.kind(MINE)):
        """Another."""

        name = "next-symbol-again"

    found = am.evaluate(Other, ["random"], episodes=5, ends=False, how=ONE)
    assert found.frame()["instrument"].unique().tolist() == ["next-symbol-again"]


def test_it_keeps_the_contract():
    am.check_instrument(MINE)
    am.check_mind("oracle", MINE)


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("mine.py:Nextsymbol", "'mine.py' has no 'Nextsymbol'"),
        ("nowhere.py:NextSymbol", "there is no instrument 'nowhere.py:NextSymbol': cannot import"),
        ("mine.py:Repeater", "is not an instrument"),
    ],
)
def test_what_is_wrong_is_said(which, said):
    with pytest.raises(Error, match=said):
        registry.make_instrument(which)


# ---------------------------------------------------------------- plans, report, codebook, items


def test_a_plan_has_it_and_its_report_shows_it(folder):
    plan = folder / "plan.toml"
    plan.write_text(
        f'[[tests]]\ninstrument = "{MINE}"\nminds = ["random", "repeater"]\nepisodes=50'
    )
    allminds("run", str(plan), "--out", "run", "--jobs", "1")
    allminds("report", "run", "--trust")
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "next-symbol" in page
    assert "repeater" in page


def test_the_codebook_says_what_its_columns_mean():
    found = am.evaluate(MINE, ["random"], episodes=5, how=ONE).codebook()
    assert found.loc["K", "meaning"] == "LZ76 phrases"
    assert found.loc["ones", "meaning"] == "how often 1 occurs"


def test_it_is_a_bank_of_items(folder):
    allminds("make", "items", MINE, "--count", "20", "--out", "items.jsonl")
    lines = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    tool = registry.make_instrument(MINE)
    assert len(lines) == 20
    for i, line in enumerate(lines):
        exercise = tool.exercise(1, i)
        assert line["id"] == exercise.id
        assert line["answer"] == str(exercise.environment.symbols[-1])
        assert line["question"].endswith("_")


# ---------------------------------------------------------------- training libraries


def test_gymnasium_plays_it():
    gymnasium = pytest.importorskip("gymnasium")
    import allminds.bridges.gymnasium  # noqa: F401

    env = gymnasium.make("allminds/Any-v0", instrument=MINE, steps=6)
    seen, info = env.reset(seed=1, options={"exercise": 3})
    symbols = registry.make_instrument(MINE, {"steps": 6}).exercise(1, 3).environment.symbols
    assert seen.tolist() == [*symbols[:8], *[-1] * 6]
    for symbol in symbols[8:]:
        seen, reward, _, over, info = env.step(symbol)
        assert reward == 1
        assert seen in env.observation_space
    assert over
    assert info["score"] == 1
    assert seen.tolist() == list(symbols)


def test_pettingzoo_plays_it():
    pytest.importorskip("pettingzoo")
    from allminds.bridges.pettingzoo import env, parallel_env

    several = parallel_env(MINE, steps=3)
    several.reset(seed=2)
    while several.agents:
        _, rewards, *_ = several.step(dict.fromkeys(several.agents, 1))
        assert set(rewards.values()) <= {-1.0, 1.0}
    in_turn = env(instrument=MINE)
    in_turn.reset(seed=2)
    in_turn.step(0)
    assert in_turn.truncations["player_0"] or in_turn.terminations["player_0"]


def test_its_state_is_drawn():
    tool = registry.make_instrument(MINE)
    world = tool.exercise(1, 0).environment
    assert tool.presentation.text(world, 0).endswith("_")
    assert tool.presentation.picture(world, 0).startswith("<svg")


# ---------------------------------------------------------------- language models and people


def test_a_language_model_is_told_the_rules(monkeypatch):
    pytest.importorskip("inspect_ai")
    sys.path.insert(0, str(Path(__file__).parent / "bridges"))
    from mocked_models import model

    from allminds.bridges import inspect_ai as bridge

    told = []

    def says(messages):
        told.append(messages[-1].text)
        return "ANSWER: 1"

    from inspect_ai import eval as given

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    (log,) = given(bridge.game(MINE, n=3), model=model(says), log_dir="logs")
    assert log.status == "success"
    assert told[0].startswith(
        "Predict the next symbol of a sequence of 0 and 1 that repeats itself. Answer 0 or 1.\n"
        "You may think first. End your reply with a line that has only your answer: "
        "ANSWER: <a number, 0 to 1>\n\n"
    )
    assert re.fullmatch("[01]{8}_", told[0].splitlines()[-1])
    assert len(log.samples) == 3


def test_a_person_plays_it_in_the_browser(folder):
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from allminds.web.app import create_app
    from allminds.web.store import Store
    from allminds.web.study import Limits, Study

    study = Study.model_validate(
        {
            "slug": "try", "title": {"en": "Trying"}, "languages": ["en"], "participants": 1,
            "retention": "2030-01-31", "seed": 5,
            "consent": {"version": "1", "text": {"en": "Yes?"}},
            "tests": [
                {"instrument": MINE, "settings": {"steps": 3}, "exercises": 2, "practice": 0}
            ],
        }
    )  # fmt: skip
    store = Store(str(folder / "study.db"), create=True)
    store.add_study(study, "test", 0)
    limits = Limits(choices_per_second=1000, joins_per_minute=1000)
    app = create_app(store, limits=limits, public=URL)
    ((_, secret),) = store.invite(store.study("try"), ["one"], 0)
    with TestClient(app, base_url=URL) as client:
        page = client.post("/join", data={"invite": secret}).text
        seen = []
        for _ in range(30):
            screen = re.search('data-screen="([a-z]+)"', page)
            assert screen is not None, page
            assert screen[1] != "error", page
            seen.append(screen[1])
            if screen[1] == "done":
                break
            form = dict(re.findall('<input type="hidden" name="([a-z_]+)" value="([^"]*)"', page))
            if screen[1] == "exercise":
                assert re.search(r'<pre class="board plain"[^>]*>[01]+_</pre>', page)
                assert re.findall('name="choice" value="([^"]*)"', page) == ["0", "1"]
                page = client.post("/choice", data=form | {"choice": "1"}).text
            elif screen[1] == "consent":
                page = client.post("/consent", data=form | {"accept": "yes"}).text
            else:
                if screen[1] == "instructions":
                    assert "Predict the next symbol" in page
                page = client.post("/next", data=form).text
    store.close()
    assert seen.count("exercise") == 6
    assert seen[-1] == "done"
    assert "next-symbol" in page


def test_it_is_an_instrument_like_any_other():
    assert issubclass(registry.kind(MINE), Instrument)
    assert registry.kind("next-symbol") is registry.kind(MINE)
    assert np.isfinite(registry.make_instrument(MINE).chance)
