"""Who comes first, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allminds.psychometrics.comparison.resampling import (
    DRAWS,
    lot_sums,
    lots,
    redrawn_repeats,
    resampled_sums,
)
from allminds.psychometrics.comparison.table import Scores, Values, unit_means


@dataclass(frozen=True)
class Rank:
    """A mind's place, 1 for the best, and the places it has in 95 of 100 resamples."""

    mind: str
    rank: int
    interval: tuple[int, int]


def ranks(scores: Scores, rng: np.random.Generator, draws: int = DRAWS) -> list[Rank]:
    """The places of all minds on the exercises that they all have; [] where there are none.

    Minds that tie share the better place, and the interval of each holds all places of the tie.
    """
    everyone = range(len(scores.minds))
    rows = scores.common(everyone)
    if not rows.any():
        return []
    redrawn = redrawn_repeats(scores.values[rows], rng)  # [exercise, mind, variant]
    units = np.moveaxis(unit_means(redrawn, scores.unit[rows]), 2, 1)
    sums = lot_sums(units, lots(np.arange(len(units)), rng))
    best, worst = _places(resampled_sums(sums, rng, draws))
    low = np.quantile(best, 0.025, axis=0, method="inverted_cdf")
    high = np.quantile(worst, 0.975, axis=0, method="inverted_cdf")
    if len(units) == 1:  # it says nothing about others
        low, high = np.ones(len(everyone)), np.full(len(everyone), len(everyone))
    now, _ = _places(scores.by_unit(everyone).mean(axis=0)[None])
    return [
        Rank(name, int(now[0, n]), (int(low[n]), int(high[n])))
        for n, name in enumerate(scores.minds)
    ]


def _places(means: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """[draw, mind]: the best and the worst place of each, which differ where minds tie."""
    one, other = means[:, :, None], means[:, None, :]
    return 1 + (other > one).sum(axis=2), (other >= one).sum(axis=2)
