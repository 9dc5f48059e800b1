"""Exact results of a game: payoffs of all line-ups, properties, ratings and their profile."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from allminds.contracts import Record
from allminds.core.errors import Error
from allminds.statistics.testbed import interaction, scores
from allminds.statistics.testbed.bed import (
    SAME,
    ActionSequence,
    Exact,
    Floats,
    Game,
    LineUp,
    LineUpWeights,
    Teams,
    check_rewards,
    checked_line_up,
)
from allminds.statistics.testbed.interaction import mean_over, slot_reward_dependency
from allminds.statistics.testbed.results import (
    Property,
    RewardSums,
    RewardTable,
    empty,
    exactly,
    expected_team_totals,
    kind,
    needed,
    streamed,
)
from allminds.statistics.testbed.scores import FIGURES, Cycle, reason, slot_scores, statistics


@dataclass(frozen=True)
class Known:
    """An outcome that is given, not computed."""

    rewards: tuple[float, ...]
    step_sum_range: tuple[float, float]
    total_sums: tuple[float, float]


class Payoffs:
    """One step, in which each mind does one thing: `rewards[l_0, l_1, …, i]` goes to slot i.

    `random` names the mind that is the uniformly random one, if any is.
    """

    steps = 1
    score: Literal["mean", "total"] = "mean"

    def __init__(
        self,
        name: str,
        minds: Sequence[str],
        teams: Sequence[Sequence[int]],
        rewards: ArrayLike,
        random: str | None = None,
    ) -> None:
        self.name, self.minds = name, tuple(minds)
        self.teams: Teams = tuple(tuple(team) for team in teams)
        self.rewards = np.asarray(rewards, float)
        self.random = None if random is None else self.minds.index(random)
        places = sorted(slot for team in self.teams for slot in team)
        shape = (len(self.minds),) * len(places) + (len(places),)
        if places != list(range(len(places))):
            raise Error(f"{name}: the teams {self.teams} are not a partition of the slots 0, 1, …")
        if self.rewards.shape != shape:
            raise Error(f"{name}: pay-offs of shape {self.rewards.shape}; {shape} is wanted")

    def outcome(self, line_up: LineUp) -> Known:
        """Look up the expected rewards of a line-up in the table."""
        line_up = checked_line_up(self, line_up)
        rewards = check_rewards(self, line_up, tuple(float(r) for r in self.rewards[line_up]))
        total = sum(rewards)
        return Known(rewards, (total, total), (total, total))

    def others(self, line_up: LineUp, slot: int) -> Mapping[ActionSequence, float]:
        """Return the one joint action: each mind does its own, whatever mind is in the slot."""
        return {(line_up[:slot] + line_up[slot + 1 :],): 1.0}

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record:
        """Return the outcome as a record of one step."""
        rewards = self.outcome(line_up).rewards
        return Record(
            exercise=f"{self.name}/{seed}/{exercise}",
            index=exercise,
            complexity={},
            steps=1,
            score=rewards,
            learning=(None,) * len(rewards),
            status=tuple("ok" for _ in rewards),
            actions=(dict(enumerate(line_up)),),
            rewards=(rewards,),
        )


# ---------------------------------------------------------------- the profile


ORDER = (
    "action_dependency", "reward_dependency", "fine_discrimination", "coarse_discrimination",
    "variance.me", "variance.them", "variance.match", "social_share", "strategic_share",
    "strict_total_grading", "partial_grading", "cyclic_share", "slot_reward_dependency",
    "competitive_anticipation", "cooperative_anticipation", "anticipation_potential",
    "team_symmetry", "max_asymmetry", "intra_team_asymmetry", "inter_team_asymmetry",
    "bounded", "zero_sum", "max_abs_step_sum", "constant_sum", "zero_sum_in_the_limit",
)  # fmt: skip


def in_order(found: Mapping[str, Property], minds: tuple[str, ...]) -> dict[str, Property]:
    """Sort properties into the order in which they are shown."""
    names = ["upsilon", *(f"upsilon[{mind}]" for mind in minds), *ORDER]
    return {name: found[name] for name in names}


@dataclass(frozen=True, eq=False)
class Ratings:
    """The rating r(a) of every mind, and the cycles that no rating can express."""

    minds: tuple[str, ...]
    values: Floats
    ci95: list[tuple[float, float]] | None  # None if exact
    margins: Floats  # m(a, b)
    cycles: list[Cycle]

    def as_json(self) -> list[dict[str, Any]]:
        """Convert the ratings to plain values, best first."""
        sure: list[dict[str, Any]] = [
            {"exact": True} if self.ci95 is None else {"ci95": list(self.ci95[n])}
            for n in range(len(self.minds))
        ]
        rows = zip(self.minds, self.values, sure, strict=True)
        found = [{"mind": mind, "rating": float(value)} | how for mind, value, how in rows]
        return sorted(found, key=lambda row: -row["rating"])

    def cycles_as_json(self) -> list[dict[str, Any]]:
        """Convert each cycle to plain values: minds, each of which beats the next, and margins."""
        return [
            {"minds": [self.minds[n] for n in cycle.minds], "margins": list(cycle.margins)}
            for cycle in self.cycles
        ]


@dataclass(frozen=True, eq=False)
class Profile:
    """The properties of one environment and its minds as a test of social intelligence."""

    game: Game
    properties: Mapping[str, Property]
    scores: Floats  # Υ_i(π) as [mind, slot]
    kind: str  # pure competition, pure cooperation, mixed
    ratings: Ratings | None  # None where all slots are one team
    slot_matrix: Floats  # SRD_ij
    team_totals: tuple[float, ...]  # what a team gets in an episode
    made: Mapping[str, Any] = field(default_factory=dict)  # how: line-ups, episodes

    def as_json(self) -> dict[str, Any]:
        """Convert the profile to what `--json` prints."""
        slots = [
            {"mind": mind, "slots": [float(score) for score in row]}
            for mind, row in zip(self.game.minds, self.scores, strict=True)
        ]
        matrix = [[None if x != x else float(x) for x in row] for row in self.slot_matrix]
        return {
            "environment": self.game.name,
            "minds": list(self.game.minds),
            "teams": [list(team) for team in self.game.teams],
            "kind": self.kind,
            **self.made,
            "properties": {name: one.as_json() for name, one in self.properties.items()},
            "scores": slots,
            "ratings": self.ratings.as_json() if self.ratings else None,
            "cycles": self.ratings.cycles_as_json() if self.ratings else [],
            "slot_matrix": matrix,
            "team_totals": list(self.team_totals),
        }


# ---------------------------------------------------------------- exact properties


BINARY = {
    "reward_dependency": interaction.reward_dependency,
    "fine_discrimination": interaction.fine_discrimination,
    "coarse_discrimination": interaction.coarse_discrimination,
}
UNEQUAL = "not symmetric: teams are of unequal size"


def exact_profile(game: Exact, weights: LineUpWeights, w_s: Floats) -> Profile:
    """Compute every property of one environment.

    This takes one pass over its line-ups, and one more for each slot.
    """
    table, sums, count = exact_results(game, weights)
    figures = statistics(table, w_s)
    ratings = exact_ratings(game, table, w_s)
    totals = np.tensordot(weights.all, table.of_minds, len(table.slots))
    return Profile(
        game=game,
        properties=in_order(
            _properties(game, table, w_s, figures) | _sums(sums, table), game.minds
        ),
        scores=slot_scores(table),
        kind=kind(game.teams, sums.zero),
        ratings=ratings,
        slot_matrix=slot_reward_dependency(table),
        team_totals=expected_team_totals(game, tuple(float(x) for x in totals)),
        made={"line_ups": count, "exact": True},
    )


def exact_results(game: Exact, weights: LineUpWeights) -> tuple[RewardTable, RewardSums, int]:
    """Compute the table of a game, the sums of its rewards, and the number of line-ups."""
    rewards, sums, count = empty(game), RewardSums(), 0
    for line_up, outcome in streamed(game, needed(game)):
        rewards[line_up] = outcome.rewards
        if len(game.minds) not in line_up:
            sums.add(outcome)
            count += 1
    return RewardTable(game.teams, weights, game.random, rewards), sums, count


def _properties(
    game: Exact, table: RewardTable, w_s: Floats, figures: dict[str, float]
) -> dict[str, Property]:
    weighty = int((table.weights.minds > 0).sum())

    def put(name: str, value: float, graded: float | None = None, **more: Any) -> Property:
        return exactly(value, reason(name, game, weighty), graded, **more)

    def over(of: Any) -> float:
        return mean_over((of(table, i) for i in table.slots), w_s)

    found = {name: put(name, figures[name]) for name in FIGURES}
    for n, mind in enumerate(game.minds):
        found[f"upsilon[{mind}]"] = put("upsilon", figures[f"upsilon[{n}]"])
    found["action_dependency"] = _action_dependency(game, table, w_s, weighty)
    for name, of in BINARY.items():
        found[name] = put(name, over(of), figures[name])
    pairs = table.different_teams()
    graded = np.array([scores.grading(table, i, j) for i, j in pairs]).reshape(-1, 2)
    by = [w_s[i] * w_s[j] for i, j in pairs]
    found["strict_total_grading"] = put("strict_total_grading", mean_over(graded[:, 0], by))
    found["partial_grading"] = put("partial_grading", mean_over(graded[:, 1], by))
    whole = figures["cyclic.whole"]
    share = figures["cyclic.rest"] / whole if whole > interaction.NOTHING else math.nan
    found["cyclic_share"] = put("cyclic_share", share)
    return found | _symmetry(table)


def _action_dependency(game: Exact, table: RewardTable, w_s: Floats, weighty: int) -> Property:
    try:
        each = [interaction.action_dependency(game, table.weights, i) for i in table.slots]
    except Error as error:  # more action sequences than can be enumerated
        return Property(None, exact=True, reason=str(error))
    binary, graded, by_step = (mean_over([acts[n] for acts in each], w_s) for n in range(3))
    why = reason("action_dependency", game, weighty)
    return exactly(binary, why, graded) if by_step != by_step else exactly(
        binary, why, graded, graded_by_step=by_step)  # fmt: skip


def _symmetry(table: RewardTable) -> dict[str, Property]:
    equal = scores.equal_teams(table.teams)
    intra = exactly(scores.asymmetry(table, "intra"), "")
    if not equal:
        none = Property(None, exact=True, reason=UNEQUAL)
        return {"team_symmetry": Property(False, exact=True, reason=UNEQUAL),
                "max_asymmetry": none, "intra_team_asymmetry": intra,
                "inter_team_asymmetry": none}  # fmt: skip
    most = scores.asymmetry(table, "all")
    return {
        "team_symmetry": Property(most <= SAME, exact=True),
        "max_asymmetry": exactly(most, ""),
        "intra_team_asymmetry": intra,
        "inter_team_asymmetry": exactly(scores.asymmetry(table, "inter"), ""),
    }


def _sums(sums: RewardSums, table: RewardTable) -> dict[str, Property]:
    low, high = float(table.of_minds.min()), float(table.of_minds.max())
    return {
        "bounded": Property(True, exact=True, more={"range": [low, high]}),
        "zero_sum": Property(sums.zero, exact=True),
        "max_abs_step_sum": exactly(sums.max_abs_step_sum, ""),
        "constant_sum": Property(sums.constant, exact=True, more={"range": [sums.low, sums.high]}),
        "zero_sum_in_the_limit": Property(
            sums.zero_in_the_limit, exact=True, more={"range": [sums.least, sums.greatest]}
        ),
    }


def exact_ratings(game: Exact, table: RewardTable, w_s: Floats) -> Ratings | None:
    """Compute ratings and cycles from exact margins."""
    margins = scores.mean_margins(table, w_s)
    if np.isnan(margins).any():
        return None
    found = scores.cycles(margins, scores.signs(margins))
    return Ratings(game.minds, scores.ratings(margins), None, margins, found)
