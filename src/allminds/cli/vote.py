"""allminds vote, crossing and select: how accurate groups are, and which one to choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import MODEL, app, print_json
from allminds.cli.options import JsonOption, OptionsOption, PlotOption
from allminds.cli.predict import draw_accuracy
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.statistics.selection import Curve

MOST_CORRELATED = 1000  # members whose errors have a common factor


@app.command(
    rich_help_panel=MODEL,
    epilog="Example: allminds vote 0.55 0.55 0.63  |  allminds vote 0.4 0.5 --rule plurality  |  "
    "allminds vote 0.7 0.7 0.7 0.7 0.7 --correlation 0.5",
)
def vote(
    members: Annotated[list[float], typer.Argument(help="The accuracy of every member.")],
    rule: Annotated[str, typer.Option(help="majority or plurality")] = "majority",
    options: OptionsOption = 3,
    ties: Annotated[str, typer.Option(help="What an even majority gives: coin or fail.")] = "coin",
    correlation: Annotated[
        float,
        typer.Option(help="Latent correlation ρ of the members' errors, 0 (independent) to 1."),
    ] = 0.0,
    weights: Annotated[
        str | None,
        typer.Option(
            show_default="equal",
            help="Weights of the votes, with commas between; a vote of two options.",
        ),
    ] = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Compute the accuracy of a group that votes, with independent errors or a common factor.

    With `--correlation ρ`, what makes a question hard is partly common to all members: a latent
    normal factor gives every two of them the correlation ρ. The sharp bounds hold for members of
    these accuracies with any dependence between them. The plot shows the accuracy as members
    join, beside the best of them.
    """
    from allminds.core.settings import numbers

    given = None if weights is None else numbers(weights, "--weights")
    group = _Vote(rule, options, ties, correlation, given)
    found = group.accuracy(members)
    low, high, sharp = group.bounds(members)
    joined = [members[:n] for n in range(1, len(members) + 1)] if plot else []
    lines = [("the vote", len(of), group.accuracy(of)) for of in joined]
    lines += [("the best member", len(of), max(of)) for of in joined]
    draw_accuracy(plot, lines, "members")
    if as_json:
        of = {"low": low, "high": high, "sharp": sharp}
        print_json({"accuracy": found, "correlation": correlation, "bounds": of})
        return
    print(f"{found:.4f}" + (f" with a latent correlation of {correlation:g}" * (correlation > 0)))
    loose = "" if sharp else " (bounds that hold, but may not be reached)"
    print(f"with any dependence between members: {low:.4f} to {high:.4f}{loose}")


@dataclass(frozen=True)
class _Vote:
    """How a group votes, and how its members' errors go together."""

    rule: str
    options: int
    ties: Any
    correlation: float
    weights: list[float] | None

    def __post_init__(self) -> None:
        if self.rule not in ("majority", "plurality"):
            raise Error(f"there is no rule '{self.rule}'; choose majority or plurality")
        if self.weights is not None and self.rule == "plurality":
            raise Error("--weights are for votes of two options; leave out --rule plurality")

    def accuracy(self, members: list[float]) -> float:
        """Compute the accuracy of a group of such members."""
        from allminds import voting

        if self.correlation and len(members) > MOST_CORRELATED:
            raise Error(
                f"a vote with a correlation is computed for {MOST_CORRELATED:,} members or fewer, "
                f"and this group has {len(members):,}"
            )
        if self.weights is not None:
            some = self.weights[: len(members)]
            return voting.correlated_weighted(members, some, self.correlation, self.ties)
        if self.rule == "plurality":
            return voting.correlated_plurality(members, self.correlation, self.options)
        return voting.correlated_majority(members, self.correlation, self.ties)

    def bounds(self, members: list[float]) -> tuple[float, float, bool]:
        """Return the least and greatest accuracy with any dependence, and if they are sharp."""
        from allminds import voting

        if self.weights is not None:
            return voting.weighted_bounds(members, self.weights, self.ties)
        if self.rule == "plurality":
            return *voting.plurality_bounds(members, self.options), True
        return *voting.bounds(members, self.ties), True


# ---------------------------------------------------------------- crossing


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


# ---------------------------------------------------------------- select


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
