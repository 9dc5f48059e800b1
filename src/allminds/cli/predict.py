"""allminds predict: how accurate a mind is on tasks of some difficulty."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from allminds.cli.app import MODEL, app, print_json
from allminds.cli.options import JsonOption, PlotOption
from allminds.core.errors import Error

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
