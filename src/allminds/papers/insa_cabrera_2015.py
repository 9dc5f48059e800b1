"""Insa-Cabrera and Hernández-Orallo (2015): instrumental properties of social testbeds.

The paper has definitions and small examples, no figures, tables or results: so its definitions are
run on five testbeds, and its examples are checked. Most properties are only named in it;
`docs/testbeds.md` says which are our reconstruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from allminds.papers import Claim, Erratum, Paper, Part, Statement, Worked
from allminds.papers.plots import heat

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
    """Compare the one number that follows from others in the paper with ours."""
    own, others = 2, 3  # slots of the two teams
    return (
        Claim("§4.4", "reward of each of three that balances 1/4 for each of two", "-1/6",
              -own * 0.25 / others, "implies  $-1/6$  for agents 3, 4 and 5"),
    )  # fmt: skip


def statements() -> Sequence[Statement]:
    """Check the examples of the text with the code that computes the properties."""
    from allminds import registry
    from allminds.statistics.testbed import sigma
    from allminds.statistics.testbed.results import team_sums

    permuted = sigma((1, 2, 3, 4), ((0, 1), (2, 3)))
    sums = team_sums((0.25, 0.25, -1 / 6, -1 / 6, -1 / 6), ((0, 1), (2, 3, 4)))
    teams = registry.make_instrument("noughts-and-crosses", {}).exercise(1, 0).environment.teams
    return (
        Statement("§2.3", "noughts and crosses has two teams of one agent each",
                  f"slots by team, from 0: {teams}", teams == ((0,), (1,)),
                  r"the partition set  $\tau$  is defined as  $\{\{1\}, \{2\}\}$"),
        Statement("§4.4", "teams of two and three with rewards 1/4 and -1/6 are zero-sum",
                  f"team sums {sums[0]:g} and {sums[1]:g}", abs(sum(sums)) < 1e-12,
                  "a reward (in the limit) of  $1/4$  for agents 1 and 2"),
        Statement("§4.5", "(π1, π3, π2, π4) is not in σ(l, τ)",
                  f"σ(l, τ) has {len(permuted)} line-ups, and it is not among them",
                  (1, 3, 2, 4) not in permuted,
                  r"line-up  $l'$  is not included in  $\sigma(l, \tau)$"),
        Statement("§4.5", "(π3, π4, π2, π1) is in σ(l, τ)", "it is among them",
                  (3, 4, 2, 1) in permuted, r"is included in  $\sigma(l, \tau)$ , since both"),
    )  # fmt: skip


def worked() -> Sequence[Worked]:
    """Compute values of the paper's definitions for two games; it prints none."""
    pennies, dilemma = _survey("matching-pennies"), _survey("prisoners-dilemma")

    def value(of: Survey, name: str) -> float:
        return float(of.properties[name].value or 0)

    reconstructed = "the definition is our reconstruction"
    return (
        Worked("matching pennies: maximal asymmetry", value(pennies, "max_asymmetry"), "Def. 6"),
        Worked("matching pennies: slot reward dependency",
               value(pennies, "slot_reward_dependency"), reconstructed),
        Worked("prisoner's dilemma, five rounds: maximal asymmetry",
               value(dilemma, "max_asymmetry"), "Def. 6"),
        Worked("prisoner's dilemma, five rounds: Υ", value(dilemma, "upsilon"), "Eq. 1; -69/800"),
    )  # fmt: skip


ERRATA = (
    Erratum("Eq. 9", "a condition of its own for teams", "the same sum as Eq. 8, term by term",
            "rewards are equal within a team, so both add up all slots"),
    Erratum("Eq. 2", "exercises are drawn by probabilities p, which 'should not be confused' with "
            "the weights w; results are weighed by w and divided by the sum of the weights",
            "two readings. With p uniform Eq. 2 goes to Υ of Eq. 1. With p in proportion to w the "
            "weights count twice. For any p, Σ(w/p)R / Σ(w/p) goes to Υ",
            "dilemma with weights .6 .3 .1: Υ = .011; Eq. 2 goes to .011 with p uniform and to "
            ".1003 with p = w"),
    Erratum("Eq. 1", "Υ as the social intelligence of minds",
            "a figure of the testbed; a mind's own is Υ(π)",
            "in a zero-sum game with equal slot weights Υ is 0, whichever minds play"),
)  # fmt: skip

PAPER = Paper(
    name="insa-cabrera-2015",
    cited="Insa-Cabrera and Hernández-Orallo (2015)",
    citation="J. Insa-Cabrera, J. Hernández-Orallo: Instrumental properties of social testbeds. "
    "AGI 2015",
    what="What makes a test of social intelligence good.",
    parts={"properties": properties},
    claims=claims,
    statements=statements,
    worked=worked,
    errata=ERRATA,
)
