"""Learners in Λ after a course of 5,100 steps, beside minds that carry nothing, and their price.

    .venv/bin/python benchmarks/carrying.py          # three lives a mind, in a few minutes

Two courses of 170 exercises with 30 steps, then 50 test exercises, each taken by a copy of the mind
as it then stands. In `one world` the space and the pattern are always the same, and only the
starting cells and which symbol is Good change. In `fresh worlds` every exercise has a space of 4
cells and 3 actions of its own, with a pattern of its own. A life is a seed: other exercises, other
random words.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from copy import deepcopy
from statistics import fmean, stdev
from typing import Any

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.seeding import MINDS, Random, key
from allminds.episode import Episode

TRAIN, TEST, STEPS = 170, 50, 30
COURSES: dict[str, dict[str, Any]] = {
    "one world": {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "2210", "steps": STEPS},
    "fresh worlds": {"form": "general", "cells": 4, "actions": 3, "steps": STEPS},
}
LEARNT = "explore=0.5,decay=0.998,carry=true"
NAMES = (
    "random", "q-learning", "model-based", "mc-aixi", f"mc-aixi({LEARNT})",
    "policy-gradient", "policy-gradient(carry=true)", "optimum",
)  # fmt: skip


def played(tool: Instrument, mind: Any, seed: int, i: int) -> float:
    """Play one exercise, and return its score."""
    episode, words = Episode(tool.exercise(seed, i)), Random(key(seed, i, MINDS))
    mind.begin(episode.task(0, future=mind.traits.sees == "future"))
    while episode.record is None:
        episode.play({0: mind.act(episode.waiting[0], words.at_step(episode.step))})
        done = episode.record is not None
        mind.learn(episode.rewards[-1][0], None if done else episode.observe(0), done)
    score = episode.record.score[0]
    assert score is not None
    return score


def life(tool: Instrument, name: str, seed: int) -> tuple[float, float]:
    """Train a mind if it carries, and test it: its mean score, and milliseconds a step."""
    mind: Any = registry.subject(name, tool).make()
    begun = time.perf_counter()
    trained = TRAIN if mind.traits.carries else 0
    for i in range(trained):
        played(tool, mind, seed, i)
    scores = [played(tool, deepcopy(mind), seed, TRAIN + i) for i in range(TEST)]
    took = time.perf_counter() - begun
    return fmean(scores), 1000 * took / (STEPS * (trained + TEST))


def row(tool: Instrument, name: str, seeds: Sequence[int]) -> str:
    """Play all lives of a mind, and write its row: ± is one standard error over lives."""
    played_ = [life(tool, name, seed) for seed in seeds]
    scores = [score for score, _ in played_]
    spread = f" ± {stdev(scores) / len(scores) ** 0.5:.3f}" if len(scores) > 1 else ""
    return f"| `{name}` | {fmean(scores):.3f}{spread} | {fmean(ms for _, ms in played_):.2f} |"


def main() -> None:
    """Print a table for each course."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=3)
    seeds = range(1, 1 + parser.parse_args().lives)
    for course, settings in COURSES.items():
        tool = registry.make_instrument("lambda", settings)
        print(f"\n{course}\n\n| mind | score | ms a step |\n| --- | ---: | ---: |")
        for name in NAMES:
            print(row(tool, name, seeds), flush=True)


if __name__ == "__main__":
    main()
