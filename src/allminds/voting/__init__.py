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
from allminds.voting.ranked import (
    RANKED_RULES,
    VoteAccuracy,
    few_ballots,
    ranked_accuracy,
    ranked_bounds,
    ranked_vote,
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
    "RANKED_RULES",
    "Bounds",
    "Correlation",
    "Ties",
    "VoteAccuracy",
    "WeightedBounds",
    "bounds",
    "correlated_majority",
    "correlated_plurality",
    "correlated_weighted",
    "estimate_correlation",
    "few_ballots",
    "gain_of_replacing",
    "majority_accuracy",
    "majority_vote",
    "plurality_accuracy",
    "plurality_bounds",
    "ranked_accuracy",
    "ranked_bounds",
    "ranked_vote",
    "vote",
    "vote_weights",
    "weighted_bounds",
]
