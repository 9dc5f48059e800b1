"""allminds list and show: what there is, and what a mind sees in an instrument."""

from __future__ import annotations

from typing import Annotated

import typer

from allminds.cli.app import (
    LOOK,
    InstrumentArgument,
    JsonOption,
    SettingOption,
    app,
    complete_instrument,
    print_json,
    settings_of,
)
from allminds.core.errors import Error

KINDS = ("instruments", "minds", "papers")


@app.command(
    "list",
    rich_help_panel=LOOK,
    epilog="Example: allminds list  |  allminds list minds --instrument lambda-star",
)
def list_what(
    what: Annotated[
        str,
        typer.Argument(help="instruments, minds or papers", autocompletion=lambda: list(KINDS)),
    ] = "instruments",
    instrument: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="all",
            help="Only the minds of this instrument.",
            autocompletion=complete_instrument,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List instruments, minds or papers, with a line on each.

    A terminal cuts long lines at its edge; a pipe and --json get all of them.
    """
    from allminds import registry
    from allminds.core.errors import nearest
    from allminds.terminal import listing, show_lines, show_minds

    if what not in KINDS:
        raise Error(f"cannot list '{what}'; {nearest(what, KINDS)}")
    if instrument is not None:
        if what != "minds":
            raise Error("--instrument is for the minds of an instrument: allminds list minds")
        registry.kind(instrument)
    if as_json:
        print_json({what: listing(what, instrument or "")})
    elif what == "minds":
        show_minds(instrument or "")
    else:
        rows = listing(what)
        show_lines([(row[what.removesuffix("s")], row["what"]) for row in rows])


# ---------------------------------------------------------------- show


@app.command(
    "show",
    rich_help_panel=LOOK,
    epilog="Examples: allminds show lambda-star  |  allminds show mine.py:NextSymbol --set steps=5",
)
def show(
    instrument: InstrumentArgument,
    setting: SettingOption = None,
    fair_ceiling: Annotated[
        bool,
        typer.Option(help="Show the fair ceiling only, and compute it if that takes a minute."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a mind sees in an instrument: observations, actions, rewards, settings, minds.

    With one exercise drawn, and the smallest mind that plays it. The documentation has the same
    page for each instrument.
    """
    from allminds import registry
    from allminds.description import describe, fair_in_words

    if fair_ceiling:
        known = registry.make_instrument(instrument, settings_of(setting)).fair_ceiling(asked=True)
        score = {"fair_ceiling": known.score, "fair_ceiling_reason": known.reason}
        said = fair_in_words(score)
        if as_json:
            print_json(score)
        elif said:
            typer.echo(said[0])
        else:
            raise Error(f"{instrument} has no program that computes a fair ceiling")
        return
    found = describe(instrument, settings_of(setting))
    if as_json:
        print_json(found.as_json())
    else:
        typer.echo(str(found))
