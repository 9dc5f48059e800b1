"""Accuracy, ability and difficulty after Chmait et al. (2017, §4-6): the curve and its fits.

`curve` has Eq. 1 with its inverses, the information of an item and adaptive tests, `fit` the counts
of hits and a mind's ability, `models` the rival curves, `predict` which curve predicts unseen
answers, what it predicts and what is supported by data, `beyond` what may be said of difficulties
above all that were tried.
"""

from allminds.statistics.accuracy.beyond import Beyond, predict_beyond, simulate_beyond
from allminds.statistics.accuracy.curve import (
    AdaptiveTest,
    ability,
    accuracy,
    accuracy_difference,
    administer,
    chance_level,
    combined_ability,
    difficulty,
    difficulty_at_equal_accuracy,
    item_information,
    least_useful_ability,
    moderate_difficulty,
    most_informative_ratio,
    options,
)
from allminds.statistics.accuracy.fit import (
    Ability,
    Counts,
    Omega,
    consistent,
    log_likelihood,
    maximum_likelihood,
    omega,
    scores,
)
from allminds.statistics.accuracy.models import CURVES, Curve, Fit, fit_curve
from allminds.statistics.accuracy.predict import (
    Comparison,
    Foreseen,
    HeldOut,
    InferredDifficulty,
    Predicted,
    Prediction,
    Supported,
    clopper_pearson,
    compare,
    foresee,
    infer_difficulty,
    prediction,
)

__all__ = [
    "CURVES",
    "Ability",
    "AdaptiveTest",
    "Beyond",
    "Comparison",
    "Counts",
    "Curve",
    "Fit",
    "Foreseen",
    "HeldOut",
    "InferredDifficulty",
    "Omega",
    "Predicted",
    "Prediction",
    "Supported",
    "ability",
    "accuracy",
    "accuracy_difference",
    "administer",
    "chance_level",
    "clopper_pearson",
    "combined_ability",
    "compare",
    "consistent",
    "difficulty",
    "difficulty_at_equal_accuracy",
    "fit_curve",
    "foresee",
    "infer_difficulty",
    "item_information",
    "least_useful_ability",
    "log_likelihood",
    "maximum_likelihood",
    "moderate_difficulty",
    "most_informative_ratio",
    "omega",
    "options",
    "predict_beyond",
    "prediction",
    "scores",
    "simulate_beyond",
]
