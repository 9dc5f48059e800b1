"""Testbeds: games, the minds that play them, and the weights of both.

`Game` is what a testbed needs of a game; `Weights` are w_M, w_S and w_L, `Sampling` the
probabilities by which exercises are drawn, and `Testbed` has all of it.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Record
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.core.seeding import Random

LineUp = tuple[int, ...]
ActionSequence = tuple[tuple[int, ...], ...]  # the actions of some slots, step by step
Teams = tuple[tuple[int, ...], ...]
SAME = 1e-9  # exact results that differ by no more than this are equal (Δ)


class Outcome(Protocol):
    """The exact expectation of one line-up."""

    @property
    def rewards(self) -> tuple[float, ...]:
        """The expected reward R_i^K of every slot."""
        ...

    @property
    def step_sum_range(self) -> tuple[float, float]:
        """The least and the greatest Σ_i r_ik of any step that can happen."""
        ...

    @property
    def total_sums(self) -> tuple[float, float]:
        """The least and the greatest Σ_k Σ_i r_ik of any episode that can happen."""
        ...


class Game(Protocol):
    """An environment μ and the minds Π that may take its slots."""

    @property
    def name(self) -> str: ...
    @property
    def minds(self) -> tuple[str, ...]: ...
    @property
    def teams(self) -> Teams: ...
    @property
    def steps(self) -> int: ...
    @property
    def score(self) -> Literal["mean", "total"]: ...
    @property
    def random(self) -> int | None:
        """The number of the uniformly random mind π_r; len(minds) if it is none of them."""
        ...


class Exact(Game, Protocol):
    """A game whose results are known exactly, without playing."""

    def outcome(self, line_up: LineUp) -> Outcome: ...

    def others(self, line_up: LineUp, slot: int) -> Mapping[ActionSequence, float]:
        """List what all slots but one may do, step by step, with its probability."""
        ...


class Played(Game, Protocol):
    """A game that is played: exercise after exercise, each with its own chance."""

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record: ...


def slots(game: Game) -> int:
    """Count the slots of a game, N(μ)."""
    return sum(len(team) for team in game.teams)


def checked_line_up(game: Game, line_up: LineUp) -> LineUp:
    """Check a line-up of the game: cut one that is too long, reject one that is too short."""
    wanted = slots(game)
    if len(line_up) < wanted:
        raise Error(
            f"a line-up of {len(line_up)} is too short for {game.name}, which has {wanted} slots"
        )
    known = len(game.minds) + (game.random == len(game.minds))
    for number in line_up[:wanted]:
        if not 0 <= number < known:
            raise Error(f"{game.name} has no mind number {number}; they run from 0 to {known - 1}")
    return tuple(line_up[:wanted])


def line_ups(game: Game) -> Iterator[LineUp]:
    """Iterate over L^N(Π); the last slot changes quickest."""
    return itertools.product(range(len(game.minds)), repeat=slots(game))


def check_rewards(game: Game, line_up: LineUp, rewards: tuple[float, ...]) -> tuple[float, ...]:
    """Require expected rewards within [-1, 1] that are equal in a team (Def. 1)."""
    if len(rewards) != len(line_up):
        raise _wrong(game, line_up, f"{len(rewards)} rewards for {len(line_up)} slots")
    for slot, reward in enumerate(rewards):
        if not -1 - SAME <= reward <= 1 + SAME:
            raise _wrong(game, line_up, f"slot {slot} is rewarded {reward}, outside [-1, 1]")
    for team in game.teams:
        if len(team) > 1:
            values = [rewards[slot] for slot in team]
            if max(values) - min(values) > SAME:
                said = f"slots {team} are one team but are rewarded {values}"
                raise _wrong(game, line_up, said)
    return rewards


def name_of(game: Game, number: int) -> str:
    """Return the name of a mind by its number; the random mind comes after the others."""
    return game.minds[number] if number < len(game.minds) else "random"


def _wrong(game: Game, line_up: LineUp, said: str) -> Error:
    names = ", ".join(name_of(game, number) for number in line_up)
    return Error(f"{game.name}, line-up {names}: {said}")


Floats = NDArray[np.float64]


# ---------------------------------------------------------------- weights of line-ups


@dataclass(frozen=True)
class LineUpWeights:
    """w_L on the line-ups of n minds in N slots, as shares of one.

    Either the product of weights of minds, or a function of the line-up.
    """

    slots: int
    minds: Floats  # w_Π: of every mind, the same in every slot; not used if `listed` is given
    listed: Callable[[LineUp], float] | None = None

    def of(self, line_up: LineUp) -> float:
        """Return the weight w_L(l) of a line-up."""
        if self.listed is not None:
            return self.listed(line_up)
        return math.prod(self._each[number] for number in line_up)

    def of_others(self, line_up: LineUp, slot: int) -> float:
        """Return w_{-i}(l̇), the weight of a line-up whatever mind is in one slot."""
        if self.listed is not None:
            return float(self.others(slot)[line_up[:slot] + line_up[slot + 1 :]])
        others = (n for place, n in enumerate(line_up) if place != slot)
        return math.prod(self._each[number] for number in others)

    def mind(self, slot: int) -> Floats:
        """Return w_i, the weight of every mind in a slot."""
        if self.listed is None:
            return self.minds
        return self._without(tuple(place for place in range(self.slots) if place != slot))

    def others(self, *empty: int) -> Floats:
        """Return w_{-i} or w_{-ij}: of the line-ups of all other slots, an axis for each."""
        if self.listed is not None:
            return self._without(tuple(sorted(empty)))
        return _product([self.minds] * (self.slots - len(empty)))

    @cached_property
    def all(self) -> Floats:
        """w_L as an array with an axis for every slot."""
        return self.others()

    @cached_property
    def _each(self) -> list[float]:
        return [float(share) for share in self.minds]  # plain numbers are quicker one by one

    @cached_property
    def _table(self) -> Floats:
        assert self.listed is not None
        n, every = len(self.minds), itertools.product(range(len(self.minds)), repeat=self.slots)
        flat = np.fromiter((self.listed(line_up) for line_up in every), float, n**self.slots)
        return flat.reshape((n,) * self.slots)

    def _without(self, axes: tuple[int, ...]) -> Floats:
        if axes not in self._sums:
            self._sums[axes] = self._table.sum(axis=axes)
        return self._sums[axes]

    @cached_property
    def _sums(self) -> dict[tuple[int, ...], Floats]:
        return {}


def _product(each: Sequence[Floats]) -> Floats:
    made = np.ones(())
    for weights in each:
        made = np.multiply.outer(made, weights)
    return made


# ---------------------------------------------------------------- all weights of a testbed


@dataclass(frozen=True)
class Weights:
    """w_M, w_S and w_L as a user gives them; what is left out is uniform.

    `minds` makes w_L(l) the product of its minds' weights, and sums to 1; `line_ups` gives w_L
    itself. Each sums to its constant: c_M over environments, c_S over the slots of each, c_L over
    the line-ups of each.
    """

    environments: Sequence[float] | None = None
    slots: Sequence[Sequence[float]] | None = None  # of every environment
    minds: Sequence[float] | None = None
    line_ups: Callable[[LineUp], float] | None = None
    c_m: float = 1.0
    c_s: float = 1.0
    c_l: float = 1.0

    @property
    def constant(self) -> float:
        """The constant c_M c_S c_L, by which Υ is a multiple of a mean of rewards."""
        return self.c_m * self.c_s * self.c_l

    def of_environments(self, games: Sequence[Game]) -> Floats:
        """Return w_M, as shares of one."""
        return shares(self.environments, len(games), self.c_m, "w_M of the environments", "c_M")

    def of_slots(self, games: Sequence[Game]) -> list[Floats]:
        """Return w_S of every environment, as shares of one."""
        if self.slots is not None and len(self.slots) != len(games):
            raise Error(f"w_S: {len(self.slots)} lists of weights for {len(games)} environments")
        given: Sequence[Sequence[float] | None] = self.slots or [None] * len(games)
        return [
            shares(each, slots(game), self.c_s, f"w_S of the slots of {game.name}", "c_S")
            for each, game in zip(given, games, strict=True)
        ]

    def of_line_ups(self, game: Game) -> LineUpWeights:
        """Return w_L of one environment, as shares of one."""
        n = len(game.minds)
        if self.line_ups is None:
            return LineUpWeights(slots(game), shares(self.minds, n, 1.0, "w of the minds", "1"))
        if self.minds is not None:
            raise Error("w_L is given twice: by minds and by line-ups; leave out one of them")
        given, total = self.line_ups, 0.0
        for line_up in line_ups(game):
            weight = given(line_up)
            if not 0 <= weight < math.inf:
                raise Error(f"w_L of line-up {line_up} is {weight}; a weight is 0 or more")
            total += weight
        if abs(total - self.c_l) > SAME * max(1.0, self.c_l):
            raise Error(f"w_L of the line-ups of {game.name} sums to {total:.10g}, not to c_L = "
                        f"{self.c_l:g}")  # fmt: skip
        return LineUpWeights(slots(game), np.full(n, 1 / n), lambda l: given(l) / self.c_l)


def shares(given: Sequence[float] | None, n: int, total: float, what: str, name: str) -> Floats:
    """Convert weights to shares of one; the error says what they sum to."""
    if not 0 < total < math.inf:
        raise Error(f"{name} is {total}; weights sum to something above 0")
    if given is None:
        return np.full(n, 1 / n)
    weights = np.asarray(given, float)
    if weights.shape != (n,):
        raise Error(f"{what}: {len(given)} weights for {n} of them")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise Error(f"{what} must be 0 or more each, not {list(given)}")
    if abs(weights.sum() - total) > SAME * max(1.0, total):
        wanted = name if name == "1" else f"{name} = {total:g}"
        raise Error(f"{what} sum to {weights.sum():.10g}, not to {wanted}")
    return weights / total


# ---------------------------------------------------------------- probabilities of drawing


@dataclass(frozen=True)
class Sampling:
    """p_M, p_S, p_Π and p_K, by which exercises are drawn; what is left out follows the weights.

    `steps` maps a number of steps K to its probability: a test may break off before the end.
    """

    environments: Sequence[float] | None = None
    slots: Sequence[Sequence[float]] | None = None
    minds: Sequence[float] | None = None
    steps: dict[int, float] | None = None


class Lot:
    """A set of numbers from which one is drawn, each by its probability."""

    def __init__(self, chances: Floats) -> None:
        self.chances = [float(chance) for chance in chances]
        self._heaped = list(itertools.accumulate(self.chances))
        self._last = max(n for n, chance in enumerate(self.chances) if chance > 0)

    def draw(self, random: Random, j: int) -> int:
        """Draw one number, by random word j."""
        at = bisect.bisect_right(self._heaped, random.unit_at(j) * self._heaped[-1])
        return min(at, self._last)


# ---------------------------------------------------------------- the testbed


G = TypeVar("G", bound=Game, covariant=True)


@dataclass(frozen=True, eq=False)
class Testbed(Generic[G]):
    """⟨Π, w_L, M, w_M, w_S⟩: games that the same minds play."""

    games: Sequence[G]
    weights: Weights = field(default_factory=Weights)
    __test__ = False  # or pytest would take it for one

    def __post_init__(self) -> None:
        """Require weights that sum to their constants, and one set of minds."""
        if not self.games:
            raise Error("a testbed needs at least one environment")
        for game in self.games[1:]:
            if game.minds != self.minds:
                raise Error(
                    f"{game.name} is played by {', '.join(game.minds)}, but {self.games[0].name} "
                    f"by {', '.join(self.minds)}; a testbed has one set of minds"
                )
        if not self.minds:
            raise Error(f"{self.games[0].name}: name at least one mind")
        if len(set(self.minds)) < len(self.minds):
            twice = next(mind for mind in self.minds if self.minds.count(mind) > 1)
            raise Error(f"{twice} is named twice; line-ups repeat minds by themselves")
        _ = self.w_m, self.w_s, self.w_l  # wrong weights are found here

    @property
    def minds(self) -> tuple[str, ...]:
        """The minds Π of the testbed."""
        return self.games[0].minds

    @cached_property
    def w_m(self) -> Floats:
        """Weights of the environments, as shares of one."""
        return self.weights.of_environments(self.games)

    @cached_property
    def w_s(self) -> list[Floats]:
        """Weights of the slots of every environment, as shares of one."""
        return self.weights.of_slots(self.games)

    @cached_property
    def w_l(self) -> list[LineUpWeights]:
        """Weights of the line-ups of every environment, as shares of one."""
        return [self.weights.of_line_ups(game) for game in self.games]
