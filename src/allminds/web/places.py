"""The places of a study: participants who have one, those who leave it, and those who come next."""

from __future__ import annotations

import secrets

from sqlalchemy import Select, delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from allminds.core.errors import Error
from allminds.web.study import stored
from allminds.web.tables import (
    ConsentRow,
    EventRow,
    ExerciseRow,
    GameRow,
    ParticipantRow,
    SessionRow,
    StudyRow,
)

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another


def forget(db: Session, participant: ParticipantRow, row: SessionRow | None, now: int) -> None:
    """Delete a participant's data; the participant's row stays, so that a link is used once."""
    if row is not None:
        db.execute(delete(EventRow).where(EventRow.session_id == row.id))
        db.execute(delete(ExerciseRow).where(ExerciseRow.session_id == row.id))
        row.status, row.device, row.told = "withdrawn", None, None
        db.flush()
        part(db, row)
    db.execute(delete(ConsentRow).where(ConsentRow.participant_id == participant.id))
    participant.external_id = None
    participant.withdrawn_at = participant.withdrawn_at or now


def part(db: Session, row: SessionRow) -> None:
    """Mark the games of a session as left for good; the other player will be told."""
    for game in db.scalars(games_of(row).where(GameRow.status.in_(("waiting", "playing")))):
        game.left_by = 0 if game.first_id == row.id else 1
        game.status = "left"


def games_of(row: SessionRow) -> Select[GameRow]:
    """Select and lock the games of a session, the latest first."""
    mine = or_(GameRow.first_id == row.id, GameRow.second_id == row.id)
    query = select(GameRow).where(mine).order_by(GameRow.id.desc())
    return query.with_for_update().execution_options(populate_existing=True)


def add_participant(
    db: Session, study: StudyRow, invite_hash: str, now: int, label: str = "",
    external_id: str | None = None, invited: bool = True,
) -> ParticipantRow | None:  # fmt: skip
    """Add one more participant, or return None if the study is full; one at a time."""
    if full(db, study, now):
        return None
    row = ParticipantRow(
        study_id=study.id, number=free_number(db, study, now), invite_hash=invite_hash,
        label=label or _label(), external_id=external_id or None, created=now, invited=invited,
    )  # fmt: skip
    db.add(row)
    try:
        db.flush()
    except IntegrityError:
        raise Error(f"a participant of '{study.slug}' has the label '{label}' already") from None
    return row


def full(db: Session, study: StudyRow, now: int) -> bool:
    """Return whether every place of a study is taken; lock it until the transaction is over."""
    db.execute(select(StudyRow.id).where(StudyRow.id == study.id).with_for_update())
    taken = select(func.count()).select_from(_placed(study, now).subquery())
    return (db.scalar(taken) or 0) >= study.max_n


def _placed(study: StudyRow, now: int) -> Select[int]:
    """Select the numbers of the participants who have a place.

    A place is taken by whoever agreed to take part and is not gone, and kept for whoever has a link
    of their own. Those who withdrew, stayed away too long or merely opened an open link have none.
    """
    away = now - int(stored(study.plan).resume.long_hours * 3_600_000)
    here = (SessionRow.status == "finished") | (
        (SessionRow.status == "running") & (SessionRow.last_seen >= away)
    )
    return (
        select(ParticipantRow.number)
        .outerjoin(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(ParticipantRow.study_id == study.id, ParticipantRow.withdrawn_at.is_(None))
        .where(
            or_(
                here & (SessionRow.place > 0),
                ParticipantRow.invited & or_(SessionRow.id.is_(None), here),
            )
        )
    )


def free_number(db: Session, study: StudyRow, now: int, mine: int | None = None) -> int:
    """Return the number for a new participant, whose exercises nobody with a place has.

    Exercises of one's own, arms and orders go by the number modulo the places of the study. `mine`
    is kept if it will do. Where all have the same exercises, the place that was left last is given
    first: whoever withdraws and comes again gets the same arm, not another draw. Call it while the
    study is locked (`full`) and not full.
    """
    held = {number % study.max_n for number in db.scalars(_placed(study, now))}
    if mine is not None and mine % study.max_n not in held:
        return mine
    query = select(func.max(ParticipantRow.number)).where(ParticipantRow.study_id == study.id)
    last = db.scalar(query)
    first = 0 if last is None else last + 1
    if stored(study.plan).assignment == "same":
        left = (number % study.max_n for number in db.scalars(_begun(study)))
        place = next((one for one in left if one not in held), None)
        if place is not None:
            return first + (place - first) % study.max_n
    return next(first + n for n in range(study.max_n) if (first + n) % study.max_n not in held)


def _begun(study: StudyRow) -> Select[int]:
    """Select the numbers of all who ever agreed to take part, those who left last first."""
    left = func.coalesce(ParticipantRow.withdrawn_at, SessionRow.last_seen)
    return (
        select(ParticipantRow.number)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(ParticipantRow.study_id == study.id, SessionRow.place > 0)
        .order_by(left.desc())
    )


def sweep(db: Session, study: StudyRow, before: int, external_id: str = "") -> None:
    """Delete participants of an open link who never agreed: since `before`, or with this id."""
    query = (
        select(ParticipantRow.id, SessionRow.id)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(
            ParticipantRow.study_id == study.id, ParticipantRow.invited.is_(False),
            SessionRow.place == 0, SessionRow.status == "running",
            or_(SessionRow.last_seen < before, ParticipantRow.external_id == (external_id or "\n")),
        )
        .limit(100)
    )  # fmt: skip
    found = list(db.execute(query))
    people, sessions = [one for one, _ in found], [one for _, one in found]
    if found:
        db.execute(delete(EventRow).where(EventRow.session_id.in_(sessions)))
        db.execute(delete(SessionRow).where(SessionRow.id.in_(sessions)))
        db.execute(delete(ParticipantRow).where(ParticipantRow.id.in_(people)))


def _label() -> str:
    """Draw a label that can be said on the telephone: 40 bits, which open nothing."""
    return "".join(secrets.choice(_LETTERS) for _ in range(8))
