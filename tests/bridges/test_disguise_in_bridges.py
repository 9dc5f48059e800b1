"""Disguises for minds that read: language models, Inspect's tasks, and programs."""

from __future__ import annotations

import re
import sys

import pytest
from plainly import evaluate

import allminds
from allminds import registry
from allminds.bridges import llm
from allminds.runs.replay import replayed
from allminds.runs.run import How
from allminds.runs.store import RunFolder

pytest.importorskip("inspect_ai")
from inspect_ai import eval as inspect_eval
from mocked_models import model

from allminds.bridges import inspect_ai as tasks

ONE = How(jobs=1)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def reader(messages):
    """Answer a C-test item in whatever order the rules tell, by the published answers."""
    told = str(messages[0].content)
    order = re.search(r"any alphabet: ((?:\S ){25}\S)\.", told)
    glyphs = order[1].replace(" ", "") if order else LETTERS
    plain = told.splitlines()[-1].translate(str.maketrans(glyphs, LETTERS))
    answers = {
        " ".join(item.shown): item.answer
        for item in registry.make_instrument("c-test").published  # type: ignore[attr-defined]
    }
    return f"ANSWER: {glyphs[LETTERS.index(answers[plain])]}"


def parrot(messages):
    """Answer a C-test item from memory: the letter that belongs to the plain series."""
    shown = str(messages[0].content).splitlines()[-1].replace(" ", "")
    published = registry.make_instrument("c-test").published  # type: ignore[attr-defined]
    return f"ANSWER: {({one.shown: one.answer for one in published}).get(shown, 'none')}"


def test_a_model_that_reads_the_new_order_loses_nothing_and_a_parrot_all(monkeypatch):
    rows = {}
    for says in (reader, parrot):
        monkeypatch.setattr(llm, "model_named", lambda _, says=says: model(says))
        made = allminds.evaluate("c-test", ["llm(some/model)"], disguises=2, ends=False, how=ONE)
        rows[says] = made.recall().iloc[0]
    assert rows[reader][["plain", "disguised"]].tolist() == [1, 1]
    assert rows[parrot][["plain", "disguised"]].tolist() == [1, 0]
    assert rows[parrot]["verdict"] == "different"
    assert rows[parrot]["low"] > 0


def test_labels_that_name_a_game_are_not_told(monkeypatch):
    asked = []

    def choose(messages):
        asked.append(str(messages[0].content))
        return "ANSWER: A"

    monkeypatch.setattr(llm, "model_named", lambda _: model(choose))
    for game in ("prisoners-dilemma", "stag-hunt"):
        tool = registry.make_instrument(game)
        who = f"llm(some/model), {tool.labels[1]}"  # type: ignore[attr-defined] # a table
        row = evaluate(game, [who], episodes=1, how=ONE)["results"][0]
        joint = (0, 1)
        assert row["score"] == pytest.approx(tool.reward(0, joint))  # type: ignore[attr-defined]
        assert not any(label in asked[-1] for label in tool.labels)  # type: ignore[attr-defined]


@pytest.mark.parametrize("given", [{"options": 5, "form": "published"}, {"form": "published"}])
def test_inspect_asks_in_disguise(given, tmp_path):
    task = tasks.c_test(n=4, disguise=2, **given)
    answers = {str(one.input[0].content): str(one.target) for one in task.dataset}
    assert all("any alphabet" in asked for asked in answers)

    def knowing(messages):
        return f"ANSWER: {answers[str(messages[0].content)]}"

    (log,) = inspect_eval(task, model=model(knowing), log_dir=str(tmp_path), display="none")
    found = {one.name: one.metrics for one in log.results.scores}
    assert next(iter(found["score"].values())).value == 1.0
    assert log.samples[0].metadata["settings"]["disguise"] == 2


def test_inspect_shows_matrices_in_disguise_and_knows_the_right_option():
    plain, worn = (tasks.matrices(n=3, form="text", disguise=n) for n in (0, 3))
    tool = registry.make_instrument("matrices", {"disguise": 3})
    for one, other, i in zip(plain.dataset, worn.dataset, range(3), strict=True):
        assert str(one.input[0].content) != str(other.input[0].content)
        problem = tool.exercise(1, i).environment.problem
        seen = tool.exercise(1, i).environment.observe(None, 0)
        assert tool.read(str(other.target), seen) == problem.answer


CLIMBS = """
import json, sys
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "begin":
        begun = told
    if told["type"] == "act":
        assert set(told["legal"]) == set(range(1, 10))
        rewards = told["observation"]["rewards"]
        print(json.dumps({"action": 1 + rewards.index(max(rewards))}), flush=True)
"""
SOLVES = """
import json, sys
known = %r
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "begin":
        order = told["facts"]["alphabet"]
    if told["type"] == "act":
        shown, options = told["observation"]["shown"], told["observation"]["options"]
        assert told["text"] == " ".join(shown)
        plain = "".join("_" if one == "_" else %r[order.index(one)] for one in shown)
        glyph = order[%r.index(known[plain])]
        if order[0] > "m":
            print(json.dumps({"answer": glyph}), flush=True)
        else:
            print(json.dumps({"action": options.index(glyph)}), flush=True)
"""


def test_a_program_is_sent_the_skin_and_acts_through_it(tmp_path):
    climbs, solves = tmp_path / "climbs.py", tmp_path / "solves.py"
    climbs.write_text(CLIMBS)
    published = registry.make_instrument("c-test").published  # type: ignore[attr-defined]
    known = {one.shown: one.answer for one in published[:3]}
    solves.write_text(SOLVES % (known, LETTERS, LETTERS))
    for name, file, given, count in (
        ("landscape", climbs, {"iterations": 5}, 2), ("c-test", solves, {}, 3),
    ):  # fmt: skip
        who = f"program({sys.executable},{file})"
        found = [
            evaluate(name, [who], settings=given | {"disguise": n}, episodes=count, how=ONE)
            for n in range(3)
        ]
        first = found[0]["results"][0]
        assert first["failed"] == 0
        assert name == "landscape" or first["score"] == 1
        assert all(one["results"][0]["score"] == first["score"] for one in found)


def test_a_play_in_disguise_can_be_shown_again(tmp_path):
    allminds.evaluate(
        "lambda-star", ["local-search"], settings={"disguise": 4, "iterations": 9}, episodes=3,
        ends=False, out=tmp_path / "run", how=ONE,
    )  # fmt: skip
    folder = RunFolder.open(tmp_path / "run")
    records = folder.records().set_index("index")
    for index in range(3):
        again = replayed(folder, index, None, 0)
        assert again.record.score == (records.loc[index, "score"],)
