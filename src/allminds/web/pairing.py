"""Two people in one game: how they find each other, hear of each other's moves, and part.

The first participant who comes to the room of such a test waits there, as a row of `game`; the
next one joins that row. A session writes only its own events: a choice when it is made, and what
the other did (`met`) when it hears of it, so that it replays by itself even when the other's data
have been deleted.

Locks are taken in the order session, study, game, and a session never locks another session.
"""

from __future__ import annotations

from sqlalchemy import Select, select

from allminds.web.places import games_of
from allminds.web.session import LiveSession
from allminds.web.study import PERSON
from allminds.web.tables import EventRow, ExerciseRow, GameRow, SessionRow, StudyRow

SIGHT = 20_000  # ms after the last sign of a page that waits in which it is taken to be there


def catch_up(live: LiveSession) -> None:
    """Bring a session up to what others have done meanwhile."""
    place = live.place
    if not live.running or live.study.tests[place.test].opponent != PERSON:
        return
    if place.kind == "room":
        _look_round(live)
    elif place.kind == "exercise" and not place.practice:
        live.game = _game(live)
        if live.game.status in ("playing", "left"):
            _follow(live, live.game)


def decide(live: LiveSession, place: int, answer: str) -> None:
    """Act for a participant without a partner: play a machine, wait, or leave the test."""
    game = live.game
    if game is None or place != live.row.place or answer not in offers(live):
        return
    if answer == "wait":
        game.started = live.now
        return
    if game.status == "waiting":
        game.status = answer
    else:
        live.db.add(_new(live, answer))
    if answer == "skipped":
        live.skip_test()
    elif live.place.kind == "room" or live.open_or_over() is not None:
        live.advance(early=True)


def offers(live: LiveSession) -> list[str]:
    """List what can be decided now; nothing while there is hope of a partner, or a game."""
    game, place = live.game, live.place
    if game is None or game.test != place.test:
        return []
    if place.kind == "room" and game.status == "waiting":
        patience = live.study.tests[place.test].wait_seconds * 1000
        return ["machine", "wait", "skipped"] if live.now - game.started >= patience else []
    return ["machine", "skipped"] if live.alone else []


# ---------------------------------------------------------------- finding each other


def _look_round(live: LiveSession) -> None:
    """Join a participant in the waiting room; else wait. Pairs are made one after the other."""
    live.db.execute(select(StudyRow.id).where(StudyRow.id == live.study_row.id).with_for_update())
    own = live.db.scalar(_mine(live))
    if own is not None and own.status == "left":
        own = None  # somebody came, and went before it began
    live.game = own
    if own is None or own.status == "waiting":
        other = live.db.scalar(_waiting(live))
        if other is not None:
            other.second_id, other.status, other.started = live.row.id, "playing", live.now
            if own is not None:
                live.db.delete(own)
            live.game = other
        elif own is None:
            live.game = _new(live, "waiting")
            live.db.add(live.game)
    live.db.flush()
    if live.game is not None and live.game.status == "playing":
        live.advance()
        catch_up(live)


def _new(live: LiveSession, status: str) -> GameRow:
    return GameRow(
        study_id=live.study_row.id, test=live.place.test, first_id=live.row.id, status=status,
        started=live.now,
    )  # fmt: skip


def _waiting(live: LiveSession) -> Select[GameRow]:
    """Select the game that has waited longest in this room, if its participant is still there."""
    return (
        select(GameRow)
        .join(SessionRow, SessionRow.id == GameRow.first_id)
        .where(
            GameRow.study_id == live.study_row.id,
            GameRow.test == live.place.test,
            GameRow.status == "waiting",
            GameRow.first_id != live.row.id,
            SessionRow.last_seen >= live.now - SIGHT,
        )
        .order_by(GameRow.id)
        .limit(1)
        .with_for_update(of=GameRow)
        .execution_options(populate_existing=True)
    )


def _mine(live: LiveSession) -> Select[GameRow]:
    """Select the present game of this test."""
    return games_of(live.row).where(GameRow.test == live.place.test).limit(1)


def _game(live: LiveSession) -> GameRow:
    game = live.db.scalar(_mine(live))
    assert game is not None
    return game


# ---------------------------------------------------------------- each other's moves


def _follow(live: LiveSession, game: GameRow) -> None:
    """Take in the moves that the other has made; notice if no more will come."""
    row = live.open_exercise()
    if row is None and game.status == "playing":
        row = live.exercise()
    if row is None:
        return
    table, other = live.replays.table(row), 1 - row.slot
    actions = _made(live, game, row)
    while not table.over and not table.to_move and live.rows.met(row.idx) < len(actions):
        step, action = table.episode.step, actions[live.rows.met(row.idx)]
        payload = {"actions": {str(other): action}}
        live.event("met", row, step, reward=table.meet({other: action}), payload=payload)
    if table.over:
        live.finish(row)
    elif game.status == "left":
        live.give_up(row, "away" if game.left_by == row.slot else "left")
    elif not table.to_move and _too_long(live, row):
        game.status, game.left_by = "left", other
        live.give_up(row, "left")


def _made(live: LiveSession, game: GameRow, row: ExerciseRow) -> list[object]:
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
    return list(live.db.scalars(query))


def _too_long(live: LiveSession, row: ExerciseRow) -> bool:
    """Return whether the other has kept this participant waiting for longer than a move may take.

    Time in which this person was not there either, or no server was, does not count.
    """
    gap = live.now - live.seen
    if gap > SIGHT:
        live.event("resume", row, len(live.replays.table(row).made), payload={"gap_ms": gap})
    patience = live.study.tests[row.test].move_seconds * 1000
    return bool(patience) and live.now - (live.rows.there(row.idx) or row.started) > patience
