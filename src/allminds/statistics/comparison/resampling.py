"""Resampling units, for figures that are made of sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allminds.statistics.comparison.table import Values

DRAWS = 2000
MOST_LOTS = 2000  # more units than these are resampled in lots, which says the same and is quick
_AT_ONCE = 8_000_000  # numbers held in memory


def lots(unit: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """By exercise, the number of the lot that is resampled whole: its unit, or some together."""
    found, codes = np.unique(unit, return_inverse=True)
    if len(found) > MOST_LOTS:
        codes = (rng.permutation(len(found)) % MOST_LOTS)[codes]
    return codes.astype(np.intp)


def lot_sums(values: Values, lot: NDArray[np.intp]) -> Values:
    """[lot, …]: the sums of values[exercise, …]."""
    sums = np.zeros((int(lot.max()) + 1, *values.shape[1:]))
    np.add.at(sums, lot, values)
    return sums


def resampled_sums(sums: Values, rng: np.random.Generator, draws: int) -> Values:
    """[draw, column]: totals of sums[lot, variant, column] over lots drawn with replacement."""
    count, variants, columns = sums.shape
    flat = sums.reshape(count * variants, columns)
    drawn = []
    for start in range(0, draws, step := max(1, _AT_ONCE // len(flat))):
        chosen = rng.integers(len(flat), size=(min(step, draws - start), count))
        times = np.array([np.bincount(one, minlength=len(flat)) for one in chosen], float)
        drawn.append(times @ flat)
    return np.concatenate(drawn)
