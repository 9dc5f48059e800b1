"""Careless participants are marked, careful ones are not, and the study's rule excludes."""

from __future__ import annotations

import random

import pytest
from studio import CELLS, study

from allminds.web.careless import Behaviour
from allminds.web.tables import EventRow, SessionRow

OPTIONS = [{"value": v, "text": {"en": v, "es": v}} for v in ("read", "skipped")]
CHECK = {
    "name": "check", "kind": "choice", "text": {"en": "Choose 'read'", "es": "Elija 'read'"},
    "options": OPTIONS, "right": "read",
}  # fmt: skip


def behaviour(events, status="finished", **changes):
    made = study(**changes)
    row = SessionRow(plan=made.text, status=status)
    return Behaviour.of(row, events, dict.fromkeys(range(50), 0))


def choices(moves, exercise=0):
    """Events of (choice, reward, milliseconds)."""
    return [
        EventRow(kind="choice", exercise_idx=exercise, step=n, choice=c, reward=r, rt_ms=ms)
        for n, (c, r, ms) in enumerate(moves)
    ]


def test_a_clicker_is_marked():
    """62 choices in 29 s, 50 of them the same cell, which pays no more than chance."""
    rng = random.Random(1)
    cells = ["1"] * 50 + ["2"] * 12
    rng.shuffle(cells)
    moves = [(cell, rng.choice([-1.0, 0.0, 1.0]), rng.uniform(250, 690)) for cell in cells]
    found = behaviour(choices(moves), careless={"fast_ms": 600, "exclude": ["same-choice"]})
    assert set(found.marks()) == {"fast", "same-choice"}
    assert found.excluded == "same-choice"
    usual = behaviour(choices(moves))
    assert "same-choice" in usual.marks(), "by the usual thresholds too"
    assert usual.excluded == "", "no rule, no exclusion"


def test_who_found_the_best_cell_and_stays_is_not_marked():
    moves = [("1", 0.0, 900.0)] * 3 + [("2", 1.0, 450.0)] * 40
    assert behaviour(choices(moves)).marks() == {}


def test_careful_ones_are_not_marked_and_clickers_are():
    """400 of each: marks of careful ones in at most 1 %, of clickers in at least 95 %.

    Careful: log-normal times about 1.2 s, choices by what they brought; clickers: about .3 s, one
    cell in four of five, rewards by chance.
    """
    rng = random.Random(7)
    marked = {"careful": 0, "clicker": 0}
    for _ in range(400):
        best = rng.choice("123")
        careful = []
        for n in range(60):
            cell = best if n > 12 or rng.random() < 0.5 else rng.choice("123")
            gain = rng.choice([1.0, 1.0, 1.0, 0.0]) if cell == best else rng.choice([-1.0, 0.0])
            careful.append((cell, gain, rng.lognormvariate(7.1, 0.5)))
        clicker = [
            ("1" if rng.random() < 0.8 else "2", rng.choice([-1.0, 0.0, 1.0]),
             rng.lognormvariate(5.7, 0.3))
            for _ in range(60)
        ]  # fmt: skip
        marked["careful"] += bool(behaviour(choices(careful)).marks())
        marked["clicker"] += bool(behaviour(choices(clicker)).marks())
    assert marked["careful"] <= 4
    assert marked["clicker"] >= 380


def test_what_else_is_marked():
    events = [
        EventRow(kind="note", server_ts=0, payload={"what": "hidden"}),
        EventRow(kind="note", server_ts=90_000, payload={"what": "visible"}),
        EventRow(kind="note", server_ts=90_001, payload={"what": "paste"}),
        *[EventRow(kind="check", server_ts=9, payload={"wrong": ["aim"]}) for _ in range(3)],
        EventRow(kind="answer", server_ts=9, payload={"answers": {"check": "skipped"}}),
    ]
    found = behaviour(events, status="abandoned", questions=[CHECK])
    assert found.marks() == {
        "hidden": "90s", "pasted": "1", "misread": "3", "attention": "1", "unfinished": "yes",
    }  # fmt: skip
    assert found.flags() == ["hidden-90s", "pasted-1", "misread-3", "attention-1"]


@pytest.mark.parametrize(("told", "failed"), [({"check": "read"}, 0), ({}, 1)])
def test_an_attention_check_is_passed_by_its_answer_alone(told, failed):
    event = EventRow(kind="answer", server_ts=9, payload={"answers": told})
    assert behaviour([event], questions=[CHECK | {"required": False}]).inattentive == failed


def test_thresholds_can_be_a_tests_own():
    moves = [("1", 1.0, 500.0), ("2", 0.0, 500.0)] * 10
    assert behaviour(choices(moves)).fast == []
    slow = {"instrument": "lambda", "settings": CELLS, "exercises": 2, "fast_ms": 600}
    assert behaviour(choices(moves), tests=[slow]).fast == ["lambda"]
