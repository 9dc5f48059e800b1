"""The answer in a terminal: one screen, at 80 and 120 columns, and no name broken in mid-word."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from allminds.cli.app import app
from allminds.runs.plan import Plan
from allminds.runs.run import How, run
from allminds.runs.store import RunFolder
from allminds.runs.summary import answer_of_run
from allminds.statistics.answer_words import between
from allminds.terminal import show_test
from allminds.terminal.answer import show_answer
from allminds.terminal.tables import abbreviated, counted, folded

GAMES = ["prisoners-dilemma", "stag-hunt", "matching-pennies", "rock-paper-scissors"]
LONG = "always(1), win-stay-lose-shift(start=1)"


def made(folder, games, yours=()):
    tests = [
        {"instrument": game, "minds": ["random", "always(0)", "always(1)"], "episodes": 12,
         "against": "q-learning(alpha=0.25,epsilon=0.05)" if steps % 2 else "",
         "settings": {"steps": steps}}
        for game, steps in games
    ]  # fmt: skip
    return run(Plan.model_validate({"tests": tests, "yours": list(yours)}), folder, How(jobs=1))


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    games = [(game, steps) for game in GAMES for steps in range(2, 8)]
    return answer_of_run(made(tmp_path_factory.mktemp("many") / "run", games, ["always(1)"]))


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return made(tmp_path_factory.mktemp("few") / "run", [(game, 3) for game in GAMES])


def shown(found, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    show_answer(found)
    return capsys.readouterr().out.rstrip("\n").split("\n")


@pytest.mark.parametrize("width", [80, 120])
def test_a_battery_fits_one_screen(many, width, monkeypatch, capsys):
    lines = shown(many, width, monkeypatch, capsys)
    assert len(lines) <= 29
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("always(1) did better than the floor on ")
    assert "It took 24 tests" in " ".join(lines)
    two = r".*, steps \d .* .{6} [-+=−?] .*, steps \d .* [-+=−?]"
    assert sum(bool(re.fullmatch(two, line)) for line in lines) == 12  # two tests a line
    assert any("Against the floor of each test" in line for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_without_a_mind_of_yours_it_is_about_the_best(few, width, monkeypatch, capsys):
    lines = shown(answer_of_run(few), width, monkeypatch, capsys)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("No mind was asked about in particular")
    about = answer_of_run(few).minds[0].tests[1].mind
    assert any(re.match(rf"stag-hunt .*  {re.escape(about)} ", line) for line in lines)


def test_every_place_and_mark_is_the_answers(few, monkeypatch, capsys):
    found = answer_of_run(few)
    text = "\n".join(shown(found, 120, monkeypatch, capsys))
    for one in found.minds[0].tests:
        place = one.row["normalised"]
        mark = {"better": r"\+", "worse": "−", "equivalent": "=", "undecided": r"\?"}
        end = f" {mark[one.outcome(one.best)]} " if one.outcome(one.best) else ""
        figure = "–" if place is None else f"{place:.3f}".replace("-", "−")
        label = re.escape(one.test.label.partition(" against")[0])
        assert re.search(rf"^{label}.* {figure} .*{end}", text, re.MULTILINE), one.test.label


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_breaks_no_name_in_mid_word(few, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    test = few.summary()["tests"][0]
    row = test["results"][0] | {"mind": LONG, "end": None}
    show_test(test | {"results": [*test["results"], row]})
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    words = re.findall(r"[a-z]{5,}", LONG)
    for word in words:
        assert word in out, word


def test_evaluate_and_compare_fold_names_between_words_at_80_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(
        "class Careful:\n    def act(self, observation, random):\n        return 5\n"
    )
    minds = ["majority(my.py:Careful*3)", "weighted-majority(local-search*3)", "shared-q-learning"]
    asked = [word for mind in minds for word in ("--mind", mind)]
    settings = ["lambda-star", "--set", "agents=3", "--episodes", "4", "--out", "one"]
    for words in (["evaluate", *settings, *asked], ["compare", "one", *asked, "--trust"]):
        done = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output
        assert max(map(len, done.output.splitlines())) <= 80
        assert "…" not in done.output.replace("… and", "")
        for word in ("majority(", "my.py:", "Careful*3)", "weighted-majority(", "local-search*3)"):
            assert word in done.output, word


VERSIONS = """
class Careful:
    def act(self, observation, random):
        best = max(observation.rewards)
        return 1 + (random.below(9) if best == 0 else observation.rewards.index(best))


class Bold(Careful):
    def act(self, observation, random):
        return 5 if max(observation.rewards) == 0 else super().act(observation, random)
"""


@pytest.mark.parametrize(
    "tests", [["lambda-star"], ["lambda-star", "landscape", "lambda-star-responsive"]]
)
def test_evaluate_of_two_versions_compares_them_first_and_fits_a_small_screen(
    tests, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(VERSIONS)
    minds = ["-m", "my.py:Careful", "-m", "my.py:Bold", "--against", "local-search"]
    words = ["evaluate", *tests, *minds, "--episodes", "44", "--out"]
    done = CliRunner().invoke(app, [*words, "one"], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    told = " ".join(line.strip() for line in lines)
    assert ("95 % interval" in told) == (len(tests) == 1)  # the table, or the profile
    (first,) = between(answer_of_run(RunFolder.open(tmp_path / "one")))
    assert first in told
    assert "my.py:Careful did better than my.py:Bold" in told or "my.py:Careful against" in told
    assert re.search(r"… and \d+ more sentences?,? with --verbose", told)
    whole = CliRunner().invoke(app, [*words, "two", "--verbose"], env={"COLUMNS": "80"})
    assert whole.exit_code == 0, whole.output
    assert "more sentence" not in whole.stdout
    assert whole.stdout.count("95 % interval") >= len(tests)


def test_a_mind_alone_has_its_table_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["evaluate", "lambda-star", "-m", "local-search", "--episodes", "22"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    assert "local-search  " in done.stdout
    assert "did better" not in done.stdout


def test_names_are_shortened_between_words():
    assert counted("defect, tit-for-tat, tit-for-tat, tit-for-tat") == "defect, tit-for-tat*3"
    assert abbreviated("short", 20) == "short"
    assert abbreviated("some/long/folder/mine.py:Mine", 14) == "mine.py:Mine"
    assert abbreviated("generous-tit-for-tat", 14) == "generous-tit…"
    assert abbreviated("prisoners-dilemma against suspicious-tit-for-tat", 30) == (
        "prisoners-dilemma against…"
    )
    assert abbreviated("abcdefghijklmnop", 8) == "abcdefg…"  # one word has no other place
    assert folded("tree(q-learning*3, local-search*2)", 20) == "tree(q-learning*3,\nlocal-search*2)"
    assert folded("model-based", 9) == "model-\nbased"
    for room in range(3, 40):
        assert len(abbreviated("tree(q-learning*3, local-search*2)", room)) <= room
