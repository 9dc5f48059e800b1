"""The mind of plain_mind.py as a Numba function: try it with

allminds evaluate lambda-star --mind examples/numba_mind.py:careful --episodes 1000000
"""

import numpy as np

from allminds.core.compiled import below
from allminds.instruments.lambda_star.minds import compiled_mind


@compiled_mind
def careful(cells, rewards, step, bits):
    """One episode, one step: cells and rewards as arrays, bits the random word of this step."""
    if rewards.max() == 0:
        return 1 + int(below(bits, np.uint64(9)))
    return 1 + int(rewards.argmax())
