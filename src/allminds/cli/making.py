"""Making data sets: allminds make series, allminds make matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import JsonOption, PlotOption, app, print_json
from allminds.cli.reading import whole_numbers
from allminds.core.errors import Error

make = typer.Typer(help="Questions as data sets.", no_args_is_help=True)
app.add_typer(make, name="make")

OutOption = Annotated[Path, typer.Option(help="A new folder.")]
SeedOption = Annotated[int, typer.Option(help="The same seed makes the same questions.")]


@make.command(epilog="Example: allminds make series --k 7..12 --count 500 --out questions")
def series(
    out: OutOption,
    k: Annotated[str, typer.Option(help="Complexities: a value or low..high, 7..15.")] = "7..15",
    count: Annotated[int, typer.Option(min=1, help="How many, over all k.")] = 100,
    form: Annotated[str, typer.Option(help="induction, abduction or both")] = "induction",
    options: Annotated[int, typer.Option(help="26 for a free answer, or 5.")] = 26,
    seed: SeedOption = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Threads.")] = 1,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Certified letter series of wanted complexity, as JSON lines and CSV.

    The plot shows how many letters it takes to make a question certain, by complexity.
    """
    from typing import get_args

    from allminds.instruments.series import datasets
    from allminds.instruments.series.items import Form
    from allminds.terminal import show_listing, working

    forms = [one for one in get_args(Form) if form in (one, "both")]
    if not forms:
        raise Error(f"there is no form '{form}': choose induction, abduction or both")
    if options not in (5, 26):
        raise Error(f"--options {options} will not do; choose 26 for a free answer, or 5")
    with working("certifying questions") as said:
        found = datasets.chosen(whole_numbers(k, "--k"), count, forms, seed, jobs, said)
    if plot is not None:
        from allminds.report.figure import draw_lines

        draw_lines(datasets.letters_by_k(found), "complexity k", "letters shown, mean", plot)
    shortcuts = datasets.write(found, out, seed, options)
    blind = [
        {"shortcut": one.name, "hits": one.hits, "chance": one.chance, "stderr": one.stderr}
        for one in shortcuts
    ]
    if as_json:
        print_json({"out": str(out), "questions": len(found), "blind": blind})
        return
    print(f"{len(found):,} questions in {out}; what a mind gets that does not see the series:")
    show_listing([
        {
            "it always takes": one.name, "hits": f"{one.hits:.3f}",
            "chance": f"{one.chance:.3f} ± {one.stderr:.3f}",
            "": "" if one.at_chance else "not at chance",
        }
        for one in shortcuts
    ])  # fmt: skip


@make.command(
    epilog="Example: allminds make matrices --count 10000 --rules 2 --format parquet --out matrices"
)
def matrices(
    out: OutOption,
    count: Annotated[int, typer.Option(min=1, help="How many, all different.")] = 1000,
    rules: Annotated[str, typer.Option(help="Rules of a matrix: 1, 2, 3, or any.")] = "any",
    format_: Annotated[
        str, typer.Option("--format", help="parquet, imagefolder, npz or jsonl")
    ] = "parquet",
    candidates: Annotated[int, typer.Option(help="Options: 4, or 8 with --rules 3.")] = 4,
    size: Annotated[int, typer.Option(help="Pixels along a panel, 64 to 1024.")] = 160,
    regime: Annotated[
        str, typer.Option(help="What is held out of train: neutral for nothing; see the docs.")
    ] = "neutral",
    kinds: Annotated[str | None, typer.Option(help="Kinds of rules, with commas.")] = None,
    attributes: Annotated[str | None, typer.Option(help="Attributes they govern.")] = None,
    composites: Annotated[bool, typer.Option(help="With pictures of whole problems.")] = True,
    seed: SeedOption = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Matrices in the style of Raven, with images, attributes and a data card.

    If it is interrupted, the same command goes on where it stopped.
    """
    from allminds.core.settings import checked
    from allminds.instruments.matrices.dataset import writing as datasets
    from allminds.instruments.matrices.dataset.files import said
    from allminds.instruments.matrices.dataset.items import Recipe
    from allminds.instruments.matrices.environment import made
    from allminds.terminal import show_listing, watching

    chosen = {"kinds": kinds, "attributes": attributes}
    settings = made(
        rules=rules, candidates=candidates, **{name: text for name, text in chosen.items() if text}
    )
    asked = {
        "count": count, "seed": seed, "settings": settings, "regime": regime, "format": format_,
        "size": size, "composites": composites,
    }  # fmt: skip
    with watching("the same command") as progress:
        found = datasets.make(checked(Recipe, asked, "make matrices"), out, jobs, progress)
    table = [
        {"shortcut": one.name, "hits": one.hits, "chance": one.chance, "stderr": one.stderr}
        for one in found.battery
    ]
    each = found.total_bytes / found.items
    if as_json:
        print_json({
            "out": str(out), "items": found.items, "splits": found.splits, "bytes": each,
            "battery": table,
        })  # fmt: skip
        return
    splits = ", ".join(f"{number:,} {name}" for name, number in found.splits.items())
    print(f"{found.items:,} matrices in {out} ({splits}), {each:,.0f} bytes each")
    show_listing([
        {
            "shortcut": one.name, "accuracy": f"{one.hits:.3f}",
            "chance": f"{one.chance:.3f} ± {one.stderr:.3f}", "": said(one),
        }
        for one in found.battery
    ])  # fmt: skip
