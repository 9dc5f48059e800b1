"""Courses for people: the same exercises in the same order as for programs, and said in exports."""

from __future__ import annotations

import csv
import io
import json

import pytest
from studio import CELLS, Person, study
from typer.testing import CliRunner

from allminds import How, Plan, registry
from allminds.cli import app
from allminds.core.blocks import LESSON
from allminds.core.drawn import Met
from allminds.core.errors import Error
from allminds.core.table import codebook
from allminds.core.watch import Watch
from allminds.episode import play_on
from allminds.runs.imports import read_together
from allminds.runs.run import run
from allminds.web.agenda import Agenda
from allminds.web.debrief import score
from allminds.web.export import export_folder, trials_csv
from allminds.web.simulate import simulate

COURSE = "train=4,order=rising,test=3"
SERIES = {"instrument": "c-test", "settings": {"form": "generated"}, "course": COURSE}
WORLDS = {"instrument": "lambda", "settings": CELLS, "course": "train=3,times=2,test=2"}
SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)  # no matter of the database
COLUMNS = [*LESSON, "trained_steps"]


def take(server, link) -> Person:
    person = Person(server)
    person.join(link)
    person.begin()
    assert person.finish() == "done"
    return person


def test_people_take_the_course_of_programs_and_their_tables_are_one(opened, tmp_path):
    """Exercise ids, items and places are those of a run with the same seed."""
    server, _, links = opened(count=2, tests=[WORLDS])
    for link in links:
        take(server, link)
    export_folder(server.store, server.store.study(), tmp_path / "people")
    minds = ["q-learning(carry=true)", "random"]
    test = {**WORLDS, "minds": minds, "episodes": 1}
    run(Plan(seed=1, tests=[test]), tmp_path / "run", How(jobs=1))
    frame = read_together([tmp_path / "people", tmp_path / "run"])
    by_mind = {
        mind: rows.sort_values("position")[["exercise", "item", "cluster", *COLUMNS]]
        for mind, rows in frame.groupby("mind")
    }
    machine = by_mind.pop("q-learning(carry=true)")
    assert machine["role"].tolist() == ["train"] * 6 + ["test"] * 2
    assert machine["trained_steps"].tolist() == [4 * n for n in (0, 1, 2, 3, 4, 5, 6, 6)]
    for rows in by_mind.values():
        assert rows.to_numpy().tolist() == machine.to_numpy().tolist()
    assert {"person/p0", "person/p1"} <= set(by_mind)
    known = frame.filter(like="tenth_").notna().groupby(frame["mind"]).sum()
    assert known.shape[1] == 10
    assert (known.sum(axis=1) == 8 * 4).all(), "each of 4 steps is in a tenth of its own"
    meanings = codebook(frame)["meaning"]
    assert not [name for name in COLUMNS if "instrument's page" in meanings[name]]


@SQLITE
def test_choices_and_events_say_where_in_the_course_they_were_made(opened, tmp_path):
    server, _, links = opened(tests=[SERIES | {"practice": 1}])
    take(server, links[0])
    with server.store.reading() as db:
        lines = "".join(trials_csv(db, server.store.study()))
    rows = list(csv.DictReader(io.StringIO(lines)))
    places = [(row["role"], row["phase"], row["position"], row["trained"]) for row in rows]
    train = [("train", "1", str(n), str(n)) for n in range(4)]
    assert places == [("",) * 4, *train, *[("test", "2", str(n), "4") for n in (4, 5, 6)]]
    export_folder(server.store, server.store.study(), tmp_path / "people")
    told = (tmp_path / "people" / "events.jsonl").read_text().splitlines()
    exercises = [one for one in map(json.loads, told) if one.get("kind") == "exercise"]
    assert [one.get("role") for one in exercises] == [None, *["train"] * 4, *["test"] * 3]
    parity = json.loads((tmp_path / "people" / "imported.json").read_text())["parity"]
    assert "unless they carry in a course" in " ".join(parity)
    assert "People remember what they met in the tests" in " ".join(parity)


@SQLITE
def test_a_study_without_a_course_has_the_columns_it_had(opened):
    server, _, links = opened()
    take(server, links[0])
    with server.store.reading() as db:
        head = next(trials_csv(db, server.store.study()))
    assert head.strip().endswith("slot,opponent,game")


def test_questions_are_answered_with_right_or_wrong_in_training_only():
    places = Agenda(study(tests=[SERIES | {"pause_every": 0}])).places
    between = [place.number for place in places if place.kind == "between"]
    assert between == [0, 1, 2, 3]
    told = Agenda(study(tests=[SERIES | {"feedback": True}])).places
    assert sum(place.kind == "between" for place in told) == 7


def test_nothing_that_was_trained_or_practised_is_in_the_test():
    """With two cells there are few worlds, so that draws would repeat themselves."""
    tiny = {"form": "general", "cells": 2, "steps": 6}
    given = {"instrument": "lambda", "settings": tiny, "course": "train=6,test=4", "practice": 3}
    made = Agenda(study(tests=[given], assignment="own"))
    repeats = 0
    for participant in range(12):
        found: dict[str, Met] = {"train": Met(), "test": Met(), "practice": Met()}
        met = 0
        for place in made.places:
            if place.kind == "exercise":
                number = made.number(place, participant)
                one = made.exercise(0, place.practice, number, ())
                raw = one.tool.exercise(one.seed, one.index)
                role = one.lesson.role if one.lesson else "practice"
                assert all(raw not in found[other] for other in found if other != role)
                met += raw in found[role]
                found[role].add(raw)
        repeats += met
    assert repeats  # within a role they do


@SQLITE
def test_own_courses_are_different_ones_and_a_server_that_was_stopped_goes_on(opened, tmp_path):
    server, _, links = opened(count=2, tests=[WORLDS], assignment="own")
    take(server, links[0])
    person = Person(server)
    person.join(links[1])
    person.begin()
    for _ in range(9):
        person.post("/next") if person.screen == "between" else person.choose()
    server.again()
    person.load()
    assert person.finish() == "done"
    export_folder(server.store, server.store.study(), tmp_path / "people")
    frame = read_together([tmp_path / "people"])
    ids = frame.groupby("mind")["exercise"].apply(set)
    assert not ids.iloc[0] & ids.iloc[1]
    assert frame.groupby("mind")["course"].unique().map(list).tolist() == [[0], [1]]
    tool = registry.make_instrument("lambda", {**CELLS, "course": WORLDS["course"]})
    second = frame[frame["course"] == 1].sort_values("position")
    assert second["exercise"].tolist() == [tool.exercise(1, n).id for n in range(8, 16)]


@SQLITE
@pytest.mark.parametrize(
    ("assignment", "pooled"), [("own", False), ("same", False), ("same", True)]
)
def test_what_people_learnt_stands_beside_what_machines_learnt(
    opened, tmp_path, assignment, pooled
):
    """Each person is one life of the mind `people`, also where all take the same course."""
    server, _, links = opened(count=3, tests=[WORLDS], assignment=assignment)
    for link in links:
        take(server, link)
    export_folder(server.store, server.store.study(), tmp_path / "people", pooled=pooled)
    minds = ["q-learning(carry=true)", "random"]
    run(Plan(seed=1, tests=[{**WORLDS, "minds": minds, "episodes": 3}]), tmp_path / "run", How(1))
    both = [str(tmp_path / name) for name in ("people", "run")]
    done = CliRunner().invoke(app, ["compare", *both, "--json"])
    assert done.exit_code == 0, done.exception
    said = json.loads(done.output)["learning"]
    lives = {one["mind"]: one["courses"] for one in said["changes"] if one["what"] == "practice"}
    assert lives == {"people": 3, "q-learning(carry=true)": 3}
    steps = [one["steps"] for one in said["curve"] if one["mind"] == "people"]
    assert steps[0] == 0 < steps[-1]
    frame = read_together([tmp_path / "people"])
    training = frame[frame["role"] == "train"]["score"].mean()
    (plain,) = (one["plain"] for one in said["weighted"]
                if (one["mind"], one["over"]) == ("people", "training"))  # fmt: skip
    assert plain == pytest.approx(training)


@SQLITE
def test_the_debrief_has_minds_that_carry_as_the_runner_plays_them(opened):
    who = "q-learning(carry=true)"
    server, _, links = opened(tests=[WORLDS | {"minds": [who]}])
    (result,) = take(server, links[0]).context["results"]
    tool = registry.make_instrument("lambda", {**CELLS, "course": WORLDS["course"]})
    played = play_on(tool, registry.line_up(who, tool), 1, 0, tool.sitting, Watch())
    (mine,) = (one["score"] for one in result["minds"] if one["mind"] == who)
    assert mine == score(tool, [record for _, record in played])


def test_a_machine_that_carries_takes_the_course_through_the_browser(tmp_path):
    made = study(tests=[WORLDS], assignment="own")
    found = simulate(made, ["q-learning(carry=true)"], 2, str(tmp_path / "a.db"), jobs=2)
    assert (found["as_played"], found["as_in_the_runner"]) == (2, True)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (SERIES | {"exercises": 3}, "its course says how many exercises there are"),
        (SERIES | {"shuffled": True}, "is a course: its exercises have one order"),
        (SERIES | {"course": "train=fifty"}, "exercises must be"),
        ({"instrument": "lambda-star", "course": "train=2,test=2,instrument=landscape"},
         "people take a course in one instrument; give landscape as a test"),
        ({"instrument": "stag-hunt", "course": "train=2", "opponent": "q-learning(carry=true)"},
         "'q-learning(carry=true)' carries, which the other in a study cannot do"),
    ],
)  # fmt: skip
def test_what_cannot_be_given_is_said_in_one_sentence(test, said):
    with pytest.raises(Error) as error:
        study(tests=[test])
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_course_and_a_test_that_share_exercises_are_found():
    plain = {"instrument": "lambda", "settings": CELLS, "exercises": 2}
    with pytest.raises(Error, match="give the phases of a course another seed"):
        study(tests=[plain, WORLDS])
    study(tests=[plain, WORLDS | {"course": "train=3,seed=7,test=2,seed=8"}])
