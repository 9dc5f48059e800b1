"""allminds replay: one exercise of a run, step by step."""

from __future__ import annotations

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
