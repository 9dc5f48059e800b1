"""The fair ceiling of Λ: the best expected score of a mind that does not know what comes.

Exact, by dynamic programming over beliefs. A belief is what the mind can know of one exercise: the
cells of both symbols, and a chance for every space and pattern that the generator may have drawn
and that agrees with all that was seen. Which symbol is Good is independent of all this until the
mind meets one of them; then it is known. Three rules keep the number of beliefs small, and none of
them is an approximation:

- patterns that give the same chances for all steps to come are one (`Patterns`);
- beliefs that differ only in the names of cells, or in which symbol is called the first, are one;
- arrows that all spaces of a belief have in common are known, whether their cell was visited or
  not.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, NamedTuple

from allminds.contracts import FairCeiling, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.files import cache_folder, keep
from allminds.core.seeding import Random
from allminds.instruments.lambda_.world import View, connected
from allminds.registry import mind

if TYPE_CHECKING:
    from allminds.instruments.lambda_.instrument import Lambda, LambdaSettings

Row = tuple[int, ...]  # where each action leads from one cell
Rows = tuple[Row, ...]  # by cell
Hypothesis = tuple[int, int, int]  # number of a space, number of a pattern class, weight
EQUAL = 12  # digits in which the values of equally good actions agree
VERSION = 1  # of the kept figures; raise it whenever one could change

# steps up to which it is computed, by (cells, actions): unasked, some 5 s of processor time; and
# if it is asked for, about a minute
UNASKED = {(2, 2): 20, (3, 2): 20, (3, 3): 6}
AT_MOST = {(2, 2): 24, (3, 2): 24, (3, 3): 8}


class Patterns:
    """Patterns of actions, of which those that agree in all steps to come are one class.

    A pattern of L digits has the chance q(1 - q)^(L-1)·n^-L, q being the chance to stop and n the
    number of actions. After t steps, a pattern of L <= t digits goes on by repeating, and a longer
    one by uniform digits until it repeats what was seen first. So two histories are one class if
    their repetitions are the same, with the same weights, and their first digits that can recur.
    """

    def __init__(self, cells: int, actions: int, steps: int) -> None:
        self.cells, self.actions, self.steps = cells, actions, steps
        self.numbers: dict[object, int] = {}
        self.history: list[tuple[int, ...]] = []  # of each class, one that is in it
        self.periods: list[tuple[int, ...]] = []  # that agree with it
        self.chance: list[float] = []  # of any one history in the class
        self._next: list[tuple[int, ...]] = []
        self.first = self._class((), ())

    def after(self, number: int) -> tuple[int, ...]:
        """List the classes that each next digit leads to."""
        if not self._next[number]:
            history, periods = self.history[number], self.periods[number]
            t = len(history)
            self._next[number] = tuple(
                self._class(
                    (*history, digit),
                    (*(size for size in periods if history[t - size] == digit), t + 1),
                )
                for digit in range(self.actions)
            )
        return self._next[number]

    def _class(self, history: tuple[int, ...], periods: tuple[int, ...]) -> int:
        t, left, cells = len(history), self.steps - len(history), self.cells
        ahead: dict[tuple[int, ...], int] = {}  # weights in units of cells^-steps · actions^-t
        for size in periods:
            goes_on = tuple(history[(t + n) % size] for n in range(left))
            weight = (cells - 1) ** (size - 1) * self.actions ** (t - size)
            ahead[goes_on] = ahead.get(goes_on, 0) + weight * cells ** (self.steps - size)
        key = (t, history[: max(0, left - 1)], frozenset(ahead.items()))
        if key not in self.numbers:
            longer = (cells - 1) ** t * cells**left
            self.numbers[key] = len(self.history)
            self.history.append(history)
            self.periods.append(periods)
            self.chance.append((sum(ahead.values()) + longer) / cells**self.steps / self.actions**t)
            self._next.append(())
        return self.numbers[key]


def spaces(cells: int, actions: int, disabled: float) -> dict[Rows, float]:
    """List the connected spaces that may be drawn, with their chances before any is thrown away.

    An action that is disabled stays, as one that leads to its own cell: no mind can tell them.
    """
    found = {}
    for goals in itertools.product(range(cells), repeat=cells * (actions - 1)):
        size = actions - 1
        rows = tuple((cell, *goals[size * cell : size * (cell + 1)]) for cell in range(cells))
        if connected(rows):
            found[rows] = math.prod(
                (1 - disabled) / cells + disabled * (goal == cell)
                for cell, row in enumerate(rows)
                for goal in row[1:]
            )
    return found


class Turn(NamedTuple):
    """What may follow an action: its chance, and the belief that comes of it.

    ``names`` gives each cell of the old belief its name in the new one; ``swapped`` says whether
    the symbols change places.
    """

    chance: float
    symbols: tuple[int, int]  # by the old names
    belief: Belief | None  # None after the last step
    names: tuple[int, ...]
    swapped: bool


class Belief:
    """What can be known after some steps, the symbols being in cells 0 and 1."""

    __slots__ = ("hypotheses", "rows", "step", "turns", "values")

    def __init__(self, step: int, hypotheses: tuple[Hypothesis, ...], rows: list[Row | None]):
        self.step, self.hypotheses, self.rows = step, hypotheses, rows
        self.turns: dict[int | None, dict[tuple[int, int, Row | None], Turn]] = {}
        self.values: dict[tuple[int, int | None], float] = {}


class Beliefs:
    """The best way to act in every belief, for a number of cells, actions and steps."""

    def __init__(self, cells: int, actions: int, steps: int, disabled: float = 0.0) -> None:
        self.cells, self.steps = cells, steps
        drawn = spaces(cells, actions, disabled)
        self.connected = math.fsum(drawn.values())  # the chance that a draw is
        self.spaces, self.chances = list(drawn), [one / self.connected for one in drawn.values()]
        self.patterns = Patterns(cells, actions, steps)
        self.beliefs: dict[tuple[int, tuple[Hypothesis, ...]], Belief] = {}
        numbers = {rows: number for number, rows in enumerate(self.spaces)}
        self._names = {
            symbols: (names, [numbers[_renamed(rows, names)] for rows in self.spaces])
            for symbols in itertools.permutations(range(cells), 2)
            for names in [_names(symbols, cells)]
        }

    def score(self) -> float:
        """Compute the expected score before anything is seen; which symbol is Good is unknown."""
        gains = [
            sum(self.chances[number] for number in numbers) * self.value(belief, names[cell], None)
            for cell in range(self.cells)
            for numbers in self._by_row(cell).values()
            for belief, names, _ in [self.begin((0, 1), numbers)]  # other pairs are renamings
        ]
        return math.fsum(gains) / self.cells / self.steps

    def _by_row(self, cell: int) -> dict[Row, list[int]]:
        found: dict[Row, list[int]] = {}
        for number, rows in enumerate(self.spaces):
            found.setdefault(rows[cell], []).append(number)
        return found

    def begin(
        self, symbols: tuple[int, int], numbers: list[int]
    ) -> tuple[Belief, tuple[int, ...], bool]:
        """Return the belief in some spaces before the first step, with the names of its cells."""
        first = self.patterns.first
        return self._belief(0, symbols, [(number, first, 1) for number in numbers])

    def seen(self, symbols: tuple[int, int], cell: int, row: Row) -> tuple[Belief, Row, bool]:
        """Return the belief of a mind that has seen the first view."""
        return self.begin(symbols, self._by_row(cell)[row])

    # ------------------------------------------------------------ what an action is worth

    def value(self, belief: Belief, cell: int, good: int | None) -> float:
        """Compute the rewards to be expected from now on, in a cell; `good` is None if unknown."""
        found = belief.values.get((cell, good))
        if found is None:
            row = belief.rows[cell]
            assert row is not None, "a mind knows the actions of its own cell"
            found = max(self.worth(belief, goal, good) for goal in dict.fromkeys(row))
            belief.values[cell, good] = found
        return found

    def worth(self, belief: Belief, goal: int, good: int | None) -> float:
        """Compute the rewards to be expected if it goes to a cell now."""
        last = belief.step + 1 == self.steps
        if last and good is None:
            return 0.0  # either symbol is as likely Good as Evil
        total = 0.0
        for turn in self.turns(belief, goal).values():
            total += turn.chance * self._worth_of(turn, goal, good)
        return total

    def _worth_of(self, turn: Turn, goal: int, good: int | None) -> float:
        met = turn.symbols.index(goal) if goal in turn.symbols else None
        gain = 0 if met is None or good is None else (1 if met == good else -1)
        if turn.belief is None:
            return float(gain)
        cell = turn.names[goal]
        if good is None and met is not None:  # now it is known, by the reward
            return (self.value(turn.belief, cell, 0) + self.value(turn.belief, cell, 1)) / 2
        known = None if good is None else good ^ turn.swapped
        return gain + self.value(turn.belief, cell, known)

    def turns(self, belief: Belief, goal: int) -> dict[tuple[int, int, Row | None], Turn]:
        """Return what may be seen after going to a cell: both symbols, and its row if unknown."""
        last = belief.step + 1 == self.steps
        shown = None if last or belief.rows[goal] is not None else goal
        if shown not in belief.turns:
            belief.turns[shown] = self._turns(belief, shown, last)
        return belief.turns[shown]

    def _turns(
        self, belief: Belief, shown: int | None, last: bool
    ) -> dict[tuple[int, int, Row | None], Turn]:
        after: dict[tuple[int, int, Row | None], dict[tuple[int, int], int]] = {}
        for space, pattern, weight in belief.hypotheses:
            rows = self.spaces[space]
            row = None if shown is None else rows[shown]
            for digit, then in enumerate(self.patterns.after(pattern)):
                for first, second, share in _moved(rows[0][digit], rows[1][digit]):
                    hypotheses = after.setdefault((first, second, row), {})
                    hypotheses[space, then] = hypotheses.get((space, then), 0) + weight * share
        masses = {seen: self._mass(hypotheses) for seen, hypotheses in after.items()}
        whole = math.fsum(masses.values())
        made = {}
        for seen, hypotheses in after.items():
            symbols, chance = (seen[0], seen[1]), masses[seen] / whole
            if last:
                made[seen] = Turn(chance, symbols, None, (), False)
                continue
            left = [(space, then, weight) for (space, then), weight in hypotheses.items()]
            made[seen] = Turn(chance, symbols, *self._belief(belief.step + 1, symbols, left))
        return made

    def _mass(self, hypotheses: dict[tuple[int, int], int]) -> float:
        chances, patterns = self.chances, self.patterns.chance
        return sum(
            weight * chances[space] * patterns[pattern]
            for (space, pattern), weight in hypotheses.items()
        )

    def _belief(
        self, step: int, symbols: tuple[int, int], hypotheses: list[Hypothesis]
    ) -> tuple[Belief, tuple[int, ...], bool]:
        """Find or make a belief, under the names of cells that make equal ones the same."""
        common = reduce(math.gcd, (weight for *_, weight in hypotheses))
        choices = []
        for swapped in (False, True):
            names, spaces = self._names[symbols[::-1] if swapped else symbols]
            key = tuple(sorted((spaces[s], k, weight // common) for s, k, weight in hypotheses))
            choices.append((key, swapped, names))
        key, swapped, names = min(choices)
        if (step, key) not in self.beliefs:
            rows = [self.spaces[number] for number in {number for number, _, _ in key}]
            known = [
                rows[0][cell] if all(one[cell] == rows[0][cell] for one in rows) else None
                for cell in range(self.cells)
            ]
            self.beliefs[step, key] = Belief(step, key, known)
        return self.beliefs[step, key], names, swapped


def _moved(first: int, second: int) -> Iterator[tuple[int, int, int]]:
    """Yield where two symbols in cells 0 and 1 get to that want to go to these, with weights."""
    if first != second:
        yield first, second, 2
    elif first in (0, 1):  # one of them is there, and both stay
        yield 0, 1, 2
    else:  # by lot
        yield first, 1, 1
        yield 0, second, 1


def _names(symbols: tuple[int, int], cells: int) -> tuple[int, ...]:
    """Name the cells of the symbols 0 and 1, and the others in their order."""
    order = [*symbols, *(cell for cell in range(cells) if cell not in symbols)]
    return tuple(order.index(cell) for cell in range(cells))


def _renamed(rows: Rows, names: tuple[int, ...]) -> Rows:
    """Give the cells of a space other names."""
    made = sorted((names[cell], tuple(names[to] for to in row)) for cell, row in enumerate(rows))
    return tuple(row for _, row in made)


# ---------------------------------------------------------------- for the instrument


@lru_cache(maxsize=4)
def plan(cells: int, actions: int, steps: int, disabled: float) -> Beliefs:
    """Return the plan for these settings, which fills as it is asked."""
    return Beliefs(cells, actions, steps, disabled)


def fair_ceiling(given: LambdaSettings, asked: bool) -> FairCeiling:
    """Return the fair ceiling of Λ with these settings, or the reason why there is none."""
    reason = _why_not(given, AT_MOST if asked else UNASKED)
    if reason:
        return FairCeiling(None, reason)
    assert given.cells is not None
    steps = given.steps or 10 * (given.cells - 1)
    drawn = {
        actions: math.fsum(spaces(given.cells, actions, given.disabled).values())
        for actions in _actions(given)
    }  # the number of actions is drawn again with every space that is not connected
    values = [_kept(given.cells, actions, steps, given.disabled) for actions in drawn]
    together = sum(map(math.prod, zip(drawn.values(), values, strict=True)))
    return FairCeiling(together / sum(drawn.values()))


def _actions(given: LambdaSettings) -> list[int]:
    assert given.cells is not None
    return [given.actions] if given.actions else list(range(2, given.cells + 1))


def _why_not(given: LambdaSettings, most: dict[tuple[int, int], int]) -> str:
    """Say why there is no fair ceiling; empty if there is one."""
    if given.form == "given":
        return "form=given has no chances from which its environments are drawn"
    if given.form != "general" or given.cells not in (2, 3):
        return "it is computed for form=general with cells=2 or cells=3 only"
    for name, wanted in (
        ("rewards", "position"),
        ("observation", "full"),
        ("agents", 1),
        ("moves", "all"),
        ("weights", "1:-1"),
    ):
        if getattr(given, name) != wanted:
            return f"it is computed for {name}={wanted} only, not {getattr(given, name)}"
    steps = given.steps or 10 * (given.cells - 1)
    for actions in _actions(given):
        limit = most[given.cells, actions]
        if steps > limit:
            more = AT_MOST[given.cells, actions]
            ask = f" (up to {more} if asked for)" if more > limit else ""
            return f"with {actions} actions it is computed up to {limit} steps{ask}, not {steps}"
    return ""


@lru_cache(maxsize=64)
def _kept(cells: int, actions: int, steps: int, disabled: float) -> float:
    """Read a figure that was kept, or compute it and keep it in the user's cache folder."""
    name = f"lambda-v{VERSION}-{cells}-{actions}-{steps}-{disabled!r}.txt"
    path = cache_folder() / "fair-ceilings" / name
    with contextlib.suppress(OSError, ValueError):
        return float(path.read_text(encoding="ascii"))
    found = plan(cells, actions, steps, disabled).score()
    keep(path, lambda file: file.write(repr(found).encode("ascii")))
    return found


@mind("bayes-optimal", "lambda")
class BayesOptimal(MindBase):
    """The fair ceiling: acts best on what can be seen, given how exercises are drawn.

    It knows the chances by which exercises are drawn, not the exercise: a Bayes-optimal learner.
    It plays only where the fair ceiling can be computed.
    """

    traits = Traits(deterministic=True, learns=True)
    takes_instrument = True

    def __init__(self, tool: Lambda) -> None:
        reason = _why_not(tool.settings, AT_MOST)
        if reason:
            raise Error(f"bayes-optimal: {reason}")
        self.disabled: float = tool.settings.disabled

    def begin(self, task: Task) -> None:
        """Look up the plan for so many cells, actions and steps."""
        actions: int = task.actions.n  # type: ignore[attr-defined] # Λ's are Discrete
        self.plan = plan(task.facts["cells"], actions, task.steps, self.disabled)
        self.belief: Belief | None = None
        self.good: int | None = None  # the symbol that is Good, as the mind sees them

    def act(self, observation: View, random: Random) -> int:
        """Take the first action of those that are worth most."""
        symbols, cell, row = observation.symbols, observation.cell, observation.reachable
        if self.belief is None:
            self.belief, self.names, self.swapped = self.plan.seen(symbols, cell, row)
        good = None if self.good is None else self.good ^ self.swapped
        worths = [
            round(self.plan.worth(self.belief, self.names[goal], good), EQUAL) for goal in row
        ]
        return worths.index(max(worths))

    def learn(self, reward: float, observation: View | None, done: bool) -> None:
        """Note where the symbols went, where actions lead, and which symbol gave the reward."""
        if observation is None or self.belief is None:
            return
        symbols, cell = observation.symbols, observation.cell
        if reward:
            self.good = symbols.index(cell) ^ (reward < 0)
        shown = symbols[::-1] if self.swapped else symbols
        goal = self.names[cell]
        turns = self.plan.turns(self.belief, goal)
        known = self.belief.rows[goal] is not None
        row = None if known else tuple(self.names[to] for to in observation.reachable)
        turn = turns[self.names[shown[0]], self.names[shown[1]], row]
        assert turn.belief is not None, "there is no observation after the last step"
        self.belief, self.swapped = turn.belief, self.swapped ^ turn.swapped
        self.names = tuple(turn.names[name] for name in self.names)
