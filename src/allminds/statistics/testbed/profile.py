"""The profile of one environment with its minds: every property under its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from allminds.statistics.testbed.games import Game
from allminds.statistics.testbed.grading import Cycle
from allminds.statistics.testbed.property import Property, combined
from allminds.statistics.testbed.weights import Floats

ORDER = (
    "action_dependency",
    "reward_dependency",
    "fine_discrimination",
    "coarse_discrimination",
    "variance.me",
    "variance.them",
    "variance.match",
    "social_share",
    "strategic_share",
    "strict_total_grading",
    "partial_grading",
    "cyclic_share",
    "slot_reward_dependency",
    "competitive_anticipation",
    "cooperative_anticipation",
    "anticipation_potential",
    "team_symmetry",
    "max_asymmetry",
    "intra_team_asymmetry",
    "inter_team_asymmetry",
    "bounded",
    "zero_sum",
    "max_abs_step_sum",
    "constant_sum",
    "zero_sum_in_the_limit",
)


def in_order(found: Mapping[str, Property], minds: tuple[str, ...]) -> dict[str, Property]:
    """Properties in the order in which they are shown."""
    names = ["upsilon", *(f"upsilon[{mind}]" for mind in minds), *ORDER]
    return {name: found[name] for name in names}


def combined_properties(profiles: Sequence[Profile], w_m: Floats) -> dict[str, Property]:
    """The properties of a set of environments with the same minds: means by w_M."""
    names = profiles[0].properties
    return {name: combined([one.properties[name] for one in profiles], w_m) for name in names}


@dataclass(frozen=True, eq=False)
class Ratings:
    """r(a) of every mind, and the cycles that no rating can express."""

    minds: tuple[str, ...]
    values: Floats
    ci95: list[tuple[float, float]] | None  # None if exact
    margins: Floats  # m(a, b)
    cycles: list[Cycle]

    def as_json(self) -> list[dict[str, Any]]:
        """The ratings, best first."""
        sure: list[dict[str, Any]] = [
            {"exact": True} if self.ci95 is None else {"ci95": list(self.ci95[n])}
            for n in range(len(self.minds))
        ]
        rows = zip(self.minds, self.values, sure, strict=True)
        found = [{"mind": mind, "rating": float(value)} | how for mind, value, how in rows]
        return sorted(found, key=lambda row: -row["rating"])

    def cycles_as_json(self) -> list[dict[str, Any]]:
        """Each cycle: the minds, of whom each beats the next, and by how much."""
        return [
            {"minds": [self.minds[n] for n in cycle.minds], "margins": list(cycle.margins)}
            for cycle in self.cycles
        ]


@dataclass(frozen=True, eq=False)
class Profile:
    """What one environment and its minds are worth as a test of social intelligence."""

    game: Game
    properties: Mapping[str, Property]
    scores: Floats  # Υ_i(π) as [mind, slot]
    kind: str  # pure competition, pure cooperation, mixed
    ratings: Ratings | None  # None where all slots are one team
    slot_matrix: Floats  # SRD_ij
    team_totals: tuple[float, ...]  # what a team gets in an episode
    made: Mapping[str, Any] = field(default_factory=dict)  # how: line-ups, episodes

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
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
