"""allminds plan-size: how many exercises a wanted precision takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import (
    DESIGN,
    JsonOption,
    PlotOption,
    SettingOption,
    TrustOption,
    app,
    complete_instrument,
    complete_mind,
    print_json,
    settings_of,
)
from allminds.core.errors import Error, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from allminds.contracts import Instrument
    from allminds.statistics.pilot import Pilot
    from allminds.statistics.planning import Answer, Wanted

EXERCISES = 200  # of a pilot on the spot; of an adaptive test, so many administrations:
ADMINISTRATIONS = 10
USUAL = (0.02, 0.02, 0.9, 0.95)  # interval, difference, reliability and rel, if none is named
MOST_LINES = 9  # of a figure
MOST_PAIRS = 10  # on the screen
SIGNS = {
    "interval": "± score", "difference": "± difference",
    "generalisability": "Eρ²", "dependability": "Φ", "rel": "Rel",
}  # fmt: skip


@app.command(
    "plan-size",
    rich_help_panel=DESIGN,
    epilog="Example: allminds plan-size runs/1 --interval .02  |  "
    "allminds plan-size --instrument c-test -m mode -m levin-search --reliability .9",
)
def plan_size(
    pilot: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PILOT]",
            show_default="one made now",
            help="A run folder, imported folder, CSV or Parquet.",
        ),
    ] = None,
    instrument: Annotated[
        str | None,
        typer.Option(
            show_default="none",
            help="Or make a pilot now, on this instrument.",
            autocompletion=complete_instrument,
        ),
    ] = None,
    mind: Annotated[
        list[str] | None,
        typer.Option(
            "--mind",
            "-m",
            help="The minds of the pilot; by default floor and ceiling.",
            autocompletion=complete_mind,
        ),
    ] = None,
    exercises: Annotated[
        int | None,
        typer.Option(
            "--pilot",
            min=2,
            max=10**6,
            help="The number of exercises of the pilot; by default 200.",
        ),
    ] = None,
    setting: SettingOption = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the pilot's exercises.")] = 1,
    interval: Annotated[
        float | None,
        typer.Option(
            show_default=".02 if nothing is wanted",
            help="Wanted: ± of the 95 % interval of a mind's score.",
        ),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            show_default=".02 if nothing is wanted",
            help="Wanted: ± of the 95 % interval of a paired difference.",
        ),
    ] = None,
    reliability: Annotated[
        float | None,
        typer.Option(show_default=".9 if nothing is wanted", help="Wanted: Eρ² and Φ, such as .9."),
    ] = None,
    rel: Annotated[
        float | None,
        typer.Option(
            show_default=".95 if nothing is wanted",
            help="Wanted: Rel of Insa-Cabrera and Hernández-Orallo (2015), such as .95.",
        ),
    ] = None,
    assurance: Annotated[
        float, typer.Option(help="The chance that the number is enough, .5 to 1.")
    ] = 0.8,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Compute how many exercises a wanted precision takes, from the variance in a pilot.

    Says for every instrument of the pilot how many exercises give an interval, a difference or a
    reliability that is good enough, with a chance of 0.8 unless asked for another. Without a wish,
    ±.02, .9 and .95.
    """
    from allminds.statistics.planning import Wanted, plan

    wishes = (interval, difference, reliability, rel)
    wanted = Wanted(*(USUAL if wishes == (None,) * 4 else wishes), assurance=assurance)
    if (pilot is None) == (instrument is None):
        raise Error("name a pilot that was made (a run folder or a CSV file), or --instrument")
    if pilot is not None and (mind or exercises is not None):
        raise Error("--mind and --pilot are for a pilot on the spot; leave them out, or the file")
    settings = settings_of(setting)
    if pilot is not None:
        from allminds import registry

        registry.built_in_only("plan-size", trust)
        pilots = list(_from_file(pilot, settings))
    else:
        pilots = [_on_the_spot(str(instrument), mind or [], exercises, settings, seed)]
    found = [(one, plan(one, wanted)) for one in pilots]
    if plot is not None:
        _draw(found, wanted, plot)
    if as_json:
        plans = [_as_json(*one) for one in found]
        print_json({"pilot": pilot, "seed": seed, "assurance": assurance, "plans": plans})
        return
    for one, answers in found:
        _show(one, answers, assurance)


# ---------------------------------------------------------------- the pilot


def _on_the_spot(
    instrument: str, minds: list[str], exercises: int | None, settings: dict[str, Any], seed: int
) -> Pilot:
    from allminds import registry
    from allminds.evaluate import evaluate
    from allminds.runs.run import How
    from allminds.statistics.pilot import Pilot
    from allminds.terminal import watching

    tool = registry.make_instrument(instrument, settings)
    ends = [name for name in (tool.floor_mind, tool.ceiling_mind) if name]
    usual = ADMINISTRATIONS * tool.sitting if tool.adaptive else tool.length or EXERCISES
    with watching() as progress:
        results = evaluate(
            instrument, minds or ends, settings=settings, seed=seed, how=How(progress=progress),
            episodes=usual if exercises is None else exercises, ends=False,
        )  # fmt: skip
    return Pilot.of(results.frame(), tool)


def _from_file(path: Path, settings: dict[str, Any]) -> Iterator[Pilot]:
    """Yield a pilot for every test of a run, or for every instrument and settings of a table."""
    from allminds.runs.imports import read_results
    from allminds.runs.store import RunFolder
    from allminds.statistics.pilot import Pilot

    if (path / "plan.json").is_file():
        if settings:
            raise Error("a run folder knows its settings; leave out --set")
        folder = RunFolder.open(path)
        for number, rows in folder.records().groupby("test"):
            test = folder.plan.tests[int(str(number))]
            tool = folder.tool(int(str(number)))
            yield Pilot.of(rows.drop(columns="test"), tool, _name(test.instrument, test.settings))
        return
    frame = read_results(path)
    for (name, hashed), rows in frame.groupby(["instrument", "settings"], dropna=False):
        yield Pilot.of(
            _known(rows), _tool(str(name), str(hashed), settings), str(name) or path.stem
        )


def _name(instrument: str, settings: dict[str, Any]) -> str:
    return " ".join([instrument, *(f"{key}={value}" for key, value in settings.items())])


def _known(rows: pd.DataFrame) -> pd.DataFrame:
    """Drop the columns of other instruments."""
    return rows.loc[:, rows.notna().any() | rows.columns.isin(["score"])].reset_index(drop=True)


def _tool(name: str, hashed: str, settings: dict[str, Any]) -> Instrument | None:
    """Return the instrument, if its settings are the table's; else scores are plain means."""
    from allminds import registry
    from allminds.core.settings import settings_hash

    if name not in registry.instruments():
        return None
    tool = registry.make_instrument(name, settings)
    return tool if settings_hash(tool.settings) == hashed else None


# ---------------------------------------------------------------- what is shown


def _show(pilot: Pilot, answers: list[Answer], assurance: float) -> None:
    from rich.console import Console
    from rich.text import Text

    from allminds.inference.words import number
    from allminds.terminal.tables import figures_table, say

    figures = ["wanted", "pilot", "exercises", "even", "95 % of it"]
    table = figures_table(["figure", "of"], figures)
    shown, more = _hardest(answers)
    for one in shown:
        table.add_row(
            SIGNS[one.figure], Text(printable(one.who)), f"{one.wanted:g}", number(one.pilot),
            *("–" if n is None else f"{n:,}" for n in (one.exercises, one.even)), _range(one),
        )  # fmt: skip
    say(f"{pilot.instrument}  ·  a pilot of {pilot.exercises:,} exercises", "bold")
    Console().print(table)
    said = []
    if any(one.exercises is not None for one in answers):
        said = [
            f"The exercises will do with a chance of {assurance:g} or more; those under 'even', "
            "from the pilot's variance as it is, in about half of all studies."
        ]
    for line in [*said, *more, *_reasons(answers), *pilot.notes]:
        say(line, "yellow")


def _hardest(answers: list[Answer]) -> tuple[list[Answer], list[str]]:
    """Drop the easier pairs from the answers, if there are many; add a sentence about them."""
    pairs = [one for one in answers if one.figure == "difference"]
    if len(pairs) <= MOST_PAIRS:
        return answers, []
    easier = sorted(pairs, key=lambda one: -(one.exercises or 0))[MOST_PAIRS:]
    hidden = {one.who for one in easier}
    said = f"{len(easier)} more pairs take no more exercises than these; --json has them."
    return [one for one in answers if one.figure != "difference" or one.who not in hidden], [said]


def _range(one: Answer) -> str:
    if one.exercises is None or one.low is None:
        return "–"
    return f"[{one.low:,}, {'…' if one.high is None else f'{one.high:,}'}]"


def _reasons(answers: list[Answer]) -> list[str]:
    """List the reasons why there is no answer: a sentence each, once."""
    return list(dict.fromkeys(f"{one.who}: {one.why}." for one in answers if one.why))


def _as_json(pilot: Pilot, answers: list[Answer]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "instrument": pilot.instrument,
        "exercises": pilot.exercises,
        "minds": pilot.minds,
        "answers": [asdict(one) for one in answers],
        "notes": pilot.notes,
    }


def _draw(found: list[tuple[Pilot, list[Answer]]], wanted: Wanted, out: Path) -> None:
    """Draw half the length of each mind's interval against the number of exercises."""
    from allminds.report.charts.files import draw_lines
    from allminds.statistics.planning import precision

    points: list[tuple[str, float, float]] = []
    for pilot, answers in found:
        numbers = [one.exercises for one in answers if one.figure == "interval" and one.exercises]
        most = max([2 * pilot.exercises, *(int(1.3 * n) for n in numbers)])
        before = f"{pilot.instrument}: " if len(found) > 1 else ""
        points += [
            (f"{before}{mind}", n, reach)
            for mind, n, reach in precision(pilot, most, wanted.assurance)
        ]
    if not points:
        raise Error("there is nothing to draw: the pilot cannot say how much scores vary")
    names = list(dict.fromkeys(name for name, _, _ in points))[:MOST_LINES]
    shown = [point for point in points if point[0] in names]
    if wanted.interval is not None:
        ends = min(n for _, n, _ in shown), max(n for _, n, _ in shown)
        shown += [(f"wanted ±{wanted.interval:g}", n, wanted.interval) for n in ends]
    highest = sorted(reach for _, _, reach in shown)[int(0.9 * len(shown))]
    kept = [point for point in shown if point[2] <= highest]
    draw_lines(kept, "exercises", "± of the 95 % interval", out, (0.0, highest))
