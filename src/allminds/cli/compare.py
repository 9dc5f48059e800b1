"""allminds compare: minds, people and groups side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import (
    READ,
    BudgetOption,
    JsonOption,
    TrustOption,
    VerboseOption,
    app,
    budget_of,
    complete_instrument,
    complete_mind,
    print_json,
)
from allminds.core.errors import Error, nearest

if TYPE_CHECKING:
    import pandas as pd

    from allminds.contracts import Instrument
    from allminds.inference import Difference
    from allminds.statistics.comparison import Comparison
    from allminds.statistics.learning import Learning

TESTS = "test"  # the column of tests, if exercises come in tests


@app.command(
    rich_help_panel=READ,
    epilog="Example: allminds compare runs/1 runs/2  |  allminds compare runs/p3 --by cells",
)
def compare(
    run: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN …", help="Run folders, imported folders, CSV files or studies' databases."
        ),
    ],
    as_json: JsonOption = False,
    mind: Annotated[
        list[str] | None,
        typer.Option(
            "--mind",
            "-m",
            show_default="all",
            help="Compare these minds only.",
            autocompletion=complete_mind,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="MIND",
            show_default="every pair",
            help="Compare every mind with this one only.",
            autocompletion=complete_mind,
        ),
    ] = None,
    instrument: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="all",
            help="Compare on this instrument only.",
            autocompletion=complete_instrument,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", show_default="no figure", help="Draw the differences: .svg or .png."
        ),
    ] = None,
    margin: Annotated[float, typer.Option(help="δ: the least difference that matters.")] = 0.05,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", show_default="none", help="A factor, such as cells."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of tests that exercises come in; by default test, if it exists.",
        ),
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Also compare minds without a common exercise.")
    ] = False,
    with_excluded: Annotated[
        bool,
        typer.Option("--with-excluded", help="Keep participants whom their study's rule excludes."),
    ] = False,
    budget: BudgetOption = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the resampling.")] = 1,
    trust: TrustOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compare minds, people and groups on the exercises that they have in common.

    The scores are those that evaluate prints. A pair is different if p is below .05, equivalent if
    the 90 % interval lies within the margin, both corrected for all pairs asked; else undecided.
    --verbose adds correlations with complexity, reaction times and reliability.
    """
    import numpy as np

    from allminds import registry
    from allminds.cli.study import exported
    from allminds.runs.imports import provenance, read_choices, read_together, tools_of
    from allminds.statistics import comparison

    registry.built_in_only("compare", trust)
    wanted = budget_of(budget)
    with exported(run) as places:
        frame, left_out = read_together(places), ""
        if not with_excluded:
            frame, left_out = comparison.included(frame)
        parts, notes = _instruments(_only(frame, instrument), unpaired)
        notes += [f"{left_out}; --with-excluded keeps them."] if left_out else []
        tools, choices = tools_of(places), read_choices(places)
        parity = [said for path in places for said in provenance(path).get("parity", ())]
    there = {name: comparison.sides(frame) for name, frame in parts.items()}
    known = set().union(*there.values())
    for name in (*(mind or ()), *([baseline] if baseline else ())):
        if name not in known:
            raise Error(f"there is no mind '{name}' in the results; {nearest(name, known)}")
    found: dict[str, Comparison] = {}
    for name, frame in parts.items():
        if baseline and baseline not in there[name]:
            notes.append(f"{name}: {baseline} did not take it; nothing to compare.")
            continue
        first = frame.iloc[0]
        found[name] = comparison.compare(
            frame, np.random.default_rng(seed), unit=_there(unit, parts, name) or _tests(frame),
            by=_there(by, parts, name), margin=margin, allow_unpaired=unpaired,
            tool=tools.get((first["instrument"], first["settings"])),
            minds=[who for who in mind or () if who in there[name]],
            baseline=baseline, choices=choices,
        )  # fmt: skip
    learnt = _learnt(parts, tools, margin)
    budgets = {name: _exercises(one, wanted) for name, one in found.items()} if wanted else {}
    if plot:
        from allminds.report.charts.drawing import forest
        from allminds.report.charts.files import save

        save(forest(_pairs(found)), plot)
    if as_json:
        rows = [
            {"instrument": name, **one.as_json(), "budget": budgets.get(name, (None, ""))[0]}
            for name, one in found.items()
        ]
        settings = {"margin": margin, "by": by, "seed": seed, "budget": budget}
        said = {"notes": notes, "parity": parity}
        more = {"learning": learnt.as_json()} if learnt else {}
        print_json({"runs": run, **settings, "comparisons": rows, **more, **said})
        return
    from allminds.terminal.comparison import show_comparisons, show_learning
    from allminds.terminal.tables import say

    show_comparisons(found, verbose)
    if learnt:
        show_learning(learnt, verbose)
    for name in budgets:
        say(f"{name}: {budgets[name][1]}" if len(found) > 1 else budgets[name][1])
    for note in notes:
        say(note)
    if parity:
        say("Where people's test is not the programs':", "bold")
    for sentence in parity:
        say(f"  {sentence}")


# ---------------------------------------------------------------- what is compared with what


def _only(frame: pd.DataFrame, instrument: str | None) -> pd.DataFrame:
    """Select the results on one instrument, if one was asked for."""
    if instrument is None:
        return frame
    known = sorted(set(frame["instrument"].astype(str)))
    if instrument not in known:
        raise Error(f"there are no results on '{instrument}'; {nearest(instrument, known)}")
    return frame[frame["instrument"] == instrument].reset_index(drop=True)


def _instruments(frame: pd.DataFrame, unpaired: bool) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Split the table by instrument and settings, where there are two minds or more.

    Scores of different instruments are never put side by side: they make a profile, not a sum.
    """
    keys = ["instrument"] if unpaired else ["instrument", "settings"]
    parts: dict[Any, pd.DataFrame] = dict(iter(frame.groupby(keys, sort=False, observed=True)))
    shared: dict[str, set[Any]] = {
        str(source): {place for place, part in parts.items() if source in set(part["source"])}
        for source in frame["source"].unique()
    }
    first, *others = shared
    for other in others:
        if not any(shared[other] & shared[source] for source in shared if source != other):
            raise Error(
                f"{first} and {other} have no exercise in common, not even an instrument with the "
                "same settings; give their minds the same test"
            )
    count = frame.groupby("instrument", observed=True)["settings"].nunique()
    named, notes = {}, []
    for place, part in parts.items():
        name = str(place[0]) or "imported"
        if not unpaired and count[place[0]] > 1:
            name += f" {place[1]}"
        if part["mind"].nunique() > 1:
            known = part.notna().any() | part.columns.isin(["score"])
            named[name] = part.loc[:, known].reset_index(drop=True)
        else:
            notes.append(f"{name}: only {part['mind'].iloc[0]} was measured; nothing to compare.")
    if not named:
        raise Error("no two minds took the same instrument, so there is nothing to compare")
    return named, notes


def _there(column: str | None, parts: dict[str, pd.DataFrame], name: str) -> str | None:
    """Return a column that was asked for, on the instruments that have it; one of them must."""
    if column is None or column in parts[name]:
        return column
    return None if any(column in part for part in parts.values()) else column


def _tests(frame: pd.DataFrame) -> str | None:
    """Return the column of tests, if every exercise is in one and some test has several."""
    if TESTS not in frame or frame[TESTS].isna().any():
        return None
    return TESTS if frame[TESTS].nunique() < frame["exercise"].nunique() else None


def _exercises(found: Comparison, wanted: tuple[str, float]) -> tuple[int | None, str]:
    """Compute the budget of a wanted reliability, and a sentence about it."""
    what = f"{wanted[0]} {wanted[1]:g}"
    try:
        count = found.reliability.budget(*wanted)
    except Error as error:
        return None, f"Exercises for {what}: {error}."
    return count, f"Exercises for {what}: {count:,}."


def _learnt(
    parts: dict[str, pd.DataFrame], tools: dict[Any, Instrument], margin: float
) -> Learning | None:
    """Measure what minds learnt in those tests that are courses; None if there is none."""
    from allminds.statistics.courses import design_of
    from allminds.statistics.learning import learning

    known = [
        (tools.get((f["instrument"].iloc[0], f["settings"].iloc[0])), f) for f in parts.values()
    ]
    courses = [(tool, frame) for tool, frame in known if tool is not None and design_of(tool)]
    return learning(courses, margin) if courses else None


def _pairs(found: dict[str, Comparison]) -> list[tuple[str, Difference]]:
    return [
        (f"{name}: {one.pair}" if len(found) > 1 else one.pair, one)
        for name, comparison in found.items()
        for one in comparison.differences
    ]
