"""The score Υ of a testbed (eq. 1), of each mind in it, and all figures of a table.

Υ of eq. 1 describes the testbed: it is 0 in every zero-sum game with equal slot weights, whatever
minds play. A mind's own score is Υ(π), the mean of what it gets over slots and the line-ups of
others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from allminds.statistics.testbed import grading, interaction
from allminds.statistics.testbed.bed import Exact, Floats, Game, Testbed, line_ups, slots
from allminds.statistics.testbed.interaction import mean_over
from allminds.statistics.testbed.results import RewardTable, streamed


@dataclass(frozen=True, eq=False)
class TestbedScores:
    """The scores Υ, Υ(π) and Υ_i(π, μ)."""

    upsilon: float
    minds: Floats  # Υ(π)
    slots: list[Floats]  # of every environment: Υ_i(π, μ) as [mind, slot]

    def environments(self, w_s: list[Floats]) -> Floats:
        """Compute Υ(π, μ) as [mind, environment]: the mean over slots."""
        return np.stack([each @ w for each, w in zip(self.slots, w_s, strict=True)], axis=1)


def upsilon(testbed: Testbed[Exact]) -> TestbedScores:
    """Compute Υ exactly, in one pass over the line-ups, of which none is kept."""
    total, by_slot = 0.0, []
    for game, w_m, w_s, w_l in zip(
        testbed.games, testbed.w_m, testbed.w_s, testbed.w_l, strict=True
    ):
        scores = np.zeros((len(game.minds), slots(game)))
        for line_up, outcome in streamed(game, line_ups(game)):
            rewards = outcome.rewards
            total += w_m * w_l.of(line_up) * float(np.dot(w_s, rewards))
            for slot, mind in enumerate(line_up):
                scores[mind, slot] += w_l.of_others(line_up, slot) * rewards[slot]
        by_slot.append(scores)
    return _scores(testbed, total, by_slot)


def slot_scores(table: RewardTable) -> Floats:
    """Compute Υ_i(π) of one environment as [mind, slot]."""
    return np.stack([table.slot(i) @ table.weights.others(i).ravel() for i in table.slots], axis=1)


def _scores(testbed: Testbed[Exact], total: float, by_slot: list[Floats]) -> TestbedScores:
    minds = sum(
        w_m * (scores @ w_s)
        for w_m, scores, w_s in zip(testbed.w_m, by_slot, testbed.w_s, strict=True)
    )
    constant = testbed.weights.constant
    return TestbedScores(constant * total, constant * np.asarray(minds, float), by_slot)


# ---------------------------------------------------------------- figures of a table


GRADED = ("reward_dependency", "fine_discrimination", "coarse_discrimination")
FIGURES = (  # that are properties as they are
    "upsilon",
    *GRADED,
    "variance.me",
    "variance.them",
    "variance.match",
    "social_share",
    "strategic_share",
    "slot_reward_dependency",
    "competitive_anticipation",
    "cooperative_anticipation",
    "anticipation_potential",
)
Pair = tuple[int, int]


def statistics(table: RewardTable, w_s: Floats) -> dict[str, float]:
    """Compute every figure by its name; those of minds by their number."""
    return (
        _scores_of_minds(table, w_s)
        | _variances(table, w_s)
        | _slots(table, w_s)
        | _ratings(table, w_s)
    )


def _scores_of_minds(table: RewardTable, w_s: Floats) -> dict[str, float]:
    means = (table.weights.all[..., None] * table.of_minds).sum(axis=tuple(table.slots))
    each = slot_scores(table) @ w_s
    return {"upsilon": float(means @ w_s)} | {f"upsilon[{n}]": float(s) for n, s in enumerate(each)}


def _variances(table: RewardTable, w_s: Floats) -> dict[str, float]:
    squares = [interaction.graded(table, i) for i in table.slots]
    splits = [interaction.split(table, i) for i in table.slots]
    shares = [interaction.shares(table, i) for i in table.slots]
    found = {name: mean_over([_root(each[name]) for each in squares], w_s) for name in GRADED}
    found |= {
        f"variance.{part}": mean_over([getattr(split, part) for split in splits], w_s)
        for part in ("me", "them", "match")
    }
    found["social_share"] = mean_over([social for social, _ in shares], w_s)
    found["strategic_share"] = mean_over([strategic for _, strategic in shares], w_s)
    return found


def _root(square: float) -> float:
    """Compute the root; of an estimate below 0 it is 0, and NaN stays."""
    return math.sqrt(max(square, 0.0)) if not math.isnan(square) else square


def _slots(table: RewardTable, w_s: Floats) -> dict[str, float]:
    apart, together = table.different_teams(), table.same_team()
    matrix = interaction.slot_reward_dependency(table)

    def over(pairs: Sequence[Pair], of: Callable[[RewardTable, int, int], float]) -> float:
        ordered = [*pairs, *((j, i) for i, j in pairs)]
        values = (of(table, i, j) for i, j in ordered)
        return mean_over(values, (w_s[i] * w_s[j] for i, j in ordered))

    return {
        "slot_reward_dependency": mean_over(
            (matrix[pair] for pair in apart), (w_s[i] * w_s[j] for i, j in apart)
        ),
        "competitive_anticipation": over(apart, interaction.anticipation),
        "cooperative_anticipation": over(together, interaction.anticipation),
        "anticipation_potential": over([*apart, *together], interaction.potential),
    }


def _ratings(table: RewardTable, w_s: Floats) -> dict[str, float]:
    margins = grading.mean_margins(table, w_s)
    rest, whole = grading.cyclic(margins)
    each = {f"rating[{n}]": float(r) for n, r in enumerate(grading.ratings(margins))}
    return each | {"cyclic.rest": rest, "cyclic.whole": whole}


def reason(name: str, game: Game, weighty: int) -> str:
    """Say why a figure has no value; `weighty` is how many minds have any weight."""
    one_team = "all slots are one team"
    if name in ("strict_total_grading", "partial_grading"):
        return one_team if len(game.teams) == 1 else "grading takes three minds"
    if name == "cyclic_share":
        return one_team if len(game.teams) == 1 else "all margins are 0"
    if name in ("competitive_anticipation", "cooperative_anticipation", "anticipation_potential"):
        if name == "cooperative_anticipation" and max(map(len, game.teams)) == 1:
            return "no team of two"
        if name == "competitive_anticipation" and len(game.teams) == 1:
            return one_team
        return "there is no random mind to compare with" if game.random is None else "one slot"
    if name == "slot_reward_dependency":
        return one_team if len(game.teams) == 1 else "rewards do not vary"
    if name in ("social_share", "strategic_share"):
        return "rewards do not vary"
    if name == "reward_dependency" and weighty >= 2:
        return "there are no others"
    return "it takes two minds" if weighty < 2 else "not estimable"
