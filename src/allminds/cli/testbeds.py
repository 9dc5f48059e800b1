"""What a social environment and some minds are worth as a test: testbed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import JsonOption, PlotOption, app, print_json
from allminds.cli.reading import budget_of, numbers, settings_of
from allminds.core.errors import Error

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from allminds.statistics.testbed.surveys import Survey
    from allminds.statistics.testbed.trial import Reliance

MOST_MINDS = 15  # on the screen
MOST_CYCLES = 5
USUAL = [("rel", 0.95), ("generalisability", 0.9)]  # budgets that are shown if none is asked for
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


@app.command(
    "testbed",
    epilog="Example: allminds testbed prisoners-dilemma --set steps=5 "
    "--minds cooperate,defect,random,tit-for-tat",
)
def social_testbed(
    environment: Annotated[str, typer.Argument(help="Its name; see allminds list.")],
    minds: Annotated[
        str | None, typer.Option(metavar="MIND,…", help="Who plays; the usual ones if none.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="W,…", help="Weights of the minds; equal if none.")
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--sampled", help="How; exact if it can be, unless told."),
    ] = None,
    episodes: Annotated[int, typer.Option(min=2, help="To play, where it is sampled.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same episodes.")] = 1,
    budget: Annotated[
        str | None,
        typer.Option(metavar="FIGURE=VALUE", help="Exercises for rel=… or generalisability=…"),
    ] = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Measure what an environment and some minds are worth as a test: instrumental properties.

    The properties are those of Insa-Cabrera and Hernández-Orallo (2015). Results are exact where
    every mind gives its chances of acting, and sampled elsewhere.
    """
    from allminds import registry
    from allminds.core.names import parse_all
    from allminds.statistics.testbed.bed import Weights
    from allminds.statistics.testbed.instrument_game import default_minds
    from allminds.statistics.testbed.surveys import survey
    from allminds.terminal import working

    wanted = budget_of(budget)
    tool = registry.make_instrument(environment, settings_of(setting or []))
    who = default_minds(tool) if minds is None else [str(name) for name in parse_all(minds)]
    counted = Weights(minds=numbers(weights, "--weights") if weights else None)
    with working(environment):
        found = survey(tool, who, exact, episodes, seed, counted)
    if plot is not None:
        from allminds.report.testbed import draw_testbed

        draw_testbed(found, plot)
    settings = tool.settings.model_dump(mode="json")
    if as_json:
        more: dict[str, Any] = {"settings": settings, "seed": seed}
        if wanted is not None:
            more["budget"] = {"figure": wanted[0], "wanted": wanted[1],
                              "exercises": _exercises(found.reliance, *wanted)[0]}  # fmt: skip
        print_json(found.as_json() | more)
        return
    _show(found, settings)
    from rich.console import Console

    for figure, value in [wanted] if wanted else USUAL:
        said = _exercises(found.reliance, figure, value)[1]
        Console(highlight=False).print(said, markup=False)


# ---------------------------------------------------------------- budgets


def _exercises(found: Reliance, figure: str, wanted: float) -> tuple[int | None, str]:
    """Compute how many exercises a wanted reliability takes, and a sentence about it."""
    what = f"Exercises a mind needs for {figure} {wanted:g}"
    try:
        count = found.budget(figure, wanted)
    except Error as error:
        return None, f"{what}: {error}."
    return count, f"{what}: {count:,}."


# ---------------------------------------------------------------- the screen


def _show(found: Survey, settings: dict[str, Any]) -> None:
    from rich.console import Console

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
    from allminds.report.page import interval, number

    exact, ratings = found.profile.made["exact"], found.profile.ratings
    table = _table(["mind"], ["Υ(π)"] + ["95 % interval"] * (not exact))
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
        table.add_row(_plain(name), *(_plain(cell) for cell in rows[name]))
    if len(best) > MOST_MINDS:
        table.add_row(_plain(f"… and {len(best) - MOST_MINDS:,} more, with --json"))
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
    from allminds.report.page import interval

    exact = found.profile.made["exact"]
    table = _table(["property"], ["value", "graded"] if exact else ["value", "95 % interval"])
    table.add_column("what it says", overflow="fold")
    for name, says in SAYS.items():
        one = found.properties[name]
        missing = one.figure is None
        second = _figure(one.graded) if exact else interval(one.ci95)
        first = _figure(one.value if exact else one.value if one.graded is None else one.graded)
        table.add_row(
            _plain(name.replace("_", " ")), _plain(first), _plain("" if second == "–" else second),
            _plain(one.reason if missing else says, dim=missing),
        )  # fmt: skip
    return table


def _figure(value: float | bool | None) -> str:
    from allminds.report.page import number

    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value)


def _reliability(console: Console, found: Survey) -> None:
    from allminds.report.page import number

    rely, test = found.reliance, found.test
    by_second, by_step = rely.efficiency()
    table = _table(["reliability of one exercise"], ["value"])
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
        table.add_row(_plain(name), number(value), _plain(says))
    console.print(table)
    console.print(
        f"Υ̂ of {test.exercises:,} exercises: {number(test.hajek)}, standard error "
        f"{number(test.stderr)}; by eq. 2 as printed {number(test.literal)}, "
        f"whose bias is {number(found.literal_bias)}.", markup=False,
    )  # fmt: skip


def _table(names: list[str], figures: list[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
    for name in names:
        table.add_column(name, overflow="fold")
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _plain(text: str, dim: bool = False) -> Any:
    """Make text that is shown as it is, brackets and all."""
    from rich.text import Text

    return Text(text, style="dim" if dim else "")
