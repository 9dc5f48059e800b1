"""allminds calibrate: count how often what is printed is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from allminds.cli.app import DESIGN, app, print_json
from allminds.cli.options import JsonOption
from allminds.core.errors import Error


@app.command(
    rich_help_panel=DESIGN,
    epilog="Example: allminds calibrate --quick  |  "
    "allminds calibrate --only 'paired hits' --repeats 20000  |  "
    "allminds calibrate --full --out docs/calibration.md",
)
def calibrate(
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repeats: about four minutes.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Many repeats: about an hour.")] = False,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", show_default="all", help="Only rows whose name contains this."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the simulation.")] = 1,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="by --quick or --full",
            help="Simulated studies a row; slow rows have fewer.",
        ),
    ] = None,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", show_default="no page", help="Write the table as a page."),
    ] = None,
) -> None:
    """Simulate intervals and verdicts where the truth is known; count how often they are wrong.

    A 95 % interval passes if it holds the truth in .93 or more (and in .98 or less, if it is an
    approximation from 20 units on); a verdict if it is false in at most 5 % of studies. A row fails
    only if the 99.9 % interval of the simulation itself lies wholly outside; then exit code 1.
    """
    from allminds.statistics import calibration
    from allminds.terminal import watching

    if quick and full:
        raise Error("choose --quick or --full, not both")
    size = "quick" if quick else "full" if full else "medium"
    times = repeats or calibration.REPEATS[size]
    rows = calibration.chosen(calibration.rows(), only)
    found: list[calibration.Found] = []
    with watching() as progress:
        progress("rows", 0, len(rows))
        for one in calibration.calibrate(rows, times, seed):
            found.append(one)
            progress("rows", len(found), len(rows))
    wrong = calibration.failures(found)
    if out is not None:
        command = "allminds calibrate" + ("" if size == "medium" else f" --{size}")
        command += f" --repeats {repeats}" if repeats else ""
        out.write_text(calibration.page(found, f"{command} --seed {seed} --out {out}"), "utf-8")
    if as_json:
        print_json({"rows": [_plain(one) for one in found], "failures": wrong})
    elif out is not None:
        print(f"page: {out}")
    else:
        _show(found)
    if not as_json:
        print("\n".join([*wrong, f"{len(found) - len(wrong)} of {len(found)} rows pass the gate"]))
    if wrong:
        raise typer.Exit(1)


def _plain(one: Any) -> dict[str, Any]:
    """Return the figures of a row, by name."""
    row = one.row
    return {
        "section": row.section, "name": row.name, "kind": row.kind, "nominal": row.nominal,
        "allowed": row.allowed, "wrong": one.wrong, "total": one.total, "rate": one.rate,
        "interval": one.interval, "passes": one.passes,
    }  # fmt: skip


def _show(found: list[Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    from allminds.statistics.calibration import CAPTIONS, cells
    from allminds.terminal.tables import figures_table

    console = Console()
    for section in dict.fromkeys(one.row.section for one in found):
        table = figures_table(["situation"], list(CAPTIONS))
        table.title, table.title_justify = section, "left"
        for one in found:
            if one.row.section == section:
                table.add_row(Text(one.row.name), *map(Text, cells(one)))
        console.print(table)
