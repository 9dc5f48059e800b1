"""allminds crossing: the difficulties at which two minds or groups are equally accurate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from allminds.cli.app import MODEL, app, print_json
from allminds.cli.options import JsonOption, OptionsOption, PlotOption
from allminds.cli.predict import draw_accuracy
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.statistics.selection import Curve

MOST_MEMBERS = {"majority": 1000, "plurality": 100}  # of a group, whose whole curve is computed


@app.command(rich_help_panel=MODEL, epilog="Example: allminds crossing 12 12,12,12 --options 3")
def crossing(
    first: Annotated[str, typer.Argument(help="An ability α, or a group: several α with commas.")],
    second: Annotated[str, typer.Argument(help="A second mind or group, to compare with.")],
    options: OptionsOption = 3,
    rule: Annotated[str, typer.Option(help="How groups vote: majority or plurality.")] = "majority",
    difficulty: Annotated[str, typer.Option(help="The range of D to search.")] = "0..100",
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Find the difficulties at which two minds or groups are equally accurate."""
    from allminds.core.settings import ends
    from allminds.statistics.selection import crossings

    low, high = ends(difficulty, "--difficulty")
    one, other = (curve_of(text, options, rule) for text in (first, second))
    found = crossings(one, other, low, high)
    draw_accuracy(plot, points_of({first: one, second: other}, low, high))
    if as_json:
        print_json({"crossings": list(found.at), "equal": found.equal})
    elif found.equal:
        print("they are equal at every difficulty")
    else:
        print("\n".join(f"{at:.2f}" for at in found.at) or f"none between {low:g} and {high:g}")


def curve_of(text: str, options: int, rule: str) -> Curve:
    """Return the accuracy curve of an ability, or of a group of abilities that votes."""
    from allminds.core.settings import numbers
    from allminds.statistics.accuracy import accuracy
    from allminds.statistics.selection import group_curve

    abilities = numbers(text, "an ability")
    most = MOST_MEMBERS.get(rule, 1)
    if len(abilities) > most > 1:
        raise Error(f"a {rule} of {len(abilities):,} is too large a group; name {most:,} or fewer")
    for alpha in abilities:
        accuracy(1.0, alpha, options=options)  # a wrong one is found here

    def single(alpha: float) -> Curve:
        return lambda hard: accuracy(hard, alpha, options=options)

    if len(abilities) == 1:
        return single(abilities[0])
    members = [single(alpha) for alpha in abilities]
    return group_curve(members, rule, options)  # type: ignore[arg-type] # it rejects a wrong rule


def points_of(curves: dict[str, Curve], low: float, high: float) -> list[tuple[str, float, float]]:
    """Compute each curve at some difficulties."""
    import numpy as np

    grid = np.linspace(low, high, 81)
    return [
        (name, float(hard), float(p))
        for name, curve in curves.items()
        for hard, p in zip(grid, curve(grid), strict=True)
    ]
