"""Υ̂: a test that draws exercises ⟨μ, i, l⟩, its two estimators, and its reliability.

Eq. 2 of Insa-Cabrera and Hernández-Orallo (2015), as printed, counts weights twice when exercises
are drawn by the weights, and then does not converge to Υ. So `hajek`, the default, divides every
weight by the probability it was drawn with; `literal` is the printed one, and `literal_limit` its
limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from allminds.contracts import Record
from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, key
from allminds.inference import plain_interval
from allminds.statistics import reliability
from allminds.statistics.testbed.bed import (
    Exact,
    Floats,
    Game,
    LineUp,
    Lot,
    Played,
    Sampling,
    Testbed,
    line_ups,
    name_of,
    shares,
    slots,
)
from allminds.statistics.testbed.results import streamed

_MU, _SLOT, _STEPS, _MINDS = range(4)  # which random word draws what; one a slot from the last on


# ---------------------------------------------------------------- drawing


@dataclass(frozen=True)
class Exercise:
    """An exercise that is drawn: ⟨μ, i, l⟩ for K steps, with weight w and probability p."""

    environment: int
    slot: int
    line_up: LineUp
    steps: int | None  # None is to the end
    weight: float
    chance: float


class Draws:
    """Exercises drawn from a testbed by p_M, p_S, p_Π and p_K, with replacement.

    Exercise e depends on (seed, e) alone. With a `mind`, it is the one in the slot, and everything
    else is drawn as for any other, so that minds meet the same companies.
    """

    def __init__(self, testbed: Testbed[Game], sampling: Sampling | None = None) -> None:
        given, games = sampling or Sampling(), testbed.games
        self.testbed = testbed
        self.p_m = _by(given.environments, testbed.w_m, "p_M of environment",
                       [game.name for game in games])  # fmt: skip
        if given.slots is not None and len(given.slots) != len(games):
            raise Error(f"p_S: {len(given.slots)} distributions for {len(games)} environments")
        self.p_s = [
            _by(None if given.slots is None else given.slots[n], w_s, f"p_S of {game.name}, slot",
                [str(slot) for slot in range(slots(game))])
            for n, (game, w_s) in enumerate(zip(games, testbed.w_s, strict=True))
        ]  # fmt: skip
        used = [w_l.mind(slot) for w_l in testbed.w_l for slot in range(w_l.slots)]
        self.p_pi = _by(given.minds, np.mean(used, axis=0), "p of mind", testbed.minds)
        self.p_k = dict(given.steps or {})
        if self.p_k and min(self.p_k) < 1:
            raise Error(f"p_K has {min(self.p_k)} steps; an exercise has 1 or more")
        chances = list(self.p_k.values()) or [1.0]
        self._steps = Lot(shares(chances, len(chances), 1.0, "p_K of the steps", "1"))
        self._environments, self._minds = Lot(self.p_m), Lot(self.p_pi)
        self._slots = [Lot(p) for p in self.p_s]

    def draw(self, seed: int, e: int, mind: int | None = None) -> Exercise:
        """Draw exercise e, for any mind or for one."""
        random = Random(key(seed, e, MAKING))
        at = self._environments.draw(random, _MU)
        slot = self._slots[at].draw(random, _SLOT)
        w_l, p_pi = self.testbed.w_l[at], self._minds.chances
        line_up = [self._minds.draw(random, _MINDS + j) for j in range(w_l.slots)]
        steps = list(self.p_k)[self._steps.draw(random, _STEPS)] if self.p_k else None
        weight = float(self.testbed.w_m[at] * self.testbed.w_s[at][slot])
        chance = self._environments.chances[at] * self._slots[at].chances[slot]
        if mind is None:
            chance *= math.prod(p_pi[number] for number in line_up)
            weight *= w_l.of(tuple(line_up))
        else:
            chance *= math.prod(p_pi[n] for j, n in enumerate(line_up) if j != slot)
            line_up[slot] = mind
            weight *= w_l.of_others(tuple(line_up), slot)
        return Exercise(at, slot, tuple(line_up), steps, weight, chance)


def _by(given: Sequence[float] | None, weights: Floats, what: str, names: Sequence[str]) -> Floats:
    """Check a distribution: positive wherever a weight is; without one, return the weights."""
    if given is None:
        return weights
    p = shares(given, len(weights), 1.0, what.rpartition(",")[0] or what, "1")
    for name, chance, weight in zip(names, p, weights, strict=True):
        if chance == 0 < weight:
            raise Error(
                f"{what} {name} is 0 where its weight is {weight:.3g}: it would never be drawn; "
                "give it some probability, or no weight"
            )
    return p


# ---------------------------------------------------------------- estimating


@dataclass(frozen=True)
class Estimated:
    """The estimate Υ̂ by both estimators, with its exercises, steps and seconds."""

    hajek: float
    stderr: float
    ci95: tuple[float, float] | None
    literal: float
    exercises: int
    steps: int
    seconds: float


def hajek(ratios: Floats, rewards: Floats) -> tuple[float, float]:
    """Compute Σ (w/p) R / Σ (w/p), and its standard error."""
    total = ratios.sum()
    value = float(ratios @ rewards / total)
    return value, float(np.sqrt(ratios**2 @ (rewards - value) ** 2) / total)


def literal(weights: Floats, rewards: Floats) -> float:
    """Compute η Σ w R, eq. 2 as printed."""
    return float(weights @ rewards / weights.sum())


def literal_limit(draws: Draws, testbed: Testbed[Exact]) -> float:
    """Compute Σ p w R / Σ p w, the limit of the literal estimator; less Υ, it is its bias."""
    above = below = 0.0
    for at, game in enumerate(testbed.games):
        outer = testbed.w_m[at] * testbed.w_s[at] * draws.p_m[at] * draws.p_s[at]
        for line_up, outcome in streamed(game, line_ups(game)):
            weight = testbed.w_l[at].of(line_up) * math.prod(draws.p_pi[n] for n in line_up)
            above += weight * float(outer @ outcome.rewards)
            below += weight * float(outer.sum())
    return above / below


def estimate(
    testbed: Testbed[Played],
    exercises: int,
    sampling: Sampling | None = None,
    seed: int = 1,
    mind: int | None = None,
) -> Estimated:
    """Estimate Υ̂ from so many exercises; of one mind, Υ̂(π), if it is given."""
    if exercises < 1:
        raise Error(f"a test has 1 exercise or more, not {exercises}")
    draws = Draws(testbed, sampling)
    start, steps = time.perf_counter(), 0
    ratios, weights, rewards = np.zeros(exercises), np.zeros(exercises), np.zeros(exercises)
    for e in range(exercises):
        what = draws.draw(seed, e, mind)
        game = testbed.games[what.environment]
        record = game.play(what.line_up, seed, e)
        ratios[e], weights[e] = what.weight / what.chance, what.weight
        rewards[e], taken = result(game, record, what)
        steps += taken
    if not weights.sum():
        raise Error("all exercises drawn have weight 0; draw more, or by other probabilities")
    value, stderr = hajek(ratios, rewards)
    constant = testbed.weights.constant
    value, stderr = constant * value, constant * stderr
    ci95 = plain_interval(value, stderr, exercises)
    seconds = time.perf_counter() - start
    scored = constant * literal(weights, rewards)
    return Estimated(value, stderr, ci95, scored, exercises, steps, seconds)


def result(game: Game, record: Record, what: Exercise) -> tuple[float, int]:
    """Return R_i^K of the slot drawn, and how many steps it took."""
    check_record(game, record, what.line_up)
    if what.steps is None or what.steps >= record.steps:
        score = record.score[what.slot]
        assert score is not None
        return score, record.steps
    rewards = [step[what.slot] for step in record.rewards[: what.steps]]
    total = math.fsum(rewards)
    return (total if game.score == "total" else total / len(rewards)), len(rewards)


def check_record(game: Game, record: Record, line_up: LineUp) -> None:
    """Reject a record in which a mind failed: a testbed is about minds that play."""
    if set(record.status) != {"ok"}:
        who = next(n for n, status in enumerate(record.status) if status not in ("ok", "void"))
        name = name_of(game, line_up[who])
        raise Error(f"{game.name}: {name} failed in slot {who}: {record.reason}")


# ---------------------------------------------------------------- reliability of a test


@dataclass(frozen=True)
class TestError:
    """The test error TE of one mind, and its two parts."""

    bias: float
    variance: float
    __test__ = False

    @property
    def total(self) -> float:
        """The test error TE = bias² + variance."""
        return self.bias**2 + self.variance

    @property
    def rel(self) -> float:
        """The reliability e^(-TE) of one mind's test."""
        return math.exp(-self.total)

    @property
    def stderr(self) -> float:
        """The standard error of measurement, √TE."""
        return math.sqrt(self.total)


def error_of_tests(
    estimates: ArrayLike, truth: float, probabilities: ArrayLike | None = None
) -> TestError:
    """Compute TE of repeated tests, equally likely unless probabilities are given."""
    values = np.asarray(estimates, float)
    p = np.ones(len(values)) if probabilities is None else np.asarray(probabilities, float)
    mean = float(np.average(values, weights=p))
    return TestError(mean - truth, float(np.average((values - mean) ** 2, weights=p)))


@dataclass(frozen=True)
class Reliance:
    """Repeated tests of so many exercises each, for some minds of a testbed."""

    minds: tuple[int, ...]
    exercises: int  # in a test
    tests: int
    errors: tuple[TestError, ...]  # of every mind
    spread: float  # σ²_p: the variance of Υ(π) between the minds
    common: float | None  # σ²_δ of a test in which all minds meet the same companies
    steps: float  # of a test
    seconds: float

    @property
    def total_error(self) -> float:
        """The test error TE, averaged over minds."""
        return float(np.mean([error.total for error in self.errors]))

    @property
    def rel(self) -> float:
        """The reliability Rel of Insa-Cabrera and Hernández-Orallo (2015)."""
        return reliability.reliance([error.total for error in self.errors])

    @property
    def generalisability(self) -> float | None:
        """Eρ² of minds that each meet other companies, as the tests of the paper draw them."""
        return reliability.share(self.spread, self.variance)

    @property
    def generalisability_in_common(self) -> float | None:
        """Eρ² of minds that meet the same companies."""
        return None if self.common is None else reliability.share(self.spread, self.common)

    @property
    def variance(self) -> float:
        """σ²_δ of a test, averaged over minds."""
        return float(np.mean([error.variance for error in self.errors]))

    @property
    def bias(self) -> float:
        """The mean bias beyond what chance makes of so many tests, as a root mean square."""
        beyond = [error.bias**2 - error.variance / self.tests for error in self.errors]
        return math.sqrt(max(0.0, float(np.mean(beyond))))

    def efficiency(self) -> tuple[float, float]:
        """Compute Rel per second, and Rel per step."""
        return self.rel / self.seconds, self.rel / self.steps

    def budget(self, which: str, wanted: float) -> int:
        """Find the least number of exercises at which `rel` or `generalisability` is as wanted."""
        one = self.variance * self.exercises
        if which == "rel":
            return reliability.exercises_for_rel(wanted, one, self.bias)
        if which == "generalisability":
            return reliability.exercises_for_generalisability(wanted, self.spread, one)
        raise Error(f"there is no budget for '{which}'; choose {' or '.join(reliability.BUDGETS)}")


def repeated_tests(
    testbed: Testbed[Played],
    truth: Sequence[float],
    minds: Sequence[int],
    tests: int,
    exercises: int = 1,
    sampling: Sampling | None = None,
    seed: int = 1,
    noise: float = 0.0,
) -> Reliance:
    """Give the test to each mind `tests` times, and compare with its Υ(π).

    `noise` is the variance of the error of `truth`, if that is itself estimated.
    """
    if tests < 2:
        raise Error(f"reliability needs 2 tests of a mind or more, not {tests}")
    draws, constant = Draws(testbed, sampling), testbed.weights.constant
    values, steps, start = np.zeros((tests, len(minds))), 0, time.perf_counter()
    for t in range(tests):
        for place, mind in enumerate(minds):
            ratios, rewards = np.zeros(exercises), np.zeros(exercises)
            for n in range(exercises):
                e = t * exercises + n
                what = draws.draw(seed, e, mind)
                game = testbed.games[what.environment]
                record = game.play(what.line_up, seed, e * len(minds) + place)
                ratios[n] = what.weight / what.chance
                rewards[n], taken = result(game, record, what)
                steps += taken
            values[t, place] = constant * hajek(ratios, rewards)[0]
    number = tests * len(minds)
    errors = tuple(error_of_tests(values[:, n], truth[mind]) for n, mind in enumerate(minds))
    return Reliance(
        tuple(minds), exercises, tests, errors,
        spread=max(0.0, float(np.var([truth[mind] for mind in minds])) - noise),
        common=_in_common(values),
        steps=steps / number, seconds=(time.perf_counter() - start) / number,
    )  # fmt: skip


def _in_common(values: Floats) -> float | None:
    if values.shape[1] < 2:
        return None
    return reliability.components(values[:, :, None]).relative_error
