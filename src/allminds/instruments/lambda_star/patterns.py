"""How Good and Evil move: recurrent segments of king moves, or as the authors released them.

The plain functions here are the specification. The catalogue of segments by complexity needs
hundreds of thousands of draws and is made by their compiled twins in `fast.worlds`.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from allminds.core.files import cache_folder, keep
from allminds.core.seeding import MAKING, Random
from allminds.instruments.lambda_star.grid import MOVES, Torus, action_of
from allminds.instruments.rules import period, weighted

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.fast.arrays import TorusRules

Kind = Literal["cyclic", "drift", "released"]
Segment = tuple[int, ...]  # actions 1..9


# ---------------------------------------------------------------- drawing a segment


@lru_cache(maxsize=8)
def walk_chances(torus: Torus, length: int) -> NDArray[np.float64]:
    """Compute W_l(x) / 9^l: the chance that l uniform king moves lead from x back to 0.

    Rows are l = 0..length, columns displacements in reading order.
    """
    chances = np.zeros((length + 1, torus.rows, torus.cols))
    chances[0, 0, 0] = 1.0
    for l in range(length):
        shifted = [np.roll(chances[l], move, (0, 1)) for move in MOVES]
        chances[l + 1] = sum(shifted[1:], shifted[0]) / 9.0
    return chances.reshape(length + 1, torus.cells)


def plain_actions(torus: Torus) -> tuple[int, ...]:
    """Map each action to its plainest equal: on a torus two cells wide, -1 and +1 are the same."""
    return tuple(
        action_of(abs(row) if torus.rows == 2 else row, abs(col) if torus.cols == 2 else col)
        for row, col in MOVES
    )


def draw_segment(kind: Kind, torus: Torus, steps: int, random: Random) -> Segment:
    """Draw a segment of length L ~ U{1..⌊ϑ/2⌋}: word 0 draws L, word 1 + l draws move l.

    `cyclic`: uniform among the walks of L king moves that return to their start, so that cells
    recur. `drift`: L uniform king moves, so that moves recur and cells may drift.
    The segment is cut to its shortest period, so that equal patterns are equal segments.
    """
    length = 1 + random.below_at(max(1, steps // 2), 0)
    plain = plain_actions(torus)
    if kind == "drift":
        moves = [plain[random.below_at(9, 1 + l)] for l in range(length)]
        return shortest_period(tuple(moves))
    chances = walk_chances(torus, max(1, steps // 2))
    moves, cell = [], 1
    for l in range(length):
        back = chances[length - l - 1]
        weights = [back[torus.moved(cell, action) - 1] for action in range(1, 10)]
        action = 1 + weighted(weights, random.unit_at(1 + l))
        moves.append(plain[action - 1])
        cell = torus.moved(cell, action)
    return shortest_period(tuple(moves))


def shortest_period(segment: Segment) -> Segment:
    """Cut a segment to the shortest one that, repeated, gives the same pattern."""
    return segment[: period(segment, len(segment))]


# ---------------------------------------------------------------- patterns at work


@dataclass(frozen=True)
class Recurrent:
    """Good and Evil each repeat a segment of king moves (`cyclic` and `drift`)."""

    good: Segment
    evil: Segment

    def start(self, torus: Torus, random: Random) -> tuple[int, int]:
        """Draw two different uniform cells."""
        good = 1 + random.below_at(torus.cells, 0)
        evil = 1 + random.below_at(torus.cells - 1, 1)
        return good, evil if evil < good else evil + 1

    def intended(self, torus: Torus, step: int, good: int, evil: int) -> tuple[int, int]:
        """Return where Good and Evil want to be after move number `step` (from 1)."""
        return (
            torus.moved(good, self.good[(step - 1) % len(self.good)]),
            torus.moved(evil, self.evil[(step - 1) % len(self.evil)]),
        )

    def cells(self, torus: Torus, steps: int) -> list[int]:
        """List the cells Good visits after moves 1..steps when it starts in cell 1 unblocked."""
        cell, visited = 1, []
        for step in range(steps):
            cell = torus.moved(cell, self.good[step % len(self.good)])
            visited.append(cell)
        return visited

    @property
    def length(self) -> int:
        """The length of Good's segment."""
        return len(self.good)


@dataclass(frozen=True)
class Released:
    """The authors' released code: a list of cells read to and fro, and Evil a shift of Good."""

    path: tuple[int, ...]

    @classmethod
    def draw(cls, torus: Torus, random: Random) -> Released:
        """Draw L ~ U{n..2n-1} cells: a uniform one, then uniform king moves."""
        side = torus.rows
        length = side + random.below_at(side, 0)
        path = [1 + random.below_at(torus.cells, 1)]
        for place in range(1, length):
            path.append(torus.moved(path[-1], 1 + random.below_at(9, 1 + place)))
        return cls(tuple(path))

    def start(self, torus: Torus, random: Random) -> tuple[int, int]:
        """Return Good's first cell, and Evil's beside it."""
        return self.path[0], self._shifted(torus, self.path[0])

    def intended(self, torus: Torus, step: int, good: int, evil: int) -> tuple[int, int]:
        """Return where Good and Evil go: both ends are visited twice in a row; Evil may leap."""
        place = step % (2 * len(self.path))
        cell = self.path[min(place, 2 * len(self.path) - 1 - place)]
        return cell, self._shifted(torus, cell)

    def cells(self, torus: Torus, steps: int) -> list[int]:
        """List the cells Good visits after moves 1..steps."""
        return [self.intended(torus, step, 0, 0)[0] for step in range(1, steps + 1)]

    @property
    def length(self) -> int:
        """The length of the list of cells."""
        return len(self.path)

    def _shifted(self, torus: Torus, cell: int) -> int:
        return (cell + torus.cells // 3) % torus.cells + 1


Pattern = Recurrent | Released


def complexity_columns(
    torus: Torus, steps: int, complexity: int, length: int, distinct: int
) -> dict[str, float]:
    """Compute the complexity columns: K(μ), H(μ), bits(μ) and two plainer measures."""
    search = math.log2(torus.cells * (torus.cells - 1))
    return {
        "K": float(complexity),
        "H": search,
        "bits": search + complexity * math.log2(steps),
        "segment": float(length),
        "cells": float(distinct),
    }


# ---------------------------------------------------------------- segments by complexity


SEED = 0x5EC7  # of the catalogue's own stream, the same for everyone
PER_K = 1_000
VERSION = 2  # in the name of the file: goes up when the draw changes


@dataclass(frozen=True)
class Catalogue:
    """The first `PER_K` distinct segments of every K, in the order of draws, or all there were.

    An exercise picks uniformly among those of its K. So within K the law is that of this list, not
    of a draw: a segment that many draws come to counts once, and where there are more than `PER_K`
    the likelier ones are more often among the first.
    """

    shelf: NDArray[np.int64]  # segments of complexity K stand at shelf[K]..shelf[K + 1] - 1
    moves: NDArray[np.uint8]  # [segment, l]: actions from 0
    lengths: NDArray[np.int64]
    distinct: NDArray[np.int64]  # cells visited

    def values(self) -> list[int]:
        """List every K that exercises can have: two different segments, or standing still."""
        sizes = np.diff(self.shelf)
        return [k for k, size in enumerate(sizes) if size >= (2 if k >= 3 else 1)]

    def size(self, k: int) -> int:
        """Count the segments of complexity K."""
        return int(self.shelf[k + 1] - self.shelf[k]) if 0 <= k < len(self.shelf) - 1 else 0

    def segment(self, k: int, index: int) -> Segment:
        """Return one segment of complexity K, as actions 1..9."""
        place = self.shelf[k] + index
        return tuple(int(move) + 1 for move in self.moves[place, : self.lengths[place]])


def draws(steps: int) -> int:
    """Return how many draws are surveyed: about a second's work."""
    return max(20_000, min(1_000_000, 30_000_000 // steps))


_UNREADABLE = (OSError, ValueError, KeyError, EOFError, BadZipFile)
SHIPPED = Path(__file__).with_name("data")  # the catalogue of the default settings


@lru_cache(maxsize=16)
def catalogue(kind: Kind, torus: Torus, steps: int) -> Catalogue:
    """Load the catalogue for a torus and a number of steps; make it at the first call.

    That of the default settings comes with the package: drawing it takes a compiler.
    """
    name = f"segments-v{VERSION}-{kind}-{torus.rows}x{torus.cols}-{steps}.npz"
    path = cache_folder() / "catalogues" / name
    for file in (SHIPPED / name, path):
        with contextlib.suppress(*_UNREADABLE), np.load(file) as kept:
            return Catalogue(kept["shelf"], kept["moves"], kept["lengths"], kept["distinct"])
    made = make(kind, torus, steps)
    keep(path, lambda file: np.savez(file, **vars(made)))
    return made


def make(kind: Kind, torus: Torus, steps: int) -> Catalogue:
    """Draw the catalogue anew."""
    from allminds.core.compiled import keys
    from allminds.instruments.lambda_star.fast import worlds

    rules = base_rules(kind, torus, steps)
    complexity, digest = np.empty(draws(steps), np.int32), np.empty(draws(steps), np.uint64)
    of_draws = keys(SEED, np.arange(draws(steps)), MAKING)
    worlds.survey(rules, of_draws, complexity, digest)
    _, first = np.unique(digest, return_index=True)
    first.sort()  # the first draw of every distinct segment, in the order of draws
    of_k = [first[complexity[first] == k][:PER_K] for k in range(int(complexity.max()) + 1)]
    shelf = np.concatenate([[0], np.cumsum([len(places) for places in of_k])]).astype(np.int64)
    chosen = np.concatenate(of_k).astype(np.int64)
    moves = np.zeros((len(chosen), rules.limit), np.uint8)
    lengths, distinct = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
    worlds.redraw(rules, of_draws[chosen], moves, lengths, distinct)
    return Catalogue(shelf, moves, lengths, distinct)


def base_rules(
    kind: Kind, torus: Torus, steps: int, picked: bool = False, **more: Any
) -> TorusRules:
    """Build the rules for drawing segments; `more` adds what whole worlds need.

    Where segments are `picked` from the catalogue, the chances of drawing one are left out.
    """
    from allminds.instruments.lambda_star.fast.arrays import CYCLIC, DRIFT, RELEASED, TorusRules

    limit = max(1, steps // 2)
    drawn = kind == "cyclic" and not picked
    chances = walk_chances(torus, limit) if drawn else np.zeros((1, torus.cells))
    nothing: dict[str, Any] = {
        "agents": 0,
        "shelf": np.zeros(1, np.int64),
        "catalogue": np.zeros((0, limit), np.uint8),
        "lengths": np.zeros(0, np.int64),
        "distinct": np.zeros(0, np.int64),
    }
    return TorusRules(
        kind={"cyclic": CYCLIC, "drift": DRIFT, "released": RELEASED}[kind],
        rows=torus.rows,
        cols=torus.cols,
        steps=steps,
        limit=limit,
        chances=chances,
        plain=np.array(plain_actions(torus), np.uint8) - np.uint8(1),
        **(nothing | more),
    )
