"""All that problems must show, for as many as one likes::

    python tests/instruments/matrices/many.py 20000 [seed]

An independent solver finds exactly one right option and no second answer by any of its rules; no
two options are alike, all can be told apart by the table, blind shortcuts are at chance and the
solver that sees the matrix is right. Second answers by rules farther off are counted.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations

from oracle import farther_answers, second_answers, solve

from allminds.instruments.matrices.dataset.battery import (
    best,
    of_sights,
    rule_induction,
    sight,
    unfair,
)
from allminds.instruments.matrices.drawing.visibility import visible
from allminds.instruments.matrices.making.generator import problems


def examined(seed, count):
    """How many problems have each fault, the battery, and second answers by rules farther off."""
    faults, sights, farther = Counter(), [], Counter()
    for problem in problems(seed, 0, count):
        seen = sight(problem)
        sights.append(seen)
        right = [problem.answer]
        faults["not one right option"] += solve(problem.cells[:8], problem.options) != right
        faults["a second answer"] += bool(second_answers(problem.cells[:8], problem.cells[8]))
        farther.update(farther_answers(problem.cells[:8], problem.options, problem.answer))
        faults["options alike"] += len(set(problem.options)) < len(problem.options)
        faults["options hard to tell apart"] += not all(
            visible(one, other) for one, other in combinations(problem.options, 2)
        )
        faults["not solved"] += best(rule_induction(seen.cells, seen.options)) != right
    return faults, of_sights(sights), farther


def main(count, seed=2026):
    faults, entries, farther = examined(seed, count)
    for name, number in faults.items():
        print(f"{name}: {number} of {count:,}")
    for entry in entries:
        must = "must be at chance" if entry.blind else ""
        print(f"{entry.name:22} {100 * entry.hits:6.2f} % ± {100 * entry.stderr:.2f}  {must}")
    for rule, number in farther.most_common():
        print(f"not forbidden, gives a wrong option: {rule}: {number}")
    sys.exit(bool(faults.total() or unfair(entries)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
