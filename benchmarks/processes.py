"""What only a fresh process shows: the first result, cold and warm, and the memory of a run."""

from __future__ import annotations

import itertools
import os
import resource
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

EVALUATE = """
import sys
sys.argv = ["allminds", "evaluate", "lambda-star", "--mind", sys.argv[1], "--out", sys.argv[2],
            "--episodes", sys.argv[3]]
from allminds.cli import main
main()
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


def processor_seconds(code: str, *arguments: str, cache: Path | None = None) -> float:
    """What a fresh interpreter and all processes that it starts cost, of all cores together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(code, *arguments, cache=cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_result(repeats: int) -> Table:
    """Processor seconds of `allminds evaluate lambda-star`, cold and warm, beside pandas."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = itertools.count()

        def once(mind: str, episodes: int, cache: str) -> float:
            out = f"{folder}/run-{next(numbers)}"
            return processor_seconds(EVALUATE, mind, out, str(episodes), cache=Path(folder, cache))

        cold = min(once("local-search", 1000, f"cold-{n}") for n in range(repeats))
        warm = min(once("local-search", 1000, "cold-0") for _ in range(repeats))
        pandas = min(processor_seconds("import pandas") for _ in range(repeats))
        learner = [once("q-learning", 22, "kernels") for _ in range(2)]
        large = [once("local-search", 100_000, cache) for cache in ("large", "kernels")]

    def row(what: str, caches: str, spent: float, most: float = 0) -> list[str]:
        met = spent <= most * pandas
        aim = f"<= {most:g} x pandas {'met' if met else 'MISSED'}" if most else ""
        return [what, caches, f"{spent:.2f}", f"{spent / pandas:.2f}", aim]

    return Table(
        "First result",
        "Processor seconds (all processes and cores together) of `allminds evaluate lambda-star`, "
        "from starting Python to a table and a saved run, floor and ceiling included; 10x10, 50 "
        "iterations. With nothing kept, only the learner compiles, which has kernels only.",
        ("what", "caches", "seconds", "times `import pandas`", "target"),
        [
            row("local-search, 1,000 episodes", "none", cold, 6),
            row("local-search, 1,000 episodes", "kept", warm, 1.6),
            row("q-learning, 22 episodes", "none", learner[0]),
            row("q-learning, 22 episodes", "kept", learner[1]),
            row("local-search, 100,000 episodes", "none", large[0]),
            row("local-search, 100,000 episodes", "kept (those of q-learning)", large[1]),
            row("only `import pandas`", "", pandas),
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
