"""A paper's numbers, figures and errors, compared with ours; their simulation and their page."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds import report
from allminds.report.figure import write_whole
from allminds.report.page import templates

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Claim:
    """A number of a paper beside ours; they agree within a stated tolerance or interval.

    Where the paper's own data are not public, ours may differ for a reason, which `note` gives.
    """

    where: str
    what: str
    theirs: float
    ours: float
    tolerance: float
    note: str = ""

    @property
    def agrees(self) -> bool:
        """True if our number is theirs within the tolerance."""
        return abs(self.ours - self.theirs) <= self.tolerance


@dataclass(frozen=True)
class Erratum:
    """An error in a paper: what is printed, what is right, and how this is shown."""

    where: str
    printed: str
    right: str
    shown: str


@dataclass(frozen=True)
class Part:
    """A figure or table computed again: plots as SVG with a caption each, and their data."""

    title: str
    said: str  # what to see in it
    table: pd.DataFrame
    plots: Sequence[tuple[str, str]] = ()  # caption, SVG
    wide: bool = False  # plots take the whole width


@dataclass(frozen=True)
class Paper:
    """A paper and all that is computed of it: its parts, claims and errata."""

    name: str
    citation: str
    what: str  # in a line
    parts: Mapping[str, Callable[[], Part]]  # by the name of a figure or table
    claims: Callable[[], Sequence[Claim]]
    errata: Sequence[Erratum] = ()
    with_rows: Callable[[Path], Paper] | None = None  # with the authors' own data, if one has them


# ---------------------------------------------------------------- simulation


BLOCK = 1024


@lru_cache(maxsize=64)
def scores(
    instrument: str, mind: str, exercises: int, settings: tuple[tuple[str, str], ...] = (),
    seed: int = 1,
) -> pd.DataFrame:  # fmt: skip
    """Simulate a mind on the first exercises of an instrument.

    The result has a row for each exercise: its number, the score (a mean over slots) and its
    complexities.
    """
    import pandas as pd

    from allminds import registry
    from allminds.core.blocks import Block
    from allminds.core.watch import Watch
    from allminds.episode import form

    tool = registry.make_instrument(instrument, dict(settings))
    watch = Watch(10.0)
    way = form(tool, registry.line_up(mind, tool), watch)
    with watch.running():
        blocks = [
            way.play(seed, low, min(low + BLOCK, exercises), 0)
            for low in range(0, exercises, BLOCK)
        ]
    found = Block.join(blocks)
    columns = {"exercise": range(exercises), "score": found.score.mean(axis=1)}
    return pd.DataFrame(columns | dict(found.complexity))


# ---------------------------------------------------------------- page


def write_page(
    chosen: Mapping[str, Sequence[str]],
    out: Path,
    rows: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> list[dict[str, Any]]:
    """Compute the papers and parts asked for, write them as one file, and return them."""
    from allminds.papers import paper

    found = []
    total = sum(1 + len(parts) for parts in chosen.values())
    done = 0
    for name, parts in chosen.items():
        one = paper(name, rows)
        whole = set(parts) == set(one.parts)
        progress("papers", done, total)
        claims = one.claims() if whole else ()
        done += 1
        made = []
        for part in parts:
            progress("papers", done, total)
            made.append((part, one.parts[part]()))
            done += 1
        shown = {"name": name, "what": one.what, "citation": one.citation, "claims": claims}
        found.append(shown | {"errata": one.errata if whole else (), "parts": made})
    progress("papers", total, total)
    environment = templates(Path(__file__).parent, Path(report.__file__).parent)
    environment.filters["figure"] = figure
    text = environment.get_template("papers.html.j2").render(
        papers=found, version=importlib.metadata.version("allminds")
    )
    write_whole(out, text.encode("utf-8"))
    return found


def figure(value: Any) -> str:
    """Write a number to four places with a real minus sign; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if math.isnan(value):
        return "none"
    text = f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return text.replace("-", "−", 1) if text.startswith("-") else text
