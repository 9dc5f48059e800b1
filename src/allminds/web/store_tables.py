"""The tables of a study's database; `migrations` makes them, and a test holds the two together.

Times are whole milliseconds since 1970 in UTC, the same in every database. Tokens and links are
kept as SHA-256. There are no names, addresses or e-mails.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

HASH = String(64)
VALUE = JSON(none_as_null=True)
LONG = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers only INTEGER rows by itself


class Base(DeclarativeBase):
    """Names of keys are fixed, so that migrations can speak of them."""

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
    created: Mapped[int] = mapped_column(BigInteger)


class ParticipantRow(Base):
    """Somebody who was invited."""

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
    place: Mapped[int]  # in the course
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
    place: Mapped[int]  # in the course
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
