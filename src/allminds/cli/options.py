"""Options that several commands have, and how their text is parsed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from allminds.core.errors import Error

CORES = os.cpu_count() or 1
INSTRUMENT_HELP = "Its name (allminds list), or FILE.py:CLASS."

JsonOption = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw a figure: a file that ends in .svg or .png."),
]
InstrumentArgument = Annotated[str, typer.Argument(help=INSTRUMENT_HELP)]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]
MindOption = Annotated[
    list[str] | None,
    typer.Option("--mind", "-m", metavar="MIND", help="A name, module:Name or file.py:Name."),
]
SettingOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting.")
]
BudgetOption = Annotated[
    str | None,
    typer.Option(metavar="FIGURE=VALUE", help="Exercises for rel=… or generalisability=…"),
]
OptionsOption = Annotated[int, typer.Option(min=2, help="Options m of a task.")]
JobsOption = Annotated[
    int, typer.Option(min=1, show_default="all cores", help="Threads or processes.")
]
StrictOption = Annotated[
    bool,
    typer.Option(help="Stop at the first exercise that fails, and show where in your code it did."),
]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="ENGINE",
        help="Where to play: local, dask (a cluster on this machine), or a Dask scheduler's "
        "address, tcp://host:8786. The results are the same.",
    ),
]
MaxCostOption = Annotated[
    float | None, typer.Option(help="Dollars: what language models may cost at most.")
]
PriceOption = Annotated[str, typer.Option(help="Dollars per million tokens in and out, as 2.5/10.")]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Import the files and run the programs that the data name.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Ask no language model; count the calls, and stop.")
]


def settings_of(given: list[str] | None) -> dict[str, Any]:
    """Parse settings from KEY=VALUE words."""
    settings: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Error(f"--set takes KEY=VALUE, such as rows=10, not '{text}'")
        settings[name.strip()] = value.strip()
    return settings


def budget_of(text: str | None) -> tuple[str, float] | None:
    """Parse a wanted reliability, such as rel=0.95."""
    from allminds.statistics.reliability import BUDGETS

    if text is None:
        return None
    figure, _, value = text.partition("=")
    try:
        wanted = float(value)
    except ValueError:
        wanted = 0.0
    if figure not in BUDGETS or not 0 < wanted < 1:
        raise Error(f"--budget takes rel=0.95 or generalisability=0.9, not '{text}'")
    return figure, wanted
