"""A mind for Λ that makes itself a model: of the space, of who is Good, and of the pattern.

A stronger baseline than P3 had. It is told nothing: all it knows it has seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_.minds import INSTRUMENTS
from allminds.instruments.lambda_.world import HIDDEN, View
from allminds.instruments.lambda_star.minds import uniform_best
from allminds.registry import mind

Pair = tuple[int, int]  # the cells of the two symbols
Arrows = dict[tuple[int, int], int]  # (cell, action) -> where it is known to lead


@dataclass
@mind("model-based", INSTRUMENTS)
class ModelBased(MindBase):
    """Predicts the pattern by the shortest period that explains all moves seen, and plans ahead.

    `depth` is how many steps it plans; `curiosity` what a cell that it does not know yet is worth
    to it, in rewards.
    """

    depth: int = 4
    curiosity: float = 0.5

    traits = Traits(learns=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 1 <= self.depth <= 100:
            raise Error(f"model-based: depth must be in 1..100, not {self.depth}")

    def begin(self, task: Task) -> None:
        """Nothing is known but the numbers of cells and actions."""
        self.cells: int = task.facts["cells"]
        self.pattern = PatternModel(task.actions.n)  # type: ignore[attr-defined]
        self.visited: set[int] = set()
        self.credit = [0.0, 0.0]  # what standing with each symbol has brought

    def act(self, observation: View, random: Random) -> int:
        """The action that a plan for the next steps begins with; by lot among equals."""
        self._look(observation)
        self.seen = observation
        belief = {observation.symbols: 1.0}
        worths = []
        for ahead in range(self.depth):
            belief = self.pattern.moved(belief, ahead)
            worths.append(self._worths(belief))
        value = [0.0] * self.cells
        for worth in reversed(worths[1:]):
            total = [w + v for w, v in zip(worth, value, strict=True)]
            value = [max(total[to] for to in self._ways(cell)) for cell in range(self.cells)]
        choices = [worths[0][to] + value[to] for to in observation.reachable]
        return uniform_best([round(choice, 9) for choice in choices], random)

    def learn(self, reward: float, observation: View | None, done: bool) -> None:  # noqa: ARG002
        """Who stood with it when it was rewarded, and how the two symbols moved."""
        if observation is None:
            return
        for symbol, cell in enumerate(observation.symbols):
            if cell == observation.cell:
                self.credit[symbol] += reward
        self._look(observation)
        self.pattern.saw(self.seen.symbols, observation.symbols)

    def _look(self, seen: View) -> None:
        """Where the actions of its own cell lead."""
        if seen.cell not in self.visited:
            self.visited.add(seen.cell)
            self.pattern.learnt({(seen.cell, a): to for a, to in enumerate(seen.reachable)})

    def _worths(self, belief: dict[Pair, float]) -> list[float]:
        """The reward to be expected in every cell, and what it is worth to see it."""
        worth = [0.0 if c in self.visited else self.curiosity for c in range(self.cells)]
        sign = 1.0 if self.credit[0] >= self.credit[1] else -1.0
        for (first, second), chance in belief.items():
            if first != HIDDEN:  # what may be anywhere makes no cell better than another
                worth[first] += sign * chance
            if second != HIDDEN:
                worth[second] -= sign * chance
        return worth

    def _ways(self, cell: int) -> set[int]:
        """The cells that it knows to be one step away."""
        arrows = self.pattern.arrows
        return {cell} | {
            arrows[cell, a] for a in range(self.pattern.actions) if (cell, a) in arrows
        }


class PatternModel:
    """Which actions the two symbols may have taken, and the shortest period that explains them.

    Sets of actions are bits of a number. A period is ruled out when two moves a whole number of
    periods apart cannot have been the same action.
    """

    def __init__(self, actions: int) -> None:
        self.actions, self.any = actions, (1 << actions) - 1
        self.arrows: Arrows = {}
        self.moves: list[tuple[Pair, Pair]] = []  # before and after
        self.period = 1
        self.phases = [self.any]  # actions possible in each phase of the period

    def saw(self, before: Pair, after: Pair) -> None:
        """One more move of the two."""
        self.moves.append((before, after))
        possible = self._possible(before, after)
        phase = (len(self.moves) - 1) % self.period
        self.phases[phase] &= possible
        if not self.phases[phase]:
            self._explain()
        if possible & (possible - 1) == 0:
            self._infer(possible.bit_length() - 1, before, after)

    def learnt(self, arrows: Arrows) -> None:
        """Where some actions lead; moves seen before may become clear by it."""
        if not arrows.items() <= self.arrows.items():
            self.arrows |= arrows
            self._explain()

    def moved(self, belief: dict[Pair, float], ahead: int) -> dict[Pair, float]:
        """Where the two may be after move number `ahead` from now, if these are the chances now."""
        possible = self.phases[(len(self.moves) + ahead) % self.period]
        actions = [action for action in range(self.actions) if possible >> action & 1]
        after: dict[Pair, float] = {}
        for pair, chance in belief.items():
            for action in actions:
                outcomes = self._outcomes(*pair, action)
                for outcome in outcomes:
                    share = chance / len(actions) / len(outcomes)
                    after[outcome] = after.get(outcome, 0.0) + share
        return after

    def _outcomes(self, first: int, second: int, action: int) -> list[Pair]:
        """Where an action leads the two: out of sight if it is not known, by lot if they clash."""
        to_first = self.arrows.get((first, action), HIDDEN)
        to_second = self.arrows.get((second, action), HIDDEN)
        if to_first != to_second or to_first == HIDDEN:
            return [(to_first, to_second)]
        held = [
            pair for pair in ((to_first, second), (first, to_second)) if pair == (first, second)
        ]
        return held or [(to_first, second), (first, to_second)]

    # ------------------------------------------------------------ explaining what was seen

    def _explain(self) -> None:
        """The shortest period, from the one in hand, that all moves agree with."""
        masks = [self._possible(*move) for move in self.moves]
        while True:
            self.phases = [self.any] * self.period
            for n, mask in enumerate(masks):
                self.phases[n % self.period] &= mask
            if all(self.phases):
                return
            self.period += 1

    def _possible(self, before: Pair, after: Pair) -> int:
        """The actions that may have led from one pair of cells to the other."""
        if HIDDEN in before or HIDDEN in after:
            return self.any
        mask = 0
        for action in range(self.actions):
            goals = [self.arrows.get((cell, action)) for cell in before]
            free = goals[0] in (None, after[0]) and goals[1] in (None, after[1])
            free = free and (goals[0] is None or goals[0] != goals[1])
            barred = any(  # one was kept out of the cell that the other has
                before[n] == after[n] and all(goal in (None, after[1 - n]) for goal in goals)
                for n in (0, 1)
            )
            mask |= (free or barred) << action
        return mask

    def _infer(self, action: int, before: Pair, after: Pair) -> None:
        """An action that is certain shows where it leads from where the symbols were."""
        moved = [n for n in (0, 1) if after[n] != before[n] and before[n] != HIDDEN != after[n]]
        self.learnt({(before[n], action): after[n] for n in moved})
