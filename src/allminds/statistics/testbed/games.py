"""What a testbed is made of: games with slots and teams, and minds that take them by number.

A line-up is a tuple of numbers into `Game.minds`, one for each slot. A game is `Exact` if it can
say what is expected of a line-up, and `Played` if it can be played; `payoffs.Payoffs` and
`instrument_game.InstrumentGame` are both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Literal, Protocol

from allminds.contracts import Record
from allminds.core.errors import Error

LineUp = tuple[int, ...]
Sequence = tuple[tuple[int, ...], ...]  # the actions of some slots, step by step
Teams = tuple[tuple[int, ...], ...]
SAME = 1e-9  # exact results that differ by no more than this are equal (Δ)


class Outcome(Protocol):
    """What is expected of one line-up, exactly."""

    @property
    def rewards(self) -> tuple[float, ...]:
        """R_i^K of every slot."""
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
    """A game whose results are known without playing."""

    def outcome(self, line_up: LineUp) -> Outcome: ...

    def others(self, line_up: LineUp, slot: int) -> Mapping[Sequence, float]:
        """What all slots but one may do, step by step, with its probability."""
        ...


class Played(Game, Protocol):
    """A game that is played: exercise after exercise, each with its own chance."""

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record: ...


def slots(game: Game) -> int:
    """N(μ)."""
    return sum(len(team) for team in game.teams)


def checked_line_up(game: Game, line_up: LineUp) -> LineUp:
    """A line-up of the game: what is too long is cut, what is too short is an error."""
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
    """L^N(Π), one after the other; the last slot changes quickest."""
    return itertools.product(range(len(game.minds)), repeat=slots(game))


def check_rewards(game: Game, line_up: LineUp, rewards: tuple[float, ...]) -> tuple[float, ...]:
    """Expected rewards within [-1, 1] and equal in a team (Def. 1), or an error of the game."""
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
    """The name of a mind by its number, or of the random one after them."""
    return game.minds[number] if number < len(game.minds) else "random"


def _wrong(game: Game, line_up: LineUp, said: str) -> Error:
    names = ", ".join(name_of(game, number) for number in line_up)
    return Error(f"{game.name}, line-up {names}: {said}")
