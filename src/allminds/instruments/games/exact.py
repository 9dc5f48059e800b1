"""Exact expected results of a line-up: every joint history with its probability (P1's R_i^K).

A mind takes part if it has `policy` and finite memory (see `social.machine`). A game takes part
if nothing in it is drawn by lot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.episode import Episode
from allminds.instruments.games.machine import Machine
from allminds.instruments.games.tree import Joint, Move, Place, Tree, Walker

MOST_SEQUENCES = 1_000_000

Joints = tuple[Joint, ...]  # joint actions step by step


@dataclass(frozen=True)
class Outcome:
    """What comes of one line-up in one game, exactly."""

    rewards: tuple[float, ...]  # R_i^K slot by slot: expected mean reward a step, or total
    sequences: Mapping[Joints, float]  # joint actions step by step -> probability
    max_abs_step_sum: float  # max_k |Σ_i r_ik| over the steps that can happen
    step_sum_range: tuple[float, float]  # least and largest Σ_i r_ik
    total_sums: tuple[float, float]  # least and largest Σ_k Σ_i r_ik over whole histories


def outcome(tool: Instrument, line_up: Sequence[str]) -> Outcome:
    """The exact outcome of minds, one name per slot; what is too long is cut.

    In `sequences` actions are numbered from 0, and -1 stands for a slot that was not to move.
    """
    if len(line_up) < tool.slots:
        raise Error(
            f"a line-up of {len(line_up)} is too short for {tool.name}, which has "
            f"{tool.slots} slots"
        )
    game = _game(tool)
    machines = [game.machine(name, slot) for slot, name in enumerate(line_up[: tool.slots])]

    def tree() -> Tree:
        return game.walker.tree(machines)

    return _summed(tree(), game.walker.environment.score, _Sequences(tree))


@lru_cache(maxsize=16)
def _game(tool: Instrument) -> _Game:
    return _Game(tool)


class _Game:
    """One game without chance, and the machines of the minds met so far."""

    def __init__(self, tool: Instrument) -> None:
        exercise = tool.exercise(0, 0)
        if any(tool.exercise(*at).environment != exercise.environment for at in ((0, 1), (1, 0))):
            raise Error(
                f"{tool.name}: its exercises differ, so that none stands for all; sample it"
            )
        self.tool = tool
        self.walker = Walker(tool.name, exercise.environment)
        self.episode = Episode(exercise)
        self._machines: dict[tuple[str, int], Machine] = {}

    def machine(self, name: str, slot: int) -> Machine:
        """The mind of this name in a slot, made once."""
        if (name, slot) not in self._machines:
            subject = registry.subject(name, self.tool)
            task = self.episode.task(slot, future=subject.traits.sees == "future")
            self._machines[name, slot] = Machine(subject, task)
        return self._machines[name, slot]


# ---------------------------------------------------------------- sums over histories


@dataclass
class _Mass:
    """All histories that lead to one place, as one."""

    chance: float
    totals: list[float]  # rewards so far times chance, slot by slot
    low: float  # least and largest sum of all slots' rewards so far
    high: float


def _summed(tree: Tree, score: str, sequences: Mapping[Joints, float]) -> Outcome:
    rewards, step_sums = [0.0] * len(tree.start.memories), [math.inf, -math.inf]
    here = {tree.start: _Mass(1.0, rewards, 0.0, 0.0)}
    ends: list[_Mass] = []
    for made, layer in enumerate(tree.layers):
        following: dict[Place, _Mass] = {}
        for place, moves in layer.items():
            mass = here[place]
            for move in moves:
                _pour(mass, move, following, step_sums)
            if not moves:
                ends.append(mass)
                length = made if score == "mean" else 1
                rewards = [a + b / length for a, b in zip(rewards, mass.totals, strict=True)]
        here = following
    low, high = step_sums
    return Outcome(
        rewards=tuple(rewards),
        sequences=sequences,
        max_abs_step_sum=max(abs(low), abs(high)),
        step_sum_range=(low, high),
        total_sums=(min(end.low for end in ends), max(end.high for end in ends)),
    )


def _pour(mass: _Mass, move: Move, following: dict[Place, _Mass], step_sums: list[float]) -> None:
    """Pass the histories of a place on along one move."""
    total = math.fsum(move.rewards)
    step_sums[:] = min(step_sums[0], total), max(step_sums[1], total)
    here = mass.chance * move.chance
    gained = [
        so_far * move.chance + here * reward
        for so_far, reward in zip(mass.totals, move.rewards, strict=True)
    ]
    into = following.get(move.after)
    if into is None:
        following[move.after] = _Mass(here, gained, mass.low + total, mass.high + total)
        return
    into.chance += here
    into.totals = [a + b for a, b in zip(into.totals, gained, strict=True)]
    into.low, into.high = min(into.low, mass.low + total), max(into.high, mass.high + total)


# ---------------------------------------------------------------- joint action sequences


class _Sequences(Mapping[Joints, float]):
    """The distribution of the joint action sequence, made when it is first looked into.

    It keeps no tree, so that the outcomes of a thousand line-ups fit in memory.
    """

    def __init__(self, tree: Callable[[], Tree]) -> None:
        self._tree = tree
        self._made: dict[Joints, float] | None = None

    def __getitem__(self, sequence: Joints) -> float:
        return self._all()[sequence]

    def __iter__(self) -> Iterator[Joints]:
        return iter(self._all())

    def __len__(self) -> int:
        """How many can happen, counted without making them."""
        return _count(self._tree()) if self._made is None else len(self._made)

    def _all(self) -> dict[Joints, float]:
        if self._made is None:
            tree = self._tree()
            number = _count(tree)
            if number > MOST_SEQUENCES:
                raise Error(
                    f"there are {number:,} joint action sequences, more than the "
                    f"{MOST_SEQUENCES:,} that are enumerated; set fewer steps"
                )
            self._made = dict(_walk(tree))
        return self._made


def _count(tree: Tree) -> int:
    ways = {tree.start: 1}
    ended = 0
    for layer in tree.layers:
        following: dict[Place, int] = {}
        for place, moves in layer.items():
            ended += 0 if moves else ways[place]
            for move in moves:
                following[move.after] = following.get(move.after, 0) + ways[place]
        ways = following
    return ended


def _walk(tree: Tree) -> Iterator[tuple[Joints, float]]:
    waiting: list[tuple[Joints, float, Place]] = [((), 1.0, tree.start)]
    while waiting:
        so_far, chance, place = waiting.pop()
        moves = tree.layers[len(so_far)][place]
        if not moves:
            yield so_far, chance
        waiting += [((*so_far, move.joint), chance * move.chance, move.after) for move in moves]
