"""What a study brought: choices as CSV, events as JSON lines, and the common results table.

The first two are streamed, and end with the number of their rows, so that a file that was cut
short is recognised. In the results table a participant is the mind ``person/<label>``, paired
with programs by exercise. Participants who withdrew are in none of them; ids of panels are
included only where they are asked for, and so are seeds, by which exercises could be worked out.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from sqlalchemy import Select, case, or_, select
from sqlalchemy.orm import Session

from allminds import registry
from allminds.contracts import Record
from allminds.core.blocks import LESSON, tenths_of
from allminds.core.errors import Error
from allminds.core.files import SUMS, as_json, new_folder
from allminds.core.settings import settings_hash
from allminds.core.table import SCHEMA, harmless, units_of
from allminds.runs.formats import read_csv
from allminds.runs.provenance import versions
from allminds.web.agenda import Agenda, agenda
from allminds.web.debrief import parity
from allminds.web.monitor import behaviours, iso
from allminds.web.replays import (
    ReplayedExercise,
    Replays,
    again,
    fingerprint,
    grouped,
)
from allminds.web.session import broken_off, meaning
from allminds.web.store import Store
from allminds.web.study import PERSON, stored
from allminds.web.tables import (
    DONE,
    ConsentRow,
    EventRow,
    ExerciseRow,
    GameRow,
    ParticipantRow,
    SessionRow,
    StudyRow,
)

Lines = Callable[[Session, StudyRow, bool], Iterator[str]]

COLUMNS = (
    "study", "label", "session", "status", "language", "exercise", "instrument", "test", "idx",
    "practice", "flags", "step", "choice", "action", "reward", "correct", "rt_ms", "input",
    "reloaded", "client_ts", "server_time", "observation_hash", "slot", "opponent", "game",
)  # fmt: skip


# ---------------------------------------------------------------- one row a choice


def choices_csv(db: Session, study: StudyRow, external: bool = False) -> Iterator[str]:
    """Yield CSV lines: the columns, a choice each, and at last ``#rows,n``."""
    columns = (*COLUMNS, "external_id") if external else COLUMNS
    if any(given.settings.get("course") for given in stored(study.plan).tests):
        columns = (*columns, *LESSON)
    yield _csv_line(columns)
    rows = 0
    for participant, session in _sessions(db, study):
        exercises = {row.idx: row for row in _exercises(db, session)}
        plan = agenda(session.plan)
        later = _later(db, session, plan, exercises)
        for event in db.scalars(_events(session).where(EventRow.kind == "choice")):
            rows += 1
            found = _choice(study, participant, session, exercises, event, plan)
            found["reward"] = later.get((found["idx"], found["step"]), found["reward"])
            yield _csv_line([found[name] for name in columns])
    yield _csv_line(["#rows", rows])


def _later(
    db: Session, session: SessionRow, plan: Agenda, exercises: Mapping[int, ExerciseRow]
) -> dict[tuple[int, int], float]:
    """Compute the rewards in games, some unknown at the choice since the other was to move."""
    games = [row for row in exercises.values() if row.game_id is not None]
    if not games:
        return {}
    replays, _ = _replayed(db, session, plan, list(exercises.values()))
    steps = {row.idx: replays.steps(row) for row in games}
    return {(idx, k): step.reward for idx, made in steps.items() for k, step in enumerate(made)}


def _choice(
    study: StudyRow, participant: ParticipantRow, session: SessionRow,
    exercises: Mapping[int, ExerciseRow], event: EventRow, plan: Agenda,
) -> dict[str, Any]:  # fmt: skip
    row = exercises[event.exercise_idx or 0]
    return {
        "study": study.slug,
        "label": participant.label,
        "external_id": participant.external_id,
        "session": session.id,
        "status": session.status,
        "language": session.lang,
        "exercise": exercise_id(plan, row),
        "instrument": row.kind,
        "test": row.test,
        "idx": row.idx,
        "practice": int(row.practice),
        "flags": " ".join(row.flags),
        "step": event.step,
        "choice": event.choice,
        "action": event.action if isinstance(event.action, int) else json.dumps(event.action),
        "reward": event.reward,
        "correct": None if event.correct is None else int(event.correct),
        "rt_ms": event.rt_ms,
        "input": event.input,
        "reloaded": int(bool((event.payload or {}).get("reloaded"))),
        "client_ts": event.client_ts,
        "server_time": iso_ms(event.server_ts),
        "observation_hash": event.observation_hash,
        "slot": row.slot,
        "opponent": row.opponent,
        "game": row.game_id,
        **_lesson(plan, row),
    }


def _lesson(plan: Agenda, row: ExerciseRow) -> dict[str, Any]:
    """Return the place of an exercise in a course, by column; empty where it is in none."""
    lesson = plan.lesson(row.test, row.number, row.practice)
    return {name: None if lesson is None else getattr(lesson, name) for name in LESSON}


def exercise_id(plan: Agenda, row: ExerciseRow) -> str:
    """Return the id by which participants and programs are paired."""
    tool = plan.tool(row.test, row.practice)
    return f"{registry.exercise_prefix(tool, row.seed)}{row.number}"


def _csv_line(values: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([harmless(value) for value in values])
    return line.getvalue()


# ---------------------------------------------------------------- one line an event


def events_jsonl(
    db: Session, study: StudyRow, external: bool = False, seeds: bool = False
) -> Iterator[str]:
    """Yield JSON lines: the study, then every session with consent, exercises and events."""
    rows = 0
    for found in _everything(db, study, external):
        if not seeds:
            for part in (found, found.get("plan", {})):
                part.pop("seed", None)
        rows += 1
        yield json.dumps(found, ensure_ascii=False) + "\n"
    yield json.dumps({"rows": rows}) + "\n"


def _everything(db: Session, study: StudyRow, external: bool) -> Iterator[dict[str, Any]]:
    flags = behaviours(db, study)
    yield {
        "kind": "study", "slug": study.slug, "code_version": study.code_version,
        "plan": json.loads(study.plan),
    }  # fmt: skip
    for participant, session in _sessions(db, study):
        plan = agenda(session.plan)
        who = {"label": participant.label, "session": session.id}
        behaviour = flags.get(session.id)
        line = who | {
            "kind": "session", "status": session.status, "language": session.lang,
            "device": session.device, "started": iso_ms(session.started),
            "finished": None if session.finished is None else iso_ms(session.finished),
            "flags": behaviour.flags() if behaviour else [],
            "broken_off": broken_off(exercises := _exercises(db, session)),
        }  # fmt: skip
        yield line | ({"external_id": participant.external_id} if external else {})
        for row in exercises:
            place = {k: v for k, v in _lesson(plan, row).items() if v is not None}
            yield who | {"kind": "exercise", "exercise": exercise_id(plan, row)} | _of(row) | place
        query = select(ConsentRow).where(ConsentRow.participant_id == participant.id)
        about = [consent.about for consent in db.scalars(query)]
        for event in db.scalars(_events(session)):
            told = {"about": about} if event.kind == "consent" else {}
            yield who | {"server_time": iso_ms(event.server_ts)} | _of(event) | told


def _of(row: ExerciseRow | EventRow) -> dict[str, Any]:
    """Return the columns of a row; an event's without those that are empty."""
    found = {column.key: getattr(row, column.key) for column in row.__table__.columns}
    hidden = ("id", "session_id", "kind") if isinstance(row, ExerciseRow) else ("id", "session_id")
    extra = {"instrument": row.kind} if isinstance(row, ExerciseRow) else {}
    return extra | {k: v for k, v in found.items() if k not in hidden and v is not None}


def iso_ms(ms: int) -> str:
    """Format a time to the millisecond."""
    return iso(ms).replace("+00:00", f".{ms % 1000:03d}Z")


# ---------------------------------------------------------------- the common results table


def results(
    db: Session, study: StudyRow, pooled: bool = False, now: int | None = None, seeds: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a row for every exercise that counted, as programs have them.

    With `pooled` all participants are the mind ``people``, repeat by repeat; else each is a mind.
    An exercise that is open is left out while its participant may come back to it; at `now`
    (milliseconds since 1970), or whenever the session is over, it was left unfinished and failed.
    """
    for participant, session in _sessions(db, study):
        plan = agenda(session.plan)
        exercises = _exercises(db, session)
        partners = _partners(db, session)
        replays, done = _replayed(db, session, plan, exercises)
        taught = dict.fromkeys(range(len(plan.study.tests)), 0)  # steps in the training of a course
        for row in exercises:
            if row.practice or (row.finished is None and _may_return(session, plan, now)):
                continue
            check_replay(study, row, replays.fresh(row), done.get(row.idx, []))
            record = replays.record(row)
            tool = plan.tool(row.test)
            who = "people" if pooled else f"person/{participant.label}"
            partner = "people" if pooled else partners.get(row.game_id or 0, "")
            yield {
                "exercise": record.exercise,
                "instrument": tool.name,
                "settings": settings_hash(tool.settings),
                **({"seed": row.seed} if seeds else {}),
                "index": row.number,
                **units_of(replays.table(row).episode.exercise),
                **_taught(record, row.slot, taught[row.test]),
                **record.complexity,
                "line_up": _line_up(row, who, partner),
                "mind": who,
                **({"repeat": participant.number} if pooled else {}),
                "person": participant.label,
                "kind": "person",
                "slot": row.slot,
                "team": _team(replays.table(row).episode.environment.teams, row.slot),
                **({"game": row.game_id} if row.game_id is not None else {}),
                "steps": record.steps,
                "score": record.score[row.slot],
                "learning": record.learning[row.slot],
                "status": record.status[row.slot],
                "reason": record.reason,
            }
            if record.lesson is not None and record.lesson.role == "train":
                taught[row.test] += record.steps


def _taught(record: Record, slot: int, trained: int) -> dict[str, Any]:
    """Return the columns that a course adds, as programs have them; none outside a course."""
    if record.lesson is None:
        return {}
    found = {name: getattr(record.lesson, name) for name in LESSON} | {"trained_steps": trained}
    if record.steps > 1:
        means = tenths_of([record])[0, slot].tolist()
        found |= {f"tenth_{n}": mean for n, mean in enumerate(means, 1) if not isnan(mean)}
    return found


def _may_return(session: SessionRow, plan: Agenda, now: int | None) -> bool:
    """Return whether a participant can still finish: not away for `long_hours` yet."""
    away = 0 if now is None else now - session.last_seen
    return session.status == "running" and meaning(plan.study, away, True, True) != "over"


def _replayed(
    db: Session, session: SessionRow, plan: Agenda, exercises: Sequence[ExerciseRow]
) -> tuple[Replays, Mapping[int, list[EventRow]]]:
    """Return the exercises of a session to be replayed, and what was done in them."""
    done = grouped(list(db.scalars(_events(session).where(EventRow.kind.in_(DONE)))))
    return Replays(plan, lambda: exercises, lambda idx: done.get(idx, [])), done


def _partners(db: Session, session: SessionRow) -> dict[int, str]:
    """Map games to the other participant; those who withdrew have no name."""
    other = case((GameRow.first_id == session.id, GameRow.second_id), else_=GameRow.first_id)
    query = (
        select(GameRow.id, ParticipantRow.label, ParticipantRow.withdrawn_at)
        .join(SessionRow, SessionRow.id == other)
        .join(ParticipantRow, ParticipantRow.id == SessionRow.participant_id)
        .where(or_(GameRow.first_id == session.id, GameRow.second_id == session.id))
    )
    rows = db.execute(query)
    return {game: f"person/{label}" if gone is None else PERSON for game, label, gone in rows}


def _line_up(row: ExerciseRow, who: str, partner: str) -> str:
    """Name all players in slot order, as the runner names a line-up."""
    if row.opponent is None:
        return who
    other = row.opponent if row.game_id is None else partner
    return ", ".join([who, other] if row.slot == 0 else [other, who])


def _team(teams: Sequence[Sequence[int]], slot: int) -> int:
    return next(number for number, team in enumerate(teams) if slot in team)


def check_replay(
    study: StudyRow, row: ExerciseRow, table: ReplayedExercise, done: Sequence[EventRow]
) -> None:
    """Require that a replay shows and gives what the participant saw and got."""
    for event in done:
        seen = fingerprint(table.episode.waiting[row.slot]) if event.kind == "choice" else None
        if (seen, again(table, event)) != (event.observation_hash, event.reward):
            raise Error(
                f"exercise {row.number} of {row.kind} in session {row.session_id} does not replay: "
                f"it was played with allminds {study.code_version}, so export it with that version"
            )


def _sessions(db: Session, study: StudyRow) -> list[tuple[ParticipantRow, SessionRow]]:
    query = (
        select(ParticipantRow, SessionRow)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .where(ParticipantRow.study_id == study.id, ParticipantRow.withdrawn_at.is_(None))
        .order_by(ParticipantRow.number)
    )
    return [(participant, session) for participant, session in db.execute(query)]


def _exercises(db: Session, session: SessionRow) -> list[ExerciseRow]:
    query = select(ExerciseRow).where(ExerciseRow.session_id == session.id)
    return list(db.scalars(query.order_by(ExerciseRow.idx)))


def _events(session: SessionRow) -> Select[EventRow]:
    query = select(EventRow).where(EventRow.session_id == session.id).order_by(EventRow.id)
    return query.execution_options(yield_per=1000)


# ---------------------------------------------------------------- the export folder


def export_folder(
    store: Store, study: StudyRow, out: Path, *, pooled: bool = False,
    external: bool = False, seeds: bool = False, now: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write the folder, whole or not at all, and return what is in it.

    `now` is when it is written: a participant who has been away too long by then has left.
    """
    with new_folder(out) as folder:
        with store.reading() as db:
            rows = list(results(db, study, pooled, now, seeds))
            lines = choices_csv(db, study, external)
            choices = _write(folder / "choices.csv", lines) - 2
            events = _write(folder / "events.jsonl", events_jsonl(db, study, external, seeds))
        if rows:
            _write_table(folder, rows)
        made = {
            "schema": SCHEMA,
            "source": f"study {study.slug}",
            "format": "people",
            "rows": len(rows),
            "exercises": len({row["exercise"] for row in rows}),
            "minds": sorted({row["mind"] for row in rows}),
            "parity": parity(stored(study.plan), rows),
            "versions": versions(),
            "sums": SUMS,
        }
        if rows:
            (folder / "imported.json").write_bytes(as_json(made))
    return {"out": str(out), "choices": choices, "events": events - 1} | made


def _write(path: Path, lines: Iterable[str]) -> int:
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        for line in lines:
            file.write(line)
            count += 1
    return count


def _write_table(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write the table as CSV, then read it like any results: one reader checks them all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for row in rows for name in row))
    with open(folder / "results.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    table = pa.Table.from_pandas(read_csv(folder / "results.csv"), preserve_index=False)
    pq.write_table(table, folder / "records.parquet", compression="zstd")
