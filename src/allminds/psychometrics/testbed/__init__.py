"""Social testbeds (P1): is a set of environments and minds a fit test, and how does a mind score?

`survey` says all of it of one instrument. In parts: a `Testbed` of games (`InstrumentGame`, or
`Payoffs` given as a table) with its `Weights`; `upsilon` exactly, and `estimate` by a test that
draws exercises; `repeated_tests` for its reliability; `exact_profile`, or `crossed` and
`sampled_profile`, for the properties of a game and the ratings of its minds; `specificity` and
`generality`.
"""

from allminds.psychometrics.testbed.bed import Testbed
from allminds.psychometrics.testbed.crossing import crossed
from allminds.psychometrics.testbed.error import error_of_tests, repeated_tests
from allminds.psychometrics.testbed.exact import exact_profile
from allminds.psychometrics.testbed.instrument_game import InstrumentGame, default_minds
from allminds.psychometrics.testbed.many import drawn_scores
from allminds.psychometrics.testbed.payoffs import Payoffs
from allminds.psychometrics.testbed.profile import Profile, combined_properties
from allminds.psychometrics.testbed.property import Property
from allminds.psychometrics.testbed.sampled import sampled_profile
from allminds.psychometrics.testbed.scores import upsilon
from allminds.psychometrics.testbed.surveys import Survey, survey
from allminds.psychometrics.testbed.symmetry import sigma
from allminds.psychometrics.testbed.trial import Draws, estimate, literal_limit
from allminds.psychometrics.testbed.validity import generality, specificity
from allminds.psychometrics.testbed.weights import Sampling, Weights

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
    "combined_properties",
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
