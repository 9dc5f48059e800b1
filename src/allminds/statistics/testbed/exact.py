"""All properties of an environment whose results are known exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from allminds.core.errors import Error
from allminds.statistics.testbed import grading, interaction, symmetry
from allminds.statistics.testbed.dependence import slot_reward_dependency
from allminds.statistics.testbed.games import SAME, Exact
from allminds.statistics.testbed.interaction import mean_over
from allminds.statistics.testbed.profile import Profile, Ratings, in_order
from allminds.statistics.testbed.property import Property, exactly
from allminds.statistics.testbed.results import Results, empty, needed, streamed
from allminds.statistics.testbed.scores import slot_scores
from allminds.statistics.testbed.statistics import FIGURES, reason, statistics
from allminds.statistics.testbed.sums import Sums, expected_team_totals, kind
from allminds.statistics.testbed.weights import Floats, LineUpWeights

BINARY = {
    "reward_dependency": interaction.reward_dependency,
    "fine_discrimination": interaction.fine_discrimination,
    "coarse_discrimination": interaction.coarse_discrimination,
}
UNEQUAL = "not symmetric: teams are of unequal size"


def exact_profile(game: Exact, weights: LineUpWeights, w_s: Floats) -> Profile:
    """Every property of one environment, in one pass over its line-ups and one more a slot."""
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


def exact_results(game: Exact, weights: LineUpWeights) -> tuple[Results, Sums, int]:
    """The table of a game, what its rewards sum to, and how many line-ups the minds have."""
    rewards, sums, count = empty(game), Sums(), 0
    for line_up, outcome in streamed(game, needed(game)):
        rewards[line_up] = outcome.rewards
        if len(game.minds) not in line_up:
            sums.add(outcome)
            count += 1
    return Results(game.teams, weights, game.random, rewards), sums, count


def _properties(
    game: Exact, table: Results, w_s: Floats, figures: dict[str, float]
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
    graded = np.array([grading.grading(table, i, j) for i, j in pairs]).reshape(-1, 2)
    by = [w_s[i] * w_s[j] for i, j in pairs]
    found["strict_total_grading"] = put("strict_total_grading", mean_over(graded[:, 0], by))
    found["partial_grading"] = put("partial_grading", mean_over(graded[:, 1], by))
    whole = figures["cyclic.whole"]
    share = figures["cyclic.rest"] / whole if whole > interaction.NOTHING else math.nan
    found["cyclic_share"] = put("cyclic_share", share)
    return found | _symmetry(table)


def _action_dependency(game: Exact, table: Results, w_s: Floats, weighty: int) -> Property:
    try:
        each = [interaction.action_dependency(game, table.weights, i) for i in table.slots]
    except Error as error:  # more action sequences than can be enumerated
        return Property(None, exact=True, reason=str(error))
    binary, graded, by_step = (mean_over([acts[n] for acts in each], w_s) for n in range(3))
    why = reason("action_dependency", game, weighty)
    return exactly(binary, why, graded) if by_step != by_step else exactly(
        binary, why, graded, graded_by_step=by_step)  # fmt: skip


def _symmetry(table: Results) -> dict[str, Property]:
    equal = symmetry.equal_teams(table.teams)
    intra = exactly(symmetry.asymmetry(table, "intra"), "")
    if not equal:
        none = Property(None, exact=True, reason=UNEQUAL)
        return {"team_symmetry": Property(False, exact=True, reason=UNEQUAL),
                "max_asymmetry": none, "intra_team_asymmetry": intra,
                "inter_team_asymmetry": none}  # fmt: skip
    most = symmetry.asymmetry(table, "all")
    return {
        "team_symmetry": Property(most <= SAME, exact=True),
        "max_asymmetry": exactly(most, ""),
        "intra_team_asymmetry": intra,
        "inter_team_asymmetry": exactly(symmetry.asymmetry(table, "inter"), ""),
    }


def _sums(sums: Sums, table: Results) -> dict[str, Property]:
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


def exact_ratings(game: Exact, table: Results, w_s: Floats) -> Ratings | None:
    """Ratings and cycles from exact margins."""
    margins = grading.mean_margins(table, w_s)
    if np.isnan(margins).any():
        return None
    found = grading.cycles(margins, grading.signs(margins))
    return Ratings(game.minds, grading.ratings(margins), None, margins, found)
