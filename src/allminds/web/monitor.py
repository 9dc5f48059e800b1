"""Where each participant is in a study, and what stands out: reported, never rejected."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.web.agenda import agenda
from allminds.web.careless import behaviours
from allminds.web.pages import common
from allminds.web.screens import Monitor, Screen
from allminds.web.tables import ExerciseRow, ParticipantRow, SessionRow, StudyRow


def monitor(db: Session, study: StudyRow) -> Screen:
    """Build the researcher's page."""
    plan = agenda(study.plan)
    seen = behaviours(db, study)
    query = (
        select(ParticipantRow, SessionRow)
        .outerjoin(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(ParticipantRow.study_id == study.id)
        .order_by(ParticipantRow.number)
    )
    flags = _exercise_flags(db, study)
    rows = []
    counts = dict.fromkeys(("invited", "running", "finished", "abandoned", "withdrawn"), 0)
    for participant, session in db.execute(query):
        status = "invited" if session is None else session.status
        status = "withdrawn" if participant.withdrawn_at is not None else status
        counts[status] += 1
        row = {"label": participant.label, "status": status, "arm": "", "language": "", "at": ""}
        row |= {"started": "", "last seen": "", "flags": ""}
        if session is not None and status != "withdrawn":
            how = seen.get(session.id)
            found = [*flags.get(session.id, []), *(how.flags() if how else [])]
            mine = agenda(session.plan)
            row |= {
                "arm": mine.study.arm,
                "language": session.lang,
                "at": f"{session.place} of {len(mine.places) - 1}",
                "started": iso(session.started),
                "last seen": iso(session.last_seen),
                "flags": " ".join(found),
            }
        if not plan.study.arms:
            del row["arm"]
        rows.append(row)
    shared = common(plan.study, plan.study.languages[0])
    context: Monitor = {
        **shared, "study": study.slug, "participants": study.max_n, "counts": counts, "rows": rows,
    }  # fmt: skip
    return Screen("monitor", context)


def _exercise_flags(db: Session, study: StudyRow) -> dict[int, list[str]]:
    query = (
        select(ExerciseRow.session_id, ExerciseRow.flags)
        .join(SessionRow, SessionRow.id == ExerciseRow.session_id)
        .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
        .where(ParticipantRow.study_id == study.id)
    )
    found: dict[int, set[str]] = {}
    for session, flags in db.execute(query):
        found.setdefault(session, set()).update(flags)
    return {session: sorted(flags) for session, flags in found.items()}


def iso(ms: int) -> str:
    """Format a time for people."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
