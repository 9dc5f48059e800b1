"""Rows of `calibrate` about the answer on a run: its verdicts, its falls, its weakest tests.

A simulated run has some tests, on each of which all minds have equal means or a known difference;
the answer is computed from it as for a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from allminds.inference import MARGIN, Rule, estimate
from allminds.inference.verdict import ALPHA
from allminds.statistics.answer import Answer, Measured, Outcome, answer
from allminds.statistics.calibration import Row
from allminds.statistics.calibration.one_mind import counted, misses, plays
from allminds.statistics.falls import fall

if TYPE_CHECKING:
    from allminds.contracts import Instrument

Values = NDArray[np.float64]
Generator = np.random.Generator
Counts = tuple[int, int]
Scores = Callable[[Generator, int, int], Values]  # of so many minds (rows) on so many exercises
FLOOR = "floor"
LEVELS = np.arange(2.0, 13.0)  # complexities of a curve


def measured(label: str, scores: Mapping[str, Values], yours: Sequence[str]) -> Measured:
    """Make a test of no instrument from scores between 0 and 1; nan is a failure, counted as 0."""
    rule = Rule(low=0.0, high=1.0)
    tool = SimpleNamespace(name=label, adaptive=False, length=None, rule=lambda: rule)
    made = {
        mind: plays(np.nan_to_num(values), failed=np.isnan(values))
        for mind, values in scores.items()
    }
    rows = {}
    for mind, one in made.items():
        found = estimate(one, rule)
        rows[mind] = {
            "mind": mind, "score": found.score, "ci95": found.ci95, "normalised": found.score,
            "normalised_ci95": found.ci95, "end": FLOOR if mind == FLOOR else None,
            "ranked": found.ranked, "failed": found.failed, "missing": found.missing,
            "episodes": found.episodes,
        }  # fmt: skip
    return Measured(label, cast("Instrument", tool), rows, made, yours=tuple(yours))


# ---------------------------------------------------------------- verdicts


def answered(rng: Generator, n: int, draw: Scores, tests: int, own: int, rivals: int) -> Answer:
    """Simulate a run, and answer about `own` minds, or without any about the best fair ones."""
    names = [f"mine {k}" for k in range(own)] + [f"rival {k}" for k in range(rivals)] + [FLOOR]

    def test(number: int) -> Measured:
        scores = dict(zip(names, draw(rng, len(names), n), strict=True))
        return measured(f"test {number}", scores, names[:own])

    return answer([test(number) for number in range(tests)])


def falsely_said(
    rng: Generator, repeats: int, *, draw: Scores, n: int, words: Sequence[Outcome], tests: int,
    own: int, rivals: int,
) -> Counts:  # fmt: skip
    """Count the runs in whose answer some comparison has one of these outcomes."""
    wrong = 0
    for _ in range(repeats):
        found = answered(rng, n, draw, tests, own, rivals)
        wrong += any(
            on.outcome(rival) in words
            for mind in found.minds
            for on in mind.tests
            for rival in on.differences
        )
    return wrong, repeats


def equal_hits(rng: Generator, minds: int, n: int, p: float = 0.5) -> Values:
    """Simulate hits of equal minds; an easy exercise is easy for all of them."""
    ease = rng.beta(4 * p, 4 * (1 - p), n)
    return (rng.random((minds, n)) < ease).astype(float)


def equal_scores(rng: Generator, minds: int, n: int) -> Values:
    """Simulate scores of equal minds that share what an exercise is worth."""
    ease = rng.uniform(0.3, 0.7, n)
    return np.asarray(rng.beta(4 * ease, 4 * (1 - ease), (minds, n)))


def without_variance(rng: Generator, minds: int, n: int) -> Values:
    """Simulate equal minds that all get one score on every exercise, whichever it is."""
    return np.full((minds, n), rng.random())


def all_failed(_: Generator, minds: int, n: int) -> Values:
    """Simulate minds that fail all exercises."""
    return np.full((minds, n), np.nan)


def apart_by_margin(rng: Generator, minds: int, n: int) -> Values:
    """Simulate scores of minds each of which is δ better than the one before it."""
    ease = rng.uniform(0.3, 0.4, n)
    means = ease + MARGIN * np.arange(minds)[:, None]
    return np.asarray(rng.beta(40 * means, 40 * (1 - means)))


DRAWS: dict[str, Scores] = {
    "hits": equal_hits,
    "hits near 1": partial(equal_hits, p=0.97),
    "scores": equal_scores,
    "no variance": without_variance,
    "all failed": all_failed,
}


# ---------------------------------------------------------------- weakest tests


def lowest_missed(rng: Generator, repeats: int, n: int, tests: int) -> Counts:
    """Count the 95 % intervals of the lowest of equal places that miss it."""

    def wrong() -> Iterator[bool | None]:
        for _ in range(repeats):
            found = answered(rng, n, equal_scores, tests, 1, 0)
            yield misses(found.minds[0].weakest[0].row["normalised_ci95"], 0.5)

    return counted(wrong())


# ---------------------------------------------------------------- falls

Curve = Callable[[Generator, Values], Values]  # scores at these complexities
FLAT: dict[str, Curve] = {
    "hits, right in .03": lambda rng, k: (rng.random(len(k)) < 0.03).astype(float),
    "hits, right in .5": lambda rng, k: (rng.random(len(k)) < 0.5).astype(float),
    "hits, right in .97": lambda rng, k: (rng.random(len(k)) < 0.97).astype(float),
    "scores": lambda rng, k: np.clip(0.5 + 0.15 * rng.normal(size=len(k)), 0, 1),
    "lopsided scores": lambda rng, k: np.clip(0.1 * rng.exponential(size=len(k)), 0, 1),
    "more varied where harder": lambda rng, k: np.clip(
        0.5 + 0.015 * k * rng.normal(size=len(k)), 0, 1
    ),
    "no variance": lambda _, k: np.full(len(k), 0.5),
    "all failed": lambda _, k: np.zeros(len(k)),
    "scores that rise": lambda rng, k: np.clip(
        0.2 + 0.03 * k + 0.15 * rng.normal(size=len(k)), 0, 1
    ),
}


def falsely_falls(
    rng: Generator, repeats: int, curve: Curve, k: Values, cluster: NDArray[np.int64] | None = None
) -> Counts:
    """Count the curves that are said to fall though none does."""
    item = np.arange(len(k))
    wrong = 0
    for _ in range(repeats):
        shared = np.zeros(len(k))
        if cluster is not None:
            shared = 0.2 * rng.normal(size=int(cluster.max()) + 1)[cluster]
        scores = np.clip(curve(rng, k) + shared, 0, 1)
        found = fall(k, scores, item, item if cluster is None else cluster, (0.0, 1.0))
        wrong += found is not None and found.p < ALPHA
    return wrong, repeats


# ---------------------------------------------------------------- rows

MINE = 'The answer about a mind: falsely "better" or "worse"'
TIES = 'The answer about a mind: falsely "ties with", δ = .05'
FALLS = "Falls of the score with complexity"
WEAKEST = "The lowest of several places: outside what is claimed"


def rows() -> list[Row]:
    """List the rows on verdicts of the answer, falls, and the lowest places."""
    found = []
    for n in (2, 20, 50):
        for name, draw in DRAWS.items():
            run = partial(
                falsely_said, draw=draw, n=n, words=("better", "worse"), tests=2, own=2, rivals=2
            )
            found.append(Row(MINE, f"2 minds and 2 rivals, {n} exercises: {name}", "verdict", run,
                             cost=4))  # fmt: skip
    for name in ("hits", "scores"):
        run = partial(
            falsely_said, draw=DRAWS[name], n=20, words=("better", "worse"), tests=2, own=0,
            rivals=4,
        )  # fmt: skip
        found.append(Row(MINE, f"the best of 4 fair minds, 20 exercises: {name}", "verdict", run,
                         cost=4))  # fmt: skip
    for n in (2, 20, 200):
        run = partial(
            falsely_said, draw=apart_by_margin, n=n, words=("equivalent",), tests=2, own=1, rivals=2
        )
        found.append(
            Row(TIES, f"{n} exercises, every rival δ or more away", "verdict", run, cost=4)
        )
    run = partial(
        falsely_said, draw=all_failed, n=20, words=("better", "worse", "equivalent"), tests=2,
        own=1, rivals=2,
    )  # fmt: skip
    never = "20 exercises, all failed: no verdict of any kind"
    found.append(Row(TIES, never, "verdict", run, nominal=0.0, cost=4, most=0.0))
    return found + _fall_rows() + _weakest_rows()


def _fall_rows() -> list[Row]:
    found = []
    two = np.array([2.0, 3.0])
    for name, curve in FLAT.items():
        run = partial(falsely_falls, curve=curve, k=two)
        found.append(Row(FALLS, f"2 exercises: {name}", "verdict", run))
        for per in (1, 3, 12):
            run = partial(falsely_falls, curve=curve, k=np.repeat(LEVELS, per))
            found.append(Row(FALLS, f"11 complexities, {per} of each: {name}", "verdict", run))
    across = np.repeat(np.arange(20), len(LEVELS))
    run = partial(falsely_falls, curve=FLAT["scores"], k=np.tile(LEVELS, 20), cluster=across)
    found.append(Row(FALLS, "20 clusters, each of all complexities", "verdict", run))
    inside = np.repeat(np.arange(22), 10)
    run = partial(falsely_falls, curve=FLAT["scores"], k=np.repeat(LEVELS, 20), cluster=inside)
    found.append(Row(FALLS, "2 clusters of 10 at each complexity", "verdict", run))
    return found


def _weakest_rows() -> list[Row]:
    return [
        Row(
            WEAKEST, f"the lowest of {tests} equal places, {n} exercises each", "outside",
            partial(lowest_missed, n=n, tests=tests), cost=4,
        )
        for tests in (4, 12)
        for n in (20, 100)
    ]  # fmt: skip
