"""Λ (Lambda): Good and Evil travel through a graph of cells in a pattern of actions.

After Insa-Cabrera et al. (2011). Read in this order: `world` (cells and actions, the pattern of
Good and Evil, complexity, one exercise: the specification), `minds`, `learners` (those that can
carry what they learnt), `instrument` (the test of the paper and the general class), `bayes` (the
fair ceiling), `adaptive` (the anytime test and the staircase). `rows` reads the authors' file,
`fast` has the quick forms of the same.
"""

from allminds.instruments.lambda_ import bayes, learners, minds
from allminds.instruments.lambda_.adaptive import Anytime, Staircase
from allminds.instruments.lambda_.instrument import Lambda
from allminds.instruments.lambda_.world import Foresight, Space, View, World

__all__ = [
    "Anytime",
    "Foresight",
    "Lambda",
    "Space",
    "Staircase",
    "View",
    "World",
    "bayes",
    "learners",
    "minds",
]
