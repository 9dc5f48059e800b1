"""A run killed twenty times at random moments, and resumed until it is done: the same bits?

.venv/bin/python benchmarks/faults.py --kills 20 --seed 7
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from measure import Table
from rich.console import Console

from allminds.runs.run import How, run
from allminds.runs.store import RunFolder

TESTS = Path(__file__).parents[1] / "tests"
sys.path += [str(TESTS / "faults"), str(TESTS / "administration")]
from killing import killed, make_plan, parts  # noqa: E402 - found by the line above
from test_run import same  # noqa: E402 - the same


def killing(kills: int, seed: int) -> Table:
    """Kill and resume; stops with an AssertionError unless the tables are the same bits."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        path, plan = make_plan(folder, 1 + kills // 4)
        start = time.perf_counter()
        found = killed(path, folder / "killed", kills, seed)
        seconds = time.perf_counter() - start
        unbroken = run(plan, folder / "unbroken", How(jobs=1))
        same(unbroken, RunFolder.open(folder / "killed"))
        rows, total = len(unbroken.records()), parts(folder / "killed")
    return Table(
        "A run killed again and again",
        f"`allminds run` and `--resume` with SIGKILL at moments of seed {seed}; then records, "
        "curves, traces and summary are compared with those of an unbroken run.",
        ("kills", "records", "parts", "parts there at each kill", "seconds", "the same bits"),
        [[str(len(found)), f"{rows:,}", str(total), " ".join(map(str, found)), f"{seconds:.0f}",
          "yes"]],
    )  # fmt: skip


def main() -> None:
    """Kill, and print what came of it."""
    parser = argparse.ArgumentParser(description="Kill a run and resume it, again and again.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    console = Console()
    table = killing(given.kills, given.seed)
    table.show(console if console.is_terminal else Console(width=180))


if __name__ == "__main__":
    main()
