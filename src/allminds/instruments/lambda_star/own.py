"""A Numba function as a mind of Λ*: the quickest way to bring a mind of your own.

    @compiled_mind
    def greedy(cells, rewards, step, bits):
        return 1 + int(np.argmax(rewards))

`cells` and `rewards` are the neighbourhood in reading order, `step` counts from 0, `bits` is the
random word of this step (see `allminds.core.compiled.below`), and the answer is an action 1..9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from allminds.contracts import MindBase, Task
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.world import View


class CompiledMind(MindBase):
    """Base of the classes that `compiled_mind` makes; `fast` recognises them by it."""

    function: Callable[..., int]

    def begin(self, task: Task) -> None:
        """Count steps from 0."""
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Call the same function for one episode."""
        cells, rewards = np.array(observation.cells), np.array(observation.rewards)
        action = type(self).function(cells, rewards, self.step, np.uint64(random.word_at(0)))
        self.step += 1
        return int(action)


def compiled_mind(function: Callable[..., int]) -> type[CompiledMind]:
    """Compile a function of (cells, rewards, step, bits) and make a mind of it."""
    from numba import njit

    body = {
        "function": staticmethod(njit(nogil=True)(function)),
        "__doc__": function.__doc__,
        "__module__": function.__module__,
    }
    made: Any = type(function.__name__, (CompiledMind,), body)
    return made  # type: ignore[no-any-return]
