"""Accuracy from ability and difficulty, and back: Eq. 1 of Chmait et al. (2017); adaptive tests.

The accuracy P of a mind of ability α on a task of difficulty D with m options, chance c = 1/m, is

    E1: P = c + (1 - c) e^(-D/α)        E2: P = c + (1 - c) e^(-(D/α)^β)

E1 is E2 with β = 1, so every function here takes `beta`, which is 1 unless told. All of them work
on numbers and on arrays; out-of-range input is an `Error` that says why. What these formulas give
is what the curve says, not what a mind is known to do: for that see `predict`. An adaptive test
chooses the item that tells most about ability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from allminds.core.errors import Error

Values = NDArray[np.float64]


def chance_level(options: ArrayLike | None = None, chance: ArrayLike | None = None) -> Values:
    """Compute the chance level c: 1/m for `options` m, or the `chance` given.

    Exactly one of the two must be given.
    """
    if (options is None) == (chance is None):
        raise Error("the chance level is not clear: give either options=m or chance=c")
    if options is not None:
        m = numbers(options, "options (m)")
        _require(m >= 1, m, "options (m) cannot be {}: a task has one option or more")
        return 1 / m
    c = numbers(0.0 if chance is None else chance, "chance (c)")
    _require((c >= 0) & (c <= 1), c, "chance (c) cannot be {}: it lies between 0 and 1")
    return c


def accuracy(
    difficulty: ArrayLike, alpha: ArrayLike, *, options: ArrayLike | None = None,
    chance: ArrayLike | None = None, beta: float = 1.0,
) -> Values:  # fmt: skip
    """Compute P(D, α, m), the probability of a right answer; 1 at D = 0, c as D → ∞ or α → 0."""
    c = chance_level(options, chance)
    return _out(c + (1 - c) * np.exp(-ratio(difficulty, alpha, beta)))


def difficulty(
    accuracy: ArrayLike, alpha: ArrayLike, *, options: ArrayLike | None = None,
    chance: ArrayLike | None = None, beta: float = 1.0,
) -> Values:  # fmt: skip
    """Compute D = -α ln((P - c)/(1 - c)), where a mind of ability α has accuracy P; ∞ at P = c."""
    c = _chance_to_invert(options, chance)
    p, a = _accuracy(accuracy), _alpha(alpha)
    _require(p >= c, p, "no difficulty gives an accuracy of {}: it is below chance")
    return _out(a * _exponent(p, c) ** (1 / _beta(beta)))


def ability(
    accuracy: ArrayLike, difficulty: ArrayLike, *, options: ArrayLike | None = None,
    chance: ArrayLike | None = None, beta: float = 1.0,
) -> Values:  # fmt: skip
    """Compute α = -D / ln((P - c)/(1 - c)), the ability that has accuracy P at difficulty D."""
    c = _chance_to_invert(options, chance)
    p, d = _accuracy(accuracy), _difficulty(difficulty)
    _require(p > c, p, "no ability gives an accuracy of {}: it is not above chance")
    _require(p < 1, p, "an accuracy of {} would take unlimited ability: give one below 1")
    _require(
        (d > 0) & np.isfinite(d), d, "difficulty (D) {} tells nothing about ability: give D > 0"
    )
    return _out(d / _exponent(p, c) ** (1 / _beta(beta)))


def options(
    accuracy: ArrayLike, difficulty: ArrayLike, alpha: ArrayLike, *, beta: float = 1.0
) -> Values:
    """Compute m = (1 - e)/(P - e), e = e^(-D/α): the options that would make the accuracy P."""
    p, e = _accuracy(accuracy), np.exp(-ratio(difficulty, alpha, beta))
    _require(
        p > e, p, "no number of options gives an accuracy of {}: it must be above e^(-D/alpha)"
    )
    return _out((1 - e) / (p - e))


def accuracy_difference(
    difficulty: ArrayLike, alpha: ArrayLike, m1: ArrayLike, m2: ArrayLike, *, beta: float = 1.0
) -> Values:
    """Compute P(m1) - P(m2) = (1 - e^(-D/α))(m2 - m1)/(m1 m2).

    The paper prints 1 + e by mistake.
    """
    c1, c2 = chance_level(m1), chance_level(m2)
    return _out(-np.expm1(-ratio(difficulty, alpha, beta)) * (c1 - c2))


def combined_ability(abilities: ArrayLike, weights: ArrayLike) -> Values:
    """Compute α = Σ w_j α_j: sub-abilities (along the last axis) weighed into one."""
    a, w = numbers(abilities, "abilities"), numbers(weights, "weights")
    if a.ndim == 0 or a.shape[-1:] != w.shape:
        raise Error(
            f"{w.size} weights do not fit sub-abilities of shape {a.shape}: give one for each"
        )
    combined = np.asarray((a * w).sum(axis=-1))
    return _out(_alpha(combined))


def moderate_difficulty(alpha: ArrayLike, *, beta: float = 1.0) -> Values:
    """Compute D = α ln 2, where accuracy is half-way between chance and 1, whatever m."""
    return _out(_alpha(alpha) * np.log(2) ** (1 / _beta(beta)))


def least_useful_ability(
    difficulty: ArrayLike, margin: ArrayLike, *, options: ArrayLike | None = None,
    chance: ArrayLike | None = None, beta: float = 1.0,
) -> Values:  # fmt: skip
    """Compute the smallest α with P >= c + ε (`margin`) at difficulty D."""
    c = _chance_to_invert(options, chance)
    over = numbers(margin, "margin (ε)")
    _require((over > 0) & (over < 1 - c), over, "margin (ε) cannot be {}: it is above 0, below 1-c")
    return ability(c + over, difficulty, chance=c, beta=beta)


def difficulty_at_equal_accuracy(
    difficulty: ArrayLike, alpha1: ArrayLike, alpha2: ArrayLike
) -> Values:
    """Compute D2 = D1 α2/α1.

    A mind of α2 does D2 as accurately as a mind of α1 does D1, at the same m.
    """
    return _out(_difficulty(difficulty) * _alpha(alpha2) / _alpha(alpha1))


def ratio(difficulty: ArrayLike, alpha: ArrayLike, beta: float) -> Values:
    """Compute (D/α)^β; overflow gives ∞."""
    d, a, b = _difficulty(difficulty), _alpha(alpha), _beta(beta)
    with np.errstate(over="ignore"):  # beyond all numbers is as far as ∞
        return np.asarray((d / a) ** b)


def _exponent(p: Values, c: Values) -> Values:
    """Compute -ln((P - c)/(1 - c)), exact near P = 1 and near P = c."""
    lost, kept = (1 - p) / (1 - c), (p - c) / (1 - c)
    with np.errstate(divide="ignore"):
        near_one, near_chance = np.log1p(-np.minimum(lost, 0.5)), np.log(kept)
    return np.asarray(np.abs(np.where(lost < 0.5, near_one, near_chance)))


def _chance_to_invert(options: ArrayLike | None, chance: ArrayLike | None) -> Values:
    c = chance_level(options, chance)
    _require(c < 1, c, "chance {} (one option) can be predicted but not inverted: give m >= 2")
    return c


def _difficulty(value: ArrayLike) -> Values:
    d = numbers(value, "difficulty (D)")
    _require(d >= 0, d, "difficulty (D) cannot be {}: it is 0 or more")
    return d


def _alpha(value: ArrayLike) -> Values:
    a = numbers(value, "ability (α)")
    _require((a > 0) & np.isfinite(a), a, "ability (α) cannot be {}: it is finite and above 0")
    return a


def _accuracy(value: ArrayLike) -> Values:
    p = numbers(value, "accuracy (P)")
    _require((p >= 0) & (p <= 1), p, "accuracy (P) cannot be {}: it lies between chance and 1")
    return p


def _beta(value: float) -> float:
    if not (0 < value < np.inf):
        raise Error(f"steepness (β) cannot be {value}: it is finite and above 0")
    return value


def numbers(value: ArrayLike, name: str) -> Values:
    """Convert to an array of numbers; reject missing ones."""
    try:
        made = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise Error(f"{name} cannot be {value!r}: give a number or an array of numbers") from None
    if np.isnan(made).any():
        raise Error(f"{name} is not a number (NaN) somewhere: leave such values out")
    return made


def _require(holds: NDArray[np.bool_], values: Values, sentence: str) -> None:
    """Raise the sentence with the first offending value in its braces."""
    if not np.all(holds):
        holds, values = np.broadcast_arrays(holds, values)
        raise Error(sentence.format(f"{values[~holds][0]:g}"))


def _out(values: Values) -> Values:
    """Return numbers for numbers, arrays for arrays."""
    out: Values = np.asarray(values)[()]
    return out


# ---------------------------------------------------------------- information


def item_information(
    difficulty: ArrayLike, alpha: ArrayLike, *, options: ArrayLike | None = None,
    chance: ArrayLike | None = None, beta: float = 1.0,
) -> Values:  # fmt: skip
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
