"""Groups that vote: the probability that they are right, and the vote itself."""

from __future__ import annotations

from allminds.voting.dependent import (
    Correlation,
    WeightedBounds,
    bounds,
    correlated_majority,
    correlated_plurality,
    correlated_weighted,
    estimate_correlation,
    plurality_bounds,
    weighted_bounds,
)
from allminds.voting.rules import (
    Bounds,
    Ties,
    gain_of_replacing,
    majority_accuracy,
    majority_vote,
    plurality_accuracy,
    vote,
    vote_weights,
)

__all__ = [
    "Bounds",
    "Correlation",
    "Ties",
    "WeightedBounds",
    "bounds",
    "correlated_majority",
    "correlated_plurality",
    "correlated_weighted",
    "estimate_correlation",
    "gain_of_replacing",
    "majority_accuracy",
    "majority_vote",
    "plurality_accuracy",
    "plurality_bounds",
    "vote",
    "vote_weights",
    "weighted_bounds",
]
