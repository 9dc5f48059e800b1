"""Accuracy from ability and difficulty, and back: Eq. 1 of Chmait et al. (2017); counts of hits.

The accuracy P of a mind of ability α on a task of difficulty D with m options, chance c = 1/m, is

    E1: P = c + (1 - c) e^(-D/α)        E2: P = c + (1 - c) e^(-(D/α)^β)

E1 is E2 with β = 1, so every function here takes `beta`, which is 1 unless told. All of them work
on numbers and on arrays; out-of-range input is an `Error` that says why. What these formulas give
is what the curve says, not what a mind is known to do: for that see `predict`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    difficulty: ArrayLike,
    alpha: ArrayLike,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> Values:
    """Compute P(D, α, m), the probability of a right answer; 1 at D = 0, c as D → ∞ or α → 0."""
    c = chance_level(options, chance)
    return _out(c + (1 - c) * np.exp(-ratio(difficulty, alpha, beta)))


def difficulty(
    accuracy: ArrayLike,
    alpha: ArrayLike,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> Values:
    """Compute D = -α ln((P - c)/(1 - c)), where a mind of ability α has accuracy P; ∞ at P = c."""
    c = _chance_to_invert(options, chance)
    p, a = _accuracy(accuracy), _alpha(alpha)
    _require(p >= c, p, "no difficulty gives an accuracy of {}: it is below chance")
    return _out(a * _exponent(p, c) ** (1 / _beta(beta)))


def ability(
    accuracy: ArrayLike,
    difficulty: ArrayLike,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> Values:
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
    difficulty: ArrayLike,
    margin: ArrayLike,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> Values:
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


# ---------------------------------------------------------------- counts


@dataclass(frozen=True)
class Counts:
    """Hits and trials of each mind on each item (or level of difficulty), at one chance level.

    Make it with `Counts.of`, which checks it once. Hits need not be whole: a mind that guesses may
    be entered with the hits it is expected to have.
    """

    difficulty: Values  # D (the C-test's k), [item]
    hits: Values  # [mind, item]
    trials: Values  # [mind, item]
    chance: float  # c

    @classmethod
    def of(
        cls,
        difficulty: ArrayLike,
        hits: ArrayLike,
        trials: ArrayLike = 1,
        *,
        options: float | None = None,
        chance: float | None = None,
    ) -> Counts:
        """Build counts from hits[mind, item], or hits[item]; trials may be one number."""
        d = np.atleast_1d(numbers(difficulty, "difficulty (D)"))
        x = np.atleast_2d(numbers(hits, "hits"))
        if d.ndim != 1 or x.ndim != 2 or x.shape[1] != len(d) or not len(d):
            raise Error(
                f"hits of shape {x.shape} do not fit {d.size} difficulties: give hits[mind, item]"
            )
        try:
            n = np.broadcast_to(numbers(trials, "trials"), x.shape)
        except ValueError:
            raise Error(
                f"trials of shape {np.shape(trials)} do not fit hits of shape {x.shape}"
            ) from None
        if not ((d > 0) & np.isfinite(d)).all():
            raise Error(
                "a difficulty is not above 0: items of no difficulty tell nothing, drop them"
            )
        if not ((x >= 0) & (x <= n) & np.isfinite(n)).all():
            raise Error("there are hits below 0 or above their trials: give 0 <= hits <= trials")
        c = float(chance_level(options, chance))
        if c >= 1:
            raise Error("with one option every answer is right: abilities need a chance below 1")
        return cls(d, x, n, c)

    @property
    def minds(self) -> int:
        """The number of minds."""
        return len(self.hits)

    def mind(self, index: int) -> Counts:
        """Select the counts of one mind."""
        if not 0 <= index < self.minds:
            raise Error(f"there is no mind {index}: they are numbered 0 to {self.minds - 1}")
        rows = slice(index, index + 1)
        return Counts(self.difficulty, self.hits[rows], self.trials[rows], self.chance)

    def items(self, chosen: NDArray[np.bool_]) -> Counts:
        """Select the counts of some items."""
        hits, trials = self.hits[:, chosen], self.trials[:, chosen]
        return Counts(self.difficulty[chosen], hits, trials, self.chance)

    def by_level(self) -> Counts:
        """Pool items of equal difficulty into levels, easiest first."""
        levels, of = np.unique(self.difficulty, return_inverse=True)
        to_level = (of[:, None] == np.arange(len(levels))).astype(np.float64)
        return Counts(levels, self.hits @ to_level, self.trials @ to_level, self.chance)
