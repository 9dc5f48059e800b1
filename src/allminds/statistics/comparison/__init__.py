"""Comparison of minds, people and groups on the same exercises.

`table` turns a results table into scores by exercise and mind, `crossed` compares people with
programs and with one another (people and items are samples), with `spreads` for its errors;
`people` makes people one side of a comparison, and has the logistic model; `effects` has effect
sizes, the analysis of variance, shares of factors, and the correlation with complexity, `mixed` the
mixed models, `ranks` the places, `reaction` the reaction times of people; `compare` in `whole` does
most of it.
"""

from allminds.inference import MARGIN, Difference, corrected, holm
from allminds.statistics.comparison.crossed import Crossed, crossed
from allminds.statistics.comparison.effects import (
    Anova,
    Correlation,
    Effect,
    Size,
    correlations,
    greenhouse_geisser,
    paired_g,
    repeated_measures,
)
from allminds.statistics.comparison.mixed import Mixed, Term, mixed_model
from allminds.statistics.comparison.people import PEOPLE, Logistic, included, logistic, sides
from allminds.statistics.comparison.ranks import Rank, ranks
from allminds.statistics.comparison.reaction import ReactionTimes, reaction_times
from allminds.statistics.comparison.table import ScoreTable, complexities, plays_by_mind, scores_of
from allminds.statistics.comparison.whole import Comparison, Standing, compare

__all__ = [
    "MARGIN",
    "PEOPLE",
    "Anova",
    "Comparison",
    "Correlation",
    "Crossed",
    "Difference",
    "Effect",
    "Logistic",
    "Mixed",
    "Rank",
    "ReactionTimes",
    "ScoreTable",
    "Size",
    "Standing",
    "Term",
    "compare",
    "complexities",
    "corrected",
    "correlations",
    "crossed",
    "greenhouse_geisser",
    "holm",
    "included",
    "logistic",
    "mixed_model",
    "paired_g",
    "plays_by_mind",
    "ranks",
    "reaction_times",
    "repeated_measures",
    "scores_of",
    "sides",
]
