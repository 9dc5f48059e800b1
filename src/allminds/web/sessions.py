"""All sessions of a store: what participants do with links and tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.contracts import Record
from allminds.web import forms
from allminds.web.gaps import arrive, open_now
from allminds.web.pages import closed, common, present, refused
from allminds.web.pairing import catch_up
from allminds.web.places import add_participant, full, sweep
from allminds.web.screens import Join, Screen
from allminds.web.security import form_token, hashed, new_token, same, signature
from allminds.web.session import Act, LiveSession, Memory, find
from allminds.web.store import Store
from allminds.web.study import Study, stored
from allminds.web.tables import ParticipantRow, SessionRow, StudyRow, here

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
            arrive(live, digest)
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
