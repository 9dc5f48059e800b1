"""Minds for Λ (Insa-Cabrera et al. 2011, §4); `fast.minds` has the compiled twins of most."""

from __future__ import annotations

from dataclasses import dataclass, field

from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments import tables
from allminds.instruments.lambda_.world import HIDDEN, Foresight, View
from allminds.instruments.rules import missing
from allminds.instruments.tables import planned, uniform_best
from allminds.registry import mind

INSTRUMENTS = ("lambda", "lambda-anytime", "lambda-staircase")


# ---------------------------------------------------------------- minds that are told something


@mind("follower", INSTRUMENTS)
class Follower(MindBase):
    """Goes where Good is now, if an action leads there, else anywhere.

    It is told which symbol is Good, and nothing else; it learns nothing. In a slot in which Evil
    weighs more than Good, it goes after Evil.
    """

    traits = Traits(sees="future")

    def begin(self, task: Task) -> None:
        """Learn which of the two symbols is Good."""
        future: Foresight = task.secret
        good, evil = future.weights
        self.good = future.good_symbol if good >= evil else 1 - future.good_symbol

    def act(self, observation: View, random: Random) -> int:
        """Go after Good, or anywhere if it is out of reach."""
        goal = observation.symbols[self.good]
        if goal in observation.reachable:
            return observation.reachable.index(goal)
        return random.below(len(observation.reachable))


@mind("expert", INSTRUMENTS)
class Expert(MindBase):
    """Knows the space and Good's next cell, and goes there by a shortest way.

    It does not look out for Evil, nor further ahead, so it is no ceiling. In a slot in which Evil
    weighs more than Good, it goes after Evil.
    """

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Learn the space, and the way of Good."""
        self.future: Foresight = task.secret
        good, evil = self.future.weights
        self.sought = self.future.good if good >= evil else self.future.evil
        self.far = [self.future.space.distances(goal) for goal in range(self.future.space.cells)]
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Take the first action that leads nearest to where Good will be."""
        self.step += 1
        far = self.far[self.sought[self.step]]
        ahead = [far[cell] for cell in observation.reachable]
        return ahead.index(min(ahead))


@mind("optimum", INSTRUMENTS)
class Optimum(MindBase):
    """The true ceiling: backward induction over the ways of Good and Evil; first among equals."""

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Compute the best action for every cell and step."""
        future: Foresight = task.secret
        if future.rewards != "position":
            raise Error(f"optimum knows only rewards=position, not {future.rewards}; take expert")
        space, (love, hate) = future.space, future.weights
        fields = (
            [love * (cell == good) + hate * (cell == evil) for cell in range(space.cells)]
            for good, evil in zip(future.good[1:], future.evil[1:], strict=True)
        )
        around = list(zip(*map(space.reachable, range(space.cells)), strict=True))
        own: int = task.actions.n  # type: ignore[attr-defined] # Λ's are Discrete
        self.plan, self.step = planned(fields, around[:own]), 0

    def act(self, observation: View, random: Random) -> int:
        """Take the action that was planned."""
        self.step += 1
        return int(self.plan[self.step - 1][observation.cell])


# ---------------------------------------------------------------- minds that learn a table


@dataclass
class TableLearner(tables.Tabular):
    """A table over places (the cells of both symbols and its own) and actions.

    Defaults are those of Insa-Cabrera et al. (2011): α = 0.05, γ = 0.35, the table starts at 2,
    rewards are shifted to [0, 2], and it takes a best action, by lot among equals. It learns as it
    goes, within one exercise. With `carry` it keeps its table over a course: what it knows of a
    place it then believes of every space with as many actions, though arrows and Good are others.
    """

    alpha: float = 0.05  # learning rate α
    gamma: float = 0.35  # discount γ

    def begin(self, task: Task) -> None:
        """Begin with an empty table, unless it carries."""
        super().begin(task)
        if not self.carry:
            self.table.clear()

    def row(self, seen: View) -> list[float]:
        actions = len(seen.reachable)
        place = (seen.symbols, seen.cell) + (actions,) * self.carry  # other spaces have others
        return self.table.setdefault(place, [self.initial] * actions)

    def worth(self, reward: float) -> float:
        return reward + 1.0


@dataclass
@mind("q-learning", INSTRUMENTS)
class QLearning(TableLearner, tables.OffPolicy):
    """Q-learning (Watkins and Dayan 1992) exactly as in Insa-Cabrera et al. (2011).

    With `carry` it keeps its table over a course.
    """


@dataclass
@mind("sarsa", INSTRUMENTS)
class Sarsa(TableLearner, tables.OnPolicy):
    """SARSA: as Q-learning, but it looks ahead to the action that it really takes next."""


@dataclass
@mind("q-lambda", INSTRUMENTS)
class QLambda(QLearning):
    """Watkins's Q(λ): every step also teaches the steps that led to it, the less the older.

    Replacing traces, which end where it took an action that was not best.
    """

    trace: float = 0.9  # λ

    name = "q-lambda"

    def __post_init__(self) -> None:
        """Check that the parameters are in range."""
        super().__post_init__()
        if not 0 <= self.trace <= 1:
            raise Error(f"{self.name}: trace must be in [0, 1], not {self.trace:g}")

    def begin(self, task: Task) -> None:
        """Begin without any traces."""
        super().begin(task)
        self.traces: dict[tuple[int, int], tuple[list[float], float]] = {}  # (row, action)

    def act(self, observation: View, random: Random) -> int:
        """Act as the other learners; a worse action than the best ends all traces."""
        action = super().act(observation, random)
        if self.values[action] != max(self.values):
            self.traces.clear()
        return action

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Update δ = R + 1 + γ max Q(s',·) - Q(s,a); Q += α δ e; e <- γ λ e."""
        if observation is None:
            return
        value = self.values[self.action]
        error = missing(value, self.worth(reward), self.ahead(observation), self.gamma)
        self.traces[id(self.values), self.action] = (self.values, 1.0)
        for (place, action), (row, left) in self.traces.items():
            row[action] += self.alpha * error * left
            self.traces[place, action] = (row, left * (self.gamma * self.trace))


# ---------------------------------------------------------------- a mind that models the pattern


MOST_WORLDS = 200  # that it remembers, of each size
MOST_TRUST = 5

Pair = tuple[int, int]  # the cells of the two symbols
Arrows = dict[tuple[int, int], int]  # (cell, action) -> where it is known to lead


@dataclass
@mind("model-based", INSTRUMENTS)
class ModelBased(MindBase):
    """Predicts the pattern by the shortest period that explains all moves seen, and plans ahead.

    `depth` is how many steps it plans; `curiosity` what a cell that it does not know yet is worth
    to it, in rewards. With `carry` it remembers the spaces and patterns that it met in a course,
    and goes by the last of them that nothing seen in the exercise contradicts. It does so only as
    long as worlds were known again at least as often as not. Which symbol is Good it finds out in
    every exercise.
    """

    depth: int = 4
    curiosity: float = 0.5
    carry: bool = field(default=False, kw_only=True)  # remembers worlds over a course

    def __post_init__(self) -> None:
        """Check that `depth` is in 1..100."""
        if not 1 <= self.depth <= 100:
            raise Error(f"model-based: depth must be in 1..100, not {self.depth}")
        self.traits = Traits(learns=True, carries=self.carry)
        self.memory: dict[tuple[int, int], list[PatternModel]] = {}  # by cells and actions
        self.trust = 0  # exercises in a world that it knew, less those in one that it did not

    def begin(self, task: Task) -> None:
        """Begin knowing only the numbers of cells and actions, and the worlds that it carries."""
        self.cells: int = task.facts["cells"]
        self.own: int = task.actions.n  # type: ignore[attr-defined] # Λ's are Discrete
        actions: int = task.facts.get("actions", self.own)
        self.fresh = PatternModel(actions)
        self.worlds = self.memory.setdefault((self.cells, actions), []) if self.carry else []
        self.known: list[tuple[PatternModel, PatternModel]] = []  # worlds, and models of this one
        self.visited: set[int] = set()
        self.credit = [0.0, 0.0]  # what standing with each symbol has brought

    @property
    def pattern(self) -> PatternModel:
        """The model that it goes by: a world that it knows, if it trusts in such, or a new one."""
        return self.known[0][1] if self.known and self.trust >= 0 else self.fresh

    def act(self, observation: View, random: Random) -> int:
        """Take the first action of a plan for the next steps; by lot among equals."""
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

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Note which symbol was in its cell when rewarded, and how both symbols moved."""
        if observation is None:
            self._remember()
            return
        for symbol, cell in enumerate(observation.symbols):
            if cell == observation.cell:
                self.credit[symbol] += reward
        self._look(observation)
        for model in self._models():
            model.saw(self.seen.symbols, observation.symbols)
        self._drop()

    def _look(self, seen: View) -> None:
        """Note where the actions of its own cell lead."""
        if seen.cell not in self.visited:
            arrows = {(seen.cell, a): to for a, to in enumerate(seen.reachable)}
            if not self.visited:
                there = [world for world in reversed(self.worlds) if world.agrees(arrows)]
                self.known = [(world, world.again()) for world in there]
            self.visited.add(seen.cell)
            for model in self._models():
                model.learnt(arrows)
            self._drop()

    def _models(self) -> list[PatternModel]:
        return [self.fresh, *(model for _, model in self.known)]

    def _drop(self) -> None:
        """Drop the worlds that cannot be this one."""
        self.known = [(world, model) for world, model in self.known if model.holds]

    def _remember(self) -> None:
        """Keep the world of this exercise as the last, in place of one that it was known by."""
        if not self.carry:
            return
        if self.worlds:
            self.trust = max(-MOST_TRUST, min(MOST_TRUST, self.trust + (1 if self.known else -1)))
        world, model = self.known[0] if self.known else (None, self.fresh)
        kept = [one for one in self.worlds if one is not world]
        self.worlds[:] = [*kept, model][-MOST_WORLDS:]

    def _worths(self, belief: dict[Pair, float]) -> list[float]:
        """Compute the expected reward of every cell, plus the worth of seeing it."""
        worth = [0.0 if self._knows(c) else self.curiosity for c in range(self.cells)]
        sign = 1.0 if self.credit[0] >= self.credit[1] else -1.0
        for (first, second), chance in belief.items():
            if first != HIDDEN:  # what may be anywhere makes no cell better than another
                worth[first] += sign * chance
            if second != HIDDEN:
                worth[second] -= sign * chance
        return worth

    def _knows(self, cell: int) -> bool:
        """Check whether it was in a cell, or knows from an earlier exercise where it leads."""
        return cell in self.visited or cell in self.pattern.before

    def _ways(self, cell: int) -> set[int]:
        """List the cells that it knows to be one step away."""
        arrows = self.pattern.arrows
        return {cell} | {arrows[cell, a] for a in range(self.own) if (cell, a) in arrows}


class PatternModel:
    """Which actions the two symbols may have taken, and the shortest period that explains them.

    Sets of actions are bits of a number. A period is ruled out when two moves a whole number of
    periods apart cannot have been the same action. A model that begins `again` knows the arrows and
    the moves of earlier exercises in the same world; `holds` says whether it can be the same.
    """

    def __init__(self, actions: int) -> None:
        self.actions, self.any = actions, (1 << actions) - 1
        self.arrows: Arrows = {}
        self.moves: list[tuple[Pair, Pair]] = []  # before and after
        self.period = 1
        self.phases = [self.any]  # actions possible in each phase of the period
        self.earlier: list[int] = []  # actions possible at each step, by earlier exercises
        self.before: set[int] = set()  # cells that earlier exercises left nothing to learn of
        self.holds = True

    def again(self) -> PatternModel:
        """Begin another exercise with what is known of the world."""
        made = PatternModel(self.actions)
        made.arrows = dict(self.arrows)
        steps = range(max(len(self.moves), len(self.earlier)))
        made.earlier = [self._at(step) for step in steps]
        known = {cell for cell, _ in self.arrows}
        made.before = {c for c in known if all((c, a) in self.arrows for a in range(self.actions))}
        made._explain()
        return made

    def _at(self, step: int) -> int:
        """Return the actions possible at a step, by this exercise and by earlier ones."""
        mask = self.earlier[step] if step < len(self.earlier) else self.any
        return mask & (self._possible(*self.moves[step]) if step < len(self.moves) else self.any)

    def saw(self, before: Pair, after: Pair) -> None:
        """Add one more move of the two symbols."""
        self.moves.append((before, after))
        possible = self._possible(before, after)
        phase = (len(self.moves) - 1) % self.period
        self.phases[phase] &= possible
        if not self.phases[phase]:
            self._explain()
        if possible & (possible - 1) == 0:
            self._infer(possible.bit_length() - 1, before, after)

    def learnt(self, arrows: Arrows) -> None:
        """Note where some actions lead; moves seen before may become clear by it."""
        if not arrows.items() <= self.arrows.items():
            self.holds &= self.agrees(arrows)
            self.arrows |= arrows
            self._explain()

    def agrees(self, arrows: Arrows) -> bool:
        """Check that no action is known to lead elsewhere."""
        return all(self.arrows.get(way, to) == to for way, to in arrows.items())

    def moved(self, belief: dict[Pair, float], ahead: int) -> dict[Pair, float]:
        """Compute where the two may be after move number `ahead` from now, from these chances."""
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
        """List where an action leads the two: hidden if unknown, by lot if they clash."""
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
        """Find the shortest period, from the present one on, that all moves agree with."""
        masks = [self._at(step) for step in range(max(len(self.moves), len(self.earlier)))]
        self.holds &= all(masks)
        while self.holds:
            self.phases = [self.any] * self.period
            for n, mask in enumerate(masks):
                self.phases[n % self.period] &= mask
            if all(self.phases):
                return
            self.period += 1

    def _possible(self, before: Pair, after: Pair) -> int:
        """Return the actions that may have led from one pair of cells to the other."""
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
        """Note where an action that is certain leads from where the symbols were."""
        moved = [n for n in (0, 1) if after[n] != before[n] and before[n] != HIDDEN != after[n]]
        self.learnt({(before[n], action): after[n] for n in moved})
