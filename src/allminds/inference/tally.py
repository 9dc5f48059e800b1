"""A running tally: the plays of a line-up, added block after block, in memory that stays flat.

Up to `MOST` plays are kept as they are. Beyond that, plays that are alike (the same stratum, score,
failure and learning) become one row with a count. Nothing else enters a mean, its interval, its
bounds and the learning, so that the figures are those of all plays, but for the last bits of their
sums; and the counts are the same in whatever blocks the plays come. Memory is flat wherever scores
have few values, as means of rewards have. Plays are kept as they are where counts would not do:
repeats of an item, clusters, administrations of an adaptive test, and exercises on which minds are
compared in pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allminds.core.blocks import Block
from allminds.inference.estimates import Estimate, Plays, Rule, estimate, plays_of
from allminds.inference.units import Numbers, Values

MOST = 1 << 20  # plays that are kept as they are

Ranges = Sequence[tuple[int, int]]


@dataclass
class Tally:
    """The plays of a line-up, added block after block and readable at any moment.

    Plays of exercises that are `paired` with those of other minds are kept for that; None stands
    for all of them.
    """

    rule: Rule
    paired: Ranges | None = ()
    _parts: list[Plays] = field(default_factory=list)
    _pairs: list[Plays] = field(default_factory=list)  # of those that were counted, the paired
    _lots: list[Plays] = field(default_factory=list)  # counted; the first is the largest
    _waiting: int = 0  # plays in the parts
    _alone: bool = True  # every play is of an item of its own

    def add(self, block: Block) -> None:
        """Append the plays of the next block."""
        self._parts.append(plays_of(block, self.rule))
        self._waiting += len(self._parts[-1])
        self._alone &= block.item is None and block.cluster is None
        if self._lots and not self._alone:
            raise ValueError("items are named for some exercises of a test and not for others")
        counts = self._alone and self.paired is not None and self.rule.figure is None
        if counts and self._waiting > MOST:
            self._count()

    def _count(self) -> None:
        """Count the plays that are waiting; keep those that are paired."""
        assert self.paired is not None
        whole = joined(self._parts)
        self._pairs.append(whole.where(_within(whole.item, self.paired)))
        self._lots.append(counted([whole]))
        self._parts, self._waiting = [], 0
        if sum(map(len, self._lots[1:])) > len(self._lots[0]) or len(self._lots) > 64:
            self._lots = [counted(self._lots)]

    def plays(self) -> Plays:
        """Join the plays so far; once plays are counted, those that are paired."""
        if not self._lots:
            self._parts = [joined(self._parts)]
            return self._parts[0]
        if self._parts:
            self._count()
        self._pairs = [joined(self._pairs)]
        return self._pairs[0]

    def estimate(self) -> Estimate:
        """Estimate the score from the plays so far."""
        if not self._lots:
            return estimate(self.plays(), self.rule)
        return estimate(counted([*self._lots, *self._parts]), self.rule)


def joined(parts: Sequence[Plays]) -> Plays:
    """Join plays that follow each other."""
    if not parts:
        none, nothing = np.zeros(0, np.int64), np.zeros(0)
        return Plays(none, none, nothing, nothing, np.zeros(0, bool), nothing)
    if len(parts) == 1:
        return parts[0]
    own = all(part.cluster is part.item for part in parts)
    names = [name for name in Plays.__dataclass_fields__ if name != "count"]
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Plays(**whole | ({"cluster": whole["item"]} if own else {}))


def _within(index: Numbers, ranges: Ranges) -> NDArray[np.bool_]:
    """Check which of the exercises lie in one of the ranges, which follow each other."""
    ends = np.array(ranges, np.int64).ravel()
    return np.asarray(np.searchsorted(ends, index, "right") % 2 == 1)


# ---------------------------------------------------------------- plays that are alike


def counted(parts: Sequence[Plays]) -> Plays:
    """Count the plays that are alike, as one row; the rows are in an order of their own.

    Rows are sorted by a number that is mixed from their bits, which takes one sort instead of four.
    Should two different rows have one number, they stay different, for their bits are compared.
    """
    score, stratum, learning, failed = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("score", "stratum", "learning", "failed")
    )
    count = np.concatenate([np.ones(len(p)) if p.count is None else p.count for p in parts])
    bits = np.stack([_bits(of) for of in (score, stratum, learning, failed)])
    order = np.argsort(_mixed(bits), kind="stable")
    bits = bits[:, order]
    new = np.r_[True, (bits[:, 1:] != bits[:, :-1]).any(axis=0)]
    rows = order[new]
    number = np.arange(len(rows))
    sums: Values = np.add.reduceat(count[order], np.flatnonzero(new))
    return Plays(number, number, stratum[rows], score[rows], failed[rows], learning[rows], sums)


def _bits(values: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Read values as whole numbers: equal for equal values, for 0 and -0, and for every NaN."""
    plain = values.astype(float) + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain.view(np.uint64)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each column into one number."""
    mixed = np.zeros(bits.shape[1], np.uint64)
    for row in bits:
        mixed = (mixed ^ row) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed
