"""Segments by complexity, drawn once from a fixed stream and kept in the user's cache.

High K is rare, so exercises cannot draw until they hit it; they pick from this catalogue. A
draw is named by its number in the stream, so the first pass notes only K and a digest of each
draw, and the chosen ones are drawn again.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.seeding import MAKING
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import Kind, Segment, plain_actions, walk_chances

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.fast.worlds import Rules

SEED = 0x5EC7  # of the catalogue's own stream, the same for everyone
PER_K = 1_000
VERSION = 2  # in the name of the file: goes up when the draw changes


@dataclass(frozen=True)
class Catalogue:
    """Up to `PER_K` distinct segments for every K that some draw had."""

    shelf: NDArray[np.int64]  # segments of complexity K stand at shelf[K]..shelf[K + 1] - 1
    moves: NDArray[np.uint8]  # [segment, l]: actions from 0
    lengths: NDArray[np.int64]
    distinct: NDArray[np.int64]  # cells visited

    def values(self) -> list[int]:
        """Every K that exercises can have: two different segments, or standing still."""
        sizes = np.diff(self.shelf)
        return [k for k, size in enumerate(sizes) if size >= (2 if k >= 3 else 1)]

    def size(self, k: int) -> int:
        """How many segments of complexity K there are."""
        return int(self.shelf[k + 1] - self.shelf[k]) if 0 <= k < len(self.shelf) - 1 else 0

    def segment(self, k: int, index: int) -> Segment:
        """One of them, as actions 1..9."""
        place = self.shelf[k] + index
        return tuple(int(move) + 1 for move in self.moves[place, : self.lengths[place]])


def draws(steps: int) -> int:
    """How many draws are surveyed: about a second's work."""
    return max(20_000, min(1_000_000, 30_000_000 // steps))


@lru_cache(maxsize=16)
def catalogue(kind: Kind, torus: Torus, steps: int) -> Catalogue:
    """The catalogue for a torus and a number of steps; made at the first call, then kept."""
    from allminds.core.compiled import cache_folder

    name = f"segments-v{VERSION}-{kind}-{torus.rows}x{torus.cols}-{steps}.npz"
    path = cache_folder() / "catalogues" / name
    try:
        with np.load(path) as kept:
            return Catalogue(kept["shelf"], kept["moves"], kept["lengths"], kept["distinct"])
    except (OSError, ValueError, KeyError, EOFError):
        made = make(kind, torus, steps)
        _keep(made, path)
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


def base_rules(kind: Kind, torus: Torus, steps: int, **more: Any) -> Rules:
    """The kernels' rules for drawing segments; `more` adds what whole worlds need."""
    from allminds.instruments.lambda_star.fast.worlds import CYCLIC, DRIFT, RELEASED, Rules

    limit = max(1, steps // 2)
    chances = walk_chances(torus, limit) if kind == "cyclic" else np.zeros((1, torus.cells))
    nothing: dict[str, Any] = {
        "agents": 0,
        "shelf": np.zeros(1, np.int64),
        "catalogue": np.zeros((0, limit), np.uint8),
        "lengths": np.zeros(0, np.int64),
        "distinct": np.zeros(0, np.int64),
    }
    return Rules(
        kind={"cyclic": CYCLIC, "drift": DRIFT, "released": RELEASED}[kind],
        rows=torus.rows,
        cols=torus.cols,
        steps=steps,
        limit=limit,
        chances=chances,
        plain=np.array(plain_actions(torus), np.uint8) - np.uint8(1),
        **(nothing | more),
    )


def _keep(made: Catalogue, path: Path) -> None:
    """Write it under a temporary name, then rename; a home that cannot be written to is fine."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(
                    file,
                    shelf=made.shelf,
                    moves=made.moves,
                    lengths=made.lengths,
                    distinct=made.distinct,
                )
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
