"""How far a test can be relied on (P1 §4.2-4.3), and how long it must be.

TE = mean((Υ̂ - Υ)²) = bias² + variance over repeated tests; Rel = e^(-TE); Eff = Rel / time. Rel
depends on the scale of rewards and is near 1 for anything averaged over a few exercises, so √TE and
the generalisability over the minds measured stand beside it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from allminds.core.errors import Error
from allminds.statistics import reliability
from allminds.statistics.testbed.bed import Testbed
from allminds.statistics.testbed.games import Played
from allminds.statistics.testbed.trial import Draws, hajek, result
from allminds.statistics.testbed.weights import Floats, Sampling


@dataclass(frozen=True)
class TestError:
    """TE of one mind, and its two parts."""

    bias: float
    variance: float
    __test__ = False

    @property
    def total(self) -> float:
        """TE = bias² + variance."""
        return self.bias**2 + self.variance

    @property
    def rel(self) -> float:
        """e^(-TE)."""
        return math.exp(-self.total)

    @property
    def stderr(self) -> float:
        """√TE, the standard error of measurement."""
        return math.sqrt(self.total)


def error_of_tests(
    estimates: ArrayLike, truth: float, probabilities: ArrayLike | None = None
) -> TestError:
    """TE of repeated tests, each as likely as the others unless probabilities are given."""
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
        """TE, averaged over minds."""
        return float(np.mean([error.total for error in self.errors]))

    @property
    def rel(self) -> float:
        """P1's reliability."""
        return reliability.reliance([error.total for error in self.errors])

    @property
    def generalisability(self) -> float | None:
        """Eρ² of minds that meet companies of their own, as a test of P1 draws them."""
        return _share(self.spread, self.variance)

    @property
    def generalisability_in_common(self) -> float | None:
        """Eρ² of minds that meet the same companies."""
        return None if self.common is None else _share(self.spread, self.common)

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
        """Rel a second, and Rel a step."""
        return self.rel / self.seconds, self.rel / self.steps

    def budget(self, which: str, wanted: float) -> int:
        """The least number of exercises at which `rel` or `generalisability` is as wanted."""
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


def _share(spread: float, error: float) -> float | None:
    return spread / (spread + error) if spread + error > 0 else None
