"""Action-conditional context-tree weighting in plain Python: the specification of `fast`.

A model of what comes next, after Willems, Shtarkov and Tjalkens (1995) and Veness, Ng, Hutter,
Uther and Silver (2011). Actions and percepts are written as bits, one after the other. The bits
just before a bit are its context, and a node of depth d stands for the last d of them. Every node
has a Krichevsky-Trofimov estimator of the bits seen in its context. Its weighted probability is
half of what the estimator gave, and half of what the two nodes below it gave together; at the
largest depth it is the estimator's alone. So the root has the Bayesian mixture of all prediction
suffix trees up to the largest depth, each weighed by 2^-Γ, where Γ has one bit for every node that
is not at the largest depth.

Only bits of percepts are predicted and learnt; bits of actions are context. With `factored`, every
bit of a percept has a tree of its own, whose depth counts the bits of the same percept before it
in addition. The context before the first bit is all zeros.

No logarithms are kept. A node has `odds`, the ratio between what its estimator gave so far and
what the nodes below gave, and the next bit changes it by one multiplication and one division. So
the same bits come out in every engine. Odds are kept within `MOST` and 1/`MOST`.
"""

from __future__ import annotations

from typing import NamedTuple

from allminds.core.seeding import Random

MOST = 2.0**1000  # odds that a node can have: beyond it, they would overflow


class Code(NamedTuple):
    """How a world is written in bits: the number of actions, and what a percept consists of."""

    actions: int
    bits: int  # of an observation
    rewards: tuple[float, ...]  # those that occur, in rising order; a reward is its place in it

    @property
    def action_bits(self) -> int:
        """The number of bits of an action."""
        return width(self.actions)

    @property
    def reward_bits(self) -> int:
        """The number of bits of a reward."""
        return width(len(self.rewards))

    @property
    def span(self) -> float:
        """The difference between the largest and the smallest reward; 1 if all are equal."""
        return self.rewards[-1] - self.rewards[0] or 1.0

    def worths(self) -> list[float]:
        """List what every code of a reward is worth; one that is not used, the middle of all."""
        middle = (self.rewards[0] + self.rewards[-1]) / 2
        unused = (1 << self.reward_bits) - len(self.rewards)
        return [*self.rewards, *[middle] * unused]

    def percept(self, observation: int, reward: float) -> int:
        """Write a percept as a number: its observation, then its reward, rounded to the nearest."""
        nearest = min(range(len(self.rewards)), key=lambda n: abs(self.rewards[n] - reward))
        return observation << self.reward_bits | nearest


def width(count: int) -> int:
    """Return how many bits tell so many things apart."""
    return max(1, (count - 1).bit_length())


def estimate(zeros: int, ones: int) -> float:
    """Estimate the chance of a 1 after so many zeros and ones (Krichevsky and Trofimov 1981)."""
    return (ones + 0.5) / (zeros + ones + 1.0)


class Node:
    """A context: the bits that were seen in it, and the contexts that are one bit longer."""

    __slots__ = ("below", "odds", "seen")

    def __init__(self) -> None:
        self.seen = [0, 0]
        self.odds = 1.0
        self.below: list[Node | None] = [None, None]

    def chance(self, bit: int) -> float:
        """Estimate the chance of a bit in this context."""
        return estimate(self.seen[1 - bit], self.seen[bit])

    def mixed(self, bit: int, below: float) -> float:
        """Weigh the own estimate of a bit against the chance that the node below gives it."""
        return (self.odds * self.chance(bit) + below) / (self.odds + 1.0)


class Change(NamedTuple):
    """What one bit changed: to be undone by `Trees.revert`."""

    path: list[Node]  # that were there before
    odds: list[float]  # their odds before
    bit: int
    grown: int | None  # the direction in which new nodes hang below the last of the path


class Trees:
    """The context trees of a percept, the history that they learnt, and a way back.

    Parameters
    ----------
    code : Code
        How the world is written in bits.
    depth : int
        The number of bits of context; with `factored`, of those before the percept.
    factored : bool
        Whether every bit of a percept has a tree of its own.
    """

    def __init__(self, code: Code, depth: int, factored: bool = True) -> None:
        self.code = code
        self.bits = code.bits + code.reward_bits  # of a percept
        self.depths = [depth + place if factored else depth for place in range(self.bits)]
        roots = [Node() for _ in range(self.bits if factored else 1)]
        self.roots = [roots[place if factored else 0] for place in range(self.bits)]
        self.history: list[int] = []
        self.changes: list[Change] = []

    # ------------------------------------------------------------ one bit

    def chance(self, place: int) -> float:
        """Compute the chance that the next bit, number `place` of the percept, is a 1."""
        path = self._path(place)
        full = len(path) > self.depths[place]
        chance = path.pop().chance(1) if full else 0.5  # what was never seen is even
        for node in reversed(path):
            chance = node.mixed(1, chance)
        return chance

    def update(self, place: int, bit: int) -> None:
        """Learn bit number `place` of a percept, and add it to the history."""
        path = self._path(place)
        depth = self.depths[place]
        grown = self._grow(path[-1], len(path), depth, bit) if len(path) <= depth else None
        self.changes.append(Change(path, [node.odds for node in path], bit, grown))
        chance = 0.5
        for level, node in reversed(list(enumerate(path))):
            own = node.chance(bit)
            if level < depth:
                mixed = node.mixed(bit, chance)
                node.odds = min(max(node.odds * own / chance, 1.0 / MOST), MOST)
                chance = mixed
            else:
                chance = own
            node.seen[bit] += 1
        self.history.append(bit)

    def revert(self, changes: int, length: int) -> None:
        """Undo all changes but the first so many, and cut the history to a length."""
        while len(self.changes) > changes:
            path, odds, bit, grown = self.changes.pop()
            for node, before in zip(path, odds, strict=True):
                node.odds = before
                node.seen[bit] -= 1
            if grown is not None:
                path[-1].below[grown] = None
        del self.history[length:]

    def _path(self, place: int) -> list[Node]:
        """Follow the context down from the root, as far as there are nodes."""
        node: Node | None = self.roots[place]
        path: list[Node] = []
        while node is not None:
            path.append(node)
            deep = len(path) > self.depths[place]
            node = None if deep else node.below[self._back(len(path))]
        return path

    def _back(self, steps: int) -> int:
        """Return the bit so many places back."""
        return self.history[-steps] if steps <= len(self.history) else 0

    def _grow(self, node: Node, level: int, depth: int, bit: int) -> int:
        """Hang the rest of the context below a node, each new node with one bit seen."""
        for deeper in range(level, depth + 1):
            new = Node()
            new.seen[bit] = 1
            node.below[self._back(deeper)] = new
            node = new
        return self._back(level)

    # ------------------------------------------------------------ whole percepts and actions

    def acted(self, action: int) -> None:
        """Add an action to the history: context, and nothing to learn."""
        self._add(action, self.code.action_bits)

    def given(self, percept: int) -> None:
        """Add a percept to the history that no action led to: context, and nothing to learn."""
        self._add(percept, self.bits)

    def perceived(self, percept: int) -> None:
        """Learn a percept for good."""
        for place in range(self.bits):
            self.update(place, percept >> (self.bits - 1 - place) & 1)
        self.changes.clear()

    def imagined(self, random: Random) -> int:
        """Draw a percept bit by bit, and learn it until it is undone."""
        percept = 0
        for place in range(self.bits):
            bit = int(random.unit() < self.chance(place))
            self.update(place, bit)
            percept = percept << 1 | bit
        return percept

    def forget(self) -> None:
        """Forget the history, as before the first bit; what was learnt of it stays."""
        self.history.clear()

    def _add(self, number: int, bits: int) -> None:
        self.history += [number >> (bits - 1 - place) & 1 for place in range(bits)]
