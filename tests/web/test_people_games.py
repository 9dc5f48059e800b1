"""A person with a machine in the other slot of a game."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from company import DILEMMA, NOUGHTS, PENNIES, PEOPLE, SQLITE, arrived
from hypothesis import given
from hypothesis import strategies as st
from studio import SHORT, events, rows, study

from allminds import registry
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.episode import Episode, play
from allminds.runs.imports import read_results
from allminds.web.agenda import Agenda
from allminds.web.debrief import against
from allminds.web.export import export_folder, results
from allminds.web.questions import face
from allminds.web.replays import ReplayedExercise
from allminds.web.simulate import simulate
from allminds.web.tables import EventRow, ExerciseRow

# ---------------------------------------------------------------- what a study may ask for


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (DILEMMA, "is for 2 at once; name the other"),
        (SHORT | {"opponent": "random"}, "is for one alone; leave out opponent"),
        ({"instrument": "public-goods", "exercises": 1}, "is for 4 at once"),
        (DILEMMA | {"opponent": "tit-for-tatt"}, "did you mean 'tit-for-tat'"),
        (DILEMMA | {"opponent": "human"}, "could not be worked out again"),
        (DILEMMA | {"opponent": "person", "stand_in": "human"}, "could not be worked out again"),
        (NOUGHTS | {"opponent": "q-learning"}, "need no rehearsals"),
        (DILEMMA | {"opponent": "person", "shuffled": True}, "the same exercises in one order"),
        (DILEMMA | {"opponent": "random", "slot": 2}, "slot must be less than or equal to 1"),
        (DILEMMA | {"opponent": "person", "wait_seconds": 0}, "wait_seconds must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_game_is_said_in_one_line(wrong, said):
    with pytest.raises(Error, match=said) as caught:
        study(tests=[wrong])
    assert "\n" not in str(caught.value)


def test_two_people_have_no_exercises_of_their_own():
    with pytest.raises(Error, match="set assignment = 'same'"):
        study(tests=[DILEMMA | PEOPLE], assignment="own")


def test_a_room_comes_after_practice_and_before_what_counts():
    made = study(tests=[DILEMMA | PEOPLE | {"practice": 1, "check": True}])
    kinds = [place.kind for place in Agenda(made).places]
    assert kinds[:7] == [
        "consent", "instructions", "check", "exercise", "between", "room", "exercise",
    ]  # fmt: skip


# ---------------------------------------------------------------- with a machine


GAMES = {
    "prisoners-dilemma": (DILEMMA | {"opponent": "tit-for-tat"}, "random"),
    "matching-pennies": (PENNIES | {"opponent": "random", "slot": 1}, "fictitious-play"),
    "noughts-and-crosses": (NOUGHTS | {"opponent": "random", "slot": 1}, "minimax"),
    "stag-hunt": ({"instrument": "stag-hunt", "settings": {"steps": 1}, "exercises": 2,
                   "opponent": "regret-matching"}, "random"),
}  # fmt: skip


@pytest.mark.parametrize("name", GAMES)
def test_a_mind_against_a_machine_scores_what_it_scores_in_the_runner(name, tmp_path):
    given, mind = GAMES[name]
    made = study(tests=[given | {"practice": 1, "check": True}], seed=3)
    found = simulate(made, [mind], 2, str(tmp_path / "trial.db"), jobs=2)
    assert (found["as_played"], found["as_in_the_runner"]) == (2, True)


def test_only_the_persons_choices_are_kept_and_everything_follows_from_them(opened, tmp_path):
    server, _, links = opened(tests=[DILEMMA | {"opponent": "generous-tit-for-tat"}])
    (person,) = arrived(server, links)
    for choice in ("B", "A", "B"):
        assert person.screen == "exercise"
        assert set(person.context["choices"]) == {"A", "B"}
        person.post("/choice", choice=choice)
    assert person.screen == "between"
    assert person.context["view"]["last"]["own"] == "B"
    assert {event.kind for event in rows(server, EventRow)} == {"consent", "shown", "choice"}
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 3})

    def mine(observation):
        return (1, 0, 1)[observation.step]

    line_up = registry.line_up([mine, "generous-tit-for-tat"], tool)
    record = play(tool.exercise(1, 0), line_up)
    assert [event.reward for event in events(server, "choice")] == [r[0] for r in record.rewards]
    kept = rows(server, ExerciseRow)[0]
    assert (kept.score, kept.slot, kept.opponent) == (record.score[0], 0, "generous-tit-for-tat")
    server.again()
    assert person.load() == "between"
    person.post("/next")
    assert person.finish() == "done"
    (result,) = person.context["results"]
    assert result["other"] == "generous-tit-for-tat"
    assert [one["mind"] for one in result["minds"]] == ["random"]
    made = export_folder(server.store, server.store.study(), tmp_path / "people")
    assert made["rows"] == 2
    frame = read_results(tmp_path / "people")
    assert list(frame["line_up"]) == ["person/p0, generous-tit-for-tat"] * 2
    assert list(frame["slot"]) == list(frame["team"]) == [0, 0]


@SQLITE
def test_a_machine_that_begins_has_begun_when_the_page_comes(opened):
    server, _, links = opened(tests=[NOUGHTS | {"opponent": "minimax", "slot": 1}])
    (person,) = arrived(server, links)
    marks = [cell["mark"] for cell in person.context["view"]["cells"]]
    assert sorted(marks) == [""] * 8 + ["x"]
    assert len(person.context["choices"]) == 8
    while person.screen == "exercise":
        person.choose()
    assert person.context["view"]["ended"] in ("lost", "drawn"), "nobody beats it"
    with server.store.reading() as db:
        (found,) = results(db, server.store.study())
    assert found["score"] in (-1.0, 0.0)


@SQLITE
def test_the_debrief_is_from_the_persons_side(opened):
    """In slot 1 the own score is that of slot 1, and programs sit there too."""
    tests = [PENNIES | {"opponent": "heads", "slot": 1, "minds": ["tails"]}]
    server, _, links = opened(tests=tests)
    (person,) = arrived(server, links)
    while person.screen != "done":
        if person.screen == "exercise":
            person.post("/choice", choice="tails")
        else:
            person.post("/next")
    (result,) = person.context["results"]
    assert result["score"] == 1.0, "different sides are the second's"
    assert {one["mind"]: one["score"] for one in result["minds"]}["tails"] == 1.0


def test_views_show_no_more_than_a_mind_sees():
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 3})
    episode = Episode(tool.exercise(1, 0))
    episode.play({0: 0, 1: 1})
    views = [face(tool, slot).view(episode.waiting[slot], None, None) for slot in (0, 1)]
    assert views[0]["last"] == {"own": "A", "other": "B", "mine": -1.0, "theirs": 1.0}
    assert views[1]["last"] == {"own": "B", "other": "A", "mine": 1.0, "theirs": -1.0}
    assert views[0]["table"] == views[1]["table"], "the game is symmetric"
    text = str(views).lower()
    assert "cooperate" not in text
    assert "defect" not in text


class Script:
    """A mind that does what a list says, as far as it may."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = iter(numbers)

    def act(self, observation, _random):
        actions = getattr(observation, "legal", (0, 1))
        return actions[next(self.numbers) % len(actions)]


PLAYED = st.lists(st.integers(0, 100), min_size=9, max_size=9)


@given(
    name=st.sampled_from(["matching-pennies", "prisoners-dilemma", "noughts-and-crosses"]),
    slot=st.integers(0, 1), seed=st.integers(0, 2**32), mine=PLAYED, theirs=PLAYED,
)  # fmt: skip
def test_a_table_is_the_runners_loop_whoever_sits_there(name, slot, seed, mine, theirs):
    """With a machine, and with a person whose moves come in from elsewhere."""
    tool = registry.make_instrument(name, {} if name.startswith("nought") else {"steps": 4})
    exercise = tool.exercise(seed, 2)
    machine = registry.subject("random", tool)
    script = Subject("script", lambda: Script(mine))
    table, mind = ReplayedExercise(exercise, slot, machine), Script(mine)
    while not table.over:
        action = mind.act(table.episode.waiting[slot], None)
        table.choose("", action)
    assert table.episode.record == play(exercise, against(script, machine, slot))
    assert sum(step.reward for step in table.steps) == sum(
        rewards[slot] for rewards in table.episode.rewards
    )

    tables, minds = (
        [ReplayedExercise(exercise, 0), ReplayedExercise(exercise, 1)],
        [Script(mine), Script(theirs)],
    )
    while not tables[0].over:
        moved = {}
        for seat, at in enumerate(tables):
            if at.to_move:
                moved[seat] = minds[seat].act(at.episode.waiting[seat], None)
                at.choose("", moved[seat])
        for seat, at in enumerate(tables):
            assert not at.to_move or 1 - seat not in at.episode.waiting
            if 1 - seat in moved:
                at.meet({1 - seat: moved[1 - seat]})
    other = Subject("other", lambda: Script(theirs))
    wanted = play(exercise, against(script, other, 0))
    assert [at.episode.record for at in tables] == [wanted, wanted]
