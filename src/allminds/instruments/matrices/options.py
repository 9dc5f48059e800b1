"""Which values of the rules meet in which option.

Every rule has the right value, level 0, and wrong ones. One rule: four values. Two: both values
of one with both of the other. Three with four options: the half fraction, in which every rule
splits the options two and two and every two options differ in two rules; with eight: all of them.
No option is nearer to all others than another, so that no vote among them finds the answer.
"""

from __future__ import annotations

from itertools import product

Design = tuple[tuple[int, ...], ...]  # options, the right one first: a level for each rule

_HALF: Design = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))

DESIGNS: dict[tuple[int, int], Design] = {
    (1, 4): ((0,), (1,), (2,), (3,)),
    (2, 4): tuple(product((0, 1), repeat=2)),
    (3, 4): _HALF,
    (3, 8): tuple(product((0, 1), repeat=3)),
}


def needed_rules(count: int, candidates: int) -> int:
    """How many rules one must know at least to tell the answer from all other options."""
    design = DESIGNS[count, candidates]
    return next(
        size
        for size in range(1, count + 1)
        if all(sum(level == 0 for level in option[:size]) < size for option in design[1:])
    )


def distance(count: int, candidates: int) -> float:
    """In how many attributes a wrong option differs from the answer, on average."""
    wrong = DESIGNS[count, candidates][1:]
    return sum(level != 0 for option in wrong for level in option) / len(wrong)
