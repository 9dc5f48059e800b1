"""allminds testbed, complexity and calibrate: what a test is worth, and how far to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import (
    DESIGN,
    BudgetOption,
    DryRunOption,
    JsonOption,
    MaxCostOption,
    PlotOption,
    PriceOption,
    ReplyTokensOption,
    SettingOption,
    app,
    budget_of,
    complete_instrument,
    print_json,
    print_line,
    settings_of,
)
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.statistics.testbed.trial import Reliance

USUAL = [("rel", 0.95), ("generalisability", 0.9)]  # budgets that are shown if none is asked for


@app.command(
    "testbed",
    rich_help_panel=DESIGN,
    epilog="Example: allminds testbed prisoners-dilemma --set steps=5 "
    "--minds cooperate,defect,random,tit-for-tat",
)
def social_testbed(
    environment: Annotated[
        str, typer.Argument(help="Its name; see allminds list.", autocompletion=complete_instrument)
    ],
    minds: Annotated[
        str | None,
        typer.Option(metavar="MIND,…", help="The minds that play; by default the usual ones."),
    ] = None,
    setting: SettingOption = None,
    weights: Annotated[
        str | None, typer.Option(metavar="W,…", help="Weights of the minds; by default equal.")
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--sampled",
            help="Compute exact results, or sample; by default exact where possible.",
        ),
    ] = None,
    episodes: Annotated[
        int,
        typer.Option(
            min=2, max=10**6, help="The number of episodes to play if results are sampled."
        ),
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same episodes.")] = 1,
    budget: BudgetOption = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
    reply_tokens: ReplyTokensOption = 300,
) -> None:
    """Measure what an environment and some minds are worth as a test: instrumental properties.

    The properties are those of Insa-Cabrera and Hernández-Orallo (2015). Results are exact where
    every mind gives its chances of acting, and sampled elsewhere.
    """
    from allminds import registry
    from allminds.core.line_up import parse_all
    from allminds.core.settings import numbers
    from allminds.core.spending import spending
    from allminds.statistics.testbed.bed import Weights
    from allminds.statistics.testbed.surveys import default_minds, survey
    from allminds.terminal import working
    from allminds.terminal.survey import show_survey
    from allminds.terminal.tables import say

    wanted = budget_of(budget)
    tool = registry.make_instrument(environment, settings_of(setting))
    who = default_minds(tool) if minds is None else [str(name) for name in parse_all(minds)]
    counted = Weights(minds=numbers(weights, "--weights") if weights else None)
    with spending(max_cost, price, dry_run, reply_tokens) as ledger, working(environment):
        found = survey(tool, who, exact, episodes, seed, counted)
    if dry_run:
        print_json({"llm": ledger.as_json()}) if as_json else print(ledger)
        return
    if plot is not None:
        from allminds.report.charts.testbed import draw_testbed

        draw_testbed(found, plot)
    settings = tool.settings.model_dump(mode="json")
    if as_json:
        more: dict[str, Any] = {"settings": settings, "seed": seed}
        if wanted is not None:
            more["budget"] = {"figure": wanted[0], "wanted": wanted[1],
                              "exercises": _exercises(found.reliance, *wanted)[0]}  # fmt: skip
        more |= {"llm": ledger.as_json()} if ledger.calls else {}
        print_json(found.as_json() | more)
        return
    show_survey(found, settings)
    if ledger.calls:
        say(str(ledger))
    for figure, value in [wanted] if wanted else USUAL:
        say(_exercises(found.reliance, figure, value)[1])


def _exercises(found: Reliance, figure: str, wanted: float) -> tuple[int | None, str]:
    """Compute how many exercises a wanted reliability takes, and a sentence about it."""
    what = f"Exercises a mind needs for {figure} {wanted:g}"
    try:
        count = found.budget(figure, wanted)
    except Error as error:
        return None, f"{what}: {error}."
    return count, f"{what}: {count:,}."


# ---------------------------------------------------------------- complexity


@app.command(
    rich_help_panel=DESIGN,
    epilog="Example: allminds complexity 7,3,4,9,8,7,3,4,9,8 --measure lz76  |  "
    "allminds complexity abcdabcd --measure levin",
)
def complexity(
    sequence: Annotated[str, typer.Argument(help="Characters, or symbols with commas.")],
    measure: Annotated[
        str | None, typer.Option(help="One of the simulations; by default all the quick ones.")
    ] = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Measure how complex a sequence is; by levin also why, and how it goes on.

    The plot shows the complexity of the sequence as it grows.
    """
    from allminds.complexity import MEASURES
    from allminds.complexity import measure as measured
    from allminds.terminal import show_listing

    quick = [name for name, kind in MEASURES.items() if not kind.slow]
    name = measure or "lz76"
    if plot is not None:
        _draw(sequence, [measure] if measure else quick, plot)
    if as_json or measure:
        found = _explained(sequence) if name == "levin" else {"value": measured(sequence, name)}
        if as_json:
            print_json({"measure": name, **found})
        else:
            _say(found)
        return
    show_listing(
        [
            {
                "measure": name,
                "value": f"{measured(sequence, name):g}" if name in quick else "by its name",
                "what": kind.description,
            }
            for name, kind in MEASURES.items()
        ]
    )


def _explained(series: str) -> dict[str, Any]:
    """Return k, the cheapest program, and the next letter."""
    from allminds.complexity.levin import complexity, continued, describe, printed
    from allminds.terminal import working

    with working("searching programs"):
        found = complexity(series)
        return {
            "value": found.value,
            "k": found.k,
            "program": printed(found.program),
            "explanation": describe(found.program, series[0]),
            "next": continued(series),
        }


def _say(found: dict[str, Any]) -> None:
    if "k" not in found:
        print(f"{found['value']:g}")
        return
    print(f"k = {found['k']} (reconstructed; {found['value']:.2f} in full)")
    print(found["program"])
    print(found["explanation"])
    print(f"next: {found['next']}")


def _draw(sequence: str, names: list[str], out: Any) -> None:
    from allminds.complexity import growth
    from allminds.report.charts.files import draw_lines

    points = [(name, n, value) for name in names for n, value in growth(sequence, name)]
    draw_lines(points, "symbols", "complexity", out)


# ---------------------------------------------------------------- calibrate


@app.command(
    rich_help_panel=DESIGN,
    epilog="Example: allminds calibrate --quick  |  "
    "allminds calibrate --only 'paired hits' --repeats 20000  |  "
    "allminds calibrate --full --out docs/calibration.md",
)
def calibrate(
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repeats: about four minutes.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Many repeats: about an hour.")] = False,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", show_default="all", help="Only rows whose name contains this."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the simulation.")] = 1,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="by --quick or --full",
            help="Simulated studies a row; slow rows have fewer.",
        ),
    ] = None,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", show_default="no page", help="Write the table as a page."),
    ] = None,
) -> None:
    """Simulate intervals and verdicts where the truth is known; count how often they are wrong.

    A 95 % interval passes if it holds the truth in .93 or more (and in .98 or less, if it is an
    approximation from 20 units on); a verdict if it is false in at most 5 % of studies. A row fails
    only if the 99.9 % interval of the simulation itself lies wholly outside; then exit code 1.
    """
    from allminds.statistics import calibration
    from allminds.terminal import watching

    if quick and full:
        raise Error("choose --quick or --full, not both")
    size = "quick" if quick else "full" if full else "medium"
    times = repeats or calibration.REPEATS[size]
    rows = calibration.chosen(calibration.rows(), only)
    found: list[calibration.Found] = []
    with watching() as progress:
        progress("rows", 0, len(rows))
        for one in calibration.calibrate(rows, times, seed):
            found.append(one)
            progress("rows", len(found), len(rows))
    wrong = calibration.failures(found)
    if out is not None:
        command = "allminds calibrate" + ("" if size == "medium" else f" --{size}")
        command += f" --repeats {repeats}" if repeats else ""
        out.write_text(calibration.page(found, f"{command} --seed {seed} --out {out}"), "utf-8")
    if as_json:
        print_json({"rows": [_plain(one) for one in found], "failures": wrong})
    elif out is not None:
        print_line(f"page: {out}")
    else:
        _show(found)
    if not as_json:
        print("\n".join([*wrong, f"{len(found) - len(wrong)} of {len(found)} rows pass the gate"]))
    if wrong:
        raise typer.Exit(1)


def _plain(one: Any) -> dict[str, Any]:
    """Return the figures of a row, by name."""
    row = one.row
    return {
        "section": row.section, "name": row.name, "kind": row.kind, "nominal": row.nominal,
        "allowed": row.allowed, "wrong": one.wrong, "total": one.total, "rate": one.rate,
        "interval": one.interval, "passes": one.passes,
    }  # fmt: skip


def _show(found: list[Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    from allminds.statistics.calibration import CAPTIONS, cells
    from allminds.terminal.tables import figures_table

    console = Console()
    for section in dict.fromkeys(one.row.section for one in found):
        table = figures_table(["situation"], list(CAPTIONS))
        table.title, table.title_justify = section, "left"
        for one in found:
            if one.row.section == section:
                table.add_row(Text(one.row.name), *map(Text, cells(one)))
        console.print(table)
