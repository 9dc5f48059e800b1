"""More minds than all line-ups can be played of: line-ups are drawn, and some minds are crossed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from allminds.contracts import Record
from allminds.core.seeding import MAKING, Random, key
from allminds.inference import plain_interval
from allminds.statistics.testbed.bed import Testbed
from allminds.statistics.testbed.crossing import LEAST
from allminds.statistics.testbed.games import Game, LineUp, Played, Teams, slots
from allminds.statistics.testbed.trial import Draws, check_record
from allminds.statistics.testbed.weights import Floats, Sampling


class Some:
    """A game with only some of its minds."""

    def __init__(self, game: Played, chosen: Sequence[int]) -> None:
        self.game, self.chosen = game, tuple(chosen)
        self.name, self.teams = game.name, game.teams
        self.steps, self.score = game.steps, game.score
        self.minds = tuple(game.minds[n] for n in self.chosen)
        self.random: int | None = None
        if game.random is not None:
            there = game.random in self.chosen
            self.random = self.chosen.index(game.random) if there else len(self.chosen)
        self._numbers = (*self.chosen, game.random)

    teams: Teams
    score: Literal["mean", "total"]

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record:
        """The game of all, with these minds by their numbers there."""
        numbers = (self._numbers[n] for n in line_up)
        return self.game.play(tuple(n for n in numbers if n is not None), seed, exercise)


def crossable(game: Game, episodes: int) -> int:
    """How many of its minds can be crossed within so many episodes."""
    n = len(game.minds)
    while n > 1 and LEAST * line_up_count(game, n) > episodes:
        n -= 1
    return n


def line_up_count(game: Game, n: int) -> int:
    """Line-ups of n of its minds, and those with π_r in one slot or two, if it may be extra."""
    places = slots(game)
    extra = game.random is not None and (n < len(game.minds) or game.random == n)
    with_random = places * n ** (places - 1) + math.comb(places, 2) * n ** max(0, places - 2)
    return int(n**places) + (with_random if extra else 0)


def by_lot(minds: int, wanted: int, seed: int) -> tuple[int, ...]:
    """So many different minds, each as likely as any other, in their old order."""
    words = [(Random(key(seed, mind, MAKING), 1).word(), mind) for mind in range(minds)]
    return tuple(sorted(mind for _, mind in sorted(words)[:wanted]))


@dataclass(frozen=True, eq=False)
class MindScores:
    """Υ̂(π) of every mind from line-ups that were drawn; NaN where a mind was not met enough."""

    values: Floats
    low: Floats  # of the 95 % interval
    high: Floats
    met: Floats  # how often


def drawn_scores(
    testbed: Testbed[Played], exercises: int, sampling: Sampling | None = None, seed: int = 1
) -> MindScores:
    """Draw line-ups and credit every mind in them, by hajek's estimator; sums only are kept."""
    draws, n = Draws(testbed, sampling), len(testbed.minds)
    p_pi = [float(chance) for chance in draws.p_pi]
    sums = np.zeros((6, n))  # of 1, a, a R, a², a² R, a² R² over all meetings, a the ratio w/p
    for e in range(exercises):
        what = draws.draw(seed, e)
        at, game = what.environment, testbed.games[what.environment]
        record = game.play(what.line_up, seed, e)
        check_record(game, record, what.line_up)
        outer = float(testbed.w_m[at] / draws.p_m[at])
        for slot, mind in enumerate(what.line_up):
            others = (p_pi[m] for j, m in enumerate(what.line_up) if j != slot)
            weight = outer * float(testbed.w_s[at][slot]) * testbed.w_l[at].of_others(
                what.line_up, slot)  # fmt: skip
            a, r = weight / math.prod(others), record.score[slot] or 0.0
            sums[:, mind] += (1.0, a, a * r, a * a, a * a * r, a * a * r * r)
    met, total, first, squares, mixed, second = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        values = first / total
        stderr = np.sqrt(np.maximum(second - 2 * values * mixed + values**2 * squares, 0)) / total
    ends = [
        plain_interval(v, s, m) or (math.nan, math.nan)
        for v, s, m in zip(values, stderr, met, strict=True)
    ]
    constant = testbed.weights.constant
    low, high = constant * np.array(ends).T
    return MindScores(constant * values, low, high, met)
