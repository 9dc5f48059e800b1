"""Results and items for other tools: allminds export, allminds make items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import app
from allminds.cli.making import SeedOption, make
from allminds.cli.reading import settings_of


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
    from allminds.bridges.exchange import write_results
    from allminds.runs.imports import read_results

    frame = read_results(run)
    print(f"{write_results(frame, file)}: {len(frame):,} results")


@make.command(epilog="Example: allminds make items c-test --set form=generated --out items.jsonl")
def items(
    instrument: Annotated[str, typer.Argument(help="Its name (allminds list), or FILE.py:CLASS.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A file of JSON lines.")],
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="How many; 100, or all of a fixed form.")
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """Write the very questions that evaluate and run give, with the exercise ids of results.

    A line each: id, question, options, answer, complexity. `make series` and `make matrices` draw
    data sets instead, whose questions are all different and tested for shortcuts.
    """
    from allminds import registry
    from allminds.bridges.exchange import write_items

    tool = registry.make_instrument(instrument, settings_of(setting or []))
    wanted = (tool.length or 100) if count is None else count
    print(f"{write_items(tool, wanted, out, seed)}: {wanted:,} items")
