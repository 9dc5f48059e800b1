"""allminds card: one page on a run, for a paper or a README."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import READ, app, print_json
from allminds.cli.options import JsonOption, RunArgument, TrustOption


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds card runs/1  |  allminds card runs/1 --out card.md",
)
def card(
    run: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file: .svg, .png, .md or .json; by default RUN/card.svg."
        ),
    ] = None,
    as_json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Write the result card of a run: scores, coverage, and the command that repeats it.

    It has the minds that the run was asked about, or the best three of each test; floor and
    ceiling; version, seed, and a hash of the records.
    """
    from allminds import registry
    from allminds.report.card import card as made
    from allminds.report.card import write_card
    from allminds.runs.store import RunFolder

    registry.built_in_only("card", trust)
    folder = RunFolder.open(run)
    if as_json:
        print_json(made(folder))
        return
    print(f"card: {write_card(folder, out or run / 'card.svg')}")
