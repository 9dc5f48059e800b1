"""allminds gains: who gains from whom in a game or a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from allminds.cli.app import (
    GIVE,
    InstrumentArgument,
    JsonOption,
    SettingOption,
    app,
    complete_mind,
    print_json,
    settings_of,
)

if TYPE_CHECKING:
    from allminds.statistics.gains import Gain


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
