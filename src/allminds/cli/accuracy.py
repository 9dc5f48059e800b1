"""allminds predict, vote, crossing and select: the accuracy of a mind, and of groups of minds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import MODEL, JsonOption, OptionsOption, PlotOption, app, print_json
from allminds.core.errors import Error, nearest

if TYPE_CHECKING:
    from allminds.statistics.selection import Curve
    from allminds.voting import VoteAccuracy, WeightedBounds

MOST_OPTIONS = 10**6  # of a task
MOST_ROWS = 100_000


@app.command(
    rich_help_panel=MODEL,
    epilog="Example: allminds predict --ability 11.28 --difficulty 5..25 --options 2..10  |  "
    "allminds predict --levels 5..9 --hits 20,19,16,11,6 --trials 20 --difficulty 10..12",
)
def predict(
    difficulty: Annotated[str, typer.Option(help="D: a number, low..high, or with commas.")],
    ability: Annotated[
        str | None,
        typer.Option(
            show_default="from --hits", help="α: a number, or several with commas between."
        ),
    ] = None,
    options: Annotated[str, typer.Option(help="m: a number, low..high, or with commas.")] = "26",
    levels: Annotated[
        str | None,
        typer.Option(
            show_default="needed with --hits",
            help="The difficulties that a mind was tried at, ascending.",
        ),
    ] = None,
    hits: Annotated[
        str | None, typer.Option(show_default="from --ability", help="Its right answers, by level.")
    ] = None,
    trials: Annotated[
        str | None,
        typer.Option(
            show_default="needed with --hits", help="Its answers, by level or one for all."
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="none",
            help="Also print an interval for the rate of this many new items.",
        ),
    ] = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Predict how accurate a mind is on tasks of some difficulty.

    From an ability α: what Eq. 1 of Chmait, Dowe, Li and Green (2017) says. From right answers at
    some levels: what stacked curves predict of harder tasks than any tried, with 95 % intervals
    and what such intervals covered in simulations; or why nothing can be said.
    """
    if (ability is None) == (hits is None):
        raise Error("give either --ability, or --levels, --hits and --trials")
    from allminds.core.settings import numbers, whole_numbers

    at, many = numbers(difficulty, "--difficulty"), whole_numbers(options, "--options")
    if max(many) > MOST_OPTIONS:
        raise Error(f"--options takes numbers up to {MOST_OPTIONS:,}, not {max(many):,}")
    if ability is not None:
        abilities = numbers(ability, "--ability")
        count = len(abilities) * len(at) * len(many)
        if count > MOST_ROWS:
            raise Error(f"that is a table of {count:,} rows; ask for {MOST_ROWS:,} or fewer")
        rows = _by_ability(abilities, at, many)
        draw_accuracy(
            plot,
            [(f"α {r['ability']:g}, m {r['options']}", r["difficulty"], r["accuracy"])
             for r in rows],
        )  # fmt: skip
    else:
        if levels is None or trials is None or len(many) != 1:
            raise Error("--hits need --levels, --trials and one number of --options")
        rows = _by_hits(levels, hits or "", trials, many[0], at, items)
        said = [row for row in rows if row["accuracy"] is not None]
        draw_accuracy(plot, [("predicted", row["difficulty"], row["accuracy"]) for row in said]
              + [("95 % interval, low", row["difficulty"], row["interval"][0]) for row in said]
              + [("95 % interval, high", row["difficulty"], row["interval"][1]) for row in said]
        )  # fmt: skip
    if as_json:
        print_json({"rows": rows})
    elif ability is not None:
        _show(rows)
    else:
        _show_beyond(rows)


# ---------------------------------------------------------------- what is computed and shown


def _by_ability(
    abilities: list[float], at: list[float], options: list[int]
) -> list[dict[str, Any]]:
    """Compute what Eq. 1 says, a row for every combination."""
    from allminds.statistics.accuracy import accuracy

    return [
        {
            "ability": alpha,
            "difficulty": hard,
            "options": m,
            "accuracy": float(accuracy(hard, alpha, options=m)),
        }
        for alpha in abilities
        for m in options
        for hard in at
    ]


def _by_hits(
    levels: str, hits: str, trials: str, options: int, at: list[float], items: int | None
) -> list[dict[str, Any]]:
    """Predict by stacked curves beyond the levels tried, a row for every difficulty."""
    from allminds.core.settings import numbers
    from allminds.statistics.accuracy import Counts, predict_beyond

    of = [numbers(text, name) for text, name in
          ((levels, "--levels"), (hits, "--hits"), (trials, "--trials"))]  # fmt: skip
    counts = Counts.of(of[0], of[1], of[2][0] if len(of[2]) == 1 else of[2], options=options)
    found = [predict_beyond(counts, hard, items=items) for hard in at]
    return [
        {
            "difficulty": one.difficulty,
            "levels_beyond": one.steps,
            "accuracy": one.accuracy,
            "interval": one.interval,
            "rate_interval": one.rate_interval,
            "coverage": one.coverage,
            "why_not": one.why_not,
            "curves": one.weights,
        }
        for one in found
    ]


def _show_beyond(rows: list[dict[str, Any]]) -> None:
    from allminds.terminal import show_listing

    def text(ends: tuple[float, float] | None) -> str:
        return "" if ends is None else f"[{ends[0]:.3f}, {ends[1]:.3f}]"

    said = [
        {
            "difficulty": f"{row['difficulty']:g}",
            "levels beyond": f"{row['levels_beyond']:.1f}",
            "accuracy": "" if row["accuracy"] is None else f"{row['accuracy']:.3f}",
            "95 % interval": text(row["interval"]),
            **({"rate of new items": text(row["rate_interval"])} if row["rate_interval"] else {}),
            "covered in simulations": "" if row["coverage"] is None else f"{row['coverage']:.2f}",
        }
        for row in rows
        if not row["why_not"]
    ]
    if said:
        show_listing(said)
    for row in rows:
        if row["why_not"]:
            print(f"{row['difficulty']:g}: no prediction, {row['why_not']}.")


def _show(rows: list[dict[str, Any]]) -> None:
    from allminds.terminal import show_listing

    show_listing([
        {
            "ability": f"{row['ability']:g}", "difficulty": f"{row['difficulty']:g}",
            "options": str(row["options"]), "accuracy": f"{row['accuracy']:.4f}",
        }
        for row in rows
    ])  # fmt: skip


def draw_accuracy(
    out: Path | None, points: Sequence[tuple[str, float, float]], x_title: str = "difficulty D"
) -> None:
    """Draw lines of accuracy into a file, if one was asked for."""
    if out is None:
        return
    from allminds.report.charts.files import draw_lines

    draw_lines(points, x_title, "accuracy P", out, (0, 1))


# ---------------------------------------------------------------- vote


MOST_CORRELATED = 1000  # members whose errors have a common factor
VOTES = ("majority", "plurality", "borda", "harmonic", "maximin", "copeland")


@app.command(
    rich_help_panel=MODEL,
    epilog="Example: allminds vote 0.55 0.55 0.63  |  allminds vote 0.4 0.5 --rule plurality  |  "
    "allminds vote 0.7 0.7 0.7 0.7 0.7 --correlation 0.5  |  "
    "allminds vote 0.4 0.5 0.6 --rule borda --options 4",
)
def vote(
    members: Annotated[list[float], typer.Argument(help="The accuracy of every member.")],
    rule: Annotated[str, typer.Option(help=f"{', '.join(VOTES[:-1])} or {VOTES[-1]}")] = "majority",
    options: OptionsOption = 3,
    ties: Annotated[str, typer.Option(help="What a tie gives: coin or fail.")] = "coin",
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
    these accuracies with any dependence between them. In a vote by rankings (`borda`, `harmonic`,
    `maximin`, `copeland`) members rank all options as in the model of Plackett and Luce. The plot
    shows the accuracy as members join, beside the best of them.
    """
    from allminds.core.settings import numbers

    given = None if weights is None else numbers(weights, "--weights")
    group = _Vote(rule, options, ties, correlation, given)
    found = group.accuracy(members)
    reach = group.bounds(members)
    joined = [members[:n] for n in range(1, len(members) + 1)] if plot else []
    lines = [("the vote", len(of), group.accuracy(of).accuracy) for of in joined]
    lines += [("the best member", len(of), max(of)) for of in joined]
    draw_accuracy(plot, lines, "members")
    if as_json:
        of = reach and reach._asdict()
        print_json(found._asdict() | {"correlation": correlation, "bounds": of})
        return
    sampled = f" ± {found.stderr:.4f} (standard error, sampled)" if found.stderr else ""
    common = f" with a latent correlation of {correlation:g}" if correlation > 0 else ""
    print(f"{found.accuracy:.4f}{sampled}{common}")
    if group.ranked:
        print("if rankings are those of Plackett and Luce, and errors independent")
    if reach is None:
        return
    loose = "" if reach.sharp else " (bounds that hold, but may not be reached)"
    kinds = "any rankings and any dependence" if group.ranked else "any dependence"
    print(f"with {kinds} between members: {reach.low:.4f} to {reach.high:.4f}{loose}")


@dataclass(frozen=True)
class _Vote:
    """How a group votes, and how its members' errors go together."""

    rule: str
    options: int
    ties: Any
    correlation: float
    weights: list[float] | None

    def __post_init__(self) -> None:
        if self.rule not in VOTES:
            raise Error(f"there is no rule '{self.rule}'; {nearest(self.rule, VOTES)}")
        if self.weights is not None and self.rule != "majority":
            raise Error(f"--weights are for votes of two options; leave out --rule {self.rule}")
        if self.correlation and self.ranked:
            raise Error(f"a correlation of rankings is not modelled; leave it out for {self.rule}")

    @property
    def ranked(self) -> bool:
        """True if members rank all options."""
        return self.rule in VOTES[2:]

    def accuracy(self, members: list[float]) -> VoteAccuracy:
        """Compute the accuracy of a group of such members, with its error if it is sampled."""
        from allminds import voting

        if self.correlation and len(members) > MOST_CORRELATED:
            raise Error(
                f"a vote with a correlation is computed for {MOST_CORRELATED:,} members or fewer, "
                f"and this group has {len(members):,}"
            )
        if self.ranked:
            from allminds.core.seeding import Random

            drawn = Random(1)
            return voting.ranked_accuracy(members, self.options, self.rule, self.ties, drawn)
        if self.weights is not None:
            some = self.weights[: len(members)]
            found = voting.correlated_weighted(members, some, self.correlation, self.ties)
        elif self.rule == "plurality":
            found = voting.correlated_plurality(members, self.correlation, self.options)
        else:
            found = voting.correlated_majority(members, self.correlation, self.ties)
        return voting.VoteAccuracy(found, 0.0)

    def bounds(self, members: list[float]) -> WeightedBounds | None:
        """Return the least and greatest accuracy with any dependence, or None where unknown."""
        from allminds import voting

        if self.weights is not None:
            return voting.weighted_bounds(members, self.weights, self.ties)
        if self.ranked:
            if not voting.few_ballots(len(members), self.options):
                return None
            found = voting.ranked_bounds(members, self.options, self.rule, self.ties)
        elif self.rule == "plurality":
            found = voting.plurality_bounds(members, self.options)
        else:
            found = voting.bounds(members, self.ties)
        return voting.WeightedBounds(*found, True)


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
