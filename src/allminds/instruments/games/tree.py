"""All that can happen in a game without chance: histories that meet go on as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from allminds.contracts import Discrete, Environment
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.episode import check_rewards
from allminds.instruments.games.machine import Choices, Player

MOST = 500_000  # different moves that are followed
NO_MOVE = -1  # stands for a slot that was not awaited

Joint = tuple[int, ...]  # the action of every slot, numbered from 0


class Place(NamedTuple):
    """Where a history stands: the state of the world and the memory of every mind."""

    state: Any
    memories: tuple[int, ...]


class Move(NamedTuple):
    """One joint action at a place, and where it leads."""

    joint: Joint
    chance: float
    rewards: tuple[float, ...]
    after: Place


@dataclass
class Tree:
    """Layer k has the places that k steps lead to, each with its moves; none where it is over."""

    layers: list[dict[Place, list[Move]]]

    @property
    def start(self) -> Place:
        """Where all histories begin."""
        return next(iter(self.layers[0]))


class _NoLot(Random):
    """Randomness for a game that should need none."""

    def __init__(self, game: str) -> None:
        super().__init__(0)
        self.game = game

    def word_at(self, j: int) -> int:  # noqa: ARG002
        raise Error(f"{self.game} draws by lot, so it has no exact outcome; sample it instead")

    def at_step(self, step: int) -> Random:  # noqa: ARG002
        return self

    def part(self, number: int) -> Random:  # noqa: ARG002
        return self


class Walker:
    """Follows players through a game; what the game itself does is kept for the next line-up."""

    def __init__(self, name: str, environment: Environment) -> None:
        self.name, self.environment = name, environment
        self.slots = range(len(environment.actions))
        self.lot = _NoLot(name)
        self.first = [space.start for space in environment.actions if isinstance(space, Discrete)]
        if len(self.first) < len(self.slots):
            raise Error(f"{name}: only discrete actions can be enumerated")
        self.begin = environment.reset(self.lot)
        self._seen: dict[tuple[Any, int], Any] = {}
        self._steps: dict[tuple[Any, Joint], tuple[Any, tuple[float, ...]]] = {}

    def tree(self, players: Sequence[Player]) -> Tree:
        """All that these players may come to."""
        layer = {Place(self.begin, tuple(player.start for player in players)): None}
        layers: list[dict[Place, list[Move]]] = []
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
        self, place: Place, players: Sequence[Player]
    ) -> tuple[list[Choices], tuple[int, ...]]:
        """What everybody may do at a place, and their memories once they have looked."""
        awaited = self.environment.awaited(place.state)
        choices: list[Choices] = [((NO_MOVE, 1.0),) if awaited else ()] * len(self.slots)
        memories = list(place.memories)
        for slot in awaited:
            seen = self.observed(place.state, slot)
            choices[slot], memories[slot] = players[slot].answer(memories[slot], seen)
        return choices, tuple(memories)

    def _moves(
        self,
        place: Place,
        players: Sequence[Player],
        step: int,
        choices: list[Choices],
        memories: tuple[int, ...],
    ) -> list[Move]:
        """All that may be done at a place; nothing when it is over."""
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
            moves.append(Move(joint, math.prod(chances), rewards, Place(state, tuple(after))))
        return moves

    def observed(self, state: Any, slot: int) -> Any:
        """What a slot sees, looked up once."""
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
            check_rewards(self.environment, rewards, f"{self.name}, step {step}")
            self._steps[key] = after, tuple(rewards)
        return self._steps[key]

    def _illegal(self, state: Any, actions: dict[int, int], step: int) -> None:
        for slot, action in actions.items():
            legal = getattr(self.observed(state, slot), "legal", None)
            if legal is not None and action not in legal:
                raise Error(
                    f"{self.name}, step {step}: the mind in slot {slot} may choose {action}, which "
                    "is not legal there"
                )
