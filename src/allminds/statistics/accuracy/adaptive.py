"""The information that an answer gives about ability, and adaptive tests that maximise it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Values, accuracy, chance_level, numbers, ratio


def item_information(
    difficulty: ArrayLike,
    alpha: ArrayLike,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> Values:
    """Compute the information I of one answer about ln α.

    With x = (D/α)^β, it is I = β² (1-c) x² e^(-2x) / [(1 - e^(-x)) (c + (1-c) e^(-x))]. Items far
    too easy (x → 0) or far too hard (x → ∞) tell nothing.
    """
    c = _below_one(chance_level(options, chance))
    out: Values = (beta**2 * _of_ratio(ratio(difficulty, alpha, beta), c))[()]
    return out


def most_informative_ratio(*, options: float | None = None, chance: float | None = None) -> float:
    """Find x*, the (D/α)^β at which an answer tells most; .797 for m = 2, 1.347 for m = 26."""
    c = _below_one(chance_level(options, chance))
    found = minimize_scalar(
        lambda x: -float(_of_ratio(np.asarray(x), c)),
        bounds=(1e-3, 3.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(found.x)


def _of_ratio(x: Values, c: Values) -> Values:
    """Compute I for β = 1, scaled above and below by e^x so that large x cannot overflow."""
    x = np.minimum(x, 700.0)
    told = 1 - np.exp(-x)
    below = np.where(told > 0, told, 1.0) * (c * np.exp(x) + 1 - c)
    return np.asarray((1 - c) * x * x * np.exp(-x) / below)


def _below_one(c: Values) -> Values:
    if not np.all(c < 1):
        raise Error("with one option every answer is right and tells nothing: give m >= 2")
    return c


# ---------------------------------------------------------------- adaptive testing


PRIOR = (float(np.log(10.0)), 1.0)  # mean and standard deviation of ln α
_GRID = np.linspace(PRIOR[0] - 6, PRIOR[0] + 6, 601)  # ln α


@dataclass(frozen=True)
class AdaptiveTest:
    """A test in progress; `begin` makes one."""

    bank: Values  # difficulties D of the items
    chance: float
    beta: float
    stderr_wanted: float  # of ln α
    most_items: int
    right: Values  # P[item, grid]
    told: Values  # information[item, grid]
    posterior: Values  # [grid]
    asked: tuple[int, ...] = ()
    hits: tuple[bool, ...] = ()

    @classmethod
    def begin(
        cls,
        bank: ArrayLike,
        *,
        options: float | None = None,
        chance: float | None = None,
        beta: float = 1.0,
        stderr: float = 0.25,
        most_items: int = 60,
    ) -> AdaptiveTest:
        """Begin a test from a bank of difficulties, one for each item."""
        d = np.atleast_1d(numbers(bank, "the bank of difficulties"))
        if d.ndim != 1 or not d.size or not ((d > 0) & np.isfinite(d)).all():
            raise Error("the bank must be a list of difficulties above 0, one for each item")
        if stderr <= 0 or most_items < 1:
            raise Error("the test would never end or never begin: give stderr > 0, most_items >= 1")
        c = float(chance_level(options, chance))
        alphas = np.exp(_GRID)
        right = accuracy(d[:, None], alphas, chance=c, beta=beta)
        told = item_information(d[:, None], alphas, chance=c, beta=beta)
        prior = np.exp(-0.5 * ((_GRID - PRIOR[0]) / PRIOR[1]) ** 2)
        return cls(d, c, beta, stderr, most_items, right, told, prior / prior.sum())

    def next_item(self) -> int | None:
        """Choose the unasked item of largest posterior-mean information (the first on ties)."""
        if self.ended:
            return None
        value = self.told @ self.posterior
        value[list(self.asked)] = -1.0
        return int(np.argmax(value))

    def answered(self, item: int, hit: bool) -> AdaptiveTest:
        """Return the test after an answer; any item may be answered, once."""
        if not 0 <= item < len(self.bank) or item in self.asked:
            raise Error(f"item {item} is not in the bank or was asked before: take next_item()")
        likelihood = self.right[item] if hit else 1 - self.right[item]
        posterior = self.posterior * likelihood
        return replace(
            self,
            posterior=posterior / posterior.sum(),
            asked=(*self.asked, item),
            hits=(*self.hits, bool(hit)),
        )

    @property
    def log_alpha(self) -> float:
        """The posterior mean of ln α."""
        return float(self.posterior @ _GRID)

    @property
    def alpha(self) -> float:
        """The estimate of α: e to the posterior mean of ln α."""
        return float(np.exp(self.log_alpha))

    @property
    def stderr(self) -> float:
        """The standard error of ln α: the posterior's standard deviation."""
        return float(np.sqrt(self.posterior @ (_GRID - self.log_alpha) ** 2))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Compute the central posterior interval of α."""
        below = np.cumsum(self.posterior) - self.posterior / 2
        ends = np.interp([0.5 - confidence / 2, 0.5 + confidence / 2], below, _GRID)
        return float(np.exp(ends[0])), float(np.exp(ends[1]))

    @property
    def ended(self) -> str:
        """The reason why the test is over; empty while it is not."""
        if self.stderr <= self.stderr_wanted:
            return "precise enough"
        if len(self.asked) >= self.most_items:
            return f"{self.most_items} items asked"
        return "bank used up" if len(self.asked) == len(self.bank) else ""

    @property
    def off_target(self) -> str:
        """Where the bank cannot reach this mind: "bank too easy", "bank too hard", or empty.

        This is so when the ideal difficulty for the estimated ability, D* = α x*^(1/β), is outside
        the bank, and either the best item tells less than half of what an ideal one would, or the
        test has ended without the precision wanted.
        """
        ideal = self.alpha * most_informative_ratio(chance=self.chance) ** (1 / self.beta)
        nearest = float(np.clip(ideal, self.bank.min(), self.bank.max()))
        told, most = item_information(
            [nearest, ideal], self.alpha, chance=self.chance, beta=self.beta
        )
        missed = bool(self.ended) and self.stderr > self.stderr_wanted
        if nearest == ideal or (told >= most / 2 and not missed):
            return ""
        return "bank too easy" if nearest < ideal else "bank too hard"

    @property
    def verdict(self) -> str:
        """The text beside the estimate: why the test ended, and whether it is off target."""
        return "; ".join(part for part in (self.ended or "not ended", self._aim()) if part)

    def _aim(self) -> str:
        return f"off target ({self.off_target})" if self.off_target else ""


def administer(test: AdaptiveTest, answer: Callable[[int], bool]) -> AdaptiveTest:
    """Ask until the test ends; `answer` says whether the item of that number was hit."""
    while (item := test.next_item()) is not None:
        test = test.answered(item, answer(item))
    return test
