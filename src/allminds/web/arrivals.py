"""The front desk: it maps links and tokens to sessions, and shows where each session is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.web.contexts import Faces, Join, Screen
from allminds.web.next_screen import closed, common, present, refused
from allminds.web.pairing import catch_up
from allminds.web.rows import here
from allminds.web.security import form_token, hashed, new_token
from allminds.web.session import Act, Memory, Visit, find, open_now
from allminds.web.store import ParticipantRow, SessionRow, Store, StudyRow, add_participant
from allminds.web.study import Study, stored

BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")  # in the order that tells them apart
NO_SESSION = refused("no-session", 403)


@dataclass(frozen=True)
class Welcome:
    """A session's token for the cookie, or the screen that says why there is none."""

    token: str = ""
    screen: Screen | None = None


class Desk:
    """All actions of participants, on one store; `clock` gives milliseconds since 1970."""

    def __init__(self, store: Store, faces: Faces, clock: Callable[[], int]) -> None:
        self.store, self.faces, self.clock = store, faces, clock
        self.memory = Memory()

    # ------------------------------------------------------------ with a token

    def take(self, token: str, act: Act | None = None, show: bool = True) -> Screen | None:
        """Act in a session, then show where it is; without `show`, only act."""
        digest = hashed(token)
        with self.store.writing() as db:
            visit = self._visit(db, digest)
            if visit is None:
                return NO_SESSION
            visit.arrive(digest)
            catch_up(visit)
            if act is not None and visit.running:
                act(visit)
                catch_up(visit)
            screen = present(visit, form_token(token)) if show else None
            visit.rows.keep()
            visit.rest()
        if visit.running:
            self.memory.put(digest, visit)
        return screen

    def _visit(self, db: Session, digest: str) -> Visit | None:
        """Return a visit: the last one taken up again if nothing came between, or a new one."""
        now = self.clock()
        known = self.memory.take(digest)
        if known is not None and known.again(db, now):
            return known
        visit = find(db, digest, self.faces, now)
        if visit is not None:
            here(db, visit.row, now)
        return visit

    def note(self, token: str, kind: str, client_ts: float | None) -> None:
        """Keep a note; it does not count as presence, or it would hide the gap before it."""
        with self.store.writing() as db:
            visit = find(db, hashed(token), self.faces, self.clock())
            if visit is not None and visit.running:
                visit.note(kind, client_ts)
                visit.rows.keep()

    def withdraw(self, token: str) -> None:
        """Stop and delete, at any time: after the end too."""
        with self.store.writing() as db:
            visit = find(db, hashed(token), self.faces, self.clock())
            if visit is not None:
                visit.withdraw()

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
            context: Join = {
                **shared,
                "form": {"invite": invite, "external_id": external if study.external_id else ""},
                "returning": session is not None,
            }
            return Screen("join", context)

    def join(
        self, invite: str, external_id: str, language: str, device: Mapping[str, Any], token: str
    ) -> Welcome:
        """Begin, or resume; `token` is what the browser has already, if any."""
        now = self.clock()
        with self.store.writing() as db:
            study_row, participant = _invited(db, invite)
            if study_row is None:
                return Welcome(screen=refused("bad-link", 404))
            study = stored(study_row.plan)
            mine = find(db, hashed(token), self.faces, now) if token else None
            whose = mine.participant if mine and mine.study_row.id == study_row.id else None
            if whose is not None and participant in (None, whose):
                return Welcome(token)  # the same browser again
            if participant is not None and participant.withdrawn_at is not None:
                return Welcome(screen=Screen("withdrawn", common(study, study.languages[0])))
            session = _session_of(db, participant)
            if session is not None:
                fresh = new_token()
                session.next_hash = hashed(fresh)  # the old one holds until this is used
                return Welcome(fresh)
            code = _language(study, language, None)
            return self._begin(db, study_row, participant, external_id, code, device, now)

    def _begin(
        self, db: Session, study_row: StudyRow, participant: ParticipantRow | None,
        external_id: str, language: str, device: Mapping[str, Any], now: int,
    ) -> Welcome:  # fmt: skip
        """Begin a new session, if the study accepts one."""
        study = stored(study_row.plan)
        shared = common(study, language)
        external = external_id[:128] if study.external_id else ""
        reason = open_now(study_row, now)
        if reason:
            return Welcome(screen=closed(reason, shared, study_row))
        if external and _has_external(db, study_row, external):
            return Welcome(screen=refused("taken", 409, shared))
        if participant is None:
            participant = add_participant(
                db, study_row, hashed(new_token()), now, external_id=external
            )
        elif external:
            participant.external_id = external
        if participant is None:
            return Welcome(screen=closed("full", shared, study_row))
        token = new_token()
        db.add(
            SessionRow(
                participant_id=participant.id, token_hash=hashed(token), seed=study.seed,
                plan=study_row.plan, lang=language, device=dict(device), place=0, attempts=0,
                again=False, started=now, status="running", last_seen=now,
            )
        )  # fmt: skip
        return Welcome(token)


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
