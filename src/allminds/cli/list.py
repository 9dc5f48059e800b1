"""allminds list: instruments, minds and papers."""

from __future__ import annotations

from typing import Annotated

import typer

from allminds.cli.app import LOOK, app, print_json
from allminds.cli.options import JsonOption, complete_instrument
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
