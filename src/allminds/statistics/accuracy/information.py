"""How much an answer tells about ability, and which difficulty tells most."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Values, chance_level, ratio


def item_information(
    difficulty: ArrayLike,
    alpha: ArrayLike,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> Values:
    """I: what one answer tells about ln α; with x = (D/α)^β,

        I = β² (1-c) x² e^(-2x) / [(1 - e^(-x)) (c + (1-c) e^(-x))].

    Items far too easy (x → 0) or far too hard (x → ∞) tell nothing.
    """
    c = _below_one(chance_level(options, chance))
    out: Values = (beta**2 * _of_ratio(ratio(difficulty, alpha, beta), c))[()]
    return out


def most_informative_ratio(*, options: float | None = None, chance: float | None = None) -> float:
    """x*: the (D/α)^β at which an answer tells most; .797 for m = 2, 1.347 for m = 26."""
    c = _below_one(chance_level(options, chance))
    found = minimize_scalar(
        lambda x: -float(_of_ratio(np.asarray(x), c)),
        bounds=(1e-3, 3.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(found.x)


def expected_stderr(
    difficulties: ArrayLike,
    alpha: float,
    *,
    options: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    beta: float = 1.0,
) -> float:
    """se(ln α) = 1/√ΣI that a form of these difficulties promises for a mind of ability α."""
    c = chance_level(options, chance)
    total = float(item_information(difficulties, alpha, chance=c, beta=beta).sum())
    return float(1 / np.sqrt(total)) if total > 0 else np.inf


def _of_ratio(x: Values, c: Values) -> Values:
    """I for β = 1, multiplied above and below by e^x so that large x cannot overflow."""
    x = np.minimum(x, 700.0)
    told = 1 - np.exp(-x)
    below = np.where(told > 0, told, 1.0) * (c * np.exp(x) + 1 - c)
    return np.asarray((1 - c) * x * x * np.exp(-x) / below)


def _below_one(c: Values) -> Values:
    if not np.all(c < 1):
        raise Error("with one option every answer is right and tells nothing: give m >= 2")
    return c
