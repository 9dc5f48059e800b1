"""allminds report, card, replay, why, import and export: what a run tells, and in other forms."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import (
    READ,
    JsonOption,
    RunArgument,
    TrustOption,
    app,
    complete_mind,
    print_json,
    print_line,
)
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
    print_line(f"report: {page}")


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
    print_line(f"card: {write_card(folder, out or run / 'card.svg')}")


# ---------------------------------------------------------------- replay and why


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds replay runs/1 --exercise 7 --mind local-search",
)
def replay(
    run: RunArgument,
    exercise: Annotated[int, typer.Option(min=0, help="Number of the exercise.")],
    mind: Annotated[
        str | None,
        typer.Option(help="The mind to show; by default the first.", autocompletion=complete_mind),
    ] = None,
    test: Annotated[int, typer.Option(min=1, help="Number of the test in the plan.")] = 1,
    as_json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Show one exercise of a run step by step, and check it against what was recorded."""
    from allminds import registry
    from allminds.runs.replay import replayed
    from allminds.runs.store import RunFolder

    registry.built_in_only("replay", trust)
    steps = replayed(RunFolder.open(run), exercise, mind, test - 1)
    if as_json:
        print_json(steps.as_json())
    else:
        print(steps.as_text())


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds why runs/1  |  allminds why runs/1 --mind sarsa --rival q-learning",
)
def why(
    run: RunArgument,
    mind: Annotated[
        list[str] | None,
        typer.Option("--mind", "-m", metavar="MIND", help="By default the minds asked about."),
    ] = None,
    rival: Annotated[
        str | None,
        typer.Option(
            metavar="MIND", help="By default the best fair mind above it, or else floor or ceiling."
        ),
    ] = None,
    as_json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Show where a mind breaks: the exercises on which it and a rival part, and what they did.

    Shown are the largest losses and a typical exercise of the tests on which it loses most. They
    illustrate; whether one mind is better than another is for allminds compare to say. The report
    has the same with pictures.
    """
    from allminds import registry
    from allminds.report.causes import find_causes
    from allminds.report.sections.causes import as_json as plain
    from allminds.report.sections.causes import as_text
    from allminds.runs.store import RunFolder

    registry.built_in_only("why", trust)
    found = find_causes([RunFolder.open(run)], mind or (), rival)
    if as_json:
        print_json([plain(one) for one in found])
    else:
        width = min(shutil.get_terminal_size().columns, 100)
        said = [as_text(one, width) for one in found]
        print("\n\n".join(said) or "No mind that is asked about has a rival in this run.")


# ---------------------------------------------------------------- import and export


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
        print_line(
            f"{out}: {made['rows']:,} results of {', '.join(made['minds'][:8])}"
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
    print_line(f"{write_results(frame, file)}: {len(frame):,} results")
