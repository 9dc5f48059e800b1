"""The papers, one module each: every figure and table that can be computed, ours beside theirs.

A new paper is a module with a `PAPER` and a line in `PAPERS`.
"""

from __future__ import annotations

from importlib import import_module

from allminds.errors import Error, nearest
from allminds.papers.paper import Claim, Erratum, Paper, Part

__all__ = ["PAPERS", "Claim", "Erratum", "Paper", "Part", "asked_for", "paper"]

PAPERS = {
    "p0": "allminds.papers.p0_accuracy",
}


def paper(name: str) -> Paper:
    """The paper of that name."""
    if name not in PAPERS:
        raise Error(f"there is no paper '{name}'; {nearest(name, PAPERS)}")
    found: Paper = import_module(PAPERS[name]).PAPER
    return found


def asked_for(words: list[str]) -> dict[str, list[str]]:
    """Papers and the parts of each, from words such as p0 or p0:figure-2; all if there are none."""
    chosen: dict[str, list[str]] = {}
    for word in words or PAPERS:
        name, _, part = word.partition(":")
        parts = list(paper(name).parts)
        if part and part not in parts:
            raise Error(f"{name} has no '{part}'; {nearest(part, parts)}")
        here = chosen.setdefault(name, [])
        here += [one for one in ([part] if part else parts) if one not in here]
    return chosen
