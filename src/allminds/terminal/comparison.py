"""The comparison of minds on one instrument, and what they learnt, as tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from allminds import registry
from allminds.core.errors import printable
from allminds.inference.verdict import LEVELS, odds_explained
from allminds.inference.words import failure, heading, interval, number, unit_columns
from allminds.statistics.learning_words import Sheet, sheets
from allminds.terminal.tables import Name, figures_table, say

if TYPE_CHECKING:
    from allminds.inference import Difference
    from allminds.statistics.comparison import Anova, Comparison, ReactionTimes
    from allminds.statistics.learning import Change, Learning
    from allminds.statistics.reliability import Reliability

MOST_SENTENCES = 6  # of verdicts explained
MOST_PAIRS = 12  # of differences on one screen
LONG_PAIR = 24  # letters, from which on its names stand one below the other
MOST_LINES = 60  # of a table of correlations
MOST_CHANGES = 14  # on one screen


def show_comparison(name: str, found: Comparison, verbose: bool = False) -> None:
    """Print the comparison of the minds on one instrument: scores, differences and verdicts.

    If `verbose`, also correlations with complexity, reaction times and reliability.
    """
    units = max(one.found.clusters for one in found.standings)
    tests = "" if found.unit == "exercise" else f" in {units:,} {found.unit}s"
    pairs = len(found.differences)
    figures = found.reliability

    def tell(title: str, table: Table) -> None:
        say(title, "bold")
        Console().print(table)

    title = f"{name}  ·  {_counted(found.exercises, 'exercise')}{tests}"
    tell(title, _standings(found, _ends(name)))
    most = None if verbose else MOST_PAIRS
    tell(f"Differences (p corrected by Holm, {pairs} in all)", _differences(found, most))
    _say_more(0 if most is None else pairs - most)
    unlike = [one for one in found.differences[:most] if one.verdict != "different"]
    for one in unlike[:MOST_SENTENCES]:
        say(f"{one.pair}: {one.words}")
    for sentence in odds_explained(found.differences[:most]):
        say(sentence)
    if verbose and any(one.r is not None for one in found.correlations):
        title = "Correlation of score with complexity"
        tell(f"{title} (intervals over {found.unit}s)", _correlations(found))
    if found.anova:
        subjects = f"{found.anova.subjects} {found.anova.subject}s"
        tell(f"Analysis of variance ({subjects} as subjects)", _anova(found.anova))
    if verbose and found.times:
        for title, table in _times(found.times):
            tell(title, table)
    if verbose:
        title = f"Reliability, {_counted(figures.exercises, 'unit')} in common"
        tell(f"{title}: three figures, never one", _reliability(figures))
    times = found.times.notes if found.times else ()
    for note in (*_failures(found), *found.notes, *times):
        say(note, "yellow")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _failures(found: Comparison) -> list[str]:
    """List what failures did to scores."""
    return [
        failure(asdict(one.found) | {"mind": one.mind, "ranked": one.found.ranked})
        for one in found.standings
        if one.found.failed
    ]


def _ends(name: str) -> dict[str | None, str]:
    """Return the minds that are an instrument's floor and ceiling."""
    cls = registry.instruments().get(name.partition(" ")[0])
    return {} if cls is None else {cls.floor_mind: "floor", cls.ceiling_mind: "ceiling"}


def _standings(found: Comparison, ends: dict[str | None, str]) -> Table:
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
    table = figures_table(["mind"], figures + ["failed"] * failed)
    for one, row in zip(found.standings, rows, strict=True):
        place = "–" if row["ranked"] else "not ranked"
        if one.rank is not None and one.ranks is not None:
            low, high = one.ranks
            place = f"{one.rank}" if low == high == one.rank else f"{one.rank} [{low}–{high}]"
        cells = [number(row["score"]), interval(row["ci95"]), place, f"{row['episodes']:,}"]
        cells += [f"{row[name]:,}" for name in units] + [f"{row['failed']:,}"] * failed
        mark = f"  {ends[one.mind]}" if one.mind in ends else ""
        table.add_row(Name(one.mind, mark, "dim"), *map(Text, cells))
    return table


def _differences(found: Comparison, most: int | None = None) -> Table:
    table = figures_table(["pair"], ["diff.", "95 % interval", "p", "g"])
    table.add_column("verdict", overflow="fold")
    for one, size in list(zip(found.differences, found.sizes, strict=True))[:most]:
        g = "–" if size is None else f"{size.value:.2f}".replace("-", "−")
        verdict = one.verdict if one.paired else f"{one.verdict}*"
        figures = [number(one.mean), interval(one.interval), _p(one.p_holm), g, verdict]
        table.add_row(_pair(one), *map(Text, figures))
    if not all(one.paired for one in found.differences):
        table.caption = "* each on exercises of its own: unpaired"
    return table


def _pair(one: Difference) -> Text | Group:
    if len(one.pair) <= LONG_PAIR:
        return Text(printable(one.pair))
    return Group(Name(one.first, " −"), Name(one.second))


def show_comparisons(found: Mapping[str, Comparison], verbose: bool = False) -> None:
    """Print the comparisons on some instruments: whole, or in one table if there are several."""
    if verbose or len(found) == 1:
        for name, comparison in found.items():
            show_comparison(name, comparison, verbose)
        return
    table = figures_table(["test", "pair"], ["diff.", "95 % interval", "p"])
    table.add_column("verdict", overflow="fold")
    each = max(1, MOST_PAIRS // max(1, len(found)))
    for name, comparison in found.items():
        for n, one in enumerate(comparison.differences[:each]):
            figures = [number(one.mean), interval(one.interval), _p(one.p_holm), one.verdict]
            table.add_row("" if n else Name(name), _pair(one), *map(Text, figures))
    counts = [len(comparison.differences) for comparison in found.values()]
    say(f"Differences on {len(found)} tests (p corrected by Holm within each test)", "bold")
    Console().print(table)
    _say_more(sum(max(0, count - each) for count in counts))
    shown = [one for comparison in found.values() for one in comparison.differences[:each]]
    for sentence in odds_explained(shown):
        say(sentence)
    for name, comparison in found.items():
        for note in (*_failures(comparison), *comparison.notes):
            say(f"{name}: {note}", "yellow")


def _say_more(hidden: int) -> None:
    if hidden > 0:
        say(f"… and {hidden:,} more pairs: choose by --mind, --baseline and --instrument, "
            "or see all by --verbose")  # fmt: skip


def _correlations(found: Comparison) -> Table:
    levels = any(one.level is not None for one in found.correlations)
    table = figures_table(["complexity", "mind"], ["at"] * levels + ["r", "95 % interval", "n"])
    rows = sorted(
        (one for one in found.correlations if one.r is not None),
        key=lambda one: (one.complexity, one.mind, one.level is not None),
    )
    for one in rows[:MOST_LINES]:
        at = ["all" if one.level is None else _level(one.level)] if levels else []
        figures = [*at, number(one.r), interval(one.interval), f"{one.exercises:,}"]
        table.add_row(Name(one.complexity), Name(one.mind), *map(Text, figures))
    if len(rows) > MOST_LINES:
        table.caption = f"… and {len(rows) - MOST_LINES} more with --json"
    return table


def _anova(anova: Anova) -> Table:
    names = ["F", "p", "ε", "p corrected", "partial η²"]
    table = figures_table(["effect", "degrees"], names)
    for one in anova.effects:
        figures = [
            " × ".join(one.factors), f"{one.freedom[0]:g}, {one.freedom[1]:g}",
            "–" if one.f is None else f"{one.f:.4f}", _p(one.p), number(one.epsilon),
            _p(one.p_corrected), number(one.eta),
        ]  # fmt: skip
        table.add_row(*map(Text, figures))
    table.caption = "ε of Greenhouse and Geisser; p corrected by it"
    return table


def _reliability(figures: Reliability) -> Table:
    from allminds.statistics.reliability import ALIKE

    table = figures_table(["figure"], ["value"])
    table.add_column("what it is", overflow="fold")
    lacks = figures.rel is None and figures.exercises > 1
    table.add_row("Rel = e^(−TE)", number(figures.rel), "near 1 for most means; scale-bound")
    said = ALIKE if lacks else "standard error of measurement, the largest of the minds"
    table.add_row("√TE", number(max(figures.stderr or (), default=None)), said)
    said = f"95 % {interval(figures.interval)}" if figures.interval else figures.why
    table.add_row("Eρ²", number(figures.generalisability), Text(f"generalisability, {said}"))
    table.add_row("Φ", number(figures.dependability), "the same, on exercises of one's own")
    return table


def _times(times: ReactionTimes) -> Iterator[tuple[str, Table]]:
    """Yield the tables of reaction times, in milliseconds, and of their ratios."""
    from allminds.statistics.comparison.reaction import QUANTILES

    if not times.groups:
        return
    names = [f"{q:g}".lstrip("0") if q != 0.5 else "median" for q in QUANTILES]
    middle = names.index("median")
    names.insert(middle + 1, "95 % interval")
    table = figures_table(["answers"], ["people", "choices", *names])
    for one in times.groups:
        ends = one.intervals[middle]
        cells = [_ms(value) for value in one.quantiles]
        cells.insert(middle + 1, "–" if ends is None else f"[{_ms(ends[0])}, {_ms(ends[1])}]")
        table.add_row(one.answers, f"{one.people:,}", f"{one.choices:,}", *map(Text, cells))
    table.caption = "geometric means of the people's quantiles; each person's are in --json"
    yield f"Reaction times in ms, {times.people:,} people on {times.items:,} items", table
    if not times.ratios:
        return
    table = figures_table(["term"], ["ratio", "95 % interval", "p"])
    for term in times.ratios:
        figures = (number(term.ratio), interval(term.interval), _p(term.p))
        table.add_row(Text(term.term), *map(Text, figures))
    yield "How many times as long a choice takes (crossed model of log time)", table


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<.0001" if value < 0.0001 else f"{value:.4f}".lstrip("0") if value < 1 else "1"


# ---------------------------------------------------------------- what was learnt over courses


def show_learning(found: Learning, verbose: bool = False) -> None:
    """Print the changes of minds over courses with their verdicts; if `verbose`, all tables."""
    say(f"What was learnt over {found.courses:,} courses", "bold")
    if verbose:
        for sheet in sheets(found):
            _show_sheet(sheet)
    else:
        _show_changes(found)
    for note in found.notes:
        say(note, "yellow")


def _show_sheet(sheet: Sheet) -> None:
    """Print one table with its title and its explanation."""
    say(sheet.title, "bold")
    table = figures_table(list(sheet.names), list(sheet.figures))
    for row in sheet.rows:
        cells = [Name(cell) for cell in row[: len(sheet.names)]]
        table.add_row(*cells, *map(Text, row[len(sheet.names) :]))
    Console().print(table)
    if sheet.explained:
        say(sheet.explained, "dim")


def _show_changes(found: Learning) -> None:
    """Print one line for every change, and one for every experience to a share of the way."""
    table = figures_table(["mind", "what"], ["change", "95 % interval"])
    table.add_column("verdict", overflow="fold")
    for one in found.changes[:MOST_CHANGES]:
        figures = [number(one.found.mean), interval(one.found.interval), one.verdict]
        table.add_row(Name(one.mind), Name(_what(one)), *map(Text, figures))
    if found.changes:
        Console().print(table)
    for row in found.reached:
        way = f"{row.share:g} of the way to {row.ceiling} ({row.line})"
        need = f"{row.words(row.trained)} training exercises, 95 % interval {row.interval_words}"
        say(f"{row.mind} needs {need}, for {way}")
    hidden = len(found.changes) - MOST_CHANGES
    more = f"{hidden} more changes, " if hidden > 0 else ""
    say(f"--verbose shows {more}curves against experience and scores with weight on learning")


def _what(one: Change) -> str:
    """Name a change in a few words: what it is about, and by what it was measured."""
    if one.what in ("practice", "speed"):
        return f"{one.what}: {one.trained}"
    met = ", met" if one.met else ""
    return f"{one.what}: {one.trained} → {one.tested}{met}"
