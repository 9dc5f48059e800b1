"""allminds report and card: the HTML page of a run or of several, and one picture of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import READ, app, print_json
from allminds.cli.options import JsonOption, RunArgument, TrustOption
from allminds.core.errors import Error


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds report runs/1  |  allminds report runs/1 runs/2 -o both.html  |  "
    "allminds report runs/1 runs/people -o people.html",
)
def report(
    run: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN …",
            help="Run folders; exports of studies, their results.csv, or studies' databases.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; by default RUN/report.html."),
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            metavar="NAME=W,…",
            show_default="no total",
            help="Weights of instruments, for a total: c-test=2,matrices=1.",
        ),
    ] = "",
    trust: TrustOption = False,
) -> None:
    """Write the HTML report of a run again, of several runs, or of people beside programs.

    People, as allminds study export writes them, are compared with the programs that had the same
    exercises, as a sample of people.
    """
    from allminds import registry
    from allminds.cli.study import exported
    from allminds.report import write_report
    from allminds.runs.store import RunFolder

    if all(map(_results_of_people, run)):
        raise Error(
            f"{run[0]} is what people did; name a run of programs on the same exercises beside it"
        )
    registry.built_in_only("report", trust)
    if len(run) > 1 and out is None:
        raise Error("a report of several runs needs a file of its own; name it with --out")
    with exported(run) as places:
        people = [one for one in places if _results_of_people(one)]
        folders = [RunFolder.open(one) for one in places if one not in people]
        page = write_report(folders, out or run[0] / "report.html", _weights(weights), people)
    print(f"report: {page}")


def _results_of_people(path: Path) -> bool:
    """Check whether a path is a table of results rather than a run folder."""
    return path.is_file() or (path / "imported.json").is_file()


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


# ---------------------------------------------------------------- card


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

    It has the minds that the run was asked about, or the best three fair ones of each
    test; floor and ceiling; version, seed, and a hash of the records.
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
