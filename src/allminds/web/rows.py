"""The rows of one session: what visits read of them, once, and what they add, all at the end.

Statements are prepared here and once for all, since to build one takes longer than to run it;
events go straight to their table, which is never read back as objects while people play.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, bindparam, func, insert, or_, select, update
from sqlalchemy.orm import Session, load_only
from sqlalchemy.orm.attributes import set_committed_value

from allminds.web.store import EventRow, ExerciseRow, ParticipantRow, SessionRow, StudyRow

DONE = ("choice", "met")  # events that move an exercise on
READ = (*DONE, "shown")
PRESENT = ("choice", "resume")  # and those that show that somebody is there
MOST_NOTES = 5_000  # of one session

_SESSION: BindParameter[int] = bindparam("session")
_EXERCISE: BindParameter[int] = bindparam("exercise")
_TOKEN: BindParameter[str] = bindparam("token")
_HELD = (
    select(SessionRow, ParticipantRow, StudyRow)
    .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
    .join(StudyRow, StudyRow.id == ParticipantRow.study_id)
    .where(or_(SessionRow.token_hash == _TOKEN, SessionRow.next_hash == _TOKEN))
    .options(load_only(StudyRow.opens, StudyRow.closes))
    .with_for_update(of=SessionRow)
)
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
_NOTES = (
    select(EventRow.id).where(EventRow.session_id == _SESSION, EventRow.kind == "note")
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


def held(db: Session, token_hash: str) -> Held | None:
    """Return and lock the session of a token until this transaction is over."""
    found = db.execute(_HELD, {"token": token_hash}).one_or_none()
    return None if found is None else (found[0], found[1], found[2])


def here(db: Session, row: SessionRow, now: int) -> bool:
    """Mark the session as active now; return False if it is no longer as this row says."""
    known = row.version
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
        """Begin the session's next visit with all that was read before: it has not changed."""
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
        """List what had been done in an exercise when this visit began: all that a replay needs."""
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
        """Return when the participant was last in an exercise, this visit included."""
        before = self.db.scalar(_THERE, {"session": self.session_id, "exercise": idx})
        now = (one["server_ts"] for one in self._new(idx, *PRESENT))
        return max(now, default=before)

    def met(self, idx: int) -> int:
        """Count the moves of another participant in an exercise, this visit included."""
        before = [event for event in self._happened(idx) if event.kind == "met"]
        return len(before) + len(self._new(idx, "met"))

    def _new(self, idx: int, *kinds: str) -> list[dict[str, Any]]:
        """List what was added in this visit."""
        return [one for one in self._added if one["exercise_idx"] == idx and one["kind"] in kinds]

    def full(self) -> bool:
        """Return whether no more notes are kept."""
        notes = self.db.scalars(_NOTES, {"session": self.session_id, "most": MOST_NOTES}).all()
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
