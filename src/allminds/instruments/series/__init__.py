"""The C-test: series of letters, each with a blank, of known complexity k (Chmait et al. 2017, §5).

`items` has what a mind sees, the question as an environment of one step and the author's items;
`bank` certified items and how they are made; `fresh` new ones from a seed; `minds` those of the
paper and votes of them; `instrument` the settings, the score r̃ and the five options; `datasets`
sets of questions as files; `fast` the compiled table of programs.
"""

from allminds.instruments.series import minds
from allminds.instruments.series.instrument import CTest
from allminds.instruments.series.items import NO_ANSWER, Item, SeriesQuestion

__all__ = ["NO_ANSWER", "CTest", "Item", "SeriesQuestion", "minds"]
