"""allminds complexity: how complex a sequence is, by several measures."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from allminds.cli.app import DESIGN, app, print_json
from allminds.cli.options import JsonOption, PlotOption


@app.command(
    rich_help_panel=DESIGN,
    epilog="Example: allminds complexity 7,3,4,9,8,7,3,4,9,8 --measure lz76  |  "
    "allminds complexity abcdabcd --measure levin",
)
def complexity(
    sequence: Annotated[str, typer.Argument(help="Characters, or symbols with commas.")],
    measure: Annotated[
        str | None, typer.Option(help="One of the simulations; by default all the quick ones.")
    ] = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Measure how complex a sequence is; by levin also why, and how it goes on.

    The plot shows the complexity of the sequence as it grows.
    """
    from allminds.complexity import MEASURES
    from allminds.complexity import measure as measured
    from allminds.terminal import show_listing

    quick = [name for name, kind in MEASURES.items() if not kind.slow]
    name = measure or "lz76"
    if plot is not None:
        _draw(sequence, [measure] if measure else quick, plot)
    if as_json or measure:
        found = _explained(sequence) if name == "levin" else {"value": measured(sequence, name)}
        if as_json:
            print_json({"measure": name, **found})
        else:
            _say(found)
        return
    show_listing(
        [
            {
                "measure": name,
                "value": f"{measured(sequence, name):g}" if name in quick else "by its name",
                "what": kind.description,
            }
            for name, kind in MEASURES.items()
        ]
    )


def _explained(series: str) -> dict[str, Any]:
    """Return k, the cheapest program, and the next letter."""
    from allminds.complexity.levin import complexity, continued, describe, printed
    from allminds.terminal import working

    with working("searching programs"):
        found = complexity(series)
        return {
            "value": found.value,
            "k": found.k,
            "program": printed(found.program),
            "explanation": describe(found.program, series[0]),
            "next": continued(series),
        }


def _say(found: dict[str, Any]) -> None:
    if "k" not in found:
        print(f"{found['value']:g}")
        return
    print(f"k = {found['k']} (reconstructed; {found['value']:.2f} in full)")
    print(found["program"])
    print(found["explanation"])
    print(f"next: {found['next']}")


def _draw(sequence: str, names: list[str], out: Any) -> None:
    from allminds.complexity import growth
    from allminds.report.charts.files import draw_lines

    points = [(name, n, value) for name in names for n, value in growth(sequence, name)]
    draw_lines(points, "symbols", "complexity", out)
