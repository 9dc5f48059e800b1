"""The sessions of a study as they are read for its data: who took what, to be replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from allminds import registry
from allminds.core.blocks import LESSON
from allminds.web.agenda import Agenda, agenda
from allminds.web.monitor import iso
from allminds.web.replays import Replays, grouped
from allminds.web.study import Study
from allminds.web.tables import (
    DONE,
    EventRow,
    ExerciseRow,
    ParticipantRow,
    SessionRow,
    StudyRow,
)

DESIGNED = ("arm", "test", "test_name", "test_position")  # columns of what the design gave


class Taken(NamedTuple):
    """A session of a participant, to be replayed."""

    participant: ParticipantRow
    session: SessionRow
    agenda: Agenda
    replays: Replays
    exercises: Sequence[ExerciseRow]
    done: Mapping[int, list[EventRow]]  # what was done, by exercise

    def designed(self, plan: Study, test: int) -> dict[str, Any]:
        """Return what the design gave a participant in a test, by `DESIGNED`."""
        name = self.agenda.study.names[test]
        return {
            "arm": self.agenda.study.arm,
            "test": plan.names.index(name),
            "test_name": name,
            "test_position": test + 1,
        }


def all_taken(db: Session, study: StudyRow) -> Iterator[Taken]:
    """Yield the sessions of all who did not withdraw, in the order of their places."""
    for participant, session in sessions_of(db, study):
        plan, exercises = agenda(session.plan), exercises_of(db, session)
        replays, done = _replayed(db, session, plan, exercises)
        yield Taken(participant, session, plan, replays, exercises, done)


def sessions_of(db: Session, study: StudyRow) -> list[tuple[ParticipantRow, SessionRow]]:
    """List the sessions of those who did not withdraw, in the order of their places."""
    query = (
        select(ParticipantRow, SessionRow)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(ParticipantRow.study_id == study.id, ParticipantRow.withdrawn_at.is_(None))
        .order_by(ParticipantRow.number)
    )
    return [(participant, session) for participant, session in db.execute(query)]


def exercises_of(db: Session, session: SessionRow) -> list[ExerciseRow]:
    """List the exercises that were begun in a session."""
    query = select(ExerciseRow).where(ExerciseRow.session_id == session.id)
    return list(db.scalars(query.order_by(ExerciseRow.idx)))


def events_of(session: SessionRow) -> Select[EventRow]:
    """Select what happened in a session, in its order."""
    query = select(EventRow).where(EventRow.session_id == session.id).order_by(EventRow.id)
    return query.execution_options(yield_per=1000)


def _replayed(
    db: Session, session: SessionRow, plan: Agenda, exercises: Sequence[ExerciseRow]
) -> tuple[Replays, Mapping[int, list[EventRow]]]:
    """Return the exercises of a session to be replayed, and what was done in them."""
    done = grouped(list(db.scalars(events_of(session).where(EventRow.kind.in_(DONE)))))
    return Replays(plan, lambda: exercises, lambda idx: done.get(idx, [])), done


def exercise_id(plan: Agenda, row: ExerciseRow) -> str:
    """Return the id by which participants and programs are paired."""
    tool = plan.tool(row.test, row.practice)
    return f"{registry.exercise_prefix(tool, row.seed)}{row.number}"


def lesson_of(plan: Agenda, row: ExerciseRow) -> dict[str, Any]:
    """Return the place of an exercise in a course, by column; empty where it is in none."""
    lesson = plan.lesson(row.test, row.number, row.practice)
    return {name: None if lesson is None else getattr(lesson, name) for name in LESSON}


def iso_ms(ms: int) -> str:
    """Format a time to the millisecond."""
    return iso(ms).replace("+00:00", f".{ms % 1000:03d}Z")
