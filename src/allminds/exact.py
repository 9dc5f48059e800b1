"""Exact outcomes of exercises without chance: all histories, merged where they meet.

This is to `episode` as an expectation is to a sample. It needs no knowledge of an instrument: the
environment must draw nothing, and every mind must have a `policy`.

`Machine` is a mind as a machine; `Walker` follows machines through everything that may happen;
`outcome` sums over the histories.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, Protocol

from allminds import registry
from allminds.contracts import Discrete, Environment, Instrument, MindBase, Task, legal
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.seeding import Withheld
from allminds.episode import Episode, check_rewards

MOST = 500_000  # different moves that are followed
NO_MOVE = -1  # stands for a slot that was not awaited

Joint = tuple[int, ...]  # the action of every slot, numbered from 0


# ---------------------------------------------------------------- minds as machines


DRAWN = -1  # in tables, instead of an action: one by the chances of its place
BY_LOT = -2  # any action alike, as `random` draws it

Choices = tuple[tuple[int, float], ...]  # (action numbered from 0, probability)


class Player(Protocol):
    """A player that can be followed through all that it may do."""

    start: int
    learns: bool

    def answer(self, memory: int, seen: Any) -> tuple[Choices, int]:
        """Return all that the player may do, and its memory after it has looked."""
        ...

    def told(self, memory: int, reward: float, seen: Any, done: bool) -> int:
        """Return its memory after it knows its reward."""
        ...


class Machine:
    """A mind in a slot as a machine: the states of its memory as numbers, its answers kept.

    It works for a mind with a `policy` whose memory (its attributes) is a function of what it was
    shown.
    """

    def __init__(self, subject: Subject, task: Task) -> None:
        self.name = subject.name
        if subject.group or subject.traits.practice:
            why = "is a group" if subject.group else "rehearses before it counts"
            raise Error(f"{self.name} {why}, so its outcome cannot be exact; sample it instead")
        mind = subject.make()
        if not hasattr(mind, "policy"):
            raise Error(
                f"{self.name} gives no action distribution, so its outcome cannot be exact; "
                "give it a method 'policy', or sample it instead"
            )
        if not isinstance(task.actions, Discrete):
            raise Error(f"{task.instrument}: only discrete actions can be enumerated")
        self.actions = task.actions.n
        self.learns = getattr(type(mind), "learn", MindBase.learn) is not MindBase.learn
        self._memories: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._answers: dict[tuple[int, Any], tuple[Choices, int]] = {}
        self._told: dict[tuple[int, float, Any, bool], int] = {}
        if hasattr(mind, "begin"):
            mind.begin(task)
        self.start = self._number(mind)

    def answer(self, memory: int, seen: Any) -> tuple[Choices, int]:
        """Return all that the mind may do, and its memory after it has looked."""
        key = (memory, seen)
        if key not in self._answers:
            mind = self._mind(memory)
            chances = self._checked(mind.policy(seen))
            likely = tuple((action, chance) for action, chance in enumerate(chances) if chance > 0)
            self._answers[key] = likely, self._number(mind)
        return self._answers[key]

    def told(self, memory: int, reward: float, seen: Any, done: bool) -> int:
        """Return its memory after it knows its reward."""
        if not self.learns:
            return memory
        key = (memory, reward, seen, done)
        if key not in self._told:
            mind = self._mind(memory)
            mind.learn(reward, seen, done)
            self._told[key] = self._number(mind)
        return self._told[key]

    def _checked(self, given: Any) -> list[float]:
        chances = [float(chance) for chance in given]
        fair = len(chances) == self.actions and min(chances) >= 0
        if not fair or not math.isclose(sum(chances), 1.0, abs_tol=1e-9):
            raise Error(
                f"{self.name}: its policy gave {chances}, which are not {self.actions} "
                "probabilities that sum to 1"
            )
        return chances

    def _mind(self, memory: int) -> Any:
        return pickle.loads(self._memories[memory])

    def _number(self, mind: Any) -> int:
        try:
            text = pickle.dumps(mind)
        except Exception as error:  # a mind may be made of anything
            raise Error(
                f"{self.name} cannot be copied, so it cannot be followed: {error}"
            ) from None
        if text not in self._numbers:
            self._numbers[text] = len(self._memories)
            self._memories.append(text)
        return self._numbers[text]


# ---------------------------------------------------------------- all histories


class Node(NamedTuple):
    """Where a history stands: the state of the world and the memory of every mind."""

    state: Any
    memories: tuple[int, ...]


class Move(NamedTuple):
    """One joint action at a place, and where it leads."""

    joint: Joint
    chance: float
    rewards: tuple[float, ...]
    after: Node


@dataclass
class Tree:
    """Layer k has the places that k steps lead to, each with its moves; none where it is over."""

    layers: list[dict[Node, list[Move]]]

    @property
    def start(self) -> Node:
        """The place where all histories begin."""
        return next(iter(self.layers[0]))


class Walker:
    """Follows players through a game; the moves of the game are kept for the next line-up."""

    def __init__(self, name: str, environment: Environment) -> None:
        self.name, self.environment = name, environment
        self.slots = range(len(environment.actions))
        self.lot = Withheld(
            Error(f"{name} draws by lot, so it has no exact outcome; sample it instead")
        )
        self.first = [space.start for space in environment.actions if isinstance(space, Discrete)]
        if len(self.first) < len(self.slots):
            raise Error(f"{name}: only discrete actions can be enumerated")
        self.begin = environment.reset(self.lot)
        self._seen: dict[tuple[Any, int], Any] = {}
        self._steps: dict[tuple[Any, Joint], tuple[Any, tuple[float, ...]]] = {}

    def tree(self, players: Sequence[Player]) -> Tree:
        """Build the tree of everything that these players may do."""
        layer = {Node(self.begin, tuple(player.start for player in players)): None}
        layers: list[dict[Node, list[Move]]] = []
        moves = 0
        while layer:
            step = len(layers) + 1
            ready = {place: self._choices(place, players) for place in layer}
            moves += sum(math.prod(map(len, choices)) for choices, _ in ready.values())
            if moves > MOST:
                raise Error(
                    f"{self.name} is too large to enumerate: {moves:,} different moves by step "
                    f"{step} of {self.environment.steps}, and {MOST:,} are followed at most; set "
                    "fewer steps, or sample it instead"
                )
            here = {place: self._moves(place, players, step, *ready[place]) for place in layer}
            layers.append(here)
            layer = dict.fromkeys(move.after for made in here.values() for move in made)
        return Tree(layers)

    def _choices(
        self, place: Node, players: Sequence[Player]
    ) -> tuple[list[Choices], tuple[int, ...]]:
        """Return what each mind may do at a place, and their memories after they have looked."""
        awaited = self.environment.awaited(place.state)
        choices: list[Choices] = [((NO_MOVE, 1.0),) if awaited else ()] * len(self.slots)
        memories = list(place.memories)
        for slot in awaited:
            seen = self.observed(place.state, slot)
            choices[slot], memories[slot] = players[slot].answer(memories[slot], seen)
        return choices, tuple(memories)

    def _moves(
        self,
        place: Node,
        players: Sequence[Player],
        step: int,
        choices: list[Choices],
        memories: tuple[int, ...],
    ) -> list[Move]:
        """List all joint actions at a place; none when the game is over."""
        learners = [slot for slot in self.slots if players[slot].learns]
        moves = []
        for made in product(*choices):
            joint, chances = zip(*made, strict=True)
            state, rewards = self._step(place.state, joint, step)
            after = list(memories)
            for slot in learners:
                done = not self.environment.awaited(state)
                seen = None if done else self.observed(state, slot)
                after[slot] = players[slot].told(memories[slot], rewards[slot], seen, done)
            moves.append(Move(joint, math.prod(chances), rewards, Node(state, tuple(after))))
        return moves

    def observed(self, state: Any, slot: int) -> Any:
        """Return what a slot sees, looked up once."""
        key = (state, slot)
        if key not in self._seen:
            self._seen[key] = self.environment.observe(state, slot)
        return self._seen[key]

    def _step(self, state: Any, joint: Joint, step: int) -> tuple[Any, tuple[float, ...]]:
        key = (state, joint)
        if key not in self._steps:
            actions = {
                slot: self.first[slot] + action
                for slot, action in enumerate(joint)
                if action != NO_MOVE
            }
            self._illegal(state, actions, step)
            after, rewards = self.environment.step(state, actions, self.lot)
            check_rewards(self.environment, rewards, lambda: f"{self.name}, step {step}")
            self._steps[key] = after, tuple(rewards)
        return self._steps[key]

    def _illegal(self, state: Any, actions: dict[int, int], step: int) -> None:
        for slot, action in actions.items():
            allowed = legal(self.observed(state, slot))
            if allowed is not None and action not in allowed:
                raise Error(
                    f"{self.name}, step {step}: the mind in slot {slot} may choose {action}, which "
                    "is not legal there"
                )


# ---------------------------------------------------------------- outcomes


MOST_SEQUENCES = 1_000_000

Joints = tuple[Joint, ...]  # joint actions step by step


@dataclass(frozen=True)
class Outcome:
    """The exact outcome of one line-up in one game."""

    rewards: tuple[float, ...]  # R_i^K slot by slot: expected mean reward a step, or total
    sequences: Mapping[Joints, float]  # joint actions step by step -> probability
    max_abs_step_sum: float  # max_k |Σ_i r_ik| over the steps that can happen
    step_sum_range: tuple[float, float]  # least and largest Σ_i r_ik
    total_sums: tuple[float, float]  # least and largest Σ_k Σ_i r_ik over whole histories


def outcome(tool: Instrument, line_up: Sequence[str]) -> Outcome:
    """Compute the exact outcome of minds, one name per slot; surplus names are cut.

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
        """Return the mind of this name in a slot, made once."""
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
        following: dict[Node, _Mass] = {}
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


def _pour(mass: _Mass, move: Move, following: dict[Node, _Mass], step_sums: list[float]) -> None:
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
        """Count the sequences that can happen, without making them."""
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
        following: dict[Node, int] = {}
        for place, moves in layer.items():
            ended += 0 if moves else ways[place]
            for move in moves:
                following[move.after] = following.get(move.after, 0) + ways[place]
        ways = following
    return ended


def _walk(tree: Tree) -> Iterator[tuple[Joints, float]]:
    waiting: list[tuple[Joints, float, Node]] = [((), 1.0, tree.start)]
    while waiting:
        so_far, chance, place = waiting.pop()
        moves = tree.layers[len(so_far)][place]
        if not moves:
            yield so_far, chance
        waiting += [((*so_far, move.joint), chance * move.chance, move.after) for move in moves]
