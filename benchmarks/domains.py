"""The small worlds on which MC-AIXI is checked, and the best average reward there is in each.

After Veness, Ng, Hutter, Uther and Silver (2011, §7). A domain says what follows from a hidden
state and an action: chances, next states, observations and rewards, here as exact fractions. The
best average reward of a mind that knows the domain, but not its hidden state, is computed by policy
iteration over all beliefs that can come up, which are finite in these domains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from allminds.contracts import Discrete, Environment
from allminds.core.seeding import Random

Step = tuple[Fraction, int, int, float]  # chance, next state, observation, reward
Belief = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Domain:
    """A world with hidden states, numbered from 0, that never ends."""

    name: str
    actions: int
    bits: int  # of an observation
    rewards: tuple[float, ...]
    start: Belief
    steps: Mapping[tuple[int, int], Sequence[Step]]  # by state and action

    def draw(self, random: Random) -> int:
        """Draw the first state."""
        return self.start[_drawn([chance for _, chance in self.start], random)][0]

    def next(self, state: int, action: int, random: Random) -> Step:
        """Draw what follows."""
        steps = self.steps[state, action]
        return steps[_drawn([step[0] for step in steps], random)]


def _drawn(chances: Sequence[Fraction], random: Random) -> int:
    place = random.unit()
    for number, chance in enumerate(chances):
        place -= float(chance)
        if place < 0:
            return number
    return len(chances) - 1


class Hidden(NamedTuple):
    """The state of a domain, with what is seen of it."""

    step: int
    state: int
    seen: int


@dataclass(frozen=True)
class World(Environment):
    """A domain as an environment of `steps` steps; rewards are divided by the largest of them."""

    domain: Domain
    steps: int

    @property
    def actions(self) -> Sequence[Discrete]:
        return (Discrete(self.domain.actions),)

    @property
    def scale(self) -> float:
        """The largest reward without its sign."""
        return max(map(abs, self.domain.rewards))

    @property
    def facts(self) -> Mapping[str, Any]:
        rewards = tuple(reward / self.scale for reward in self.domain.rewards)
        return {"bits": self.domain.bits, "rewards": rewards}

    def reset(self, random: Random) -> Hidden:
        return Hidden(0, self.domain.draw(random), 0)

    def observe(self, state: Hidden, slot: int) -> int:  # noqa: ARG002 (the contract's)
        return state.seen

    def step(
        self, state: Hidden, actions: Mapping[int, int], random: Random
    ) -> tuple[Hidden, Sequence[float]]:
        _, after, seen, reward = self.domain.next(state.state, actions[0], random)
        return Hidden(state.step + 1, after, seen), [reward / self.scale]


# ---------------------------------------------------------------- three of them


def evenly(states: Sequence[int]) -> Belief:
    """Give the same chance to every state."""
    return tuple((state, Fraction(1, len(states))) for state in states)


def one_dimensional_maze() -> Domain:
    """Four cells in a row, the third is the goal; nothing is ever seen (Cassandra et al. 1994).

    Actions go left and right. Who reaches the goal gets 1 and is put into another cell by lot.
    """
    goal, cells = 2, 4
    start = evenly([cell for cell in range(cells) if cell != goal])
    steps: dict[tuple[int, int], Sequence[Step]] = {}
    for cell, _ in start:
        for action, move in enumerate((-1, 1)):
            to = min(max(cell + move, 0), cells - 1)
            if to == goal:
                steps[cell, action] = [(chance, other, 0, 1.0) for other, chance in start]
            else:
                steps[cell, action] = [(Fraction(1), to, 0, 0.0)]
    return Domain("1d maze", 2, 1, (0.0, 1.0), start, steps)


CHEESE = ("#######", "#.....#", "#.#.#.#", "#.#C#.#", "#######")


def cheese_maze() -> Domain:
    """A maze of eleven cells in which only the walls round the own cell are seen (McCallum 1996).

    A step costs 1 and a step against a wall 10; the cheese gives 10, and puts the mind into another
    cell by lot. Observations are the walls in the four directions, one bit each.
    """
    cells = [(r, c) for r, line in enumerate(CHEESE) for c, mark in enumerate(line) if mark != "#"]
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    cheese = next(n for n, (r, c) in enumerate(cells) if CHEESE[r][c] == "C")

    def walls(cell: int) -> int:
        row, col = cells[cell]
        marks = [CHEESE[row + down][col + right] == "#" for down, right in moves]
        return sum(wall << place for place, wall in enumerate(marks))

    start = evenly([cell for cell in range(len(cells)) if cell != cheese])
    steps: dict[tuple[int, int], Sequence[Step]] = {}
    for cell, _ in start:
        for action, (down, right) in enumerate(moves):
            goal = (cells[cell][0] + down, cells[cell][1] + right)
            if goal not in cells:
                steps[cell, action] = [(Fraction(1), cell, walls(cell), -10.0)]
            elif cells.index(goal) == cheese:
                steps[cell, action] = [(p, other, walls(other), 10.0) for other, p in start]
            else:
                to = cells.index(goal)
                steps[cell, action] = [(Fraction(1), to, walls(to), -1.0)]
    return Domain("cheese maze", 4, 4, (-10.0, -1.0, 10.0), start, steps)


def biased_rock_paper_scissors() -> Domain:
    """Rock, paper, scissors against one who repeats a rock that has just won (Farias et al. 2010).

    Otherwise it plays by lot. What it played is seen.
    """
    third = Fraction(1, 3)
    steps: dict[tuple[int, int], Sequence[Step]] = {}
    for won_by_rock in (0, 1):
        for own in range(3):
            others = [(Fraction(1), 0)] if won_by_rock else [(third, other) for other in range(3)]
            steps[won_by_rock, own] = [
                (chance, int(other == 0 and own == 2), other, (0.0, 1.0, -1.0)[(own - other) % 3])
                for chance, other in others
            ]
    return Domain("biased rock-paper-scissors", 3, 2, (-1.0, 0.0, 1.0), evenly([0]), steps)


DOMAINS = (one_dimensional_maze(), cheese_maze(), biased_rock_paper_scissors())


# ---------------------------------------------------------------- the best there is


def chance(domain: Domain) -> float:
    """Compute the average reward of a mind that acts by lot: the stationary mean over states."""
    states = sorted({state for state, _ in domain.steps})
    index = {state: n for n, state in enumerate(states)}
    flow, gains = np.zeros((len(states), len(states))), np.zeros(len(states))
    for (state, _), steps in domain.steps.items():
        for p, after, _, reward in steps:
            flow[index[state], index[after]] += float(p) / domain.actions
            gains[index[state]] += float(p) * reward / domain.actions
    return _average(flow, gains)[0]


def optimum(domain: Domain) -> float:
    """Compute the best average reward that can be had without seeing the hidden state."""
    beliefs, options = _reachable(domain)
    policy = [0] * len(beliefs)
    while True:
        flow = np.array([options[n][a][0] for n, a in enumerate(policy)])
        gains = np.array([options[n][a][1] for n, a in enumerate(policy)])
        average, worths = _average(flow, gains)
        better = []
        for n, choices in enumerate(options):
            values = [gain + go @ worths for go, gain in choices]
            stays = values[policy[n]] >= max(values) - 1e-10
            better.append(policy[n] if stays else int(np.argmax(values)))
        if better == policy:
            return average
        policy = better


def _average(flow: Any, gains: Any) -> tuple[float, Any]:
    """Solve g + h = r + P h with h(0) = 0: the average reward g, and the relative worths h."""
    count = len(gains)
    system = np.eye(count) - flow
    system[:, 0] = 1.0  # in place of h(0), which is 0, stands g
    solved = np.linalg.lstsq(system, gains, rcond=None)[0]
    return float(solved[0]), np.concatenate([[0.0], solved[1:]])


def _reachable(domain: Domain) -> tuple[list[Belief], list[list[tuple[Any, float]]]]:
    """Enumerate the beliefs that can come up, and what each action leads to from each."""
    beliefs, found = [domain.start], {domain.start: 0}
    outcomes: list[list[tuple[dict[int, float], float]]] = []
    while len(outcomes) < len(beliefs):
        here = beliefs[len(outcomes)]
        options = []
        for action in range(domain.actions):
            after, gain = _after(domain, here, action)
            leads: dict[int, float] = {}
            for belief, p in after:
                if belief not in found:
                    found[belief] = len(beliefs)
                    beliefs.append(belief)
                leads[found[belief]] = leads.get(found[belief], 0.0) + float(p)
            options.append((leads, gain))
        outcomes.append(options)
    rows: list[list[tuple[Any, float]]] = []
    for options in outcomes:
        rows.append([])
        for leads, gain in options:
            row = np.zeros(len(beliefs))
            row[list(leads)] = list(leads.values())
            rows[-1].append((row, gain))
    return beliefs, rows


def _after(
    domain: Domain, belief: Belief, action: int
) -> tuple[list[tuple[Belief, Fraction]], float]:
    """List the beliefs after an action, by what is seen and gained, with their chances."""
    joint: dict[tuple[int, float], dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for state, p in belief:
        for chance, after, seen, reward in domain.steps[state, action]:
            joint[seen, reward][after] += p * chance
    found, gain = [], 0.0
    for (_, reward), states in joint.items():
        total = sum(states.values(), Fraction(0))
        gain += reward * float(total)
        shares = tuple((state, p / total) for state, p in sorted(states.items()))
        found.append((shares, total))
    return found, gain
