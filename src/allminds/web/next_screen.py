"""From a session to the screen that is due: the contexts of `sessions`, filled."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from allminds.core.seeding import Random, key
from allminds.presentation import Face
from allminds.web.contexts import (
    Between,
    CheckScreen,
    Closed,
    Common,
    Consent,
    ConsentQuestion,
    Done,
    ExerciseScreen,
    Instructions,
    Refused,
    Room,
    Screen,
    Waiting,
    sign,
)
from allminds.web.faces import checks
from allminds.web.languages import direction
from allminds.web.pairing import offers
from allminds.web.session import Visit
from allminds.web.store import ExerciseRow, StudyRow
from allminds.web.study import PERSON, QUESTIONS, SCREEN, Study


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


def present(visit: Visit, token: str) -> Screen:
    """Make the screen that is due; `token` is that of its forms."""
    shared = common(visit.study, visit.row.lang, token)
    if visit.participant.withdrawn_at is not None:
        return Screen("withdrawn", shared)
    if visit.row.status == "abandoned":
        return closed("abandoned", shared, visit.study_row)
    if visit.row.again:
        return _instructions(visit, shared)
    return _OF[visit.place.kind](visit, shared)


def _form(visit: Visit) -> dict[str, Any]:
    return {"place": visit.row.place}


def _told(visit: Visit, face: Face) -> dict[str, Any]:
    """Return what is said of a test, and of the other player if it is a game."""
    given = visit.study.tests[visit.place.test]
    other = given.opponent and (PERSON if given.opponent == PERSON else "machine")
    return face.told() | {"other": other, "move_seconds": given.move_seconds}


def _consent(visit: Visit, shared: Common) -> Screen:
    study = visit.study
    context: Consent = {
        **shared,
        "form": _form(visit),
        "text": study.consent.text[shared["language"]].strip(),
        "version": study.consent.version,
        "ask": [ConsentQuestion(name=name, options=list(QUESTIONS[name])) for name in study.ask],
        "retention": study.retention.isoformat(),
    }
    return Screen("consent", context)


def _instructions(visit: Visit, shared: Common) -> Screen:
    test = visit.place.test
    given = visit.study.tests[test]
    context: Instructions = {
        **shared,
        "form": _form(visit),
        "face": given.instrument,
        "told": _told(visit, visit.course.face(test)),
        "practice": 0 if visit.row.again else given.practice,
        "exercises": visit.study.count(test),
        "again": visit.row.again,
        "show_numbers": visit.study.show_numbers,
    }
    return Screen("instructions", context)


def _check(visit: Visit, shared: Common) -> Screen:
    test = visit.place.test
    face = visit.course.face(test)
    told, asked = visit.row.told or {}, checks(face)
    context: CheckScreen = {
        **shared,
        "form": _form(visit),
        "face": visit.study.tests[test].instrument,
        "told": _told(visit, face),
        "questions": [ConsentQuestion(name=one.name, options=list(one.answers)) for one in asked],
        "wrong": [one.name for one in asked if told and told.get(one.name) != one.right],
        "given": told,
        "attempt": visit.row.attempts + 1,
    }
    return Screen("check", context)


def _exercise(visit: Visit, shared: Common) -> Screen:
    if visit.alone:
        return _room(visit, shared)
    place, row = visit.place, visit.exercise()
    table = visit.replays.table(row)
    steps = table.steps
    if table.to_move:
        visit.showing(row, len(table.made))
    face = visit.course.face(place.test, place.practice, row.slot)
    seen = table.episode.observe(row.slot)
    before = steps[-1] if steps else None
    number, numbers = visit.course.progress(place)
    context: ExerciseScreen = {
        **shared,
        "form": {"exercise": row.idx, "step": len(table.made)},
        "face": row.kind,
        "told": _told(visit, face),
        "view": face.view(seen, before, _shuffle(visit, row)),
        "choices": list(face.choices(seen)) if table.to_move else [],
        "exercise": number,
        "exercises": numbers,
        "move": len(steps) + 1,
        "moves": table.episode.environment.steps,
        "practice": place.practice,
        "reward": None if before is None else sign(before.reward),
        "number": before.reward if before is not None and visit.study.show_numbers else None,
        "slot": row.slot,
        "mine": "" if table.to_move or len(table.made) == len(steps) else table.made[-1][1],
    }
    return Screen("exercise" if table.to_move else "waiting", context)


def _room(visit: Visit, shared: Common) -> Screen:
    """Make the screen of the room: waiting for a partner, or told that there is none any more."""
    given, game = visit.study.tests[visit.place.test], visit.game
    offered = offers(visit)
    state: Waiting = "offer" if offered else "waiting"
    if game is not None and visit.alone:
        mine = 0 if game.first_id == visit.row.id else 1
        state = "away" if game.left_by == mine else "left"
    following = visit.course.places[visit.row.place + 1 :]
    context: Room = {
        **shared,
        "form": _form(visit),
        "state": state,
        "offers": offered,
        "seconds": given.wait_seconds,
        "more": visit.open_or_over() is None
        or any(p.kind == "exercise" and p.test == visit.place.test for p in following),
    }
    return Screen("room", context)


def _shuffle(visit: Visit, row: ExerciseRow) -> Random:
    """Return each participant's own random words, the same whenever the page is painted."""
    return Random(key(visit.row.seed, (visit.row.id << 16) + row.idx, SCREEN))


def _between(visit: Visit, shared: Common) -> Screen:
    place = visit.place
    row = visit.rows.latest
    assert row is not None  # a pause comes after an exercise
    number, numbers = visit.course.progress(place)
    following = visit.course.places[visit.row.place + 1]
    table = visit.replays.table(row)
    steps = table.steps
    reward = None if place.rest or not steps else steps[-1].reward
    face = visit.course.face(place.test, place.practice, row.slot)
    view = None
    if row.opponent and steps:
        view = face.view(table.episode.observe(row.slot), steps[-1], _shuffle(visit, row))
    context: Between = {
        **shared,
        "form": _form(visit),
        "face": row.kind,
        "told": _told(visit, face),
        "exercise": number,
        "exercises": numbers,
        "practice": place.practice,
        "next_practice": following.practice,
        "reward": None if reward is None else sign(reward),
        "number": reward if visit.study.show_numbers else None,
        "rest": place.rest,
        "view": view,
    }
    return Screen("between", context)


def _done(visit: Visit, shared: Common) -> Screen:
    study = visit.study
    context: Done = {
        **shared,
        "form": _form(visit),
        "label": visit.participant.label,
        "code": study.completion_code,
        "redirect": study.completion_url,
        "results": [],  # filled outside the transaction, for programs take their time
    }
    slots = {row.test: row.slot for row in visit.rows.exercises if not row.practice}
    return Screen("done", context, records=visit.records(), slots=slots, plan=visit.row.plan)


_OF = {
    "consent": _consent, "instructions": _instructions, "check": _check, "room": _room,
    "exercise": _exercise, "between": _between, "done": _done,
}  # fmt: skip
