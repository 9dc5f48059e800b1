"""Results and items for other tools: allminds export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import app


@app.command(
    epilog="Example: allminds export runs/1 results.csv  |  allminds export runs/1 irt.jsonl"
)
def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run or imported folder, or a file.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help=".csv, .parquet, or .jsonl.")],
) -> None:
    """Write results for other tools: CSV, Parquet, or answers as py-irt has them."""
    from allminds.administration.imports import read_results
    from allminds.bridges.exchange import write_results

    frame = read_results(run)
    print(f"{write_results(frame, file)}: {len(frame):,} results")
