"""allminds report: the HTML page of a run, or of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import READ, app
from allminds.core.errors import Error


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds report runs/1  |  allminds report runs/1 runs/2 -o both.html  |  "
    "allminds report runs/1 --weights lambda-star=1,c-test=2",
)
def report(
    run: Annotated[list[Path], typer.Argument(metavar="RUN …", help="Run folders.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File; RUN/report.html if none.")
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            metavar="NAME=W,…", help="Weights of instruments, for a total: c-test=2,matrices=1."
        ),
    ] = "",
) -> None:
    """Write the HTML report of a run again, or of several runs side by side."""
    from allminds.report import write_report
    from allminds.runs.store import RunFolder

    if len(run) > 1 and out is None:
        raise Error("a report of several runs needs a file of its own; name it with --out")
    folders = [RunFolder.open(one) for one in run]
    page = write_report(folders, out or run[0] / "report.html", _weights(weights))
    print(f"report: {page}")


def _weights(text: str) -> dict[str, float]:
    """Parse weights by instrument, from NAME=W words with commas between."""
    found: dict[str, float] = {}
    for part in text.split(",") if text else ():
        name, _, value = part.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            name = ""
        if not name.strip():
            raise Error(f"--weights takes NAME=W,NAME=W, such as c-test=2,matrices=1, not '{text}'")
    return found
