"""Groups that vote: the probability that they are right, and the act of voting."""

from __future__ import annotations

from allminds.voting.act import majority_vote, vote
from allminds.voting.majority import (
    Bounds,
    Ties,
    bounds,
    gain_of_replacing,
    majority_accuracy,
    replacement_gain,
)
from allminds.voting.plurality import plurality_accuracy
from allminds.voting.weighted import vote_weights, weighted_accuracy

__all__ = [
    "Bounds",
    "Ties",
    "bounds",
    "gain_of_replacing",
    "majority_accuracy",
    "majority_vote",
    "plurality_accuracy",
    "replacement_gain",
    "vote",
    "vote_weights",
    "weighted_accuracy",
]
