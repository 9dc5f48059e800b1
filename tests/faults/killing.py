"""A run from the command line, killed again and again at moments that a seed chooses."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from allminds.runs.plan import Plan

# the command line itself, with parts so small that a short run has many of them
COMMAND = """
import sys
from allminds.runs import engine
from allminds.cli import main
engine.Sitting.chunk = lambda self: 60
sys.argv = ["allminds", "run", *sys.argv[1:], "--jobs", "2"]
main()
"""
LONGEST = 120.0  # seconds a run may take to write its next parts
AGREEABLE = """
def agreeable(seen, random):
    best = max(seen.rewards)
    return 1 + (random.below(9) if best == 0 else seen.rewards.index(best))
"""


def make_plan(folder: Path, tests: int) -> tuple[Path, Plan]:
    """A plan with a mind in Python of its own, in a file; 20 parts a test."""
    import tomllib

    mind = folder / "agreeable.py"
    mind.write_text(AGREEABLE)
    lines = ["seed = 4", "traces = 100"]
    for number in range(tests):
        lines += [
            "[[tests]]", 'instrument = "lambda-star"', "episodes = 600",
            f'minds = ["random", "q-learning(sessions=3)", "{mind}:agreeable"]',
            f"settings = {{rows = 5, cols = 5, iterations = {20 + number}}}",
        ]  # fmt: skip
    path = folder / "plan.toml"
    path.write_text("\n".join(lines))
    return path, Plan.model_validate(tomllib.loads(path.read_text()))


def parts(out: Path) -> int:
    """How many parts are there."""
    return len(list((out / "records").glob("*.parquet"))) if out.exists() else 0


def killed(plan: Path, out: Path, kills: int, seed: int) -> list[int]:
    """Start a run, kill it, resume it, kill it…; then finish it. The parts there at every kill."""
    rng, found = random.Random(seed), []
    said = plan.with_suffix(".said")
    while True:
        begun = (out / "plan.json").exists()
        words = ["--resume", str(out)] if begun else [str(plan), "--out", str(out)]
        with open(said, "w") as file:  # a pipe would wait for the processes that a kill orphans
            child = subprocess.Popen(
                [sys.executable, "-c", COMMAND, *words], stdout=subprocess.DEVNULL, stderr=file
            )
        if len(found) < kills and _strike(child, out, rng):
            found.append(parts(out))
            continue
        if child.wait(LONGEST):
            raise RuntimeError(f"the run ended with {child.returncode}: {said.read_text()}")
        return found


def _strike(child: subprocess.Popen[bytes], out: Path, rng: random.Random) -> bool:
    """Kill a run: sometimes while it starts, mostly while it writes; whether it was in time."""
    if rng.random() < 0.2:
        time.sleep(3 * rng.random())
    else:
        target, deadline = parts(out) + rng.randint(0, 3), time.monotonic() + LONGEST
        while child.poll() is None and parts(out) < target and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(0.05 * rng.random())
    child.kill()
    return child.wait() == -signal.SIGKILL
