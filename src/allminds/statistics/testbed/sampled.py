"""Sampled results: every line-up is played equally often, and what can be decided from that.

All line-ups of the minds are crossed, each in its own exercises, so that only what happens within a
line-up is left to chance; that noise is measured, taken out of the properties, and resampled for
their intervals. A difference that is not found never decides. Intervals are simultaneous
(Bonferroni, by Student's t), so that one in twenty testbeds, not one in twenty comparisons, is
misjudged.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error
from allminds.inference import plain_interval
from allminds.statistics.testbed import scores
from allminds.statistics.testbed.bed import SAME, Floats, LineUp, LineUpWeights, Played, slots
from allminds.statistics.testbed.exact import UNEQUAL, Profile, Ratings, in_order
from allminds.statistics.testbed.interaction import (
    NOTHING,
    mean_over,
    sampled_action_dependency,
    slot_reward_dependency,
)
from allminds.statistics.testbed.results import (
    Property,
    RewardSums,
    RewardTable,
    empty,
    expected_team_totals,
    interval,
    kind,
    needed,
    sampled,
)
from allminds.statistics.testbed.scores import FIGURES, GRADED, reason, slot_scores, statistics
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


# ---------------------------------------------------------------- what samples decide


EQUAL = 0.02  # results that differ by less than this are as good as equal


def reach(comparisons: int, freedom: float) -> float:
    """Compute the standard errors that each interval needs for all to hold in 95 % of cases."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - 0.05 / (2 * max(1, comparisons))))


# ---------------------------------------------------------------- grading


def sampled_grading(crossing: Crossing, w_s: Floats, why: str) -> dict[str, Property]:
    """Estimate STG and PG: a margin counts when its interval excludes 0.

    The interval of a share is what it may be, given the margins that are open.
    """
    table = crossing.careful_results
    found = table.different_teams()
    by = [w_s[i] * w_s[j] for i, j in found]
    n, companies = table.minds, table.weights.minds.size ** (len(table.slots) - 2) if found else 1
    far = reach(len(found) * math.comb(n, 2) * companies, crossing.repeats)
    rows = np.array([_graded(table, i, j, far) for i, j in found]).reshape(-1, 4)
    strict, strict_most, partial_least, partial = (mean_over(rows[:, c], by) for c in range(4))
    if math.isnan(strict):
        none = Property(None, reason=why)
        return {"strict_total_grading": none, "partial_grading": none}
    return {
        "strict_total_grading": Property(strict, ci95=(strict, strict_most)),
        "partial_grading": Property(partial, ci95=(partial_least, partial)),
    }


def _graded(table: RewardTable, i: int, j: int, far: float) -> tuple[float, float, float, float]:
    """Compute shares of triples: surely strict, perhaps strict, surely no cycle, no sure cycle."""
    weights = scores.triple_weights(table, i, j)
    if weights.sum() <= 0:
        return (math.nan,) * 4
    wide = far * np.sqrt(scores.margin_variances(table, i, j))
    margins = scores.margins(table, i, j)
    sign = scores.signs(margins, np.maximum(wide, SAME))
    strict, partial = scores.graded_triples(sign)
    tied = (sign == 0) & (wide <= SAME)
    x, y, z = scores.triples(table.minds)
    edges = [(x, y), (y, z), (z, x)]
    any_tied = np.any([tied[edge] for edge in edges], axis=0)
    open_ = np.any([(sign[edge] == 0) & ~tied[edge] for edge in edges], axis=0)
    one_way = [np.all([sign[edge] * way >= 0 for edge in edges], axis=0) for way in (1, -1)]
    may_cycle = (one_way[0] | one_way[1]) & ~any_tied
    shares = (strict, ((strict > 0) | open_) & ~any_tied, ~may_cycle, partial)
    a, b, c, d = (float((share * weights).sum() / weights.sum()) for share in shares)
    return a, b, c, d


def sure_signs(margins: Floats, draws: Floats, freedom: int) -> Floats:
    """Compute the signs of mean margins whose simultaneous intervals exclude 0.

    The draws are [draw, a, b].
    """
    far = reach(math.comb(len(margins), 2), freedom)
    return scores.signs(margins, np.maximum(far * draws.std(axis=0), SAME))


# ---------------------------------------------------------------- symmetry


def sampled_symmetry(crossing: Crossing, part: scores.Part) -> tuple[float, tuple[float, float]]:
    """Estimate the greatest difference between places that should be alike, and its interval."""
    table = crossing.careful_results
    assert table.noise is not None
    gaps: list[float] = []
    errors: list[float] = []
    for places in scores.orbits(table, part).values():
        for one, other in itertools.combinations(places, 2):
            apart, variance = _gap(table, *one, *other)
            gaps.append(abs(apart))
            errors.append(math.sqrt(max(0.0, variance)))
    if not gaps:
        return 0.0, (0.0, 0.0)
    far = reach(len(gaps), crossing.repeats)
    gap, wide = np.array(gaps), far * np.array(errors)
    low, high = max(0.0, float((gap - wide).max())), min(2.0, float((gap + wide).max()))
    return float(gap.max()), (low, high)


def _gap(table: RewardTable, l: LineUp, i: int, m: LineUp, j: int) -> tuple[float, float]:
    """Compute the difference of two results, and the variance of its error."""
    assert table.noise is not None
    variance = table.noise[(*l, i, i)] + table.noise[(*m, j, j)]
    if l == m:
        variance = variance - 2 * table.noise[(*l, i, j)]
    return float(table.rewards[(*l, i)] - table.rewards[(*m, j)]), float(variance)


def symmetric(ci95: tuple[float, float]) -> bool | None:
    """Decide on symmetry: True if all is within ±0.02, False if 0 is excluded, else None."""
    if ci95[0] > SAME:
        return False
    return True if ci95[1] <= EQUAL else None


# ---------------------------------------------------------------- sums


def sampled_sums(sums: RewardSums, slots: int) -> dict[str, Property]:
    """Decide on sums from what was seen: one exception settles it, without one it stays open."""
    totals = np.abs(sums.totals)
    stderr = float(totals.std(ddof=1) / math.sqrt(len(totals)))
    off = plain_interval(float(totals.mean()), stderr, len(totals))
    return {
        "zero_sum": _never_broken(sums.zero, sums),
        "max_abs_step_sum": Property(
            sums.max_abs_step_sum, ci95=(sums.max_abs_step_sum, float(slots))
        ),
        "constant_sum": _never_broken(sums.constant, sums, range=[sums.low, sums.high]),
        "zero_sum_in_the_limit": _never_broken(
            sums.zero_in_the_limit, sums, mean_abs_total=float(totals.mean()),
            ci95_of_mean_abs_total=off and [max(0.0, off[0]), off[1]],
        ),
    }  # fmt: skip


def _never_broken(held: bool, sums: RewardSums, **more: object) -> Property:
    episodes = len(sums.totals)
    if not held:
        return Property(False, exact=True, more=more)
    said = f"undecided: it held in all {episodes:,} episodes"
    most = 1 - 0.05 ** (1 / episodes)  # the largest share of episodes that chance may have spared
    return Property(None, reason=said, more={"held": True, "fails_at_most": most, **more})


# ---------------------------------------------------------------- the profile


DRAWS = 400  # of the bootstrap


def sampled_profile(crossing: Crossing, w_s: Floats, seed: int = 1) -> Profile:
    """Estimate every property of one environment, from all its line-ups played over and over."""
    rng = np.random.default_rng(seed)
    game, table, sums = crossing.game, crossing.results, crossing.sums
    again = [crossing.resampled(rng) for _ in range(DRAWS)]
    weighty = int((table.weights.minds > 0).sum())
    found = _figures(crossing, again, w_s, weighty)
    acts = sampled_action_dependency(crossing, w_s, rng)
    one = sampled(acts.value, acts.draws, reason("action_dependency", game, weighty), graded=True)
    more = {} if one.graded is None else {"less_permuted": acts.less_permuted}
    found["action_dependency"] = replace(one, more=more)
    found |= sampled_grading(crossing, w_s, reason("strict_total_grading", game, weighty))
    found |= _symmetry(crossing) | sampled_sums(sums, len(table.slots))
    seen = crossing.scores
    found["bounded"] = Property(
        True, exact=True, more={"range": [float(seen.min()), float(seen.max())]}
    )
    means = np.tensordot(table.weights.all, table.of_minds, len(table.slots))
    return Profile(
        game=game,
        properties=in_order(found, game.minds),
        scores=slot_scores(table),
        kind=kind(game.teams, sums.zero).replace("competition", "competition, as far as was seen"),
        ratings=_ratings(crossing, again, w_s),
        slot_matrix=slot_reward_dependency(table),
        team_totals=expected_team_totals(game, tuple(float(mean) for mean in means)),
        made={"line_ups": table.weights.all.size, "episodes": len(sums.totals), "exact": False},
    )


def _figures(
    crossing: Crossing, again: list[RewardTable], w_s: Floats, weighty: int
) -> dict[str, Property]:
    """Estimate the figures that a table gives, with bootstrap intervals."""
    game, figures = crossing.game, statistics(crossing.results, w_s)
    each = [statistics(table, w_s) for table in again]
    draws = {name: np.array([one[name] for one in each]) for name in figures}
    found = {
        name: sampled(figures[name], draws[name], reason(name, game, weighty), name in GRADED)
        for name in FIGURES
    }
    for n, mind in enumerate(game.minds):
        found[f"upsilon[{mind}]"] = sampled(figures[f"upsilon[{n}]"], draws[f"upsilon[{n}]"], "")
    rest, whole = ((figures[f"cyclic.{of}"], draws[f"cyclic.{of}"]) for of in ("rest", "whole"))
    share, shares = _without_noise(rest, whole)
    why = (
        reason("cyclic_share", game, weighty)
        if math.isnan(whole[0])
        else "margins are not beyond chance"
    )
    found["cyclic_share"] = sampled(share, shares, why)
    return found


def _without_noise(
    above: tuple[float, Floats], below: tuple[float, Floats]
) -> tuple[float, Floats]:
    """Compute a share of two sums of squares; resampling shows how much of each is noise."""
    noise = above[1].mean() - above[0], below[1].mean() - below[0]
    whole = below[0] - noise[1]
    if math.isnan(whole) or whole <= NOTHING:
        return math.nan, below[1]
    drawn = (above[1] - 2 * noise[0]) / np.maximum(below[1] - 2 * noise[1], NOTHING)
    return min(1.0, max(0.0, (above[0] - noise[0]) / whole)), np.clip(drawn, 0.0, 1.0)


def _symmetry(crossing: Crossing) -> dict[str, Property]:
    value, ci95 = sampled_symmetry(crossing, "intra")
    intra = Property(value, ci95=ci95)
    if not scores.equal_teams(crossing.game.teams):
        none = Property(None, exact=True, reason=UNEQUAL)
        return {"team_symmetry": Property(False, exact=True, reason=UNEQUAL),
                "max_asymmetry": none, "intra_team_asymmetry": intra,
                "inter_team_asymmetry": none}  # fmt: skip
    most, wide = sampled_symmetry(crossing, "all")
    inter, inter_wide = sampled_symmetry(crossing, "inter")
    holds = symmetric(wide)
    open_ = f"undecided: neither all within ±{EQUAL} nor any sure to differ"
    return {
        "team_symmetry": Property(
            holds, reason=open_ if holds is None else "", more={"ci95_of_max_asymmetry": wide}
        ),
        "max_asymmetry": Property(most, ci95=wide),
        "intra_team_asymmetry": intra,
        "inter_team_asymmetry": Property(inter, ci95=inter_wide),
    }


def _ratings(crossing: Crossing, again: list[RewardTable], w_s: Floats) -> Ratings | None:
    margins = scores.mean_margins(crossing.results, w_s)
    if np.isnan(margins).any():
        return None
    draws = np.array([scores.mean_margins(table, w_s) for table in again])
    sign = sure_signs(margins, draws, crossing.repeats)
    values = [interval(drawn) for drawn in draws.mean(axis=2).T]
    ci95 = [value for value in values if value is not None]
    found = scores.cycles(margins, sign)
    return Ratings(crossing.game.minds, scores.ratings(margins), ci95, margins, found)
