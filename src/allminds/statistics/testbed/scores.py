"""Υ: the score of a testbed (eq. 1), and of each mind in it.

Υ of eq. 1 describes the testbed: it is 0 in every zero-sum game with equal slot weights, whoever
plays. A mind's own score is Υ(π), the mean of what it gets over slots and the line-ups of others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allminds.statistics.testbed.bed import Testbed
from allminds.statistics.testbed.games import Exact, line_ups, slots
from allminds.statistics.testbed.results import Results, streamed
from allminds.statistics.testbed.weights import Floats


@dataclass(frozen=True, eq=False)
class Scores:
    """Υ, Υ(π) and Υ_i(π, μ)."""

    upsilon: float
    minds: Floats  # Υ(π)
    slots: list[Floats]  # of every environment: Υ_i(π, μ) as [mind, slot]

    def environments(self, w_s: list[Floats]) -> Floats:
        """Υ(π, μ) as [mind, environment]: the mean over slots."""
        return np.stack([each @ w for each, w in zip(self.slots, w_s, strict=True)], axis=1)


def upsilon(testbed: Testbed[Exact]) -> Scores:
    """Υ exactly, in one pass over the line-ups, of which none is kept."""
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


def slot_scores(table: Results) -> Floats:
    """Υ_i(π) of one environment as [mind, slot]."""
    return np.stack([table.slot(i) @ table.weights.others(i).ravel() for i in table.slots], axis=1)


def _scores(testbed: Testbed[Exact], total: float, by_slot: list[Floats]) -> Scores:
    minds = sum(
        w_m * (scores @ w_s)
        for w_m, scores, w_s in zip(testbed.w_m, by_slot, testbed.w_s, strict=True)
    )
    constant = testbed.weights.constant
    return Scores(constant * total, constant * np.asarray(minds, float), by_slot)
