"""allminds testbed: what an environment and some minds are worth as a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import DESIGN, app, print_json
from allminds.cli.options import (
    BudgetOption,
    JsonOption,
    PlotOption,
    SettingOption,
    budget_of,
    complete_instrument,
    settings_of,
)
from allminds.core.errors import Error

if TYPE_CHECKING:
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
