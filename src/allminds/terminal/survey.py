"""What an environment and some minds are worth as a test, as tables in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from allminds.inference.words import interval, number
from allminds.terminal.tables import Name, figures_table

if TYPE_CHECKING:
    from allminds.statistics.testbed.surveys import Survey

MOST_MINDS = 15  # on the screen
MOST_CYCLES = 5
SAYS = {  # short enough for 80 columns
    "upsilon": "mean of all results",
    "action_dependency": "others act on who it is",
    "reward_dependency": "results vary with company",
    "fine_discrimination": "results vary with the mind",
    "coarse_discrimination": "scores vary with the mind",
    "social_share": "variance by company, match",
    "strategic_share": "variance by match alone",
    "strict_total_grading": "triples in strict order",
    "partial_grading": "triples without a cycle",
    "cyclic_share": "margins beyond any rating",
    "slot_reward_dependency": "1 shared, −1 opposed ends",
    "competitive_anticipation": "gain: rival is not random",
    "cooperative_anticipation": "gain: partner not random",
    "anticipation_potential": "gain: knowing the other",
    "team_symmetry": "places can be exchanged",
    "max_asymmetry": "most that a place matters",
    "intra_team_asymmetry": "the same within a team",
    "inter_team_asymmetry": "the same of whole teams",
    "bounded": "all rewards in [−1, 1]",
    "zero_sum": "every step sums to 0",
    "max_abs_step_sum": "largest sum of a step",
    "constant_sum": "every step sums the same",
    "zero_sum_in_the_limit": "every episode sums to 0",
}


def show_survey(found: Survey, settings: dict[str, Any]) -> None:
    """Print what an environment and some minds are worth as a test."""
    console, made = Console(highlight=False), found.profile.made
    given = " ".join(f"{key}={value}" for key, value in settings.items())
    how = "exact" if made["exact"] else f"sampled, {made['episodes']:,} episodes"
    name = found.profile.game.name
    console.print(f"{name}  ·  {given}", style="bold", markup=False)
    teams = " ".join(
        "{" + ", ".join(str(slot + 1) for slot in team) + "}" for team in found.profile.game.teams
    )
    console.print(f"{found.profile.kind}; teams {teams}; {made['line_ups']:,} line-ups, {how}",
                  markup=False)  # fmt: skip
    if made.get("why_sampled", "asked for") != "asked for":
        console.print(f"sampled, because {made['why_sampled']}", style="dim", markup=False)
    if len(found.profile.game.minds) < len(found.minds):
        some = ", ".join(found.profile.game.minds)
        why = f"all line-ups of {len(found.minds):,} minds are too many"
        console.print(f"properties of {some}, by lot: {why}", style="yellow", markup=False)
    console.print(_minds(found))
    _cycles(console, found)
    console.print(_properties(found))
    _reliability(console, found)


def _minds(found: Survey) -> Table:
    exact, ratings = found.profile.made["exact"], found.profile.ratings
    table = figures_table(["mind"], ["Υ(π)"] + ["95 % interval"] * (not exact))
    rows = {name: [number(_value(found, name))] for name in found.minds}
    if not exact:
        for name, cells in rows.items():
            cells.append(interval(found.properties[f"upsilon[{name}]"].ci95))
    slots = found.profile.scores.shape[1] if len(found.profile.game.minds) == len(rows) else 0
    if slots <= 4:
        for slot in range(slots):
            table.add_column(f"slot {slot + 1}", justify="right")
            for name, scores in zip(found.minds, found.profile.scores, strict=True):
                rows[name].append(number(float(scores[slot])))
    if ratings is not None and len(ratings.minds) == len(rows):
        table.add_column("rating", justify="right")
        for row in ratings.as_json():
            rows[row["mind"]].append(number(row["rating"]))
    best = sorted(rows, key=lambda name: -(_value(found, name) or -9.0))
    for name in best[:MOST_MINDS]:
        table.add_row(Name(name), *(Text(cell) for cell in rows[name]))
    if len(best) > MOST_MINDS:
        table.add_row(Text(f"… and {len(best) - MOST_MINDS:,} more, with --json"))
    return table


def _value(found: Survey, mind: str) -> float | None:
    return found.properties[f"upsilon[{mind}]"].figure


def _cycles(console: Console, found: Survey) -> None:
    ratings = found.profile.ratings
    cycles = ratings.cycles_as_json() if ratings else []
    for cycle in cycles[:MOST_CYCLES]:
        round_ = " beats ".join([*cycle["minds"], cycle["minds"][0]])
        by = ", ".join(f"{margin:.3f}" for margin in cycle["margins"])
        console.print(f"cycle: {round_} (by {by})", markup=False)
    if len(cycles) > MOST_CYCLES:
        console.print(f"… and {len(cycles) - MOST_CYCLES:,} more cycles, with --json")


def _properties(found: Survey) -> Table:
    exact = found.profile.made["exact"]
    second = "graded" if exact else "95 % interval"
    table = figures_table(["property"], ["value", second])
    table.add_column("what it says", overflow="fold")
    for name, says in SAYS.items():
        one = found.properties[name]
        missing = one.figure is None
        second = _figure(one.graded) if exact else interval(one.ci95)
        first = _figure(one.value if exact else one.value if one.graded is None else one.graded)
        table.add_row(
            Text(name.replace("_", " ")), Text(first), Text("" if second == "–" else second),
            Text(one.reason if missing else says, "dim" if missing else ""),
        )  # fmt: skip
    return table


def _figure(value: float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value)


def _reliability(console: Console, found: Survey) -> None:
    rely, test = found.reliance, found.test
    by_second, by_step = rely.efficiency()
    table = figures_table(["reliability of one exercise"], ["value"])
    table.add_column("what it is", overflow="fold")
    rows: list[tuple[str, float | None, str]] = [
        ("TE = bias² + variance", rely.total_error,
         f"{number(rely.total_error - rely.variance)} + {number(rely.variance)}, of all minds"),
        ("Rel = e^(−TE)", rely.rel, f"{by_step:.3g} a step, {by_second:,.0f} a second"),
        ("√TE", rely.total_error**0.5, "standard error of measurement"),
        ("Eρ²", rely.generalisability, "generalisability, company by lot"),
        ("Eρ² in common", rely.generalisability_in_common, "with the same company for all"),
    ]  # fmt: skip
    for name, value, says in rows:
        table.add_row(Text(name), number(value), Text(says))
    console.print(table)
    console.print(
        f"Υ̂ of {test.exercises:,} exercises: {number(test.hajek)}, standard error "
        f"{number(test.stderr)}; by eq. 2 as printed {number(test.literal)}, "
        f"whose bias is {number(found.literal_bias)}.", markup=False,
    )  # fmt: skip
