"""One session: every request of a participant, the rules for gaps, and what a server remembers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from allminds.contracts import Failure, Record
from allminds.web.agenda import Agenda, Stop, agenda
from allminds.web.design import read
from allminds.web.questions import checks
from allminds.web.replays import Replays, fingerprint, own_side
from allminds.web.store import forget, free_number, full, part
from allminds.web.study import PERSON, QUESTIONS, Study
from allminds.web.tables import (
    MOST_SHOWN,
    ConsentRow,
    ExerciseRow,
    GameRow,
    Held,
    Rows,
    StudyRow,
    closes_of,
    held,
    here,
)

Meaning = Literal["go on", "again", "replace", "void", "over"]
MINUTE, HOUR = 60_000, 3_600_000  # milliseconds
GRACE = 1_500  # milliseconds that a choice may be on its way when its time is over


def meaning(study: Study, gap: int, begun: bool, midst: bool) -> Meaning:
    """Return what a gap of so many milliseconds means; `midst`: between two moves."""
    rules = study.resume
    if begun and gap > rules.long_hours * HOUR:
        return "over"
    if not midst or gap < rules.short_minutes * MINUTE:
        return "go on"
    if rules.policy == "continue":
        return "again"
    return rules.policy


# ---------------------------------------------------------------- one request of one participant


INPUTS = ("keyboard", "mouse", "touch", "pen", "other")
NOTES = ("focus", "blur", "hidden", "visible", "paste", "resize")


class LiveSession:
    """A session while its participant acts; what is changed here is kept at the end, or not at all.

    What does not fit the present screen (a stale tab, a second click, a reply that was lost)
    changes nothing: the participant is shown where the session is.
    """

    def __init__(self, db: Session, whose: Held, now: int) -> None:
        self.row, self.participant, self.study_row = whose
        self.db, self.now, self.seen = db, now, self.row.last_seen
        self.rows = Rows(db, self.row.id)
        self.agenda: Agenda = agenda(self.row.plan)
        self.study = self.agenda.study
        self._moved = False  # whether a choice was made in this request
        self.ended: tuple[tuple[Record, ...], ...] | None = None  # what came of it, if known
        self.crowded_out = False  # whether the last place was taken by somebody else
        self.game: GameRow | None = None  # with another person, at this place (`pairing`)

    def again(self, db: Session, now: int) -> bool:
        """Continue with another request; return False if the session changed meanwhile."""
        seen = self.row.last_seen
        if not here(db, self.row, now):
            return False
        self.db, self.now, self.seen = db, now, seen
        self._moved, self.crowded_out, self.game = False, False, None
        db.add(self.row)
        set_committed_value(self.study_row, "closes", closes_of(db, self.study_row.id))
        self.rows.again(db)
        return True

    def rest(self) -> None:
        """Forget, between two requests, all that was read and played but what is open."""
        row = self.open_exercise()
        self.replays.keep_only(None if row is None else row.idx)
        self.rows.keep_only(None if row is None else row.idx)

    # ------------------------------------------------------------ where it is

    @property
    def place(self) -> Stop:
        """The screen that is due, in the agenda."""
        return self.agenda.places[self.row.place]

    @property
    def running(self) -> bool:
        """True if there is something left to do."""
        return self.row.status == "running"

    @cached_property
    def replays(self) -> Replays:
        """The replays of the exercises that were begun."""
        return Replays(self.agenda, lambda: self.rows.exercises, self.rows.done)

    def open_or_over(self) -> ExerciseRow | None:
        """Return the exercise of this place, if it was begun."""
        row = self.rows.latest
        return row if row is not None and row.place == self.row.place else None

    def open_exercise(self) -> ExerciseRow | None:
        """Return the exercise of this place, if it was begun and is not over."""
        row = self.open_or_over()
        return row if row is not None and row.finished is None else None

    def exercise(self) -> ExerciseRow:
        """Return the exercise of this place; begin it now if it was not."""
        there = self.open_exercise()
        if there is not None:
            return there
        return self._begin(self.agenda.number(self.place, self.participant.number))

    def _begin(self, number: int) -> ExerciseRow:
        place = self.place
        tool = self.agenda.tool(place.test, place.practice)
        return self.rows.begin(
            place=self.row.place, test=place.test, kind=tool.name,
            params=tool.settings.model_dump(mode="json"), seed=self.agenda.seed(place.practice),
            number=number, practice=place.practice, started=self.now, **self._seat(),
        )  # fmt: skip

    def _seat(self) -> dict[str, Any]:
        """Return the participant's slot in a game, and the player in the other slot."""
        given = self.study.tests[self.place.test]
        if not given.opponent:
            return {}
        if self.game is None or self.place.practice:
            return {"slot": given.slot, "opponent": given.machine}
        if self.game.status == "playing":
            slot = 0 if self.game.first_id == self.row.id else 1
            return {"slot": slot, "opponent": PERSON, "game_id": self.game.id}
        before = self.counted(self.place.test)
        return {"slot": before[-1].slot if before else given.slot, "opponent": given.machine}

    @property
    def alone(self) -> bool:
        """True if the other participant of this game is gone."""
        left = self.game is not None and self.game.status == "left"
        return left and self.place.kind == "exercise" and not self.place.practice

    def give_up(self, row: ExerciseRow, flag: str) -> None:
        """End an exercise before its time; the participant is told before it goes on."""
        self._flag(row, flag)
        row.finished = self.now

    # ------------------------------------------------------------ arriving

    def arrive(self, token_hash: str) -> None:
        """Accept a newer token, which means another device; then apply the resume rules."""
        if self.row.next_hash == token_hash:
            self.row.token_hash, self.row.next_hash = token_hash, None
            if not self.rows.full("resume"):
                self.event("resume", payload={"device": "other"})
        if self.row.status not in ("running", "abandoned"):
            return
        gap = self.now - self.seen
        means = meaning(self.study, gap, self.rows.latest is not None, self._midst())
        late = self.study_row.closes is not None and self.now > self.study_row.closes
        if means == "over" or late:
            self.row.last_seen = self.seen  # so that a clock that is wrong ends nothing for good
            if self.running:
                self._leave("abandoned" if means == "over" else "closed")
        elif not self.running:
            self._return()
        elif not self._ended_late() and means != "go on":
            self._interrupted(means, gap)

    def due(self, row: ExerciseRow) -> int | None:
        """Return when the time for an open exercise, or for its present choice, is over.

        It runs by the server's clock from the moment at which the choice was due, so that no
        reload gives more of it.
        """
        given = self.study.tests[row.test]
        ends = []
        if given.exercise_seconds:
            ends.append(row.started + int(given.exercise_seconds * 1000))
        if given.choice_seconds:
            ends.append(self.rows.since(row) + int(given.choice_seconds * 1000))
        return min(ends, default=None)

    def _ended_late(self) -> bool:
        """End the open exercise if its time is over: steps that were not made count the lowest."""
        row = self.open_exercise()
        due = None if row is None else self.due(row)
        if row is None or due is None or self.now <= due + GRACE:
            return False
        self._flag(row, "time")
        self.finish(row)
        self.row.again = False
        return True

    def _midst(self) -> bool:
        """Return whether the session is between two moves of an exercise."""
        row = self.rows.latest
        return row is not None and row.finished is None and bool(self.rows.done(row.idx))

    def _interrupted(self, meaning: Meaning, gap: int) -> None:
        row = self.exercise()
        self.event("resume", row, len(self.replays.table(row).made), payload={"gap_ms": gap})
        self._flag(row, "interrupted")
        if row.practice or row.game_id is not None:
            pass  # it does not count, or the other person decides by waiting
        elif broken_off(self.rows.exercises) >= self.study.resume.most:
            pass  # whoever leaves what goes badly does so once
        elif meaning == "replace":
            self._flag(row, "replaced")
            row.finished = self.now
            used = [other.number for other in self.rows.exercises if not other.practice]
            self._begin(self.agenda.fresh(row.test, row.number, used, self.participant.number))
        elif meaning == "void":
            self._flag(row, "void")
            row.finished = self.now
            self.advance(early=True)
        self.row.again = self.place.kind == "exercise"

    def _leave(self, flag: str) -> None:
        """End the session; flag an open exercise with the reason: abandoned, or study closed."""
        row = self.rows.latest
        if row is not None and row.finished is None:
            self._flag(row, flag)
        self.row.status = "abandoned"
        self.db.flush()
        part(self.db, self.row)

    def _return(self) -> None:
        """Go on with a session that was ended by a clock that was wrong."""
        self.row.status = "running"
        self.event("resume", payload={"clock": "set right"})
        row = self.rows.latest
        if row is not None and row.finished is None:
            row.flags = [flag for flag in row.flags if flag not in ("abandoned", "closed")]

    def _flag(self, row: ExerciseRow, flag: str) -> None:
        if flag not in row.flags:
            row.flags = [*row.flags, flag]

    # ------------------------------------------------------------ what a participant does

    def consent(self, place: int, accepted: bool, about: Mapping[str, str]) -> None:
        """Agree; answers about the participant are kept if they are among those on offer."""
        if not self._present(place, "consent") or not accepted:
            return
        if not self.participant.invited and not self._placed():
            self.crowded_out = True
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
        self._assign()
        self.advance()

    def _assign(self) -> None:
        """Give the participant an arm and an order of tests, which follow from the place."""
        mine = self.study.of(self.participant.number)
        if mine is not self.study:
            self.row.plan = mine.text
            self.agenda = agenda(self.row.plan)
            self.study = self.agenda.study
            self.__dict__.pop("replays", None)  # nothing is begun yet

    def _placed(self) -> bool:
        """Take a place in the study, with exercises that nobody else has; return False if full."""
        study = self.db.get_one(StudyRow, self.study_row.id)
        if full(self.db, study, self.now):
            return False
        self.db.add(self.participant)
        self.participant.number = free_number(self.db, study, self.now, self.participant.number)
        return True

    def next(self, place: int) -> None:
        """Go on from instructions or a pause."""
        if self.row.again and place == self.row.place:
            self.row.again = False
        elif self._present(place, "instructions", "between"):
            self.advance()

    def check(self, place: int, answers: Mapping[str, str]) -> None:
        """Answer the questions on the instructions; the last attempt continues in any case."""
        if not self._present(place, "check"):
            return
        given = self.study.tests[self.place.test]
        asked = checks(self.agenda.face(self.place.test))
        told = {one.name: answers.get(one.name, "") for one in asked}
        told = {one.name: told[one.name] * (told[one.name] in one.answers) for one in asked}
        wrong = [one.name for one in asked if told[one.name] != one.right]
        self.row.attempts += 1
        self.row.told = told
        found = {"test": self.place.test, "attempt": self.row.attempts, "wrong": wrong}
        self.event("check", payload=found | {"told": told})
        if not wrong or self.row.attempts >= given.attempts:
            self.advance()

    def answer(self, place: int, given: Mapping[str, str]) -> None:
        """Answer a page of the researcher's questions; it is shown again if something is wrong."""
        if not self._present(place, "questions"):
            return
        answers, wrong = read(self.place.page, given)
        if wrong:
            self.row.attempts += 1
            self.row.told = answers
            return
        self.event("answer", payload={"answers": answers})
        self.advance()

    def choose(
        self, exercise: int, step: int, choice: str, rt_ms: float | None, input_: str,
        client_ts: float | None = None, selected: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Make a move, if it is one of the present step and may be made."""
        if self.place.kind != "exercise" or self.row.again or self.alone:
            return
        row = self.exercise()
        table = self.replays.table(row)
        if (exercise, step) != (row.idx, len(table.made)) or not table.to_move:
            return
        seen = table.episode.waiting[row.slot]
        face = self.agenda.face(row.test, row.practice, row.slot)
        if choice not in face.choices(seen):
            return
        action = face.action(choice, seen)
        if isinstance(action, Failure):
            return
        reward = table.choose(choice, action)
        self._moved = True
        question = table.episode.environment.steps == 1 and not row.opponent
        self.event(
            "choice", row, step, choice=choice, action=action, observation_hash=fingerprint(seen),
            reward=reward, correct=(reward or 0) > 0 if question else None, rt_ms=rt_ms,
            input=input_ if input_ in INPUTS else "other", client_ts=client_ts,
            payload=self._how(row, step, seen, selected or {}) or None,
        )  # fmt: skip
        if table.over:
            self.finish(row)

    def _how(
        self, row: ExerciseRow, step: int, seen: Any, selected: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what else is kept of a choice: reloads, the first selection, and changes."""
        found: dict[str, Any] = {"reloaded": True} if self.rows.shown(row.idx, step) > 1 else {}
        face = self.agenda.face(row.test, row.practice, row.slot)
        if selected.get("first") in face.choices(seen):
            found |= {"first": selected["first"], "changes": min(selected["changes"], 10_000)}
        return found

    def finish(self, row: ExerciseRow) -> None:
        """End an exercise, so that the next screen is due."""
        row.score, row.finished = self.replays.record(row).score[row.slot], self.now
        self.advance()

    def note(self, kind: str, client_ts: float | None) -> None:
        """Keep that the page lost the focus, was hidden, or had something pasted into it."""
        if kind in NOTES and not self.rows.full():
            row = self.rows.latest
            there = row if row is not None and row.finished is None else None
            self.event("note", there, client_ts=client_ts, payload={"what": kind})

    def language(self, code: str) -> None:
        """Switch to another language: only before the consent, which is given in one."""
        if self.place.kind == "consent" and code in self.study.languages:
            self.row.lang = code

    def withdraw(self) -> None:
        """Stop, and delete all that was recorded; only that there was a participant stays."""
        forget(self.db, self.participant, self.row, self.now)

    # ------------------------------------------------------------ going on

    def _present(self, place: int, *kinds: str) -> bool:
        """Return whether a form is of the screen that is due."""
        return place == self.row.place and self.place.kind in kinds and not self.row.again

    def advance(self, early: bool = False) -> None:
        """Go to the next place; after an exercise that ended early, skip its own pause."""
        self.row.place += 1
        if early and self.place.kind == "between":
            self.row.place += 1
        self._arrived()

    def skip_test(self) -> None:
        """Go to the first place after this test."""
        test = self.place.test
        while self.place.kind not in ("done", "questions") and self.place.test == test:
            self.row.place += 1
        self._arrived()

    def _arrived(self) -> None:
        self.row.attempts, self.row.told, self.game = 0, None, None
        if self.place.kind == "done":
            self.row.status, self.row.finished = "finished", self.now

    def showing(self, row: ExerciseRow, step: int) -> None:
        """Note that a step is about to be painted; if it was before, time is counted anew."""
        gap, times = self.now - self.seen, self.rows.shown(row.idx, step)
        if times >= MOST_SHOWN:
            return  # whoever loads a page without end does not fill the database
        if not self._moved and times:  # after a move the step is new
            self.event("resume", row, step, payload={"gap_ms": gap})
            self._flag(row, "reloaded")
        self.event("shown", row, step)

    def event(
        self, kind: str, row: ExerciseRow | None = None, step: int | None = None, **what: Any
    ) -> None:
        """Add an event to what happened."""
        idx = None if row is None else row.idx
        self.rows.add(kind=kind, exercise_idx=idx, step=step, server_ts=self.now, **what)

    def records(self) -> tuple[tuple[Record, ...], ...]:
        """List what came of every test, practice left out, from the participant's side."""
        tests = range(len(self.study.tests))
        return tuple(
            tuple(own_side(self.replays.record(row), row.slot) for row in self.counted(test))
            for test in tests
        )

    def counted(self, test: int) -> list[ExerciseRow]:
        """List the exercises of a test that were begun, practice left out."""
        return [row for row in self.rows.exercises if row.test == test and not row.practice]


def broken_off(exercises: Iterable[ExerciseRow]) -> int:
    """Count the exercises that the rules for gaps ended before their time."""
    return sum("void" in row.flags or "replaced" in row.flags for row in exercises)


def find(db: Session, digest: str, now: int, lock: bool = True) -> LiveSession | None:
    """Take up the session that belongs to a token; it is locked meanwhile."""
    whose = held(db, digest, lock)
    return None if whose is None else LiveSession(db, whose, now)


Act = Callable[[LiveSession], None]


def open_now(study: StudyRow, now: int) -> str:
    """Return the reason why no participant can begin now; empty if one can."""
    if study.state != "open":
        return study.state
    if study.opens is not None and now < study.opens:
        return "not-open"
    return "closed" if study.closes is not None and now > study.closes else ""


# ---------------------------------------------------------------- sessions memory


class Memory:
    """The sessions that were last active, by token; each can be taken up once."""

    def __init__(self, most: int = 2_000) -> None:
        self.most = most
        self._kept: OrderedDict[str, LiveSession] = OrderedDict()

    def __contains__(self, digest: str) -> bool:
        return digest in self._kept

    def take(self, digest: str) -> LiveSession | None:
        """Return the session with this token, if it is remembered, and forget it."""
        return self._kept.pop(digest, None)

    def put(self, digest: str, live: LiveSession) -> None:
        """Remember a session after its request; the oldest are forgotten."""
        self._kept[digest] = live
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
