"""Time and a session: what a gap means, when the time of an exercise is over, when a study is open.

All of it goes by the server's clock. Being away never gives more time, and what was left unfinished
counts as failed, so that leaving never pays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from allminds.web.places import part
from allminds.web.session import LiveSession
from allminds.web.study import Study
from allminds.web.tables import ExerciseRow, StudyRow

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


def open_now(study: StudyRow, now: int) -> str:
    """Return the reason why no participant can begin now; empty if one can."""
    if study.state != "open":
        return study.state
    if study.opens is not None and now < study.opens:
        return "not-open"
    return "closed" if over(study, now) else ""


def over(study: StudyRow, now: int) -> bool:
    """Return whether a study has ended, for those who are in it too."""
    return study.closes is not None and now > study.closes


def broken_off(exercises: Iterable[ExerciseRow]) -> int:
    """Count the exercises that the rules for gaps ended before their time."""
    return sum("void" in row.flags or "replaced" in row.flags for row in exercises)


# ---------------------------------------------------------------- arriving


def arrive(live: LiveSession, token_hash: str) -> None:
    """Accept a newer token, which means another device; then apply the resume rules."""
    if live.row.next_hash == token_hash:
        live.row.token_hash, live.row.next_hash = token_hash, None
        if not live.rows.full("resume"):
            live.event("resume", payload={"device": "other"})
    if live.row.status not in ("running", "abandoned"):
        return
    gap = live.now - live.seen
    means = meaning(live.study, gap, live.rows.latest is not None, _midst(live))
    if means == "over" or over(live.study_row, live.now):
        live.row.last_seen = live.seen  # so that a clock that is wrong ends nothing for good
        if live.running:
            _leave(live, "abandoned" if means == "over" else "closed")
    elif not live.running:
        _return(live)
    elif not _ended_late(live) and means != "go on":
        _interrupted(live, means, gap)


def due(live: LiveSession, row: ExerciseRow) -> int | None:
    """Return when the time for an open exercise, or for its present choice, is over.

    It runs from the moment at which the choice was due, so that no reload gives more of it.
    """
    given = live.study.tests[row.test]
    ends = []
    if given.exercise_seconds:
        ends.append(row.started + int(given.exercise_seconds * 1000))
    if given.choice_seconds:
        ends.append(live.rows.since(row) + int(given.choice_seconds * 1000))
    return min(ends, default=None)


def _ended_late(live: LiveSession) -> bool:
    """End the open exercise if its time is over: steps that were not made count the lowest."""
    row = live.open_exercise()
    ends = None if row is None else due(live, row)
    if row is None or ends is None or live.now <= ends + GRACE:
        return False
    live.flag(row, "time")
    live.finish(row)
    live.row.again = False
    return True


def _midst(live: LiveSession) -> bool:
    """Return whether the session is between two moves of an exercise."""
    row = live.rows.latest
    return row is not None and row.finished is None and bool(live.rows.done(row.idx))


def _interrupted(live: LiveSession, meaning: Meaning, gap: int) -> None:
    row = live.exercise()
    live.event("resume", row, len(live.replays.table(row).made), payload={"gap_ms": gap})
    live.flag(row, "interrupted")
    if row.practice or row.game_id is not None:
        pass  # it does not count, or the other person decides by waiting
    elif broken_off(live.rows.exercises) >= live.study.resume.most:
        pass  # whoever leaves what goes badly does so once
    elif meaning == "replace":
        live.flag(row, "replaced")
        row.finished = live.now
        used = [other.number for other in live.rows.exercises if not other.practice]
        live.begin(live.agenda.fresh(row.test, row.number, used, live.participant.number))
    elif meaning == "void":
        live.flag(row, "void")
        row.finished = live.now
        live.advance(early=True)
    live.row.again = live.place.kind == "exercise"


def _leave(live: LiveSession, flag: str) -> None:
    """End the session; flag an open exercise with the reason: abandoned, or study closed."""
    row = live.rows.latest
    if row is not None and row.finished is None:
        live.flag(row, flag)
    live.row.status = "abandoned"
    live.db.flush()
    part(live.db, live.row)


def _return(live: LiveSession) -> None:
    """Go on with a session that was ended by a clock that was wrong."""
    live.row.status = "running"
    live.event("resume", payload={"clock": "set right"})
    row = live.rows.latest
    if row is not None and row.finished is None:
        row.flags = [flag for flag in row.flags if flag not in ("abandoned", "closed")]
