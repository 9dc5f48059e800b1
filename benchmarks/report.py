"""The report of a large run: seconds, peak memory and size, in a process of its own.

``python benchmarks/report.py RUN`` writes the report of a run three times in one process: the first
is cold, the others are warm.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from measure import Table

from allminds.runs.plan import Plan, Test
from allminds.runs.run import run

MINDS = 40

# A child of fork or vfork inherits its parent's ru_maxrss over exec, so Linux is asked for the
# high-water mark of the process's own memory instead.
WRITE = """
import resource, sys, time
from pathlib import Path
start = time.perf_counter()
from allminds.runs.store import RunFolder
from allminds.report import write_report

page = write_report(RunFolder.open(Path(sys.argv[1])), Path(sys.argv[2]))
seconds = time.perf_counter() - start
try:
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
except (OSError, StopIteration):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
print(seconds, peak, page.stat().st_size)
"""


def large_runs(sizes: Sequence[int] = (10_000, 100_000, 1_000_000)) -> Table:
    """So many records, of 40 minds on as many exercises of Λ* as that makes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for records in sizes:
            out = Path(folder) / str(records)
            _play(out, records // MINDS)
            command = [sys.executable, "-c", WRITE, str(out), str(out / "report.html")]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            seconds, peak, size = (float(word) for word in done.stdout.split())
            rows.append([
                f"{records:,}", f"{seconds:.1f}", f"{peak / 2**20:,.0f}", f"{size / 1e6:.2f}"
            ])  # fmt: skip
    return Table(
        "Report",
        f"The HTML report of {MINDS} minds on Λ*, from starting Python to the file on disk. The "
        "aim for 1,000,000 records: under 20 s and under 1,024 MiB.",
        ("records", "seconds", "peak MiB", "page, MB"),
        rows,
    )


def _play(out: Path, exercises: int) -> None:
    minds = [f"local-search(slip={n / 100:g})" for n in range(1, MINDS - 1)]
    test = Test(
        instrument="lambda-star",
        minds=["random", *minds, "optimum"],
        episodes=exercises,
        settings={"rows": 5, "cols": 5, "iterations": 20},
    )
    run(Plan(tests=[test], traces=0), out)


def one_run(path: Path) -> Table:
    """The report of one run, three times over; the first imports and compiles what it needs."""
    import time

    from allminds.report import write_report
    from allminds.runs.store import RunFolder

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in range(3):
            wall, spent = time.perf_counter(), time.process_time()
            page = write_report(RunFolder.open(path), Path(folder) / "report.html")
            wall, spent = time.perf_counter() - wall, time.process_time() - spent
            size = page.stat().st_size / 1e6
            rows.append(["warm" if n else "cold", f"{wall:.1f}", f"{spent:.1f}", f"{size:.2f}"])
    records = sum(pq.read_metadata(part).num_rows for part in RunFolder.open(path).parts())
    return Table(
        "Report of one run",
        f"{records:,} records. Seconds of a processor depend little on what else the machine does.",
        ("", "seconds", "of a processor", "page, MB"),
        rows,
    )


if __name__ == "__main__":
    from rich.console import Console

    found = one_run(Path(sys.argv[1])) if len(sys.argv) > 1 else large_runs()
    found.show(Console())
