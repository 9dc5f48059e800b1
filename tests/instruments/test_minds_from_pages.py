"""Minds written from docs/instruments alone play every instrument, and better than chance.

Each of them uses nothing but what the page of its instrument says: the class and the fields of the
observation, the numbers of the actions, the facts of the task, and when `learn` is called.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

import allminds as am
from allminds import MindBase, Random, Task, registry
from allminds.instruments.games import Board, Public, Round, Sight, Stock
from allminds.instruments.lambda_ import View as Cells
from allminds.instruments.lambda_star import View
from allminds.instruments.matrices import Item as Matrix
from allminds.instruments.matrices import Panel
from allminds.instruments.series import Item as Series

ONE = am.How(jobs=1)


class Climber(MindBase):
    """Goes where most lies in sight; where all is equal it walks on in one direction."""

    def act(self, observation: View, random: Random) -> int:
        best = max(observation.rewards)
        if best == min(observation.rewards):
            return 3
        return 1 + random.choice([n for n, r in enumerate(observation.rewards) if r == best])


class Scout(MindBase):
    """Goes where it will see most cells that it has not seen; its slot says where to begin."""

    def begin(self, task: Task) -> None:
        self.rows, self.cols = task.facts["rows"], task.facts["cols"]
        self.seen: set[int] = set()

    def around(self, cell: int) -> set[int]:
        row, col = divmod(cell - 1, self.cols)
        near = [(row + down, col + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
        return {1 + (r % self.rows) * self.cols + c % self.cols for r, c in near}

    def act(self, observation: View, random: Random) -> int:
        assert self.around(observation.cell) == set(observation.cells)
        self.seen |= set(observation.cells)
        new = [len(self.around(cell) - self.seen) for cell in observation.cells]
        return 1 + random.choice([n for n, count in enumerate(new) if count == max(new)])


class Taster(MindBase):
    """Finds out which symbol pays, and goes there if an action leads there."""

    def begin(self, task: Task) -> None:
        self.worth, self.last = [0.0, 0.0], None

    def act(self, observation: Cells, random: Random) -> int:
        liked = self.worth.index(max(self.worth))
        if self.worth[liked] > 0 or self.worth[1 - liked] < 0:
            goal = observation.symbols[liked]
            if goal in observation.reachable:
                return observation.reachable.index(goal)
        return random.below(len(observation.reachable))

    def learn(self, reward: float, observation: Cells | None, done: bool) -> None:
        for symbol in (0, 1):
            if observation is not None and observation.symbols[symbol] == observation.cell:
                self.worth[symbol] += reward


def continued(observation: Series, random: Random) -> int:
    """The next letter, if the distances between letters repeat with the shortest such period."""
    letters = [ord(one) - ord("a") for one in observation.shown[: observation.blank]]
    steps = [(b - a) % 26 for a, b in pairwise(letters)]
    for period in range(1, len(steps) + 1):
        if all(steps[n] == steps[n - period] for n in range(period, len(steps))):
            letter = chr(ord("a") + (letters[-1] + steps[-period]) % 26)
            return observation.options.index(letter) if letter in observation.options else -1
    return -1


class Completer(MindBase):
    """Prefers the option that continues, attribute by attribute, what rows 1 and 2 do."""

    def act(self, observation: Matrix, random: Random) -> int:
        cells = [values(panel) for panel in observation.cells]
        points = []
        for option in observation.options:
            nine = [*cells, values(option)]
            rows = [nine[0:3], nine[3:6], nine[6:9]]
            points.append(sum(likely([[one[n] for one in row] for row in rows]) for n in range(8)))
        return points.index(max(points))


def values(panel: Panel) -> tuple[Any, ...]:
    f, m = panel.figure, panel.marks
    figure = (f.shape, f.size, f.count, f.colour, f.angle, f.place) if f else (None,) * 6
    return (*figure, *((m.present, m.colour) if m else (None, None)))


def likely(rows: list[list[Any]]) -> int:
    if all(len(set(row)) == 1 for row in rows):
        return 2
    return int(len({frozenset(row) for row in rows}) == 1)


class Replier(MindBase):
    """Plays the best reply, by the table of pay-offs, to what the others did most often."""

    def begin(self, task: Task) -> None:
        self.rules, self.slot = task.facts["rules"], task.slot
        self.counts: list[Counter[int]] = [Counter() for _ in range(task.slots - 1)]

    def act(self, observation: Round, random: Random) -> int:
        for counter, action in zip(self.counts, observation.others, strict=False):
            counter[action] += 1
        if not observation.others:
            return random.below(len(self.rules.labels))
        usual = [counter.most_common(1)[0][0] for counter in self.counts]
        return max(range(len(self.rules.labels)), key=lambda own: self.paid(own, usual))

    def paid(self, own: int, others: list[int]) -> float:
        joint = (*others[: self.slot], own, *others[self.slot :])
        return float(self.rules.table[joint][self.slot])


class Farmer(MindBase):
    """Takes its share of what is above the stock that grows most; everything at the end."""

    def begin(self, task: Task) -> None:
        self.rules, self.steps = task.facts["rules"], task.steps
        stocks = range(self.rules.capacity + 1)
        self.keep = max(stocks, key=lambda left: self.rules.grown(left) - left)

    def act(self, observation: Stock, random: Random) -> int:
        if observation.step >= self.steps - 2:
            return self.rules.most
        return max(0, min(self.rules.most, (observation.stock - self.keep) // self.rules.players))


class Weigher(MindBase):
    """Weighs truth against agreement with what the others last did."""

    def begin(self, task: Task) -> None:
        self.c = task.facts["conformity"]

    def act(self, observation: Public, random: Random) -> int:
        def gain(act: int) -> float:
            same = observation.others.count(act) / len(observation.others)
            truth = 1 if act == observation.attitude else -1
            return (1 - self.c) * truth + self.c * (2 * same - 1)

        return max((0, 1), key=gain)


class Liner(MindBase):
    """Completes a row of its own, or else one of the other's, or takes the first of the best."""

    LINES = (
        (0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6),
    )  # fmt: skip

    def act(self, observation: Board, random: Random) -> int:
        own = "xo"[observation.turn]
        for mark in (own, "xo".replace(own, "")):
            for cell in observation.legal:
                after = observation.cells[:cell] + mark + observation.cells[cell + 1 :]
                if any(all(after[n] == mark for n in line) for line in self.LINES):
                    return cell
        return next(cell for cell in (4, 0, 2, 6, 8, 1, 3, 5, 7) if cell in observation.legal)


class Hunter(MindBase):
    """A predator steps toward the prey on the torus; the prey steps away from the nearest."""

    def begin(self, task: Task) -> None:
        self.rows, self.cols = task.facts["rows"], task.facts["cols"]

    def moved(self, cell: int, action: int) -> int:
        row, col = divmod(cell - 1, self.cols)
        down, right = ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0))[action]
        return 1 + (row + down) % self.rows * self.cols + (col + right) % self.cols

    def distance(self, one: int, other: int) -> int:
        (r, c), (s, d) = divmod(one - 1, self.cols), divmod(other - 1, self.cols)
        rows, cols = abs(r - s), abs(c - d)
        return min(rows, self.rows - rows) + min(cols, self.cols - cols)

    def act(self, observation: Sight, random: Random) -> int:
        *hunters, prey = observation.cells
        here = observation.cells[observation.slot]
        if observation.slot < 3:
            return min(range(5), key=lambda a: self.distance(self.moved(here, a), prey))
        return max(
            range(5), key=lambda a: min(self.distance(self.moved(here, a), one) for one in hunters)
        )


# by instrument: the mind, whom it plays with in the other slots (none: itself), and exercises
WRITTEN: dict[str, tuple[Any, list[Any], int]] = {
    "c-test": (continued, [], 20),
    "commons": (Farmer, [Farmer] * 3, 5),
    "lambda": (Taster, [], 140),
    "lambda-anytime": (Taster, [], 30),
    "lambda-staircase": (Taster, [], 100),
    "lambda-star": (Climber, [], 66),
    "lambda-star-coordination": (Climber, [], 66),
    "lambda-star-coverage": (Scout, [], 22),
    "lambda-star-responsive": (Climber, [], 66),
    "landscape": (Climber, [], 45),
    "matching-pennies": (Replier, ["tails"], 20),
    "matrices": (Completer, [], 60),
    "noughts-and-crosses": (Liner, ["random"], 60),
    "pluralistic-ignorance": (Weigher, [], 5),
    "predator-prey": (Hunter, [Hunter, Hunter, "random"], 40),
    "prisoners-dilemma": (Replier, ["cooperate"], 20),
    "public-goods": (Replier, ["give"] * 3, 20),
    "rock-paper-scissors": (Replier, ["rock"], 20),
    "stag-hunt": (Replier, ["stag"], 20),
    "team-lambda": (Taster, [Taster, "random", "random"], 140),
    "team-lambda-star": (Climber, [Climber, "random", "random"], 66),
}


def test_there_is_a_mind_for_every_instrument():
    ours = {name for name, cls in registry.instruments().items() if "allminds." in cls.__module__}
    assert set(WRITTEN) == ours


@pytest.mark.parametrize("name", WRITTEN)
def test_a_mind_written_from_the_page_fails_nothing_and_beats_chance(name):
    mind, others, episodes = WRITTEN[name]
    by_lot = ["random", *["random" if one in (mind, "random") else one for one in others]]
    line_ups = [[mind, *others], by_lot] if others else [mind, "random"]
    found = am.evaluate(name, line_ups, episodes=episodes, how=ONE, ends=False)
    own, lot = found["results"]
    assert own["failed"] == lot["failed"] == 0
    assert own["score"] > lot["score"], (own["score"], lot["score"])
