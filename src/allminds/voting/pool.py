"""A pool of minds, and the search in it for the cheapest group that is accurate enough.

For a given size of group, a more accurate member never does harm under majority or plurality,
and the group's accuracy is linear in each member's. All of the search rests on these two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from allminds.voting.counts import Floats

SAME = 1e-12  # accuracies, and costs, this close are equal


@dataclass(frozen=True)
class Pool:
    """The minds to choose from, cheapest first; a group is a list of their places, [] for none."""

    who: list[int]  # copies of one mind have the same number
    costs: Floats
    table: Floats  # [mind, task]
    threshold: float
    accuracy: Callable[[Floats], float]

    def cost(self, group: list[int]) -> float:
        """Sum the costs of a group; infinite for no group."""
        return math.fsum(self.costs[group]) if group else math.inf

    def reached(self, members: Floats) -> list[float]:
        """Compute the accuracy of a group of such members on each task."""
        return [self.accuracy(column) for column in members.T]

    def good(self, members: Floats) -> bool:
        """Check whether a group of such members is accurate enough on each task."""
        return all(self.accuracy(column) >= self.threshold - SAME for column in members.T)

    def search(self, size: int, best: list[int]) -> list[int]:
        """Find the cheapest group of one size if it is cheaper than the best so far.

        For a given size a more accurate member never does harm, so a group is given up when it
        would fail even with the best of the remaining minds, chosen for each task separately.
        """

        def go_on(first: int, chosen: list[int]) -> None:
            nonlocal best
            left = size - len(chosen)
            for i in range(first, len(self.who) - left + 1):
                cheapest = [*chosen, *range(i, i + left)]
                if self.cost(cheapest) >= self.cost(best) - SAME:
                    return
                if i > first and self.who[i] == self.who[i - 1]:
                    continue  # another copy instead of this one is the same group
                rest = np.sort(self.table[i + 1 :], axis=0)[len(self.who) - i - left :]
                if not self.good(np.concatenate([self.table[[*chosen, i]], rest])):
                    continue
                if left == 1:
                    best = [*chosen, i]
                else:
                    go_on(i + 1, [*chosen, i])

        go_on(0, [])
        return best

    def exchange(self, size: int) -> list[int]:
        """Find a cheap group of one size: start from the most accurate and exchange members."""
        starts = [*self.table.T, self.table.mean(axis=1), self.table.min(axis=1)]
        groups = (sorted(np.argsort(-values, kind="stable")[:size].tolist()) for values in starts)
        good = [self._cheaper(group) for group in groups if self.good(self.table[group])]
        return min(good, key=self.cost, default=[])

    def _cheaper(self, group: list[int]) -> list[int]:
        """Make the exchange that saves most, again and again.

        Accuracy is linear in one member's, so that two values of it tell all replacements.
        """
        while True:
            saved, after = SAME, group
            for leaves in group:
                kept = [i for i in group if i != leaves]
                ends = [
                    self.reached(np.vstack([self.table[kept], np.full(self.table.shape[1], end)]))
                    for end in (0.0, 1.0)
                ]
                low, high = np.array(ends)
                enough = (low + (high - low) * self.table >= self.threshold).all(axis=1)
                enough[group] = False
                comes = int(np.argmax(enough))  # the first is the cheapest
                if enough[comes] and self.costs[leaves] - self.costs[comes] > saved:
                    saved = float(self.costs[leaves] - self.costs[comes])
                    after = sorted([*kept, comes])
            if after is group:
                return group
            group = after

    def at_least(self, size: int) -> float:
        """Compute a cost that no good group of one size is below; infinite if there is none.

        If the group's j-th dearest member costs x, all but j - 1 of them cost x or less. So x is no
        less than the smallest cost for which j - 1 minds of any cost, and the others of cost x or
        less, would be good enough if they were the most accurate such minds, chosen for each task
        separately.
        """
        dearest = []
        for free in range(size):
            low, high = size - free, len(self.who) + 1  # how many of the cheapest are needed
            while low < high:
                middle = (low + high) // 2
                if middle > len(self.who) or self._might_do(middle, size - free, free):
                    high = middle
                else:
                    low = middle + 1
            dearest.append(math.inf if low > len(self.who) else float(self.costs[low - 1]))
        return math.fsum(dearest)

    def _might_do(self, cheap: int, bound: int, free: int) -> bool:
        """Check whether `bound` of the cheapest and `free` of all minds could be good enough."""
        near = np.sort(self.table[:cheap], axis=0)
        rest = np.sort(np.vstack([near[: cheap - bound], self.table[cheap:]]), axis=0)
        return self.good(np.vstack([near[cheap - bound :], rest[len(rest) - free :]]))
