"""At the end: one's own result beside what programs make of the very same exercises."""

from __future__ import annotations

import threading

import pytest
from studio import CELLS, Person, study

from allminds import registry
from allminds.episode import play
from allminds.web.debrief import Machines, parity, score
from allminds.web.screens import Screen


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_the_last_screen_has_floor_ceiling_and_a_mind(opened):
    tests = [{"instrument": "lambda", "settings": CELLS, "exercises": 3, "minds": ["q-learning"]}]
    server, _, links = opened(tests=tests)
    person = Person(server)
    person.join(links[0])
    person.begin()
    assert person.finish() == "done"
    (result,) = person.context["results"]
    assert (result["face"], result["exercises"]) == ("lambda", 3)
    assert (result["chance"], result["ceiling"]) == (0.0, 1.0)
    assert [(one["mind"], one["role"]) for one in result["minds"]] == [
        ("random", "floor"), ("q-learning", "mind"), ("optimum", "ceiling"),
    ]  # fmt: skip
    tool = registry.make_instrument("lambda", CELLS)
    for one in result["minds"]:
        line_up = registry.line_up(one["mind"], tool)
        records = [play(tool.exercise(1, i), line_up) for i in range(3)]
        assert one["score"] == score(tool, records)
    assert result["score"] <= result["minds"][-1]["score"]


def test_who_is_not_ready_is_left_out_and_there_later(monkeypatch):
    from allminds.web import debrief

    gate = threading.Event()
    real = debrief._played

    def slow(*work):
        gate.wait(30)
        return real(*work)

    monkeypatch.setattr(debrief, "_played", slow)
    made = study()
    tool = made.tool(0)
    records = tuple(play(tool.exercise(1, i), registry.line_up("random", tool)) for i in range(2))
    screen = Screen("done", {}, records=(records,), plan=made.text)
    machines = Machines(patience=0.05)
    assert machines.results(screen)[0]["minds"] == []
    assert machines.results(screen)[0]["score"] == score(tool, records)
    gate.set()
    machines.patience = 60
    assert [one["mind"] for one in machines.results(screen)[0]["minds"]] == ["random", "optimum"]
    machines.close()


def test_a_test_of_which_nothing_was_finished_has_no_score():
    machines = Machines()
    screen = Screen("done", {}, records=((),), plan=study().text)
    (result,) = machines.results(screen)
    assert (result["score"], result["exercises"], result["minds"]) == (None, 0, [])
    machines.close()


def test_programs_take_an_adaptive_test_by_their_own_way():
    settings = {"time": 12, "steps": 4, "cells": 3}
    made = study(tests=[{"instrument": "lambda-staircase", "settings": settings}])
    tool = made.tool(0)
    history = []
    for i in range(3):
        history.append(play(tool.exercise(1, i, history), registry.line_up("random", tool)))
    machines = Machines(patience=60)
    screen = Screen("done", {}, records=(tuple(history),), plan=made.text)
    (result,) = machines.results(screen)
    floor = next(one for one in result["minds"] if one["role"] == "floor")
    assert floor["score"] == result["score"]
    machines.close()


def test_what_is_said_of_signs_and_numbers_is_true_of_every_arm():
    both = [{"instrument": "lambda", "settings": CELLS, "exercises": 1},
            {"instrument": "lambda-star", "exercises": 1}]  # fmt: skip
    arms = [{"name": "signs"}, {"name": "numbers", "show_numbers": True}]
    plain, numbers, divided = (
        parity(study(tests=both, **changes))
        for changes in ({}, {"show_numbers": True}, {"arms": arms})
    )
    signs = "People saw the sign of a reward only; programs get the number."
    assert f"lambda: {signs}" in plain
    assert not any(signs in sentence for sentence in numbers)
    assert f"lambda, arm signs: {signs}" in divided
    assert not any("lambda-star" in sentence and signs in sentence for sentence in divided)
    common = [one for one in plain if one in numbers]
    assert [one for one in divided if "arm " not in one] == common
