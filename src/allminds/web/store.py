"""A database of studies: opening and migrating it, studies, invitations, deletion."""

from __future__ import annotations

import contextlib
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Engine,
    Select,
    create_engine,
    delete,
    event,
    func,
    make_url,
    or_,
    select,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError
from sqlalchemy.orm import Session

from allminds.core.errors import Error
from allminds.core.settings import checked
from allminds.web.security import hashed, new_token
from allminds.web.study import Study, moment, stored
from allminds.web.tables import (
    ConsentRow,
    EventRow,
    ExerciseRow,
    GameRow,
    ParticipantRow,
    SessionRow,
    StudyRow,
)

WAIT = 30  # seconds for a lock, before it is an error
LEAST = 0.05  # seconds for a lock in PostgreSQL, where others hold rows for a moment
BROKEN = (DatabaseError, sqlite3.DatabaseError)  # the latter while a connection is being opened
PRAGMAS = (
    "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is overwritten
)  # fmt: skip
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another


class Store:
    """A database of studies. `where` is a path to an SQLite file, or a URL.

    With `create` its tables are made; with `empty` they are left to whoever asked for it. A lock
    that others hold is waited for `wait` seconds.
    """

    def __init__(
        self, where: str | Path, create: bool = False, empty: bool = False, wait: float = WAIT
    ) -> None:
        self.where = str(where)
        self.shown = _safe(self.where)  # without a password
        self.engine = _engine(self.where, create, WAIT)  # to open it, everybody waits
        self.sqlite = self.engine.dialect.name == "sqlite"
        self._writer = threading.Lock() if self.sqlite else contextlib.nullcontext()
        self._wait = wait
        self._deleted = False  # whether the log still holds what was deleted
        self._reading = self.engine.execution_options(reading=True)
        try:
            if not empty:
                migrate(self.engine, create)
            if wait != WAIT:
                self.engine.dispose()
                self.engine = _engine(self.where, create, wait)
                self._reading = self.engine.execution_options(reading=True)
        except BROKEN as error:
            self.close()
            raise _unopened(self.shown, error) from None
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def writing(self) -> Iterator[Session]:
        """Open one transaction that writes; all of it happens, or nothing."""
        with self._writer, Session(self.engine, expire_on_commit=False) as db, db.begin():
            yield db
        if self._deleted:
            self.checkpoint()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a view of the database at one moment, which locks nothing."""
        with Session(self._reading) as db, db.begin():
            yield db

    def close(self) -> None:
        """Put everything into the database file, and close all connections."""
        with contextlib.suppress(*BROKEN):  # one that cannot be opened, or is locked
            self.checkpoint()
        self.engine.dispose()

    def checkpoint(self) -> bool:
        """Move SQLite's write-ahead log into its file; return False while somebody reads from it.

        The log is left empty, so that what was deleted is in no file. PostgreSQL does this itself.
        """
        if not self.sqlite:
            return True
        with contextlib.closing(self.engine.raw_connection()) as connection:
            run = connection.cursor().execute
            run("PRAGMA busy_timeout=0")  # whoever holds it up is not waited for
            busy, _, _ = run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            run(f"PRAGMA busy_timeout={int(self._wait * 1000)}")
        self._deleted = self._deleted and bool(busy)
        return not busy

    def scrub(self, whole: bool = False) -> bool:
        """Remove what was deleted from the files; return False if it must wait for a reader.

        It is tried again after every write. With `whole` the file is written anew, which also
        removes what an older allminds had left there.
        """
        self._deleted = self.sqlite
        if whole and self.sqlite:
            with contextlib.closing(self.engine.raw_connection()) as connection:
                connection.cursor().execute("VACUUM")
        return self.checkpoint()

    # ------------------------------------------------------------ studies and invitations

    def add_study(self, study: Study, version: str, now: int) -> str:
        """Keep a study; return the researcher's token, which is not kept."""
        token = new_token()
        row = StudyRow(
            slug=study.slug, plan=study.text, consent_version=study.consent.version,
            languages=",".join(study.languages), opens=moment(study.opens),
            closes=moment(study.closes), max_n=study.participants, code_version=version,
            admin_hash=hashed(token), created=now,
            panel_key=secrets.token_hex(32) if study.external_signed else None,
        )  # fmt: skip
        try:
            with self.writing() as db:
                db.add(row)
        except IntegrityError:
            raise Error(
                f"there is a study '{study.slug}' in {self.shown} already; name another slug"
            ) from None
        return token

    def study(self, slug: str | None = None) -> StudyRow:
        """Return the study of a database, by name where there are several."""
        with self.reading() as db:
            rows = list(db.scalars(select(StudyRow).order_by(StudyRow.id)))
            db.expunge_all()
        found = [row for row in rows if slug in (None, row.slug)]
        if len(found) == 1:
            return found[0]
        names = ", ".join(row.slug for row in rows) or "none"
        if found:
            raise Error(f"{self.shown} has several studies: name one of {names}")
        raise Error(f"{self.shown} has no study '{slug or ''}'; there is {names}")

    def invite(self, study: StudyRow, labels: Sequence[str], now: int) -> list[tuple[str, str]]:
        """Add participants: (label, secret part of the link); labels "" are made up."""
        wrong = next((one for one in labels if one and not _LABEL.fullmatch(one)), None)
        if wrong is not None:
            raise Error(
                f"'{wrong}' is not a label: use letters, digits and . _ - only, up to 64 of them"
            )
        made = []
        with self.writing() as db:
            for label in labels:
                token = new_token()
                row = add_participant(db, study, hashed(token), now, label)
                if row is None:
                    raise Error(
                        f"the study '{study.slug}' is for {study.max_n} participants and has all "
                        "of them; plan for more in a new study"
                    )
                made.append((row.label, token))
        return made

    def extend(self, study: StudyRow, participants: int) -> None:
        """Raise the number of participants; whoever is in the study already keeps the place."""
        made = stored(study.plan)
        if participants <= study.max_n:
            raise Error(
                f"'{study.slug}' is for {study.max_n} participants; name a larger number than that"
            )
        if made.assignment == "own":
            raise Error(
                f"'{study.slug}' gives each participant exercises of their own, counted by the "
                "number of places: plan for more in a new study"
            )
        larger = checked(Study, made.model_dump() | {"participants": participants}, "the study")
        with self.writing() as db:
            row = db.get_one(StudyRow, study.id)
            row.max_n, row.plan = participants, larger.text

    def set_state(self, study: StudyRow, state: str, ends: int | None = None) -> None:
        """Open, pause or close a study for newcomers; `ends` also ends all sessions then."""
        with self.writing() as db:
            row = db.get_one(StudyRow, study.id)
            row.state = state
            if ends is not None:
                row.closes = ends

    def open_link(self, study: StudyRow) -> str:
        """Make a link that everyone can use; one made before ends."""
        token = new_token()
        with self.writing() as db:
            row = db.get_one(StudyRow, study.id)
            row.open_hash = hashed(token)
        return token

    def forget(self, study: StudyRow, label: str | None, now: int) -> int:
        """Delete the data of a participant, or of all of them; return how many that were."""
        with self.writing() as db:
            query = select(ParticipantRow).where(ParticipantRow.study_id == study.id)
            if label is not None:
                query = query.where(ParticipantRow.label == label)
            found = list(db.scalars(query))
            if label is not None and not found:
                raise Error(f"no participant of '{study.slug}' has the label '{label}'")
            ids = [participant.id for participant in found]
            theirs = select(SessionRow).where(SessionRow.participant_id.in_(ids))
            sessions = db.scalars(theirs.order_by(SessionRow.id).with_for_update())
            rows = {row.participant_id: row for row in sessions}  # all, before any of their games
            for participant in found:
                forget(db, participant, rows.get(participant.id), now)
        self.scrub(whole=True)
        return len(found)


def forget(db: Session, participant: ParticipantRow, row: SessionRow | None, now: int) -> None:
    """Delete a participant's data; the participant's row stays, so that a link is used once."""
    if row is not None:
        db.execute(delete(EventRow).where(EventRow.session_id == row.id))
        db.execute(delete(ExerciseRow).where(ExerciseRow.session_id == row.id))
        row.status, row.device, row.told = "withdrawn", None, None
        db.flush()
        part(db, row)
    db.execute(delete(ConsentRow).where(ConsentRow.participant_id == participant.id))
    participant.external_id = None
    participant.withdrawn_at = participant.withdrawn_at or now


def part(db: Session, row: SessionRow) -> None:
    """Mark the games of a session as left for good; the other player will be told."""
    for game in db.scalars(games_of(row).where(GameRow.status.in_(("waiting", "playing")))):
        game.left_by = 0 if game.first_id == row.id else 1
        game.status = "left"


def games_of(row: SessionRow) -> Select[GameRow]:
    """Select and lock the games of a session, the latest first."""
    mine = or_(GameRow.first_id == row.id, GameRow.second_id == row.id)
    query = select(GameRow).where(mine).order_by(GameRow.id.desc())
    return query.with_for_update().execution_options(populate_existing=True)


def add_participant(
    db: Session, study: StudyRow, invite_hash: str, now: int, label: str = "",
    external_id: str | None = None, invited: bool = True,
) -> ParticipantRow | None:  # fmt: skip
    """Add one more participant, or return None if the study is full; one at a time."""
    if full(db, study, now):
        return None
    row = ParticipantRow(
        study_id=study.id, number=free_number(db, study, now), invite_hash=invite_hash,
        label=label or _label(), external_id=external_id or None, created=now, invited=invited,
    )  # fmt: skip
    db.add(row)
    try:
        db.flush()
    except IntegrityError:
        raise Error(f"a participant of '{study.slug}' has the label '{label}' already") from None
    return row


def full(db: Session, study: StudyRow, now: int) -> bool:
    """Return whether every place of a study is taken; lock it until the transaction is over."""
    db.execute(select(StudyRow.id).where(StudyRow.id == study.id).with_for_update())
    taken = select(func.count()).select_from(_placed(study, now).subquery())
    return (db.scalar(taken) or 0) >= study.max_n


def _placed(study: StudyRow, now: int) -> Select[int]:
    """Select the numbers of the participants who have a place.

    A place is taken by whoever agreed to take part and is not gone, and kept for whoever has a link
    of their own. Those who withdrew, stayed away too long or merely opened an open link have none.
    """
    away = now - int(stored(study.plan).resume.long_hours * 3_600_000)
    here = (SessionRow.status == "finished") | (
        (SessionRow.status == "running") & (SessionRow.last_seen >= away)
    )
    return (
        select(ParticipantRow.number)
        .outerjoin(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(ParticipantRow.study_id == study.id, ParticipantRow.withdrawn_at.is_(None))
        .where(
            or_(
                here & (SessionRow.place > 0),
                ParticipantRow.invited & or_(SessionRow.id.is_(None), here),
            )
        )
    )


def free_number(db: Session, study: StudyRow, now: int, mine: int | None = None) -> int:
    """Return the number for a new participant, whose exercises nobody with a place has.

    Exercises of one's own go by the number modulo the places of the study. `mine` is kept if it
    will do. Call it while the study is locked (`full`) and not full.
    """
    held = {number % study.max_n for number in db.scalars(_placed(study, now))}
    if mine is not None and mine % study.max_n not in held:
        return mine
    query = select(func.max(ParticipantRow.number)).where(ParticipantRow.study_id == study.id)
    last = db.scalar(query)
    first = 0 if last is None else last + 1
    return next(first + n for n in range(study.max_n) if (first + n) % study.max_n not in held)


def sweep(db: Session, study: StudyRow, before: int, external_id: str = "") -> None:
    """Delete participants of an open link who never agreed: since `before`, or with this id."""
    query = (
        select(ParticipantRow.id, SessionRow.id)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(
            ParticipantRow.study_id == study.id, ParticipantRow.invited.is_(False),
            SessionRow.place == 0, SessionRow.status == "running",
            or_(SessionRow.last_seen < before, ParticipantRow.external_id == (external_id or "\n")),
        )
        .limit(100)
    )  # fmt: skip
    found = list(db.execute(query))
    people, sessions = [one for one, _ in found], [one for _, one in found]
    if found:
        db.execute(delete(EventRow).where(EventRow.session_id.in_(sessions)))
        db.execute(delete(SessionRow).where(SessionRow.id.in_(sessions)))
        db.execute(delete(ParticipantRow).where(ParticipantRow.id.in_(people)))


def _label() -> str:
    """Draw a label that can be said on the telephone: 40 bits, which open nothing."""
    return "".join(secrets.choice(_LETTERS) for _ in range(8))


# ---------------------------------------------------------------- connections


def _engine(where: str, create: bool, wait: float) -> Engine:
    if "://" not in where:
        path = Path(where)
        if create and not path.parent.is_dir():
            raise Error(f"cannot make {path}: there is no folder {path.parent}")
        where = f"sqlite:///{path}"
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):  # such as a port that is no number
        raise Error(f"'{_safe(where)}' is neither a file nor the URL of a database") from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not create:
            _check_ours(Path(url.database or ""))
        engine = create_engine(url, connect_args={"timeout": WAIT}, hide_parameters=True)
        event.listen(engine, "connect", lambda one, _: _tuned(one, wait))
        event.listen(engine, "begin", _begin)
        return engine
    if kind != "postgresql":
        raise Error(f"'{_safe(where)}': only sqlite and postgresql databases are supported")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(
        url, pool_size=10, max_overflow=30, pool_pre_ping=True, hide_parameters=True,
        connect_args={"connect_timeout": 10},
    )  # fmt: skip

    def patient(connection: Any, _record: Any) -> None:
        connection.execute(f"SET lock_timeout = {int(max(wait, LEAST) * 1000)}")
        connection.commit()

    event.listen(engine, "connect", patient)
    return engine


def _check_ours(path: Path) -> None:
    """Reject a file that holds no study, before anything is written into it."""
    if not path.is_file():
        raise Error(f"there is no database {path}; make it with allminds study new")
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=WAIT)) as plain:
            ours = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            if not plain.execute(ours).fetchone():
                raise Error(f"{path} holds no study; make one with allminds study new")
    except sqlite3.DatabaseError as error:
        raise _unopened(str(path), error) from None


def _unopened(shown: str, error: Exception) -> Error:
    reason = str(getattr(error, "orig", error)).splitlines()[0]
    return Error(f"cannot open the database {shown}: {reason}")


def locked(error: DatabaseError) -> bool:
    """Return whether a transaction failed since another held a lock, and may be tried again."""
    code = getattr(error.orig, "sqlstate", None)
    return code in ("55P03", "40P01") or "database is locked" in str(error.orig)


def _tuned(connection: Any, wait: float) -> None:
    connection.isolation_level = None  # we say ourselves when a transaction begins
    for pragma in (*PRAGMAS, f"busy_timeout={int(wait * 1000)}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _safe(where: str) -> str:
    """Return a URL without its password."""
    if "://" not in where:
        return where
    with contextlib.suppress(ArgumentError, ValueError):
        return make_url(where).render_as_string(hide_password=True)
    return where.partition("://")[0] + "://…"


# ---------------------------------------------------------------- migrations


def migrate(engine: Engine, create: bool) -> None:
    """Bring a database up to the newest schema."""
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    with engine.connect() as connection:
        there = MigrationContext.configure(connection).get_current_revision()
        connection.rollback()
    script = ScriptDirectory.from_config(config)
    if there is None and not create:
        raise Error(f"{_safe(str(engine.url))} holds no study; make one with allminds study new")
    if there is not None and there not in {one.revision for one in script.walk_revisions()}:
        raise Error(
            f"{_safe(str(engine.url))} was made by a newer allminds (schema {there}); update it"
        )
    if there == script.get_current_head():
        return
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
