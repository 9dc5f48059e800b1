"""How a session was done, and whether it was careless: shown and exported, never acted upon.

The thresholds are the study's (`design.Careless`). Speed is judged test by test, by the median of
the choices that count. One choice again and again is a sign only if it does not pay: a participant
who has found the best cell stays there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean, median

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.web.agenda import Agenda, agenda
from allminds.web.design import inattentive
from allminds.web.tables import EventRow, ExerciseRow, ParticipantRow, SessionRow, StudyRow

LEAST = 5  # choices of a test of which the median is taken


@dataclass
class Made:
    """The choices of one test that count."""

    choices: list[str] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # in milliseconds

    def median(self) -> float | None:
        """Return the median time of a choice; None if there are too few."""
        return median(self.times) if len(self.times) >= LEAST else None

    def same(self) -> tuple[float, float]:
        """Return the share of the commonest choice, and its mean reward."""
        commonest, count = Counter(self.choices).most_common(1)[0]
        pairs = zip(self.choices, self.rewards, strict=True)
        return count / len(self.choices), fmean(r for one, r in pairs if one == commonest)


@dataclass
class Behaviour:
    """What the events of a session say about how it was done."""

    agenda: Agenda
    tests: dict[int, Made] = field(default_factory=dict)
    hidden_ms: int = 0
    pasted: int = 0
    misread: int = 0  # checks that were answered wrongly
    inattentive: int = 0  # attention checks that were failed
    unfinished: bool = True

    @classmethod
    def of(
        cls, session: SessionRow, events: Iterable[EventRow], counted: dict[int, int]
    ) -> Behaviour:
        """Read the behaviour off the events, in their order.

        `counted` maps the exercises that count to their tests.
        """
        plan = agenda(session.plan)
        found, hidden_since = cls(plan, unfinished=session.status != "finished"), None
        pages = iter([place.page for place in plan.places if place.kind == "questions"])
        for event in events:
            what = (event.payload or {}).get("what")
            if event.kind == "choice" and event.exercise_idx in counted:
                made = found.tests.setdefault(counted[event.exercise_idx], Made())
                made.choices.append(event.choice or "")
                made.rewards.append(event.reward or 0.0)
                made.times += [] if event.rt_ms is None else [event.rt_ms]
            elif event.kind == "check":
                found.misread += bool(event.payload["wrong"])
            elif event.kind == "answer":
                found.inattentive += inattentive(next(pages), event.payload["answers"])
            elif what == "hidden":
                hidden_since = event.server_ts
            elif what == "visible" and hidden_since is not None:
                found.hidden_ms += event.server_ts - hidden_since
                hidden_since = None
            found.pasted += what == "paste"
        return found

    @property
    def fast(self) -> list[str]:
        """The tests whose median choice was quicker than their threshold."""
        study, found = self.agenda.study, []
        for test, made in sorted(self.tests.items()):
            own, rules = study.tests[test].fast_ms, study.careless
            usual = rules.fast_ms if self.agenda.moves(test) > 1 else rules.fast_question_ms
            taken = made.median()
            if taken is not None and taken < (usual if own is None else own):
                found.append(study.names[test])
        return found

    @property
    def same(self) -> list[str]:
        """The tests in which one choice was made again and again, and did not pay."""
        rules, found = self.agenda.study.careless, []
        for test, made in sorted(self.tests.items()):
            if len(made.choices) < rules.same_choices:
                continue
            tool, (share, gain) = self.agenda.tool(test), made.same()
            if share >= rules.same_share and gain < (tool.chance + tool.ceiling) / 2:
                found.append(self.agenda.study.names[test])
        return found

    def marks(self) -> dict[str, str]:
        """Return the signs of carelessness, with what each is based on."""
        rules, seconds = self.agenda.study.careless, self.hidden_ms / 1000
        found = {
            "fast": " ".join(self.fast),
            "same-choice": " ".join(self.same),
            "hidden": f"{seconds:.0f}s" * (0 < rules.hidden_seconds <= seconds),
            "pasted": f"{self.pasted}" * (self.pasted >= rules.pastes),
            "misread": f"{self.misread}" * (self.misread >= rules.misreads),
            "attention": f"{self.inattentive}" * (self.inattentive >= rules.attention),
            "unfinished": "yes" * self.unfinished,
        }
        return {name: figure for name, figure in found.items() if figure}

    def flags(self) -> list[str]:
        """List what stands out, for the researcher's page."""
        shown = {k: v for k, v in self.marks().items() if k != "unfinished"}
        return [f"{name}-{figure.replace(' ', '-')}" for name, figure in shown.items()]

    @property
    def excluded(self) -> str:
        """The signs by which the study's rule excludes the participant; empty if none does."""
        rule = self.agenda.study.careless.exclude
        return " ".join(name for name in self.marks() if name in rule)


def behaviours(db: Session, study: StudyRow) -> dict[int, Behaviour]:
    """Compute how every session of a study was done, by its id."""
    own = ParticipantRow.study_id == study.id
    sessions = {
        row.id: row
        for row in db.scalars(
            select(SessionRow)
            .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
            .where(own)
        )
    }
    counted: dict[int, dict[int, int]] = {}
    rows = db.execute(
        select(ExerciseRow.session_id, ExerciseRow.idx, ExerciseRow.test)
        .join(SessionRow, SessionRow.id == ExerciseRow.session_id)
        .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
        .where(own, ExerciseRow.practice.is_(False))
    )
    for session, idx, test in rows:
        counted.setdefault(session, {})[idx] = test
    query = (
        select(EventRow)
        .join(SessionRow, SessionRow.id == EventRow.session_id)
        .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
        .where(own, EventRow.kind != "shown")
        .order_by(EventRow.session_id, EventRow.id)
        .execution_options(yield_per=1000)
    )
    of_one = groupby(db.scalars(query), key=lambda event: event.session_id)
    return {
        session: Behaviour.of(sessions[session], events, counted.get(session, {}))
        for session, events in of_one
    }
