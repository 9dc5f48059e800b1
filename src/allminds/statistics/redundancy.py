"""Redundancy: how alike the errors of members are, and what that predicts for their vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.voting import (
    Bounds,
    Correlation,
    bounds,
    correlated_majority,
    correlated_plurality,
    estimate_correlation,
    majority_accuracy,
    plurality_accuracy,
    plurality_bounds,
)

Floats = NDArray[np.float64]
RULES = ("vote", "plurality")  # whose accuracy follows from their members'


@dataclass(frozen=True)
class Dependence:
    """How dependent the members of a vote are, and what that says of the vote's accuracy."""

    correlation: Correlation | None = None  # latent, of every two members
    correlated: float | None = None  # the accuracy that it predicts
    bounds: Bounds | None = None  # for any dependence


def dependence(
    rule: str, hits: Floats, options: int, cluster: NDArray[np.int64] | None = None
) -> Dependence:
    """Estimate the latent correlation of members from hits[exercise, member], for one rule."""
    there = ~np.isnan(hits).any(axis=1)
    hits, cluster = hits[there], None if cluster is None else cluster[there]
    if rule not in RULES or not len(hits) or not np.isin(hits, (0, 1)).all():
        return Dependence()
    p, found = hits.mean(axis=0), estimate_correlation(hits, cluster)
    ends = plurality_bounds(p, options) if rule == "plurality" else bounds(p, "fail")
    if found is None:
        return Dependence(bounds=ends)
    right = (
        correlated_plurality(p, found.value, options)
        if rule == "plurality"
        else correlated_majority(p, found.value, "fail")
    )
    return Dependence(found, float(right), ends)


def if_independent(rule: str, p: Sequence[float] | Floats, options: int) -> float:
    """Compute how often a vote or plurality is right if its members err independently."""
    if rule == "plurality":
        return float(plurality_accuracy(p, options))
    return float(majority_accuracy(p, "fail"))


@dataclass(frozen=True)
class Redundancy:
    """How alike members err, and the accuracy predicted for their vote beside the one observed."""

    errors: float | None  # the mean correlation of the scores of every two members that vary
    pairs: int
    independent: float | None  # the accuracy of the vote, if members erred independently
    dependence: Dependence
    observed: float

    def as_json(self) -> dict[str, Any]:
        """Return the figures, as `--json` prints them."""
        found = self.dependence
        latent = found.correlation
        return {
            "errors": self.errors, "pairs": self.pairs, "independent": self.independent,
            "latent": None if latent is None else latent.value,
            "latent_ci95": None if latent is None else latent.interval,
            "correlated": found.correlated, "bounds": found.bounds, "observed": self.observed,
        }  # fmt: skip


def redundancy(
    rule: str, alone: Floats, group: Floats, chance: float | None, cluster: NDArray[np.int64]
) -> Redundancy | None:
    """Compare the members alone, scores[exercise, member], with the group; None for a single one.

    Exercises that are hard for all make scores correlated too: that is redundancy all the same.
    """
    members = alone.shape[1]
    if members < 2 or len(alone) < 2:
        return None
    pairs = [
        float(np.corrcoef(alone[:, i], alone[:, j])[0, 1])
        for i in range(members)
        for j in range(i)
        if np.ptp(alone[:, i]) > 0 and np.ptp(alone[:, j]) > 0
    ]
    options = max(2, round(1 / chance)) if chance else 2
    known = rule in RULES and bool(np.isin(alone, (0, 1)).all())
    return Redundancy(
        errors=float(np.mean(pairs)) if pairs else None,
        pairs=len(pairs),
        independent=if_independent(rule, alone.mean(axis=0), options) if known else None,
        dependence=dependence(rule, alone, options, cluster),
        observed=float(group.mean()),
    )
