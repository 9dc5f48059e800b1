"""A session: every choice is kept once, and whatever happens leads to the screen that is due."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from studio import CELLS, Person, events, rows, study

from allminds.web.tables import ConsentRow, EventRow, ExerciseRow, SessionRow


def test_a_whole_session(opened):
    server, _, links = opened(ask=["age", "script"], completion_code="C0DE")
    person = Person(server)
    assert person.join(links[0], language="es") == "consent"
    assert person.context["text"] == "¿Acepta?"
    assert person.context["language"] == "es"
    assert person.post("/consent", accept="") == "consent", "nobody agrees by accident"
    about = {"about_age": "25-34", "about_script": "klingon", "about_name": "Ada"}
    assert person.post("/consent", accept="yes", **about) == "instructions"
    assert person.post("/next") == "exercise"
    assert (person.context["exercise"], person.context["exercises"]) == (1, 2)
    for move in range(4):
        assert (person.context["move"], person.context["moves"]) == (move + 1, 4)
        assert (person.context["reward"] is None) == (move == 0)
        assert person.context["number"] is None
        person.choose(move)
    assert person.screen == "between"
    assert person.context["reward"] in (-1, 0, 1), "the last reward is shown too"
    assert person.post("/next") == "exercise"
    assert person.finish() == "done"
    assert person.context["code"] == "C0DE"
    assert person.load() == "done", "the end can always be reached"
    consent = rows(server, ConsentRow)[0]
    assert (consent.version, consent.lang, consent.about) == ("v7", "es", {"age": "25-34"})
    choices = events(server, "choice")
    assert [(c.exercise_idx, c.step) for c in choices] == [(x, s) for x in (0, 1) for s in range(4)]
    assert {c.rt_ms for c in choices} == {512}
    session = rows(server, SessionRow)[0]
    assert (session.status, session.lang) == ("finished", "es")
    assert all(row.finished and row.flags == [] for row in rows(server, ExerciseRow))


def test_without_javascript_every_post_leads_back_to_the_page(opened):
    server, _, links = opened()
    person = Person(server, scripted=False)
    person.join(links[0])
    person.begin()
    assert person.finish() == "done"
    assert not events(server, "resume"), "a redirect is not a reload"


def test_a_double_post_counts_once(person):
    before = dict(person.form)
    person.choose(1)
    assert person.form["step"] == "1"
    after = person.context["view"]
    person.form = before
    person.post("/choice", choice=person.context["choices"][0])
    assert person.form["step"] == "1", "the second click is answered by where the session is"
    assert person.context["view"] == after
    assert len(events(person.server, "choice")) == 1


def test_a_stale_tab_changes_nothing(person):
    other = Person(person.server)
    other.cookie = person.cookie
    other.load()
    for move in range(3):
        person.choose(move)
    other.choose()
    assert len(events(person.server, "choice")) == 3
    assert other.form == person.form
    stale_place = dict(other.form) | {"place": "1"}
    other.form = stale_place
    assert other.post("/next") == "exercise", "an old page cannot skip a screen"


def test_a_second_click_on_next_skips_nothing(person):
    for _ in range(4):
        person.choose()
    form = dict(person.form)
    assert person.post("/next") == "exercise"
    person.form = form
    assert person.post("/next") == "exercise"
    assert person.context["exercise"] == 2


def test_a_lost_reply_is_made_up_by_sending_again(person):
    form, choice = dict(person.form), person.context["choices"][0]
    person.send("POST", "/choice", form | {"choice": choice})  # nobody reads the answer
    assert person.post("/choice", choice=choice) == "exercise"
    assert person.form["step"] == "1"
    assert len(events(person.server, "choice")) == 1


def test_the_same_choice_from_many_threads_counts_once(person):
    form = person.form | {"choice": person.context["choices"][0]}
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: person.send("POST", "/choice", form), range(16)))
    assert {reply.status_code for reply in replies} == {200}
    assert {reply.json()["step"] for reply in replies} == {1}
    assert len(events(person.server, "choice")) == 1


def test_many_people_at_once_are_kept_apart(opened):
    server, _, links = opened(count=6)

    def takes(link: str) -> str:
        person = Person(server)
        person.join(link)
        person.begin()
        return person.finish()

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(takes, links)) == {"done"}
    assert len(events(server, "choice")) == 6 * 8


def test_a_restart_in_mid_exercise_leads_to_the_same_screen(person):
    for move in range(3):
        person.choose(move)
    before = person.context
    person.server.again()
    assert person.load() == "exercise"
    assert person.context == before
    assert person.finish() == "done"
    assert len(events(person.server, "choice")) == 8


def test_a_reload_is_noted_with_the_time_it_took_and_marks_the_response_time(person, clock):
    person.choose()
    clock.now += 90_000
    person.load()
    (resume,) = events(person.server, "resume")
    assert 90_000 <= resume.payload["gap_ms"] < 91_000
    assert (resume.exercise_idx, resume.step) == (0, 1)
    person.choose()
    first, second = events(person.server, "choice")
    assert first.payload is None
    assert second.payload == {"reloaded": True}
    assert rows(person.server, ExerciseRow)[0].flags == ["reloaded"]


def test_withdrawing_deletes_everything_but_that_somebody_was_there(opened):
    server, _, links = opened(external_id="PID", ask=["age"])
    person = Person(server)
    person.join(links[0], external_id="panel-7", viewport="1233x777", pointer="fine")
    assert rows(server, SessionRow)[0].device["viewport"] == "1200x750"
    person.begin()
    person.choose()
    assert person.post("/withdraw", sure="yes") == "withdrawn"
    assert person.load() == "withdrawn"
    assert rows(server, EventRow) == rows(server, ExerciseRow) == rows(server, ConsentRow) == []
    session = rows(server, SessionRow)[0]
    assert (session.status, session.device) == ("withdrawn", None)
    again = Person(server)
    assert again.join(links[0]) == "withdrawn", "a link is used once"
    assert again.show(again.send("GET", f"/j/{links[0]}")) == "withdrawn"


def test_withdrawing_is_open_after_the_end(person):
    assert person.finish() == "done"
    assert person.post("/withdraw") == "withdrawn"
    assert rows(person.server, EventRow) == []


def test_practice_does_not_count_and_the_check_is_asked_until_it_is_understood(opened):
    tests = [{"instrument": "lambda", "settings": CELLS, "exercises": 1, "practice": 1}]
    server, _, links = opened(tests=[tests[0] | {"check": True, "attempts": 2}])
    person = Person(server)
    person.join(links[0])
    person.post("/consent", accept="yes")
    assert person.post("/next") == "check"
    names = [question["name"] for question in person.context["questions"]]
    assert names
    assert person.post("/check", **{names[0]: "nonsense"}) == "check"
    assert person.context["attempt"] == 2
    assert names[0] in person.context["wrong"]
    assert person.post("/check") == "exercise", "the last attempt goes on, with a flag"
    assert person.context["practice"] is True
    assert (person.context["exercise"], person.context["exercises"]) == (1, 1)
    for _ in range(4):
        person.choose()
    assert person.screen == "between"
    assert person.context["practice"] is True
    assert person.context["next_practice"] is False
    assert person.finish() == "done"
    assert [row.practice for row in rows(server, ExerciseRow)] == [True, False]
    practised, counted = rows(server, ExerciseRow)
    assert practised.seed != counted.seed
    assert len(events(server, "check")) == 2
    assert person.context["results"][0]["exercises"] == 1


def test_questions_have_pauses_without_news_and_no_feedback_unless_asked_for(opened):
    series = {"instrument": "c-test", "settings": {"form": "generated", "k": "7..8"}}
    tests = [series | {"exercises": 3, "pause_every": 2}, series | {"first": 9, "exercises": 1}]
    tests[1] |= {"feedback": True}
    server, _, links = opened(tests=tests)
    person = Person(server)
    person.join(links[0])
    person.begin()
    assert person.choose() == "exercise"
    assert person.context["reward"] is None
    assert person.choose() == "between"
    assert person.context["rest"] is True
    assert person.context["reward"] is None
    person.post("/next")
    assert person.choose() == "instructions", "the next test"
    person.post("/next")
    assert person.context["exercise"] == 4
    assert person.choose() == "between"
    assert person.context["reward"] in (0, 1)
    assert {event.correct for event in events(server, "choice")} <= {True, False}


def test_rewards_are_numbers_only_where_the_study_says_so(opened):
    server, _, links = opened(show_numbers=True)
    person = Person(server)
    person.join(links[0])
    person.begin()
    person.choose()
    (event,) = events(server, "choice")
    assert person.context["number"] == event.reward


def test_notes_are_kept_up_to_a_limit_and_only_known_ones(person, monkeypatch):
    from allminds.web import tables

    monkeypatch.setattr(tables, "MOST_NOTES", 3)
    for kind in ("blur", "focus", "<script>", "hidden", "visible"):
        reply = person.send("POST", "/note", person.form | {"kind": kind, "ms": "12.5"})
        assert reply.status_code == 204
    kept = events(person.server, "note")
    assert [note.payload["what"] for note in kept] == ["blur", "focus", "hidden"]
    assert kept[0].client_ts == 12.5


@pytest.mark.parametrize("nonsense", ["99", "-1", "", "stay", "0; DROP TABLE event", "é" * 64])
def test_a_choice_that_is_not_on_the_screen_changes_nothing(person, nonsense):
    before = dict(person.form)
    person.post("/choice", choice=nonsense)
    if nonsense:  # an empty one is no form of ours at all
        assert person.form == before
    assert events(person.server, "choice") == []


def test_response_times_that_are_none_are_left_out(person):
    for rt in ("", "-5", "nan", "1e99", "abc"):
        person.choose(rt_ms=rt, input="telepathy")
        if person.screen == "between":
            person.post("/next")
    kept = events(person.server, "choice")
    assert [event.rt_ms for event in kept] == [None] * 5
    assert {event.input for event in kept} == {"other"}


def test_everybody_has_the_same_exercises_or_their_own(opened):
    server, _, links = opened(count=2, assignment="own")
    for link in links:
        person = Person(server)
        person.join(link)
        person.begin()
        person.finish()
    assert [row.number for row in rows(server, ExerciseRow)] == [0, 1, 2, 3]
    assert study().numbers(0, 5) == [0, 1]


def test_an_adaptive_test_follows_the_persons_own_record(opened):
    from allminds import registry
    from allminds.episode import Episode

    settings = {"time": 12, "steps": 3, "cells": 3}
    server, _, links = opened(tests=[{"instrument": "lambda-staircase", "settings": settings}])
    person = Person(server)
    person.join(links[0])
    person.begin()
    assert person.context["exercises"] == 4
    assert person.finish() == "done"
    from allminds.web.export import results

    with server.store.reading() as db:
        found = list(results(db, server.store.study()))
    assert [one["index"] for one in found] == list(range(4))
    tool = registry.make_instrument("lambda-staircase", settings)
    history = []
    for one in found:
        exercise = tool.exercise(1, one["index"], history)
        assert one["xi"] == exercise.environment.complexity["xi"]
        made = [event for event in events(server, "choice") if event.exercise_idx == one["index"]]
        episode = Episode(exercise)
        for event in made:
            episode.play({0: event.action})
        history.append(episode.record)
        assert episode.record.score == (one["score"],)
