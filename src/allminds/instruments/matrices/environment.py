"""A matrix with a blank: an environment of one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from allminds.contracts import Discrete
from allminds.core.seeding import Random
from allminds.instruments.matrices.panel import NAMES, Panel, Problem
from allminds.instruments.matrices.settings import MatricesSettings


class Item(NamedTuple):
    """What a mind sees: eight cells, row by row, and the options for the ninth."""

    cells: tuple[Panel, ...]
    options: tuple[Panel, ...]


@dataclass(frozen=True)
class Question:
    """One problem. The reward is 1 for the right option and 0 for another."""

    problem: Problem
    settings: MatricesSettings

    teams = ((0,),)
    steps = 1
    score: Literal["mean", "total"] = "mean"

    @property
    def actions(self) -> Sequence[Discrete]:
        """One of the options, from 0."""
        count = len(self.problem.options)
        return (Discrete(count, labels=tuple(NAMES[:count])),)

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of rules, and the measures."""
        return {"C": float(self.problem.C), **self.problem.measures}

    @property
    def facts(self) -> Mapping[str, Any]:
        """What kinds of rules there may be: a mind may have seen other such problems."""
        return {"settings": self.settings}

    def reset(self, random: Random) -> int | None:  # noqa: ARG002
        """Unanswered."""
        return None

    def awaited(self, state: int | None) -> tuple[int, ...]:
        """The mind, until it has answered."""
        return (0,) if state is None else ()

    def observe(self, state: int | None, slot: int) -> Item:  # noqa: ARG002
        """The matrix without its ninth cell, and the options."""
        return Item(self.problem.cells[:8], self.problem.options)

    def step(
        self,
        state: int | None,  # noqa: ARG002
        actions: Mapping[int, int],
        random: Random,  # noqa: ARG002
    ) -> tuple[int, Sequence[float]]:
        """A hit or a miss."""
        action = int(actions[0])
        return action, [float(action == self.problem.answer)]

    def secret(self, state: int | None, slot: int, random: Random) -> int:  # noqa: ARG002
        """The answer."""
        return self.problem.answer
