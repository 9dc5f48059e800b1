"""Zero-sum, constant-sum, in the limit and by teams (P1 §4.4), and what kind of game that makes.

Eq. 9 is the same sum as eq. 8, term by term, so there is one figure, and totals by team beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from allminds.contracts import Record
from allminds.statistics.testbed.games import SAME, Game, Outcome, Teams


def team_sums(rewards: tuple[float, ...], teams: Teams) -> tuple[float, ...]:
    """Σ_{i∈t} r_i of every team t; together they are the sum over all slots."""
    return tuple(math.fsum(rewards[slot] for slot in team) for team in teams)


@dataclass
class Sums:
    """What the rewards of all slots sum to, as far as it was seen."""

    low: float = math.inf  # of Σ_i r_ik over steps
    high: float = -math.inf
    least: float = math.inf  # of T_K = Σ_k Σ_i r_ik over episodes
    greatest: float = -math.inf
    totals: list[float] = field(default_factory=list)  # T_K of every episode played

    def add(self, outcome: Outcome) -> None:
        """All that can happen in a line-up."""
        self._stretch(outcome.step_sum_range, outcome.total_sums)

    def add_record(self, record: Record) -> None:
        """An episode that was played."""
        sums = [math.fsum(rewards) for rewards in record.rewards]
        total = math.fsum(sums)
        self._stretch((min(sums), max(sums)), (total, total))
        self.totals.append(total)

    def _stretch(self, steps: tuple[float, float], totals: tuple[float, float]) -> None:
        self.low, self.high = min(self.low, steps[0]), max(self.high, steps[1])
        self.least, self.greatest = min(self.least, totals[0]), max(self.greatest, totals[1])

    @property
    def max_abs_step_sum(self) -> float:
        """max_k |Σ_i r_ik|."""
        return max(abs(self.low), abs(self.high))

    @property
    def max_abs_total(self) -> float:
        """max |T_K| at the end of an episode."""
        return max(abs(self.least), abs(self.greatest))

    @property
    def zero(self) -> bool:
        """Every step sums to 0."""
        return self.max_abs_step_sum <= SAME

    @property
    def constant(self) -> bool:
        """Every step sums to the same."""
        return self.high - self.low <= SAME

    @property
    def zero_in_the_limit(self) -> bool:
        """Every episode sums to 0 by its end."""
        return self.max_abs_total <= SAME


def expected_team_totals(game: Game, rewards: tuple[float, ...]) -> tuple[float, ...]:
    """What every team gets in an episode, from the expected rewards of its slots."""
    length = game.steps if game.score == "mean" else 1
    return tuple(length * total for total in team_sums(rewards, game.teams))


def kind(teams: Teams, zero_sum: bool) -> str:
    """What can be measured in such a game."""
    if len(teams) == 1:
        return "alone" if len(teams[0]) == 1 else "pure cooperation"
    singles = all(len(team) == 1 for team in teams)
    return "pure competition" if zero_sum and singles else "mixed"
