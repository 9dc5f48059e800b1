"""allminds replay and why: one exercise of a run, step by step; where two minds part."""

from __future__ import annotations

import shutil
from typing import Annotated

import typer

from allminds.cli.app import READ, app, print_json
from allminds.cli.options import JsonOption, RunArgument, TrustOption, complete_mind


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
