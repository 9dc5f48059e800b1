"""Levin's complexity k of a letter series in the C-test (Chmait et al. 2017), by exact search."""

from __future__ import annotations

from allminds.complexity.levin.machine import INSTRUCTIONS, Program, Run, parsed, printed, run
from allminds.complexity.levin.search import (
    Explanation,
    Rival,
    complexity,
    continued,
    describe,
    levin,
    plain_search,
    puzzle,
    rivals,
    variant,
)

__all__ = [
    "INSTRUCTIONS",
    "Explanation",
    "Program",
    "Rival",
    "Run",
    "complexity",
    "continued",
    "describe",
    "levin",
    "parsed",
    "plain_search",
    "printed",
    "puzzle",
    "rivals",
    "run",
    "variant",
]
