"""One request of one participant, from arrival to the next screen, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from allminds.contracts import Failure, Record
from allminds.people import sessions_gaps as gaps
from allminds.people.security import hashed
from allminds.people.sessions import Faces
from allminds.people.sessions_play import Replays, fingerprint
from allminds.people.store import forget
from allminds.people.store_tables import (
    ConsentRow,
    EventRow,
    ExerciseRow,
    ParticipantRow,
    SessionRow,
    StudyRow,
)
from allminds.people.study import QUESTIONS
from allminds.people.study_course import Course, Place, course

INPUTS = ("keyboard", "mouse", "touch", "pen", "other")
NOTES = ("focus", "blur", "hidden", "visible", "paste", "resize")
MOST_NOTES = 5_000  # of one session


class Visit:
    """A session while its participant acts; what is changed here is kept at the end, or not at all.

    What does not fit the present screen (a stale tab, a second click, a reply that was lost)
    changes nothing: the participant is shown where the session is.
    """

    def __init__(self, db: Session, row: SessionRow, faces: Faces, now: int) -> None:
        self.db, self.row, self.now = db, row, now
        self.participant = db.get_one(ParticipantRow, row.participant_id)
        self.study_row = db.get_one(StudyRow, self.participant.study_id)
        self.course: Course = course(row.plan, faces)
        self.study = self.course.study
        self._read: dict[int, list[EventRow]] = {}

    # ------------------------------------------------------------ where it is

    @property
    def place(self) -> Place:
        """The screen that is due, in the course."""
        return self.course.places[self.row.place]

    @property
    def running(self) -> bool:
        """Whether there is something left to do."""
        return self.row.status == "running"

    @cached_property
    def exercises(self) -> list[ExerciseRow]:
        """Those that were begun."""
        query = select(ExerciseRow).where(ExerciseRow.session_id == self.row.id)
        return list(self.db.scalars(query.order_by(ExerciseRow.idx)))

    @cached_property
    def replays(self) -> Replays:
        """What came of them."""
        return Replays(self.course, self.exercises, self._choices)

    def _choices(self, idx: int) -> Sequence[EventRow]:
        """The choices in an exercise when this visit began."""
        if idx not in self._read:
            query = select(EventRow).where(
                EventRow.session_id == self.row.id,
                EventRow.exercise_idx == idx,
                EventRow.kind == "choice",
            )
            self._read[idx] = list(self.db.scalars(query.order_by(EventRow.step)))
        return self._read[idx]

    def exercise(self) -> ExerciseRow:
        """The exercise of this place; begun now if it was not."""
        for row in reversed(self.exercises):
            if row.place == self.row.place and row.finished is None:
                return row
        return self._begin(self.course.number(self.place, self.participant.number))

    def _begin(self, number: int) -> ExerciseRow:
        place = self.place
        tool = self.course.tool(place.test, place.practice)
        row = ExerciseRow(
            session_id=self.row.id, idx=len(self.exercises), place=self.row.place, test=place.test,
            kind=tool.name, params=tool.settings.model_dump(mode="json"),
            seed=self.course.seed(place.practice), number=number, practice=place.practice,
            started=self.now, flags=[],
        )  # fmt: skip
        self.db.add(row)
        self.db.flush()
        self.exercises.append(row)
        return row

    # ------------------------------------------------------------ arriving

    def arrive(self, token_hash: str) -> None:
        """Whoever comes with a newer token has moved here; then the resume rules."""
        if self.row.next_hash == token_hash:
            self.row.token_hash, self.row.next_hash = token_hash, None
            self.event("resume", payload={"device": "other"})
        if not self.running:
            return
        if self.study_row.closes is not None and self.now > self.study_row.closes:
            self._leave("abandoned")
            return
        gap = self.now - self.row.last_seen
        meaning = gaps.meaning(self.study, gap, bool(self.exercises), self._midst())
        if meaning == "over":
            self._leave("abandoned")
        elif meaning != "go on":
            self._interrupted(meaning, gap)

    def _midst(self) -> bool:
        """Between two moves of an exercise."""
        return any(row.finished is None and self._choices(row.idx) for row in self.exercises)

    def _interrupted(self, meaning: gaps.Meaning, gap: int) -> None:
        row = self.exercise()
        self.event("resume", row, len(self.replays.steps(row)), payload={"gap_ms": gap})
        self._flag(row, "interrupted")
        if meaning == "replace" and not row.practice:
            self._flag(row, "replaced")
            row.finished = self.now
            used = [other.number for other in self.exercises if other.test == row.test]
            self._begin(self.course.fresh(row.test, row.number, used))
        elif meaning == "void" and not row.practice:
            self._flag(row, "void")
            row.finished = self.now
            self._advance(early=True)
        self.row.again = self.place.kind == "exercise"

    def _leave(self, status: str) -> None:
        for row in self.exercises:
            if row.finished is None:
                self._flag(row, "abandoned")
        self.row.status = status

    def _flag(self, row: ExerciseRow, flag: str) -> None:
        if flag not in row.flags:
            row.flags = [*row.flags, flag]

    # ------------------------------------------------------------ what a participant does

    def consent(self, place: int, accepted: bool, about: Mapping[str, str]) -> None:
        """Agree; what people say of themselves is kept if it is one of the answers on offer."""
        if not self._present(place, "consent") or not accepted:
            return
        said = {name: about[name] for name in self.study.ask if about.get(name) in QUESTIONS[name]}
        version, lang = self.study.consent.version, self.row.lang
        self.db.add(
            ConsentRow(
                participant_id=self.participant.id, version=version, lang=lang,
                accepted_at=self.now, about=said,
            )
        )  # fmt: skip
        self.event("consent", payload={"version": version, "language": lang})
        self._advance()

    def next(self, place: int) -> None:
        """Go on from instructions or a pause."""
        if self.row.again and place == self.row.place:
            self.row.again = False
        elif self._present(place, "instructions", "between"):
            self._advance()

    def check(self, place: int, answers: Mapping[str, str]) -> None:
        """Answer the questions on the instructions; the last attempt goes on in any case."""
        if not self._present(place, "check"):
            return
        given = self.study.tests[self.place.test]
        checks = self.course.face(self.place.test).checks
        told = {one.name: answers.get(one.name, "")[:64] for one in checks}
        wrong = [one.name for one in checks if told[one.name] != one.right]
        self.row.attempts += 1
        self.row.told = told
        found = {"test": self.place.test, "attempt": self.row.attempts, "wrong": wrong}
        self.event("check", payload=found | {"told": told})
        if not wrong or self.row.attempts >= given.attempts:
            self._advance()

    def choose(
        self, exercise: int, step: int, choice: str, rt_ms: float | None, input_: str,
        client_ts: float | None = None,
    ) -> None:  # fmt: skip
        """Make a move, if it is one of the present step and may be made."""
        if self.place.kind != "exercise" or self.row.again:
            return
        row = self.exercise()
        made = self.replays.steps(row)
        if (exercise, step) != (row.idx, len(made)):
            return
        episode = self.replays.episode(row)
        seen = episode.waiting[0]
        face = self.course.face(row.test, row.practice)
        if choice not in face.choices(seen):
            return
        action = face.action(choice, seen)
        if isinstance(action, Failure):
            return
        reward = self.replays.play(row, choice, action).reward
        question = episode.environment.steps == 1
        self.event(
            "choice", row, step, choice=choice, action=action, observation_hash=fingerprint(seen),
            reward=reward, correct=reward > 0 if question else None, rt_ms=rt_ms,
            input=input_ if input_ in INPUTS else "other", client_ts=client_ts,
            payload={"reloaded": True} if self._shown_before(row, step) > 1 else None,
        )  # fmt: skip
        if episode.record is not None:
            row.score, row.finished = episode.record.score[0], self.now
            self._advance()

    def note(self, kind: str, client_ts: float | None) -> None:
        """Keep that the page lost the focus, was hidden, or had something pasted into it."""
        if kind not in NOTES:
            return
        notes = select(EventRow.id).where(
            EventRow.session_id == self.row.id, EventRow.kind == "note"
        )
        if len(self.db.scalars(notes.limit(MOST_NOTES)).all()) < MOST_NOTES:
            row = next((r for r in reversed(self.exercises) if r.finished is None), None)
            self.event("note", row, client_ts=client_ts, payload={"what": kind})

    def language(self, code: str) -> None:
        """Read on in another language: only before the consent, which is given in one."""
        if self.place.kind == "consent" and code in self.study.languages:
            self.row.lang = code

    def withdraw(self) -> None:
        """Stop, and delete all that was recorded; only that somebody was here stays."""
        forget(self.db, self.participant, self.row, self.now)

    # ------------------------------------------------------------ going on

    def _present(self, place: int, *kinds: str) -> bool:
        """Whether a form is of the screen that is due."""
        return place == self.row.place and self.place.kind in kinds and not self.row.again

    def _advance(self, early: bool = False) -> None:
        """The next place; after an exercise that ended early, not its own pause."""
        self.row.place += 1
        if early and self.place.kind == "between":
            self.row.place += 1
        self.row.attempts, self.row.told = 0, None
        if self.place.kind == "done":
            self.row.status, self.row.finished = "finished", self.now

    def showing(self, row: ExerciseRow, step: int) -> None:
        """A step is about to be painted; if it was before, time is counted anew from here."""
        gap = self.now - self.row.last_seen
        if self._shown_before(row, step):
            self.event("resume", row, step, payload={"gap_ms": gap})
            self._flag(row, "reloaded")
        self.event("shown", row, step)

    def _shown_before(self, row: ExerciseRow, step: int) -> int:
        """How often a step was painted."""
        query = select(EventRow.id).where(
            EventRow.session_id == self.row.id,
            EventRow.exercise_idx == row.idx,
            EventRow.step == step,
            EventRow.kind == "shown",
        )
        return len(self.db.scalars(query).all())

    def event(
        self, kind: str, row: ExerciseRow | None = None, step: int | None = None, **what: Any
    ) -> None:
        """Add to what happened."""
        idx = None if row is None else row.idx
        self.db.add(
            EventRow(
                session_id=self.row.id, exercise_idx=idx, step=step, kind=kind,
                server_ts=self.now, **what,
            )
        )  # fmt: skip
        self.db.flush()

    def records(self) -> tuple[tuple[Record, ...], ...]:
        """What came of every test, practice left out."""
        tests = range(len(self.study.tests))
        counted = [row for row in self.exercises if not row.practice]
        return tuple(
            tuple(self.replays.record(row) for row in counted if row.test == test) for test in tests
        )


def find(db: Session, token: str, faces: Faces, now: int) -> Visit | None:
    """The visit of whoever holds this token; nobody else acts in the session meanwhile."""
    digest = hashed(token)
    query = select(SessionRow).where(
        or_(SessionRow.token_hash == digest, SessionRow.next_hash == digest)
    )
    row = db.scalar(query.with_for_update())
    return None if row is None else Visit(db, row, faces, now)


Act = Callable[[Visit], None]


def open_now(study: StudyRow, now: int) -> str:
    """Why nobody can begin now; nothing if they can."""
    if study.opens is not None and now < study.opens:
        return "not-open"
    return "closed" if study.closes is not None and now > study.closes else ""
