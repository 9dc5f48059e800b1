"""Adaptive testing: the next item is the one that should tell most about ability.

A value that is asked and answered step by step, with nothing random in it:

    test = AdaptiveTest.begin(bank, options=26)
    while (item := test.next_item()) is not None:
        test = test.answered(item, hit=...)
    test.alpha, test.interval(), test.verdict

The posterior of ln α lives on a grid; the prior is ln α ~ N(ln 10, 1). The test ends when
se(ln α) <= .25, or after 60 items, or when the bank is used up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Values, accuracy, chance_level, numbers
from allminds.statistics.accuracy.information import item_information, most_informative_ratio

PRIOR = (float(np.log(10.0)), 1.0)  # mean and standard deviation of ln α
_GRID = np.linspace(PRIOR[0] - 6, PRIOR[0] + 6, 601)  # ln α


@dataclass(frozen=True)
class AdaptiveTest:
    """A test in progress; make it with `begin`."""

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
        """A test not yet begun, from a bank of difficulties, one for each item."""
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
        """The item, not yet asked, of largest posterior-mean information (the first on ties)."""
        if self.ended:
            return None
        value = self.told @ self.posterior
        value[list(self.asked)] = -1.0
        return int(np.argmax(value))

    def answered(self, item: int, hit: bool) -> AdaptiveTest:
        """The test after an answer; any item may be answered, once."""
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
        """Posterior mean of ln α."""
        return float(self.posterior @ _GRID)

    @property
    def alpha(self) -> float:
        """The estimate of α: e to the posterior mean of ln α."""
        return float(np.exp(self.log_alpha))

    @property
    def stderr(self) -> float:
        """se(ln α): the posterior's standard deviation."""
        return float(np.sqrt(self.posterior @ (_GRID - self.log_alpha) ** 2))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The central posterior interval of α."""
        below = np.cumsum(self.posterior) - self.posterior / 2
        ends = np.interp([0.5 - confidence / 2, 0.5 + confidence / 2], below, _GRID)
        return float(np.exp(ends[0])), float(np.exp(ends[1]))

    @property
    def ended(self) -> str:
        """Why the test is over; empty while it is not."""
        if self.stderr <= self.stderr_wanted:
            return "precise enough"
        if len(self.asked) >= self.most_items:
            return f"{self.most_items} items asked"
        return "bank used up" if len(self.asked) == len(self.bank) else ""

    @property
    def off_target(self) -> str:
        """Where the bank cannot reach this mind: "bank too easy", "bank too hard", or nothing.

        So it is when the ideal difficulty for the estimated ability, D* = α x*^(1/β), is outside
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
        """What to print beside the estimate."""
        return "; ".join(part for part in (self.ended or "not ended", self._aim()) if part)

    def _aim(self) -> str:
        return f"off target ({self.off_target})" if self.off_target else ""


def administer(test: AdaptiveTest, answer: Callable[[int], bool]) -> AdaptiveTest:
    """Ask until the test ends; `answer` says whether the item of that number was hit."""
    while (item := test.next_item()) is not None:
        test = test.answered(item, answer(item))
    return test
