"""Program search: exact k of the published items, and fresh series, in processor seconds.

``python benchmarks/levin.py`` prints these tables alone.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time

import numba
import numpy as np
from measure import Table, times
from ratios import Unequal

from allminds import registry
from allminds.complexity.levin import CLOCK, LIMIT, levin, puzzle
from allminds.complexity.levin_fast import END, OUT, QUIET, WROTE, advance
from allminds.core.compiled import cache_folder
from allminds.instruments.series import bank
from allminds.instruments.series.items import ABDUCTION, INDUCTION

ITEMS = INDUCTION + ABDUCTION
TASKS = ("induction", "abduction")
BUDGET = 2.0  # seconds for all of them
FIRST, A_SECOND = 5.0, 500  # seconds to the first fresh series, and how many a second follow


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
        quickest = math.inf
        for _ in range(3):
            before = time.process_time()
            mine = [levin(item.shown, item.answer).weight for item in of_k]
            quickest = min(quickest, time.process_time() - before)
        before = time.process_time()
        others = [plain_weight(item.shown, item.answer) for item in of_k]
        plainly = time.process_time() - before
        if mine != others:
            raise Unequal(f"the searches differ at k = {k}: {mine} and {others}")
        spent["search"] += quickest
        spent["plain"] += plainly
        rows.append(_row(str(k), len(of_k), quickest, plainly))
    met = "met" if spent["search"] <= BUDGET else "MISSED"
    return Table(
        "Program search",
        f"Exact k of the published items, programs of up to {LIMIT} instructions, in processor "
        "seconds, the quickest of three; the plain search raises the same bound, compiled as well. "
        f"All within {BUDGET:.0f} s: {met}.",
        ("published k", "items", "processor s", "plain s", "x plain"),
        [*rows, _row("all", len(items), spent["search"], spent["plain"])],
    )


def certified(count: int = 5000) -> Table:
    """Certified questions from one pass through all programs, for every start letter."""
    sizes = {(form, k): count // 10 for form in ("induction", "abduction") for k in range(8, 13)}
    bank.questions({("induction", 7): 10}, 1)
    before = time.process_time()
    found = bank.questions(sizes, 1)
    seconds = time.process_time() - before
    met = "met" if seconds <= 60 else "MISSED"
    return Table(
        "Certified questions",
        f"Questions of k = 8..12 made anew, one core; {count:,} within a minute: {met}.",
        ("questions", "seconds", "a second"),
        [[f"{len(found):,}", f"{seconds:.3g}", f"{len(found) / seconds:,.0f}"]],
    )


FRESH = """
import sys, time
from allminds import registry
settings = {"form": "fresh", "k": sys.argv[1], "options": int(sys.argv[2]), "task": sys.argv[3]}
tool = registry.make_instrument("c-test", settings)
begin = time.process_time()
tool.exercise(int(sys.argv[4]), 0)
first = time.process_time()
for n in range(1, int(sys.argv[5])):
    tool.exercise(int(sys.argv[4]), n)
print(first, first - begin, (int(sys.argv[5]) - 1) / (time.process_time() - first))
"""


def _fresh(k: int, options: int, task: str, count: int) -> list[str]:
    """The worst of three seeds, each in a process of its own without any kept certificate."""
    firsts, rates = [], []
    for seed in (8213, 77, 5):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/allminds")
            os.symlink(cache_folder() / "kernels", f"{folder}/allminds/kernels")
            given = [str(one) for one in (k, options, task, seed, count)]
            done = subprocess.run(
                [sys.executable, "-c", FRESH, *given], check=True, capture_output=True, text=True,
                env=os.environ | {"XDG_CACHE_HOME": folder},
            )  # fmt: skip
        whole, _, rate = map(float, done.stdout.split())
        firsts.append(whole)
        rates.append(rate)
    met = "met" if max(firsts) <= FIRST and min(rates) >= A_SECOND else "MISSED"
    row = [str(k), task, str(options), f"{count:,}"]
    return [*row, f"{max(firsts):.2f}", f"{min(rates):,.0f}", met]


def fresh() -> Table:
    """The first fresh series of a process, and how many a second follow, next start letters too."""
    registry.make_instrument("c-test", {"form": "fresh", "k": "9"}).exercise(1, 0)  # compiled
    rows = [_fresh(k, 26, task, 1_000) for k in (9, 10, 11, 12) for task in TASKS]
    rows += [_fresh(12, 5, task, 50) for task in TASKS]
    return Table(
        "Fresh series",
        "Certified series from a seed, in processor seconds of a new process with compiled code "
        "and nothing else kept, imports included; the worst of three seeds. Aims: the first within "
        f"{FIRST:.0f} s, then {A_SECOND} a second.",
        ("k", "task", "options", "series", "first after s", "then a second", "aims"),
        rows,
    )


def _row(name: str, items: int, mine: float, other: float) -> list[str]:
    return [name, str(items), f"{mine:.3g}", f"{other:.3g}", times(other / mine)]


if __name__ == "__main__":
    for table in (published(), certified(), fresh()):
        print(table.markdown(), flush=True)
