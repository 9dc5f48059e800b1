"""allminds vote: how accurate a group that votes is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from allminds.cli.app import MODEL, app, print_json
from allminds.cli.options import JsonOption, OptionsOption, PlotOption
from allminds.cli.predict import draw_accuracy
from allminds.core.errors import Error

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
