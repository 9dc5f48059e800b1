"""How the score goes with complexity, overall and at each value of a factor.

Pearson's r. Its interval is by resampling units: exercises, or the tests they come in, since the
exercises of one test were sat by one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.psychometrics.comparison.resampling import (
    DRAWS,
    lot_sums,
    lots,
    redrawn_repeats,
    resampled_sums,
)
from allminds.psychometrics.comparison.table import Scores, Values, column

LEAST_DEFINED = 0.9  # share of resamples in which there must be a correlation at all
_VARIES = 1e-12  # of the sum of squares: what is below is rounding


@dataclass(frozen=True)
class Correlation:
    """r of a mind's scores with a complexity; None where it cannot be estimated."""

    mind: str
    complexity: str
    level: Any  # the value of the factor; None for all exercises
    exercises: int
    r: float | None
    interval: tuple[float, float] | None  # 95 %


def correlations(
    scores: Scores,
    complexities: Sequence[str],
    rng: np.random.Generator,
    by: str | None = None,
    draws: int = DRAWS,
) -> list[Correlation]:
    """r of every mind's scores with each complexity: overall, then at the values of a factor."""
    redrawn = redrawn_repeats(scores.values, rng)
    pairs = [(mind, name) for name in complexities for mind in range(len(scores.minds))]
    found = []
    for level, rows in _levels(scores, by):
        if not pairs or not rows.any():
            continue
        lot = lots(scores.unit[rows], rng)
        plain, sums = [], []
        for mind, name in pairs:
            x = column(scores.exercises, name).to_numpy(dtype=float, na_value=np.nan)[rows]
            plain.append(_moments(x, scores.means[rows, mind][:, None]).sum(axis=(0, 1)))
            sums.append(lot_sums(_moments(x, redrawn[rows, mind]), lot))
        drawn = resampled_sums(np.concatenate(sums, axis=2), rng, draws)
        drawn = drawn.reshape(draws, len(pairs), -1)
        for n, (mind, name) in enumerate(pairs):
            r = float(_r(plain[n]))
            known = np.isfinite(r)
            found.append(
                Correlation(
                    scores.minds[mind], name, level, round(plain[n][0]),
                    r if known else None, _interval(_r(drawn[:, n])) if known else None,
                )
            )  # fmt: skip
    return found


def _levels(scores: Scores, by: str | None) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """All exercises, and those at each value of the factor."""
    yield None, np.ones(len(scores.exercises), bool)
    if by is not None:
        values = column(scores.exercises, by)
        for level in sorted(values.dropna().unique().tolist()):
            yield level, (values == level).to_numpy(dtype=bool)


def _moments(x: Values, y: Values) -> Values:
    """[exercise, variant, 6]: 1, x, y, x², y², xy; 0 where there is no score.

    Both are centred first, so that differences of large sums keep their digits.
    """
    there = ~np.isnan(y) & ~np.isnan(x)[:, None]
    if not there.any():
        return np.zeros((*y.shape, 6))
    x = np.broadcast_to(x[:, None], y.shape)
    x = np.where(there, x - x[there].mean(), 0.0)
    y = np.where(there, y - y[there].mean(), 0.0)
    return np.stack([there.astype(float), x, y, x * x, y * y, x * y], axis=2)


def _r(sums: Values) -> Values:
    """Pearson's r from sums of moments [..., 6]; NaN where one of both does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(all="ignore"):
        spread_x, spread_y = xx - x * x / n, yy - y * y / n
        r = (xy - x * y / n) / np.sqrt(spread_x * spread_y)
    varies = (n > 2) & (spread_x > _VARIES * xx) & (spread_y > _VARIES * yy)
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


def _interval(drawn: Values) -> tuple[float, float] | None:
    there = drawn[np.isfinite(drawn)]
    if len(there) < LEAST_DEFINED * len(drawn):
        return None
    low, high = np.quantile(there, [0.025, 0.975])
    return float(low), float(high)
