"""Rows of `calibrate` about people: against a program, and their reaction times."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from allminds.statistics.calibration import Row
from allminds.statistics.calibration.one_mind import counted, misses
from allminds.statistics.comparison.crossed import crossed
from allminds.statistics.comparison.reaction import QUANTILES, ReactionTimes, reaction_times

Values = NDArray[np.float64]
Generator = np.random.Generator
Counts = tuple[int, int]
MEDIAN = QUANTILES.index(0.5)


def against_program(
    people: Values, program: Values, k: Values | None = None
) -> tuple[float, float] | None:
    """Compute the interval of people's scores [person, item] minus a program's [item].

    With complexities k of the items, it is that of scores weighted by them.
    """
    count, items = people.shape
    who = ["people"] * (count * items) + ["program"] * items
    person = [*np.repeat(np.arange(count), items).astype(str), *[None] * items]
    item = np.tile(np.arange(items), count + 1).tolist()
    score = np.append(people.ravel(), program)
    strata = None if k is None else np.tile(k, count + 1)
    found = crossed(
        score, who, person, item, "people", "program", 0.0, 1.0, strata, k is not None
    )  # fmt: skip
    return found.interval


def simulate_people(
    rng: Generator, repeats: int, *, people: int, items: int, spread: float, hits: bool,
    kinds: bool = False, weighted: bool = False,
) -> Counts:  # fmt: skip
    """Count the 95 % intervals of people against a program that miss their true difference, 0.

    People differ normally, or are of two `kinds`. Items may be `weighted` by 7 to 15 in turn.
    """
    k = (7 + np.arange(items) % 9).astype(float) if weighted else None

    def interval() -> tuple[float, float] | None:
        ease = rng.uniform(-0.2, 0.2, items)
        own = rng.normal(size=(people, 1))
        own = spread * (np.sign(own) if kinds else np.clip(own, -2, 2))
        mean, same = 0.5 + own + ease, 0.5 + ease
        if hits:
            scores = (rng.random((people, items)) < mean).astype(float)
            return against_program(scores, (rng.random(items) < same).astype(float), k)
        scores = mean + rng.uniform(-0.1, 0.1, (people, items))
        return against_program(scores, same + rng.uniform(-0.1, 0.1, items), k)

    return counted(misses(interval(), 0.0) for _ in range(repeats))


def simulate_near_ceiling(
    rng: Generator, repeats: int, *, people: int, items: int, level: float, hits: bool
) -> Counts:
    """Count the same where most scores are high.

    Chances of hits differ on the logit scale, people and items by ±1. Scores of an item are Beta
    with a + b = 4, for people around `level`, who differ by ±.02, and for the program around .99.
    """
    from scipy.special import expit, logit

    def right(own: Values, ease: Values) -> Values:
        return np.asarray(expit(logit(level) + own + ease))

    draws = np.random.default_rng(0)
    many = draws.normal(size=(2, 200_000))
    truth = float((right(*many) - right(np.zeros(1), many[1])).mean())
    if not hits:
        eases = draws.beta(4 * level, 4 - 4 * level, 200_000)
        truth = float(np.clip(eases + 0.02 * many[0], 0, 1).mean()) - 0.99

    def interval() -> tuple[float, float] | None:
        if not hits:
            own = rng.normal(0, 0.02, (people, 1))
            scores = np.clip(rng.beta(4 * level, 4 - 4 * level, items) + own, 0, 1)
            return against_program(scores, rng.beta(3.96, 0.04, items))
        ease, own = rng.normal(size=items), rng.normal(size=(people, 1))
        scores = (rng.random((people, items)) < right(own, ease)).astype(float)
        program = rng.random(items) < right(np.zeros(1), ease)
        return against_program(scores, program.astype(float))

    return counted(misses(interval(), truth) for _ in range(repeats))


# ---------------------------------------------------------------- reaction times


def times(log: Values, **columns: object) -> ReactionTimes:
    """Summarise log times [person, item]; `columns` are by row, person after person."""
    import pandas as pd

    people, items = log.shape
    labels = np.repeat([f"p{n}" for n in range(people)], items)
    frame = pd.DataFrame({
        "mind": labels, "person": labels, "kind": "person", "score": 0.5,
        "exercise": np.tile([f"e{n}" for n in range(items)], people),
        "rt_ms": np.exp(log.ravel()), **columns,
    })  # fmt: skip
    found = reaction_times(frame)
    assert found is not None
    return found


def simulate_median(
    rng: Generator, repeats: int, *, people: int, choices: int, skewed: bool
) -> Counts:
    """Count the intervals of the median time that miss the geometric mean of all medians.

    Persons differ by ±.3 on the log scale, choices by ±.5; skewed ones have an exponential tail.
    """
    tail = np.random.default_rng(0)
    middle = 0.0
    if skewed:
        middle = float(np.median(_skewed(tail, (1, 400_000))))

    def interval() -> tuple[float, float] | None:
        own = rng.normal(7, 0.3, (people, 1))
        noise = _skewed(rng, (people, choices)) if skewed else (
            rng.normal(0, 0.5, (people, choices))
        )  # fmt: skip
        return times(own + noise).groups[0].intervals[MEDIAN]

    return counted(misses(interval(), float(np.exp(7 + middle))) for _ in range(repeats))


def _skewed(rng: Generator, shape: tuple[int, int]) -> Values:
    """Draw logarithms of a normal time with an exponential tail (ex-Gaussian)."""
    return np.asarray(
        np.log(np.maximum(rng.normal(1, 0.15, shape), 0.2) + rng.exponential(1, shape))
    )


def simulate_ratio(
    rng: Generator, repeats: int, *, people: int, items: int, slope: float, arms: bool
) -> Counts:
    """Count the intervals of a ratio that miss the true one, 1.

    It is that of a complexity, which takes some people longer than others by ±`slope`, or that of
    two arms of people, which some items take longer in one arm.
    """
    arm = np.arange(people)[:, None] % 2.0

    def interval() -> tuple[float, float] | None:
        x = rng.normal(size=items)
        log = rng.normal(7, 0.3, (people, 1)) + rng.normal(0, 0.15, items)
        log = log + rng.normal(0, 0.4, (people, items))
        if arms:
            log = log + arm * rng.normal(0, slope, items)
            found = times(log, source=np.repeat(np.where(arm[:, 0] > 0, "b", "a"), items))
        else:
            found = times(log + rng.normal(0, slope, (people, 1)) * x, k=np.tile(x, people))
        return found.ratios[0].interval

    return counted(misses(interval(), 1.0) for _ in range(repeats))


# ---------------------------------------------------------------- the rows


def rows() -> list[Row]:
    """List all rows about people."""
    made = [
        Row("People against a program", f"{people} people × {items} items, "
            f"{'hits' if hits else 'scores'}, people differ by ±{spread:g}", "bounded",
            partial(simulate_people, people=people, items=items, spread=spread, hits=hits), cost=4)
        for people, items in ((2, 10), (5, 20), (10, 7), (20, 5))
        for spread in (0.0, 0.25)
        for hits in (True, False)
    ]  # fmt: skip
    made += [
        Row("People against a program", f"{people} people × {items} items weighted by k, hits, "
            f"people differ by ±{spread:g}", "bounded",
            partial(simulate_people, people=people, items=items, spread=spread, hits=True,
                    weighted=True), cost=4)
        for people, items in ((5, 18), (10, 9))
        for spread in (0.0, 0.25)
    ]  # fmt: skip
    made += [
        Row("People against a program, near the ceiling", f"{people} people × {items} items, "
            f"{'hits' if hits else 'scores'}, around {level:g}", "bounded",
            partial(simulate_near_ceiling, people=people, items=items, level=level, hits=hits),
            cost=4)
        for people, items in ((5, 7), (20, 7), (10, 20))
        for level in (0.9, 0.97)
        for hits in (True, False)
    ]  # fmt: skip
    made += [
        Row("Median reaction time", f"{people} people, {choices} choices each, "
            f"{'skewed' if skewed else 'log-normal'}",
            "approximate" if people >= 20 else "bounded",
            partial(simulate_median, people=people, choices=choices, skewed=skewed), cost=4)
        for people, choices in ((8, 10), (8, 40), (20, 10), (20, 40), (50, 20))
        for skewed in (False, True)
    ]  # fmt: skip
    made += [
        Row("Ratio of reaction times", f"{people} people × {items} items, "
            f"{'two arms' if arms else 'complexity'}, differing by ±{slope:g}", "bounded",
            partial(simulate_ratio, people=people, items=items, slope=slope, arms=arms), cost=8)
        for people, items in ((2, 10), (5, 20), (10, 7), (20, 20))
        for arms in (False, True)
        for slope in (0.0, 0.2)
        if not (arms and people == 2)
    ]  # fmt: skip
    return made + [
        Row("People of two kinds: outside what is claimed", f"{people} people × {items} items, "
            f"{'hits' if hits else 'scores'}, people at ±.25", "outside",
            partial(simulate_people, people=people, items=items, spread=0.25, hits=hits,
                    kinds=True), cost=4)
        for people, items in ((2, 20), (5, 20))
        for hits in (True, False)
    ]  # fmt: skip
