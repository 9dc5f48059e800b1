"""Rows of `calibrate` about courses: what is said of minds that learn nothing, and of learners.

Simulated lives share an error within a course, as exercises that one life of a mind goes through
do. Every function takes a generator and a number of repeats, and returns (wrong, total).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from allminds.course import Course
from allminds.inference.intervals import of_mean
from allminds.inference.units import Values
from allminds.statistics.calibration import Kind, Row
from allminds.statistics.calibration.one_mind import counted, misses
from allminds.statistics.courses import Design, Lives, over_courses
from allminds.statistics.learning import Change, What, changes_of, corrected_changes
from allminds.statistics.reaching import crossing

Generator = np.random.Generator
Counts = tuple[int, int]
SIZES = (2, 8, 20)  # courses
COURSE = "test=6,test=6,k=15..20,train=9,test,again=1,test,again=2,train=6,k=15..20,test,again=1"
SAID: dict[What, str] = {
    "learning": "learns, by tests", "practice": "learns, in training", "transfer": "transfers",
    "forgetting": "forgets", "speed": "gets faster",
}  # fmt: skip
SCALE = (-1.0, 1.0)
MINDS = 3  # that carry in one study
SPREAD, NOISE = 0.1, 0.3  # standard deviations between courses and between exercises


DESIGN = Design(Course.of(COURSE), "simulated")  # two kinds of tests, two of training


def drawn(rng: Generator, courses: int, gain: float = 0.0, noise: float = NOISE) -> Lives:
    """Simulate the courses of a mind, whose scores on trained kinds are `gain` higher afterwards.

    Tests of the same exercises share what the exercise is worth; each play has noise of its own.
    """
    shape = (courses, len(DESIGN.course))
    worth = rng.normal(0, noise, shape)
    learnt = np.zeros(shape[1])
    for number, phase in enumerate(DESIGN.course.phases):
        where = DESIGN.positions(number)
        if phase.again:
            worth[:, where] = worth[:, DESIGN.positions(DESIGN.root(number))]
        if phase.role == "test" and DESIGN.kind(number) in DESIGN.kinds_before(number):
            learnt[where] = gain
    life = rng.normal(0, SPREAD, (courses, 1)) * (noise > 0)
    score = np.clip(life + worth + learnt + rng.normal(0, noise, shape), -1, 1)
    first = np.clip(score + rng.normal(0, noise, shape), -1, 1)
    level = np.tile(np.arange(shape[1]) % 3.0, (courses, 1))
    nothing = np.full(shape, np.nan)
    return Lives(
        "mind", True, score, score, first, nothing, level, nothing, False, SCALE, SCALE, True,
        np.arange(courses),
    )  # fmt: skip


def changes(minds: list[Lives]) -> list[Change]:
    """Compute the changes that are printed for the minds of one study."""
    found = [
        change
        for n, one in enumerate(minds)
        for change in changes_of("", replace(one, mind=str(n)), DESIGN)
    ]
    return corrected_changes(found)


def simulate_nothing(rng: Generator, repeats: int, *, what: What, courses: int) -> Counts:
    """Count the studies of minds that learn nothing in which a change of this kind is claimed."""
    wrong = 0
    for _ in range(repeats):
        found = changes([drawn(rng, courses) for _ in range(MINDS)])
        wrong += any(one.found.sign for one in found if one.what == what)
    return wrong, repeats


def simulate_alike(rng: Generator, repeats: int, *, failed: bool, courses: int) -> Counts:
    """Count claims about minds whose scores never vary, or who failed every exercise."""
    wrong = 0
    for _ in range(repeats):
        one = drawn(rng, courses, noise=0.0)
        lowest = np.full_like(one.score, -1.0)
        if failed:
            one = replace(one, score=lowest, reward=lowest, first_half=lowest, fails_too_often=True)
        wrong += any(one.found.sign or one.found.verdict == "equivalent" for one in changes([one]))
    return wrong, repeats


def simulate_change(rng: Generator, repeats: int, *, courses: int, gain: float) -> Counts:
    """Count the 95 % intervals of a gain that miss it."""

    def wrong() -> Iterator[bool | None]:
        for _ in range(repeats):
            found = changes([drawn(rng, courses, gain, noise=0.2)])
            yield misses(next(one.found.interval for one in found if one.what == "learning"), gain)

    return counted(wrong())


def simulate_point(rng: Generator, repeats: int, *, courses: int) -> Counts:
    """Count the 95 % intervals of a point of a curve that miss its mean."""
    where = DESIGN.positions(0)

    def interval() -> tuple[float, float]:
        units = over_courses(drawn(rng, courses).score[:, where].mean(axis=1), -1.0, 1.0)
        assert units is not None
        return of_mean(units).interval()

    return counted(misses(interval(), 0.0) for _ in range(repeats))


def simulate_reached(
    rng: Generator, repeats: int, *, courses: int, goal: float, tests: int = 7
) -> Counts:
    """Count the 95 % intervals of the experience to a goal that miss it.

    Scores rise in straight pieces from 0 to .6; learners differ, and a goal of .7 is never reached.
    """
    x = np.concatenate([[0.0], 5 * 2.0 ** np.arange(tests - 1)])
    means: Values = 0.6 * (1 - np.exp(-x / 25))
    truth = float(np.interp(goal, means, x)) if goal <= means[-1] else np.inf

    def interval() -> tuple[float, float]:
        life = rng.normal(0, SPREAD, (courses, 1))
        made = means + life + rng.normal(0, 0.15, (courses, tests)) - goal
        low, high = crossing(x, np.clip(made, -2, 2), (-2.0, 2.0))[1]
        return low, high

    return counted(not low <= truth <= high for low, high in (interval() for _ in range(repeats)))


def rows() -> list[Row]:
    """List the rows about courses."""
    made = [
        Row('Falsely "learns", "transfers", "forgets"', f"{words}, {n} courses", "verdict",
            partial(simulate_nothing, what=what, courses=n), cost=8)
        for what, words in SAID.items()
        for n in SIZES
    ]  # fmt: skip
    made += [
        Row('Falsely "learns", "transfers", "forgets"', f"anything, {words}, {n} courses",
            "verdict", partial(simulate_alike, failed=failed, courses=n), cost=8)
        for failed, words in ((False, "scores never vary"), (True, "all failed"))
        for n in SIZES
    ]  # fmt: skip
    kinds: dict[int, Kind] = {2: "bounded", 8: "bounded", 20: "approximate"}
    for n, kind in kinds.items():
        made += [
            Row("Score against experience", f"{n} courses", kind,
                partial(simulate_point, courses=n)),
            Row("Gain over a course", f"gain .2, {n} courses", kind,
                partial(simulate_change, courses=n, gain=0.2), cost=4),
        ]  # fmt: skip
    made += [
        Row("Experience to a share of the way", f"goal {goal}, {n} courses", "bounded",
            partial(simulate_reached, courses=n, goal=goal), cost=40)
        for goal in (0.3, 0.5, 0.7)
        for n in SIZES
    ]  # fmt: skip
    return made
