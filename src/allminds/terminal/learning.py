"""What minds learnt over courses, as tables in the terminal: changes in short, or everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from allminds.inference.words import interval, number
from allminds.statistics.learning_words import Sheet, sheets
from allminds.terminal.tables import Name, figures_table, say

if TYPE_CHECKING:
    from allminds.statistics.learning import Change, Learning

MOST_CHANGES = 14  # on one screen


def show_learning(found: Learning, verbose: bool = False) -> None:
    """Print the changes of minds over courses with their verdicts; if `verbose`, all tables."""
    say(f"What was learnt over {found.courses:,} courses", "bold")
    if verbose:
        for sheet in sheets(found):
            _show(sheet)
    else:
        _show_changes(found)
    for note in found.notes:
        say(note, "yellow")


def _show(sheet: Sheet) -> None:
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
