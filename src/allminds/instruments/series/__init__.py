"""The C-test: series of letters, each with a blank, of known complexity k (P0 §5).

`published` has the author's items, `bank` certified ones and how they are made, `environment` a
question as an environment of one step, `minds` those of P0, `votes` groups of them, `options`
the five options, `instrument` the settings and the score r̃, `datasets` sets of questions as
files, `fast` the compiled table of programs.
"""

from allminds.instruments.series import minds, votes
from allminds.instruments.series.environment import NO_ANSWER, Item, SeriesQuestion
from allminds.instruments.series.instrument import CTest

__all__ = ["NO_ANSWER", "CTest", "Item", "SeriesQuestion", "minds", "votes"]
