"""Matrices: problems in the style of Raven's progressive matrices (Hilton, Liao and Poggio).

Read `making` first: `panel` has what a matrix is made of, `rules` the codes of panels and what an
attribute can carry, `arrays` the unambiguous arrays of every rule, `cases` what can be seen;
`generator` makes problems from (seed, index), `solver` verifies them without being told the rules,
`problems` measures how much there is to find out, and `text` puts them into words. `drawing` draws
problems and solves them from their pixels, `dataset` writes them to files and tests what a set
gives away, `fast` has the compiled forms.
"""

from allminds.instruments.matrices import minds
from allminds.instruments.matrices.instrument import Item, Matrices, MatrixQuestion
from allminds.instruments.matrices.making.generator import generate
from allminds.instruments.matrices.making.panel import Figure, Marks, Panel

__all__ = [
    "Figure",
    "Item",
    "Marks",
    "Matrices",
    "MatrixQuestion",
    "Panel",
    "generate",
    "minds",
]
