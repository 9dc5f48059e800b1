"""The profiles of a run in a terminal: what each mind made of each of its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from allminds import registry
from allminds.inference.words import interval, number
from allminds.report.data import settings_text

if TYPE_CHECKING:
    from allminds.runs.plan import Test


class Place(NamedTuple):
    """A mind's score on one test, from the floor (0) to the ceiling (1)."""

    instrument: str
    settings: str  # as far as the plan gives them
    score: float
    ends: list[float] | None  # of the 95 % interval


def show_profiles(plan: Sequence[Test], summaries: Sequence[Mapping[str, Any]]) -> None:
    """Print them, if there is a mind that took two instruments and is no floor."""
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
            table.add_row(Text("" if n else mind), test, *figures)
        table.add_section()
    Console().print(table)


def profiles(
    plan: Sequence[Test], summaries: Sequence[Mapping[str, Any]]
) -> dict[str, list[Place]]:
    """The normalised scores of all that took several instruments, test by test."""
    found: dict[str, list[Place]] = {}
    for given, summary in zip(plan, summaries, strict=True):
        tool = registry.make_instrument(given.instrument, given.settings)
        for row in summary["results"]:
            mind = given.mind_of(row["mind"])
            if row["normalised"] is None or row["end"] == "floor":
                continue
            ends = row["normalised_ci95"]
            place = Place(tool.name, settings_text(given.settings), row["normalised"], ends)
            found.setdefault(mind, []).append(place)
    several = {mind: len({place.instrument for place in its}) > 1 for mind, its in found.items()}
    return {mind: places for mind, places in found.items() if several[mind]}
