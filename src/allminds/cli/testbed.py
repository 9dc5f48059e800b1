"""allminds testbed and gains: what a game is worth as a test, and who gains from whom in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import DESIGN, GIVE, app, print_json
from allminds.cli.options import (
    BudgetOption,
    InstrumentArgument,
    JsonOption,
    PlotOption,
    SettingOption,
    budget_of,
    complete_instrument,
    complete_mind,
    settings_of,
)
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.statistics.gains import Gain
    from allminds.statistics.testbed.trial import Reliance

USUAL = [("rel", 0.95), ("generalisability", 0.9)]  # budgets that are shown if none is asked for


@app.command(
    "testbed",
    rich_help_panel=DESIGN,
    epilog="Example: allminds testbed prisoners-dilemma --set steps=5 "
    "--minds cooperate,defect,random,tit-for-tat",
)
def social_testbed(
    environment: Annotated[
        str, typer.Argument(help="Its name; see allminds list.", autocompletion=complete_instrument)
    ],
    minds: Annotated[
        str | None,
        typer.Option(metavar="MIND,…", help="The minds that play; by default the usual ones."),
    ] = None,
    setting: SettingOption = None,
    weights: Annotated[
        str | None, typer.Option(metavar="W,…", help="Weights of the minds; by default equal.")
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--sampled",
            help="Compute exact results, or sample; by default exact where possible.",
        ),
    ] = None,
    episodes: Annotated[
        int,
        typer.Option(
            min=2, max=10**6, help="The number of episodes to play if results are sampled."
        ),
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same episodes.")] = 1,
    budget: BudgetOption = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Measure what an environment and some minds are worth as a test: instrumental properties.

    The properties are those of Insa-Cabrera and Hernández-Orallo (2015). Results are exact where
    every mind gives its chances of acting, and sampled elsewhere.
    """
    from allminds import registry
    from allminds.core.line_up import parse_all
    from allminds.core.settings import numbers
    from allminds.statistics.testbed.bed import Weights
    from allminds.statistics.testbed.surveys import default_minds, survey
    from allminds.terminal import working
    from allminds.terminal.survey import show_survey
    from allminds.terminal.tables import say

    wanted = budget_of(budget)
    tool = registry.make_instrument(environment, settings_of(setting))
    who = default_minds(tool) if minds is None else [str(name) for name in parse_all(minds)]
    counted = Weights(minds=numbers(weights, "--weights") if weights else None)
    with working(environment):
        found = survey(tool, who, exact, episodes, seed, counted)
    if plot is not None:
        from allminds.report.charts.testbed import draw_testbed

        draw_testbed(found, plot)
    settings = tool.settings.model_dump(mode="json")
    if as_json:
        more: dict[str, Any] = {"settings": settings, "seed": seed}
        if wanted is not None:
            more["budget"] = {"figure": wanted[0], "wanted": wanted[1],
                              "exercises": _exercises(found.reliance, *wanted)[0]}  # fmt: skip
        print_json(found.as_json() | more)
        return
    show_survey(found, settings)
    for figure, value in [wanted] if wanted else USUAL:
        say(_exercises(found.reliance, figure, value)[1])


def _exercises(found: Reliance, figure: str, wanted: float) -> tuple[int | None, str]:
    """Compute how many exercises a wanted reliability takes, and a sentence about it."""
    what = f"Exercises a mind needs for {figure} {wanted:g}"
    try:
        count = found.budget(figure, wanted)
    except Error as error:
        return None, f"{what}: {error}."
    return count, f"{what}: {count:,}."


# ---------------------------------------------------------------- who gains from whom


@app.command(
    rich_help_panel=GIVE,
    epilog='Example: allminds gains team-lambda-star -m "local-search*2, random*2" --teams',
)
def gains(
    instrument: InstrumentArgument,
    mind: Annotated[
        str,
        typer.Option(
            "--mind",
            "-m",
            metavar="MIND,…",
            help="The line-up in slot order; one mind sits in every slot.",
            autocompletion=complete_mind,
        ),
    ],
    by: Annotated[
        str,
        typer.Option(
            metavar="MIND", help="Who replaces each in turn.", autocompletion=complete_mind
        ),
    ] = "random",
    teams: Annotated[
        bool, typer.Option("--teams", help="Replace whole teams, not minds and groups.")
    ] = False,
    setting: SettingOption = None,
    episodes: Annotated[
        int, typer.Option(min=1, max=10**6, help="The exercises that each line-up plays.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same exercises.")] = 1,
    margin: Annotated[float, typer.Option(help="δ: the least gain that matters.")] = 0.05,
    as_json: JsonOption = False,
) -> None:
    """Measure who gains from whom: how scores change if another mind is replaced.

    Each mind, group or team of the line-up is replaced in turn, and the same exercises are played
    again with the same random words. A gain is the score of one with the other minus its score with
    the replacement; verdicts are corrected for all pairs.
    """
    from allminds import registry
    from allminds.results import check_margin
    from allminds.statistics import gains as statistics
    from allminds.terminal import working

    check_margin(margin)
    tool = registry.make_instrument(instrument, settings_of(setting))
    with working(instrument):
        found = statistics.gains(
            tool, mind, by=by, teams=teams, episodes=episodes, seed=seed, margin=margin
        )
    if as_json:
        rows = [one.as_json() for one in found]
        settings = tool.settings.model_dump(mode="json")
        print_json({"instrument": tool.name, "settings": settings, "minds": mind, "by": by,
                    "teams": teams, "episodes": episodes, "seed": seed, "margin": margin,
                    "gains": rows})  # fmt: skip
        return
    _show(found, f"{tool.name}  ·  {episodes:,} exercises  ·  replaced by {by}")


def _show(found: Sequence[Gain], title: str) -> None:
    """Print the gains as a table, and what the verdicts mean."""
    from rich.console import Console

    from allminds.core.errors import printable
    from allminds.inference.words import interval, number
    from allminds.terminal.tables import Name, figures_table, say

    table = figures_table(["whose score", "with"], ["gain", "95 % interval", "verdict"])
    for one in found:
        change = one.found
        table.add_row(
            Name(printable(one.whose.label)), Name(printable(one.source.label)),
            number(change.mean), interval(change.interval), one.word,
        )  # fmt: skip
    say(title, "bold")
    Console().print(table)
    if any(not one.found.differs for one in found):
        say("No change: the scores are the same in every exercise.")
