"""Insa-Cabrera and Hernández-Orallo (2015): instrumental properties of social testbeds.

The paper has definitions and small examples, no results: so its definitions are run on five
testbeds, and its examples are checked. Most properties are only named in it; `docs/testbeds.md`
says which are our reconstruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from allminds.papers.drawing import heat
from allminds.papers.paper import Claim, Erratum, Paper, Part

if TYPE_CHECKING:
    from allminds.statistics.testbed import Survey

# Each testbed with its settings, its minds (the usual ones if none) and how many episodes.
BEDS: dict[str, tuple[dict[str, Any], tuple[str, ...], int]] = {
    "matching-pennies": ({}, (), 600),
    "prisoners-dilemma": ({"steps": 5}, (), 600),
    "noughts-and-crosses": ({}, (), 600),
    "predator-prey": ({}, (), 320),
    "team-lambda": ({"form": "general", "cells": 5, "steps": 12}, ("random", "follower"), 320),
}
SHOWN = (
    "upsilon", "action_dependency", "reward_dependency", "fine_discrimination",
    "coarse_discrimination", "social_share", "strategic_share", "strict_total_grading",
    "partial_grading", "slot_reward_dependency", "competitive_anticipation",
    "cooperative_anticipation", "anticipation_potential", "team_symmetry", "max_asymmetry",
    "zero_sum", "max_abs_step_sum",
)  # fmt: skip


@cache
def _survey(name: str) -> Survey:
    from allminds import registry
    from allminds.statistics.testbed import default_minds, survey

    settings, minds, episodes = BEDS[name]
    tool = registry.make_instrument(name, settings)
    return survey(tool, minds or default_minds(tool), episodes=episodes)


def properties() -> Part:
    """Tabulate five testbeds by their properties."""
    import pandas as pd

    rows = []
    for name in BEDS:
        found = _survey(name)
        row: dict[str, Any] = {"testbed": name, "exact": found.profile.made["exact"]}
        for wanted in SHOWN:
            one = found.properties.get(wanted)
            value = None if one is None else one.value
            row[wanted.replace("_", " ")] = "–" if value is None else value
        rows.append(row)
    table = pd.DataFrame(rows).set_index("testbed").T.rename_axis("property").reset_index()
    graded = [
        {"property": wanted.replace("_", " "), "testbed": name, "value": float(one.graded)}
        for name in BEDS
        for wanted in SHOWN[1:5]
        if (one := _survey(name).properties.get(wanted)) is not None and one.graded is not None
    ]
    plot = heat(pd.DataFrame(graded), "testbed", "property", "value")
    return Part(
        "Five testbeds by their properties",
        "Exact where the game is finite and small, sampled where it is not. A testbed of social "
        "intelligence should react to who plays (dependency), tell minds apart (discrimination) "
        "and order them (grading).",
        table, [("Graded forms, from 0 to 1.", plot)],
    )  # fmt: skip


def claims() -> Sequence[Claim]:
    """Compare the examples of the text with ours."""
    from allminds.statistics.testbed import sigma
    from allminds.statistics.testbed.results import team_sums

    teams = ((0, 1), (2, 3))
    permuted = sigma((1, 2, 3, 4), teams)
    sums = team_sums((0.25, 0.25, -1 / 6, -1 / 6, -1 / 6), ((0, 1), (2, 3, 4)))
    pennies, dilemma = _survey("matching-pennies"), _survey("prisoners-dilemma")

    def value(of: Survey, name: str) -> float:
        return float(of.properties[name].value or 0)

    ours = "a worked value of ours; the paper has the definition"
    return (
        Claim("§5.3", "(π3, π4, π2, π1) is in σ(l, τ)", 1, float((3, 4, 2, 1) in permuted), 0),
        Claim("§5.3", "(π1, π3, π2, π4) is in σ(l, τ)", 0, float((1, 3, 2, 4) in permuted), 0),
        Claim("§5.2", "teams of 2 and 3 with 1/4 and -1/6: sum", 0, sum(sums), 1e-12),
        Claim("Def. 6", "matching pennies: maximal asymmetry", 2,
              value(pennies, "max_asymmetry"), 1e-9, ours),
        Claim("§5", "matching pennies: slot reward dependency", -1,
              value(pennies, "slot_reward_dependency"), 1e-9, ours),
        Claim("Def. 6", "prisoner's dilemma: maximal asymmetry", 0,
              value(dilemma, "max_asymmetry"), 1e-9, ours),
        Claim("§5", "prisoner's dilemma, five rounds: Υ", -69 / 800, value(dilemma, "upsilon"),
              1e-9, ours),
    )  # fmt: skip


ERRATA = (
    Erratum("eq. 9", "a condition of its own for teams", "the same sum as eq. 8, term by term",
            "rewards are equal within a team, so both add up all slots"),
    Erratum("eq. 2", "exercises drawn by the weights and weighed by them again",
            "Σ(w/p)R / Σ(w/p)", "dilemma with weights .6 .3 .1: Υ = .011, and eq. 2 goes to .1003"),
    Erratum("eq. 1", "Υ as the social intelligence of minds",
            "a figure of the testbed; a mind's own is Υ(π)",
            "in a zero-sum game with equal slot weights it is 0 whoever plays"),
)  # fmt: skip

PAPER = Paper(
    "insa-cabrera-2015",
    "J. Insa-Cabrera, J. Hernández-Orallo: Instrumental properties of social testbeds. AGI 2015",
    "What makes a test of social intelligence good.",
    {"properties": properties},
    claims,
    ERRATA,
)
