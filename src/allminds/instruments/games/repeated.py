"""A game in normal form, played for some rounds: everybody acts at once, then all is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple

from allminds.contracts import Discrete
from allminds.core.seeding import Random

Joint = tuple[int, ...]  # the action of every slot, numbered from 0


class Round(NamedTuple):
    """What a mind sees before a round: what it and the others did in the round before.

    Actions are numbered from 0; before the first round `own` is -1 and `others` is empty.
    """

    step: int  # rounds played
    own: int
    others: tuple[int, ...]  # the other slots in their order

    @property
    def situation(self) -> tuple[int, tuple[int, ...]]:
        """What a learner tells situations apart by: not the number of the round."""
        return self.own, self.others


class Played(NamedTuple):
    """Everything there is after `step` rounds: the joint action of the last."""

    step: int
    last: Joint


@dataclass(frozen=True)
class Repeated:
    """`steps` rounds of a game given by its table of pay-offs; all slots have the same actions."""

    steps: int
    slots: int
    labels: tuple[str, ...]
    payoffs: tuple[tuple[float, ...], ...]  # reward of every slot, by joint action in order
    score: Literal["mean", "total"] = "mean"

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """Everyone is paid alone."""
        return tuple((slot,) for slot in range(self.slots))

    @cached_property
    def actions(self) -> Sequence[Discrete]:
        """The same named actions for everyone."""
        return (Discrete(len(self.labels), labels=self.labels),) * self.slots

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of rounds."""
        return {"rounds": float(self.steps)}

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The rules are known."""
        return {"rules": self}

    @cached_property
    def table(self) -> Mapping[Joint, tuple[float, ...]]:
        """The pay-offs by joint action: the last slot's action changes fastest."""
        joints = product(range(len(self.labels)), repeat=self.slots)
        return dict(zip(joints, self.payoffs, strict=True))

    def reset(self, random: Random) -> Played:  # noqa: ARG002
        """Nothing was played."""
        return Played(0, ())

    def awaited(self, state: Played) -> tuple[int, ...]:
        """Everyone, until the last round is played."""
        return tuple(range(self.slots)) if state.step < self.steps else ()

    def observe(self, state: Played, slot: int) -> Round:
        """The round before, from a slot's own side."""
        if not state.last:
            return Round(0, -1, ())
        return Round(state.step, state.last[slot], state.last[:slot] + state.last[slot + 1 :])

    def step(
        self,
        state: Played,
        actions: Mapping[int, int],
        random: Random,  # noqa: ARG002
    ) -> tuple[Played, Sequence[float]]:
        """Everybody is paid by the table."""
        joint = tuple(int(actions[slot]) for slot in range(self.slots))
        return Played(state.step + 1, joint), self.table[joint]

    def secret(self, state: Played, slot: int, random: Random) -> None:
        """There is nothing to tell: what comes depends on the others."""
