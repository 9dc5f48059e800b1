"""The tables of a study's database, and the rows of one session while it is played.

`migrations` makes the tables, and a test checks that both agree. Times are whole milliseconds
since 1970 in UTC, the same in every database. Tokens and links are kept as SHA-256. There are no
names, addresses or e-mails.

The statements of a session are prepared once for all, since to build one takes longer than to run
it; events go straight to their table, which is never read back as objects while people play.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    BigInteger,
    BindParameter,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    bindparam,
    func,
    insert,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, load_only, mapped_column
from sqlalchemy.orm.attributes import set_committed_value

HASH = String(64)
VALUE = JSON(none_as_null=True)
LONG = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers only INTEGER rows by itself


class Base(DeclarativeBase):
    """The base of all tables; names of keys are fixed, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class StudyRow(Base):
    """A study as it was when it was made: its plan never changes."""

    __tablename__ = "study"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    plan: Mapped[str] = mapped_column(Text)  # JSON
    consent_version: Mapped[str] = mapped_column(String(64))
    languages: Mapped[str] = mapped_column(String(200))
    opens: Mapped[int | None] = mapped_column(BigInteger)
    closes: Mapped[int | None] = mapped_column(BigInteger)
    max_n: Mapped[int]
    code_version: Mapped[str] = mapped_column(String(32))
    admin_hash: Mapped[str] = mapped_column(HASH, unique=True)
    open_hash: Mapped[str | None] = mapped_column(HASH, unique=True)  # of a link for everybody
    panel_key: Mapped[str | None] = mapped_column(HASH)  # by which a panel's ids are signed
    state: Mapped[str] = mapped_column(String(16), server_default="open")  # open, paused, closed
    created: Mapped[int] = mapped_column(BigInteger)


class ParticipantRow(Base):
    """A participant who was invited."""

    __tablename__ = "participant"
    __table_args__ = (
        Index("uq_participant_number", "study_id", "number", unique=True),
        Index("uq_participant_label", "study_id", "label", unique=True),
        Index("uq_participant_external", "study_id", "external_id", unique=True),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    number: Mapped[int]  # from 0, in the order of invitation
    invite_hash: Mapped[str] = mapped_column(HASH, unique=True)
    label: Mapped[str] = mapped_column(String(64))
    external_id: Mapped[str | None] = mapped_column(String(128))
    created: Mapped[int] = mapped_column(BigInteger)
    withdrawn_at: Mapped[int | None] = mapped_column(BigInteger)
    invited: Mapped[bool] = mapped_column(server_default=true())  # by a link of their own


class ConsentRow(Base):
    """What a participant agreed to."""

    __tablename__ = "consent"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), index=True)
    version: Mapped[str] = mapped_column(String(64))
    lang: Mapped[str] = mapped_column(String(16))
    accepted_at: Mapped[int] = mapped_column(BigInteger)
    about: Mapped[Any] = mapped_column(
        VALUE, nullable=True
    )  # what the person chose to say of itself


class SessionRow(Base):
    """The one session of a participant, for ever; gaps are events, not new sessions."""

    __tablename__ = "session"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    token_hash: Mapped[str] = mapped_column(HASH, unique=True)
    next_hash: Mapped[str | None] = mapped_column(HASH, unique=True)  # takes over when it is used
    seed: Mapped[int] = mapped_column(BigInteger)
    plan: Mapped[str] = mapped_column(Text)
    lang: Mapped[str] = mapped_column(String(16))
    device: Mapped[Any] = mapped_column(
        VALUE, nullable=True
    )  # coarse: viewport, pointer, browser family
    place: Mapped[int]  # in the agenda
    attempts: Mapped[int]  # at the comprehension check of this place
    told: Mapped[Any] = mapped_column(VALUE, nullable=True)  # what was answered there the last time
    again: Mapped[bool]  # instructions are due again, after a gap
    started: Mapped[int] = mapped_column(BigInteger)
    finished: Mapped[int | None] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(String(16))  # running, finished, abandoned, withdrawn
    last_seen: Mapped[int] = mapped_column(BigInteger)
    version: Mapped[int] = mapped_column(server_default=text("1"))  # another after every change

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own way


class GameRow(Base):
    """Two people in one test, or one who waits for another; the first has slot 0."""

    __tablename__ = "game"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    test: Mapped[int]  # number of the test in the plan
    first_id: Mapped[int] = mapped_column(ForeignKey("session.id"), index=True)
    second_id: Mapped[int | None] = mapped_column(ForeignKey("session.id"), index=True)
    status: Mapped[str] = mapped_column(String(16))  # waiting, playing, left, machine, skipped
    left_by: Mapped[int | None] = mapped_column(Integer)  # slot of whoever went
    started: Mapped[int] = mapped_column(BigInteger)  # the waiting; then the play


class ExerciseRow(Base):
    """An exercise that was begun. `number` is its index in the instrument's series."""

    __tablename__ = "exercise"
    __table_args__ = (Index("uq_exercise_place", "session_id", "idx", unique=True),)

    id: Mapped[int] = mapped_column(primary_key=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("session.id"))
    idx: Mapped[int]  # from 0, in the order in which they were begun
    place: Mapped[int]  # in the agenda
    test: Mapped[int]  # number of the test in the plan
    kind: Mapped[str] = mapped_column(String(64))  # instrument
    params: Mapped[Any] = mapped_column(VALUE, nullable=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    number: Mapped[int] = mapped_column(BigInteger)
    practice: Mapped[bool]
    started: Mapped[int] = mapped_column(BigInteger)
    finished: Mapped[int | None] = mapped_column(BigInteger)
    score: Mapped[float | None] = mapped_column(Double)
    flags: Mapped[Any] = mapped_column(
        VALUE, nullable=True
    )  # interrupted, reloaded, replaced, void, left
    slot: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # of the person
    opponent: Mapped[str | None] = mapped_column(String(200))  # "person", or a mind; of a game
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))  # with another person


class EventRow(Base):
    """What happened, in order; rows are only ever added. A choice is there once."""

    __tablename__ = "event"
    __table_args__ = (
        Index(
            "uq_event_choice", "session_id", "exercise_idx", "step", unique=True,
            sqlite_where=text("kind = 'choice'"), postgresql_where=text("kind = 'choice'"),
        ),
        Index("ix_event_session", "session_id", "exercise_idx"),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(LONG, primary_key=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("session.id"))
    exercise_idx: Mapped[int | None]
    step: Mapped[int | None]
    kind: Mapped[str] = mapped_column(String(16))  # choice, met, shown, note, resume, …
    choice: Mapped[str | None] = mapped_column(String(64))
    action: Mapped[Any] = mapped_column(VALUE, nullable=True)
    observation_hash: Mapped[str | None] = mapped_column(String(16))
    reward: Mapped[float | None] = mapped_column(Double)
    correct: Mapped[bool | None]
    rt_ms: Mapped[float | None] = mapped_column(Double)
    input: Mapped[str | None] = mapped_column(String(16))
    client_ts: Mapped[float | None] = mapped_column(Double)
    server_ts: Mapped[int] = mapped_column(BigInteger)
    payload: Mapped[Any] = mapped_column(VALUE, nullable=True)


# ---------------------------------------------------------------- the rows of one session


DONE = ("choice", "met")  # events that move an exercise on
READ = (*DONE, "shown")
PRESENT = ("choice", "resume")  # and those that show that somebody is there
MOST_NOTES = 5_000  # of one session, and so many times that it was taken up again
MOST_SHOWN = 20  # times that one step was painted

_SESSION: BindParameter[int] = bindparam("session")
_EXERCISE: BindParameter[int] = bindparam("exercise")
_TOKEN: BindParameter[str] = bindparam("token")
_HELD = (
    select(SessionRow, ParticipantRow, StudyRow)
    .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
    .join(StudyRow, StudyRow.id == ParticipantRow.study_id)
    .where(or_(SessionRow.token_hash == _TOKEN, SessionRow.next_hash == _TOKEN))
    .options(load_only(StudyRow.opens, StudyRow.closes))
)
_LOCKED = _HELD.with_for_update(of=SessionRow)
_CLOSES = select(StudyRow.closes).where(StudyRow.id == bindparam("study"))
_HERE = (
    update(SessionRow)
    .where(SessionRow.id == _SESSION, SessionRow.version == bindparam("known"))
    .values(version=bindparam("known") + 1, last_seen=bindparam("now"))
    .execution_options(synchronize_session=False)
)
_BEGUN = select(ExerciseRow).where(ExerciseRow.session_id == _SESSION).order_by(ExerciseRow.idx)
_LATEST = _BEGUN.order_by(None).order_by(ExerciseRow.idx.desc()).limit(1)
_OF_EXERCISE = (EventRow.session_id == _SESSION) & (EventRow.exercise_idx == _EXERCISE)
_HAPPENED = (
    select(EventRow.kind, EventRow.step, EventRow.choice, EventRow.action, EventRow.payload)
    .where(_OF_EXERCISE, EventRow.kind.in_(READ))
    .order_by(EventRow.id)
)
_THERE = select(func.max(EventRow.server_ts)).where(_OF_EXERCISE, EventRow.kind.in_(PRESENT))
_CHOSEN = select(func.max(EventRow.server_ts)).where(_OF_EXERCISE, EventRow.kind == "choice")
_NOTES = (
    select(EventRow.id).where(EventRow.session_id == _SESSION, EventRow.kind == bindparam("of"))
).limit(bindparam("most"))
_EVENT = EventRow.metadata.tables[EventRow.__tablename__]
_ADD = insert(_EVENT)
_NOTHING = dict.fromkeys(column.name for column in _EVENT.columns if not column.primary_key)

Held = tuple[SessionRow, ParticipantRow, StudyRow]


class Happened(NamedTuple):
    """An event that a replay or a screen asks for."""

    kind: str
    step: int | None
    choice: str | None
    action: Any
    payload: Any


def held(db: Session, token_hash: str, lock: bool = True) -> Held | None:
    """Return and lock the session of a token until this transaction is over."""
    found = db.execute(_LOCKED if lock else _HELD, {"token": token_hash}).one_or_none()
    return None if found is None else (found[0], found[1], found[2])


def closes_of(db: Session, study: int) -> int | None:
    """Return when a study closes, as it is said now: it can be closed while people are in it."""
    return db.connection().execute(_CLOSES, {"study": study}).scalar()


def here(db: Session, row: SessionRow, now: int) -> bool:
    """Mark the session as active now; return False if it is no longer as this row says.

    The time never goes back: after a clock that was slow and is set right nobody was away.
    """
    known, now = row.version, max(now, row.last_seen)
    where = {"session": row.id, "known": known, "now": now}
    if db.connection().execute(_HERE, where).rowcount != 1:
        return False
    set_committed_value(row, "version", known + 1)
    set_committed_value(row, "last_seen", now)
    return True


class Rows:
    """The exercises and events of one session."""

    def __init__(self, db: Session, session_id: int) -> None:
        self.db, self.session_id = db, session_id
        self._read: dict[int, list[Happened]] = {}
        self._added: list[dict[str, Any]] = []

    def again(self, db: Session) -> None:
        """Begin the session's next request with all that was read before: it has not changed."""
        self.db = db
        if self.latest is not None:
            db.add(self.latest)

    def keep_only(self, idx: int | None) -> None:
        """Forget what was read of all exercises but one."""
        self._read = {one: events for one, events in self._read.items() if one == idx}
        self.__dict__.pop("exercises", None)

    # ------------------------------------------------------------ exercises

    @cached_property
    def latest(self) -> ExerciseRow | None:
        """The exercise that was begun last: the only one that can be open."""
        return self.db.scalar(_LATEST, {"session": self.session_id})

    @cached_property
    def exercises(self) -> Sequence[ExerciseRow]:
        """The exercises that were begun."""
        return self.db.scalars(_BEGUN, {"session": self.session_id}).all()

    def begin(self, **what: Any) -> ExerciseRow:
        """Add one more exercise."""
        idx = 0 if self.latest is None else self.latest.idx + 1
        row = ExerciseRow(session_id=self.session_id, idx=idx, flags=[], **what)
        self.db.add(row)
        self.db.flush()
        self.latest = row
        self.__dict__.pop("exercises", None)  # there is one more
        self._read[idx] = []
        return row

    # ------------------------------------------------------------ events

    def done(self, idx: int) -> list[Happened]:
        """List what was done in an exercise before this request: all that a replay needs."""
        return [event for event in self._happened(idx) if event.kind in DONE]

    def shown(self, idx: int, step: int) -> int:
        """Count how often a step had been painted."""
        return sum(one.kind == "shown" and one.step == step for one in self._happened(idx))

    def _happened(self, idx: int) -> list[Happened]:
        if idx not in self._read:
            where = {"session": self.session_id, "exercise": idx}
            self._read[idx] = [Happened(*row) for row in self.db.execute(_HAPPENED, where)]
        return self._read[idx]

    def there(self, idx: int) -> int | None:
        """Return when the participant was last in an exercise, this request included."""
        before = self.db.scalar(_THERE, {"session": self.session_id, "exercise": idx})
        now = (one["server_ts"] for one in self._new(idx, *PRESENT))
        return max(now, default=before)

    def since(self, row: ExerciseRow) -> int:
        """Return when the present choice of an exercise became due."""
        where = {"session": self.session_id, "exercise": row.idx}
        before = self.db.scalar(_CHOSEN, where)
        return max((one["server_ts"] for one in self._new(row.idx, "choice")), default=before) or (
            row.started
        )

    def met(self, idx: int) -> int:
        """Count the moves of another participant in an exercise, this request included."""
        before = [event for event in self._happened(idx) if event.kind == "met"]
        return len(before) + len(self._new(idx, "met"))

    def _new(self, idx: int, *kinds: str) -> list[dict[str, Any]]:
        """List what was added in this live."""
        return [one for one in self._added if one["exercise_idx"] == idx and one["kind"] in kinds]

    def full(self, kind: str = "note") -> bool:
        """Return whether no more events of a kind are kept."""
        where = {"session": self.session_id, "most": MOST_NOTES, "of": kind}
        notes = self.db.scalars(_NOTES, where).all()
        return len(notes) >= MOST_NOTES

    def add(self, **what: Any) -> None:
        """Add one more event."""
        self._added.append(_NOTHING | {"session_id": self.session_id} | what)

    def keep(self) -> None:
        """Write the events that were added."""
        if self._added:
            self.db.connection().execute(_ADD, self._added)
        for one in self._added:
            if one["kind"] in READ and one["exercise_idx"] in self._read:
                happened = Happened(*(one[name] for name in Happened._fields))
                self._read[one["exercise_idx"]].append(happened)
        self._added = []
