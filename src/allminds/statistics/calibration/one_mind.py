"""Rows of `calibrate` about one mind: the interval of its score in worlds whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from allminds.inference.estimates import Plays, Rule, estimate, normalised
from allminds.statistics.calibration import Kind, Row

Values = NDArray[np.float64]
Generator = np.random.Generator
Draw = Callable[[Generator, int], Values]
SHARES = Rule(low=0.0, high=1.0)
REWARDS = Rule(low=-1.0, high=1.0)
SIZES = (5, 10, 20, 50, 200)
LEVELS = 22  # strata of Λ*
SERIES = np.arange(7.0, 16.0)  # the complexities k of the C-test


def plays(
    score: Values,
    stratum: Values | None = None,
    item: NDArray[np.int64] | None = None,
    cluster: NDArray[np.int64] | None = None,
    failed: NDArray[np.bool_] | None = None,
) -> Plays:
    """Build the plays of one mind; each is its own item, and cluster, unless told otherwise."""
    n = len(score)
    item = np.arange(n) if item is None else item
    return Plays(
        item, item if cluster is None else cluster, np.zeros(n) if stratum is None else stratum,
        np.asarray(score, float), np.zeros(n, bool) if failed is None else failed,
        np.full(n, np.nan),
    )  # fmt: skip


def misses(interval: tuple[float, float] | None, truth: float) -> bool | None:
    """Check whether an interval misses the truth; return None if there is no interval."""
    if interval is None:
        return None
    return not interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def counted(found: Iterator[bool | None]) -> tuple[int, int]:
    """Count the wrong statements, and all that were made."""
    made = [one for one in found if one is not None]
    return sum(made), len(made)


def kind_of(n: int, approximate: bool = True) -> Kind:
    """Return what is promised of an interval over n units."""
    return "approximate" if approximate and n >= 20 else "bounded"


def missed(
    rng: Generator, repeats: int, draw: Callable[[Generator], Plays], rule: Rule, truth: float
) -> tuple[int, int]:
    """Count the intervals of a score that miss the truth."""
    return counted(misses(estimate(draw(rng), rule).ci95, truth) for _ in range(repeats))


# ---------------------------------------------------------------- hits


def hits(rng: Generator, repeats: int, n: int, p: float) -> tuple[int, int]:
    """Count the intervals of hits in one stratum that miss the truth.

    Equal counts have equal intervals, so each is computed once.
    """
    counts, times = np.unique(rng.binomial(n, p, repeats), return_counts=True)
    wrong = [
        misses(estimate(plays((np.arange(n) < count).astype(float)), SHARES).ci95, p)
        for count in counts
    ]
    return int(np.dot(np.array(wrong, float), times)), repeats


CURVES: dict[str, Callable[[Values], Values]] = {
    "right in half of all": lambda k: np.full(len(k), 0.5),
    "right in .03": lambda k: np.full(len(k), 0.03),
    "right in .97": lambda k: np.full(len(k), 0.97),
    "falling with k from .88 to .12": lambda k: 1 / (1 + np.exp((k - 11) / 2)),
    "all right to k = 11, all wrong above": lambda k: (k <= 11).astype(float),
    "all right to k = 11, then .25": lambda k: np.where(k <= 11, 1.0, 0.25),
}
WEIGHTED = Rule(strata="k", weighted=True, low=0.0, high=1.0)


def series(rng: Generator, n: int, curve: Callable[[Values], Values]) -> Plays:
    """Simulate items of the C-test, their complexities in turn from a random order."""
    k = spread(rng, n, SERIES)
    return plays((rng.random(n) < curve(k)).astype(float), k)


def spread(rng: Generator, n: int, strata: Values) -> Values:
    """Spread n exercises over complexities: each once, in random order, before any comes again."""
    times = -(-n // len(strata))
    return np.concatenate([rng.permutation(strata) for _ in range(times)])[:n]


# ---------------------------------------------------------------- scores between two bounds


def beta(mean: float, concentration: float) -> Draw:
    """Build a draw of Beta scores; a small concentration a + b is all or nothing."""
    a, b = mean * concentration, (1 - mean) * concentration

    def draw(rng: Generator, n: int) -> Values:
        return rng.beta(a, b, n)

    return draw


def _two_slots(rng: Generator, n: int) -> Values:
    return np.asarray(rng.beta(0.1, 0.4, (n, 2)).mean(axis=1))


def _nearly_hits(p: float) -> Draw:
    def draw(rng: Generator, n: int) -> Values:
        right = rng.random(n) < p
        return np.where(right, 1 - 0.002 * rng.random(n), 0.002 * rng.random(n))

    return draw


def _rarely(p: float, usual: float, other: float, noise: float = 0.0) -> Draw:
    def draw(rng: Generator, n: int) -> Values:
        score = np.where(rng.random(n) < p, other, usual)
        return score + noise * rng.uniform(-1, 1, n) if noise else score

    return draw


BOUNDED: dict[str, tuple[Draw, float, Rule, bool]] = {  # draw, truth, rule, approximate from n = 20
    "mean .03, all or nothing": (beta(0.03, 0.5), 0.03, SHARES, False),
    "mean .03, alike": (beta(0.03, 20), 0.03, SHARES, False),
    "mean .2, all or nothing": (beta(0.2, 0.5), 0.2, SHARES, False),
    "mean .2, alike": (beta(0.2, 20), 0.2, SHARES, False),
    "mean .5, all or nothing": (beta(0.5, 0.5), 0.5, SHARES, True),
    "mean .5, spread evenly": (beta(0.5, 2), 0.5, SHARES, True),
    "mean .97, all or nothing": (beta(0.97, 0.5), 0.97, SHARES, False),
    "mean .97, alike": (beta(0.97, 20), 0.97, SHARES, False),
    "two minds' average, mean .2": (_two_slots, 0.2, SHARES, False),
    "hits of .03 with a trace of noise": (_nearly_hits(0.03), 0.03 * 0.998 + 0.001, SHARES, False),
    "hits of .5 with a trace of noise": (_nearly_hits(0.5), 0.5, SHARES, True),
    "nearly always a draw: 0, but 1 in .03": (_rarely(0.03, 0, 1), 0.03, REWARDS, False),
    "nearly always a draw: 0, but 1 in .07": (_rarely(0.07, 0, 1), 0.07, REWARDS, False),
    "nearly always about 0, but 1 in .05": (
        _rarely(0.05, 0, 0.95, 0.05), 0.95 * 0.05, REWARDS, False,
    ),
    "always the same score": (_rarely(0.0, 0.4, 1), 0.4, SHARES, False),
}  # fmt: skip


# ---------------------------------------------------------------- strata


def _levels(rng: Generator, n: int, means: Values, concentration: float) -> Plays:
    """Simulate rewards of Λ*: exercises spread over 22 complexities, each with its own mean."""
    which = spread(rng, n, np.arange(float(LEVELS)))
    m = (means[which.astype(int)] + 1) / 2
    return plays(2 * rng.beta(m * concentration, (1 - m) * concentration) - 1, which)


STRATIFIED: dict[str, Values] = {
    "the same at all complexities": np.full(LEVELS, 0.2),
    "falling from .6 to 0": np.linspace(0.6, 0.0, LEVELS),
    "falling steeply from .95 to -.1": np.where(np.arange(LEVELS) < 6, 0.95, -0.1),
}


# ---------------------------------------------------------------- repeats, clusters, failures


def repeated(rng: Generator, items: int, times: int, mean: float, alike: float) -> Plays:
    """Simulate a random mind on items that are not equally hard, each given some times."""
    p = rng.beta(mean * alike, (1 - mean) * alike, items)
    score = (rng.random((items, times)) < p[:, None]).astype(float)
    return plays(score.ravel(), item=np.repeat(np.arange(items), times))


def clustered(rng: Generator, sizes: Values, mean: float, alike: float, binary: bool) -> Plays:
    """Simulate exercises that come in tests (or shifts of one series), which share an error.

    `sizes` are the numbers of exercises of the tests, in random order.
    """
    p = rng.beta(mean * alike, (1 - mean) * alike, len(sizes))
    cluster = np.repeat(np.arange(len(sizes)), rng.permutation(sizes).astype(int))
    own = p[cluster]
    score = (
        (rng.random(len(own)) < own).astype(float)
        if binary
        else rng.beta(4 * own + 1e-3, 4 - 4 * own + 1e-3)
    )
    return plays(score, cluster=cluster)


def failing(rng: Generator, n: int, p: float, fails: float) -> tuple[Plays, float]:
    """Simulate a mind that fails at random, and its score if it had not; failures are wrong."""
    right, failed = (rng.random(n) < p).astype(float), rng.random(n) < fails
    return plays(np.where(failed, 0.0, right), failed=failed), float(right.mean())


def outside_bounds(rng: Generator, repeats: int, n: int, p: float, fails: float) -> tuple[int, int]:
    """Count the mean scores without failures that lie outside the bounds printed for them."""

    def wrong() -> Iterator[bool | None]:
        for _ in range(repeats):
            made, without = failing(rng, n, p, fails)
            yield misses(estimate(made, SHARES).bounds, without)

    return counted(wrong())


# ---------------------------------------------------------------- normalised, levels


def between(
    rng: Generator,
    repeats: int,
    n: int,
    means: tuple[float, float, float],
    known: bool,
    binary: bool,
) -> tuple[int, int]:
    """Count the intervals of a normalised score that miss it; all minds share items."""
    floor, own, ceiling = means
    truth = (own - floor) / ((1.0 if known else ceiling) - floor)

    def one(p: float, ease: Values) -> Plays:
        chance = np.clip(p + ease, 0.0, 1.0)
        if binary:
            return plays((rng.random(n) < chance).astype(float))
        return plays(rng.beta(8 * chance + 1e-3, 8 - 8 * chance + 1e-3))

    def wrong() -> Iterator[bool | None]:
        reach = min(0.1, floor, 1 - ceiling)
        for _ in range(repeats):
            ease = rng.uniform(-reach, reach, n)
            top = 1.0 if known else one(ceiling, ease)
            found = normalised(one(own, ease), one(floor, ease), top, SHARES)
            yield None if found is None else misses(found[1], truth)

    return counted(wrong())


STEPS = 40  # exercises of one administration


def staircase(rng: Generator, administrations: int, ability: float) -> Values:
    """Simulate ξ[administration, exercise]: up by one after a success, down after a failure."""
    xi = np.full((administrations, STEPS), 5.0)
    for step in range(1, STEPS):
        success = rng.random(administrations) < 1 / (1 + np.exp(xi[:, step - 1] - ability))
        xi[:, step] = np.maximum(1.0, xi[:, step - 1] + np.where(success, 1.0, -1.0))
    return xi


def later_mean(xi: Values, score: Values) -> float:  # noqa: ARG001 - a rule's figure takes both
    """Average ξ over the second half of one administration."""
    return float(xi[STEPS // 2 :].mean())


ADAPTIVE = Rule(strata="xi", sitting=STEPS, figure=later_mean)


def level(rng: Generator, repeats: int, administrations: int, ability: float) -> tuple[int, int]:
    """Count the intervals of an adaptive test's level that miss its long-run mean."""
    truth = float(staircase(rng, 200_000, ability)[:, STEPS // 2 :].mean())

    def draw(rng: Generator) -> Plays:
        xi = staircase(rng, administrations, ability).ravel()
        return plays(np.zeros(len(xi)), xi)

    return missed(rng, repeats, draw, ADAPTIVE, truth)


# ---------------------------------------------------------------- the rows


def rows() -> list[Row]:
    """List all rows about one mind."""
    made = [
        Row(
            "Score of hits",
            f"{n} exercises, right in {p:g}",
            kind_of(n, 0 < p < 1),
            partial(hits, n=n, p=p),
        )
        for n in (*SIZES, 2)
        for p in (0.03, 0.2, 0.5, 0.97, 1.0)
    ]
    for name, curve in CURVES.items():
        truth = float((SERIES * curve(SERIES)).sum() / SERIES.sum())
        made += [
            Row(
                "Weighted score r̃ of the C-test", f"{n} items, {name}",
                kind_of(n, name.startswith(("right in half", "falling"))),
                partial(missed, draw=partial(series, n=n, curve=curve), rule=WEIGHTED, truth=truth),
            )
            for n in (5, 9, 20, 45, 90, 200)
        ]  # fmt: skip
    for name, (draw, truth, rule, approximate) in BOUNDED.items():
        made += [
            Row(
                "Mean of bounded scores", f"{n} exercises, {name}", kind_of(n, approximate),
                partial(missed, draw=partial(_drawn, draw=draw, n=n), rule=rule, truth=truth),
                cost=2,
            )
            for n in (*SIZES, *((100,) if "nearly" in name else ()))
        ]  # fmt: skip
    stratified = Rule(strata="K", low=-1.0, high=1.0)
    for name, means in STRATIFIED.items():
        made += [
            Row(
                "Mean over 22 strata, as in Λ*", f"{n} exercises, {name}", kind_of(n, n > LEVELS),
                partial(
                    missed, draw=partial(_levels, n=n, means=means, concentration=6.0),
                    rule=stratified, truth=float(means.mean()),
                ),
            )
            for n in (5, 10, 15, 22, 30, 44, 200)
        ]  # fmt: skip
    return made + _grouped() + _failing() + _scaled()


def _drawn(rng: Generator, draw: Draw, n: int) -> Plays:
    return plays(draw(rng, n))


def _grouped() -> list[Row]:
    made = [
        Row(
            "Items given several times", f"{items} items × {times}, mean {mean:g}",
            kind_of(items, mean == 0.5),
            partial(
                missed, draw=partial(repeated, items=items, times=times, mean=mean, alike=2.0),
                rule=SHARES, truth=mean,
            ),
        )
        for items in (5, 20, 50)
        for times in (1, 2, 10)
        for mean in (0.5, 0.9)
    ]  # fmt: skip
    tests = {f"{n} tests of seven": np.full(n, 7.0) for n in (2, 5, 10, 20, 50)} | {
        f"{n} series with 1 to 6 shifts": np.resize([1.0, 1, 1, 2, 3, 6], n) for n in (10, 20, 50)
    }
    return made + [
        Row(
            "Exercises that come in clusters",
            f"{name}, {'hits' if binary else 'scores'} of mean {mean:g}",
            kind_of(len(sizes), mean == 0.5),
            partial(
                missed, draw=partial(clustered, sizes=sizes, mean=mean, alike=3.0, binary=binary),
                rule=SHARES, truth=mean,
            ),
        )
        for name, sizes in tests.items()
        for binary in (True, False)
        for mean in (0.5, 0.9)
    ]  # fmt: skip


def _failing() -> list[Row]:
    section, made = "Failures count", []
    for n in SIZES:
        made += [
            Row(
                section, f"{n} exercises, right in .8 unless it fails, in {fails:g}", kind_of(n),
                partial(missed, rule=SHARES, truth=0.8 * (1 - fails),
                        draw=partial(_failing_plays, n=n, p=0.8, fails=fails)),
            )
            for fails in (0.03, 0.3)
        ]  # fmt: skip
        name = f"{n} exercises, the bounds hold the score without failures"
        said = partial(outside_bounds, n=n, p=0.8, fails=0.2)
        made.append(Row(section, name, "bounded", said, nominal=0.0, most=0.0))
    return made


def _failing_plays(rng: Generator, n: int, p: float, fails: float) -> Plays:
    return failing(rng, n, p, fails)[0]


def _scaled() -> list[Row]:
    places = {
        "half-way": (0.1, 0.5, 0.9),
        "near the floor": (0.1, 0.15, 0.9),
        "near the ceiling": (0.2, 0.75, 0.8),
        "floor and ceiling close": (0.2, 0.35, 0.5),
        "at the floor": (0.1, 0.1, 0.9),
    }
    made = [
        Row(
            "Normalised between floor and ceiling",
            f"{n} exercises, {'hits' if binary else 'scores'}, {name}"
            f"{', ceiling known' if known else ''}",
            kind_of(n, name == "half-way"),
            partial(between, n=n, means=means, known=known, binary=binary),
        )
        for n in (10, 20, 50, 200)
        for name, means in places.items()
        for known in (False, True)
        for binary in (True, False)
        if not (known and name != "half-way")
    ]
    return made + [
        Row(
            "Level of an adaptive test", f"{n} administrations, ability {ability:g}", kind_of(n),
            partial(level, administrations=n, ability=ability),
        )
        for n in (2, 3, 5, 10, 20)
        for ability in (1.0, 8.0)
    ]  # fmt: skip
