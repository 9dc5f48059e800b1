"""The papers, one module each: every figure and table that can be computed, with our values.

A new paper is a module with a `PAPER` and a line in `PAPERS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from allminds.core.errors import Error, nearest
from allminds.papers.paper import Claim, Erratum, Paper, Part

__all__ = ["PAPERS", "Claim", "Erratum", "Paper", "Part", "asked_for", "paper"]

PAPERS = {
    "chmait-2017": "allminds.papers.chmait_2017",
    "insa-cabrera-2015": "allminds.papers.insa_cabrera_2015",
    "hilton": "allminds.papers.hilton",
    "insa-cabrera-2011": "allminds.papers.insa_cabrera_2011",
    "chmait-2016": "allminds.papers.chmait_2016",
}


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
