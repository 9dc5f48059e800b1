"""All sessions of a store: from links and tokens to sessions, and to the screen that is due."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.contracts import Record
from allminds.core.seeding import Random, key
from allminds.presentation import Face
from allminds.web import forms
from allminds.web.course import SCREEN
from allminds.web.languages import direction
from allminds.web.pairing import catch_up, offers
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
    Join,
    Refused,
    RoomScreen,
    Screen,
    Waiting,
    sign,
)
from allminds.web.security import form_token, hashed, new_token, same, signature
from allminds.web.session import Act, LiveSession, Memory, find, open_now
from allminds.web.store import Store, add_participant, full, sweep
from allminds.web.study import PERSON, QUESTIONS, Study, stored
from allminds.web.tables import ExerciseRow, ParticipantRow, SessionRow, StudyRow, here


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
        return closed("abandoned", shared, live.study_row)
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
        "told": _told(live, live.course.face(test)),
        "practice": 0 if live.row.again else given.practice,
        "exercises": live.study.count(test),
        "again": live.row.again,
        "show_numbers": live.study.show_numbers,
    }
    return Screen("instructions", context)


def _check(live: LiveSession, shared: Common) -> Screen:
    test = live.place.test
    face = live.course.face(test)
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
    face = live.course.face(place.test, place.practice, row.slot)
    seen = table.episode.observe(row.slot)
    before = steps[-1] if steps else None
    number, numbers = live.course.progress(place)
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
        "mine": "" if table.to_move or len(table.made) == len(steps) else table.made[-1][1],
    }
    return Screen("exercise" if table.to_move else "waiting", context)


def _room(live: LiveSession, shared: Common) -> Screen:
    """Make the screen of the room: waiting for a partner, or told that there is none any more."""
    given, game = live.study.tests[live.place.test], live.game
    offered = offers(live)
    state: Waiting = "offer" if offered else "waiting"
    if game is not None and live.alone:
        mine = 0 if game.first_id == live.row.id else 1
        state = "away" if game.left_by == mine else "left"
    following = live.course.places[live.row.place + 1 :]
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
    number, numbers = live.course.progress(place)
    following = live.course.places[live.row.place + 1]
    table = live.replays.table(row)
    steps = table.steps
    reward = None if place.rest or not steps else steps[-1].reward
    face = live.course.face(place.test, place.practice, row.slot)
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
    }
    slots = {row.test: row.slot for row in live.rows.exercises if not row.practice}
    records = live.records() if live.ended is None else live.ended
    return Screen("done", context, records=records, slots=slots, plan=live.row.plan)


_OF = {
    "consent": _consent, "instructions": _instructions, "check": _check, "room": _room,
    "exercise": _exercise, "between": _between, "done": _done,
}  # fmt: skip


# ---------------------------------------------------------------- links and tokens


ENDED = 200  # finished sessions of which results are remembered
OPENED = 3_600_000  # ms after which whoever opened a link and did not agree is forgotten
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")  # in the order that tells them apart
NO_SESSION = refused("no-session", 403)


@dataclass(frozen=True)
class Joined:
    """A session's token for the cookie, or the screen that says why there is none."""

    token: str = ""
    screen: Screen | None = None


class Sessions:
    """All actions of participants, on one store; `clock` gives milliseconds since 1970."""

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self.store, self.clock = store, clock
        self.memory = Memory()
        self.ended: dict[int, tuple[tuple[Record, ...], ...]] = {}  # what came of finished sessions

    # ------------------------------------------------------------ with a token

    def take(self, token: str, act: Act | None = None, show: bool = True) -> Screen | None:
        """Act in a session, then show where it is; without `show`, only act."""
        digest = hashed(token)
        with self.store.writing() as db:
            live = self._live(db, digest)
            if live is None:
                return NO_SESSION
            live.ended = self.ended.get(live.row.id)
            live.arrive(digest)
            catch_up(live)
            if act is not None and live.running:
                act(live)
                catch_up(live)
            screen = present(live, form_token(token)) if show else None
            live.rows.keep()
            live.rest()
        if live.running:
            self.memory.put(digest, live)
        elif screen is not None and screen.name == "done":
            self._keep_ended(live.row.id, screen.records)
        return screen

    def warm(self, token: str) -> None:
        """Read and replay a session that is not remembered, before its turn; in a thread.

        It may be long, and everybody would wait. Nothing is locked: if the session changes
        meanwhile, its version does, and it is read again.
        """
        digest = hashed(token)
        with self.store.reading() as db:
            live = find(db, digest, 0, lock=False)  # the time is set when it acts
            if live is None:
                return
            row = live.open_exercise()
            if row is not None:
                live.replays.table(row)
            elif live.place.kind == "done" and live.row.id not in self.ended:
                self._keep_ended(live.row.id, live.records())
            live.rest()
            db.expunge_all()
        if live.running:
            self.memory.put(digest, live)

    def _keep_ended(self, session: int, records: tuple[tuple[Record, ...], ...]) -> None:
        if len(self.ended) >= ENDED:
            self.ended.clear()
        self.ended[session] = records

    def _live(self, db: Session, digest: str) -> LiveSession | None:
        """Take up a session: as remembered if nothing came between, else from the database."""
        now = self.clock()
        known = self.memory.take(digest)
        if known is not None and known.again(db, now):
            return known
        live = find(db, digest, now)
        if live is not None:
            here(db, live.row, now)
        return live

    def note(self, token: str, kind: str, client_ts: float | None) -> None:
        """Keep a note; it does not count as presence, or it would hide the gap before it."""
        with self.store.writing() as db:
            live = find(db, hashed(token), self.clock())
            if live is not None and live.running:
                live.note(kind, client_ts)
                live.rows.keep()

    def withdraw(self, token: str) -> None:
        """Stop and delete, at any time: after the end too."""
        with self.store.writing() as db:
            live = find(db, hashed(token), self.clock())
            if live is None:
                return
            live.withdraw()
        self.store.scrub()

    # ------------------------------------------------------------ with a link

    def look(self, invite: str, query: Mapping[str, str]) -> Screen:
        """Show the page behind a link. It starts nothing: links are opened by machines too."""
        now = self.clock()
        with self.store.reading() as db:
            study_row, participant = _invited(db, invite)
            if study_row is None:
                return refused("bad-link", 404)
            session = _session_of(db, participant)
            study = stored(study_row.plan)
            language = query.get("language", "")
            shared = common(study, _language(study, language, session))
            if participant is not None and participant.withdrawn_at is not None:
                return Screen("withdrawn", shared)
            reason = "" if session else open_now(study_row, now)
            if reason:
                return closed(reason, shared, study_row)
            external = query.get("external_id", "")  # so named by a form of our own
            if study.external_id:
                external = query.get(study.external_id, external)[:128]
            if not study.external_id:
                external = ""
            form = {"invite": invite, "external_id": external}
            if study.external_signed:
                form["signature"] = query.get("signature", "")[:128]
            context: Join = {**shared, "form": form, "returning": session is not None}
            return Screen("join", context)

    def kind(self, invite: str) -> Literal["open", "own", "none"]:
        """Return what a link is: for everybody, for one participant, or none at all."""
        with self.store.reading() as db:
            study, participant = _invited(db, invite)
        return "none" if study is None else "open" if participant is None else "own"

    def join(self, sent: forms.Join, device: Mapping[str, Any], token: str) -> Joined:
        """Begin, or resume; `token` is what the browser has already, if any."""
        now, invite = self.clock(), sent.invite
        with self.store.writing() as db:
            study_row, participant = _invited(db, invite)
            if study_row is None:
                return Joined(screen=refused("bad-link", 404))
            study = stored(study_row.plan)
            mine = find(db, hashed(token), now) if token else None
            whose = mine.participant if mine and mine.study_row.id == study_row.id else None
            if whose is not None and participant in (None, whose):
                return Joined(token)  # the same browser again
            if participant is not None and participant.withdrawn_at is not None:
                return Joined(screen=Screen("withdrawn", common(study, study.languages[0])))
            session = _session_of(db, participant)
            if session is not None:
                fresh = new_token()
                session.next_hash = hashed(fresh)  # the old one holds until this is used
                return Joined(fresh)
            return self._begin(db, study_row, participant, sent, device, now)

    def _begin(
        self, db: Session, study_row: StudyRow, participant: ParticipantRow | None,
        sent: forms.Join, device: Mapping[str, Any], now: int,
    ) -> Joined:  # fmt: skip
        """Begin a new session, if the study accepts one; one at a time."""
        study = stored(study_row.plan)
        language = _language(study, sent.language, None)
        shared = common(study, language)
        external = sent.external_id[:128] if study.external_id else ""
        reason = open_now(study_row, now)
        if reason:
            return Joined(screen=closed(reason, shared, study_row))
        if not external.isprintable():
            return Joined(screen=refused("bad-form", 422, shared))
        if study.external_signed and (external or participant is None):
            wanted = signature(study_row.panel_key or "", external)
            if not external or not same(sent.signature, wanted):
                return Joined(screen=refused("bad-link", 403, shared))
        crowded = full(db, study_row, now)  # locks the study, so that ids are taken once
        sweep(db, study_row, now - OPENED, external)
        if external and _has_external(db, study_row, external):
            return Joined(screen=refused("taken", 409, shared))
        if participant is None and crowded:
            return Joined(screen=closed("full", shared, study_row))
        if participant is None:
            participant = add_participant(
                db, study_row, hashed(new_token()), now, external_id=external, invited=False
            )
            assert participant is not None  # it was not full
        elif external:
            participant.external_id = external
        token = new_token()
        db.add(
            SessionRow(
                participant_id=participant.id, token_hash=hashed(token), seed=study.seed,
                plan=study_row.plan, lang=language, device=dict(device), place=0, attempts=0,
                again=False, started=now, status="running", last_seen=now,
            )
        )  # fmt: skip
        return Joined(token)


def _invited(db: Session, invite: str) -> tuple[StudyRow | None, ParticipantRow | None]:
    """Return the study of a link, and its participant; None if the link is for all."""
    digest = hashed(invite)
    query = select(ParticipantRow).where(ParticipantRow.invite_hash == digest)
    participant = db.scalar(query.with_for_update())
    if participant is not None:
        return db.get(StudyRow, participant.study_id), participant
    return db.scalar(select(StudyRow).where(StudyRow.open_hash == digest)), None


def _session_of(db: Session, participant: ParticipantRow | None) -> SessionRow | None:
    if participant is None:
        return None
    return db.scalar(select(SessionRow).where(SessionRow.participant_id == participant.id))


def _has_external(db: Session, study: StudyRow, external: str) -> bool:
    query = select(ParticipantRow.id).where(
        ParticipantRow.study_id == study.id, ParticipantRow.external_id == external
    )
    return db.scalar(query) is not None


def _language(study: Study, asked: str, session: SessionRow | None) -> str:
    if session is not None:
        return session.lang
    return asked if asked in study.languages else study.languages[0]


def device(viewport: str, pointer: str, agent: str) -> dict[str, str]:
    """Describe a device: sizes in steps of 50, the kind of pointer, the browser's family."""
    size = re.fullmatch(r"(\d{1,5})x(\d{1,5})", viewport)
    return {
        "viewport": "x".join(str(int(side) // 50 * 50) for side in size.groups()) if size else "",
        "pointer": pointer if pointer in ("fine", "coarse", "none") else "",
        "browser": next((name for name in BROWSERS if f"{name}/" in agent), "other"),
    }
