"""Two people in one game: how they find each other, and how they play."""

from __future__ import annotations

import csv
from concurrent.futures import ThreadPoolExecutor

import pytest
from company import DILEMMA, LETTERS, NOUGHTS, PENNIES, PEOPLE, SQLITE, arrived, both_play
from studio import Person, events, rows, study

from allminds import registry
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.episode import play
from allminds.runs.imports import read_results
from allminds.web.export import export_folder, results
from allminds.web.simulate import fitting, roomy, simulate
from allminds.web.store import Store
from allminds.web.tables import ExerciseRow, GameRow, SessionRow

# ---------------------------------------------------------------- finding each other


def test_the_first_waits_and_the_second_finds_them(opened):
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    first, second = Person(server), Person(server)
    first.join(links[0])
    assert first.begin() == "room"
    assert (first.context["state"], first.context["offers"]) == ("waiting", [])
    assert first.load() == "room"
    second.join(links[1])
    assert second.begin() == "exercise"
    assert second.context["slot"] == 1
    assert first.load() == "exercise"
    assert first.context["slot"] == 0
    (game,) = rows(server, GameRow)
    assert (game.status, game.first_id, game.second_id) == ("playing", 1, 2)


@SQLITE
def test_whoever_closed_the_page_is_not_waited_for(opened, clock):
    server, _, links = opened(count=3, tests=[DILEMMA | PEOPLE])
    gone, second, third = (Person(server) for _ in range(3))
    gone.join(links[0])
    assert gone.begin() == "room"
    clock.now += 60_000
    second.join(links[1])
    assert second.begin() == "room"
    assert gone.load() == "exercise", "back again, with the one who waits now"
    assert second.load() == "exercise"
    third.join(links[2])
    assert third.begin() == "room"
    assert [game.status for game in rows(server, GameRow)] == ["playing", "waiting"]


@SQLITE
def test_nobody_comes(opened, clock):
    """After a while there is an offer: wait, play a machine, or leave the test out."""
    tests = [DILEMMA | PEOPLE | {"wait_seconds": 30}, LETTERS]
    server, _, links = opened(count=1, tests=tests)
    person = Person(server)
    person.join(links[0])
    person.begin()
    assert person.post("/partner", answer="machine") == "room", "not yet"
    clock.now += 30_000
    person.load()
    assert person.context["offers"] == ["machine", "wait", "skipped"]
    person.post("/partner", answer="nonsense")
    assert person.context["state"] == "offer"
    person.post("/partner", answer="wait")
    assert person.context["state"] == "waiting"
    clock.now += 31_000
    person.load()
    assert person.post("/partner", answer="machine") == "exercise"
    assert person.finish() == "done"
    kept = [row for row in rows(server, ExerciseRow) if row.kind == "prisoners-dilemma"]
    assert [(row.opponent, row.game_id) for row in kept] == [("tit-for-tat", None)] * 2


@SQLITE
def test_an_answer_from_elsewhere_or_of_another_screen_decides_nothing(opened, clock):
    server, _, links = opened(count=1, tests=[DILEMMA | PEOPLE])
    (person,) = arrived(server, links)
    clock.now += 1_000_000
    person.load()
    form = person.form | {"answer": "machine"}
    assert person.send("POST", "/partner", form | {"token": "forged"}).status_code == 403
    elsewhere = person.send("POST", "/partner", form, sec_fetch_site="cross-site")
    assert elsewhere.status_code == 403
    assert person.post("/partner", answer="machine", place="1") == "room"
    assert person.context["state"] == "offer"
    assert [game.status for game in rows(server, GameRow)] == ["waiting"]


@SQLITE
def test_a_test_can_be_left_out(opened, clock):
    tests = [DILEMMA | PEOPLE | {"wait_seconds": 30}, LETTERS]
    server, _, links = opened(count=1, tests=tests)
    (person,) = arrived(server, links)
    clock.now += 40_000
    person.load()
    assert person.post("/partner", answer="skipped") == "instructions"
    assert person.finish() == "done"
    assert {row.kind for row in rows(server, ExerciseRow)} == {"c-test"}
    assert [one["score"] is None for one in person.context["results"]] == [True, False]


def test_nobody_is_ever_in_two_games(opened):
    """Many come at the same moment, from several threads."""
    count = 12
    server, _, links = opened(count=count, tests=[DILEMMA | PEOPLE])
    people = [Person(server) for _ in links]
    for person, link in zip(people, links, strict=True):
        person.join(link)
        person.post("/consent", accept="yes")

    def come(person: Person) -> None:
        person.post("/next")
        for _ in range(3):
            person.load()

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(come, people))
    for person in people:
        assert person.load() == "exercise"
    games = rows(server, GameRow)
    assert len(games) == count // 2
    assert {game.status for game in games} == {"playing"}
    seated = [one for game in games for one in (game.first_id, game.second_id)]
    assert sorted(seated) == sorted(row.id for row in rows(server, SessionRow))


def test_two_servers_on_one_database_make_one_pair(opened, where, clock):
    from studio import Server

    server, _, links = opened(count=2, tests=[PENNIES | PEOPLE | {"stand_in": "random"}])
    other = Server(where, clock).start()
    try:
        first, second = Person(server), Person(other)
        for person, link in ((first, links[0]), (second, links[1])):
            person.join(link)
            person.begin()
        assert first.load() == second.screen == "exercise"
        both_play([first, second])
        assert (first.load(), second.load()) == ("done", "done")
    finally:
        other.stop()


# ---------------------------------------------------------------- playing with each other


def test_both_choose_and_then_both_see(opened):
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    first, second = arrived(server, links)
    assert first.post("/choice", choice="B") == "waiting"
    assert first.context["choices"] == []
    assert first.context["mine"] == "B"
    assert first.post("/choice", choice="A", exercise=0, step=1) == "waiting", "one choice a round"
    second.load()
    assert second.context["view"]["last"] is None, "nothing is known before one has chosen"
    assert "B" not in str({k: second.context[k] for k in ("mine", "reward", "number")})
    assert second.post("/choice", choice="A") == "exercise"
    assert second.context["view"]["last"] == {
        "own": "A", "other": "B", "mine": -1.0, "theirs": 1.0,
    }  # fmt: skip
    assert first.load() == "exercise"
    assert first.context["view"]["last"] == {
        "own": "B", "other": "A", "mine": 1.0, "theirs": -1.0,
    }  # fmt: skip
    assert first.context["move"] == second.context["move"] == 2


def test_a_whole_game_is_the_runners_game(opened, tmp_path):
    """Rows of both, with their slots; the same scores as two minds that do the same."""
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    people = arrived(server, links)
    both_play(people, "ABBBBAAAABBB")
    server.again()
    assert [person.load() for person in people] == ["done", "done"]
    export_folder(server.store, server.store.study(), tmp_path / "people")
    with open(tmp_path / "people" / "trials.csv", encoding="utf-8") as file:
        choices = [row for row in csv.DictReader(file) if row["label"] == "p0"]
    assert [row["choice"] for row in choices] == list("ABBAAB")
    rewards = [float(row["reward"]) for row in choices]
    assert rewards == pytest.approx([-1, -0.6, 1, 0.2, -1, -0.6])
    assert {(row["slot"], row["opponent"], row["game"]) for row in choices} == {
        ("0", "person", "1")
    }
    frame = read_results(tmp_path / "people")
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 3})
    for index, moves in ((0, ("ABB", "BBA")), (1, ("AAB", "ABB"))):

        def does(moves):
            return lambda seen: "AB".index(moves[seen.step])

        record = play(tool.exercise(1, index), registry.line_up(list(map(does, moves)), tool))
        found = frame[frame["index"] == index].sort_values("slot")
        assert list(found["score"]) == list(record.score)
        assert list(found["mind"]) == ["person/p0", "person/p1"]
        assert set(found["line_up"]) == {"person/p0, person/p1"}
        assert list(found["team"]) == [0, 1]
        assert found["game"].nunique() == 1


@SQLITE
def test_by_turns(opened):
    server, _, links = opened(count=2, tests=[NOUGHTS | PEOPLE | {"stand_in": "random"}])
    crosses, noughts = arrived(server, links)
    assert (crosses.screen, noughts.screen) == ("exercise", "waiting")
    assert noughts.post("/choice", choice="5", exercise=0, step=0) == "waiting", "not their turn"
    assert crosses.post("/choice", choice="1") == "waiting"
    assert noughts.load() == "exercise"
    assert noughts.context["view"]["cells"][0] == {
        "number": 1, "mark": "x", "open": False, "new": True, "row": False,
    }  # fmt: skip
    noughts.post("/choice", choice="1")
    assert noughts.screen == "exercise", "taken"
    for mover, cell in zip((noughts, crosses) * 2, "4253", strict=True):
        mover.load()
        mover.post("/choice", choice=cell)
    assert crosses.screen == "between"
    assert crosses.context["view"]["ended"] == "won"
    assert crosses.context["reward"] == 1
    assert noughts.load() == "between"
    assert noughts.context["view"]["ended"] == "lost"
    assert noughts.context["reward"] == -1
    assert {row.score for row in rows(server, ExerciseRow)} == {1.0, -1.0}


@SQLITE
def test_without_javascript_and_after_a_restart(opened):
    server, _, links = opened(count=2, tests=[PENNIES | PEOPLE | {"stand_in": "random"}])
    people = [Person(server, scripted=False) for _ in links]
    for person, link in zip(people, links, strict=True):
        person.join(link)
        person.begin()
    people[0].load()
    people[0].choose()
    assert people[0].screen == "waiting"
    server.again()
    assert people[0].load() == "waiting"
    both_play(people)
    assert not [row for row in rows(server, ExerciseRow) if "left" in row.flags]


@pytest.mark.parametrize("name", ["prisoners-dilemma", "noughts-and-crosses"])
def test_machines_in_both_seats_score_what_they_score_in_the_runner(name, where):
    given, minds = {
        "prisoners-dilemma": (DILEMMA, "q-learning, tit-for-tat"),
        "noughts-and-crosses": (NOUGHTS, "random, minimax"),
    }[name]
    made = study(tests=[given | PEOPLE | {"stand_in": "random", "practice": 1}], seed=8)
    found = simulate(made, [minds], 4, where, jobs=4)
    assert (found["as_played"], found["as_in_the_runner"]) == (4, True)
    tool = made.tool(0)
    line_up = registry.line_up(minds, tool)
    assert isinstance(line_up, LineUp)
    wanted = [play(tool.exercise(8, i), line_up).score for i in range(2)]
    store = Store(where)
    with store.reading() as db:
        kept = list(results(db, store.study()))
    store.close()
    assert {(row["index"], row["slot"], row["score"]) for row in kept} == {
        (index, slot, score) for index, scores in enumerate(wanted)
        for slot, score in enumerate(scores)
    }  # fmt: skip


def test_both_choose_at_the_same_moment_and_twice(opened):
    """Nothing is lost and nothing counts double, whoever comes first."""
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    people = arrived(server, links)
    for step in range(3):
        clicks = [
            (person, person.form | {"choice": choice, "step": step})
            for person in people for choice in "AB"
        ]  # fmt: skip
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda c: c[0].send("POST", "/choice", c[1]), clicks))
        assert {reply.status_code for reply in replies} == {200}
        wanted = "exercise" if step < 2 else "between"
        assert [person.load() for person in people] == [wanted, wanted]
    made = events(server, "choice")
    assert sorted((event.session_id, event.step) for event in made) == [
        (session, step) for session in (1, 2) for step in range(3)
    ]
    assert len(events(server, "met")) == 6
    mine = {event.step: event.action for event in made if event.session_id == 1}
    met = [event for event in events(server, "met") if event.session_id == 2]
    assert {event.step: event.payload["actions"]["0"] for event in met} == mine


def test_minds_for_two_seats_are_named_with_a_comma():
    tests = [DILEMMA | {"opponent": "grim"}, PENNIES | PEOPLE | {"stand_in": "random"}]
    made = study(tests=tests)
    assert fitting(made, ["heads, tails", "random"]) == ["random", "heads, tails"]
    with pytest.raises(Error, match="cannot take any test"):
        fitting(study(tests=tests[:1]), ["defect, random"])
    with pytest.raises(Error, match="let an even number take it, not 3"):
        roomy(made, 3)
