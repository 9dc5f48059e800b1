"""allminds list: instruments, minds and papers."""

from __future__ import annotations

from typing import Annotated

import typer

from allminds.cli.app import GIVE, app, print_json
from allminds.cli.options import JsonOption
from allminds.core.errors import Error


@app.command("list", rich_help_panel=GIVE, epilog="Example: allminds list minds")
def list_what(
    what: Annotated[str, typer.Argument(help="instruments, minds or papers")] = "instruments",
    as_json: JsonOption = False,
) -> None:
    """List what there is: instruments, minds or papers, with a line each."""
    from allminds.core.errors import nearest
    from allminds.terminal import listing, show_listing

    kinds = ("instruments", "minds", "papers")
    if what not in kinds:
        raise Error(f"cannot list '{what}'; {nearest(what, kinds)}")
    found = listing(what)
    if as_json:
        print_json({what: found})
    else:
        show_listing(found)
