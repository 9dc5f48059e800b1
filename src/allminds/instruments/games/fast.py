"""The compiled form of a game in normal form: minds with a policy as tables of what they do.

The plain twin is `episode.play` with the minds themselves; all results are the same bits.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Instrument
from allminds.core.bases import PolicyMind
from allminds.core.blocks import LATTICE, Block, on_lattice
from allminds.core.compiled import below, inlined, kernel, keys, unit, word
from allminds.core.line_up import LineUp, Seat
from allminds.core.seeding import MINDS
from allminds.episode import Episode
from allminds.exact import BY_LOT, DRAWN, Machine
from allminds.instruments.chance import RandomMind
from allminds.instruments.games.game import Joint, Played, Repeated, Round

MOST_NODES = 5_000  # of one machine; a mind with more memory is played plainly
_OVER = 0  # the node after the last round, which nobody looks at


def fast_form(tool: Instrument, line_up: LineUp) -> CompiledRounds | None:
    """Compile a line-up if every mind in it is a machine that is not too large."""
    episode = Episode(tool.exercise(0, 0))
    if not isinstance(episode.environment, Repeated):
        return None
    table = _Table(episode.environment)
    if not sums_exactly(*halves_of(table.game), table.game.steps):
        return None
    starts = [0] * tool.slots
    for seat in line_up.seats:
        start = _added(table, seat, episode)
        if start is None:
            return None
        starts[seat.slots[0]] = start
    return CompiledRounds(table, starts)


def halves_of(game: Repeated) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split the pay-offs into multiples of 2^-26 and what that leaves; nothing is lost."""
    payoffs = np.array(game.payoffs, float)
    high = on_lattice(payoffs)
    return high, payoffs - high


def sums_exactly(high: NDArray[np.float64], low: NDArray[np.float64], steps: int) -> bool:
    """Return whether sums of `steps` such numbers need at most 53 bits, in any order."""
    units = [abs(Fraction(part)) for part in low.ravel().tolist() if part]
    unit = Fraction(1, max((part.denominator for part in units), default=1))
    most = max(units, default=Fraction(0)) * steps
    return most < unit * 2**53 and float(np.abs(high).max()) * steps < LATTICE * 2**53


def _added(table: _Table, seat: Seat, episode: Episode) -> int | None:
    """Put the machine of a seat into the table; None if the mind is no machine, or too large."""
    subject = seat.subject
    if subject.group or subject.traits.learns or subject.traits.practice:
        return None
    try:
        mind = subject.make()
        if type(mind) is RandomMind:
            return table.lot()
        if getattr(type(mind), "act", None) is not PolicyMind.act:
            return None
        (slot,) = seat.slots
        return table.machine(Machine(subject, episode.task(slot)), slot)
    except Exception:  # a mind that breaks does so in the plain form, where it is told to the user
        return None


@dataclass
class _Table:
    """The nodes of all machines of a line-up: a memory and what is seen with it."""

    game: Repeated
    certain: list[int] = field(default_factory=lambda: [_OVER])
    chances: list[list[float]] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.joints: list[Joint] = list(self.game.table)
        self.chances.append(self._cumulative(()))
        self.following.append([_OVER] * len(self.joints))

    def _new(self) -> int:
        self.certain.append(DRAWN)
        self.chances.append(self._cumulative(()))
        self.following.append([_OVER] * len(self.joints))
        return len(self.certain) - 1

    def _cumulative(self, likely: tuple[tuple[int, float], ...]) -> list[float]:
        """Sum chances as `PolicyMind.act` does; infinite from the last likely action on."""
        sums, total, of = [], 0.0, dict(likely)
        last = max(of, default=0)
        for action in range(len(self.game.labels)):
            total += of.get(action, 0.0)
            sums.append(total if action < last else np.inf)
        return sums

    def lot(self) -> int:
        """Add the one node of a mind that draws any action, whatever happens."""
        node = self._new()
        self.certain[node] = BY_LOT
        self.following[node] = [node] * len(self.joints)
        return node

    def machine(self, machine: Machine, slot: int) -> int | None:
        """Add all nodes that a machine can reach; return the first, or None if too many."""
        first = (machine.start, self.game.observe(Played(0, ()), slot))
        nodes: dict[tuple[int, Round], int] = {first: self._new()}
        waiting = [first]
        while waiting:
            if len(nodes) > MOST_NODES:
                return None
            here = waiting.pop()
            node = nodes[here]
            likely, memory = machine.answer(*here)
            self.chances[node] = self._cumulative(likely)
            self.certain[node] = likely[0][0] if likely[0][1] == 1.0 else DRAWN
            for after, numbers in self._next(machine, memory, here[1], dict(likely), slot).items():
                if after not in nodes:
                    nodes[after] = self._new()
                    waiting.append(after)
                for number in numbers:
                    self.following[node][number] = nodes[after]
        return nodes[first]

    def _next(
        self, machine: Machine, memory: int, seen: Round, likely: dict[int, float], slot: int
    ) -> dict[tuple[int, Round], list[int]]:
        """List where every joint action leads that the machine may have a part in."""
        found: dict[tuple[int, Round], list[int]] = {}
        step = seen.step + 1
        if step == self.game.steps:
            return found
        for number, joint in enumerate(self.joints):
            if joint[slot] in likely:
                after = self.game.observe(Played(step, joint), slot)
                told = machine.told(memory, self.game.table[joint][slot], after, False)
                found.setdefault((told, after), []).append(number)
        return found


class CompiledRounds:
    """Many exercises of one line-up at once, in the kernel."""

    compiled = True

    def __init__(self, table: _Table, starts: list[int]) -> None:
        self.game = table.game
        self.start = np.array(starts, np.int32)
        self.certain = np.array(table.certain, np.int32)
        self.cumulative = np.array(table.chances, float)
        self.following = np.array(table.following, np.int32)
        self.high, self.low = halves_of(table.game)
        self.joints = np.array(
            list(product(range(len(self.game.labels)), repeat=self.game.players))
        )

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Play the exercises first..last-1."""
        number, slots, steps = last - first, self.game.players, self.game.steps
        exercises = np.arange(first, last)
        score, learning = np.empty((number, slots)), np.full((number, slots), np.nan)
        joints = np.zeros((max(0, min(traced - first, number)), steps), np.int32)
        curve = np.zeros(steps)
        play_rounds(
            np.array([keys(seed, exercises, MINDS + slot) for slot in range(slots)]),
            self.start, self.certain, self.cumulative, self.following, self.high, self.low, steps,
            joints, score, learning, curve,
        )  # fmt: skip
        return Block(
            first=first,
            complexity={k: np.full(number, value) for k, value in self.game.complexity.items()},
            score=score,
            learning=learning,
            status=np.zeros((number, slots), np.int8),
            steps=np.full(number, steps, np.int32),
            curve=curve,
            actions=self._actions(joints),
        )

    def _actions(self, joints: NDArray[np.int32]) -> NDArray[np.int16]:
        taken: NDArray[Any] = self.joints[joints]
        return taken.astype(np.int16)


Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@inlined
def chosen(node, key, step, certain, cumulative):  # type: ignore[no-untyped-def] # a kernel
    """Return the action of a mind at a node of its machine."""
    action = certain[node]
    if action >= 0:
        return action
    bits = word(key, np.uint64(step), np.uint64(0))
    if action == BY_LOT:
        return np.int32(below(bits, np.uint64(cumulative.shape[1])))
    place = unit(bits)
    action = np.int32(0)
    while place >= cumulative[node, action]:
        action += np.int32(1)
    return action


@kernel
def play_rounds(
    keys: NDArray[np.uint64],  # [slot, exercise]
    start: Ints,  # [slot]: the node that each machine begins at
    certain: Ints,  # [node]: an action, DRAWN or BY_LOT
    cumulative: Floats,  # [node, action]: summed chances, infinite from the last likely action on
    following: Ints,  # [node, joint action]
    high: Floats,  # [joint action, slot]: pay-offs on a lattice on which sums are exact
    low: Floats,  # [joint action, slot]: what that leaves of them, on another such lattice
    steps: int,
    joints: Ints,  # out [exercise, step] of the first exercises: joint actions
    score: Floats,  # out [exercise, slot]
    learning: Floats,  # out [exercise, slot]; left alone if there is one step
    curve: Floats,  # out [step], added to
) -> None:
    """Play every exercise to its end.

    Sums of `high` and of `low` are exact, so that their one addition rounds as `math.fsum` does.
    """
    slots, actions, half = len(start), cumulative.shape[1], steps // 2
    nodes = np.empty(slots, np.int32)
    sums = np.empty((3, slots, 2))  # all steps, first half, last half; of high and of low
    for exercise in range(keys.shape[1]):
        nodes[:] = start
        sums[:] = 0.0
        for step in range(steps):
            joint = 0
            for slot in range(slots):
                action = chosen(nodes[slot], keys[slot, exercise], step, certain, cumulative)
                joint = joint * actions + action
            if exercise < len(joints):
                joints[exercise, step] = joint
            for slot in range(slots):
                nodes[slot] = following[nodes[slot], joint]
                curve[step] += high[joint, slot]
                for row in range(3):
                    if row == 0 or (step < half if row == 1 else step >= steps - half):
                        sums[row, slot, 0] += high[joint, slot]
                        sums[row, slot, 1] += low[joint, slot]
        for slot in range(slots):
            score[exercise, slot] = (sums[0, slot, 0] + sums[0, slot, 1]) / steps
            if half:
                last = (sums[2, slot, 0] + sums[2, slot, 1]) / half
                learning[exercise, slot] = last - (sums[1, slot, 0] + sums[1, slot, 1]) / half
