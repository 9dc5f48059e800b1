"""The C-test: series of letters, each with a blank, of known complexity k (P0 §5).

`published` has the author's items, `environment` a question as an environment of one step, `minds`
those of P0, `votes` groups of them, `options` the five options, `tally` the score r̃.
"""

from allminds.instruments.series import minds, votes
from allminds.instruments.series.environment import NO_ANSWER, Item, Question
from allminds.instruments.series.instrument import CTest

__all__ = ["NO_ANSWER", "CTest", "Item", "Question", "minds", "votes"]
