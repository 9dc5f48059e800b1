"""What may be said, and how sure it is: read these three files and you know what allminds claims.

`intervals` says how sure a mean is, `estimates` turns plays into one score with its interval, and
`verdict` says what two scores differ by, in four words. Terminal, notebook, report, `compare`,
groups and votes all print what these make.
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
