"""How the time of an agent-step grows with the grid, the number of minds and the iterations.

Also how a run on disk grows with its episodes: time, memory, bytes and files, with the largest run
killed in the middle and resumed:

    .venv/bin/python benchmarks/growth.py                        # up to 10^7, some two minutes
    .venv/bin/python benchmarks/growth.py --most 100000000       # and 10^8, a quarter of an hour
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measure import Contender, Effort, Table, costs
from ratios import LEARNERS, SEED, lambda_star, ours
from rich.console import Console

from allminds import registry
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.instruments.lambda_star.fast.arrays import LANES
from allminds.runs.engine import BLOCK

MINDS = ("random", "local-search", "expert", "q-learning")


def growth(effort: Effort, quick: bool) -> list[Table]:
    """One setting is changed at a time; the others are 10x10, one mind, 100 iterations."""
    grids, agents, iterations = [5, 10, 20, 50], [1, 2, 5, 10, 20], [20, 50, 100, 200, 500]
    if quick:
        grids, agents, iterations = grids[::3], agents[::2], iterations[::2]
    return [
        _along("grid", grids, effort, lambda n: {"rows": n, "cols": n}, "{0}x{0}"),
        _along("minds", agents, effort, lambda n: {"agents": n}),
        _along("iterations", iterations, effort, lambda n: {"iterations": n}),
    ]


def _along(
    what: str, values: Sequence[int], effort: Effort, settings: Any, label: str = "{0}"
) -> Table:
    return Table(
        f"Growth with {what}",
        "Kernels, one core: ns an agent-step, worlds made anew and included, the catalogue not. "
        "For q-learning the 100 sessions of training are in the figure.",
        (what, *MINDS),
        [[label.format(value), *_per_step(settings(value), effort)] for value in values],
    )


def _per_step(settings: dict[str, Any], effort: Effort) -> list[str]:
    tool = lambda_star(**settings)
    entered = {}
    for who in MINDS:
        way = form(tool, registry.line_up(who, tool), Watch())
        way.play(SEED, 0, 1, 0)  # makes the catalogue, and compiles what is not yet compiled
        entered[who] = Contender(ours(way), LANES if who in LEARNERS else BLOCK)
    steps = tool.settings.iterations * tool.settings.agents
    each = [seconds / steps * 1e9 for seconds in costs(entered, effort).values()]
    return [f"{ns:.3g}" if ns < 100 else f"{ns:,.0f}" for ns in each]


# ---------------------------------------------------------------- runs of many episodes

EPISODES = (10**6, 4 * 10**6, 10**7, 10**8)
CHILD = """
import json, resource, sys
from allminds import How, Plan, Test, resume, run
where, n = sys.argv[1], int(sys.argv[2])
if n:
    test = Test(instrument="lambda-star", minds=["local-search"], episodes=n)
    run(Plan(tests=[test], traces=0), where, How(2))
else:
    resume(where, How(2))
spent = resource.getrusage(resource.RUSAGE_SELF)
below = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = spent.ru_utime + spent.ru_stime + below.ru_utime + below.ru_stime
print(json.dumps([seconds, spent.ru_maxrss * 1024]))
"""


class Cost(NamedTuple):
    """What a run of `episodes` took; memory is the greatest of its process."""

    episodes: int
    clock: float
    processor: float
    memory: float
    size: float
    files: int


def runs(most: int) -> Table:
    """Play runs of more and more episodes, foretell each by the two before it, and kill one."""
    sizes = [n for n in EPISODES if n <= most]
    with tempfile.TemporaryDirectory() as place:
        folder, rows, known = Path(place) / "run", [], list[Cost]()
        _run(Path(place) / "first", EPISODES[0] // 2)  # kernels compiled
        for n in sizes:
            shutil.rmtree(folder, ignore_errors=True)
            known.append(_run(folder, n))
            rows.append(_row(f"{n:,}", known[-1], known[:-1]))
        again, kept = _killed(Path(place) / "killed", sizes[-1])
        same = "the same bits" if _sums(folder) == _sums(Path(place) / "killed") else "OTHER BITS"
        rows.append(_row(f"killed after {kept:,} episodes, and resumed: {same}", again, []))
    return Table(
        "Runs of many episodes",
        "lambda-star, 10x10, 50 iterations, local search alone, no traces, 2 jobs, each in a "
        "process of its own; in brackets what the line through the two runs before foretells, "
        "and by how much that is wrong.",
        ("episodes", "seconds", "processor s", "peak MB", "MB on disk", "files"),
        rows,
    )


def _run(folder: Path, episodes: int) -> Cost:
    """Play a run, or finish one that is there if `episodes` is 0."""
    start = time.perf_counter()
    made = subprocess.run(
        [sys.executable, "-c", CHILD, folder, str(episodes)], check=True, capture_output=True
    )
    clock = time.perf_counter() - start
    processor, memory = json.loads(made.stdout.splitlines()[-1])
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Cost(episodes, clock, processor, memory, size, len(files))


def _killed(folder: Path, episodes: int) -> tuple[Cost, int]:
    """Kill a run when half of it is on disk, and finish it; also count what was kept."""
    whole = [sys.executable, "-c", CHILD, folder, str(episodes)]
    with subprocess.Popen(whole, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None and 2 * (kept := _reached(folder)) < episodes:
            time.sleep(0.05)
        child.kill()
    if child.returncode >= 0:
        raise SystemExit("the run was over before it could be killed")
    return _run(folder, 0), kept


def _reached(folder: Path) -> int:
    """Return the last exercise that is on disk, by the names of the parts."""
    names = [path.stem for path in folder.glob("records/part-*.parquet")]
    return max((int(name.rpartition("-")[2]) for name in names), default=0)


def _sums(folder: Path) -> list[Any]:
    """Sum up records and scores, without the seconds that they took."""
    parts = sorted((folder / "records").iterdir())
    records = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in parts]
    (test,) = json.loads((folder / "summary.json").read_text())["tests"]
    return [records, [{**row, "seconds": 0} for row in test["results"]]]


def _row(name: str, cost: Cost, before: Sequence[Cost]) -> list[str]:
    clock, *values = cost[1:]
    shown = [f"{clock:.1f}"]
    for k, value in enumerate(values, 2):
        scale = 1e6 if k in (3, 4) else 1.0
        text = f"{value / scale:,.1f}" if k < 5 else f"{value:,.0f}"
        if len(before) >= 2:
            one, other = before[-2:]
            slope = (other[k] - one[k]) / (other.episodes - one.episodes)
            line = other[k] + slope * (cost.episodes - other.episodes)
            text += f" ({line / scale:,.0f}, {line / value - 1:+.0%})"
        shown.append(text)
    return [name, *shown]


def main() -> None:
    """Print the table of runs."""
    parser = argparse.ArgumentParser(description="How a run grows with its episodes.")
    parser.add_argument("--most", type=int, default=10**7, help="episodes of the largest run")
    table = runs(parser.parse_args().most)
    console = Console()
    table.show(console if console.is_terminal else Console(width=180))


if __name__ == "__main__":
    main()
