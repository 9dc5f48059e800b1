"""allminds make and reproduce: questions as data sets, and the papers' tables and figures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin

import typer
from typer.core import TyperGroup

from allminds.cli.app import (
    DATA,
    InstrumentArgument,
    JsonOption,
    PlotOption,
    SettingOption,
    app,
    print_json,
    print_line,
    settings_of,
)
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.presentation import Generator

OutOption = Annotated[Path, typer.Option(help="A new folder.")]
JobsOption = Annotated[int, typer.Option(min=1, max=1024, help="Threads or processes.")]
SeedOption = Annotated[int, typer.Option(help="The same seed makes the same questions.")]


class Makers(TyperGroup):
    """The commands of `make`: items, and one for every generator of an instrument."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands; the instruments are imported for it."""
        return [*super().list_commands(ctx), *generators()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a generator, or of `items`."""
        found = super().get_command(ctx, cmd_name)
        if found is None and (generator := generators().get(cmd_name)):
            one = typer.Typer(rich_markup_mode="rich", add_completion=False)
            one.command(cmd_name, help=generator.__doc__, epilog=generator.example)(
                command_of(cmd_name, generator)
            )
            found = typer.main.get_command(one)
        return found


make = typer.Typer(cls=Makers, help="Questions as data sets.", no_args_is_help=True)
app.add_typer(make, name="make", rich_help_panel=DATA)


@make.command(epilog="Example: allminds make items c-test --set form=generated --out items.jsonl")
def items(
    instrument: InstrumentArgument,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A file of JSON lines.")],
    setting: SettingOption = None,
    count: Annotated[
        int | None,
        typer.Option(help="The number of questions; by default 100, or all of a fixed form."),
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """Write the very questions that evaluate and run give, with the exercise ids of results.

    A line each: id, question, options, answer, complexity. `make series` and `make matrices` draw
    data sets instead, whose questions are all different and tested for shortcuts.
    """
    from allminds import registry
    from allminds.bridges.exchange import write_items

    tool = registry.make_instrument(instrument, settings_of(setting))
    wanted = (tool.length or 100) if count is None else count
    print_line(f"{write_items(tool, wanted, out, seed)}: {wanted:,} items")


# ---------------------------------------------------------------- generators


def generators() -> dict[str, Generator]:
    """Collect the generators that instruments declare, by the names of their commands."""
    from allminds import registry

    found: dict[str, Generator] = {}
    for name in registry.instruments():
        try:
            found |= registry.make_instrument(name).presentation.generators()
        except Error:  # an instrument that lacks a package of its own
            continue
    return found


def command_of(name: str, generator: Generator) -> Callable[..., None]:
    """Build the function of a command: an option for every field of the generator's settings."""

    def command(
        out: Path, jobs: int, as_json: bool, plot: Path | None = None, **values: Any
    ) -> None:
        from allminds.core.settings import checked
        from allminds.terminal import show_listing, watching

        settings = checked(generator.Settings, values, f"make {name}")
        if plot is not None:
            from allminds.report.charts.files import check_name

            check_name(plot)
        with watching("the same command") as progress:
            made = generator.make(settings, out, jobs, progress)
        if plot is not None and generator.axes:
            from allminds.report.charts.files import draw_lines

            draw_lines(made.points, *generator.axes, plot)
        if as_json:
            print_json(made.figures)
        else:
            print_line(made.said)
            show_listing(made.table)

    options: dict[str, tuple[Any, Any]] = {"out": (OutOption, inspect.Parameter.empty)}
    for field, info in generator.Settings.model_fields.items():
        kind = str if get_origin(info.annotation) is Literal else info.annotation
        options[field] = (Annotated[kind, typer.Option(help=info.description)], info.default)
    options |= {"jobs": (JobsOption, 1), "as_json": (JsonOption, False)}
    options |= {"plot": (PlotOption, None)} if generator.axes else {}
    command.__annotations__ = {one: kind for one, (kind, _) in options.items()}
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by typer
        [
            inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for one, (kind, default) in options.items()
        ]
    )
    return command


# ---------------------------------------------------------------- reproduce


def _complete(incomplete: str) -> list[str]:
    """Complete the name of a paper."""
    from allminds.papers import PAPERS

    return [name for name in PAPERS if name.startswith(incomplete)]


@app.command(
    rich_help_panel=DATA,
    epilog="Example: allminds reproduce hilton chmait-2017:figure-5",
)
def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER[:FIGURE]]...",
            help="Papers and their parts; by default all. See list papers.",
            autocompletion=_complete,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("papers.html"),
    rows: Annotated[
        Path | None,
        typer.Option(show_default="none", help="The authors' rows of insa-cabrera-2011."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the papers' figures and numbers again, ours beside theirs, on one page."""
    from allminds.papers import asked_for, figure, write_page
    from allminds.terminal import show_listing, watching

    chosen = asked_for(what or [], rows)
    with watching() as progress:
        found = write_page(chosen, out, rows, progress)
    claims = [
        {
            "paper": one["name"], "where": claim.where, "what": claim.what,
            "printed": claim.printed, "ours": claim.ours, "precision": claim.precision,
            "error": claim.error, "agrees": claim.agrees, "note": claim.note,
        }
        for one in found for claim in one["claims"]
    ]  # fmt: skip
    if as_json:
        print_json({"page": str(out), "claims": claims})
        return
    if claims:
        show_listing([
            {
                "paper": claim["paper"], "where": claim["where"], "what": claim["what"],
                "printed": claim["printed"], "ours": figure(claim["ours"]),
                "": "" if claim["agrees"] else "differs",
            }
            for claim in claims
        ])  # fmt: skip
        print(f"{sum(claim['agrees'] for claim in claims)} of {len(claims)} printed numbers agree")
    print_line(f"page: {out}")
