"""Rows of `calibrate` about two minds or more: intervals of differences, and false verdicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from allminds.inference.estimates import Plays, Rule, difference
from allminds.inference.verdict import MARGIN, Difference, corrected
from allminds.statistics.calibration import Row
from allminds.statistics.calibration.one_mind import (
    ADAPTIVE,
    REWARDS,
    SHARES,
    SIZES,
    Draw,
    beta,
    counted,
    kind_of,
    misses,
    plays,
    spread,
    staircase,
)

Values = NDArray[np.float64]
Generator = np.random.Generator
Minds = Callable[[Generator], list[Plays]]  # the plays of some minds in one simulated study
PAIR = ("first", "second")


def difference_of(one: Plays, other: Plays, rule: Rule, unpaired: bool = False) -> Difference:
    """Compute the difference that is printed for two minds."""
    found = difference(one, other, rule, PAIR, unpaired=unpaired)
    assert found is not None
    return found


def missed(
    rng: Generator, repeats: int, draw: Minds, rule: Rule, truth: float, unpaired: bool = False
) -> tuple[int, int]:
    """Count the 95 % intervals of a difference that miss it."""

    def wrong() -> Iterator[bool | None]:
        for _ in range(repeats):
            one, other = draw(rng)
            yield misses(difference_of(one, other, rule, unpaired).interval, truth)

    return counted(wrong())


def falsely(
    rng: Generator, repeats: int, draw: Minds, rule: Rule, words: tuple[str, ...],
    against_first: bool = False, unpaired: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """Count the studies in which some pair of minds is given one of these words.

    All pairs are asked for, or each mind against the first; Holm's correction is over them.
    """
    wrong = 0
    for _ in range(repeats):
        minds = draw(rng)
        pairs = itertools.combinations(minds, 2)
        asked = [(one, minds[0]) for one in minds[1:]] if against_first else list(pairs)
        found = corrected([difference_of(*pair, rule, unpaired) for pair in asked])
        wrong += any(one.verdict in words for one in found)
    return wrong, repeats


DIFFERENT = ("different", "different, but smaller than δ")
EQUIVALENT = ("equivalent", "different, but smaller than δ")


def compared(rng: Generator, repeats: int, minds: int, n: int) -> tuple[int, int]:
    """Count the results tables of equal minds in which `compare` calls some pair different."""
    import pandas as pd

    from allminds.statistics.comparison import compare

    wrong = 0
    for _ in range(repeats):
        ease = rng.random(n)
        frame = pd.DataFrame(
            {
                "exercise": [f"e{i}" for i in range(n)] * minds,
                "mind": np.repeat([f"mind {m}" for m in range(minds)], n),
                "score": np.concatenate([rng.random(n) < ease for _ in range(minds)]).astype(float),
            }
        )
        found = compare(frame, rng, draws=20)
        wrong += any(one.verdict in DIFFERENT for one in found.differences)
    return wrong, repeats


# ---------------------------------------------------------------- pairs of minds


def paired_hits(rng: Generator, n: int, gain: float, loss: float) -> list[Plays]:
    """Simulate hits: the first alone right in `gain`, the second alone in `loss`, else both."""
    u = rng.random(n)
    return [
        plays((u >= loss).astype(float)),
        plays(((u < loss) | (u >= loss + gain)).astype(float)),
    ]


def paired_scores(rng: Generator, n: int, gap: float, concentration: float) -> list[Plays]:
    """Simulate rewards that share what an exercise is worth; the first's mean is `gap` higher."""
    ease = rng.uniform(-0.3, 0.3, n)
    made = []
    for mean in (gap / 2, -gap / 2):
        m = (ease + mean + 1) / 2
        made.append(plays(2 * rng.beta(m * concentration, (1 - m) * concentration) - 1))
    return made


def sparse(rng: Generator, n: int, up: float, down: float, size: float) -> list[Plays]:
    """Simulate rewards of 0 but on a few exercises, where the first has `size` more or less."""
    u = rng.random(n)
    return [plays(np.where(u < up, size, np.where(u < up + down, -size, 0.0))), plays(np.zeros(n))]


def lopsided(rng: Generator, n: int, often: float) -> list[Plays]:
    """Simulate two minds with equal means but lopsided differences.

    The first has a little more on most exercises, and much less on the others.
    """
    small = 0.9 * (1 - often) / often
    gap = np.where(rng.random(n) < often, small, -0.9)
    return [plays(gap * rng.uniform(0.9, 1.1, n)), plays(np.zeros(n))]


def paired_levels(rng: Generator, n: int, k: int) -> list[Plays]:
    """Simulate equal minds on an adaptive test of n administrations each."""
    made = []
    for _ in range(k):
        xi = staircase(rng, n, 8.0).ravel()
        made.append(plays(np.zeros(len(xi)), xi))
    return made


def stratified_hits(rng: Generator, n: int, k: int) -> list[Plays]:
    """Simulate equal minds on the C-test, all on the same items."""
    level = spread(rng, n, np.arange(7.0, 16.0))
    chance = 1 / (1 + np.exp((level - 11) / 2))
    return [plays((rng.random(n) < chance).astype(float), level) for _ in range(k)]


def alone(rng: Generator, draws: tuple[Draw, Draw], sizes: tuple[int, int]) -> list[Plays]:
    """Simulate two minds that have different exercises."""
    n, m = sizes
    return [plays(draws[0](rng, n)), plays(draws[1](rng, m), item=np.arange(n, n + m))]


def _right(p: float) -> Draw:
    return lambda rng, n: (rng.random(n) < p).astype(float)


# ---------------------------------------------------------------- families of minds


def equal_hits(rng: Generator, n: int, k: int, p: float) -> list[Plays]:
    """Simulate k minds that are right in `p` of the same exercises, some of which are harder."""
    ease = rng.uniform(-1, 1, n) * min(p, 1 - p)
    return [plays((rng.random(n) < p + ease).astype(float)) for _ in range(k)]


def equal_scores(rng: Generator, n: int, k: int) -> list[Plays]:
    """Simulate k minds with the same distribution of rewards on the same exercises."""
    ease = rng.uniform(-0.5, 0.5, n)
    return [plays(np.clip(ease + rng.normal(0, 0.2, n), -1, 1)) for _ in range(k)]


def at_margin_scores(rng: Generator, n: int, k: int, noise: float) -> list[Plays]:
    """Simulate a baseline, and k minds whose mean reward is exactly δ higher."""
    base = rng.uniform(-0.5, 0.4, n)
    return [plays(base), *(plays(base + MARGIN + rng.uniform(-noise, noise, n)) for _ in range(k))]


def at_margin_hits(rng: Generator, n: int, k: int, loss: float) -> list[Plays]:
    """Simulate a baseline right in half, and k minds that gain δ + loss and lose `loss`."""
    base = rng.random(n) < 0.5
    up, down = 2 * (MARGIN + loss), 2 * loss
    made = [plays(base.astype(float))]
    for _ in range(k):
        u = rng.random(n)
        made.append(plays(np.where(base, u >= down, u < up).astype(float)))
    return made


def alike(rng: Generator, n: int, k: int) -> list[Plays]:
    """Simulate minds that do the same on every exercise."""
    score = (rng.random(n) < 0.5).astype(float)
    return [plays(score) for _ in range(k)]


def failing_alike(rng: Generator, n: int) -> list[Plays]:
    """Simulate two minds whose means are δ apart only because the second fails in 10 %."""
    score, failed = rng.uniform(-0.2, 0.2, n), rng.random(n) < 0.1
    return [plays(score), plays(np.where(failed, score - MARGIN / 0.1, score), failed=failed)]


# ---------------------------------------------------------------- the rows


def rows() -> list[Row]:
    """List all rows about two minds or more."""
    return _intervals() + _no_difference() + _no_equivalence()


def _intervals() -> list[Row]:
    made = [
        Row(
            "Difference of paired hits", f"{n} exercises, gains {gain:g}, loses {loss:g}",
            kind_of(n, loss > 0.05),
            partial(missed, draw=partial(paired_hits, n=n, gain=gain, loss=loss), rule=SHARES,
                    truth=gain - loss),
            cost=2,
        )
        for n in SIZES
        for gain, loss in ((0.1, 0.1), (0.3, 0.1), (0.03, 0.0), (0.5, 0.02), (0.03, 0.03))
    ]  # fmt: skip
    made += [
        Row(
            "Difference of paired scores", f"{n} exercises, {name}", kind_of(n),
            partial(missed, draw=partial(paired_scores, n=n, gap=gap, concentration=size),
                    rule=REWARDS, truth=gap),
            cost=2,
        )
        for n in SIZES
        for name, gap, size in (
            ("no gap", 0.0, 4.0), ("gap .4", 0.4, 4.0), ("gap .4, all or nothing", 0.4, 0.5),
        )
    ]  # fmt: skip
    made += [
        Row(
            "Difference of paired scores", f"{n} exercises, {name}", "bounded",
            partial(missed, draw=draw, rule=REWARDS, truth=truth), cost=2,
        )
        for n in (*SIZES, 100)
        for name, truth, draw in (
            ("few differ: .01 up", 0.01, partial(sparse, n=n, up=0.01, down=0.0, size=1.0)),
            ("few differ: .05 up", 0.05, partial(sparse, n=n, up=0.05, down=0.0, size=1.0)),
            ("few differ: .1 up, by .5", 0.05, partial(sparse, n=n, up=0.1, down=0.0, size=0.5)),
            ("few differ: .02 up, .02 down", 0.0,
             partial(sparse, n=n, up=0.02, down=0.02, size=1.0)),
            ("a little more in .9, much less in .1", 0.0, partial(lopsided, n=n, often=0.9)),
        )
    ]  # fmt: skip
    cases: dict[str, tuple[tuple[Draw, Draw], float, bool]] = {
        "hits of .5 and .5": ((_right(0.5), _right(0.5)), 0.0, True),
        "hits of .97 and .5": ((_right(0.97), _right(0.5)), 0.47, False),
        "hits of .03 and .03": ((_right(0.03), _right(0.03)), 0.0, False),
        "scores of .5 and .3": ((beta(0.5, 2), beta(0.3, 2)), 0.2, True),
        "scores of .2 and .2, all or nothing": ((beta(0.2, 0.5), beta(0.2, 0.5)), 0.0, False),
        "hits of .5 and scores of .97": ((_right(0.5), beta(0.97, 5)), -0.47, False),
    }
    return made + [
        Row(
            "Difference on other exercises", f"{n} and {m} exercises, {name}",
            kind_of(min(n, m), approximate),
            partial(missed, draw=partial(alone, draws=draws, sizes=(n, m)), rule=SHARES,
                    truth=truth, unpaired=True),
            cost=8 if "scores" in name else 2,
        )
        for n, m in ((5, 5), (10, 10), (20, 20), (10, 50), (200, 200))
        for name, (draws, truth, approximate) in cases.items()
    ]  # fmt: skip


def _null(name: str, draw: Minds, rule: Rule = SHARES, cost: float = 1.0) -> Row:
    said = partial(falsely, draw=draw, rule=rule, words=DIFFERENT)
    return Row('Falsely "different"', name, "verdict", said, cost=cost)


def _no_difference() -> list[Row]:
    made = []
    for k in (2, 3, 5, 10, 20):
        for n in (5, 10, 20, 50) if k < 20 else (20,):
            cost = max(1.0, k * (k - 1) / 4)
            name = f"{k} equal minds, {n} exercises"
            made += [
                _null(f"{name}, hits of .5", partial(equal_hits, n=n, k=k, p=0.5), SHARES, cost),
                _null(f"{name}, scores", partial(equal_scores, n=n, k=k), REWARDS, cost),
            ]
    weighted = Rule(strata="k", weighted=True, low=0.0, high=1.0)
    for n in (5, 7, 10, 20, 50, 200):
        made += [
            _null(f"2 equal minds, {n} exercises, hits of .97",
                  partial(equal_hits, n=n, k=2, p=0.97)),
            _null(f"2 equal minds, {n} items of the C-test",
                  partial(stratified_hits, n=n, k=2), weighted),
            _null(f"2 minds, {n} exercises, few differ: .02 up, .02 down",
                  partial(sparse, n=n, up=0.02, down=0.02, size=1.0), REWARDS),
            _null(f"2 minds, {n} exercises, a little more in .9, much less in .1",
                  partial(lopsided, n=n, often=0.9), REWARDS),
            _null(f"2 minds, {n} exercises, a little more in .7, more less in .3",
                  partial(lopsided, n=n, often=0.7), REWARDS),
        ]  # fmt: skip
    made += [
        _null(
            f"3 equal minds, adaptive, {n} administrations",
            partial(paired_levels, n=n, k=3),
            ADAPTIVE,
        )
        for n in (2, 5, 20)
    ]
    made += [
        Row('Falsely "different"', f"2 equal minds on {n} exercises of their own, {name}",
            "verdict",
            partial(falsely, draw=partial(alone, draws=(draw, draw), sizes=(n, n)), rule=SHARES,
                    words=DIFFERENT, unpaired=True),
            cost=8 if "scores" in name else 1)
        for n in (5, 10, 20, 50)
        for name, draw in (("hits of .5", _right(0.5)), ("hits of .97", _right(0.97)),
                           ("scores of .2", beta(0.2, 0.5)))
    ]  # fmt: skip
    made.append(
        Row('Falsely "different"', "3 equal minds, 20 exercises, by the whole of compare",
            "verdict", partial(compared, minds=3, n=20), cost=20)
    )  # fmt: skip
    return made


def _same(name: str, draw: Minds, rule: Rule, cost: float = 1.0) -> Row:
    said = partial(falsely, draw=draw, rule=rule, words=EQUIVALENT, against_first=True)
    return Row('Falsely "equivalent", δ = .05', name, "verdict", said, cost=cost)


def _no_equivalence() -> list[Row]:
    made = []
    for n in (5, 10, 20, 50, 200, 1000):
        made += [
            _same(f"a mind at δ, {n} exercises, scores that vary by ±{noise:g}",
                  partial(at_margin_scores, n=n, k=1, noise=noise), REWARDS)
            for noise in (0.001, 0.1, 0.4)
        ]  # fmt: skip
        made += [
            _same(f"a mind at δ, {n} exercises, hits, only gains",
                  partial(at_margin_hits, n=n, k=1, loss=0.0), SHARES),
            _same(f"a mind at δ, {n} exercises, hits, loses .02",
                  partial(at_margin_hits, n=n, k=1, loss=0.02), SHARES),
            _same(f"a mind at δ, {n} exercises, gains 1 in .05",
                  partial(sparse, n=n, up=MARGIN, down=0.0, size=1.0), REWARDS),
            _same(f"a mind at δ, {n} exercises, gains .5 in .1",
                  partial(sparse, n=n, up=2 * MARGIN, down=0.0, size=0.5), REWARDS),
            _same(f"a mind at δ by failing in .1, {n} exercises",
                  partial(failing_alike, n=n), REWARDS),
        ]  # fmt: skip
    for n in (20, 200):
        made += [
            _same(
                f"ten minds at δ, {n} exercises, scores",
                partial(at_margin_scores, n=n, k=10, noise=0.1),
                REWARDS,
                5,
            ),
            _same(
                f"ten minds at δ, {n} exercises, hits",
                partial(at_margin_hits, n=n, k=10, loss=0.0),
                SHARES,
                5,
            ),
        ]
    for n in (5, 20, 200, 1000):
        said = partial(falsely, draw=partial(alike, n=n, k=3), rule=SHARES,
                       words=(*DIFFERENT, "equivalent"))  # fmt: skip
        made.append(
            Row("No unit differs", f"3 minds, {n} exercises: any word but undecided", "verdict",
                said, nominal=0.0, most=0.0)
        )  # fmt: skip
    return made
