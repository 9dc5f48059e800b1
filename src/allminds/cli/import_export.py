"""allminds import and allminds export: results from other tools, and for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import READ, app, print_json
from allminds.cli.options import JsonOption, TrustOption
from allminds.core.errors import printable


@app.command(
    "import",
    rich_help_panel=READ,
    epilog="Example: allminds import results.csv --out runs/people  |  "
    "allminds import LOG.eval --out runs/model",
)
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file of results made elsewhere.")
    ],
    out: Annotated[Path, typer.Option(help="A new folder for the table.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            show_default="by the ending",
            help="csv, parquet, inspect, py-irt, lambda-2011; by its ending.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Bring results made elsewhere into the common table.

    A CSV or Parquet file has a row for every play, and at least the columns exercise, mind and
    score; LOG.eval is a log of inspect eval allminds/…; and .jsonl are answers as py-irt has them.
    """
    from allminds import registry
    from allminds.runs.imports import import_results

    registry.built_in_only("import")
    made = json.loads((import_results(file, out, form) / "imported.json").read_text("utf-8"))
    if as_json:
        print_json({"out": str(out)} | made)
    else:
        print(
            f"{out}: {made['rows']:,} results of {printable(', '.join(made['minds'][:8]))}"
            f"{' …' if len(made['minds']) > 8 else ''} on {made['exercises']:,} exercises"
        )


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds export runs/1 results.csv  |  allminds export runs/1 irt.jsonl",
)
def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run or imported folder, or a file.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help=".csv, .parquet, or .jsonl.")],
    trust: TrustOption = False,
) -> None:
    """Write results for other tools: CSV, Parquet, or answers as py-irt has them."""
    from allminds import registry
    from allminds.bridges.exchange import write_results
    from allminds.runs.imports import read_results

    registry.built_in_only("export", trust)
    frame = read_results(run)
    print(f"{write_results(frame, file)}: {len(frame):,} results")
