"""Making data sets: allminds make series, allminds make matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import JsonOption, app, print_json
from allminds.cli.reading import whole_numbers
from allminds.errors import Error

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
) -> None:
    """Certified letter series of wanted complexity, as JSON lines and CSV."""
    from typing import get_args

    from allminds.instruments.series import datasets
    from allminds.instruments.series.bank import Form
    from allminds.screen import show_listing, working

    forms = [one for one in get_args(Form) if form in (one, "both")]
    if not forms:
        raise Error(f"there is no form '{form}': choose induction, abduction or both")
    if options not in (5, 26):
        raise Error(f"--options {options} will not do; choose 26 for a free answer, or 5")
    with working("certifying questions") as said:
        found = datasets.chosen(whole_numbers(k, "--k"), count, forms, seed, jobs, said)
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
