"""Recall, as a table in the terminal: scores plain and in disguise, and what is lost."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from allminds.core.errors import printable
from allminds.inference.verdict import odds_explained
from allminds.inference.words import interval, number
from allminds.statistics.answer import labels
from allminds.terminal.tables import Name, figures_table

if TYPE_CHECKING:
    from allminds.statistics.recall import Recall

EXPLAINED = (
    "Recall is the plain score minus the mean score in disguise, paired by exercise: what a mind "
    "owes to the look of the exercises, such as having met them or their labels before, together "
    "with what unfamiliar signs cost it. Verdicts have δ = {delta:g} and are corrected for all "
    "rows."
)


def show_recall(found: Sequence[Recall], console: Console | None = None) -> None:
    """Print what every mind lost by disguise, with its interval and the verdict."""
    console = console or Console()
    if not found:
        console.print("No exercise was finished both plain and in disguise: no recall is known.")
        return
    tests = {str((one.instrument, one.settings)): one for one in found}
    told = labels([(one.instrument, one.settings, "") for one in tests.values()])
    label, several = dict(zip(tests, told, strict=True)), len(tests) > 1
    console.print(f"Recall  ·  {found[0].skins} skins", style="bold", markup=False)
    table = figures_table(
        ["test", "mind"] if several else ["mind"],
        ["plain", "disguised", "recall", "95 % interval", "units"],
    )
    table.add_column("verdict", overflow="fold")
    for one in found:
        test = [Name(label[str((one.instrument, one.settings))])] if several else []
        figures = [
            number(one.plain), number(one.disguised), number(one.found.mean),
            interval(one.found.interval), f"{one.found.units[0]:,}", one.found.verdict,
        ]  # fmt: skip
        table.add_row(*test, Name(printable(one.mind)), *map(Text, figures))
    console.print(table)
    notes = [EXPLAINED.format(delta=found[0].found.margin)]
    if any(not one.found.differs for one in found):
        notes.append("Undecided where no exercise differs: that says little of those not given.")
    for note in [*notes, *odds_explained(one.found for one in found)]:
        console.print(note, style="dim", markup=False, highlight=False)


def recall_text(found: Sequence[Recall]) -> str:
    """Format the table as it is printed, without colour."""
    out = io.StringIO()
    show_recall(found, Console(file=out, width=Console().width))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))
