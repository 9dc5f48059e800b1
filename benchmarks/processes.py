"""What only a fresh process shows: the first result, cold and warm, and the memory of a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from measure import Table, best_of

from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import draws, make

FIRST_RESULT = """
from allminds.runs.engine import Given
from allminds.runs.run import give
give(Given.of("lambda-star", {}, ["local-search"]), 1000)
"""

# A child of fork or vfork inherits its parent's ru_maxrss over exec, so Linux is asked for the
# high-water mark of the process's own memory instead.
MEMORY = """
import resource, sys, tempfile
from pathlib import Path
from allminds.runs.plan import Plan, Test
from allminds.runs.run import run

test = Test(instrument="lambda-star", minds=["local-search"], episodes=int(sys.argv[1]),
            settings={"iterations": 100})
with tempfile.TemporaryDirectory() as folder:
    out = Path(folder) / "run"
    run(Plan(tests=[test]), out)
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
try:
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
except (OSError, StopIteration):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
print(peak, written)
"""


def _python(code: str, *arguments: str, cache: Path | None = None) -> str:
    """What a fresh interpreter prints."""
    environment = os.environ | ({"XDG_CACHE_HOME": str(cache)} if cache else {})
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def first_result(repeats: int) -> Table:
    """Seconds from starting Python to the score of 1,000 episodes of local search."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        start = time.perf_counter()
        _python(FIRST_RESULT, cache=cache)
        cold = time.perf_counter() - start
        warm = best_of(lambda: _python(FIRST_RESULT, cache=cache), repeats)
        shutil.rmtree(cache / "allminds" / "catalogues")
        start = time.perf_counter()
        _python(FIRST_RESULT, cache=cache)
        drawing = time.perf_counter() - start
        bare = best_of(lambda: _python("import allminds.runs.run", cache=cache), repeats)
    return Table(
        "First result",
        "Seconds from starting Python to the score of 1,000 episodes of local search, 10x10, "
        "50 iterations, in a fresh process.",
        ("caches", "seconds"),
        [
            ["none: kernels compiled, catalogue made", f"{cold:.2f}"],
            ["kernels kept, catalogue made", f"{drawing:.2f}"],
            ["warm: both kept", f"{warm:.2f}"],
            ["only `import allminds.runs.run`", f"{bare:.2f}"],
        ],
    )


def memory(sizes: tuple[int, ...] = (10_000, 1_000_000)) -> Table:
    """The most memory that `run` of local search holds, in a process of its own."""
    rows = []
    for episodes in sizes:
        start = time.perf_counter()
        peak, written = (int(bytes_) / 1e6 for bytes_ in _python(MEMORY, str(episodes)).split())
        seconds = time.perf_counter() - start
        target = ""
        if episodes == 1_000_000:
            target = f"<= 500 MB {'met' if peak <= 500 else 'MISSED'}"
        rows.append([f"{episodes:,}", f"{peak:.0f}", f"{written:.1f}", f"{seconds:.1f}", target])
    return Table(
        "Memory",
        "`run` of local search into a folder, 10x10, 100 iterations, one job, in a fresh process: "
        "the most resident memory, what it wrote, and seconds from starting Python.",
        ("episodes", "peak MB", "written MB", "seconds", "target"),
        rows,
    )


def catalogues(settings: Sequence[tuple[int, int]], repeats: int) -> Table:
    """Seconds to make a catalogue of segments by complexity; done once per setting, then kept."""
    rows = []
    for side, steps in settings:
        spent = best_of(partial(make, "cyclic", Torus(side, side), steps), repeats)
        count = draws(steps)
        each = spent / count * 1e9
        rows.append([f"{side}x{side}, {steps}", f"{count:,}", f"{spent:.2f}", f"{each:,.0f}"])
    return Table(
        "Making a catalogue",
        "Compiled, in this process, one core; made once for a setting and kept on disk.",
        ("grid, iterations", "draws", "seconds", "ns a draw"),
        rows,
    )
