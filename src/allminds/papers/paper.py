"""What a paper says, beside what we compute: numbers, figures, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
        """Whether ours is theirs within the tolerance."""
        return abs(self.ours - self.theirs) <= self.tolerance


@dataclass(frozen=True)
class Erratum:
    """What is printed, what is right, and how one sees it."""

    where: str
    printed: str
    right: str
    shown: str


@dataclass(frozen=True)
class Part:
    """A figure or table made anew: plots as SVG with a caption each, and the data behind them."""

    title: str
    said: str  # what to see in it
    table: pd.DataFrame
    plots: Sequence[tuple[str, str]] = ()  # caption, SVG
    wide: bool = False  # plots take the whole width


@dataclass(frozen=True)
class Paper:
    """A paper and all that is computed of it."""

    name: str
    citation: str
    what: str  # in a line
    parts: Mapping[str, Callable[[], Part]]  # by the name of a figure or table
    claims: Callable[[], Sequence[Claim]]
    errata: Sequence[Erratum] = ()
    with_rows: Callable[[Path], Paper] | None = None  # with the authors' own data, if one has them
