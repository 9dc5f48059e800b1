"""Two people in one game, and one of them leaves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from company import DILEMMA, LETTERS, PEOPLE, SQLITE, arrived
from sqlalchemy import select
from studio import HOUR, Person, events, rows

from allminds.runs.imports import read_results
from allminds.web.export import export_folder, results
from allminds.web.tables import EventRow, ExerciseRow


def test_one_leaves_while_the_other_moves(opened):
    """Whichever is first, both are answered, and whoever stays is told."""
    server, _, links = opened(count=4, tests=[DILEMMA | PEOPLE])
    people = arrived(server, links)
    for first, second in (people[:2], people[2:]):
        with ThreadPoolExecutor(2) as pool:
            moves = pool.submit(first.post, "/choice", choice="A")
            leaves = pool.submit(second.post, "/withdraw", sure="yes")
            assert moves.result() in ("waiting", "room")
            assert leaves.result() == "withdrawn"
        assert first.load() == "room"
        assert first.context["state"] == "left"


def test_whoever_withdraws_is_deleted_and_the_other_told(opened, tmp_path):
    """What was finished together stays with the one who stays."""
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE, LETTERS])
    first, second = arrived(server, links)
    while first.screen != "between":
        first.post("/choice", choice="A")
        second.load()
        second.post("/choice", choice="B")
        first.load()
    first.post("/next")
    second.post("/next")
    first.post("/choice", choice="B")
    assert second.post("/withdraw", sure="yes") == "withdrawn"
    assert first.load() == "room"
    assert (first.context["state"], first.context["offers"]) == ("left", ["machine", "skipped"])
    assert first.context["more"] is False
    assert first.post("/choice", choice="A", exercise=1, step=1) == "room"
    assert first.post("/partner", answer="skipped") == "instructions"
    assert first.finish() == "done"
    made = export_folder(server.store, server.store.study(), tmp_path / "people")
    frame = read_results(tmp_path / "people")
    mine = frame[frame["instrument"] == "prisoners-dilemma"].sort_values("index")
    assert list(mine["status"]) == ["ok", "void"]
    assert mine["reason"].iloc[1] == "the other player left"
    assert mine["score"].iloc[0] == -1.0
    assert made["minds"] == ["person/p0"]
    assert "p1" not in (tmp_path / "people" / "results.csv").read_text()
    assert [row.flags for row in rows(server, ExerciseRow)][:2] == [[], ["left"]]


def test_whoever_does_not_move_is_left_behind(opened, clock):
    tests = [DILEMMA | PEOPLE | {"exercises": 3, "move_seconds": 60}]
    server, _, links = opened(count=2, tests=tests)
    first, second = arrived(server, links)
    first.post("/choice", choice="A")
    for _ in range(5):
        clock.now += 11_000
        assert first.load() == "waiting"
    clock.now += 11_000
    assert first.load() == "room"
    assert first.context["state"] == "left"
    assert second.load() == "room"
    assert second.context["state"] == "away"
    assert first.post("/partner", answer="machine") == "exercise"
    assert first.context["exercise"] == 2
    assert first.finish() == "done"
    assert second.post("/partner", answer="skipped") == "done"
    kept = [(row.session_id, row.flags, row.opponent) for row in rows(server, ExerciseRow)]
    kept.sort(key=lambda row: row[0])
    assert kept == [
        (1, ["left"], "person"), (1, [], "tit-for-tat"), (1, [], "tit-for-tat"),
        (2, ["away"], "person"),
    ]  # fmt: skip
    with server.store.reading() as db:
        found = list(results(db, server.store.study()))
    assert [(row["person"], row["status"]) for row in found] == [
        ("p0", "void"), ("p0", "ok"), ("p0", "ok"), ("p1", "timeout"),
    ]  # fmt: skip


@SQLITE
def test_time_without_a_server_is_nobodys_fault(opened, clock):
    """Both come back after an hour: nobody has left, and patience begins anew."""
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE | {"move_seconds": 60}])
    first, second = arrived(server, links)
    first.post("/choice", choice="A")
    server.stop()
    clock.now += 20 * 60_000
    server.start()
    assert first.load() == "waiting"
    clock.now += 15_000
    assert first.load() == "waiting"
    assert second.load() == "exercise"
    assert second.post("/choice", choice="A") == "exercise"
    assert first.load() == "exercise"


@SQLITE
def test_somebody_comes_and_goes_before_it_begins(opened):
    server, _, links = opened(count=3, tests=[DILEMMA | PEOPLE])
    first, fleeting, third = (Person(server) for _ in range(3))
    first.join(links[0])
    first.begin()
    fleeting.join(links[1])
    assert fleeting.begin() == "exercise"
    fleeting.post("/withdraw", sure="yes")
    assert first.load() == "room"
    assert first.context["state"] == "waiting", "as if nobody had come"
    third.join(links[2])
    assert third.begin() == "exercise"
    assert first.load() == "exercise"


@SQLITE
def test_between_two_exercises_nothing_is_lost(opened):
    """The other leaves during a pause: the next exercise is taken whole, with a machine."""
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    first, second = arrived(server, links)
    while first.screen != "between":
        first.post("/choice", choice="A")
        second.load()
        second.post("/choice", choice="A")
        first.load()
    second.post("/withdraw", sure="yes")
    assert first.post("/next") == "room"
    assert (first.context["state"], first.context["more"]) == ("left", True)
    assert first.post("/partner", answer="machine") == "exercise"
    assert (first.context["exercise"], first.context["move"]) == (2, 1)
    assert first.finish() == "done"
    assert [row.flags for row in rows(server, ExerciseRow)] == [[], []]


@SQLITE
def test_with_no_time_limit_nobody_is_left_behind(opened, clock):
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE | {"move_seconds": 0}])
    first, second = arrived(server, links)
    first.post("/choice", choice="A")
    for _ in range(4):
        clock.now += 10 * 60_000
        assert first.load() == "waiting"
    second.load()
    assert second.screen == "exercise"


@SQLITE
def test_a_gap_does_not_replace_an_exercise_that_two_share(opened, clock):
    tests = [DILEMMA | PEOPLE | {"move_seconds": 0}]
    server, _, links = opened(count=2, tests=tests, resume={"policy": "replace"})
    first, second = arrived(server, links)
    first.post("/choice", choice="A")
    second.post("/choice", choice="A")
    clock.now += 2 * HOUR
    assert first.load() == "instructions"
    assert first.post("/next") == "exercise"
    assert first.context["move"] == 2
    assert len(rows(server, ExerciseRow)) == 2


@SQLITE
def test_whoever_stays_away_for_a_day_has_left(opened, clock):
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE | {"move_seconds": 0}])
    first, second = arrived(server, links)
    first.post("/choice", choice="A")
    for _ in range(2):
        clock.now += 12 * HOUR + 1
        first.load()
        if first.screen == "instructions":
            first.post("/next")
    assert first.screen == "waiting"
    assert second.load() == "closed"
    assert first.load() == "room"
    assert first.context["state"] == "left"


def test_the_researcher_deletes_one_of_two(opened, clock):
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    first, _ = arrived(server, links)
    assert server.store.forget(server.store.study(), "p1", clock()) == 1
    assert first.load() == "room"
    assert first.context["state"] == "left"
    assert first.post("/partner", answer="machine") == "exercise"
    assert server.store.forget(server.store.study(), None, clock()) == 2


def test_what_the_other_did_stands_in_ones_own_events(opened):
    server, _, links = opened(count=2, tests=[DILEMMA | PEOPLE])
    first, second = arrived(server, links)
    first.post("/choice", choice="A")
    second.post("/choice", choice="B")
    first.load()
    met = events(server, "met")
    assert [(event.session_id, event.step, event.reward, event.payload) for event in met] == [
        (2, 0, 1.0, {"actions": {"0": 0}}),
        (1, 0, -1.0, {"actions": {"1": 1}}),
    ]
    with server.store.reading() as db:
        choices = list(db.scalars(select(EventRow).where(EventRow.kind == "choice")))
        assert [event.reward for event in choices] == [None, None], "known only with the other's"
