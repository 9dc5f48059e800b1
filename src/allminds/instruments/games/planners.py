"""Minds that compute what is best: minimax, and the best response to given others."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from allminds import registry
from allminds.contracts import Discrete, Environment, Task, Traits, legal
from allminds.core.bases import PolicyMind
from allminds.core.errors import Error
from allminds.exact import (
    Choices,
    Machine,
    Move,
    Node,
    Player,
    Tree,
    Walker,
)
from allminds.instruments.games.game import MATRIX_GAMES, Round
from allminds.instruments.games.minds import TableReader
from allminds.registry import mind

# ---------------------------------------------------------------- minimax

TWO_PLAYERS = tuple(game for game in MATRIX_GAMES if game != "public-goods")


@mind("minimax", TWO_PLAYERS)
class MaximinMix(TableReader):
    """Plays the mixture with the best worst case, every round alike (von Neumann 1928)."""

    def begin(self, task: Task) -> None:
        """Solve the game for its mixture."""
        super().begin(task)
        rows = [[self.paid(own, (other,)) for other in range(self.n)] for own in range(self.n)]
        self.mixture = maximin(tuple(map(tuple, rows)))

    def policy(self, observation: Round) -> Sequence[float]:
        """Return the same mixture whatever happened."""
        return self.mixture


@lru_cache(maxsize=64)
def maximin(rows: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """Find exactly the mixture of rows whose worst column is best.

    Some square part of the table is equalised by it (Shapley and Snow 1950): the smallest part, and
    the first, among equals.
    """
    table = [[Fraction(entry).limit_denominator(10**6) for entry in row] for row in rows]
    actions = range(len(table))
    best: tuple[Fraction, list[Fraction]] | None = None
    for size in range(1, len(table) + 1):
        for chosen in combinations(actions, size):
            for columns in combinations(range(len(table[0])), size):
                mixture = _equalising(table, chosen, columns)
                if mixture is None:
                    continue
                worst = min(
                    sum(
                        (p * row[column] for p, row in zip(mixture, table, strict=True)),
                        Fraction(0),
                    )
                    for column in range(len(table[0]))
                )
                if best is None or worst > best[0]:
                    best = worst, mixture
    assert best is not None  # a single row always equalises one column
    return tuple(float(p) for p in best[1])


def _equalising(
    table: list[list[Fraction]], chosen: tuple[int, ...], columns: tuple[int, ...]
) -> list[Fraction] | None:
    """Return chances of the chosen rows that make the columns worth the same.

    None if there are no such chances, or more than one solution.
    """
    size = len(chosen)
    system = [[table[row][c] for row in chosen] + [Fraction(-1), Fraction(0)] for c in columns]
    system.append([Fraction(1)] * size + [Fraction(0), Fraction(1)])
    solution = _solved(system)
    if solution is None or min(solution[:size]) < 0:
        return None
    mixture = [Fraction(0)] * len(table)
    for row, chance in zip(chosen, solution, strict=False):
        mixture[row] = chance
    return mixture


def _solved(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve a square system by Gauss and Jordan; None if it is singular."""
    size = len(system)
    for pivot in range(size):
        row = next((r for r in range(pivot, size) if system[r][pivot]), None)
        if row is None:
            return None
        system[pivot], system[row] = system[row], system[pivot]
        system[pivot] = [entry / system[pivot][pivot] for entry in system[pivot]]
        for r in range(size):
            if r != pivot and system[r][pivot]:
                factor = system[r][pivot]
                system[r] = [a - factor * b for a, b in zip(system[r], system[pivot], strict=True)]
    return [row[-1] for row in system]


# ---------------------------------------------------------------- best response


class _Anyone:
    """A stand-in for the mind that plans: it may do whatever is legal."""

    start, learns = 0, False

    def __init__(self, space: Discrete) -> None:
        self.all: Choices = tuple((action, 1.0) for action in range(space.n))
        self.first = space.start

    def answer(self, memory: int, seen: Any) -> tuple[Choices, int]:
        """Return every legal action as possible."""
        allowed = legal(seen)
        if allowed is None:
            return self.all, memory
        return tuple((action - self.first, 1.0) for action in allowed), memory

    def told(self, memory: int, reward: float, seen: Any, done: bool) -> int:
        """Return its memory unchanged: it remembers nothing."""
        return memory


class Plan:
    """The best that a slot can do against known others, first among equals.

    It is found by backward induction over all that may happen.
    """

    def __init__(self, walker: Walker, tree: Tree, slot: int) -> None:
        self.walker, self.layers, self.slot = walker, tree.layers, slot
        self.start = tree.start
        self.best: list[dict[Node, int]] = []
        worth: dict[Node, float] = {}
        for layer in reversed(self.layers):
            values = {place: self._values(moves, worth) for place, moves in layer.items()}
            self.best.append(
                {place: max(of, key=lambda a: (of[a], -a)) for place, of in values.items() if of}
            )
            worth = {place: max(of.values(), default=0.0) for place, of in values.items()}
        self.best.reverse()

    def _values(self, moves: list[Move], worth: dict[Node, float]) -> dict[int, float]:
        values: dict[int, float] = {}
        for move in moves:
            gain = move.rewards[self.slot] + worth[move.after]
            own = move.joint[self.slot]
            values[own] = values.get(own, 0.0) + move.chance * gain
        return values

    def after(self, step: int, place: Node | None, seen: Any) -> Node | None:
        """Return the place if this is seen next; None if the others are not as expected."""
        moves = [] if place is None else self.layers[step].get(place, [])
        for move in moves:
            if self.walker.observed(move.after.state, self.slot) == seen:
                return move.after
        return None


@lru_cache(maxsize=64)
def planned(game: str, rules: Environment, own: int, others: tuple[str, ...]) -> Plan:
    """Plan for one slot against minds of these names."""
    tool, walker = registry.make_instrument(game), Walker(game, rules)
    names = iter(others)
    players: list[Player] = []
    for slot, space in enumerate(rules.actions):
        assert isinstance(space, Discrete)
        if slot == own:
            players.append(_Anyone(space))
            continue
        team = next(team for team in rules.teams if slot in team)
        task = Task(game, slot, len(rules.actions), team, space, rules.steps, rules.facts)
        players.append(Machine(registry.subject(next(names), tool), task))
    return Plan(walker, walker.tree(players), own)


@mind("best-response", (*MATRIX_GAMES, "commons", "noughts-and-crosses"))
class BestResponse(PolicyMind):
    """Plays the best response to others of known minds: `best-response(tit-for-tat)`.

    One name stands for all others, or one for each in slot order; `random` if none is named. If
    the others do what those minds never would, it takes its first action from then on.
    """

    traits = Traits(deterministic=True)

    def __init__(self, *others: str) -> None:
        self.others = others or ("random",)

    def begin(self, task: Task) -> None:
        """Compute the plan, once for all exercises."""
        super().begin(task)
        others = task.slots - 1
        if len(self.others) not in (1, others):
            raise Error(
                f"best-response: name one mind for all others, or {others}, not {len(self.others)}"
            )
        names = self.others * others if len(self.others) == 1 else self.others
        self.known = (task.instrument, task.facts["rules"], task.slot, names)
        self.step = 0
        self.place: Node | None = planned(*self.known).start

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Follow what the others did."""
        if not done:
            self.place = planned(*self.known).after(self.step, self.place, observation)
        self.step += 1

    def policy(self, observation: Any) -> Sequence[float]:
        """Take the planned action; the first legal one if there is no plan."""
        if self.place is None:
            return self.certain((legal(observation) or (self.first,))[0] - self.first)
        return self.certain(planned(*self.known).best[self.step][self.place])
