"""allminds reproduce: the papers' tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import DATA, app, print_json
from allminds.cli.options import JsonOption


def _complete(incomplete: str) -> list[str]:
    """Complete the name of a paper."""
    from allminds.papers import PAPERS

    return [name for name in PAPERS if name.startswith(incomplete)]


@app.command(
    rich_help_panel=DATA,
    epilog="Example: allminds reproduce hilton chmait-2017:figure-5",
)
def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER[:FIGURE]]...",
            help="Papers and their parts; by default all. See list papers.",
            autocompletion=_complete,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("papers.html"),
    rows: Annotated[
        Path | None,
        typer.Option(show_default="none", help="The authors' rows of insa-cabrera-2011."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the papers' figures and numbers again, ours beside theirs, on one page."""
    from allminds.papers import asked_for
    from allminds.papers.paper import figure, write_page
    from allminds.terminal import show_listing, watching

    chosen = asked_for(what or [], rows)
    with watching() as progress:
        found = write_page(chosen, out, rows, progress)
    claims = [
        {
            "paper": one["name"], "where": claim.where, "what": claim.what,
            "printed": claim.printed, "ours": claim.ours, "precision": claim.precision,
            "error": claim.error, "agrees": claim.agrees, "note": claim.note,
        }
        for one in found for claim in one["claims"]
    ]  # fmt: skip
    if as_json:
        print_json({"page": str(out), "claims": claims})
        return
    if claims:
        show_listing([
            {
                "paper": claim["paper"], "where": claim["where"], "what": claim["what"],
                "printed": claim["printed"], "ours": figure(claim["ours"]),
                "": "" if claim["agrees"] else "differs",
            }
            for claim in claims
        ])  # fmt: skip
        print(f"{sum(claim['agrees'] for claim in claims)} of {len(claims)} printed numbers agree")
    print(f"page: {out}")
