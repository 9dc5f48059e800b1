"""Learners in Λ after a course of 5,100 steps, beside minds that carry nothing, and their price.

    .venv/bin/python benchmarks/carrying.py          # five lives a mind, in some minutes

A course has 170 training exercises of 30 steps, then 50 test exercises, each of which a copy of the
mind takes as it then stands. In `one world` the space and the pattern are always the same, and only
the starting cells and which symbol is Good change. In `fresh worlds` every exercise has a space of
4 cells and 3 actions of its own, with a pattern of its own. A life is one course, with exercises
and random words of its own; minds that do not carry take the same exercises untrained.
"""

from __future__ import annotations

import argparse
import time
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.watch import Watch
from allminds.episode import play_on

COURSE, STEPS = "train=170,test=50", 30
WORLDS: dict[str, dict[str, Any]] = {
    "one world": {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "2210", "steps": STEPS},
    "fresh worlds": {"form": "general", "cells": 4, "actions": 3, "steps": STEPS},
}
LEARNT = "explore=0.5,decay=0.998,carry=true"
NAMES = (
    "random", "q-learning", "q-learning(carry=true)", "sarsa", "sarsa(carry=true)", "model-based",
    "model-based(carry=true)", "policy-gradient", "policy-gradient(carry=true)", "mc-aixi",
    f"mc-aixi({LEARNT})", "optimum",
)  # fmt: skip


def life(tool: Instrument, name: str, number: int) -> tuple[float, float]:
    """Give a mind one course: its mean score in the tests, and milliseconds a step in all."""
    line_up = registry.line_up(name, tool)
    first, begun = number * tool.sitting, time.perf_counter()
    records = [
        record for _, record in play_on(tool, line_up, 1, first, first + tool.sitting, Watch())
    ]
    took = time.perf_counter() - begun
    tests = [one for one in records if one.lesson is not None and one.lesson.role == "test"]
    assert all(one.status == ("ok",) for one in records)
    return fmean(one.score[0] or 0.0 for one in tests), 1000 * took / (STEPS * len(records))


def row(tool: Instrument, name: str, lives: int) -> str:
    """Give a mind all its lives, and write its row: ± is half a 95 % interval over lives."""
    lived = [life(tool, name, number) for number in range(lives)]
    scores = [score for score, _ in lived]
    spread = ""
    if lives > 1:
        spread = f" ± {t.ppf(0.975, lives - 1) * stdev(scores) / lives**0.5:.3f}"
    return f"| `{name}` | {fmean(scores):.3f}{spread} | {fmean(ms for _, ms in lived):.2f} |"


def main() -> None:
    """Print a table for each course."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=5)
    lives = parser.parse_args().lives
    for which, settings in WORLDS.items():
        tool = registry.make_instrument("lambda", {**settings, "course": COURSE})
        print(f"\n{which}\n\n| mind | score | ms a step |\n| --- | ---: | ---: |")
        for name in NAMES:
            print(row(tool, name, lives), flush=True)


if __name__ == "__main__":
    main()
