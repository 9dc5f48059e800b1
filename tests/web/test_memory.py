"""What a server remembers of a session changes nothing: it is as if it had been read anew."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from company import DILEMMA
from studio import SHORT, Clock, Person, Server, events, make, rows, study

from allminds.web.session import Memory
from allminds.web.tables import EventRow, Rows, SessionRow

TESTS: dict[str, dict] = {
    "cells": SHORT,
    "adaptive": {
        "instrument": "lambda-staircase",
        "settings": {"time": 12, "steps": 4, "cells": 3},
    },
    "questions": {"instrument": "c-test", "exercises": 6},
    "game": DILEMMA | {"opponent": "grim"},
}


@pytest.fixture
def second(where, clock, person):
    """Another server on the same database."""
    server = Server(where, clock)
    server.limits = person.server.limits
    yield server.start()
    server.stop()


def seen_by(where: str, test: dict, forgetful: bool) -> tuple[list, list]:
    """All that a person is shown and all that is kept, with some reloads on the way."""
    planned, clock = study(tests=[test]), Clock()
    _, links = make(where, planned, 1, clock)
    server = Server(where, clock).start()
    person, seen = Person(server), []
    person.join(links[0])
    person.begin()
    while person.screen != "done":
        if forgetful:
            server.app.state.service.sessions.memory = Memory()
        seen.append(person.context)
        if len(seen) % 5 == 0:
            person.load()
        elif person.screen == "exercise":
            person.choose(len(seen))
        else:
            person.post("/next")
    what = ("kind", "exercise_idx", "step", "choice", "action", "reward", "payload")
    kept = [[getattr(event, name) for name in what] for event in rows(server, EventRow)]
    server.stop()
    return [*seen, person.context], kept


@pytest.mark.parametrize("test", TESTS)
def test_who_is_remembered_sees_what_who_is_not_sees(tmp_path, test):
    remembered = seen_by(str(tmp_path / "a.db"), TESTS[test], forgetful=False)
    assert len(remembered[0]) > 4
    assert remembered == seen_by(str(tmp_path / "b.db"), TESTS[test], forgetful=True)


def test_what_another_server_did_is_noticed(person, second):
    """One remembers the session as it was before the other's move."""
    here, there = person.server, second
    for move in range(3):
        person.server = (here, there)[move % 2]
        person.choose(move)
        assert person.form["step"] == str(move + 1)
    assert person.load() == "exercise"
    person.server = there
    assert person.finish() == "done"
    person.server = here
    assert person.load() == "done"
    assert [(e.exercise_idx, e.step) for e in events(here, "choice")] == [
        (exercise, step) for exercise in (0, 1) for step in range(4)
    ]


def test_the_same_choice_at_two_servers_counts_once(person, second):
    form = person.form | {"choice": person.context["choices"][0]}
    other = Person(second)
    other.cookie = person.cookie
    other.load()  # both remember the session
    person.load()
    people = [person, other] * 8
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda one: one.send("POST", "/choice", form), people))
    assert {reply.json()["step"] for reply in replies} == {1}
    assert len(events(second, "choice")) == 1


def test_what_the_researcher_deletes_is_not_remembered(person, clock):
    person.choose()
    store = person.server.store
    store.forget(store.study(), None, clock())
    assert person.load() == "withdrawn"
    assert not events(person.server, "choice")


def test_what_could_not_be_kept_did_not_happen(person, monkeypatch):
    person.choose()
    before = person.context

    def full(rows: Rows) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Rows, "keep", full)
        form = person.form | {"choice": before["choices"][0]}
        assert person.send("POST", "/choice", form).status_code == 500
    assert person.load() == "exercise"
    assert person.context["view"] == before["view"]
    assert len(events(person.server, "choice")) == 1


def test_every_change_of_a_session_has_a_number_of_its_own(person):
    numbers = []
    for _ in range(3):
        person.choose()
        numbers.append(rows(person.server, SessionRow)[0].version)
    assert sorted(set(numbers)) == numbers


def test_the_oldest_are_forgotten_and_each_is_taken_once():
    memory = Memory(most=2)
    for name in "abc":
        memory.put(name, name)
    assert [memory.take(name) for name in "abcc"] == [None, "b", "c", None]
