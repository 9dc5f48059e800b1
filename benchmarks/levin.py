"""Program search: exact k of the published items, against the plain search with a rising bound."""

from __future__ import annotations

import math
import time

import numba
import numpy as np
from measure import Table, times
from ratios import Unequal

from allminds.complexity.levin import CLOCK, LIMIT, levin, puzzle
from allminds.complexity.levin_fast import END, OUT, QUIET, WROTE, advance
from allminds.instruments.series import bank
from allminds.instruments.series.items import ABDUCTION, INDUCTION

ITEMS = INDUCTION + ABDUCTION
BUDGET = 10.0  # seconds for all of them


@numba.njit(nogil=True)
def plain(letters, start, clock, limit, below):  # type: ignore[no-untyped-def]
    """The least weight below a bound, or the bound itself.

    A program is extended only when its run reaches its end and dropped at the first wrong letter
    or when its cost must reach the bound, each WRITE still to come being a step; nothing else is
    clever.
    """
    program = np.zeros(limit, np.int8)
    saved = np.zeros((limit + 1, 7), np.int64)
    tried = np.zeros(limit + 1, np.int64)
    saved[0, 0] = saved[0, 1] = start
    depth = 0
    while depth >= 0:
        if depth == limit or tried[depth] == 10:
            tried[depth] = 0
            depth -= 1
            continue
        program[depth] = tried[depth]
        tried[depth] += 1
        a, b, c, steps, writes, silent, clocked = saved[depth]
        at, length, why = depth, depth + 1, OUT
        longest = (below - 1) >> length
        while writes < len(letters) and clocked <= longest:
            most = QUIET - silent
            if writes < clock:
                most = min(most, longest - steps - (clock - writes - 1))
            if most < 1:
                why = OUT
                break
            why, at, a, b, c, took = advance(program, length, at, a, b, c, most)
            steps += took
            silent += took
            if why == WROTE and letters[writes] >= 0 and letters[writes] != a:
                why = OUT
            if why != WROTE:
                break
            writes, silent = writes + 1, 0
            if writes == clock:
                clocked = steps
        if why == WROTE and writes == len(letters):
            below = min(below, clocked << length)
        elif why == END and (clocked or steps + clock - writes) << (length + 1) < below:
            depth += 1
            saved[depth] = (a, b, c, steps, writes, silent, clocked)
    return below


def plain_weight(shown: str, answer: str) -> int:
    """The weight of the cheapest program, by the plain search."""
    asked = puzzle(shown, answer=answer)
    letters = np.array(asked.begun(asked.letters[0], CLOCK), np.int8)
    k = 7
    while True:
        below = math.isqrt(2 ** (2 * k + 1)) + 1
        found = int(plain(letters, asked.letters[0], CLOCK, LIMIT, below))
        if found < below:
            return found
        k += 1


def published(hardest: int = 15) -> Table:
    """Exact k of the published items up to some k, each with its answer."""
    items = [item for item in ITEMS if item.k <= hardest]
    plain_weight("abcd_", "e")
    levin("abcd_", "e")
    rows = []
    spent = {"search": 0.0, "plain": 0.0}
    for k in sorted({item.k for item in items}):
        of_k = [item for item in items if item.k == k]
        before = time.perf_counter()
        mine = [levin(item.shown, item.answer).weight for item in of_k]
        between = time.perf_counter()
        others = [plain_weight(item.shown, item.answer) for item in of_k]
        after = time.perf_counter()
        if mine != others:
            raise Unequal(f"the searches differ at k = {k}: {mine} and {others}")
        spent["search"] += between - before
        spent["plain"] += after - between
        rows.append(_row(str(k), len(of_k), between - before, after - between))
    met = "met" if spent["search"] <= BUDGET else "MISSED"
    return Table(
        "Program search",
        f"Exact k of the published items, programs of up to {LIMIT} instructions, one core; the "
        "plain search raises the same bound, compiled as well. "
        f"All within {BUDGET:.0f} s: {met}.",
        ("published k", "items", "seconds", "plain s", "x plain"),
        [*rows, _row("all", len(items), spent["search"], spent["plain"])],
    )


def certified(count: int = 5000) -> Table:
    """Certified questions from one pass through all programs, for every start letter."""
    sizes = {(form, k): count // 10 for form in ("induction", "abduction") for k in range(8, 13)}
    bank.questions({("induction", 7): 10}, 1)
    before = time.perf_counter()
    found = bank.questions(sizes, 1)
    seconds = time.perf_counter() - before
    met = "met" if seconds <= 60 else "MISSED"
    return Table(
        "Certified questions",
        f"Questions of k = 8..12 made anew, one core; {count:,} within a minute: {met}.",
        ("questions", "seconds", "a second"),
        [[f"{len(found):,}", f"{seconds:.3g}", f"{len(found) / seconds:,.0f}"]],
    )


def _row(name: str, items: int, mine: float, other: float) -> list[str]:
    return [name, str(items), f"{mine:.3g}", f"{other:.3g}", times(other / mine)]
