"""Results side by side: import, compare."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import JsonOption, app, print_json
from allminds.cli.reading import budget_of
from allminds.core.errors import Error, nearest

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from allminds.inference import Difference
    from allminds.statistics.comparison import Anova, Comparison
    from allminds.statistics.reliability import Reliability

MOST_SENTENCES = 6  # of verdicts explained
LONG_PAIR = 24  # letters, from which on its names stand one below the other
MOST_LINES = 60  # of a table of correlations
TESTS = "test"  # the column of tests, if exercises come in tests


@app.command(
    "import",
    epilog="Example: allminds import results.csv --out runs/people  |  "
    "allminds import LOG.eval --out runs/model",
)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What was made elsewhere.")],
    out: Annotated[Path, typer.Option(help="A new folder for the table.")],
    form: Annotated[
        str,
        typer.Option("--format", help="csv, parquet, inspect, py-irt, lambda-2011; by its ending."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Bring results made elsewhere into the common table.

    A CSV or Parquet file has a row for every play, and at least the columns exercise, mind and
    score; LOG.eval is a log of inspect eval allminds/…; and .jsonl are answers as py-irt has them.
    """
    import json

    from allminds.runs.imports import import_results

    made = json.loads((import_results(file, out, form) / "imported.json").read_text("utf-8"))
    if as_json:
        print_json({"out": str(out)} | made)
    else:
        print(
            f"{out}: {made['rows']:,} results of {', '.join(made['minds'][:8])}"
            f"{' …' if len(made['minds']) > 8 else ''} on {made['exercises']:,} exercises"
        )


@app.command(
    epilog="Example: allminds compare runs/1 runs/2  |  allminds compare runs/p3 --by cells"
)
def compare(
    run: Annotated[
        list[Path],
        typer.Argument(metavar="RUN …", help="Run folders, imported folders or CSV files."),
    ],
    as_json: JsonOption = False,
    mind: Annotated[
        list[str] | None, typer.Option("--mind", "-m", help="Compare these minds only.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="MIND", help="Compare every mind with this one only.")
    ] = None,
    instrument: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare on this instrument only.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the differences: .svg or .png.")
    ] = None,
    margin: Annotated[float, typer.Option(help="δ: the least difference that matters.")] = 0.05,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A factor, such as cells.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The tests that exercises come in; test, if there."),
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Also compare minds without a common exercise.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(metavar="FIGURE=VALUE", help="Exercises for rel=… or generalisability=…"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is resampled.")] = 1,
) -> None:
    """Compare minds, people and groups on the exercises that they have in common.

    The scores are those that evaluate prints. A pair is different if p is below .05, equivalent if
    the 90 % interval lies within the margin, both corrected for all pairs asked; else undecided.
    """
    import numpy as np

    from allminds.runs.imports import read_together, tools_of
    from allminds.statistics import comparison

    wanted = budget_of(budget)
    parts, notes = _instruments(_only(read_together(run), instrument), unpaired)
    tools = tools_of(run)
    known = {str(name) for frame in parts.values() for name in frame["mind"].unique()}
    for name in mind or ():
        if name not in known:
            raise Error(f"there is no mind '{name}' in the results; {nearest(name, known)}")
    found: dict[str, Comparison] = {}
    for name, frame in parts.items():
        first = frame.iloc[0]
        found[name] = comparison.compare(
            frame, np.random.default_rng(seed), unit=_there(unit, parts, name) or _tests(frame),
            by=_there(by, parts, name), margin=margin, allow_unpaired=unpaired,
            tool=tools.get((first["instrument"], first["settings"])),
            minds=[who for who in mind or () if who in set(frame["mind"])],
            baseline=baseline,
        )  # fmt: skip
    budgets = {name: _exercises(one, wanted) for name, one in found.items()} if wanted else {}
    if plot:
        from allminds.report.figure import save_chart
        from allminds.report.forest import forest

        save_chart(forest(_pairs(found)), plot)
    if as_json:
        rows = [
            {"instrument": name, **one.as_json(), "budget": budgets.get(name, (None, ""))[0]}
            for name, one in found.items()
        ]
        settings = {"margin": margin, "by": by, "seed": seed, "budget": budget}
        print_json({"runs": run, **settings, "comparisons": rows, "notes": notes})
        return
    for name, one in found.items():
        _show(name, one)
        if wanted:
            _say(budgets[name][1])
    for note in notes:
        _say(note)


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
        raise Error("there are no two minds on the same instrument, so nothing to compare")
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


def _pairs(found: dict[str, Comparison]) -> list[tuple[str, Difference]]:
    return [
        (f"{name}: {_pair(one)}" if len(found) > 1 else _pair(one), one)
        for name, comparison in found.items()
        for one in comparison.differences
    ]


def _pair(one: Difference) -> str:
    return f"{one.first} − {one.second}"


# ---------------------------------------------------------------- the screen


def _say(sentence: str, style: str = "") -> None:
    from rich.console import Console

    Console().print(sentence, style=style, markup=False, highlight=False)


def _show(name: str, found: Comparison) -> None:
    from rich.console import Console

    units = max(one.found.clusters for one in found.standings)
    tests = "" if found.unit == "exercise" else f" in {units:,} {found.unit}s"
    pairs = len(found.differences)
    figures = found.reliability

    def say(title: str, table: Table) -> None:
        _say(title, "bold")
        Console().print(table)

    say(f"{name}  ·  {found.exercises:,} exercises{tests}", _standings(found, _ends(name)))
    say(f"Differences (p corrected by Holm, {pairs} in all)", _differences(found))
    unlike = [one for one in found.differences if one.verdict != "different"]
    for one in unlike[:MOST_SENTENCES]:
        _say(f"{_pair(one)}: {one.words}")
    print()
    if any(one.r is not None for one in found.correlations):
        title = "Correlation of score with complexity"
        say(f"{title} (intervals over {found.unit}s)", _correlations(found))
    if found.anova:
        subjects = f"{found.anova.subjects} {found.anova.subject}s"
        say(f"Analysis of variance ({subjects} as subjects)", _anova(found.anova))
    say(
        f"Reliability, {figures.exercises:,} exercises in common: three figures, never one",
        _reliability(figures),
    )
    for note in (*_failures(found), *found.notes):
        _say(note, "yellow")


def _failures(found: Comparison) -> list[str]:
    """List what failures did to scores."""
    from allminds.inference.words import failure

    return [
        failure(asdict(one.found) | {"mind": one.mind, "ranked": one.found.ranked})
        for one in found.standings
        if one.found.failed
    ]


def _ends(name: str) -> dict[str | None, str]:
    """Return the minds that are an instrument's floor and ceiling."""
    from allminds import registry

    cls = registry.instruments().get(name.partition(" ")[0])
    return {} if cls is None else {cls.floor_mind: "floor", cls.ceiling_mind: "ceiling"}


def _standings(found: Comparison, ends: dict[str | None, str]) -> Table:
    from allminds.inference.verdict import LEVELS
    from allminds.inference.words import heading, interval, number, unit_columns

    rows = [asdict(one.found) | {"ranked": one.found.ranked} for one in found.standings]
    adaptive = any(one.note == LEVELS for one in found.differences)
    units = unit_columns(rows, adaptive)
    failed = any(row["failed"] for row in rows)
    figures = [
        "score",
        "95 % interval",
        "rank",
        "exercises",
        *(heading(n, adaptive) for n in units),
    ]
    table = _table(["mind"], figures + ["failed"] * failed)
    for one, row in zip(found.standings, rows, strict=True):
        place = "–" if row["ranked"] else "not ranked"
        if one.rank is not None and one.ranks is not None:
            low, high = one.ranks
            place = f"{one.rank}" if low == high == one.rank else f"{one.rank} [{low}–{high}]"
        cells = [number(row["score"]), interval(row["ci95"]), place, f"{row['episodes']:,}"]
        cells += [f"{row[name]:,}" for name in units] + [f"{row['failed']:,}"] * failed
        who = _plain(one.mind)
        who.append(f"  {ends[one.mind]}" if one.mind in ends else "", style="dim")
        table.add_row(who, *map(_plain, cells))
    return table


def _differences(found: Comparison) -> Table:
    from allminds.inference.words import interval, number

    table = _table(["pair"], ["diff.", "95 % interval", "p", "g"])
    table.add_column("verdict", overflow="fold")
    for one, size in zip(found.differences, found.sizes, strict=True):
        g = "–" if size is None else f"{size.value:.2f}".replace("-", "−")
        pair = _pair(one)
        if len(pair) > LONG_PAIR:
            pair = pair.replace(" − ", " −\n", 1)
        verdict = one.verdict if one.paired else f"{one.verdict}*"
        figures = [number(one.mean), interval(one.interval), _p(one.p_holm), g, verdict]
        table.add_row(_plain(pair), *map(_plain, figures))
    if not all(one.paired for one in found.differences):
        table.caption = "* each on exercises of its own: unpaired"
    return table


def _correlations(found: Comparison) -> Table:
    from allminds.inference.words import interval, number

    levels = any(one.level is not None for one in found.correlations)
    table = _table(["complexity", "mind"], ["at"] * levels + ["r", "95 % interval", "n"])
    rows = sorted(
        (one for one in found.correlations if one.r is not None),
        key=lambda one: (one.complexity, one.mind, one.level is not None),
    )
    for one in rows[:MOST_LINES]:
        at = ["all" if one.level is None else _level(one.level)] if levels else []
        figures = [one.complexity, one.mind, *at, number(one.r), interval(one.interval)]
        table.add_row(*map(_plain, figures), f"{one.exercises:,}")
    if len(rows) > MOST_LINES:
        table.caption = f"… and {len(rows) - MOST_LINES} more with --json"
    return table


def _anova(anova: Anova) -> Table:
    from allminds.inference.words import number

    names = ["F", "p", "ε", "p corrected", "partial η²"]
    table = _table(["effect", "degrees"], names)
    for one in anova.effects:
        figures = [
            " × ".join(one.factors), f"{one.freedom[0]:g}, {one.freedom[1]:g}",
            "–" if one.f is None else f"{one.f:.4f}", _p(one.p), number(one.epsilon),
            _p(one.p_corrected), number(one.eta),
        ]  # fmt: skip
        table.add_row(*map(_plain, figures))
    table.caption = "ε of Greenhouse and Geisser; p corrected by it"
    return table


def _reliability(figures: Reliability) -> Table:
    from allminds.inference.words import interval, number

    table = _table(["figure"], ["value"])
    table.add_column("what it is", overflow="fold")
    table.add_row("Rel = e^(−TE)", number(figures.rel), "near 1 for most means; scale-bound")
    errors = figures.stderr or ()
    most = max(errors) if errors else None
    table.add_row("√TE", number(most), "standard error of measurement, the largest of the minds")
    said = f"95 % {interval(figures.interval)}" if figures.interval else figures.why
    table.add_row("Eρ²", number(figures.generalisability), _plain(f"generalisability, {said}"))
    table.add_row("Φ", number(figures.dependability), "the same, on exercises of one's own")
    return table


def _table(names: list[str], figures: list[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE, pad_edge=False, collapse_padding=True, caption_justify="left"
    )  # fmt: skip
    for name in names:
        table.add_column(name, overflow="fold")
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _plain(text: str) -> Any:
    """Make text that is shown as it is, brackets and all."""
    from rich.text import Text

    return Text(text)


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<.0001" if value < 0.0001 else f"{value:.4f}".lstrip("0") if value < 1 else "1"
