"""Rows of `calibrate` about other figures: curves, shares, reliability, ranks, plans.

Every `simulate_` function takes a generator and a number of repeats, and returns (wrong, total).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.core.errors import Error
from allminds.inference import Rule
from allminds.inference.intervals import t_interval
from allminds.inference.units import Units
from allminds.inference.verdict import paired
from allminds.statistics.accuracy.beyond import simulate_beyond
from allminds.statistics.calibration import Row
from allminds.statistics.calibration.one_mind import counted, misses
from allminds.statistics.comparison.effects import correlate, variance_shares
from allminds.statistics.comparison.ranks import rank_intervals
from allminds.statistics.curves import DifficultyCurve, Intervals, curve_intervals
from allminds.statistics.pilot import Spread
from allminds.statistics.reliability import reliability
from allminds.statistics.selection import SAME, against_best
from allminds.voting import correlated_majority

Values = NDArray[np.float64]
Generator = np.random.Generator
Counts = tuple[int, int]

SHAPES: dict[str, Callable[[Values], Values]] = {
    "guesser": lambda h: np.zeros(len(h)),
    "logistic": lambda h: 1 / (1 + np.exp(h - 8)),  # spread 1.85, as joined by lines
    "gradual": lambda h: np.exp(-(h - h[0]) / 4),
    "step": lambda h: (h < h.mean()).astype(float),
    "line": lambda h: 1 - (h - h[0]) / (h[-1] - h[0]),
}


def curve_truth(shape: str, levels: int) -> DifficultyCurve:
    """Build the exact curve of a shape at difficulties 1, 2, …"""
    h = np.arange(1.0, levels + 1)
    return DifficultyCurve(h, SHAPES[shape](h), np.ones(levels, np.intp), 1.0)


def _hits(
    rng: Generator, truth: DifficultyCurve, chance: float, items: int
) -> tuple[Values, Values]:
    right = chance + (1 - chance) * truth.psi
    h = np.repeat(truth.difficulties, items)
    return h, (rng.random(len(h)) < np.repeat(right, items)).astype(float)


def simulate_curve(
    rng: Generator, repeats: int, *, figure: Literal["capability", "spread"], shape: str,
    chance: float, items: int, levels: int = 20, draws: int = 300,
) -> Counts:  # fmt: skip
    """Count the 95 % intervals of capability, or of spread, that miss it."""
    truth = curve_truth(shape, levels)
    draws = 2 if figure == "capability" else draws  # its interval is not resampled

    def found() -> Intervals:
        return curve_intervals(*_hits(rng, truth, chance, items), rng, floor=chance, draws=draws)

    value = getattr(truth, figure)
    return counted(misses(getattr(found(), figure), value) for _ in range(repeats))


def crossed_scores(
    rng: Generator, truth: Values, exercises: int, noise: str = "normal", alike: float = 0.5
) -> Values:
    """Simulate scores[cells…, exercise] with an effect of the exercise that all cells share."""
    shared = np.sqrt(alike) * rng.normal(size=exercises)
    if noise == "hits":
        chance = 1 / (1 + np.exp(-(truth[..., None] + shared)))
        return np.asarray(rng.random((*truth.shape, exercises)) < chance, float)
    own = rng.normal(size=(*truth.shape, exercises))
    if noise == "uneven":  # cells differ in how much they vary
        own *= np.linspace(0.2, 2, truth.size).reshape(truth.shape)[..., None]
    return np.asarray(truth[..., None] + shared + own)


def simulate_null_shares(
    rng: Generator, repeats: int, *, shape: tuple[int, ...], exercises: int, noise: str = "normal"
) -> Counts:
    """Count the intervals that exclude 0 where no factor does anything."""
    names = "abcd"[: len(shape)]
    made = (
        variance_shares(crossed_scores(rng, np.zeros(shape), exercises, noise), names)[:-1]
        for _ in range(repeats)
    )
    return counted(
        one.interval is not None and one.interval[0] > 0 for found in made for one in found
    )


def true_share(
    truth: Values, of: tuple[int, ...], exercises: int, alike_noise: float = 1.0
) -> float:
    """Compute the share that an estimate aims at: the effect over cell means with chance."""
    means = truth - truth.mean()
    others = tuple(n for n in range(truth.ndim) if n not in of)
    part = means.mean(axis=others, keepdims=True)
    if len(of) == 2:
        for one in of:
            rest = tuple(n for n in range(truth.ndim) if n != one)
            part = part - means.mean(axis=rest, keepdims=True)
    squares = (np.broadcast_to(part, truth.shape) ** 2).sum()
    return float(squares / ((means**2).sum() + alike_noise * (truth.size - 1) / exercises))


def simulate_shares(
    rng: Generator, repeats: int, *, truth: Values, of: tuple[int, ...], exercises: int
) -> Counts:
    """Count the 95 % intervals of one effect's share that miss it."""
    names, value = "abcd"[: truth.ndim], true_share(truth, of, exercises)
    factors = tuple(names[n] for n in of)

    def interval() -> tuple[float, float] | None:
        found = variance_shares(crossed_scores(rng, truth, exercises), names)
        return next(one.interval for one in found if one.factors == factors)

    return counted(misses(interval(), value) for _ in range(repeats))


DRAWS: dict[str, Callable[[Generator, int], Values]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "even": lambda rng, n: rng.random(n),
    "hits": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "tailed": lambda rng, n: rng.laplace(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n),
}


def simulate_assurance(
    rng: Generator, repeats: int, *, kind: str, pilot: int, width: float = 0.2,
    assurance: float = 0.8,
) -> Counts:  # fmt: skip
    """Count the studies with a longer interval than planned; at most 1 - assurance may have one."""
    scale = DRAWS[kind](np.random.default_rng(0), 10**6).std()

    def longer() -> bool | None:
        values = DRAWS[kind](rng, pilot)
        if not np.ptp(values):
            return None
        spread = Spread.of_residuals(values - values.mean(), pilot - 1.0)
        n = spread.exercises_for(width * scale, assurance)
        final = DRAWS[kind](rng, n)
        reach = t_interval(0.0, float(final.std(ddof=1)) / n**0.5, n - 1)[1]
        return bool(reach > width * scale)

    return counted(longer() for _ in range(repeats))


def simulate_generalisability(
    rng: Generator, repeats: int, *, minds: Sequence[float], exercises: int, kind: str = "normal"
) -> Counts:
    """Count the 95 % intervals of Eρ² that miss it; `minds` has the true scores."""
    means = np.asarray(minds, float)
    noise = (means * (1 - means)).mean() if kind == "hits" else 0.25
    truth = means.var() / (means.var() + noise / exercises)

    def interval() -> tuple[float, float] | None:
        if kind == "hits":
            values = (rng.random((exercises, len(means))) < means).astype(float)
        else:
            own = rng.normal(0, 0.5, (exercises, len(means)))
            values = means + rng.normal(size=(exercises, 1)) + own
        return reliability(values[..., None]).interval

    return counted(misses(interval(), truth) for _ in range(repeats))


def correlated(
    rng: Generator, n: int, kind: str
) -> tuple[Values, Values, NDArray[np.intp] | None, float]:
    """Simulate x and y; return them with their clusters and the true r."""
    if kind == "normal":
        x = rng.normal(size=n)
        return x, 0.6 * x + 0.8 * rng.normal(size=n), None, 0.6
    if kind == "none":
        return rng.integers(1, 6, n).astype(float), rng.random(n), None, 0.0
    if kind == "hits":  # of a complexity of five values
        x = rng.integers(1, 6, n).astype(float)
        p = np.array([0.95, 0.8, 0.5, 0.2, 0.05])
        cov = (p * np.arange(1, 6)).mean() - p.mean() * 3
        y = (rng.random(n) < p[x.astype(int) - 1]).astype(float)
        return x, y, None, cov / np.sqrt(2 * p.mean() * (1 - p.mean()))
    tests = np.repeat(np.arange(n // 5), 5)  # five exercises a test, x and y shifted by it
    shift = rng.normal(size=(n // 5, 2))
    x = shift[tests, 0] + rng.normal(size=len(tests))
    y = 0.8 * shift[tests, 0] + 0.6 * shift[tests, 1] + rng.normal(size=len(tests))
    return x, y, tests, 0.4


def simulate_correlation(rng: Generator, repeats: int, *, kind: str, exercises: int) -> Counts:
    """Count the 95 % intervals of r that miss it, of those that are given."""
    drawn = (correlated(rng, exercises, kind) for _ in range(repeats))
    return counted(misses(correlate(x, y, cluster)[2], r) for x, y, cluster, r in drawn)


def simulate_ranks(
    rng: Generator, repeats: int, *, scores: Sequence[float], units: int, kind: str = "normal",
    draws: int = 300,
) -> Counts:  # fmt: skip
    """Count the studies in which some mind's interval lacks a place that is truly its own.

    Minds that are equal share all places of their tie; one of them at least must be inside.
    """
    means, wrong = np.asarray(scores, float), 0
    first = 1 + (means[None] > means[:, None]).sum(axis=1)
    last = (means[None] >= means[:, None]).sum(axis=1)
    for _ in range(repeats):
        if kind == "hits":
            values = (rng.random((units, len(means))) < means).astype(float)
        else:
            values = means + rng.normal(size=(units, 1)) + rng.normal(size=(units, len(means)))
        low, high = rank_intervals(values, rng, draws)
        wrong += bool(((low > first) | (high < last)).any())
    return wrong, repeats


@cache
def rule_with_error() -> Rule:
    """Find the rule of an instrument that tells the error of one administration by itself."""
    for name in sorted(registry.instruments()):
        with suppress(Error):
            rule = registry.make_instrument(name).rule()
            if rule.error is not None:
                return rule
    raise Error("no instrument tells the error of one administration")


def simulate_staircase(rng: Generator, repeats: int, *, exercises: int, memory: int) -> Counts:
    """Count the 95 % intervals of the level that miss it, within one administration.

    ξ walks around 10 with an integrated autocorrelation time of `memory` exercises; 5 is that of
    Q-learning and SARSA, 20 that of the model-based mind.
    """
    from scipy.signal import lfilter

    rule = rule_with_error()
    figure, error = rule.figure, rule.error
    assert figure is not None
    assert error is not None
    keep = (memory - 1) / (memory + 1)

    def interval() -> tuple[float, float] | None:
        steps = rng.normal(size=exercises + 200) * np.sqrt(1 - keep**2)
        xi = 10 + lfilter([1.0], [1.0, -keep], steps)[200:]
        found = error(xi, xi)
        return None if found is None else t_interval(figure(xi, xi), *found)

    return counted(misses(interval(), 10.0) for _ in range(repeats))


def gains(differences: Values) -> int:
    """Decide by the verdict on a vote minus a member, by exercise: 1, -1 or 0."""
    n = len(differences)
    units = Units(differences, np.zeros(n, np.int64), np.arange(n), np.ones(1), -1.0, 1.0)
    return paired(units, True, ("vote", "member")).sign


@dataclass(frozen=True)
class Simulated:
    """A simulated vote: the verdicts on it, and what is true."""

    said: int  # 1 it gains on the chosen member, -1 it loses, 0 undecided
    truth: float  # accuracy of the vote less that of the chosen member
    beats_all: bool  # it was said to beat each member
    truth_of_best: float  # accuracy of the vote less that of the truly best member


def votes_against_best(
    rng: np.random.Generator,
    repeats: int,
    decide: Callable[[Values], int],
    accuracies: Sequence[float],
    vote: float | None = None,
    exercises: int = 60,
    correlation: float = 0.0,
) -> list[Simulated]:
    """Simulate votes, and decide on each by `decide` (1, 0 or -1 for differences by exercise).

    The vote is the majority of members with these accuracies, or has an accuracy of its own; the
    errors of all share a latent `correlation`.
    """
    from scipy.special import ndtri

    true = correlated_majority(accuracies, correlation, "fail") if vote is None else vote
    p = np.array([*accuracies, true])
    made = []
    for _ in range(repeats):
        common, own = rng.normal(size=(exercises, 1)), rng.normal(size=(exercises, len(p)))
        latent = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        hits = (ndtri(p) + latent > 0).astype(np.float64)
        members = hits[:, :-1]
        voted = (members.mean(axis=1) > 0.5).astype(float) if vote is None else hits[:, -1]
        found = against_best(members, voted, rng)
        if found is not None:
            made.append(
                Simulated(
                    said=decide(found.differences),
                    truth=float(true - p[found.chosen]),
                    beats_all=found.beats_all(lambda values: decide(values) > 0),
                    truth_of_best=float(true - max(accuracies)),
                )
            )
    return made


def false_words(made: Sequence[Simulated]) -> tuple[int, int]:
    """Count the wrong verdicts on a vote and its chosen member, and the votes."""
    return sum(bool(one.said and one.said * one.truth <= SAME) for one in made), len(made)


def false_boasts(made: Sequence[Simulated]) -> tuple[int, int]:
    """Count the votes that are wrongly said to beat each of their members, and the votes."""
    return sum(one.beats_all and one.truth_of_best <= SAME for one in made), len(made)


def simulate_votes(
    rng: Generator, repeats: int, *, count: Callable[[Sequence[Simulated]], Counts],
    accuracies: Sequence[float], vote: float, exercises: int,
) -> Counts:  # fmt: skip
    """Count the false verdicts on votes whose members' errors are correlated."""
    return count(votes_against_best(rng, repeats, gains, accuracies, vote, exercises, 0.3))


# ---------------------------------------------------------------- the rows


def rows() -> list[Row]:
    """List all rows about other figures."""
    made = [
        Row("Correlation with complexity", f"{n} exercises, {kind}", "bounded",
            partial(simulate_correlation, kind=kind, exercises=n))
        for n in (5, 10, 20, 50, 200)
        for kind in ("normal", "none", "hits", "clustered")
    ]  # fmt: skip
    made += [
        Row("Places of all minds at once", f"{units} exercises, {name}, {kind}", "verdict",
            partial(simulate_ranks, scores=scores, units=units, kind=kind), cost=10)
        for units in (5, 20, 50)
        for name, scores in (
            ("2 equal minds", [0.5] * 2), ("6 equal minds", [0.5] * 6),
            ("20 equal minds", [0.5] * 20), ("minds at .2, .5, .5, .9", [0.2, 0.5, 0.5, 0.9]),
        )
        for kind in ("normal", "hits")
    ]  # fmt: skip
    made += [
        Row("Capability", f"{items} items a level, {shape}, chance {chance:g}", "bounded",
            partial(simulate_curve, figure="capability", shape=shape, chance=chance, items=items),
            cost=5)
        for items in (5, 20)
        for shape in SHAPES
        for chance in (0.0, 0.25)
    ]  # fmt: skip
    made += [
        Row("Spread", f"20 items a level, {shape}, chance {chance:g}", "bounded",
            partial(simulate_curve, figure="spread", shape=shape, chance=chance, items=20),
            cost=40)
        for shape in SHAPES
        for chance in (0.0, 0.25)
    ]  # fmt: skip
    made += [
        Row("Shares of factors where none does anything", f"{'×'.join(map(str, shape))} cells, "
            f"{n} exercises, {noise}", "verdict",
            partial(simulate_null_shares, shape=shape, exercises=n, noise=noise), cost=5)
        for shape in ((2, 2), (3, 4), (2, 2, 3))
        for n in (5, 20)
        for noise in ("normal", "uneven", "hits")
    ]  # fmt: skip
    one, other = np.array([0.0, 0.5, 1.0])[:, None], np.array([0.0, 0.5])[None]
    made += [
        Row("Shares of factors", f"3×2 cells, {n} exercises, {name}", "bounded",
            partial(simulate_shares, truth=one + other + one * other, of=of, exercises=n), cost=5)
        for n in (5, 20, 50)
        for name, of in (("first", (0,)), ("second", (1,)), ("both together", (0, 1)))
    ]  # fmt: skip
    made += [
        Row("Generalisability Eρ²", f"3 minds, {n} exercises, {kind}", "bounded",
            partial(simulate_generalisability, minds=[0.1, 0.3, 0.9], exercises=n, kind=kind))
        for n in (10, 40)
        for kind in ("normal", "hits")
    ]  # fmt: skip
    made += [
        Row("Planned number of exercises, assured in .8", f"pilot of {pilot}, {kind}", "verdict",
            partial(simulate_assurance, kind=kind, pilot=pilot), nominal=0.2, most=0.2)
        for pilot in (10, 30, 100)
        for kind in ("normal", "even", "hits", "tailed")
    ]  # fmt: skip
    made += [
        Row("Level within one administration", f"{n} exercises, memory {memory}", "bounded",
            partial(simulate_staircase, exercises=n, memory=memory))
        for n in (100, 1000, 5000)
        for memory in (5, 20)
    ]  # fmt: skip
    made += [
        Row("A vote against its best member", f"{n} exercises, {name}: {what}", "verdict",
            partial(simulate_votes, count=count, accuracies=accuracies, vote=vote, exercises=n))
        for n in (20, 60)
        for name, accuracies, vote in (
            ("3 members and the vote at .6", [0.6] * 3, 0.6),
            ("members at .7, .6, .5, the vote at .7", [0.7, 0.6, 0.5], 0.7),
        )
        for what, count in (("gains or loses", false_words), ("beats each", false_boasts))
    ]  # fmt: skip
    made += [
        Row("Prediction beyond the data", f"the {what}, one to five levels up", "bounded",
            partial(simulate_beyond, what=what), cost=100)
        for what in ("accuracy", "rate")
    ]  # fmt: skip
    return made
