"""Λ* extended, in plain Python: Good that takes several minds, a world that responds, coverage.

All three are Λ*'s own `World` but for one rule each, so that with that rule switched off (one mind
needed, a world that never responds) they are plain Λ*, step by step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from allminds.contracts import Wrapper
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.minds import sight
from allminds.instruments.lambda_star.world import State, View, World
from allminds.instruments.rules import parted

GOOD_RESPONDS, EVIL_RESPONDS, WHERE_TO = 1, 2, 3  # words of a step; 0 parts Good and Evil


# ---------------------------------------------------------------- coordination


@dataclass(frozen=True)
class Coordination(World):
    """Λ* in which Good pays only when at least `needed` minds (c) are in its neighbourhood.

    What is seen does not change: Good lies on the map whether or not it pays now. Evil takes from
    any mind, as ever.
    """

    needed: int = 2  # c

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts of Λ*, and how many minds it takes."""
        return {**super().facts, "needed": self.needed}

    def rewards(self, state: State) -> Sequence[float]:
        """Return the reward of each mind's cell, without Good's part if too few are near it."""
        if self.together(state) >= self.needed:
            return super().rewards(state)
        return [0.0 - self.torus.worth(cell, state.evil) for cell in state.minds]

    def together(self, state: State) -> int:
        """Count the minds in Good's neighbourhood."""
        return sum(self.torus.distance(cell, state.good) < 2 for cell in state.minds)


# ---------------------------------------------------------------- the responsive world


class Unfolding(NamedTuple):
    """What a mind that sees the future is told of a world that responds: how it goes on.

    Where Good and Evil will be depends on what the minds do, so there is no list of cells; the
    world itself, its first state and its random words tell all.
    """

    world: Responsive
    state: State
    random: Random


@dataclass(frozen=True)
class Responsive(World):
    """Λ* in which Good shuns the minds and Evil seeks them, each with chance `responsive` (q).

    At a step at which Good or Evil responds, it makes a move of its own instead of its pattern's:
    Good one of those that take it farthest from the mind nearest to it, drawn by lot among equals;
    Evil one step toward the mind nearest to it. They respond to where the minds stand before the
    step: all move at once, and none moves second. Of minds equally near the first slot's counts.
    """

    responsive: float = 0.25  # q

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts of Λ*, and how often the world responds."""
        return {**super().facts, "responsive": self.responsive}

    def travel(self, state: State, random: Random) -> tuple[int, int]:
        """Move Good away from the minds and Evil toward them, or as the patterns say."""
        good, evil = self.pattern.intended(self.torus, state.step + 1, state.good, state.evil)
        if random.unit_at(GOOD_RESPONDS) < self.responsive:
            good = self._away(state.good, self._nearest(state.good, state.minds), random)
        if random.unit_at(EVIL_RESPONDS) < self.responsive:
            nearest = self._nearest(state.evil, state.minds)
            evil = self.torus.moved(state.evil, self.torus.toward(state.evil, nearest))
        return parted(state.good, state.evil, good, evil, random.below_at(2, 0))

    def _nearest(self, cell: int, minds: Sequence[int]) -> int:
        return min(minds, key=lambda mind: self.torus.distance(cell, mind))

    def _away(self, cell: int, mind: int, random: Random) -> int:
        reached = [self.torus.moved(cell, action) for action in range(1, 10)]
        far = [self.torus.distance(to, mind) for to in reached]
        best = [to for to, distance in zip(reached, far, strict=True) if distance == max(far)]
        return best[random.below_at(len(best), WHERE_TO)]

    def secret(self, state: State, slot: int, random: Random) -> Any:
        """Return the world itself, whose way depends on the minds."""
        return Unfolding(self, state, random)


# ---------------------------------------------------------------- coverage


class Watched(NamedTuple):
    """The state of Λ*, and the cells that any mind has seen so far."""

    world: State
    seen: int  # bit `cell` is set if it was seen

    @property
    def good(self) -> int:
        """The cell of Good."""
        return self.world.good

    @property
    def evil(self) -> int:
        """The cell of Evil."""
        return self.world.evil

    @property
    def minds(self) -> tuple[int, ...]:
        """The cells of the minds."""
        return self.world.minds


@dataclass(frozen=True)
class Coverage(Wrapper):
    """Λ* in which a group is paid for what it has seen, and for nothing else.

    The reward of a step, the same for all, is the share of all cells that have been in any mind's
    sight by then, the start included. Good and Evil are on the map as ever, but only tempt.
    """

    inner: World

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """One team of all minds."""
        return (tuple(range(self.inner.agents)),)

    def reset(self, random: Random) -> Watched:
        """Begin as Λ* does; the minds have seen what is round them."""
        state = self.inner.reset(random)
        return Watched(state, self._sight(state))

    def awaited(self, state: Watched) -> tuple[int, ...]:
        """Await every mind until ϑ steps are made."""
        return self.inner.awaited(state.world)

    def observe(self, state: Watched, slot: int) -> View:
        """Show the neighbourhood of a mind, as in Λ*."""
        return self.inner.observe(state.world, slot)

    def step(
        self, state: Watched, actions: Mapping[int, int], random: Random
    ) -> tuple[Watched, Sequence[float]]:
        """Make the step of Λ*; then reward every mind by the share of cells seen so far."""
        after, _ = self.inner.step(state.world, actions, random)
        seen = state.seen | self._sight(after)
        share = seen.bit_count() / self.inner.torus.cells
        return Watched(after, seen), [share] * self.inner.agents

    def secret(self, state: Watched, slot: int, random: Random) -> None:
        """Return None: what is seen depends on the minds alone."""

    def _sight(self, state: State) -> int:
        seen = 0
        for cell in state.minds:
            seen |= sight(self.inner.torus, cell, self.inner.reach)
        return seen
