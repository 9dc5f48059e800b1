"""ρUCT in plain Python (Veness and others 2011, §4): how MC-AIXI chooses an action.

A simulation imagines what follows from now on: actions chosen by the search tree and percepts drawn
from the context trees, which learn them as if they had come, until the horizon. Then all that is
undone. The search tree counts, for every imagined history, how often each action was taken and the
mean sum of rewards from there to the horizon. `fast` has the compiled twin of all this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from allminds.core.seeding import Random
from allminds.instruments.aixi.tree import Code, Trees


@dataclass
class Search:
    """How to search: cycles ahead, simulations, and the constant C of the upper bounds."""

    horizon: int
    simulations: int
    bound: float


@dataclass
class Decision:
    """An imagined history in which an action is due."""

    visits: int = 0
    tried: list[int] = field(default_factory=list)  # how often, by action
    values: list[float] = field(default_factory=list)  # the mean sum of rewards, by action
    after: dict[tuple[int, int], Decision] = field(default_factory=dict)  # by action and percept


class PlainAgent:
    """The context trees of a world, and the search for the best action in them.

    Parameters
    ----------
    code : Code
        How the world is written in bits.
    depth, factored
        As `Trees` has them.
    """

    def __init__(self, code: Code, depth: int, factored: bool = True) -> None:
        self.trees = Trees(code, depth, factored)
        self.code, self.worths = code, code.worths()
        self.acted, self.given = self.trees.acted, self.trees.given
        self.perceived, self.forget = self.trees.perceived, self.trees.forget

    def plan(self, search: Search, random: Random) -> int:
        """Search for the action with the largest expected sum of rewards; by lot among equals."""
        root, length = self._new(), len(self.trees.history)
        for _ in range(search.simulations):
            self._simulate(root, search.horizon, search, random)
            self.trees.revert(0, length)
        return best_of(root.tried, root.values, random)

    def _simulate(self, node: Decision | None, left: int, search: Search, random: Random) -> float:
        """Imagine the next `left` cycles, and return the sum of their rewards.

        Beyond the search tree, and at the first visit of a node, actions are drawn by lot.
        """
        if left == 0:
            return 0.0
        inside = node if node is not None and node.visits > 0 else None
        if inside is not None:
            action = self._selected(inside, left, search, random)
        else:
            action = random.below(self.code.actions)
        self.trees.acted(action)
        percept = self.trees.imagined(random)
        reward = self.worths[percept & (len(self.worths) - 1)]
        after = None
        if inside is not None and left > 1:
            after = inside.after.setdefault((action, percept), self._new())
        total = reward + self._simulate(after, left - 1, search, random)
        if inside is not None:
            tried = inside.tried[action]
            inside.values[action] = (total + tried * inside.values[action]) / (tried + 1.0)
            inside.tried[action] = tried + 1
        if node is not None:
            node.visits += 1
        return total

    def _selected(self, node: Decision, left: int, search: Search, random: Random) -> int:
        """Select an action not tried yet, by lot, or else that with the largest upper bound."""
        fresh = [action for action, tried in enumerate(node.tried) if tried == 0]
        if fresh:
            return fresh[random.below(len(fresh))]
        log, scale = math.log(node.visits), left * self.code.span
        bounds = [
            value / scale + search.bound * math.sqrt(log / tried)
            for value, tried in zip(node.values, node.tried, strict=True)
        ]
        return bounds.index(max(bounds))

    def _new(self) -> Decision:
        return Decision(0, [0] * self.code.actions, [0.0] * self.code.actions)


def best_of(tried: Sequence[int], values: Sequence[float], random: Random) -> int:
    """Return the best of the actions that were tried, by lot among equals."""
    known = [action for action, times in enumerate(tried) if times]
    if not known:
        return random.below(len(tried))
    best = max(values[action] for action in known)
    return random.choice([action for action in known if values[action] == best])
