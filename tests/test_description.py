"""What `allminds show` and `am.describe` say, and that it is true of the instrument."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

import allminds as am
import allminds.cli
from allminds import registry
from allminds.cli.app import app, main
from allminds.core.text import Picture

ROOT = Path(__file__).parents[1]
NAMES = [name for name, cls in registry.instruments().items() if "allminds." in cls.__module__]


def pages() -> dict[str, str]:
    """The pages that docs/make_instruments.py writes now."""
    path = ROOT / "docs" / "make_instruments.py"
    spec = importlib.util.spec_from_file_location("docs_make_instruments", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


# ---------------------------------------------------------------- the pages


def test_the_pages_of_instruments_are_fresh():
    made, folder = pages(), ROOT / "docs" / "instruments"
    kept = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert set(kept) == set(made)
    stale = [name for name, text in made.items() if kept[name] != text]
    assert stale == [], "write them again: python docs/make_instruments.py"
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [name for name in made if f"instruments/{name}" not in nav] == []


def words_of_page(text: str) -> list[str]:
    """The words of a page without what is Markdown's: rules, bars, escapes, fences, pictures."""
    text = re.sub(r"<figure>.*?</figure>", "", text)
    text = re.sub(r"^(\|( --- \|)+|```\w*)$", "", text, flags=re.M)
    text = re.sub(r"^#+ ", "", text, flags=re.M)
    text = re.sub(r"\\([\\*_<>\[\]|$])", r"\1", text)
    return text.replace("`", "").replace(" | ", " ").replace("| ", "").replace(" |", "").split()


@pytest.mark.parametrize("name", NAMES)
def test_show_prints_what_the_page_prints(name):
    found = am.describe(name)
    page = (ROOT / "docs" / "instruments" / f"{name}.md").read_text(encoding="utf-8")
    head, _, rest = page.partition("\n\n## ")
    assert f"`allminds show {name}` prints this page" in head
    drawn = [one for _, blocks in found.sections() for one in blocks if isinstance(one, Picture)]
    text = found.as_text(100_000)
    for one in drawn:  # a page has the drawing, a terminal its text
        text = text.replace(textwrap.indent(one.text, "    "), "", 1)
    text = re.sub(r"^-+$", "", text.partition("\n\n")[2], flags=re.M)
    assert text.replace(" | ", " ").split() == words_of_page(rest)
    shown = CliRunner().invoke(app, ["show", name], env={"COLUMNS": "90"})
    assert shown.output.rstrip("\n") == found.as_text(90)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_unsaid_of_a_built_in_instrument(name):
    found = am.describe(name).as_json()
    told = [
        *found["observation"]["fields"], *found["facts"], *found["complexity"], *found["settings"],
        *(field for one in found["observation"]["made_of"] for field in one["fields"]),
    ]  # fmt: skip
    assert [one["name"] for one in told if not one["meaning"]] == []
    assert found["rewards"]["said"]
    assert found["players"]["unseen"]
    minds = [
        one for kind in ("single", "future", "group", "anywhere") for one in found["minds"][kind]
    ]
    assert [one["name"] for one in minds if not one["what"]] == []
    assert {one["name"] for one in minds} == set(registry.minds(name))
    assert not re.search(r"\bP[0-4]\b", json.dumps(found["about"])), "papers by author and year"


# ---------------------------------------------------------------- what is said is so


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_mind_runs_without_a_failed_exercise(name):
    code = am.describe(name)["mind"]
    results: list[am.Results] = []
    exec(compile(code, f"<{name}>", "exec"), {"print": results.append})
    (found,) = results
    assert [row["mind"] for row in found["results"] if row["failed"]] == []
    assert found["results"][0]["mind"].partition(",")[0] == "mine"


@pytest.mark.parametrize("name", NAMES)
def test_the_observation_is_imported_by_the_line_that_is_shown(name):
    seen = am.describe(name)["observation"]
    tool = registry.make_instrument(name)
    world = tool.exercise(1, 0).environment
    observation = world.observe(world.reset(am.Random(0)), 0)
    place: dict[str, object] = {}
    for one in (seen, *seen["made_of"]):
        exec(one["import"], place)
        assert one["class"] in place
    assert place[seen["class"]] is type(observation)
    shown = [field["name"] for field in seen["fields"]]
    assert shown[: len(observation)] == list(observation._fields)


def test_a_mind_that_picks_among_the_said_actions_never_fails():
    """With settings, too, that change what is seen, who plays, and what is legal."""
    for name, settings in {
        "lambda-star": {"range": 2, "agents": 3},
        "lambda": {"form": "general", "observation": "adjacent", "rewards": "trail", "agents": 4},
        "c-test": {"options": 5, "scoring": "administered"},
        "matrices": {"rules": 3, "candidates": 8},
        "commons": {"most": 5, "players": 3, "capacity": 40},
        "team-lambda-star": {"shares": "own"},
    }.items():
        results: list[am.Results] = []
        exec(am.describe(name, settings=settings)["mind"], {"print": results.append})
        assert [row["mind"] for row in results[0]["results"] if row["failed"]] == [], name


def test_turns_teams_and_legal_moves_are_told():
    board = am.describe("noughts-and-crosses").as_json()
    assert board["players"]["turns"] == "by turns"
    assert board["players"]["order"] == [[0], [1], [0], [1]]
    assert board["actions"]["legal"]
    assert board["rewards"]["only_at_the_end"]
    hunt = am.describe("predator-prey").as_json()
    assert hunt["players"] | {"order": 0, "unseen": 0} == {
        "slots": 4, "teams": [[0, 1, 2], [3]], "turns": "at once", "order": 0, "unseen": 0,
        "opponents": True, "line_up": ["mine.py:Mine*3", "random"],
    }  # fmt: skip
    assert hunt["ends_early"]
    assert not am.describe("lambda-star", settings={"agents": 3})["players"]["opponents"]
    assert "Slot 3: You are the prey." in " ".join(str(am.describe("predator-prey")).split())
    cells = am.describe("lambda").as_json()
    assert cells["actions"]["differ"]
    assert cells["actions"]["most"] == 9


def test_settings_have_their_ranges_and_defaults():
    rows, *_, weights = am.describe("lambda-star")["settings"]
    assert (rows["name"], rows["values"], rows["default"]) == (
        "rows", "a whole number from 2 to 1000", 10,
    )  # fmt: skip
    assert (weights["name"], weights["default"]) == ("weights", "1:-1")
    factor = am.describe("public-goods")["settings"][-1]
    assert factor["values"] == "a number above 1"
    assert "With rows 5." in str(am.describe("lambda-star", settings={"rows": "5"}))


def test_it_is_shown_in_a_notebook_and_as_json(capsys, monkeypatch):
    found = am.describe("lambda-star")
    page = found._repr_html_()
    assert page.count("<table>") == page.count("</table>") > 5
    assert "<svg" in page
    assert html.escape("the numbers of the cells in sight") in page
    monkeypatch.setattr(sys, "argv", ["allminds", "show", "lambda-star", "--json"])
    main()
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.as_json()))


# ---------------------------------------------------------------- instruments of users


PLAIN = """
from allminds import Discrete, Instrument, Question, instrument
from allminds.contracts import Exercise
from allminds.core.settings import Settings


class Sum(Question):
    actions = (Discrete(10),)

    def observe(self, state, slot):
        return "3 + 4 = ?"

    def reward(self, answer):
        return float(answer == 7)


class Nothing(Settings):
    pass


@instrument
class Bare(Instrument):
    name, version, slots, chance, ceiling, Settings = "bare", 1, 1, 0.1, 1.0, Nothing

    def __init__(self):
        self.settings = Nothing()

    def exercise(self, seed, i, history=()):
        return Exercise(f"bare@1/{i}", self, seed, i, Sum())

    def show(self, observation, form):
        return BROKEN

    def read(self, answer, observation):
        return int(answer)
"""


@pytest.fixture
def forgotten():
    """Leave no instrument behind for other tests."""
    before = dict(registry._instruments)
    yield
    registry._instruments.clear()
    registry._instruments.update(before)


def test_an_instrument_that_says_nothing_of_itself_is_described(tmp_path, forgotten):
    """Its observations are plain text, and it has no docstring."""
    (tmp_path / "bare.py").write_text(PLAIN.replace("BROKEN", "observation"))
    found = am.describe(f"{tmp_path}/bare.py:Bare")
    assert found["observation"]["fields"] == [
        {"name": "observation", "type": "str", "meaning": "", "sample": "'3 + 4 = ?'"}
    ]
    results: list[am.Results] = []
    exec(found["mind"], {"print": results.append})
    assert results[0]["results"][0]["failed"] == 0


def told(capsys, monkeypatch, *line: str) -> str:
    monkeypatch.setattr(sys, "argv", ["allminds", *line])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (2, "")
    return printed.err.removeprefix("allminds: ").strip()


def test_wrong_things_are_told_in_one_sentence(capsys, monkeypatch, tmp_path, forgotten):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.py").write_text("value = 1\n")
    (tmp_path / "broken.py").write_text(PLAIN.replace("BROKEN", "1 / 0"))
    for line, said in {
        ("lamda-star",): "there is no instrument 'lamda-star'; did you mean 'lambda-star'?",
        ("empty.py",): "'empty.py' is a file; name the class in it too, as empty.py:CLASS",
        ("empty.py:Mine",): "'empty.py' has no 'Mine'; choose from value",
        ("minimax",): "'minimax' is a mind, not an instrument; it is one for ",
        ("lambda-star", "--set", "row=5"): "lambda-star has no setting 'row'; did you mean 'rows'?",
        ("lambda-star", "--set", "rows=1"): "lambda-star: rows must be greater than or equal to 2",
        ("broken.py:Bare",): "broken.py:Bare cannot be described: ZeroDivisionError",
    }.items():
        found = told(capsys, monkeypatch, "show", *line)
        assert found.startswith(said)
        assert "\n" not in found


# ---------------------------------------------------------------- types


@pytest.mark.slow
def test_observations_are_typed(tmp_path):
    """The smallest minds pass a strict type check, and a wrong field is found by it."""
    for name in NAMES:
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(am.describe(name)["mind"] + "\n")
    wrong = am.describe("lambda-star")["mind"].replace("observation.rewards", "observation.reward")
    (tmp_path / "wrong.py").write_text(wrong + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *map(str, tmp_path.glob("*.py"))],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    faults = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert faults, done.stdout + done.stderr
    assert all(f"{tmp_path.name}/wrong.py:" in line for line in faults), done.stdout
    assert '"View" has no attribute "reward"' in done.stdout
