"""The benchmark: ratios against named baselines, measured in one run on one machine.

    python benchmarks/run.py [--quick] [--write]

Nothing here is asserted but that all ways of playing give the same scores, to the bit. Times
differ between machines and between runs; the quickest of several timings is shown.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bridges
import cells
import cluster
import groups
import growth
import install
import levin
import limits
import matrices
import matrices_drawing
import processes
import ratios
import report
import social
from measure import Effort, Table
from rich.console import Console

from allminds.instruments.lambda_star.fast.arrays import LANES
from allminds.runs.engine import BLOCK

README = Path(__file__).with_name("README.md")

TEXT = """\
# Benchmarks

Ratios in one run on one machine against named baselines; never a timed assertion. Times on
another machine, or on this one while it is busy, will differ, and so will ratios, if less: in
runs on a busy machine of two cores they differed by up to a third. Every time is the quickest of
several, taken in turns with the others.

    make bench                                       # in nine minutes; rewrites this page
    .venv/bin/python benchmarks/run.py --quick       # rougher, in a minute or two

The web server has commands of its own, with their figures in `docs/reliability.md`:

    .venv/bin/python benchmarks/load.py              # 200 people at once, on two databases
    .venv/bin/python benchmarks/participants.py      # 40 simulated people, and who is careless
    .venv/bin/python benchmarks/server_faults.py     # the same while servers are killed
    .venv/bin/python benchmarks/history.py           # requests and replies checked, in trouble
    .venv/bin/python benchmarks/faults.py            # runs that are killed and resumed
    .venv/bin/python benchmarks/nasty.py             # 1,000 nasty command lines; see its docstring

## What is compared

- **kernel**: `form(...).play` as the runner calls it, {block:,} exercises at a time (learners
  {lanes:,}), warm, one thread; worlds are not remembered from one call to the next.
- **plain loop**: `allminds.episode.Plain`, the readable reference, with its observations, checks,
  records and watch over minds; {few} exercises at a time (learners 1), or {fewer} with ten minds.
- **lean loop** (`naive.py`): plain Python written by hand for this one experiment, without our
  contract, with tables made beforehand.
- **NumPy** (`vectorised.py`): arrays over episodes, a loop over steps; the best of the batch
  sizes {sizes} is shown ({batch} for Q-learning, whose tables take at most 128 MB).
- **limit** (`limits.py`, `limit/`): small C++ programs of our own, made by the system's compiler
  if there is one; scores, learning and the rewards of every step are the same bits.
- **act, act_many, compiled** (`own.py`): a user's own mind that no kernel knows: in lock-step,
  one call an episode or one for all of them, or as a Numba function; as many exercises at a time
  as the runner gives it.

Included on every side: picking the segments, the ways of Good and Evil with their collisions,
starting cells, random words, rewards, the score of every mind in every exercise. Not included on
any side: the catalogue of segments, which is made once (timed apart below), compiling, and the
baselines' look-up tables. The plain loop and ours also make complexity columns and learning;
ours also sums rewards step by step; the lean loop and NumPy make scores alone.

Before a mind is timed, all its ways play some exercises (as many as one call of the slower way
has above), and the benchmark stops unless their scores are the same bits. The targets of the
plain loop are those of the project's plan; the lean loop has none, and is shown so that nobody
need take the plain one on trust.

## Last results

`{command}`, {date}: {seconds:.0f} s in all.

{machine}

"""


def machine() -> str:
    """The processor and the versions that matter."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        pass
    packages = ("allminds", "numpy", "numba", "llvmlite")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    return (
        f"{name}, {os.cpu_count()} cores, {platform.system()}; "
        f"Python {platform.python_version()}, {versions}."
    )


def sections(quick: bool) -> Iterator[Table]:
    """Every table, one after the other as it is ready."""
    if quick:
        effort = Effort(0.2, 2)
        yield ratios.kernels(effort, (1,), ("random", "local-search", "q-learning"))
        yield ratios.own_minds(effort, (1,))
        yield groups.protocols(effort, (10,), ("stigmergy", "crowd", "tree"))
        yield limits.limit(5, (1,))
        yield levin.published(hardest=11)
        yield cells.paper_tests(effort)
        yield matrices.symbolic(effort)
        yield matrices_drawing.drawing(effort)
        yield social.matrix_games(effort)
        yield processes.catalogues(((10, 100),), 1)
        yield processes.first_result(1)
        yield processes.memory((1_000_000,))
        yield install.sizes()
        yield install.imports(3)
        yield report.large_runs((100_000,))
        yield cluster.overhead(0.05)
        yield from growth.growth(Effort(0.05, 1), quick)
    else:
        effort = Effort(0.2, 4)
        yield ratios.kernels(effort, (1, 10))
        yield ratios.own_minds(effort, (1, 10))
        yield groups.protocols(Effort(0.2, 2), (10, 20))
        yield groups.growth(Effort(0.1, 1), (1, 2, 5, 10, 20, 50))
        yield limits.limit()
        yield levin.published()
        yield levin.certified()
        yield levin.fresh()
        yield cells.paper_tests(effort)
        yield matrices.symbolic(effort)
        yield matrices_drawing.drawing(effort)
        yield social.matrix_games(effort)
        yield social.pettingzoo(effort)
        yield bridges.copies(effort)
        yield bridges.single(effort)
        yield processes.catalogues(((5, 50), (10, 50), (10, 100), (20, 100)), 2)
        yield processes.first_result(2)
        yield processes.memory()
        yield install.sizes()
        yield install.imports(7)
        yield report.large_runs()
        yield cluster.overhead(0.3)
        yield from growth.growth(Effort(0.2, 2), quick)


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description="Ratios against named baselines, in one run.")
    parser.add_argument("--quick", action="store_true", help="rougher and quicker")
    parser.add_argument("--write", action="store_true", help=f"rewrite {README.name}")
    given = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    console.print(machine(), highlight=False)
    start, found = time.perf_counter(), []
    for table in sections(given.quick):
        table.show(console)
        found.append(table)
    seconds = time.perf_counter() - start
    console.print(f"{seconds:.0f} s in all", highlight=False)
    if given.write:
        text = TEXT.format(
            block=BLOCK,
            lanes=LANES,
            few=ratios.FEW[1],
            fewer=ratios.FEW[10],
            sizes=" and ".join(f"{size:,}" for size in ratios.NUMPY_SIZES[False]),
            batch=ratios.NUMPY_SIZES[True][0],
            command=" ".join(["python benchmarks/run.py", *sys.argv[1:]]),
            date=datetime.date.today().isoformat(),
            seconds=seconds,
            machine=machine(),
        )
        README.write_text(text + "\n".join(table.markdown() for table in found), encoding="utf-8")
        console.print(f"written to {README}", highlight=False)


if __name__ == "__main__":
    main()
