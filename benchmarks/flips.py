"""Flip single bits of a run folder: each is found, or is in a file that no command reads.

``python benchmarks/flips.py 10000`` makes a small run, flips that many bits one at a time, all
files alike and any byte of each, reads the whole folder after each as the commands do, and
counts what came of it; then the same with a folder made by `allminds import`. The exit code is 1
if one was silent.
"""

from __future__ import annotations

import collections
import random
import sys
import tempfile
from pathlib import Path

from allminds.core.errors import Error
from allminds.report import write_report
from allminds.runs.imports import import_results, provenance, read_results
from allminds.runs.plan import Plan
from allminds.runs.run import How, run
from allminds.runs.store import RunFolder

HARMLESS = {"report.html", "lock"}  # written for people, and empty: no command reads them
PLAN = {
    "tests": [
        {"instrument": "lambda-star", "minds": ["random", "local-search"], "episodes": 40,
         "settings": {"rows": 5, "cols": 5, "iterations": 10}},
        {"instrument": "c-test", "minds": ["mode"], "episodes": 20},
    ],
    "seed": 3,
}  # fmt: skip


def made(where: Path) -> Path:
    """A small run with its report."""
    folder = run(Plan.model_validate(PLAN), where, How(jobs=1))
    write_report(folder, where / "report.html")
    return where


def imported(where: Path) -> Path:
    """A small folder of imported results."""
    rows = [f"{n},{who},{(n * 7 + k) % 10 / 10}" for n in range(30) for k, who in enumerate("abc")]
    table = where.with_name("table.csv")
    table.write_text("\n".join(["exercise,mind,score", *rows]) + "\n", encoding="utf-8")
    return import_results(table, where)


def read(path: Path) -> None:
    """Read all that the commands read of a run, or of imported results."""
    if (path / "imported.json").exists():
        read_results(path)
        provenance(path)
        return
    folder = RunFolder.open(path)
    folder.summary()
    folder.parts()
    folder.records()
    folder.curves()
    folder.traces()


def outcome(path: Path, rng: random.Random) -> str:
    """Flip one bit, read the folder, and put the bit back."""
    files = sorted(one for one in path.rglob("*") if one.is_file() and one.stat().st_size)
    victim = rng.choice(files)
    whole = victim.read_bytes()
    place, bit = rng.randrange(len(whole)), rng.randrange(8)
    victim.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    try:
        read(path)
    except Error as error:
        return "found" if "\n" not in str(error) else f"SILENT: not one sentence, {error}"
    finally:
        victim.write_bytes(whole)
    name = victim.relative_to(path).as_posix()
    return f"harmless: {name}" if name in HARMLESS else f"SILENT: {name}, byte {place}, bit {bit}"


def main() -> None:
    """Count the outcomes."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    silent = False
    with tempfile.TemporaryDirectory() as where:
        for path in (made(Path(where) / "run"), imported(Path(where) / "imported")):
            read(path)
            rng = random.Random(1)
            found = collections.Counter(outcome(path, rng) for _ in range(count))
            for word, times in found.most_common():
                print(f"{path.name}: {times:6,} {word}")
            silent |= any(word.startswith("SILENT") for word in found)
    sys.exit(silent)


if __name__ == "__main__":
    main()
