"""Entropies, in bits: of the symbols in a sequence, and H(μ) of a Λ* grid."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from allminds.core.errors import Error


def shannon(symbols: Sequence[Hashable] | str) -> float:
    """Bits per symbol of the sequence's own distribution of symbols, whatever their order."""
    if len(symbols) == 0:
        raise Error("an empty sequence has no entropy: give at least one symbol")
    total = len(symbols)
    return sum(n / total * math.log2(total / n) for n in Counter(symbols).values())


def search_space(rows: int, cols: int) -> float:
    """H(μ) = log2(mn(mn-1)): the bits that say where Good and Evil are on an m-by-n grid (P4 §4.3).

    They are never in one cell, so Evil has one cell less to choose from.
    """
    cells = rows * cols
    if min(rows, cols) < 1 or cells < 2:
        raise Error(f"a grid of {rows} by {cols} has no room for Good and Evil: it needs 2 cells")
    return math.log2(cells * (cells - 1))
