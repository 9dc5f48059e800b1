"""Statistical inference: these files define every claim that allminds makes.

Read in order: `units` (what is independent, and the error of its mean), `intervals` (how sure a
mean is), `estimates` (from plays to one score with its interval), `tally` (the same while a run
goes on), `verdict` (how two scores differ, in four words) and `words`. Terminal, notebook, report,
`compare`, groups and votes print what these compute. People, who are a sample crossed with items,
are in `statistics.comparison.crossed`.
"""

from allminds.inference.estimates import Estimate, Plays, Rule, difference, estimate
from allminds.inference.intervals import Evidence, plain_interval
from allminds.inference.tally import Tally
from allminds.inference.units import Units
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
