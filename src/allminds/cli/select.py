"""allminds select: the cheapest mind or group that is accurate enough."""

from __future__ import annotations

from typing import Annotated

import typer

from allminds.cli.app import MODEL, app, print_json
from allminds.cli.crossing import curve_of, points_of
from allminds.cli.options import JsonOption, OptionsOption, PlotOption
from allminds.cli.predict import draw_accuracy
from allminds.core.errors import Error


@app.command(
    rich_help_panel=MODEL,
    epilog="Example: allminds select --mind a=12:1 --mind b=20:3 --task 5 --task 8 --threshold 0.7",
)
def select(
    mind: Annotated[list[str], typer.Option("--mind", "-m", metavar="NAME=ABILITY:COST")],
    task: Annotated[list[float], typer.Option("--task", metavar="D", help="A difficulty.")],
    threshold: Annotated[float, typer.Option(help="p̂: the least accuracy on every task.")],
    options: OptionsOption = 3,
    group: Annotated[
        int, typer.Option(min=1, help="The largest group to consider, by majority.")
    ] = 1,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Choose the cheapest mind, or group, that reaches an accuracy on each of some tasks.

    The plot shows the curves of the candidates, of what was chosen, and the accuracy wanted.
    """
    from allminds.statistics.selection import Candidate, cheapest_group, group_curve

    pool = []
    for text in mind:
        name, _, rest = text.partition("=")
        ability, _, cost = rest.partition(":")
        try:
            pool.append(Candidate(name, curve_of(ability, options, "majority"), float(cost)))
        except ValueError:
            raise Error(f"--mind takes NAME=ABILITY:COST, such as a=12:1, not '{text}'") from None
    found = cheapest_group(pool, task, threshold, group)
    curves = {candidate.name: candidate.accuracy for candidate in pool}
    if len(found.members) > 1:
        chosen = [curves[name] for name in found.members]
        curves["chosen: " + " + ".join(found.members)] = group_curve(chosen, "majority", options)
    wanted = [("p̂", hard, threshold) for hard in (0.0, max(task))]
    draw_accuracy(plot, [*points_of(curves, 0.0, max(task)), *wanted])
    sure = {"cost": found.cost, "accuracies": list(found.accuracies)} if found.members else {
        "cost": None, "accuracies": []
    }  # fmt: skip
    if as_json:
        print_json({"members": list(found.members), **sure, "exact": found.exact})
    elif not found.members:
        print(found.verdict)
    else:
        accuracies = ", ".join(f"{p:.3f}" for p in found.accuracies)
        print(f"{' + '.join(found.members)}: cost {found.cost:g}, accuracy {accuracies}")
        print(found.verdict)
