"""Matrices: problems in the style of Raven's progressive matrices (paper 002).

`panel` has what a matrix is made of, `rules` what an attribute can carry, `arrays` the unambiguous
arrays of every rule, `limits` what can be seen, `generator` makes a problem from (seed, index) and
`batch` thousands of them, `solver` verifies them without being told the rules, `measures` says how
much there is to find out, `battery` what a set gives away. `geometry`, `drawing` and `raster` draw
problems, `pixels` solves them from pictures, `text` tells them, `datasets` writes them down.
"""

from allminds.instruments.matrices import minds
from allminds.instruments.matrices.environment import Item, Question
from allminds.instruments.matrices.instrument import Matrices
from allminds.instruments.matrices.making.generator import generate
from allminds.instruments.matrices.seeing import pixels

__all__ = ["Item", "Matrices", "Question", "generate", "minds", "pixels"]
