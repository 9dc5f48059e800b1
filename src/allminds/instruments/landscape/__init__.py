"""Fitness landscapes: many local optima and one global one, static or drifting.

After Chmait et al. (2016, §6.2). Read `world` (hills, a walk on them, which is the specification,
and its measures), `minds`, `instrument`; `present` shows and draws, `fast` is the quick form of
some minds.
"""

from allminds.instruments.landscape import minds
from allminds.instruments.landscape.instrument import FitnessLandscape
from allminds.instruments.landscape.world import Landscape, Measures, measures

__all__ = ["FitnessLandscape", "Landscape", "Measures", "measures", "minds"]
