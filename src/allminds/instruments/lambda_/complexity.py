"""How complex an environment of Λ is: by zlib as in P3, by LZ76, and the bits of its space."""

from __future__ import annotations

import math

from allminds.complexity import lz76, zlib_length
from allminds.instruments.lambda_.pattern import period
from allminds.instruments.lambda_.space import Space

PREFIX = "p"  # before the digits in the authors' own files, and so in their K_approx


def space_bits(cells: int, actions: int, barred: int, disabled: float) -> float:
    """The description length of a space: what a code for the generator of spaces would need.

    n_c in unary, n_a among 2..n_c, and for every arrow whether it is disabled and where it leads.
    """
    arrows = cells * (actions - 1)
    bits = cells - 1 + math.log2(cells - 1) + (arrows - barred) * math.log2(cells)
    if disabled > 0:
        bits -= (arrows - barred) * math.log2(1 - disabled) + barred * math.log2(disabled)
    return bits


def columns(space: Space, pattern: str, disabled: float) -> dict[str, float]:
    """The complexity columns of the results.

    cells n_c and actions n_a; K is K_approx, the bytes of the pattern after zlib, and K_prefix
    the same with the letter p before it, as in the authors' figures; LZ is the number of LZ76
    phrases in one period; bits the description length of the space; pattern the digits.
    """
    barred = sum(goal is None for arrows in space.to for goal in arrows)
    return {
        "cells": float(space.cells),
        "actions": float(space.actions),
        "K": float(zlib_length(pattern)),
        "K_prefix": float(zlib_length(PREFIX + pattern)),
        "LZ": float(lz76(period(pattern))),
        "bits": space_bits(space.cells, space.actions, barred, disabled),
        "pattern": float(len(pattern)),
    }
