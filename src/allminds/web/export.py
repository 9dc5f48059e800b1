"""What a study brought: tables of data, events as JSON lines, and the common results table.

Choices and events are streamed. The folder has a sum of every file, so that one that was cut
short is recognised. In the results table a participant is the mind ``person/<label>``, paired
with programs by exercise. Participants who withdrew are in none of them; ids of panels are
included only where they are asked for, and so are seeds, by which exercises could be worked out.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from sqlalchemy import case, or_, select
from sqlalchemy.orm import Session

from allminds.contracts import Record
from allminds.core.blocks import LESSON, tenths_of
from allminds.core.errors import Error
from allminds.core.files import SUMS, as_json, new_folder
from allminds.core.settings import settings_hash
from allminds.core.table import SCHEMA, harmless, units_of
from allminds.runs.formats import read_csv
from allminds.runs.provenance import versions
from allminds.web.agenda import Agenda, agenda
from allminds.web.careless import behaviours
from allminds.web.dataset import (
    codebook,
    columns_of,
    exercises,
    participants,
    psych_ds,
    trial_columns,
    trials,
    write_csv,
)
from allminds.web.debrief import parity
from allminds.web.replays import (
    ReplayedExercise,
    again,
    fingerprint,
)
from allminds.web.session import broken_off, meaning
from allminds.web.store import Store
from allminds.web.study import PERSON, stored
from allminds.web.tables import (
    ConsentRow,
    EventRow,
    ExerciseRow,
    GameRow,
    ParticipantRow,
    SessionRow,
    StudyRow,
)
from allminds.web.taken import (
    all_taken,
    events_of,
    exercise_id,
    exercises_of,
    iso_ms,
    lesson_of,
    sessions_of,
)

Lines = Callable[[Session, StudyRow, bool], Iterator[str]]


# ---------------------------------------------------------------- one row a choice


def trials_csv(db: Session, study: StudyRow, external: bool = False) -> Iterator[str]:
    """Yield CSV lines: the columns, then a choice each."""
    columns = trial_columns(stored(study.plan), external)
    yield _csv_line(columns)
    for row in trials(db, study, external):
        yield _csv_line([row[name] for name in columns])


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
    for participant, session in sessions_of(db, study):
        plan = agenda(session.plan)
        who = {"label": participant.label, "session": session.id}
        behaviour = flags.get(session.id)
        line = who | {
            "kind": "session", "status": session.status, "language": session.lang,
            "device": session.device, "started": iso_ms(session.started),
            "finished": None if session.finished is None else iso_ms(session.finished),
            "flags": behaviour.flags() if behaviour else [],
            "broken_off": broken_off(exercises := exercises_of(db, session)),
        }  # fmt: skip
        yield line | ({"external_id": participant.external_id} if external else {})
        for row in exercises:
            place = {k: v for k, v in lesson_of(plan, row).items() if v is not None}
            yield who | {"kind": "exercise", "exercise": exercise_id(plan, row)} | _of(row) | place
        query = select(ConsentRow).where(ConsentRow.participant_id == participant.id)
        about = [consent.about for consent in db.scalars(query)]
        for event in db.scalars(events_of(session)):
            told = {"about": about} if event.kind == "consent" else {}
            yield who | {"server_time": iso_ms(event.server_ts)} | _of(event) | told


def _of(row: ExerciseRow | EventRow) -> dict[str, Any]:
    """Return the columns of a row; an event's without those that are empty."""
    found = {column.key: getattr(row, column.key) for column in row.__table__.columns}
    hidden = ("id", "session_id", "kind") if isinstance(row, ExerciseRow) else ("id", "session_id")
    extra = {"instrument": row.kind} if isinstance(row, ExerciseRow) else {}
    return extra | {k: v for k, v in found.items() if k not in hidden and v is not None}


# ---------------------------------------------------------------- the common results table


def results(
    db: Session, study: StudyRow, pooled: bool = False, now: int | None = None, seeds: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a row for every exercise that counted, as programs have them.

    With `pooled` all participants are the mind ``people``, repeat by repeat; else each is a mind.
    An exercise that is open is left out while its participant may come back to it; at `now`
    (milliseconds since 1970), or whenever the session is over, it was left unfinished and failed.
    """
    whole, seen = stored(study.plan), behaviours(db, study)
    for one in all_taken(db, study):
        participant, session, plan, replays, exercises, done = one
        partners, how = _partners(db, session), seen.get(session.id)
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
                **(one.designed(whole, row.test) if whole.arms else {}),
                **({"excluded": how.excluded if how else ""} if whole.careless.exclude else {}),
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


# ---------------------------------------------------------------- the export folder


def export_folder(
    store: Store, study: StudyRow, out: Path, *, pooled: bool = False,
    external: bool = False, seeds: bool = False, now: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write the folder, whole or not at all, and return what is in it.

    `now` is when it is written: a participant who has been away too long by then has left.
    """
    plan = stored(study.plan)
    with new_folder(out) as folder:
        with store.reading() as db:
            rows = list(results(db, study, pooled, now, seeds))
            tables: dict[str, tuple[list[str], Iterable[dict[str, Any]]]] = {}
            for name, source in (
                ("participants", participants(db, study, external)),
                ("exercises", exercises(db, study)),
            ):
                listed = list(source)
                tables[name] = columns_of(listed), listed
            tables["trials"] = trial_columns(plan, external), trials(db, study, external)
            counts = {
                name: write_csv(folder / f"{name}.csv", columns, listed)
                for name, (columns, listed) in tables.items()
            }
            events = _write(folder / "events.jsonl", events_jsonl(db, study, external, seeds))
        book = codebook(plan, {name: columns for name, (columns, _) in tables.items()})
        write_csv(folder / "codebook.csv", ["table", "column", "meaning", "values"], book)
        psych_ds(folder, plan, book)
        if rows:
            _write_table(folder, rows)
        made = {
            "schema": SCHEMA,
            "source": f"study {study.slug}",
            "format": "people",
            "rows": len(rows),
            "exercises": len({row["exercise"] for row in rows}),
            "minds": sorted({row["mind"] for row in rows}),
            "parity": parity(plan, rows),
            "excluding": list(plan.careless.exclude),
            "versions": versions(),
            "sums": SUMS,
        }
        if rows:
            (folder / "imported.json").write_bytes(as_json(made))
    return {"out": str(out), "choices": counts["trials"], "events": events - 1} | made


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
