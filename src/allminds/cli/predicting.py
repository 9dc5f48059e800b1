"""The accuracy model on the command line: predict, vote, crossing, select."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import JsonOption, app, print_json
from allminds.errors import Error

if TYPE_CHECKING:
    from allminds.psychometrics.selection import Curve

MOST = 2000  # values in a range
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .svg or .png.")
]
OptionsOption = Annotated[int, typer.Option(min=2, help="Options m of a task.")]


@app.command(epilog="Example: allminds predict --ability 11.28 --difficulty 5..25 --options 2..10")
def predict(
    ability: Annotated[str, typer.Option(help="α: a number, or several with commas between.")],
    difficulty: Annotated[str, typer.Option(help="D: a number, low..high, or with commas.")],
    options: Annotated[str, typer.Option(help="m: a number, low..high, or with commas.")] = "26",
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """How accurate a mind of some ability is on tasks of some difficulty, by Eq. 1 of P0."""
    from allminds.psychometrics.accuracy import accuracy

    rows: list[dict[str, Any]] = [
        {
            "ability": alpha,
            "difficulty": hard,
            "options": int(m),
            "accuracy": float(accuracy(hard, alpha, options=int(m))),
        }
        for alpha in _numbers(ability, "--ability")
        for m in _whole(options, "--options")
        for hard in _numbers(difficulty, "--difficulty")
    ]
    _draw(
        plot,
        [(f"α {r['ability']:g}, m {r['options']}", r["difficulty"], r["accuracy"]) for r in rows],
    )
    if as_json:
        print_json({"rows": rows})
    else:
        _show(rows)


@app.command(
    epilog="Example: allminds vote 0.55 0.55 0.63  |  allminds vote 0.4 0.5 --rule plurality"
)
def vote(
    members: Annotated[list[float], typer.Argument(help="The accuracy of every member.")],
    rule: Annotated[str, typer.Option(help="majority or plurality")] = "majority",
    options: OptionsOption = 3,
    ties: Annotated[str, typer.Option(help="Of an even majority: coin or fail.")] = "coin",
    as_json: JsonOption = False,
) -> None:
    """How accurate a group is that votes, if its members err independently."""
    from allminds import voting

    if rule == "plurality":
        found = voting.plurality_accuracy(members, options)
    elif rule == "majority":
        found = voting.majority_accuracy(members, ties)  # type: ignore[arg-type]
    else:
        raise Error(f"there is no rule '{rule}'; choose majority or plurality")
    if as_json:
        print_json({"accuracy": found})
        return
    print(f"{found:.4f}")
    if rule == "majority" and len(members) % 2:
        low, high = voting.bounds(members)
        print(f"with any dependence between members: {low:.4f} to {high:.4f}")


@app.command(epilog="Example: allminds crossing 12 12,12,12 --options 3")
def crossing(
    first: Annotated[str, typer.Argument(help="An ability α, or a group: α with commas between.")],
    second: Annotated[str, typer.Argument(help="The same, to compare with.")],
    options: OptionsOption = 3,
    rule: Annotated[str, typer.Option(help="How groups vote: majority or plurality.")] = "majority",
    difficulty: Annotated[str, typer.Option(help="The range of D to search.")] = "0..100",
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """The difficulties at which two minds or groups are equally accurate."""
    import numpy as np

    from allminds.psychometrics.selection import crossings

    low, high = _ends(difficulty, "--difficulty")
    one, other = (_curve(text, options, rule) for text in (first, second))
    found = crossings(one, other, low, high)
    grid = np.linspace(low, high, 81)
    lines = {first: one(grid), second: other(grid)}
    _draw(
        plot,
        [(n, float(d), float(p)) for n, ps in lines.items() for d, p in zip(grid, ps, strict=True)],
    )
    if as_json:
        print_json({"crossings": list(found.at), "equal": found.equal})
    elif found.equal:
        print("they are equal at every difficulty")
    else:
        print("\n".join(f"{at:.2f}" for at in found.at) or f"none between {low:g} and {high:g}")


@app.command(
    epilog="Example: allminds select --mind a=12:1 --mind b=20:3 --task 5 --task 8 --threshold 0.7"
)
def select(
    mind: Annotated[list[str], typer.Option("--mind", "-m", metavar="NAME=ABILITY:COST")],
    task: Annotated[list[float], typer.Option("--task", metavar="D", help="A difficulty.")],
    threshold: Annotated[float, typer.Option(help="p̂: the least accuracy on every task.")],
    options: OptionsOption = 3,
    group: Annotated[int, typer.Option(min=1, help="Groups of at most so many, by majority.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """The cheapest mind, or group, that reaches an accuracy on each of some tasks."""
    from allminds.psychometrics.selection import Candidate, cheapest_group

    pool = []
    for text in mind:
        name, _, rest = text.partition("=")
        ability, _, cost = rest.partition(":")
        try:
            pool.append(Candidate(name, _curve(ability, options, "majority"), float(cost)))
        except ValueError:
            raise Error(f"--mind takes NAME=ABILITY:COST, such as a=12:1, not '{text}'") from None
    found = cheapest_group(pool, task, threshold, group)
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


# ---------------------------------------------------------------- helpers


def _numbers(text: str, where: str) -> list[float]:
    """A number, several with commas between, or a range of whole steps."""
    try:
        if ".." in text:
            low, high = _ends(text, where)
            return [low + step for step in range(int(high - low) + 1)]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise Error(f"{where} takes a number, or a range such as 5..25, not '{text}'") from None


def _ends(text: str, where: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise Error(f"{where} takes a range such as 5..25, not '{text}'") from None
    if not dots or not 0 <= ends[1] - ends[0] <= MOST:
        raise Error(f"{where}: '{text}' is no range of at most {MOST} steps")
    return ends


def _whole(text: str, where: str) -> list[float]:
    found = _numbers(text, where)
    if any(value != int(value) for value in found):
        raise Error(f"{where} takes whole numbers, not '{text}'")
    return found


def _curve(text: str, options: int, rule: str) -> Curve:
    """The accuracy curve of an ability, or of a group of abilities that votes."""
    from allminds.psychometrics.accuracy import accuracy
    from allminds.psychometrics.selection import group_curve

    abilities = _numbers(text, "an ability")
    for alpha in abilities:
        accuracy(1.0, alpha, options=options)  # a wrong one is found here

    def single(alpha: float) -> Curve:
        return lambda hard: accuracy(hard, alpha, options=options)

    if len(abilities) == 1:
        return single(abilities[0])
    return group_curve([single(alpha) for alpha in abilities], rule, options)  # type: ignore[arg-type]


def _show(rows: list[dict[str, Any]]) -> None:
    from allminds.screen import show_listing

    show_listing([
        {
            "ability": f"{row['ability']:g}", "difficulty": f"{row['difficulty']:g}",
            "options": str(row["options"]), "accuracy": f"{row['accuracy']:.4f}",
        }
        for row in rows
    ])  # fmt: skip


def _draw(out: Path | None, points: list[tuple[str, float, float]]) -> None:
    if out is None:
        return
    from allminds.report.figure import draw_lines

    draw_lines(points, "difficulty D", "accuracy P", out)
