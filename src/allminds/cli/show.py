"""allminds show: what a mind sees in an instrument, and what it can do."""

from __future__ import annotations

import typer

from allminds.cli.app import LOOK, app, print_json
from allminds.cli.options import InstrumentArgument, JsonOption, SettingOption, settings_of


@app.command(
    "show",
    rich_help_panel=LOOK,
    epilog="Examples: allminds show lambda-star  |  allminds show mine.py:NextSymbol --set steps=5",
)
def show(
    instrument: InstrumentArgument, setting: SettingOption = None, as_json: JsonOption = False
) -> None:
    """Show what a mind sees in an instrument: observations, actions, rewards, settings, minds.

    With one exercise drawn, and the smallest mind that plays it. The documentation has the same
    page for each instrument.
    """
    from allminds.description import describe

    found = describe(instrument, settings_of(setting))
    if as_json:
        print_json(found.as_json())
    else:
        typer.echo(str(found))
