"""The expected reward of every slot in every line-up, from which all properties are computed.

Line-ups are streamed; what is kept of each is one number a slot. The same table holds what was
sampled: then with the noise of every mean, which the properties take out again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from allminds.core.errors import Error
from allminds.statistics.testbed.games import (
    Exact,
    Game,
    LineUp,
    Outcome,
    Teams,
    check_rewards,
    slots,
)
from allminds.statistics.testbed.weights import Floats, LineUpWeights

MOST = 4_000_000  # numbers in a table


@dataclass(frozen=True, eq=False)
class Results:
    """R_i(μ[l]) for all line-ups, and those in which the random mind π_r stands in for others.

    ``rewards[l_0, l_1, …, i]``; the number after the last mind is the random one, unless it is one
    of them. ``noise`` is None for exact results; else the covariance between slots of the errors
    of ``rewards``, and ``halves`` are means over two separate halves of the episodes.
    """

    teams: Teams
    weights: LineUpWeights
    random: int | None
    rewards: Floats
    noise: Floats | None = None
    halves: tuple[Floats, Floats] | None = None

    @property
    def minds(self) -> int:
        """|Π|."""
        return len(self.weights.minds)

    @property
    def slots(self) -> range:
        """The numbers of the slots."""
        return range(self.weights.slots)

    @property
    def of_minds(self) -> Floats:
        """The rewards without the random mind's extra place."""
        return self._cut(self.rewards)

    @property
    def noise_of_minds(self) -> Floats:
        """The noise of `of_minds`."""
        assert self.noise is not None
        return self._cut(self.noise)

    def slot(self, i: int) -> Floats:
        """R_i as [mind in slot i, line-up of the others]."""
        return one_slot_first(self.of_minds[..., i], i)

    def noise_of(self, i: int) -> Floats:
        """The variance of the error of `slot(i)`."""
        return one_slot_first(self.noise_of_minds[..., i, i], i)

    def pair(self, rewards: Floats, i: int, j: int) -> Floats:
        """Rewards as [mind in slot i, in slot j, line-up of the others, …]; π_r in i and j only."""
        n = self.minds
        here = tuple(slice(None) if slot in (i, j) else slice(n) for slot in self.slots)
        first = np.moveaxis(rewards[here], (i, j), (0, 1))
        most, rest = first.shape[0], first.shape[len(self.slots) :]
        return first.reshape(most, most, -1, *rest)

    def different_teams(self) -> list[tuple[int, int]]:
        """All pairs i < j of slots of different teams."""
        return [pair for pair in self._pairs() if not self._same_team(*pair)]

    def same_team(self) -> list[tuple[int, int]]:
        """All pairs i < j of slots of one team."""
        return [pair for pair in self._pairs() if self._same_team(*pair)]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return itertools.combinations(self.slots, 2)

    def _same_team(self, i: int, j: int) -> bool:
        return any(i in team and j in team for team in self.teams)

    def _cut(self, table: Floats) -> Floats:
        return table[(slice(self.minds),) * len(self.slots)]


def one_slot_first(values: Floats, i: int) -> Floats:
    """An array over line-ups as [mind in slot i, line-up of the others]."""
    return np.moveaxis(values, i, 0).reshape(values.shape[i], -1)


# ---------------------------------------------------------------- which line-ups are needed


def needed(game: Game) -> Iterator[LineUp]:
    """All line-ups of the minds, and those with the random mind in one slot or two."""
    n = len(game.minds)
    for line_up in itertools.product(range(places(game)), repeat=slots(game)):
        if line_up.count(n) <= 2:
            yield line_up


def places(game: Game) -> int:
    """How many minds a table has room for: Π, and π_r if it is none of them."""
    return len(game.minds) + (game.random == len(game.minds))


def empty(game: Game) -> Floats:
    """A table to be filled, of a size that memory has room for."""
    shape = (places(game),) * slots(game) + (slots(game),)
    if np.prod([float(size) for size in shape]) > MOST:
        raise Error(
            f"{game.name}: {len(game.minds)} minds in {slots(game)} slots make too many line-ups "
            "for all properties to be exact; name fewer minds, or sample"
        )
    return np.full(shape, np.nan)


def streamed(game: Exact, wanted: Iterable[LineUp]) -> Iterator[tuple[LineUp, Outcome]]:
    """Line-ups with what is expected of them, checked, one after the other."""
    for line_up in wanted:
        outcome = game.outcome(line_up)
        check_rewards(game, line_up, outcome.rewards)
        yield line_up, outcome
