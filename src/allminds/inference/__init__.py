"""Statistical inference: these three files define every claim that allminds makes.

`intervals` computes how sure a mean is, `estimates` turns plays into one score with its interval,
and `verdict` states in four words how two scores differ. Terminal, notebook, report, `compare`,
groups and votes all print what these compute.
"""

from allminds.inference.estimates import Estimate, Plays, Rule, Tally, difference, estimate
from allminds.inference.intervals import Evidence, Units, plain_interval
from allminds.inference.verdict import MARGIN, Difference, corrected, holm

__all__ = [
    "MARGIN",
    "Difference",
    "Estimate",
    "Evidence",
    "Plays",
    "Rule",
    "Tally",
    "Units",
    "corrected",
    "difference",
    "estimate",
    "holm",
    "plain_interval",
]
