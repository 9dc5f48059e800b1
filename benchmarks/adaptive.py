"""Whether the interval of an ability covers at all times at once, and what choosing levels saves.

``python benchmarks/adaptive.py [RUNS]`` gives simulated minds of known ability the C-test's scale
(k = 7..15, free answers) in rounds of five: by the choice of levels, and spread evenly. A cell
has RUNS minds (100 unless it is said) with abilities uniform on 7.5..14.5. It prints the mean
number of items, their ratio, the ordinary interval's, and the share of runs whose interval
contained the ability after every round; then the same for minds that are none of the model's, and
the least ratio that any choice could have: that of a test which knows the mind beforehand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit, logit

from allminds.inference.ability import NEAR, Curves, Ladder

LEVELS = np.arange(7.0, 16.0)
CHANCE = 1 / 26
MOST = 3000
Values = np.ndarray
Rates = Callable[[float, np.random.Generator], Values]


class Given(NamedTuple):
    """A test that a simulated mind took."""

    items: int
    ordinary: int  # after which the ordinary interval was as narrow
    covered: bool
    free: bool  # whether the interval without a curve covered, too


def logistic(slope: float, lapse: float = 0.0, guess: float = CHANCE) -> Rates:
    """Make minds of the model, or with a slope, lapses or guesses that it does not have."""

    def rates(ability: float, _rng: np.random.Generator) -> Values:
        top = 1 - lapse - guess
        return guess + top * expit(
            slope * (ability - LEVELS) + logit(((1 + CHANCE) / 2 - guess) / top)
        )

    return rates


def uneven(slope: float, spread: float) -> Rates:
    """Make minds for whom whole levels are easier or harder than k says, by lot."""
    inner = logistic(slope)

    def rates(ability: float, rng: np.random.Generator) -> Values:
        drawn = logit(np.clip(inner(ability, rng), 1e-9, 1 - 1e-9))
        return expit(drawn + rng.normal(0, spread, len(LEVELS)))

    return rates


def residual(slope: float, spread: float) -> Rates:
    """Make minds for whom the items of a level differ: the rate of a level is their mean."""
    points, weights = np.polynomial.hermite_e.hermegauss(31)

    def rates(ability: float, _rng: np.random.Generator) -> Values:
        each = expit(slope * (ability - LEVELS)[:, None] + spread * points)
        return CHANCE + (1 - CHANCE) * (each * weights).sum(axis=1) / weights.sum()

    return rates


def administered(
    rng: np.random.Generator, ability: float, rates: Values, width: float, even: bool
) -> Given:
    """Give one simulated mind a test."""
    ladder = Ladder(tuple((float(k), CHANCE) for k in LEVELS), width)
    level, hits = np.zeros(0), np.zeros(0)
    covered = free = True
    ordinary = 0
    while len(level) < MOST:
        n = np.arange(len(level), len(level) + ladder.round)
        asked = LEVELS[n % len(LEVELS)] if even else np.array(ladder.next_levels(level, hits))
        level = np.append(level, asked)
        hits = np.append(hits, rng.random(len(asked)) < rates[(asked - LEVELS[0]).astype(int)])
        found = ladder.ability(level, hits)
        covered &= found.anytime[0] <= ability <= found.anytime[1]
        free &= found.free[0] <= ability <= found.free[1]
        if not ordinary and found.ordinary[1] - found.ordinary[0] <= width + NEAR:
            ordinary = len(level)
        if found.is_narrow:
            break
    return Given(len(level), ordinary or MOST, covered, free)


def given(rates: Rates, width: float, runs: int, seed: int, even: bool = False) -> list[Given]:
    """Give a test to some minds."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(runs):
        ability = rng.uniform(7.5, 14.5)
        made.append(administered(rng, ability, rates(ability, rng), width, even))
    return made


def mean(found: Sequence[Given], name: str) -> float:
    """Average a figure over runs."""
    return float(np.mean([getattr(one, name) for one in found]))


def least_ratio(slope: float, width: float) -> float:
    """Compute the least share of the items of an even test, by a choice that knows the mind.

    Each rival half a width away, with any slope, lapses and guessing, must be refuted. A choice
    gathers against the worst of them at most max_x min_rivals Σ x_k·KL_k an item, a linear
    program; evenly spread items gather min_rivals mean KL_k. Both need the same in all.
    """
    curves = Curves({float(k): CHANCE for k in LEVELS}, width)
    rate = np.clip(curves.rates, 1e-9, 1 - 1e-9)
    needed = np.array([_needed(rate, curves, slope, width, a) for a in np.arange(8.0, 14.01, 0.5)])
    even, best = needed.mean(axis=0)
    return float(best / even)


def _needed(
    rate: Values, curves: Curves, slope: float, width: float, ability: float
) -> tuple[float, float]:
    """Return items a unit of evidence: evenly spread, and chosen best."""
    true = logistic(slope)(ability, np.random.default_rng(0))
    even = best = 0.0
    for shift in np.array([-0.2, -0.1, 0.0, 0.1, 0.2]) * width:  # the interval need not be central
        ends = (ability + shift - width / 2, ability + shift + width / 2)
        places = [int(np.abs(curves.abilities - end).argmin()) for end in ends]
        other = np.concatenate([rate[:, place] for place in places])
        told = true * np.log(true / other) + (1 - true) * np.log((1 - true) / (1 - other))
        count = len(LEVELS)
        found = linprog(
            np.r_[np.zeros(count), -1], A_ub=np.c_[-told, np.ones(len(told))],
            b_ub=np.zeros(len(told)), A_eq=[[1] * count + [0]], b_eq=[1],
            bounds=[(0, None)] * count + [(None, None)],
        )  # fmt: skip
        even, best = max(even, told.mean(axis=1).min()), max(best, -found.fun)
    return 1 / even, 1 / best


def main(runs: int) -> None:
    """Print the two tables."""
    print(f"{runs} runs a cell; error of a coverage of .95: {(0.95 * 0.05 / runs) ** 0.5:.3f}\n")
    print("| minds | width | chosen | even | ratio | least ratio | ordinary | covered | even |")
    print("|---|---|---|---|---|---|---|---|---|")
    every: list[Given] = []
    for width in (2.0, 1.5, 1.0):
        for slope in (0.7, 1.2, 3.0):
            chosen = given(logistic(slope), width, runs, seed=1)
            even = given(logistic(slope), width, max(runs // 2, 20), seed=2, even=True)
            every += chosen
            items, others = mean(chosen, "items"), mean(even, "items")
            print(
                f"| slope {slope} | {width} | {items:.0f} | {others:.0f} | {items / others:.2f} | "
                f"{least_ratio(slope, width):.2f} | {mean(chosen, 'ordinary'):.0f} | "
                f"{mean(chosen, 'covered'):.3f} | {mean(even, 'covered'):.3f} |", flush=True,
            )  # fmt: skip
    print(f"\nall {len(every):,} chosen runs: covered {mean(every, 'covered'):.4f}\n")
    print("| minds that are none of the model's | width | items | covered | free covered |")
    print("|---|---|---|---|---|")
    others = {
        "slope .2": logistic(0.2),
        "slope 20": logistic(20.0),
        "guessing .2 where chance is .04": logistic(1.2, guess=0.2),
        "lapses .15": logistic(1.2, lapse=0.15),
        "items of a level differ by N(0, 2) logits": residual(1.2, 2.0),
        "levels off by N(0, .5) logits": uneven(1.2, 0.5),
        "levels off by N(0, 1) logits": uneven(1.2, 1.0),
    }
    for name, rates in others.items():
        found = given(rates, 1.5, runs, seed=3)
        print(
            f"| {name} | 1.5 | {mean(found, 'items'):.0f} | {mean(found, 'covered'):.3f} | "
            f"{mean(found, 'free'):.3f} |", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
