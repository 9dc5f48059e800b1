"""Fitness landscapes: many local optima and one global one, static or drifting (P4 §6.2).

Read `field` (what a landscape is made of), `environment` (the specification, and measures of a
walk), `minds`, `instrument`; `present` shows and draws, `fast` is the quick form of some minds.
"""

from allminds.instruments.landscape import minds
from allminds.instruments.landscape.environment import Landscape, Measures, measures
from allminds.instruments.landscape.instrument import FitnessLandscape

__all__ = ["FitnessLandscape", "Landscape", "Measures", "measures", "minds"]
