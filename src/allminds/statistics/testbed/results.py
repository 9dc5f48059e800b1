"""The table of expected rewards of every slot in every line-up, their sums, and properties.

Line-ups are streamed; what is kept of each is one number for each slot. The same table holds
sampled results: then with the noise of every mean, which the properties take out again.
`RewardSums` tells zero-sum games, and `Property` is one figure of a testbed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allminds.contracts import Record
from allminds.core.errors import Error
from allminds.statistics.testbed.bed import (
    SAME,
    Exact,
    Floats,
    Game,
    LineUp,
    LineUpWeights,
    Outcome,
    Teams,
    check_rewards,
    slots,
)

MOST = 4_000_000  # numbers in a table


@dataclass(frozen=True, eq=False)
class RewardTable:
    """Expected rewards R_i(μ[l]) of all line-ups, also with the random mind π_r in some slots.

    ``rewards[l_0, l_1, …, i]``; the number after the last mind is the random one, unless it is one
    of them. ``noise`` is None for exact results; else the covariance between slots of the errors of
    ``rewards``, and ``halves`` are means over two separate halves of the episodes.
    """

    teams: Teams
    weights: LineUpWeights
    random: int | None
    rewards: Floats
    noise: Floats | None = None
    halves: tuple[Floats, Floats] | None = None

    @property
    def minds(self) -> int:
        """The number of minds, |Π|."""
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
        """The noise without the random mind's extra place."""
        assert self.noise is not None
        return self._cut(self.noise)

    def slot(self, i: int) -> Floats:
        """Return R_i as [mind in slot i, line-up of the others]."""
        return one_slot_first(self.of_minds[..., i], i)

    def noise_of(self, i: int) -> Floats:
        """Return the variance of the error of `slot(i)`."""
        return one_slot_first(self.noise_of_minds[..., i, i], i)

    def pair(self, rewards: Floats, i: int, j: int) -> Floats:
        """Reshape rewards to [mind in slot i, in slot j, line-up of the others, …].

        π_r is in i and j only.
        """
        n = self.minds
        here = tuple(slice(None) if slot in (i, j) else slice(n) for slot in self.slots)
        first = np.moveaxis(rewards[here], (i, j), (0, 1))
        most, rest = first.shape[0], first.shape[len(self.slots) :]
        return first.reshape(most, most, -1, *rest)

    def different_teams(self) -> list[tuple[int, int]]:
        """List all pairs i < j of slots of different teams."""
        return [pair for pair in self._pairs() if not self._same_team(*pair)]

    def same_team(self) -> list[tuple[int, int]]:
        """List all pairs i < j of slots of one team."""
        return [pair for pair in self._pairs() if self._same_team(*pair)]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return itertools.combinations(self.slots, 2)

    def _same_team(self, i: int, j: int) -> bool:
        return any(i in team and j in team for team in self.teams)

    def _cut(self, table: Floats) -> Floats:
        return table[(slice(self.minds),) * len(self.slots)]


def one_slot_first(values: Floats, i: int) -> Floats:
    """Reshape an array over line-ups to [mind in slot i, line-up of the others]."""
    return np.moveaxis(values, i, 0).reshape(values.shape[i], -1)


# ---------------------------------------------------------------- line-ups that are needed


def needed(game: Game) -> Iterator[LineUp]:
    """Yield all line-ups of the minds, and those with the random mind in one slot or two."""
    n = len(game.minds)
    for line_up in itertools.product(range(places(game)), repeat=slots(game)):
        if line_up.count(n) <= 2:
            yield line_up


def places(game: Game) -> int:
    """Count the minds that a table has room for: Π, and π_r if it is not one of them."""
    return len(game.minds) + (game.random == len(game.minds))


def empty(game: Game) -> Floats:
    """Allocate a table to be filled; reject one that is too large for memory."""
    shape = (places(game),) * slots(game) + (slots(game),)
    if np.prod([float(size) for size in shape]) > MOST:
        raise Error(
            f"{game.name}: {len(game.minds)} minds in {slots(game)} slots make too many line-ups "
            "for all properties to be exact; name fewer minds, or sample"
        )
    return np.full(shape, np.nan)


def streamed(game: Exact, wanted: Iterable[LineUp]) -> Iterator[tuple[LineUp, Outcome]]:
    """Yield line-ups with their expected outcomes, checked, one after the other."""
    for line_up in wanted:
        outcome = game.outcome(line_up)
        check_rewards(game, line_up, outcome.rewards)
        yield line_up, outcome


# ---------------------------------------------------------------- sums of rewards


def team_sums(rewards: tuple[float, ...], teams: Teams) -> tuple[float, ...]:
    """Compute Σ_{i∈t} r_i of every team t; together they are the sum over all slots."""
    return tuple(math.fsum(rewards[slot] for slot in team) for team in teams)


@dataclass
class RewardSums:
    """The sums of the rewards of all slots, as far as they were seen."""

    low: float = math.inf  # of Σ_i r_ik over steps
    high: float = -math.inf
    least: float = math.inf  # of T_K = Σ_k Σ_i r_ik over episodes
    greatest: float = -math.inf
    totals: list[float] = field(default_factory=list)  # T_K of every episode played

    def add(self, outcome: Outcome) -> None:
        """Add all that can happen in a line-up."""
        self._stretch(outcome.step_sum_range, outcome.total_sums)

    def add_record(self, record: Record) -> None:
        """Add an episode that was played."""
        sums = [math.fsum(rewards) for rewards in record.rewards]
        total = math.fsum(sums)
        self._stretch((min(sums), max(sums)), (total, total))
        self.totals.append(total)

    def _stretch(self, steps: tuple[float, float], totals: tuple[float, float]) -> None:
        self.low, self.high = min(self.low, steps[0]), max(self.high, steps[1])
        self.least, self.greatest = min(self.least, totals[0]), max(self.greatest, totals[1])

    @property
    def max_abs_step_sum(self) -> float:
        """The greatest absolute step sum, max_k |Σ_i r_ik|."""
        return max(abs(self.low), abs(self.high))

    @property
    def max_abs_total(self) -> float:
        """The greatest |T_K| at the end of an episode."""
        return max(abs(self.least), abs(self.greatest))

    @property
    def zero(self) -> bool:
        """True if every step sums to 0."""
        return self.max_abs_step_sum <= SAME

    @property
    def constant(self) -> bool:
        """True if every step sums to the same."""
        return self.high - self.low <= SAME

    @property
    def zero_in_the_limit(self) -> bool:
        """True if every episode sums to 0 by its end."""
        return self.max_abs_total <= SAME


def expected_team_totals(game: Game, rewards: tuple[float, ...]) -> tuple[float, ...]:
    """Compute what every team gets in an episode, from the expected rewards of its slots."""
    length = game.steps if game.score == "mean" else 1
    return tuple(length * total for total in team_sums(rewards, game.teams))


def kind(teams: Teams, zero_sum: bool) -> str:
    """Name the kind of a game: alone, pure cooperation, pure competition or mixed."""
    if len(teams) == 1:
        return "alone" if len(teams[0]) == 1 else "pure cooperation"
    singles = all(len(team) == 1 for team in teams)
    return "pure competition" if zero_sum and singles else "mixed"


# ---------------------------------------------------------------- properties


@dataclass(frozen=True, eq=False)
class Property:
    """A value, the graded form beside it if there is one, and an interval unless it is exact.

    The interval is that of the graded form, where there is one. A property without a value has a
    reason.
    """

    value: float | bool | None
    graded: float | None = None
    ci95: tuple[float, float] | None = None
    exact: bool = False
    reason: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Convert the property to what `--json` prints."""
        found: dict[str, Any] = {"value": self.value}
        if self.graded is not None:
            found["graded"] = self.graded
        if self.exact:
            found["exact"] = True
        elif self.ci95 is not None:
            found["ci95"] = list(self.ci95)
        if self.reason:
            found["reason"] = self.reason
        return found | dict(self.more)

    @property
    def figure(self) -> float | None:
        """The number to draw: the graded form, or else the value."""
        if self.graded is not None:
            return self.graded
        return None if self.value is None else float(self.value)


def exactly(value: float, reason: str, graded: float | None = None, **more: Any) -> Property:
    """Build an exact property; NaN becomes None, for the reason given."""
    if math.isnan(value):
        return Property(None, exact=True, reason=reason, more=more)
    return Property(value, graded, exact=True, more=more)


def sampled(value: float, draws: Floats, reason: str, graded: bool = False) -> Property:
    """Build a sampled property with its bootstrap interval; NaN becomes None, with the reason."""
    if math.isnan(value):
        return Property(None, reason=reason)
    ci95 = interval(draws)
    if graded:
        only = "the binary form is for exact results only"
        return Property(None, value, ci95, reason=only)
    return Property(value, ci95=ci95)


def interval(draws: Floats) -> tuple[float, float] | None:
    """Compute the middle 95 % of the draws that have a value; None if too few have one."""
    there = draws[~np.isnan(draws)]
    if len(there) < len(draws) / 2:
        return None
    low, high = np.quantile(there, [0.025, 0.975])
    return float(low), float(high)
