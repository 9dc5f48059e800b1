"""Two people in one game: how they find each other, hear of each other's moves, and part.

The first participant who comes to the room of such a test waits there, as a row of `game`; the
next one joins that row. A session writes only its own events: a choice when it is made, and what
the other did (`met`) when it hears of it, so that it replays by itself even when the other's data
have been deleted.

Locks are taken in the order session, study, game, and a session never locks another session.
"""

from __future__ import annotations

from sqlalchemy import Select, select

from allminds.web.session import Visit
from allminds.web.store import EventRow, ExerciseRow, GameRow, SessionRow, StudyRow, games_of
from allminds.web.study import PERSON

SIGHT = 20_000  # ms after the last sign of a page that waits in which it is taken to be there


def catch_up(visit: Visit) -> None:
    """Bring a session up to what others have done meanwhile."""
    place = visit.place
    if not visit.running or visit.study.tests[place.test].opponent != PERSON:
        return
    if place.kind == "room":
        _look_round(visit)
    elif place.kind == "exercise" and not place.practice:
        visit.game = _game(visit)
        if visit.game.status in ("playing", "left"):
            _follow(visit, visit.game)


def decide(visit: Visit, place: int, answer: str) -> None:
    """Act for a participant without a partner: play a machine, wait, or leave the test."""
    game = visit.game
    if game is None or place != visit.row.place or answer not in offers(visit):
        return
    if answer == "wait":
        game.started = visit.now
        return
    if game.status == "waiting":
        game.status = answer
    else:
        visit.db.add(_new(visit, answer))
    if answer == "skipped":
        visit.skip_test()
    elif visit.place.kind == "room" or visit.open_or_over() is not None:
        visit.advance(early=True)


def offers(visit: Visit) -> list[str]:
    """List what can be decided now; nothing while there is hope of a partner, or a game."""
    game, place = visit.game, visit.place
    if game is None or game.test != place.test:
        return []
    if place.kind == "room" and game.status == "waiting":
        patience = visit.study.tests[place.test].wait_seconds * 1000
        return ["machine", "wait", "skipped"] if visit.now - game.started >= patience else []
    return ["machine", "skipped"] if visit.alone else []


# ---------------------------------------------------------------- finding each other


def _look_round(visit: Visit) -> None:
    """Join a participant in the waiting room; else wait. Pairs are made one after the other."""
    visit.db.execute(select(StudyRow.id).where(StudyRow.id == visit.study_row.id).with_for_update())
    own = visit.db.scalar(_mine(visit))
    if own is not None and own.status == "left":
        own = None  # somebody came, and went before it began
    visit.game = own
    if own is None or own.status == "waiting":
        other = visit.db.scalar(_waiting(visit))
        if other is not None:
            other.second_id, other.status, other.started = visit.row.id, "playing", visit.now
            if own is not None:
                visit.db.delete(own)
            visit.game = other
        elif own is None:
            visit.game = _new(visit, "waiting")
            visit.db.add(visit.game)
    visit.db.flush()
    if visit.game is not None and visit.game.status == "playing":
        visit.advance()
        catch_up(visit)


def _new(visit: Visit, status: str) -> GameRow:
    return GameRow(
        study_id=visit.study_row.id, test=visit.place.test, first_id=visit.row.id, status=status,
        started=visit.now,
    )  # fmt: skip


def _waiting(visit: Visit) -> Select[GameRow]:
    """Select the game that has waited longest in this room, if its participant is still there."""
    return (
        select(GameRow)
        .join(SessionRow, SessionRow.id == GameRow.first_id)
        .where(
            GameRow.study_id == visit.study_row.id,
            GameRow.test == visit.place.test,
            GameRow.status == "waiting",
            GameRow.first_id != visit.row.id,
            SessionRow.last_seen >= visit.now - SIGHT,
        )
        .order_by(GameRow.id)
        .limit(1)
        .with_for_update(of=GameRow)
        .execution_options(populate_existing=True)
    )


def _mine(visit: Visit) -> Select[GameRow]:
    """Select the present game of this test."""
    return games_of(visit.row).where(GameRow.test == visit.place.test).limit(1)


def _game(visit: Visit) -> GameRow:
    game = visit.db.scalar(_mine(visit))
    assert game is not None
    return game


# ---------------------------------------------------------------- each other's moves


def _follow(visit: Visit, game: GameRow) -> None:
    """Take in the moves that the other has made; notice if no more will come."""
    row = visit.open_exercise()
    if row is None and game.status == "playing":
        row = visit.exercise()
    if row is None:
        return
    table, other = visit.replays.table(row), 1 - row.slot
    actions = _made(visit, game, row)
    while not table.over and not table.to_move and visit.rows.met(row.idx) < len(actions):
        step, action = table.episode.step, actions[visit.rows.met(row.idx)]
        payload = {"actions": {str(other): action}}
        visit.event("met", row, step, reward=table.meet({other: action}), payload=payload)
    if table.over:
        visit.finish(row)
    elif game.status == "left":
        visit.give_up(row, "away" if game.left_by == row.slot else "left")
    elif not table.to_move and _too_long(visit, row):
        game.status, game.left_by = "left", other
        visit.give_up(row, "left")


def _made(visit: Visit, game: GameRow, row: ExerciseRow) -> list[object]:
    """List what the other has done in the same exercise, in order."""
    other = game.second_id if row.slot == 0 else game.first_id
    query = (
        select(EventRow.action)
        .join(
            ExerciseRow,
            (ExerciseRow.session_id == EventRow.session_id)
            & (ExerciseRow.idx == EventRow.exercise_idx),
        )
        .where(
            EventRow.session_id == other,
            EventRow.kind == "choice",
            ExerciseRow.game_id == game.id,
            ExerciseRow.place == row.place,
        )
        .order_by(EventRow.step)
    )
    return list(visit.db.scalars(query))


def _too_long(visit: Visit, row: ExerciseRow) -> bool:
    """Return whether the other has kept this participant waiting for longer than a move may take.

    Time in which this person was not there either, or no server was, does not count.
    """
    gap = visit.now - visit.seen
    if gap > SIGHT:
        visit.event("resume", row, len(visit.replays.table(row).made), payload={"gap_ms": gap})
    patience = visit.study.tests[row.test].move_seconds * 1000
    return bool(patience) and visit.now - (visit.rows.there(row.idx) or row.started) > patience
