"""The page that is due in a session, and those that say why there is none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from allminds.core.seeding import Random, key
from allminds.presentation import Face
from allminds.web.agenda import SCREEN
from allminds.web.design import read
from allminds.web.gaps import due, over
from allminds.web.languages import direction
from allminds.web.pairing import offers
from allminds.web.questions import checks
from allminds.web.screens import (
    Between,
    CheckScreen,
    Closed,
    Common,
    Consent,
    ConsentQuestion,
    Done,
    ExerciseScreen,
    Instructions,
    QuestionsScreen,
    Refused,
    RoomScreen,
    Screen,
    Waiting,
    markdown,
    sign,
)
from allminds.web.session import LiveSession
from allminds.web.study import PERSON, QUESTIONS, Study
from allminds.web.tables import ExerciseRow, StudyRow


def common(study: Study, language: str, token: str = "") -> Common:
    """Return what every screen of a study shows."""
    return {
        "language": language,
        "dir": direction(language),
        "languages": list(study.languages),
        "title": study.title.get(language, study.title[study.languages[0]]),
        "token": token,
        "contact": study.contact,
    }


def nowhere(language: str = "en") -> Common:
    """Return what a screen shows where no study is known."""
    return {
        "language": language, "dir": direction(language), "languages": [], "title": "",
        "token": "", "contact": "",
    }  # fmt: skip


def refused(reason: Any, status: int, shared: Common | None = None) -> Screen:
    """Make an error page."""
    context: Refused = {**(shared or nowhere()), "reason": reason, "status": status}
    return Screen("error", context, status)


def closed(reason: Any, shared: Common, study: StudyRow) -> Screen:
    """Make the screen that says there is nothing more to do."""
    opens = datetime.fromtimestamp((study.opens or 0) / 1000, UTC).isoformat()
    context: Closed = {**shared, "reason": reason, "opens": opens if study.opens else ""}
    return Screen("closed", context)


def present(live: LiveSession, token: str) -> Screen:
    """Make the screen that is due; `token` is that of its forms."""
    shared = common(live.study, live.row.lang, token)
    if live.participant.withdrawn_at is not None:
        return Screen("withdrawn", shared)
    if live.row.status == "abandoned":
        reason = "closed" if over(live.study_row, live.now) else "abandoned"
        return closed(reason, shared, live.study_row)
    if live.crowded_out:
        return closed("full", shared, live.study_row)
    if live.row.again:
        return _instructions(live, shared)
    return _OF[live.place.kind](live, shared)


def _form(live: LiveSession) -> dict[str, Any]:
    return {"place": live.row.place}


def _told(live: LiveSession, face: Face) -> dict[str, Any]:
    """Return what is said of a test, and of the other player if it is a game."""
    given = live.study.tests[live.place.test]
    other = given.opponent and (PERSON if given.opponent == PERSON else "machine")
    return face.told() | {"other": other, "move_seconds": given.move_seconds}


def _consent(live: LiveSession, shared: Common) -> Screen:
    study = live.study
    context: Consent = {
        **shared,
        "form": _form(live),
        "text": study.consent.text[shared["language"]].strip(),
        "version": study.consent.version,
        "ask": [ConsentQuestion(name=name, options=list(QUESTIONS[name])) for name in study.ask],
        "retention": study.retention.isoformat(),
    }
    return Screen("consent", context)


def _instructions(live: LiveSession, shared: Common) -> Screen:
    test = live.place.test
    given = live.study.tests[test]
    context: Instructions = {
        **shared,
        "form": _form(live),
        "face": given.instrument,
        "told": _told(live, live.agenda.face(test)),
        "practice": 0 if live.row.again else given.practice,
        "exercises": live.study.count(test),
        "again": live.row.again,
        "show_numbers": live.study.show_numbers,
        "limited": bool(given.choice_seconds or given.exercise_seconds),
        "choice_seconds": given.choice_seconds,
        "exercise_seconds": given.exercise_seconds,
        "own": markdown(given.instructions.get(shared["language"], "")),
    }
    return Screen("instructions", context)


def _questions(live: LiveSession, shared: Common) -> Screen:
    page = live.place.page
    told = live.row.told or {}
    context: QuestionsScreen = {
        **shared,
        "form": _form(live),
        "page": [one.model_dump() | {"fields": one.fields, "values": one.values} for one in page],
        "given": told,
        "problems": {one.field: one for one in read(page, told)[1]} if live.row.attempts else {},
    }
    return Screen("questions", context)


def _check(live: LiveSession, shared: Common) -> Screen:
    test = live.place.test
    face = live.agenda.face(test)
    told, asked = live.row.told or {}, checks(face)
    context: CheckScreen = {
        **shared,
        "form": _form(live),
        "face": live.study.tests[test].instrument,
        "told": _told(live, face),
        "questions": [ConsentQuestion(name=one.name, options=list(one.answers)) for one in asked],
        "wrong": [one.name for one in asked if told and told.get(one.name) != one.right],
        "given": told,
        "attempt": live.row.attempts + 1,
    }
    return Screen("check", context)


def _exercise(live: LiveSession, shared: Common) -> Screen:
    if live.alone:
        return _room(live, shared)
    place, row = live.place, live.exercise()
    table = live.replays.table(row)
    steps = table.steps
    if table.to_move:
        live.showing(row, len(table.made))
    face = live.agenda.face(place.test, place.practice, row.slot)
    seen = table.episode.observe(row.slot)
    before = steps[-1] if steps else None
    number, numbers = live.agenda.progress(place)
    context: ExerciseScreen = {
        **shared,
        "form": {"exercise": row.idx, "step": len(table.made)},
        "face": row.kind,
        "told": _told(live, face),
        "view": face.view(seen, before, _shuffle(live, row)),
        "choices": list(face.choices(seen)) if table.to_move else [],
        "exercise": number,
        "exercises": numbers,
        "move": len(steps) + 1,
        "moves": table.episode.environment.steps,
        "practice": place.practice,
        "reward": None if before is None else sign(before.reward),
        "number": before.reward if before is not None and live.study.show_numbers else None,
        "slot": row.slot,
        "left": _left(live, row),
        "mine": "" if table.to_move or len(table.made) == len(steps) else table.made[-1][1],
    }
    return Screen("exercise" if table.to_move else "waiting", context)


def _left(live: LiveSession, row: ExerciseRow) -> int | None:
    """Return the milliseconds that are left for the exercise or the choice; None: no limit."""
    ends = due(live, row)
    return None if ends is None else max(0, ends - live.now)


def _room(live: LiveSession, shared: Common) -> Screen:
    """Make the screen of the room: waiting for a partner, or told that there is none any more."""
    given, game = live.study.tests[live.place.test], live.game
    offered = offers(live)
    state: Waiting = "offer" if offered else "waiting"
    if game is not None and live.alone:
        mine = 0 if game.first_id == live.row.id else 1
        state = "away" if game.left_by == mine else "left"
    following = live.agenda.places[live.row.place + 1 :]
    context: RoomScreen = {
        **shared,
        "form": _form(live),
        "state": state,
        "offers": offered,
        "seconds": given.wait_seconds,
        "more": live.open_or_over() is None
        or any(p.kind == "exercise" and p.test == live.place.test for p in following),
    }
    return Screen("room", context)


def _shuffle(live: LiveSession, row: ExerciseRow) -> Random:
    """Return each participant's own random words, the same whenever the page is painted."""
    return Random(key(live.row.seed, (live.row.id << 16) + row.idx, SCREEN))


def _between(live: LiveSession, shared: Common) -> Screen:
    place = live.place
    row = live.rows.latest
    assert row is not None  # a pause comes after an exercise
    number, numbers = live.agenda.progress(place)
    following = live.agenda.places[live.row.place + 1]
    table = live.replays.table(row)
    steps = table.steps
    reward = None if place.rest or not steps else steps[-1].reward
    face = live.agenda.face(place.test, place.practice, row.slot)
    view = None
    if row.opponent and steps:
        view = face.view(table.episode.observe(row.slot), steps[-1], _shuffle(live, row))
    context: Between = {
        **shared,
        "form": _form(live),
        "face": row.kind,
        "told": _told(live, face),
        "exercise": number,
        "exercises": numbers,
        "practice": place.practice,
        "next_practice": following.practice,
        "reward": None if reward is None else sign(reward),
        "number": reward if live.study.show_numbers else None,
        "rest": place.rest,
        "view": view,
    }
    return Screen("between", context)


def _done(live: LiveSession, shared: Common) -> Screen:
    study = live.study
    context: Done = {
        **shared,
        "form": _form(live),
        "label": live.participant.label,
        "code": study.completion_code,
        "redirect": study.completion_url,
        "results": [],  # filled outside the transaction, for programs take their time
        "text": markdown(study.debrief.text.get(shared["language"], "")),
        "bonus": None,
        "show_numbers": study.show_numbers,
    }
    slots = {row.test: row.slot for row in live.rows.exercises if not row.practice}
    records = live.records() if live.ended is None else live.ended
    if study.bonus is not None and study.bonus.shown:
        context["bonus"] = (study.bonus.of(study.names, live.replays.paid()), study.bonus.currency)
    return Screen("done", context, records=records, slots=slots, plan=live.row.plan)


_OF = {
    "consent": _consent, "questions": _questions, "instructions": _instructions,
    "check": _check, "room": _room, "exercise": _exercise, "between": _between, "done": _done,
}  # fmt: skip
