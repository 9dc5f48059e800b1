"""The profiles of a run in a terminal: what each mind made of each of its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from allminds import registry
from allminds.report.data import settings_text
from allminds.report.page import number

if TYPE_CHECKING:
    from allminds.administration.plan import Test


class Place(NamedTuple):
    """A mind's score on one test, from chance (0) to the ceiling (1)."""

    instrument: str
    settings: str  # as far as the plan gives them
    score: float
    reach: float | None  # half of the 95 % interval


def show_profiles(plan: Sequence[Test], summaries: Sequence[Mapping[str, Any]]) -> None:
    """Print them, if there is a mind that took two instruments and is no floor."""
    found = profiles(plan, summaries)
    if not found:
        return
    table = Table(
        title="profiles  ·  0 is chance, 1 the ceiling; ± is 95 %",
        box=box.SIMPLE, pad_edge=False, collapse_padding=True, title_justify="left",
    )  # fmt: skip
    table.add_column("mind", no_wrap=True)
    table.add_column("test", overflow="fold")
    table.add_column("normalised", justify="right", no_wrap=True)
    for mind, places in found.items():
        for n, place in enumerate(places):
            test = Text(place.instrument).append(f"  {place.settings}", style="dim")
            reach = "" if place.reach is None else f" ±{number(place.reach)}"
            table.add_row(Text("" if n else mind), test, f"{number(place.score)}{reach}")
        table.add_section()
    Console().print(table)


def profiles(
    plan: Sequence[Test], summaries: Sequence[Mapping[str, Any]]
) -> dict[str, list[Place]]:
    """The normalised scores of all that took several instruments, test by test."""
    found: dict[str, list[Place]] = {}
    for given, summary in zip(plan, summaries, strict=True):
        tool = registry.make_instrument(given.instrument, given.settings)
        width = tool.ceiling - tool.chance
        for row in summary["results"]:
            mind = given.mind_of(row["mind"])
            if row["normalised"] is None or mind == tool.floor_mind:
                continue
            low, high = row["ci95"] or (None, None)
            reach = None if low is None else (high - low) / 2 / width
            place = Place(tool.name, settings_text(given.settings), row["normalised"], reach)
            found.setdefault(mind, []).append(place)
    several = {mind: len({place.instrument for place in its}) > 1 for mind, its in found.items()}
    return {mind: places for mind, places in found.items() if several[mind]}
