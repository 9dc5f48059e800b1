"""What was measured over courses as tables of words: terminal, notebook, report and docs show them.

A `Sheet` is a table whose cells are written; each place draws it in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allminds.inference.words import interval, number

if TYPE_CHECKING:
    from allminds.statistics.learning import Change, Learning, What

EXPLAINED = {
    "curve": "Experience is the training exercises lived through before, and their steps; 95 % "
    "intervals are over courses.",
    "efficiency": "Training exercises until the mean score is this share of the way from the floor "
    "to the ceiling, on the same exercises; > is more than the course has.",
    "weighted": "Weight on learning: in tests, the steps of an exercise weigh w = 1 + λ(2p − 1), p "
    "their place in it from 0 to 1 by tenths; in training, exercises by their place in the course.",
}


@dataclass(frozen=True)
class Sheet:
    """A table of words: its name, its title, its columns (names, then figures) and its rows."""

    name: str
    title: str
    names: tuple[str, ...]
    figures: tuple[str, ...]
    rows: list[tuple[str, ...]]
    explained: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in their order."""
        return (*self.names, *self.figures)


def sheets(found: Learning) -> list[Sheet]:
    """Write all tables that have rows: changes, matrices, efficiency, weights and curves."""
    several = len({one.test for one in found.points}) > 1
    made = [_changes(found, what, several) for what in ("learning", "practice", "transfer")]
    made += _matrices(found)
    made += [_changes(found, what, several) for what in ("forgetting", "speed")]
    made += [_efficiency(found, several), _weighted(found, several), *curve_sheets(found)]
    return [sheet for sheet in made if sheet.rows]


def _changes(found: Learning, what: What, several: bool) -> Sheet:
    from allminds.statistics.learning import TITLES

    own = found.of(what)
    kinds = len({one.trained for one in own} | {one.tested for one in own}) > 1
    met = len({one.met for one in own}) > 1
    names = (*["test"] * several, "mind", *["trained on", "tested on"] * kinds, *["tests"] * met)
    figures = ("before", "after", "change", "95 % interval", "p", "courses", "verdict")
    rows = [
        (*[one.test] * several, one.mind, *[one.trained, one.tested] * kinds,
         *["met" if one.met else "fresh"] * met, *_figures(one))
        for one in own
    ]  # fmt: skip
    return Sheet(what, TITLES[what], names, figures, rows)


def _figures(one: Change) -> tuple[str, ...]:
    p = one.found.p_holm
    return (
        number(one.before), number(one.after), number(one.found.mean), interval(one.found.interval),
        "–" if p is None else f"{p:.2g}", f"{one.found.units[0]:,}", one.verdict,
    )  # fmt: skip


def _matrices(found: Learning) -> list[Sheet]:
    """Write the change of each mind on fresh tests, by what it was trained on and tested on.

    There is one only if some kind was tested that was not trained on.
    """
    changes = [one for one in found.changes if one.what in ("learning", "transfer") and not one.met]
    made = []
    for mind in dict.fromkeys(one.mind for one in changes if one.what == "transfer"):
        own = [one for one in changes if one.mind == mind]
        tested = tuple(dict.fromkeys(one.tested for one in own))
        cells = {(one.trained, one.tested): one for one in own}
        rows = [
            (trained, *(_cell(cells.get((trained, column))) for column in tested))
            for trained in dict.fromkeys(one.trained for one in own)
        ]
        title = f"Gains of {mind} by what it was trained on (rows) and tested on (columns)"
        made.append(Sheet("matrix", title, ("trained on",), tested, rows))
    return made


def _cell(one: Change | None) -> str:
    if one is None:
        return "–"
    mark = "*" if one.found.sign else ""
    return f"{number(one.found.mean)}{mark} {interval(one.found.interval)}"


def _efficiency(found: Learning, several: bool) -> Sheet:
    lines = len({one.line for one in found.reached}) > 1
    names = (*["test"] * several, "mind", *["curve"] * lines)
    rows = [
        (*[one.test] * several, one.mind, *[one.line] * lines, f"{one.share:g}", one.ceiling,
         one.words(one.trained), one.interval_words)
        for one in found.reached
    ]  # fmt: skip
    figures = ("share", "ceiling", "exercises", "95 % interval")
    title = "Sample efficiency: training exercises to a share of the way to the ceiling"
    return Sheet("efficiency", title, names, figures, rows, EXPLAINED["efficiency"])


def _weighted(found: Learning, several: bool) -> Sheet:
    names = (*["test"] * several, "mind")
    rows = [
        (*[one.test] * several, one.mind, one.over, number(one.plain), interval(one.plain_interval),
         number(one.weighted), interval(one.weighted_interval))
        for one in found.weighted
    ]  # fmt: skip
    figures = ("over", "unweighted", "95 % interval", "weighted", "95 % interval")
    title = f"Scores with weight on learning, λ = {found.weight:g}"
    return Sheet("weighted", title, names, figures, rows, EXPLAINED["weighted"])


def curve_sheets(found: Learning) -> list[Sheet]:
    """Write score against experience: a table for every curve, with a column for every mind."""
    several = len({one.test for one in found.points}) > 1
    made = []
    for test, line in dict.fromkeys((one.test, one.line) for one in found.points):
        own = [one for one in found.points if (one.test, one.line) == (test, line)]
        minds = tuple(dict.fromkeys(one.mind for one in own))
        cells = {(one.trained, one.mind): one for one in own}
        rows = []
        for trained in dict.fromkeys(one.trained for one in own):
            here = [cells.get((trained, mind)) for mind in minds]
            steps = next(one.steps for one in here if one)
            scores = (
                f"{number(one.score)} {interval(one.interval)}" if one else "–" for one in here
            )
            rows.append((f"{trained:.1f}".removesuffix(".0"), f"{steps:,.0f}", *scores))
        title = f"Score against experience: {f'{test}, ' * several}{line}"
        figures = ("exercises before", "steps", *minds)
        made.append(Sheet("curve", title, (), figures, rows, EXPLAINED["curve"]))
    return made


def text_of(found: Learning) -> str:
    """Write all tables as plain text, with their notes."""
    return "\n\n".join([*map(_plain, sheets(found)), *found.notes])


def _plain(sheet: Sheet) -> str:
    """Write a table with aligned columns."""
    rows: list[Sequence[str]] = [sheet.columns, *sheet.rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(sheet.columns))]
    words = len(sheet.names)
    lines = [
        "  ".join(
            cell.ljust(width) if n < words else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([sheet.title, *lines])


def markdown_of(sheet: Sheet) -> str:
    """Write a table as Markdown."""
    ruler = ["---"] * len(sheet.names) + ["---:"] * len(sheet.figures)
    rows = [sheet.columns, ruler, *sheet.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
