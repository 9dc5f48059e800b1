"""What leaves a study: whole, replayable, safe to open, and comparable with programs."""

from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy import select
from studio import CELLS, Person

from allminds import registry
from allminds.core.errors import Error
from allminds.core.table import harmless
from allminds.episode import Episode
from allminds.runs.imports import read_choices, read_results, read_together
from allminds.runs.plan import Plan
from allminds.runs.run import How, run
from allminds.statistics import comparison
from allminds.web.export import export_folder, results
from allminds.web.tables import EventRow

SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)  # no matter of the database
EVIL = '=HYPERLINK("http://evil.example","click")'


@pytest.fixture
def taken(opened):
    """Three people: one to the end, one half way, one who withdrew."""
    server, token, links = opened(count=4, external_id="PID")
    people = [Person(server) for _ in range(3)]
    for n, person in enumerate(people):
        person.join(links[n], external_id=EVIL if n == 0 else f"pid-{n}")
        person.begin()
        for move in range(4):
            person.choose(move + n)
        person.post("/next")
    assert people[0].finish() == "done"
    people[1].choose()
    people[2].post("/withdraw")
    return server, token, people


def exported(taken, path: str) -> str:
    _, token, people = taken
    return people[0].send("GET", path, authorization=f"Bearer {token}").text


def test_csv_has_every_choice_of_those_who_stayed(taken):
    rows = list(csv.reader(io.StringIO(exported(taken, "/admin/export.csv"))))
    head, body = rows[0], rows[1:]
    assert len(body) == 8 + 5
    found = [dict(zip(head, row, strict=True)) for row in body]
    assert {row["label"] for row in found} == {"p0", "p1"}
    assert [row["step"] for row in found[:8]] == ["0", "1", "2", "3"] * 2
    assert {row["status"] for row in found if row["label"] == "p0"} == {"finished"}
    assert float(found[0]["reward"]) in (-1.0, 0.0, 1.0)
    assert found[0]["server_time"].endswith("Z")
    tool = registry.make_instrument("lambda", CELLS)
    assert found[0]["exercise"] == tool.exercise(1, 0).id
    assert "external_id" not in head, "ids of a panel are left out unless asked for"


@SQLITE
def test_what_a_spreadsheet_would_run_is_quoted(taken):
    text = exported(taken, "/admin/export.csv?external=true")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0]["external_id"] == "'" + EVIL
    for value in ("=1", "+1", "-1", "@x", "\tx", "\rx"):
        assert harmless(value) == "'" + value
    assert harmless("a;=1;b\t@x") == "a;'=1;b\t'@x", "where a semicolon ends a cell"
    assert harmless("\uff1d1") == "'\uff1d1", "full width"
    assert harmless(-1) == -1
    assert harmless(-0.5) == -0.5
    assert harmless("a=b") == "a=b"


def test_jsonl_has_all_events_and_can_be_replayed(taken, tmp_path):
    store = taken[0].store
    export_folder(store, store.study(), tmp_path / "people", seeds=True)
    told = (tmp_path / "people" / "events.jsonl").read_text()
    lines = [json.loads(line) for line in told.splitlines()]
    hidden = [json.loads(line) for line in exported(taken, "/admin/export.jsonl").splitlines()]
    for line in lines:
        line.pop("seed", None) if line.get("kind") != "exercise" else None
    assert len(lines) == len(hidden)
    assert "seed" not in json.dumps(hidden)
    assert lines[-1] == {"rows": len(lines) - 1}
    assert lines[0]["kind"] == "study"
    kinds = {line["kind"] for line in lines[:-1]}
    assert {"study", "session", "exercise", "consent", "choice", "shown"} <= kinds
    assert "p2" not in json.dumps(lines)
    assert EVIL not in json.dumps(lines)
    for line in (one for one in lines[:-1] if one["kind"] == "exercise"):
        tool = registry.make_instrument(line["instrument"], line["params"])
        episode = Episode(tool.exercise(line["seed"], line["number"]))
        made = [
            event for event in lines
            if event.get("kind") == "choice"
            and (event["label"], event["exercise_idx"]) == (line["label"], line["idx"])
        ]  # fmt: skip
        for event in made:
            episode.play({0: event["action"]})
            assert episode.rewards[-1][0] == event["reward"]
        if "score" in line:
            assert episode.record is not None
            assert episode.record.score == (line["score"],)
            assert episode.record.exercise == line["exercise"]


def test_no_export_tells_the_seed_and_its_exercises_are_still_the_runners(opened, tmp_path):
    """A large seed is named by a hash, in ids of people and of programs alike."""
    seed = 3_141_592_653_589_793_238
    server, token, links = opened(seed=seed)
    person = Person(server)
    person.join(links[0])
    person.begin()
    person.finish()
    export_folder(server.store, server.store.study(), tmp_path / "people")
    sent = exported((server, token, [person]), "/admin/export.csv")
    files = [path.read_bytes() for path in (tmp_path / "people").rglob("*") if path.is_file()]
    assert not any(str(seed).encode() in one for one in [*files, sent.encode()])
    plan = Plan(seed=seed, tests=[{"instrument": "lambda", "settings": CELLS, "minds": ["random"],
                                   "episodes": 2}])  # fmt: skip
    run(plan, tmp_path / "run", How(jobs=1))
    people, programs = read_results(tmp_path / "people"), read_results(tmp_path / "run")
    assert set(people["exercise"]) == set(programs["exercise"])
    assert set(people["item"]) == set(programs["item"])
    assert set(people["instrument"]) == {"lambda"}
    assert not people["exercise"].str.contains(str(seed)).any()


def test_results_are_rows_of_the_common_table(taken, tmp_path):
    server, _, _ = taken
    made = export_folder(server.store, server.store.study(), tmp_path / "people")
    assert (made["rows"], made["choices"]) == (3, 13), "what is still being played is not there yet"
    assert made["minds"] == ["person/p0", "person/p1"]
    frame = read_results(tmp_path / "people")
    plan = Plan(tests=[{"instrument": "lambda", "settings": CELLS, "minds": ["q-learning"],
                        "episodes": 2}])  # fmt: skip
    folder = run(plan, tmp_path / "run", How(jobs=1))
    programs = read_results(tmp_path / "run")
    assert set(programs.columns) <= set(frame.columns)
    assert set(frame["exercise"]) == set(programs["exercise"])
    both = frame.merge(programs, on="exercise")
    alike = ("instrument", "settings", "seed", "index", "item", "cluster", "cells", "slot", "team")
    for name in alike:
        assert (both[f"{name}_x"] == both[f"{name}_y"]).all(), name
    together = read_together([tmp_path / "people", folder.path])
    assert set(together["mind"]) == {"person/p0", "person/p1", "q-learning"}
    assert (tmp_path / "people" / "trials.csv").is_file()
    parity = json.loads((tmp_path / "people" / "imported.json").read_text())["parity"]
    assert any("sign of a reward" in sentence for sentence in parity)
    assert any("the lowest counts as theirs" in sentence for sentence in parity)
    with pytest.raises(Error, match="is not empty"):
        export_folder(server.store, server.store.study(), tmp_path / "people")


@SQLITE
def test_people_can_be_one_mind_and_are_compared_with_programs(opened, tmp_path):
    import numpy as np

    tests = [{"instrument": "lambda", "settings": CELLS, "exercises": 5}]
    server, _, links = opened(count=2, tests=tests)
    for link in links:
        person = Person(server)
        person.join(link)
        person.begin()
        assert person.finish() == "done"
    row = server.store.study()
    export_folder(server.store, row, tmp_path / "people", pooled=True)
    plan = Plan(tests=[{"instrument": "lambda", "settings": CELLS, "minds": ["optimum", "random"],
                        "episodes": 5}])  # fmt: skip
    run(plan, tmp_path / "run", How(jobs=1))
    frame = read_together([tmp_path / "people", tmp_path / "run"])
    assert set(frame["mind"]) == {"people", "optimum", "random"}
    choices = read_choices([tmp_path / "people", tmp_path / "run"])
    found = comparison.compare(frame, np.random.default_rng(1), choices=choices)
    assert found.times.choices == 2 * 5 * 4
    assert found.times.groups[0].quantiles == (pytest.approx(512),) * 5
    assert {"people", "optimum"} <= set(json.dumps(found.as_json()).replace('"', " ").split())


@SQLITE
def test_a_study_without_results_is_exported_all_the_same(opened, tmp_path):
    server, _, _ = opened()
    made = export_folder(server.store, server.store.study(), tmp_path / "empty")
    assert (made["rows"], made["choices"], made["events"]) == (0, 0, 1)
    assert not (tmp_path / "empty" / "imported.json").exists()


@SQLITE
def test_a_nightly_check_finds_every_reward_again(taken):
    """Rewards in the database are those of a replay: nothing else wrote them."""
    server, _, _ = taken
    with server.store.reading() as db:
        query = select(EventRow).where(EventRow.kind == "choice").order_by(EventRow.id)
        kept = [event.reward for event in db.scalars(query)][:4]  # of the first person's first
        scores = [row["score"] for row in results(db, server.store.study())]
    assert scores[0] == sum(kept) / 4


@SQLITE
def test_what_does_not_replay_is_not_exported(taken, tmp_path):
    server, _, _ = taken
    with server.store.writing() as db:
        event = db.scalars(select(EventRow).where(EventRow.kind == "choice")).first()
        event.reward = 0.25
    with pytest.raises(Error, match="does not replay: it was played with allminds test"):
        export_folder(server.store, server.store.study(), tmp_path / "people")
    assert list(tmp_path.glob("*people*")) == [], "and nothing half-written is left"


@SQLITE
def test_the_monitor_shows_who_is_where_and_changes_nothing(taken):
    server, token, people = taken
    watcher = Person(server)
    watcher.show(watcher.send("GET", "/admin", authorization=f"Bearer {token}"))
    assert watcher.screen == "monitor"
    assert watcher.context["counts"] == {
        "invited": 1, "running": 1, "finished": 1, "abandoned": 0, "withdrawn": 1,
    }  # fmt: skip
    assert [row["status"] for row in watcher.context["rows"]] == [
        "finished", "running", "withdrawn", "invited",
    ]  # fmt: skip
    assert len({tuple(row) for row in watcher.context["rows"]}) == 1, "the same keys in all"
    assert watcher.context["rows"][2]["started"] == ""
    assert people[1].load() == "exercise"
