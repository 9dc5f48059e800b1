"""All properties of an environment whose results are sampled, with their intervals.

Binary forms are for exact results only: two sampled means differ almost surely, so that noise
would count as discrimination. Graded forms come from variances with the noise taken out.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from allminds.statistics.testbed import decisions, grading, symmetry
from allminds.statistics.testbed.crossing import Crossing
from allminds.statistics.testbed.dependence import slot_reward_dependency
from allminds.statistics.testbed.exact import UNEQUAL
from allminds.statistics.testbed.interaction import NOTHING
from allminds.statistics.testbed.profile import Profile, Ratings, in_order
from allminds.statistics.testbed.property import Property, interval, sampled
from allminds.statistics.testbed.results import Results
from allminds.statistics.testbed.sampled_actions import sampled_action_dependency
from allminds.statistics.testbed.scores import slot_scores
from allminds.statistics.testbed.statistics import FIGURES, GRADED, reason, statistics
from allminds.statistics.testbed.sums import expected_team_totals, kind
from allminds.statistics.testbed.weights import Floats

DRAWS = 400  # of the bootstrap


def sampled_profile(crossing: Crossing, w_s: Floats, seed: int = 1) -> Profile:
    """Every property of one environment, from all its line-ups played over and over."""
    rng = np.random.default_rng(seed)
    game, table, sums = crossing.game, crossing.results, crossing.sums
    again = [crossing.resampled(rng) for _ in range(DRAWS)]
    weighty = int((table.weights.minds > 0).sum())
    found = _figures(crossing, again, w_s, weighty)
    acts = sampled_action_dependency(crossing, w_s, rng)
    one = sampled(acts.value, acts.draws, reason("action_dependency", game, weighty), graded=True)
    more = {} if one.graded is None else {"less_permuted": acts.less_permuted}
    found["action_dependency"] = replace(one, more=more)
    found |= decisions.sampled_grading(crossing, w_s, reason("strict_total_grading", game, weighty))
    found |= _symmetry(crossing) | decisions.sampled_sums(sums, len(table.slots))
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
    crossing: Crossing, again: list[Results], w_s: Floats, weighty: int
) -> dict[str, Property]:
    """The figures that a table gives, with bootstrap intervals."""
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
    """A share of two sums of squares; resampling shows how much of each is noise."""
    noise = above[1].mean() - above[0], below[1].mean() - below[0]
    whole = below[0] - noise[1]
    if math.isnan(whole) or whole <= NOTHING:
        return math.nan, below[1]
    drawn = (above[1] - 2 * noise[0]) / np.maximum(below[1] - 2 * noise[1], NOTHING)
    return min(1.0, max(0.0, (above[0] - noise[0]) / whole)), np.clip(drawn, 0.0, 1.0)


def _symmetry(crossing: Crossing) -> dict[str, Property]:
    value, ci95 = decisions.sampled_symmetry(crossing, "intra")
    intra = Property(value, ci95=ci95)
    if not symmetry.equal_teams(crossing.game.teams):
        none = Property(None, exact=True, reason=UNEQUAL)
        return {"team_symmetry": Property(False, exact=True, reason=UNEQUAL),
                "max_asymmetry": none, "intra_team_asymmetry": intra,
                "inter_team_asymmetry": none}  # fmt: skip
    most, wide = decisions.sampled_symmetry(crossing, "all")
    inter, inter_wide = decisions.sampled_symmetry(crossing, "inter")
    holds = decisions.symmetric(wide)
    open_ = f"undecided: neither all within ±{decisions.EQUAL} nor any sure to differ"
    return {
        "team_symmetry": Property(
            holds, reason=open_ if holds is None else "", more={"ci95_of_max_asymmetry": wide}
        ),
        "max_asymmetry": Property(most, ci95=wide),
        "intra_team_asymmetry": intra,
        "inter_team_asymmetry": Property(inter, ci95=inter_wide),
    }


def _ratings(crossing: Crossing, again: list[Results], w_s: Floats) -> Ratings | None:
    margins = grading.mean_margins(crossing.results, w_s)
    if np.isnan(margins).any():
        return None
    draws = np.array([grading.mean_margins(table, w_s) for table in again])
    sign = decisions.sure_signs(margins, draws, crossing.repeats)
    values = [interval(drawn) for drawn in draws.mean(axis=2).T]
    ci95 = [value for value in values if value is not None]
    found = grading.cycles(margins, sign)
    return Ratings(crossing.game.minds, grading.ratings(margins), ci95, margins, found)
