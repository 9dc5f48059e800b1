"""Social testbeds: is a set of environments and minds a fit test, and how does a mind score?

After Insa-Cabrera and Hernández-Orallo (2015). `survey` computes all of it for one instrument. In
parts: a `Testbed` of games (`InstrumentGame`, or `Payoffs` given as a table) with its `Weights`;
`upsilon` exactly, and `estimate` by a test that draws exercises; `repeated_tests` for its
reliability; `exact_profile`, or `crossed` and `sampled_profile`, for the properties of a game and
the ratings of its minds; `specificity` and `generality`.
"""

from allminds.statistics.testbed.bed import Sampling, Testbed, Weights
from allminds.statistics.testbed.exact import Payoffs, Profile, exact_profile
from allminds.statistics.testbed.interaction import generality, specificity
from allminds.statistics.testbed.results import Property
from allminds.statistics.testbed.sampled import crossed, sampled_profile
from allminds.statistics.testbed.scores import sigma, upsilon
from allminds.statistics.testbed.surveys import (
    InstrumentGame,
    Survey,
    default_minds,
    drawn_scores,
    survey,
)
from allminds.statistics.testbed.trial import (
    Draws,
    error_of_tests,
    estimate,
    literal_limit,
    repeated_tests,
)

__all__ = [
    "Draws",
    "InstrumentGame",
    "Payoffs",
    "Profile",
    "Property",
    "Sampling",
    "Survey",
    "Testbed",
    "Weights",
    "crossed",
    "default_minds",
    "drawn_scores",
    "error_of_tests",
    "estimate",
    "exact_profile",
    "generality",
    "literal_limit",
    "repeated_tests",
    "sampled_profile",
    "sigma",
    "specificity",
    "survey",
    "upsilon",
]
