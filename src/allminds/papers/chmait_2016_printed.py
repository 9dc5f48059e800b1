"""What Chmait, Li, Dowe and Green (2016) print and say, beside ours: it prints no scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from allminds.papers.paper import Claim, Statement, Worked, scores

EPISODES = 2_000
SEEDS, RUN = 6, 1_000  # identical experiments, and episodes of each
SEGMENT = (7, 3, 4, 9, 8)  # the cells of Figure 3


def claims() -> Sequence[Claim]:
    """Compare the numbers that the paper prints with ours."""
    from allminds.instruments.lambda_star.grid import Torus
    from allminds.instruments.lambda_star.world import MOVE

    grid = Torus(5, 5)
    complexities = scores("lambda-star", "random", EPISODES)["K"]
    indices = "indices 1, 2 and 6 correspond respectively to cells with coordinates"
    far = grid.distance(grid.cell(0, 2), grid.cell(4, 2))
    return (
        Claim("§4.1.1", "distance of cells (1, 3) and (5, 3) on 5 x 5", "1", float(far),
              "the distance between cell (1, 3) and (5, 3) is equal to 1 cell"),
        Claim("§4.2", "index of cell (1, 1) on 5 x 5", "1", float(grid.cell(0, 0)), indices),
        Claim("§4.2", "index of cell (1, 2)", "2", float(grid.cell(0, 1)), indices),
        Claim("§4.2", "index of cell (2, 1)", "6", float(grid.cell(1, 0)), indices),
        Claim("§5.1", "least complexity K of an episode", "2", float(complexities.min()),
              r"K(\mu) \in [2, 23]", note="the default range of `k`, which follows the paper"),
        Claim("§5.1", "greatest complexity K of an episode", "23", float(complexities.max()),
              r"K(\mu) \in [2, 23]", note="the same"),
        Claim("§5.1", "last of the actions from 1", "9", float(MOVE.start + MOVE.n - 1),
              "a discrete action in the range [1, 9]"),
        Claim("§5.1, footnote 3", "standard deviation between identical experiments of 1,000 "
              "episodes", "< 0.001", _spread(), "Usually a standard deviation of less than 0.001",
              note=f"local search on 10 x 10, released patterns, {SEEDS} seeds; the standard error "
              "of one such experiment is about .004. It would take some 16,000 episodes"),
    )  # fmt: skip


@cache
def _spread() -> float:
    """Compute the standard deviation of the scores of identical experiments."""
    found = [
        scores("lambda-star", "local-search", RUN, (("patterns", "released"),), seed)[
            "score"
        ].mean()
        for seed in range(1, SEEDS + 1)
    ]
    return float(np.std(found, ddof=1))


def statements() -> Sequence[Statement]:
    """Check what the paper says in words and what can be computed."""
    random = scores("lambda-star", "random", EPISODES)["score"]
    error = float(random.std()) / len(random) ** 0.5
    expert = scores("lambda-star", "expert", EPISODES)["score"]
    best = scores("lambda-star", "optimum", EPISODES)["score"]
    beaten = float((best > expert + 1e-9).mean())
    return (
        Statement("§2", "a random agent gets a null reward",
                  f"{random.mean():.4f} with a standard error of {error:.4f}; exactly 0 by "
                  "symmetry", abs(float(random.mean())) < 4 * error,
                  "it must return a null reward to agents with a random behaviour"),
        Statement("§5.2.1", "the expert agent is an upper bound on performance",
                  f"backward induction over the ways of Good and Evil gets more in {beaten:.0%} of "
                  f"episodes ({best.mean():.3f} against {expert.mean():.3f} on average)",
                  beaten == 0, "the expert agent is used as an upper bound"),
    )  # fmt: skip


def worked() -> Sequence[Worked]:
    """Compute the complexity of the paper's example, which it describes and does not print."""
    return (
        Worked("K of 7, 3, 4, 9, 8 four times", float(example()),
               "the paper names Lempel and Ziv's complexity and does not print its value"),
    )  # fmt: skip


def example() -> int:
    """Count Lempel and Ziv's phrases in the paper's example of 20 steps."""
    from allminds.complexity import lz76

    return lz76(list(SEGMENT) * 4)
