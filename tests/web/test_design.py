"""Arms, orders of tests, questions, time limits, bonuses: what a study gives to whom."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from studio import CELLS, SHORT, Person, Server, events, make, rows, study

from allminds.core.errors import Error
from allminds.core.settings import checked
from allminds.web.design import AskedQuestion, Bonus, arm_of, latin, pages_of
from allminds.web.screens import markdown
from allminds.web.tables import ExerciseRow, SessionRow

THREE = [
    {"instrument": "lambda", "settings": CELLS, "exercises": 2},
    {"instrument": "matrices", "exercises": 2},
    {"instrument": "c-test", "exercises": 2},
]
ARMS = [{"name": "signs", "weight": 2}, {"name": "numbers", "show_numbers": True}]
EN = {"en": "Words", "es": "Palabras"}


def asked(name, kind, **more):
    return {"name": name, "kind": kind, "text": EN, **more}


def option(value):
    return {"value": value, "text": EN}


ANIMALS = [option("cat"), option("dog")]


# ---------------------------------------------------------------- arms and orders


@pytest.mark.parametrize("weights", [[1], [1, 1], [2, 1], [3, 2, 1]])
def test_every_block_of_places_has_each_arm_by_its_weight(weights):
    size = sum(weights)
    places = [arm_of(weights, 7, place) for place in range(20 * size)]
    for block in range(20):
        found = Counter(arm for arm, _ in places[block * size : (block + 1) * size])
        assert [found[arm] for arm in range(len(weights))] == weights
    for arm in range(len(weights)):  # ranks count the places of an arm
        ranks = [rank for which, rank in places if which == arm]
        assert ranks == list(range(len(ranks)))
    if len(weights) > 1:
        assert len({tuple(places[b * size][:1]) for b in range(20)}) > 1, "blocks differ"


@pytest.mark.parametrize("n", range(1, 9))
def test_a_latin_square_is_balanced_in_positions_and_in_what_follows_what(n):
    square = latin(n)
    places = Counter((at, row[at]) for row in square for at in range(n))
    pairs = Counter((row[at], row[at + 1]) for row in square for at in range(n - 1))
    assert len(places) == n * n
    assert len(set(places.values())) == 1
    assert len(pairs) == n * (n - 1)
    assert len(set(pairs.values())) <= 1


def test_arms_have_tests_settings_and_signs_of_their_own():
    arms = [
        {"name": "short", "tests": ["matrices"]},
        {"name": "hard", "settings": {"lambda": {"cells": 4}}, "show_numbers": True},
    ]
    made = study(tests=THREE, arms=arms)
    mine = {made.of(place).arm: made.of(place) for place in range(8)}
    assert mine["short"].names == ["matrices"]
    assert not mine["short"].show_numbers
    assert mine["hard"].names == ["lambda", "matrices", "c-test"]
    assert mine["hard"].tests[0].settings == CELLS | {"cells": 4}
    assert mine["hard"].show_numbers


def test_an_order_of_tests_follows_from_the_place():
    latinised = study(tests=THREE, order="latin")
    orders = Counter(tuple(latinised.of(place).names) for place in range(12))
    assert set(orders.values()) == {2}
    assert len(orders) == 6
    drawn = study(tests=THREE, order="shuffled")
    many = Counter(tuple(drawn.of(place).names) for place in range(60))
    assert len(many) == 6
    assert drawn.of(5) == drawn.of(5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arms": [{"name": "a", "tests": ["nothing"]}]}, "there is no test 'nothing'"),
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "two of them have the same name"),
        ({"arm": "a"}, "'arm' is drawn for each participant"),
        ({"questions": [asked("q", "choice")]}, "a choice needs options"),
        ({"questions": [asked("age", "number")]}, "'age' is a column of the data already"),
        ({"questions": [asked("q", "text", when="never")]}, "there is no test 'never'"),
        ({"questions": [asked("q", "text") | {"text": {"en": "a"}}]}, "missing in the language"),
        ({"questions": [asked("q", "number", right="x")]}, "'x' is not an answer"),
        ({"bonus": {"currency": "GBP", "per_point": {"x": 1}, "most": 1}}, "no test 'x'"),
        (
            {"order": "latin", "tests": [
                {"instrument": "stag-hunt", "exercises": 1, "opponent": "person"}
            ]},
            "two people who play with each other",
        ),
    ],
)  # fmt: skip
def test_a_design_that_does_not_fit_is_refused_in_one_sentence(changes, said):
    with pytest.raises(Error) as raised:
        study(**changes)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_participants_are_given_their_arm_and_order_when_they_agree(where, clock):
    made = study(tests=THREE, arms=ARMS, order="latin")
    _, links = make(where, made, 6, clock)
    server = Server(where, clock).start()
    try:
        for number, link in enumerate(links):
            person = Person(server)
            person.join(link)
            person.begin()
            assert person.finish() == "done"
            mine = made.of(number)
            row = rows(server, SessionRow)[number]
            assert json.loads(row.plan)["arm"] == mine.arm
            theirs = [one for one in rows(server, ExerciseRow) if one.session_id == row.id]
            assert list(dict.fromkeys(one.kind for one in theirs)) == mine.names
    finally:
        server.stop()


# ---------------------------------------------------------------- questions


def question(kind, **more):
    return checked(AskedQuestion, asked("q", kind, **more), "a question")


@pytest.mark.parametrize(
    ("one", "given", "why"),
    [
        (question("choice", options=ANIMALS), {"q": "cat"}, None),
        (question("choice", options=ANIMALS), {"q": "cow"}, "unknown"),
        (question("choice", options=ANIMALS), {}, "missing"),
        (question("choice", options=ANIMALS, required=False), {}, None),
        (question("number", least=1, most=9), {"q": "1"}, None),
        (question("number", least=1, most=9), {"q": "0"}, "small"),
        (question("number", least=1, most=9), {"q": "10"}, "large"),
        (question("number"), {"q": "1.5"}, "whole"),
        (question("number", whole=False), {"q": "1,5"}, None),
        (question("number"), {"q": "nan"}, "number"),
        (question("number"), {"q": "1e999"}, "number"),
        (question("scale", points=7), {"q": "7"}, None),
        (question("scale", points=7), {"q": "8"}, "unknown"),
        (question("text", longest=3), {"q": "abc"}, None),
        (question("text", longest=3), {"q": "abcd"}, "long"),
        (question("text"), {"q": "   "}, "missing"),
    ],
)
def test_an_answer_is_taken_or_refused_with_a_reason(one, given, why):
    _, wrong = one.read(given)
    assert [problem.why for problem in wrong] == ([] if why is None else [why])


def test_a_matrix_of_scales_has_an_answer_for_every_row():
    one = question("scale", rows=[option("calm"), option("tired")])
    assert one.fields == ["q.calm", "q.tired"]
    answers, wrong = one.read({"q.calm": "2"})
    assert answers == {"q.calm": "2"}
    assert [problem.field for problem in wrong] == ["q.tired"]


def test_questions_are_asked_at_their_time_and_page_by_page(where, clock):
    questions = [
        asked("mood", "scale", when="before", rows=[option("calm"), option("tired")]),
        asked("seen", "choice", when="lambda", options=ANIMALS, right="cat"),
        asked("years", "number", least=18, most=99, page=2),
        asked("said", "text", required=False, page=1),
    ]
    made = study(questions=questions)
    assert [len(page) for page in pages_of(made.questions, "after")] == [1, 1]
    _, links = make(where, made, 1, clock)
    server = Server(where, clock).start()
    try:
        person = Person(server)
        person.join(links[0])
        assert person.post("/consent", accept="yes") == "questions"
        assert person.post("/answers", **{"mood.calm": "1"}) == "questions"
        assert person.context["problems"] == {"mood.tired": ["mood.tired", "missing", 0]}
        assert person.context["given"] == {"mood.calm": "1"}
        stale = dict(person.form)
        person.post("/answers", **{"mood.calm": "1", "mood.tired": "5"})
        assert person.screen == "instructions"
        person.send("POST", "/answers", stale | {"mood.calm": "2", "mood.tired": "2"})
        person.load()
        person.post("/next")
        assert person.finish() == "questions"
        person.post("/answers", seen="dog")
        person.post("/answers", said="")
        assert person.post("/answers", years="17") == "questions"
        assert person.post("/answers", years="18") == "done"
        found = {}
        for event in events(server, "answer"):
            found |= event.payload["answers"]
        assert found == {"mood.calm": "1", "mood.tired": "5", "seen": "dog", "years": "18"}
    finally:
        server.stop()


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("limit", ["choice_seconds", "exercise_seconds"])
def test_when_the_time_is_over_the_exercise_ends_and_what_is_missing_counts_lowest(
    where, clock, limit
):
    """By the server's clock: a reload gives no more time, and quitting never pays."""
    _, links = make(where, study(tests=[SHORT | {limit: 10}]), 1, clock)
    server = Server(where, clock).start()
    try:
        person = Person(server)
        person.join(links[0])
        person.begin()
        assert 9_000 < person.context["left"] <= 10_000
        person.choose()
        clock.now += 8_000
        assert person.load() == "exercise"
        assert person.context["left"] < 2_100
        clock.now += 8_000
        assert person.choose() == "between", "the choice came too late"
        (row, *_) = rows(server, ExerciseRow)
        assert row.flags[-1] == "time"
        assert row.finished is not None
        (choice,) = events(server, "choice")
        assert row.score == pytest.approx((choice.reward + 3 * -1) / 4)
        assert person.finish() == "done"
    finally:
        server.stop()


def test_a_choice_that_was_on_its_way_is_taken(where, clock):
    _, links = make(where, study(tests=[SHORT | {"choice_seconds": 10}]), 1, clock)
    server = Server(where, clock).start()
    try:
        person = Person(server)
        person.join(links[0])
        person.begin()
        clock.now += 10_800
        person.choose()
        assert len(events(server, "choice")) == 1
        assert person.screen == "exercise"
    finally:
        server.stop()


# ---------------------------------------------------------------- bonus and texts


@pytest.mark.parametrize(
    ("scores", "bonus"),
    [([], 1.0), ([0.5, 0.29], 2.58), ([1.0] * 9, 5.0), ([-1.0] * 9, 0.0), ([0.1], 1.2)],
)
def test_a_bonus_is_in_whole_cents_between_nothing_and_its_most(scores, bonus):
    rule = Bonus(currency="GBP", base=1, per_point={"a": 2}, most=5)
    assert rule.of(["a", "b"], [scores, [9.0]]) == bonus


@pytest.mark.parametrize(
    "nasty",
    [
        "<script>alert(1)</script>", "[a](javascript:alert(1))", "![a](http://example.org/a.png)",
        "<img src=x onerror=alert(1)>", "[a](data:text/html,x)", "a<b onclick=x>",
    ],
)  # fmt: skip
def test_no_markup_but_that_of_markdown_gets_into_a_page(nasty):
    made = str(markdown(f"# Title\n\n**bold** and {nasty}\n\n{nasty}"))
    assert "<h2>Title</h2>" in made, "the main heading is the page's own"
    assert "<strong>bold</strong>" in made
    for bad in ("<script", "<img", 'href="javascript', 'href="data', "<b "):
        assert bad not in made.lower()


# ---------------------------------------------------------------- enlarged, paused, closed


def test_a_study_can_be_enlarged_paused_and_closed(where, clock):
    _, links = make(where, study(participants=1), 1, clock)
    server = Server(where, clock).start()
    try:
        store = server.store
        inside = Person(server)
        inside.join(links[0])
        inside.begin()
        link = store.open_link(store.study())
        assert Person(server).join(link) == "closed"
        store.extend(store.study(), 2)
        store.set_state(store.study(), "paused")
        waiting = Person(server)
        assert waiting.join(link) == "closed"
        assert waiting.context["reason"] == "paused"
        store.set_state(store.study(), "open")
        assert waiting.join(link) == "consent"
        store.set_state(store.study(), "closed")
        assert waiting.begin() == "exercise", "whoever is in it can finish"
        assert waiting.finish() == "done"
        store.set_state(store.study(), "closed", ends=clock())
        assert inside.load() == "closed"
        assert inside.context["reason"] == "closed", "not that a day went by"
        with pytest.raises(Error, match="name a larger number"):
            store.extend(store.study(), 2)
    finally:
        server.stop()
