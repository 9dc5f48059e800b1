"""Adaptive tests under Inspect: the same exercises and figures as `evaluate`, in rounds."""

from __future__ import annotations

import math

import pytest

import allminds
from allminds.core.errors import Error

pytest.importorskip("inspect_ai")
from mocked_models import imported, model
from scripted_server import Server, says, slow

from allminds.bridges import inspect_ai as tasks
from allminds.instruments.series.items import LETTERS, Item
from allminds.instruments.series.minds import Pattern


def figures(log):
    assert log.status == "success", log.error
    (score,) = [one for one in log.results.scores if one.name == "score"]
    return {name.split("/")[-1]: one.value for name, one in score.metrics.items()}


def told(found):
    """The same figures, as `evaluate` has them."""
    one = found["results"][0]["ability"]
    return {
        "ability": one["value"], "low": one["anytime"][0], "high": one["anytime"][1],
        "items": one["items"], "ordinary_items": one["ordinary_items"] or math.nan,
    }  # fmt: skip


def pattern(messages):
    """Answer as the mind `pattern` does."""
    shown = str(messages[0].content).rpartition("\n")[2].replace(" ", "")
    return f"ANSWER: {Pattern(1).letter(Item(shown, LETTERS)) or 'none'}"


@pytest.fixture
def asked(given):
    """Give an adaptive task; return the log, and the ids of exercises in their order."""

    def evaluate(task, who, **how):
        log = given(task, model(who), **how)
        samples = sorted(log.samples, key=lambda one: one.id)
        return log, [sample.metadata["exercise"] for sample in samples]

    return evaluate


def test_it_asks_and_finds_what_evaluate_does(asked, tmp_path):
    until = "width=1.5,most=25"
    found = allminds.evaluate("c-test", ["pattern"], until=until, ends=False)
    rows = found.frame()
    for at_once in (1, 20):
        task = tasks.c_test_adaptive(width=1.5, most=25)
        log, ids = asked(task, pattern, max_samples=at_once)
        assert figures(log) == pytest.approx(told(found), rel=0, abs=0, nan_ok=True)
        assert ids == rows["exercise"].tolist()
    table = imported(log, tmp_path / "log").sort_values("index")
    for column in ("exercise", "item", "cluster", "k", "score", "status"):
        assert table[column].tolist() == rows[column].tolist()


def test_a_reply_that_cannot_be_read_counts_as_wrong(asked):
    wrong, _ = asked(tasks.c_test_adaptive(width=1.5), "ANSWER: none")
    unread, _ = asked(tasks.c_test_adaptive(width=1.5), "I would rather not.")
    assert figures(wrong) == figures(unread)
    assert figures(unread)["high"] < 10.5


def test_matrices_and_the_staircase_are_asked_in_the_same_way(asked):
    log, ids = asked(tasks.matrices_adaptive(width=2.0, form="text"), "ANSWER: A")
    found = allminds.evaluate("matrices", [lambda _seen: 0], until="width=2", ends=False)
    assert figures(log) == told(found)
    assert ids == found.frame()["exercise"].tolist()
    short = {"steps": 3, "cells": 3}
    task = tasks.lambda_staircase_adaptive(width=30.0, most=10, **short)
    log, _ = asked(task, "ANSWER: stay")
    found = allminds.evaluate(
        "lambda-staircase", [lambda _seen: 0], settings=short, until="width=30,most=10", ends=False
    )
    assert figures(log)["items"] == told(found)["items"]


def test_a_limit_on_samples_ends_the_test(asked):
    log, ids = asked(tasks.c_test_adaptive(width=0.5), pattern, limit=7)
    assert figures(log)["items"] == len(ids) == 7


def test_what_will_not_do_is_refused():
    with pytest.raises(Error, match="two levels of complexity or more"):
        tasks.c_test_adaptive(options=5)
    with pytest.raises(Error, match="cannot be asked level by level"):
        tasks.adaptive(name="lambda-star", width=1)


def test_the_replies_of_a_round_are_waited_for_at_once_and_nothing_depends_on_it():
    until = "width=1.5,most=20"
    with Server(slow(says("ANSWER: z"), 0.2)) as server:
        found = allminds.evaluate("c-test", [f"llm({server.name})"], until=until, ends=False)
    assert 1 < server.peak <= 5
    assert server.books.calls == found["results"][0]["episodes"]
    alone = allminds.evaluate("c-test", ["blind(always=z)"], until=until, ends=False)
    columns = ["exercise", "item", "score"]
    assert found.frame()[columns].equals(alone.frame()[columns])
