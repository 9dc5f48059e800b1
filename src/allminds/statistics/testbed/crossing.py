"""Sampled results: every line-up is played equally often, in its own exercises.

All line-ups of the minds are crossed, so that only what happens within a line-up is left to chance;
that noise is measured, taken out of the properties, and resampled for their intervals. The second
part estimates action dependency from the actions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error
from allminds.statistics.testbed.bed import Floats, LineUp, LineUpWeights, Played, slots
from allminds.statistics.testbed.interaction import mean_over, pairs
from allminds.statistics.testbed.results import RewardSums, RewardTable, empty, needed
from allminds.statistics.testbed.trial import check_record

LEAST = 4  # episodes of a line-up: two in each half
MOST_ACTIONS = 20_000_000  # that are kept
NO_MOVE = -1  # of a slot that was not to act, or when it was over


@dataclass(frozen=True, eq=False)
class Crossing:
    """A game of which every line-up was played `repeats` times."""

    game: Played
    weights: LineUpWeights
    line_ups: list[LineUp]
    scores: Floats  # [line-up, repeat, slot]
    actions: NDArray[np.int16]  # [line-up, repeat, step, slot], of as many repeats as are kept
    sums: RewardSums

    @property
    def repeats(self) -> int:
        """The number of episodes of each line-up."""
        return int(self.scores.shape[1])

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of one episode's scores in each line-up: [line-up, slot, slot]."""
        apart = self.scores - self.scores.mean(axis=1, keepdims=True)
        found: Floats = np.einsum("cri,crj->cij", apart, apart) / (self.repeats - 1)
        return found

    @cached_property
    def careful(self) -> Floats:
        """The covariance to judge single line-ups by: as if one more episode had varied as usual.

        Of a few episodes all may come out alike by chance, which does not prove that they must.
        """
        usual = self.covariance.mean(axis=0)
        found: Floats = ((self.repeats - 1) * self.covariance + usual) / self.repeats
        return found

    @cached_property
    def results(self) -> RewardTable:
        """The means of each line-up, with their noise."""
        half = self.repeats // 2
        halves = self.scores[:, :half].mean(axis=1), self.scores[:, half:].mean(axis=1)
        noise = self.covariance / self.repeats
        return self._table(self.scores.mean(axis=1), noise, halves)

    @cached_property
    def careful_results(self) -> RewardTable:
        """The means of each line-up, with noise by the careful covariance."""
        return self._table(self.scores.mean(axis=1), self.careful / self.repeats, None)

    def resampled(self, rng: np.random.Generator) -> RewardTable:
        """Resample the results: episodes are drawn again within every line-up.

        Deviations are stretched by √(r/(r-1)), for resampled means vary too little; and noise is in
        these results twice.
        """
        half = self.repeats // 2
        parts = [self._half(rng, 0, half), self._half(rng, half, self.repeats)]
        share = half / self.repeats
        means = share * parts[0] + (1 - share) * parts[1]
        return self._table(means, 2 * self.covariance / self.repeats, (parts[0], parts[1]))

    def _half(self, rng: np.random.Generator, first: int, last: int) -> Floats:
        part = self.scores[:, first:last]
        size = last - first
        chosen = rng.integers(size, size=(len(part), size))
        centre = part.mean(axis=1)
        drawn = np.take_along_axis(part, chosen[:, :, None], axis=1).mean(axis=1)
        stretched: Floats = centre + np.sqrt(size / (size - 1)) * (drawn - centre)
        return stretched

    def _table(
        self, means: Floats, noise: Floats, halves: tuple[Floats, Floats] | None
    ) -> RewardTable:
        return RewardTable(
            self.game.teams,
            self.weights,
            self.game.random,
            self._spread(means),
            self._spread(noise),
            None if halves is None else (self._spread(halves[0]), self._spread(halves[1])),
        )

    def _spread(self, values: Floats) -> Floats:
        """Put values by line-up into their places of a table."""
        places = empty(self.game).shape[:-1]
        table = np.full(places + values.shape[1:], np.nan)
        table[tuple(np.array(self.line_ups).T)] = values
        return table


def repeats(game: Played, episodes: int) -> int:
    """Compute how often each line-up can be played within so many episodes in all."""
    return episodes // sum(1 for _ in needed(game))


def crossed(game: Played, weights: LineUpWeights, episodes: int, seed: int) -> Crossing:
    """Play all line-ups, each as often as `episodes` in all allow, one after the other."""
    line_ups, each = list(needed(game)), repeats(game, episodes)
    if each < LEAST:
        raise Error(
            f"{game.name}: {len(line_ups):,} line-ups, {LEAST} episodes each at least, are more "
            f"than {episodes:,}; give --episodes {LEAST * len(line_ups)}, or name fewer minds"
        )
    sums, size = RewardSums(), (len(line_ups), each, slots(game))
    scores = np.empty(size)
    kept = min(each, max(LEAST, MOST_ACTIONS // (len(line_ups) * game.steps * slots(game))))
    actions = np.full((len(line_ups), kept, game.steps, slots(game)), NO_MOVE, np.int16)
    for e in range(each * len(line_ups)):
        repeat, n = divmod(e, len(line_ups))
        record = game.play(line_ups[n], seed, e)
        check_record(game, record, line_ups[n])
        scores[n, repeat] = record.score
        if len(game.minds) not in line_ups[n]:
            sums.add_record(record)
        if repeat < kept:
            for step, made in enumerate(record.actions):
                actions[n, repeat, step, list(made)] = list(made.values())
    return Crossing(game, weights, line_ups, scores, actions, sums)


# ---------------------------------------------------------------- action dependency from samples


PERMUTED = 20  # times that labels are exchanged
DRAWS = 200  # of the bootstrap
Codes = NDArray[np.int64]
Places = NDArray[np.int64]


class SampledActs(NamedTuple):
    """Action dependency AD, graded by steps; NaN if there are no pairs of minds."""

    value: float
    draws: Floats  # the same when episodes are drawn anew
    less_permuted: float


def sampled_action_dependency(
    crossing: Crossing, w_s: Floats, rng: np.random.Generator
) -> SampledActs:
    """Estimate AD over all slots."""
    each = [_of_slot(crossing, i, rng) for i in crossing.results.slots]
    value = mean_over([one.value for one in each], w_s)
    draws = np.array([mean_over([one.draws[n] for one in each], w_s) for n in range(DRAWS)])
    permuted = mean_over([one.less_permuted for one in each], w_s)
    return SampledActs(float(np.maximum(value, 0.0)), np.maximum(draws, 0.0), permuted)


def _of_slot(crossing: Crossing, i: int, rng: np.random.Generator) -> SampledActs:
    mine, others = crossing.weights.mind(i), crossing.weights.others(i).ravel()
    if np.isnan(pairs(mine)):
        return SampledActs(float("nan"), np.full(DRAWS, np.nan), float("nan"))
    codes = _codes(crossing, i)
    repeats = np.arange(codes.shape[2])
    halves = np.array_split(repeats, 2)
    value = _judged(codes, halves, mine, others)
    draws = np.array([
        _judged(codes, [rng.choice(half, len(half)) for half in halves], mine, others)
        for _ in range(DRAWS)
    ])  # fmt: skip
    raw = _apart(_shares(codes, repeats), mine, others)
    permuted = raw - _by_chance(codes, mine, others, rng)
    return SampledActs(value, draws - draws.mean() + value, permuted)


def _codes(crossing: Crossing, i: int) -> Codes:
    """Encode what the others did as a number: [mind in slot i, company, repeat, step]."""
    n, slots = len(crossing.weights.minds), crossing.weights.slots
    rows = [row for row, line_up in enumerate(crossing.line_ups) if n not in line_up]
    actions = np.delete(crossing.actions[rows], i, axis=3)
    _, codes = np.unique(actions.reshape(-1, slots - 1), axis=0, return_inverse=True)
    table = codes.reshape((n,) * slots + actions.shape[1:3])
    return np.moveaxis(table, i, 0).reshape(n, -1, *actions.shape[1:3])


def _shares(codes: Codes, chosen: Places) -> Floats:
    """Compute shares of each joint action in the chosen repeats: [mind, company, step, action]."""
    minds, companies, _, steps = codes.shape
    kinds = int(codes.max()) + 1
    place = np.arange(minds * companies).reshape(minds, companies, 1, 1) * steps
    place = (place + np.arange(steps)) * kinds
    counts = np.bincount(
        (place + codes[:, :, chosen]).ravel(), minlength=minds * companies * steps * kinds
    )
    return counts.reshape(minds, companies, steps, kinds) / len(chosen)


# ---------------------------------------------------------------- distances


def _judged(codes: Codes, halves: list[Places], mine: Floats, others: Floats) -> float:
    """Compute total variation by two halves, each judging what the other chose."""
    one, other = (_shares(codes, half) for half in halves)
    total = 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        gap, check = one[a] - one[b], other[a] - other[b]
        judged = (np.sign(gap) * check + np.sign(check) * gap).sum(axis=2).mean(axis=1) / 4
        total += 2 * mine[a] * mine[b] * float(judged @ others)
    return total / pairs(mine)


def _apart(shares: Floats, mine: Floats, others: Floats) -> float:
    """Compute total variation as it is, noise included."""
    total = 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        total += 2 * mine[a] * mine[b] * _variation(shares[a], shares[b], others)
    return total / pairs(mine)


def _by_chance(codes: Codes, mine: Floats, others: Floats, rng: np.random.Generator) -> float:
    """Compute total variation with the episodes of each pair of minds shuffled together."""
    repeats, total = codes.shape[2], 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        both = np.concatenate([codes[a], codes[b]], axis=1)
        for _ in range(PERMUTED):
            order = rng.permutation(2 * repeats)
            halves = np.stack([both[:, order[:repeats]], both[:, order[repeats:]]])
            shares = _shares(halves, np.arange(repeats))
            total += 2 * mine[a] * mine[b] * _variation(shares[0], shares[1], others)
    return total / PERMUTED / pairs(mine)


def _variation(p: Floats, q: Floats, others: Floats) -> float:
    """Average total variation over companies and steps."""
    return float((np.abs(p - q).sum(axis=2).mean(axis=1) / 2) @ others)
