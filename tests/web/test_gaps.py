"""Coming back: what a gap means, by a clock that the tests set."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from studio import CELLS, HOUR, MINUTE, Person, study

from allminds import registry
from allminds.episode import Episode
from allminds.web.export import export_folder, results
from allminds.web.gaps import meaning
from allminds.web.serve import SteadyClock
from allminds.web.tables import EventRow, ExerciseRow, SessionRow


def exercises(server) -> list[ExerciseRow]:
    with server.store.reading() as db:
        found = list(db.scalars(select(ExerciseRow).order_by(ExerciseRow.idx)))
        db.expunge_all()
    return found


def begun(opened, moves: int = 2, **changes) -> Person:
    server, _, links = opened(**changes)
    person = Person(server)
    person.join(links[0])
    person.begin()
    for move in range(moves):
        person.choose(move)
    return person


@pytest.mark.parametrize(
    ("gap", "begun", "midst", "policy", "means"),
    [
        (0, True, True, "continue", "go on"),
        (30 * MINUTE - 1, True, True, "void", "go on"),
        (30 * MINUTE, True, True, "continue", "again"),
        (30 * MINUTE, True, True, "replace", "replace"),
        (30 * MINUTE, True, True, "void", "void"),
        (30 * MINUTE, True, False, "void", "go on"),
        (24 * HOUR, True, True, "continue", "again"),
        (24 * HOUR + 1, True, True, "continue", "over"),
        (24 * HOUR + 1, True, False, "continue", "over"),
        (90 * 24 * HOUR, False, False, "continue", "go on"),
    ],
)
def test_the_rules(gap, begun, midst, policy, means):
    assert meaning(study(resume={"policy": policy}), gap, begun, midst) == means


def test_a_short_gap_changes_nothing(opened, clock):
    person = begun(opened)
    clock.now += 29 * MINUTE
    assert person.choose() == "exercise"
    assert person.form["step"] == "3"
    assert exercises(person.server)[0].flags == []


def test_after_a_longer_gap_the_instructions_come_first(opened, clock):
    person = begun(opened)
    view = person.context["view"]
    clock.now += 31 * MINUTE
    assert person.choose() == "instructions", "a click on the old page is not taken"
    assert person.context["again"] is True
    assert person.load() == "instructions"
    assert person.post("/next") == "exercise"
    assert person.form["step"] == "2"
    assert person.context["view"] == view, "it goes on where it was"
    assert person.post("/next", place="2") == "exercise"
    assert person.finish() == "done"
    (first, second) = exercises(person.server)
    assert first.flags == ["interrupted", "reloaded"]
    assert first.score is not None
    assert second.flags == []
    with person.server.store.reading() as db:
        query = select(EventRow.payload).where(EventRow.kind == "resume").order_by(EventRow.id)
        assert db.scalars(query).first()["gap_ms"] > 31 * MINUTE


def test_coming_back_in_a_question_or_between_exercises_goes_on(opened, clock):
    person = begun(opened, moves=4)
    assert person.screen == "between"
    clock.now += 23 * HOUR
    assert person.post("/next") == "exercise"
    clock.now += 23 * HOUR
    assert person.choose() == "exercise", "before its first move nothing is spoilt"
    assert person.form["step"] == "1"


def test_a_note_on_coming_back_does_not_hide_the_gap(opened, clock):
    person = begun(opened)
    clock.now += 40 * MINUTE
    person.send("POST", "/note", person.form | {"kind": "visible"})
    assert person.choose() == "instructions"


def test_after_a_day_it_is_over_and_what_was_done_is_kept(opened, clock):
    person = begun(opened, moves=4)  # one exercise whole, then one begun
    person.post("/next")
    person.choose()
    clock.now += 24 * HOUR + MINUTE
    assert person.load() == "closed"
    assert person.context["reason"] == "abandoned"
    assert person.load() == "closed"
    with person.server.store.reading() as db:
        assert db.scalar(select(SessionRow.status)) == "abandoned"
        found = list(results(db, person.server.store.study()))
    assert [one["status"] for one in found] == ["ok", "timeout"]
    assert found[1]["score"] < 0, "the moves that were not made count the lowest"
    assert found[1]["reason"] == "not finished"


@pytest.mark.parametrize("visits", [1, 3])
def test_a_clock_that_is_wrong_ends_no_session_for_good(opened, clock, visits):
    """25 hours ahead and set right again: by the server's own clock nobody was ever away."""
    person = begun(opened, moves=1)
    clock.now += 25 * HOUR
    assert [person.load() for _ in range(visits)] == ["closed"] * visits
    clock.now -= 25 * HOUR
    assert person.load() == "exercise"
    assert exercises(person.server)[0].flags == ["reloaded"]
    assert person.finish() == "done"


def test_a_clock_that_was_slow_and_is_set_right_ends_no_session(opened, clock):
    person = begun(opened, moves=1)
    clock.now -= 25 * HOUR
    assert person.choose() == "exercise"
    clock.now += 25 * HOUR
    assert person.choose() == "exercise"
    assert person.form["step"] == "3"
    assert person.finish() == "done"


def test_a_clock_that_is_wrong_for_a_while_gives_no_place_away(opened, clock):
    """Served as people are: the machine's clock is 25 hours ahead, and is set right again."""
    server, _, _ = opened(count=0, participants=2)
    link, machine = server.store.open_link(server.store.study()), {"wall": 1.8e9, "ticks": 50.0}
    steady = SteadyClock(lambda: machine["wall"], lambda: machine["ticks"])
    server.app.state.service.sessions.clock = steady
    people = [Person(server) for _ in range(2)]
    for one in people:
        assert one.join(link) == "consent"
        assert one.begin() == "exercise"
    machine["wall"] += 25 * 3600
    assert [one.load() for one in people] == ["exercise"] * 2
    assert Person(server).join(link) == "closed"
    machine["wall"] -= 25 * 3600
    assert [one.finish() for one in people] == ["done"] * 2
    assert Person(server).join(link) == "closed"


def test_places_that_a_wrong_clock_gave_away_are_given_once(opened, clock):
    """Whoever was there and whoever came both finish; nobody more comes in."""
    server, _, _ = opened(count=0, participants=2)
    link = server.store.open_link(server.store.study())
    people = [Person(server) for _ in range(4)]
    for n, one in enumerate(people):
        clock.now += 25 * HOUR if n == 2 else 0
        assert one.join(link) == "consent"
        assert one.begin() == "exercise"
    assert Person(server).join(link) == "closed"
    clock.now -= 25 * HOUR
    assert Person(server).join(link) == "closed"
    assert [one.finish() for one in people] == ["done"] * 4
    clock.now += 25 * HOUR
    assert Person(server).join(link) == "closed"


def test_a_clock_that_was_set_is_followed_once_it_lasts():
    machine = {"wall": 1000.0, "ticks": 5.0}
    clock = SteadyClock(lambda: machine["wall"], lambda: machine["ticks"])

    def after(seconds: float, jump: float = 0) -> int:
        machine["ticks"] += seconds
        machine["wall"] += seconds + jump
        return clock()

    assert after(10) == 1_010_000
    assert after(10, jump=30) == 1_050_000, "a little, as time servers set it"
    assert after(10, jump=90_000) == 1_060_000
    assert after(3590, jump=-90_000) == 4_650_000, "it is back"
    assert after(10, jump=-90_000) == 4_660_000
    assert after(3600) == (4_660 + 3600 - 90_000) * 1000, "it stays so"


def test_a_study_that_a_wrong_clock_closed_is_open_again(opened, clock):
    closes = datetime.fromtimestamp((clock.now + HOUR) / 1000, UTC).isoformat()
    person = begun(opened, moves=1, closes=closes)
    clock.now += 2 * HOUR
    assert person.load() == "closed"
    clock.now -= 2 * HOUR
    assert person.load() == "exercise"
    assert person.finish() == "done"


def test_whoever_never_comes_back_has_left_by_then(opened, clock):
    person = begun(opened, moves=4)
    person.post("/next")
    person.choose()
    found = {}
    for hours in (1, 25):
        with person.server.store.reading() as db:
            at = clock.now + hours * HOUR
            found[hours] = list(results(db, person.server.store.study(), now=at))
    assert [one["status"] for one in found[1]] == ["ok"], "it may go on yet"
    assert [one["status"] for one in found[25]] == ["ok", "timeout"]


def test_leaving_a_world_never_pays(opened, clock):
    """Whoever leaves after the first move scores no more than with any way of playing on."""
    person = begun(opened, moves=1)
    clock.now += 25 * HOUR
    person.load()
    (row,) = exercises(person.server)
    with person.server.store.reading() as db:
        (left,) = results(db, person.server.store.study())
        first = db.scalar(select(EventRow.action).where(EventRow.kind == "choice"))
    assert left["status"] == "timeout"
    tool = registry.make_instrument(row.kind, row.params)
    world = tool.exercise(row.seed, row.number)
    for ways in itertools.product(range(world.environment.actions[0].n), repeat=3):
        episode = Episode(world)
        episode.play({0: first})
        while episode.record is None:
            episode.play({0: ways[episode.step % 3]})
        assert left["score"] <= episode.record.score[0]


def test_leaving_a_game_is_to_lose_it(opened, clock):
    game = {"instrument": "noughts-and-crosses", "exercises": 1, "opponent": "random"}
    person = begun(opened, moves=0, tests=[game])
    assert person.choose() == "exercise"
    clock.now += 25 * HOUR
    person.load()
    with person.server.store.reading() as db:
        (left,) = results(db, person.server.store.study())
    assert (left["status"], left["score"]) == ("timeout", -1.0)


def test_before_anything_was_begun_no_gap_is_too_long(opened, clock):
    server, _, links = opened()
    person = Person(server)
    person.join(links[0])
    clock.now += 72 * HOUR
    assert person.begin() == "exercise"


def test_an_exercise_can_be_replaced_by_a_fresh_one_of_the_same_size(opened, clock):
    tests = [{"instrument": "lambda", "exercises": 3}]
    person = begun(opened, tests=tests, resume={"policy": "replace"})
    clock.now += 31 * MINUTE
    assert person.load() == "instructions"
    person.post("/next")
    assert person.form["step"] == "0"
    assert person.context["exercise"] == 1
    old, new = exercises(person.server)
    assert old.flags == ["interrupted", "replaced"]
    assert (old.number, old.score) == (0, None)
    tool = study(tests=tests).tool(0)
    assert new.number >= 3, "one that nobody has"
    cells = [tool.exercise(1, n).environment.space.cells for n in (old.number, new.number)]
    assert cells == [3, 3]
    while person.screen == "exercise":
        person.choose()
    with person.server.store.reading() as db:
        found = list(results(db, person.server.store.study()))
    assert [one["status"] for one in found] == ["void", "ok"]
    assert found[0]["reason"] == "broken off and replaced by another"


def test_no_two_with_exercises_of_their_own_get_the_same_one_instead(opened, clock):
    tests = [{"instrument": "lambda", "exercises": 3}]
    changes = {"tests": tests, "resume": {"policy": "replace"}, "assignment": "own"}
    server, _, links = opened(count=3, **changes)
    for link in links:
        person = Person(server)
        person.join(link)
        person.begin()
        person.choose()
        clock.now += 31 * MINUTE
        assert person.load() == "instructions"
    numbers = [row.number for row in exercises(server)]
    assert len(numbers) == len(set(numbers)) == 6


def test_an_exercise_can_be_void(opened, clock):
    person = begun(opened, resume={"policy": "void"})
    clock.now += 31 * MINUTE
    assert person.choose() == "instructions"
    assert person.post("/next") == "exercise"
    assert person.context["exercise"] == 2, "without the pause that would show a reward"
    assert exercises(person.server)[0].flags == ["interrupted", "void"]
    assert person.finish() == "done"


@pytest.mark.parametrize("policy", ["replace", "void"])
def test_leaving_what_goes_badly_works_so_often_and_is_reported(opened, clock, policy, tmp_path):
    """Whoever leaves every exercise after the first move gets away with `most` of them."""
    tests = [{"instrument": "lambda", "settings": CELLS, "exercises": 4}]
    person = begun(opened, moves=1, tests=tests, resume={"policy": policy, "most": 2})
    for _ in range(4):
        clock.now += 31 * MINUTE
        assert person.load() == "instructions"
        assert person.post("/next") == "exercise"
        person.choose()
    assert person.finish() == "done"
    ended = "replaced" if policy == "replace" else "void"
    flags = [row.flags for row in exercises(person.server)]
    assert [ended in one for one in flags].count(True) == 2
    assert flags[2] == ["interrupted", "reloaded"], "the third goes on where it was"
    store = person.server.store
    made = export_folder(store, store.study(), tmp_path / "out")
    said = " ".join(made["parity"])
    assert "at most 2 of a participant: in all 2 exercises, in 1 sessions." in said
    lines = [json.loads(one) for one in (tmp_path / "out" / "events.jsonl").open()]
    assert [one["broken_off"] for one in lines if one.get("kind") == "session"] == [2]


def test_a_void_last_exercise_ends_the_session(opened, clock):
    tests = [{"instrument": "lambda", "settings": CELLS, "exercises": 1}]
    person = begun(opened, tests=tests, resume={"policy": "void"})
    clock.now += 31 * MINUTE
    assert person.choose() == "done"


def test_a_void_exercise_of_an_adaptive_test_counts_what_was_made(opened, clock):
    staircase = {"instrument": "lambda-staircase", "settings": {"time": 12, "steps": 4, "cells": 3}}
    person = begun(opened, tests=[staircase], resume={"policy": "void"})
    clock.now += 31 * MINUTE
    assert person.choose() == "instructions"
    person.post("/next")
    assert person.finish() == "done"
    with person.server.store.reading() as db:
        found = list(results(db, person.server.store.study()))
    assert [one["status"] for one in found] == ["void", "ok", "ok"]


def test_practice_is_never_replaced_or_void(opened, clock):
    tests = [{"instrument": "lambda", "settings": CELLS, "exercises": 1, "practice": 1}]
    person = begun(opened, tests=tests, resume={"policy": "void"})
    clock.now += 31 * MINUTE
    assert person.choose() == "instructions"
    assert person.post("/next") == "exercise"
    assert person.context["practice"] is True
    assert person.form["step"] == "2"
