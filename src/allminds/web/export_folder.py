"""The export of a study as a folder that `allminds compare` reads beside any run.

records.parquet, imported.json   the common results table, if any exercise was finished
results.csv                      the same as CSV
choices.csv                      every choice, a row each
events.jsonl                     everything that happened
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from allminds.core.errors import Error
from allminds.core.table import SCHEMA
from allminds.runs.imports import read_csv
from allminds.runs.store import versions
from allminds.web.export import choices_csv, events_jsonl, results
from allminds.web.sessions import Faces
from allminds.web.store import Store
from allminds.web.store_tables import StudyRow
from allminds.web.study import Study, stored


def export_folder(
    store: Store, study: StudyRow, faces: Faces, out: Path, *, pooled: bool = False,
    external: bool = False, now: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write the folder, whole or not at all, and say what is in it.

    `now` is when it is written, by which whoever is away too long is known to have left.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Error(f"{out} is not empty; name a new folder with --out")
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        with store.reading() as db:
            rows = list(results(db, study, faces, pooled, now))
            lines = choices_csv(db, study, faces, external)
            choices = _write(temporary / "choices.csv", lines) - 2
            events = _write(temporary / "events.jsonl", events_jsonl(db, study, faces, external))
        if rows:
            _write_table(temporary, rows)
        made = {
            "schema": SCHEMA,
            "source": f"study {study.slug}",
            "format": "people",
            "rows": len(rows),
            "exercises": len({row["exercise"] for row in rows}),
            "minds": sorted({row["mind"] for row in rows}),
            "parity": parity(stored(study.plan)),
            "versions": versions(),
        }
        if rows:
            _write(temporary / "imported.json", [json.dumps(made, indent=2) + "\n"])
        if out.is_dir():
            out.rmdir()
        os.rename(temporary, out)
    except OSError as error:
        raise Error(f"cannot write {out}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return {"out": str(out), "choices": choices, "events": events - 1} | made


def _write(path: Path, lines: Iterable[str]) -> int:
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        for line in lines:
            file.write(line)
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def _write_table(folder: Path, rows: list[dict[str, Any]]) -> None:
    """As CSV first, which is then read like anybody's results: one reader checks them all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for row in rows for name in row))
    with open(folder / "results.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    table = pa.Table.from_pandas(read_csv(folder / "results.csv"), preserve_index=False)
    pq.write_table(table, folder / "records.parquet", compression="zstd")


def parity(study: Study) -> list[str]:
    """Where a person's test is not a program's: to be said with every comparison."""
    said = [
        "People saw the sign of a reward"
        + (" and its number" if study.show_numbers else " only")
        + "; programs get the number.",
        "Of several actions that lead to one cell people's count as the lowest.",
        "People are not reset between exercises; programs begin each anew.",
        "People were given practice and instructions; a program's rehearsals are in its traits.",
        "Time was free and is recorded, not scored.",
    ]
    if any(given.opponent for given in study.tests):
        said.append(
            "In games people saw what each got as numbers, and letters for the names of actions."
        )
    gaps = {"replace": "replaced by fresh ones", "void": "broken off and not scored"}
    said.append("An exercise that a participant left unfinished counts as failed.")
    if study.resume.policy in gaps:
        said.append(f"Exercises with a long gap were {gaps[study.resume.policy]}.")
    return said
