"""Where each participant is in a study, and what stands out: reported, never rejected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.web.agenda import agenda
from allminds.web.pages import common
from allminds.web.screens import Monitor, Screen
from allminds.web.study import stored
from allminds.web.tables import EventRow, ExerciseRow, ParticipantRow, SessionRow, StudyRow

FAST_MS, FAST_RUN = 200, 5  # so many choices in a row, each this quick
SAME_CHOICES = 20  # this many choices, all the same
HIDDEN_MS = 60_000  # this long in the background


@dataclass
class Behaviour:
    """What the events of a session say about how it was done."""

    fast: int = 0  # the longest run of very quick choices
    choices: int = 0
    kinds: set[str] = field(default_factory=set)
    hidden_ms: int = 0
    pasted: int = 0
    misread: int = 0  # checks that were answered wrongly

    @classmethod
    def of(cls, events: Iterable[EventRow]) -> Behaviour:
        """Read the behaviour off the events, in their order."""
        found, run, hidden_since = cls(), 0, None
        for event in events:
            what = (event.payload or {}).get("what")
            if event.kind == "choice":
                found.choices += 1
                found.kinds.add(event.choice or "")
                run = run + 1 if event.rt_ms is not None and event.rt_ms < FAST_MS else 0
                found.fast = max(found.fast, run)
            elif event.kind == "check":
                found.misread += bool(event.payload["wrong"])
            elif what == "hidden":
                hidden_since = event.server_ts
            elif what == "visible" and hidden_since is not None:
                found.hidden_ms += event.server_ts - hidden_since
                hidden_since = None
            found.pasted += what == "paste"
        return found

    def flags(self) -> list[str]:
        """List what stands out."""
        same = self.choices >= SAME_CHOICES and len(self.kinds) == 1
        return [
            *(["fast"] if self.fast >= FAST_RUN else []),
            *(["same-choice"] if same else []),
            *([f"hidden-{self.hidden_ms // 1000}s"] if self.hidden_ms >= HIDDEN_MS else []),
            *([f"pasted-{self.pasted}"] if self.pasted else []),
            *([f"misread-{self.misread}"] if self.misread else []),
        ]


def behaviours(db: Session, study: StudyRow) -> dict[int, Behaviour]:
    """Compute how every session of a study was done, by its id."""
    query = (
        select(EventRow)
        .join(SessionRow, SessionRow.id == EventRow.session_id)
        .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
        .where(ParticipantRow.study_id == study.id, EventRow.kind != "shown")
        .order_by(EventRow.session_id, EventRow.id)
        .execution_options(yield_per=1000)
    )
    of_one = groupby(db.scalars(query), key=lambda event: event.session_id)
    return {session: Behaviour.of(events) for session, events in of_one}


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
        row = {"label": participant.label, "status": status, "language": "", "at": ""}
        row |= {"started": "", "last seen": "", "flags": ""}
        if session is not None and status != "withdrawn":
            found = [*flags.get(session.id, []), *seen.get(session.id, Behaviour()).flags()]
            row |= {
                "language": session.lang,
                "at": f"{session.place} of {len(plan.places) - 1}",
                "started": iso(session.started),
                "last seen": iso(session.last_seen),
                "flags": " ".join(found),
            }
        rows.append(row)
    shared = common(stored(study.plan), plan.study.languages[0])
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
