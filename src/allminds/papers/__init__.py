"""The papers, one module each: every figure and table that can be computed, with our values.

A new paper is a module with a `PAPER` and a line in `PAPERS`. Here is what a paper is made of (its
numbers, words, figures and errors, each compared with ours), and the page of some of them.
"""

from __future__ import annotations

import html
import importlib.metadata
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error, nearest
from allminds.core.files import write_bytes
from allminds.report.page import HERE as PAGES
from allminds.report.page import templates

if TYPE_CHECKING:
    import pandas as pd

PAPERS = {
    "chmait-2017": "allminds.papers.chmait_2017",
    "insa-cabrera-2015": "allminds.papers.insa_cabrera_2015",
    "hilton": "allminds.papers.hilton",
    "insa-cabrera-2011": "allminds.papers.insa_cabrera_2011",
    "chmait-2016": "allminds.papers.chmait_2016",
}
NUMERALS = {"two": 2, "three": 3, "five": 5, "six": 6, "nine": 9}
ROUNDING = 1e-9  # what floating point may add


@dataclass(frozen=True)
class Claim:
    """A number that a paper prints, beside ours.

    They agree if they differ by no more than half a unit of the last printed place (`precision`)
    and `error`, the sampling error of either side, which `note` explains. A number printed as
    "< .001" agrees if ours is less.
    """

    where: str  # section, figure or table of the paper
    what: str
    printed: str  # the number as it is printed: "16.64", ".259", "-1/6", "five", "< .001"
    ours: float
    quote: str  # words of the paper's text around the number, by which a test finds it there
    error: float = 0.0
    exact: bool = False  # the paper says this value and not one rounded to it
    note: str = ""

    @property
    def theirs(self) -> float:
        """The printed number as a value."""
        plain = self.printed.removeprefix("<").strip()
        return float(NUMERALS[plain]) if plain in NUMERALS else float(Fraction(plain))

    @property
    def is_bound(self) -> bool:
        """True if the paper prints that the number is below this one."""
        return self.printed.startswith("<")

    @property
    def precision(self) -> float:
        """Half a unit of the last printed place; 0 for exact values, words and fractions."""
        if self.exact or self.is_bound or self.printed in NUMERALS or "/" in self.printed:
            return 0.0
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])

    @property
    def agrees(self) -> bool:
        """True if our number is theirs within the precision of the print and the error."""
        if self.is_bound:
            return self.ours < self.theirs
        return abs(self.ours - self.theirs) <= self.precision + self.error + ROUNDING


@dataclass(frozen=True)
class Statement:
    """Something that a paper says in words and that can be computed, with what we find."""

    where: str
    said: str
    found: str
    holds: bool
    quote: str  # words of the paper's text, by which a test finds the statement there


@dataclass(frozen=True)
class Worked:
    """A value of ours that no paper prints."""

    what: str
    value: float
    note: str = ""


@dataclass(frozen=True)
class Erratum:
    """An error or contradiction in a paper: what is printed, what is known, how this is shown."""

    where: str
    printed: str
    known: str
    shown: str


@dataclass(frozen=True)
class Part:
    """A figure or table computed again: plots as SVG with a caption each, and their data."""

    title: str
    said: str  # what to see in it
    table: pd.DataFrame
    plots: Sequence[tuple[str, str]] = ()  # caption, SVG
    wide: bool = False  # plots take the whole width
    summary: pd.DataFrame | None = None  # a short table beside the plots, shown open


@dataclass(frozen=True)
class Paper:
    """A paper and all that is computed of it.

    Parts named figure-N or table-N are those of the paper; what it has and we do not make is in
    `not_made`, with the reason.
    """

    name: str
    cited: str  # authors and year
    citation: str
    what: str  # in a line
    parts: Mapping[str, Callable[[], Part]]
    claims: Callable[[], Sequence[Claim]]
    statements: Callable[[], Sequence[Statement]] = tuple
    worked: Callable[[], Sequence[Worked]] = tuple
    errata: Sequence[Erratum] = ()
    not_made: Mapping[str, str] = field(default_factory=dict)
    with_rows: Callable[[Path], Paper] | None = None  # with the authors' own data, if one has them


# ---------------------------------------------------------------- by name


def paper(name: str, rows: Path | None = None) -> Paper:
    """Load the paper of that name, with the authors' rows if they are given and it uses them."""
    if name not in PAPERS:
        raise Error(f"there is no paper '{name}'; {nearest(name, PAPERS)}")
    found: Paper = import_module(PAPERS[name]).PAPER
    return found.with_rows(rows) if rows and found.with_rows else found


def asked_for(words: Sequence[str], rows: Path | None = None) -> dict[str, list[str]]:
    """Parse words such as hilton or chmait-2017:figure-2 to papers and their parts.

    No word means all papers.
    """
    chosen: dict[str, list[str]] = {}
    for word in words or PAPERS:
        name, _, part = word.partition(":")
        parts = list(paper(name, rows).parts)
        if part and part not in parts:
            raise Error(f"{name} has no '{part}'; {nearest(part, parts)}")
        here = chosen.setdefault(name, [])
        here += [one for one in ([part] if part else parts) if one not in here]
    return chosen


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
    found = []
    total = sum(1 + len(parts) for parts in chosen.values())
    done = 0
    for name, parts in chosen.items():
        one = paper(name, rows)
        progress("papers", done, total)
        shown: dict[str, Any] = {"paper": one, "name": name, "whole": set(parts) == set(one.parts)}
        for kind in ("claims", "statements", "worked"):
            shown[kind] = getattr(one, kind)() if shown["whole"] else ()
        done += 1
        shown["parts"] = []
        for part in parts:
            progress("papers", done, total)
            shown["parts"].append((part, one.parts[part]()))
            done += 1
        found.append(shown)
    progress("papers", total, total)
    environment = templates(Path(__file__).parent, PAGES)
    environment.filters |= {"figure": figure, "heading": heading, "coded": coded}
    text = environment.get_template("papers.html.j2").render(
        papers=found, version=importlib.metadata.version("allminds")
    )
    write_bytes(out, text.encode("utf-8"))
    return found


def coded(text: str) -> Any:
    """Escape a text for the page, and show what stands between backticks as code."""
    from markupsafe import Markup

    parts = html.escape(text, quote=False).split("`")
    marked = (f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
    return Markup("".join(marked))


def heading(name: str) -> str:
    """Write the name of a part as a heading: figure-2 becomes Figure 2."""
    return name.replace("-", " ").capitalize()


def figure(value: Any) -> str:
    """Write a number to four places with a real minus sign; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if math.isnan(value):
        return "none"
    text = f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    if "e-05" in text:
        text = f"{value:.6f}".rstrip("0")
    return text.replace("-", "−", 1) if text.startswith("-") else text
