"""The scores on one test, best first, with floor and ceiling, as text and HTML; and profiles."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error, printable
from allminds.core.line_up import parse_all
from allminds.core.settings import settings_text
from allminds.inference import words
from allminds.inference.words import (
    COMPUTED,
    FAIR,
    NONE,
    heading,
    interval,
    notes,
    number,
    unit_columns,
)

if TYPE_CHECKING:
    from allminds.runs.plan import Test

BAR = 120  # units of a bar from floor to ceiling
GAP = 2  # between the columns of a table
LEAST_NAME = 16  # letters for the name of a mind
ENDS = " ,(:/=*+"  # which end a piece of a name; a name with hyphens is one word
PIECES = re.compile(rf"[^{ENDS}]*[{ENDS}]*")
PARTS = re.compile(r"[^-_]*[-_]*")  # of a piece that is too long for a line
EDGES = 2  # columns of a table's own
SPARED = ("learning", "normalised")  # columns of figures that a narrow window does not show


def counted(name: str) -> str:
    """Shorten a line-up without loss: ``a, b, b, b`` is ``a, b*3``."""
    try:
        parts = [str(one) for one in parse_all(name)]
    except Error:
        return name
    runs = [(who, len(list(its))) for who, its in itertools.groupby(parts)]
    return ", ".join(f"{who}*{n}" if n > 1 and "*" not in who else who for who, n in runs)


def abbreviated(name: str, room: int) -> str:
    """Shorten a name to one line: without folders, and cut between words, never within one."""
    name = counted(name)
    if len(name) > room:
        name = re.sub(r"[^\s,(]*/", "", name)  # folders of files
    if len(name) <= room:
        return name
    made = ""
    for piece in PIECES.findall(name):
        if len((made + piece).rstrip(ENDS)) > room - 1:
            break
        made += piece
    cut = name[: max(0, room - 1)]  # of one long word: at a hyphen, if it has one
    return (made.rstrip(ENDS) or cut.rpartition("-")[0] or cut) + "…"


def folded(name: str, room: int) -> str:
    """Break a name into lines that fit, between words; nothing of it is lost but folders.

    A word that is longer than a line is broken after a hyphen or an underscore.
    """
    name = counted(name)
    if len(name) > room:
        name = re.sub(r"[^\s,(]*/", "", name)
    lines = [""]
    for piece in PIECES.findall(name):
        fits = len(piece.rstrip()) <= room
        for part in [piece] if fits else PARTS.findall(piece):
            if lines[-1] and len((lines[-1] + part).rstrip()) > room:
                lines.append("")
            lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


class Name:
    """The cell of a name, which folds between words to the width that its column has."""

    def __init__(self, name: str, mark: str = "", style: str = "") -> None:
        self.name, self.mark, self.style = counted(printable(name)), mark, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fold the name to the room that there is."""
        yield self.text(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Measure the longest word, and the whole name."""
        whole = len(self.name) + len(self.mark)
        least = max(map(len, self.text(1).plain.split("\n")))
        return Measurement(min(least, options.max_width), min(whole, options.max_width))

    def text(self, room: int) -> Text:
        """Write the name in lines of some room, and its mark behind it or below."""
        text = Text(folded(self.name, room))
        last = text.plain.rpartition("\n")[2]
        if self.mark and len(last) + len(self.mark) > room:
            return text.append("\n" + self.mark.strip(), style=self.style)
        return text.append(self.mark, style=self.style)


def figures_table(names: Sequence[str], figures: Sequence[str]) -> Table:
    """Make a table with columns of names, which fold, and of figures, which never break."""
    table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True, caption_justify="left")
    for name in names:
        table.add_column(name, overflow="fold")
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def say(sentence: str, style: str = "") -> None:
    """Print a sentence as it is, brackets and all."""
    Console().print(printable(sentence), style=style, markup=False, highlight=False)


def show_test(test: dict[str, Any]) -> None:
    """Print the scores on one test."""
    _print_test(test, Console())


def text_of(test: dict[str, Any]) -> str:
    """Format the scores on one test as they are printed, without colour."""
    out = io.StringIO()
    _print_test(test, Console(file=out, width=Console().width))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))


def html_of(test: dict[str, Any]) -> str:
    """Format the scores on one test as a small table that stands for itself."""
    from allminds.report.page import templates

    tool = _tool(test)
    template = templates(Path(__file__).parent).get_template("results.html.j2")
    found = best_first(test)
    rows = [row | {"bar": _bar(row)} for row in found]
    text: str = template.render(
        test=test,
        rows=rows,
        settings=_settings(test),
        caution=_caution(test, tool),
        units=[(name, _heading(name, tool)) for name in unit_columns(rows, tool.adaptive)],
        failed=any(row["failed"] for row in rows),
        notes=notes(found),
        fair=(FAIR, COMPUTED),
        width=BAR,
    )
    return text


def best_first(test: dict[str, Any]) -> list[dict[str, Any]]:
    """Sort the minds of a test by score; those that are not ranked, or have none, are last."""
    return words.best_first(test["results"])


# ---------------------------------------------------------------- as text


def _print_test(test: dict[str, Any], console: Console) -> None:
    tool, rows = _tool(test), best_first(test)
    console.print(_table(test, rows, tool, console.width))
    if caution := _caution(test, tool):
        console.print(caution, markup=False, highlight=False)
    for note in notes(rows):
        console.print(printable(note), style="yellow", markup=False, highlight=False)


def _table(
    test: dict[str, Any],
    rows: list[dict[str, Any]],
    tool: Instrument | type[Instrument],
    width: int,
) -> Table:
    table = Table(
        title=f"{test['instrument']}  ·  seed {test['seed']}", caption=_settings(test),
        box=box.SIMPLE, pad_edge=False, collapse_padding=True, title_justify="left",
        caption_justify="left",
    )  # fmt: skip
    columns = _columns(rows, tool)
    reaches = {name: max(map(len, (name, *cells))) + GAP for name, cells in columns.items()}
    for name in SPARED:
        if width < LEAST_NAME + sum(reaches.values()) + EDGES and name in columns:
            del columns[name], reaches[name]
            table.caption = f"{table.caption}\nThis window is too narrow for the column {name}."
    names, figures = list(columns), list(zip(*columns.values(), strict=True))
    room = max(LEAST_NAME, width - sum(reaches.values()) - EDGES)
    table.add_column("mind", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row, cells in zip(rows, figures, strict=True):
        mark = f"  {row['end']}" if row["end"] else ""
        mark += "" if row["ranked"] else "  not ranked"
        table.add_row(
            Name(row["mind"], mark, "dim" if row["ranked"] else "yellow").text(room), *cells
        )
    if "fair_ceiling" in test:
        blank = [NONE] * (len(names) - 2)
        table.add_row(Text(FAIR, style="dim"), number(test["fair_ceiling"]), COMPUTED, *blank)
    return table


def _columns(
    rows: Sequence[Mapping[str, Any]], tool: Instrument | type[Instrument]
) -> dict[str, list[str]]:
    """Write the figures of a test column by column."""
    columns = {
        "score": [number(row["score"]) for row in rows],
        "95 % interval": [interval(row["ci95"]) for row in rows],
        "normalised": [number(row["normalised"]) for row in rows],
        "learning": [number(row["learning"]) for row in rows],
        "exercises": [f"{row['episodes']:,}" for row in rows],
    }
    for name in unit_columns(rows, tool.adaptive):
        columns[_heading(name, tool)] = [f"{row[name]:,}" for row in rows]
    if any(row["failed"] for row in rows):
        columns["failed"] = [f"{row['failed']:,}" for row in rows]
    return columns


# ---------------------------------------------------------------- what text and HTML share


def _tool(test: dict[str, Any]) -> Instrument | type[Instrument]:
    """Return the class of an instrument; made again is a course, or one with its own caution.

    One that cannot be made, since its file has gone, is known by its class.
    """
    kind = registry.kind(test["instrument"])
    if {"course", "until"} & set(test["settings"]) or kind.caution_by_settings:
        with contextlib.suppress(Error):
            return registry.make_instrument(test["instrument"], test["settings"])
    return kind


def _caution(test: dict[str, Any], tool: Instrument | type[Instrument]) -> str:
    """Return what a reader of the scores must know."""
    return tool.caution if isinstance(tool, type) else tool.cautioned(test["episodes"])


def _heading(column: str, tool: Instrument | type[Instrument]) -> str:
    return heading(column, tool.adaptive, bool(tool.parts))


def _settings(test: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in test["settings"].items())


def _bar(row: dict[str, Any]) -> dict[str, float] | None:
    """Compute where score and interval lie between floor and ceiling, in units of a bar."""
    if row["normalised"] is None:
        return None

    def place(share: float) -> float:
        return round(BAR * min(max(share, 0.0), 1.0), 1)

    low, high = row["normalised_ci95"] or (row["normalised"],) * 2
    return {"low": place(low), "high": place(high), "score": place(row["normalised"])}


# ---------------------------------------------------------------- profiles


class ProfileScore(NamedTuple):
    """A mind's score on one test, from the floor (0) to the ceiling (1)."""

    instrument: str
    settings: str  # as far as the plan gives them
    score: float
    ends: list[float] | None  # of the 95 % interval


def show_profiles(plan: Sequence[Test], summaries: Sequence[Mapping[str, Any]]) -> None:
    """Print the profiles, if a mind that is no floor took two instruments."""
    found = profiles(plan, summaries)
    if not found:
        return
    table = Table(
        title="profiles  ·  0 is the floor, 1 the ceiling, as measured",
        box=box.SIMPLE, pad_edge=False, collapse_padding=True, title_justify="left",
    )  # fmt: skip
    table.add_column("mind", no_wrap=True)
    table.add_column("test", overflow="fold")
    for name in ("normalised", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for mind, places in found.items():
        for n, place in enumerate(places):
            test = Text(place.instrument).append(f"  {place.settings}", style="dim")
            figures = [number(place.score), interval(place.ends)]
            table.add_row(Text("" if n else printable(mind)), test, *figures)
        table.add_section()
    Console().print(table)


def profiles(
    plan: Sequence[Test], summaries: Sequence[Mapping[str, Any]]
) -> dict[str, list[ProfileScore]]:
    """Collect the normalised scores of all minds that took several instruments, test by test."""
    found: dict[str, list[ProfileScore]] = {}
    for given, summary in zip(plan, summaries, strict=True):
        for row in summary["results"]:
            mind = given.mind_of(row["mind"])
            if row["normalised"] is None or row["end"] == "floor":
                continue
            ends = row["normalised_ci95"]
            place = ProfileScore(
                summary["instrument"], settings_text(given.settings), row["normalised"], ends
            )
            found.setdefault(mind, []).append(place)
    several = {mind: len({place.instrument for place in its}) > 1 for mind, its in found.items()}
    return {mind: places for mind, places in found.items() if several[mind]}
