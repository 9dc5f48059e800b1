"""The data of a study as tables: participants, exercises and trials, with a codebook.

Each table is plain CSV without a trailer. `psych_ds` writes the same tables as a dataset by the
rules of Psych-DS: `dataset_description.json`, and ``table-trials_data.csv`` and so on in ``data``.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from allminds.core.blocks import LESSON
from allminds.core.files import as_json
from allminds.core.table import COLUMNS as COLUMNS_OF_RUNS
from allminds.core.table import harmless
from allminds.web.agenda import Agenda
from allminds.web.careless import Behaviour, behaviours
from allminds.web.gaps import broken_off
from allminds.web.monitor import iso
from allminds.web.replays import Replays
from allminds.web.study import QUESTIONS, Study, stored
from allminds.web.tables import ConsentRow, EventRow, ExerciseRow, SessionRow, StudyRow
from allminds.web.taken import (
    DESIGNED,
    Taken,
    all_taken,
    events_of,
    exercise_id,
    iso_ms,
    lesson_of,
)

Row = dict[str, Any]
TABLES = ("participants", "exercises", "trials")

MEANINGS: dict[str, str] = {
    "study": "the short name of the study",
    "label": "the participant's label; links the three tables",
    "external_id": "the participant's id in the panel",
    "session": "number of the session; every participant has one",
    "arm": "the arm that the participant was given; empty if the study has none",
    "order": "the names of the tests, in the order in which they were given",
    "language": "the language of the screens",
    "status": "running, finished or abandoned",
    "started": "when the session, or the exercise, began (UTC)",
    "finished": "when it ended (UTC); empty if it did not",
    "duration_s": "seconds from begin to end",
    "viewport": "size of the window in pixels, in steps of 50",
    "pointer": "fine (mouse), coarse (touch) or none",
    "browser": "family of the browser",
    "bonus": "what the study's rule pays, its base included; empty unless all was finished",
    "exercises": "exercises that count and were finished",
    "broken_off": "exercises that were replaced or void after a long gap",
    "hidden_s": "seconds for which the page was in the background",
    "pasted": "times that something was pasted",
    "misread": "attempts at checks of instructions with a wrong answer",
    "attention_failed": "attention checks with a wrong answer or none",
    "fast": "tests whose median choice was quicker than the threshold of the study",
    "same_choice": "tests in which one choice was made again and again, and did not pay",
    "marks": "signs of carelessness by the thresholds of the study",
    "excluded": "signs by which the study's rule excludes the participant; empty if none does",
    "exercise": "id of the exercise; programs on the same exercise have the same id",
    "instrument": "the instrument of the test",
    "test": "number of the test in the study's file, from 0",
    "test_name": "name of the test",
    "test_position": "place of the test in the participant's order, from 1",
    "idx": "number of the exercise in the session, from 0, practice included",
    "practice": "1 if the exercise did not count",
    "flags": "interrupted, reloaded, replaced, void, left, time and the like",
    "score": "score of the exercise; of one that failed, the lowest possible for what is missing",
    "outcome": "ok, timeout, void and the like; open while it is being played",
    "steps": "moves that were made",
    "step": "number of the choice in the exercise, from 0",
    "shown": "what was shown, as text",
    "observation_hash": "hash of what was shown; the same for the same content",
    "choice": "what was chosen on the screen",
    "action": "the action that this is in the instrument",
    "first": "the first selection, before it was confirmed; empty if it was not recorded",
    "changes": "changes of the selection before it was confirmed",
    "reward": "what the choice brought",
    "correct": "1 if a question was answered rightly, 0 if not; empty elsewhere",
    "rt_ms": "time from the painted screen to the choice, in milliseconds, in the browser",
    "input": "keyboard, mouse, touch, pen or other",
    "reloaded": "1 if the screen had been painted before",
    "client_ts": "when it was chosen by the participant's clock, in milliseconds since 1970",
    "server_time": "when the choice arrived (UTC)",
    "slot": "the participant's slot in a game",
    "opponent": "the other player in a game: person, or a mind",
    "game": "number of the game; two participants of one game share it",
    **{name: COLUMNS_OF_RUNS[name][0] for name in LESSON},
}  # fmt: skip


# ---------------------------------------------------------------- one row a participant


def participants(db: Session, study: StudyRow, external: bool = False) -> Iterator[Row]:
    """Yield a row for every participant who did not withdraw."""
    plan, seen = stored(study.plan), behaviours(db, study)
    fields = [name for one in plan.questions for name in one.fields]
    for participant, session, agenda, replays, exercises, _ in all_taken(db, study):
        about = db.scalar(select(ConsentRow).where(ConsentRow.participant_id == participant.id))
        over = [row for row in exercises if not row.practice and row.finished is not None]
        yield {
            "study": study.slug,
            "label": participant.label,
            **({"external_id": participant.external_id} if external else {}),
            "arm": agenda.study.arm,
            "order": " ".join(agenda.study.names),
            "language": session.lang,
            "status": session.status,
            **times(session.started, session.finished),
            **{key: (session.device or {}).get(key, "") for key in DEVICE},
            **{name: ((about and about.about) or {}).get(name) for name in plan.ask},
            **dict.fromkeys(fields) | answers(db, session),
            "exercises": sum(replays.record(row).status[row.slot] == "ok" for row in over),
            "broken_off": broken_off(exercises),
            **(_bonus(agenda, replays, session) if plan.bonus else {}),
            **_carefulness(seen.get(session.id)),
        }


DEVICE = ("viewport", "pointer", "browser")


def times(started: int, finished: int | None) -> Row:
    """Return when something began and ended, and how long it took."""
    return {
        "started": iso(started),
        "finished": None if finished is None else iso(finished),
        "duration_s": None if finished is None else round((finished - started) / 1000, 3),
    }


def answers(db: Session, session: SessionRow) -> dict[str, str]:
    """Collect a participant's answers to the researcher's questions, by field."""
    query = select(EventRow.payload).where(
        EventRow.session_id == session.id, EventRow.kind == "answer"
    )
    return {name: value for told in db.scalars(query) for name, value in told["answers"].items()}


def _bonus(agenda: Agenda, replays: Replays, session: SessionRow) -> Row:
    """Compute the bonus of a session that was finished; else the researcher decides."""
    study = agenda.study
    if study.bonus is None or session.status != "finished":
        return {"bonus": None}
    return {"bonus": study.bonus.of(study.names, replays.paid())}


def _carefulness(how: Behaviour | None) -> Row:
    if how is None:
        return dict.fromkeys(CAREFUL)
    found = (
        round(how.hidden_ms / 1000, 3), how.pasted, how.misread, how.inattentive,
        " ".join(how.fast), " ".join(how.same), " ".join(how.marks()), how.excluded,
    )  # fmt: skip
    return dict(zip(CAREFUL, found, strict=True))


CAREFUL = (
    "hidden_s", "pasted", "misread", "attention_failed", "fast", "same_choice", "marks", "excluded",
)  # fmt: skip


# ---------------------------------------------------------------- one row an exercise


def exercises(db: Session, study: StudyRow) -> Iterator[dict[str, Any]]:
    """Yield a row for every exercise that was begun, practice included."""
    plan, seen = stored(study.plan), behaviours(db, study)
    for one in all_taken(db, study):
        how = seen.get(one.session.id)
        for row in one.exercises:
            open_ = row.finished is None and one.session.status == "running"
            table = one.replays.table(row)
            record = None if open_ else one.replays.record(row)
            yield {
                "study": study.slug,
                "label": one.participant.label,
                **one.designed(plan, row.test),
                "idx": row.idx,
                "practice": int(row.practice),
                "exercise": exercise_id(one.agenda, row),
                "instrument": row.kind,
                **times(row.started, row.finished),
                "steps": len(table.made) if record is None else record.steps,
                "score": None if record is None else record.score[row.slot],
                "outcome": "open" if record is None else record.status[row.slot],
                "flags": " ".join(row.flags),
                "slot": row.slot,
                "opponent": row.opponent,
                "game": row.game_id,
                "excluded": how.excluded if how else "",
                **table.episode.environment.complexity,
            }


# ---------------------------------------------------------------- one row a choice


COLUMNS = (
    "study", "label", "session", "status", "language", *DESIGNED, "exercise", "instrument", "idx",
    "practice", "flags", "step", "shown", "observation_hash", "choice", "action", "first",
    "changes", "reward", "correct", "rt_ms", "input", "reloaded", "client_ts", "server_time",
    "slot", "opponent", "game",
)  # fmt: skip


def trial_columns(plan: Study, external: bool) -> list[str]:
    """List the columns of trials; those of a course only where there is one."""
    taught = any(given.settings.get("course") for given in plan.tests)
    return [*COLUMNS, *(["external_id"] if external else []), *(LESSON if taught else ())]


def trials(db: Session, study: StudyRow, external: bool = False) -> Iterator[dict[str, Any]]:
    """Yield every choice that was made, with what was shown."""
    plan = stored(study.plan)
    for one in all_taken(db, study):
        rows = {row.idx: row for row in one.exercises}
        for event in db.scalars(events_of(one.session).where(EventRow.kind == "choice")):
            row = rows[event.exercise_idx or 0]
            found = one.designed(plan, row.test) | _choice(study, one, row, event)
            yield found | ({"external_id": one.participant.external_id} if external else {})


def _choice(study: StudyRow, one: Taken, row: ExerciseRow, event: EventRow) -> dict[str, Any]:
    tool = one.agenda.tool(row.test, row.practice)
    table, step, how = one.replays.table(row), event.step or 0, event.payload or {}
    reward = event.reward
    if row.game_id is not None and step < len(table.steps):
        reward = table.steps[step].reward  # it was not known while the other was to move
    return {
        "study": study.slug,
        "label": one.participant.label,
        "session": one.session.id,
        "status": one.session.status,
        "language": one.session.lang,
        "exercise": exercise_id(one.agenda, row),
        "instrument": row.kind,
        "idx": row.idx,
        "practice": int(row.practice),
        "flags": " ".join(row.flags),
        "step": step,
        "shown": one_line(tool.show(table.made[step][0], "text")),
        "observation_hash": event.observation_hash,
        "choice": event.choice,
        "action": event.action if isinstance(event.action, int) else json.dumps(event.action),
        "first": how.get("first"),
        "changes": how.get("changes"),
        "reward": reward,
        "correct": None if event.correct is None else int(event.correct),
        "rt_ms": event.rt_ms,
        "input": event.input,
        "reloaded": int(bool(how.get("reloaded"))),
        "client_ts": event.client_ts,
        "server_time": iso_ms(event.server_ts),
        "slot": row.slot,
        "opponent": row.opponent,
        "game": row.game_id,
        **lesson_of(one.agenda, row),
    }


# ---------------------------------------------------------------- writing


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as CSV, and return how many there are; words that are formulas are quoted."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([harmless(row.get(name)) for name in columns])
            count += 1
    return count


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of rows, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row))


def codebook(plan: Study, tables: Mapping[str, Sequence[str]]) -> list[Row]:
    """Say what each column of each table means, and which values it can have."""
    asked = {
        name: (one, row)
        for one in plan.questions
        for name, row in zip_longest(one.fields, one.rows)
    }
    first, found = plan.languages[0], []
    complexity = {
        name: words
        for made in plan.variants
        for test in range(len(made.tests))
        for name, words in made.tool(test).presentation.columns.items()
    }
    for table, columns in tables.items():
        for name in columns:
            meaning, values = MEANINGS.get(name) or complexity.get(name, ""), ""
            if name in asked:
                one, row = asked[name]
                meaning = one.text[first] + (f" {row.text[first]}" if row else "")
                values = " ".join(one.values) or one.kind
            elif name in QUESTIONS:
                meaning, values = f"{name}, as the participant said", " ".join(QUESTIONS[name])
            found.append({"table": table, "column": name, "meaning": meaning, "values": values})
    return found


def psych_ds(folder: Path, plan: Study, book: Sequence[Row]) -> None:
    """Write the tables that are in `folder` once more, as a dataset by the rules of Psych-DS."""
    made = folder / "psych-ds"
    (made / "data").mkdir(parents=True)
    for table in TABLES:
        shutil.copyfile(folder / f"{table}.csv", made / "data" / f"table-{table}_data.csv")
    variables: dict[str, Row] = {}
    for row in book:
        about = {"@type": "PropertyValue", "name": row["column"], "description": row["meaning"]}
        variables.setdefault(row["column"], about)
    title = plan.title[plan.languages[0]]
    described = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": title,
        "description": f"Data of the study '{plan.slug}', exported by allminds.",
        "variableMeasured": list(variables.values()),
    }
    (made / "dataset_description.json").write_bytes(as_json(described))


def one_line(text: Any) -> str:
    """Write what was shown in one line."""
    words = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return " / ".join(part.strip() for part in words.splitlines() if part.strip())
