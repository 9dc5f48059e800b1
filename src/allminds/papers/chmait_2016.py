"""Chmait, Li, Dowe and Green (2016): groups of minds on Λ*.

The paper describes the test and its factors and prints an example of a complexity, but no scores.
Beside ours stand those of the program its authors released, as it is and with its first
observation repaired, and of an independent program of our definition; `docs/lambda-star.md` says
where the authors' program and the paper differ. Its figures, and the tests that it proposes in §6,
are in `chmait_2016_figures`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from allminds.papers import Claim, Erratum, Paper, Part, Statement, Worked, scores
from allminds.papers.chmait_2016_figures import FIGURES, PARTS, against, example
from allminds.papers.phenomena import phenomena
from allminds.papers.plots import lines

CLAIM_EPISODES = 2_000
SEEDS, RUN = 6, 1_000  # identical experiments, and episodes of each


def claims() -> Sequence[Claim]:
    """Compare the numbers that the paper prints with ours."""
    from allminds.instruments.lambda_star.grid import Torus
    from allminds.instruments.lambda_star.world import MOVE

    grid = Torus(5, 5)
    complexities = scores("lambda-star", "random", CLAIM_EPISODES)["K"]
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
    random = scores("lambda-star", "random", CLAIM_EPISODES)["score"]
    error = float(random.std()) / len(random) ** 0.5
    expert = scores("lambda-star", "expert", CLAIM_EPISODES)["score"]
    best = scores("lambda-star", "optimum", CLAIM_EPISODES)["score"]
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


# ---------------------------------------------------------------- what can be computed


EPISODES = 4_000
SINGLES = ("random", "local-search", "q-learning", "expert", "optimum")
PROTOCOLS = ("dictator", "stigmergy", "tree", "auction", "crowd", "imitation", "majority")
# Scores on released patterns, 50 iterations, by three programs that are kept apart: the authors'
# C++ as published; the same with the true map in iteration 1, where it shows a wrong one; and our
# definition in an independent program, which is not theirs. Standard errors where they are known.
PROGRAMS: dict[tuple[str, int, int], dict[str, tuple[float, float | None]]] = {
    ("random", 5, 1): {"repaired": (-0.00008, 0.00057)},
    ("random", 10, 1): {"repaired": (0.00015, 0.00053)},
    ("local-search", 5, 1): {"repaired": (0.44518, 0.00082)},
    ("local-search", 10, 1): {"released": (0.474, None), "repaired": (0.48377, 0.00088)},
    ("expert", 5, 1): {"repaired": (0.88905, 0.00069)},
    ("expert", 10, 1): {"repaired": (0.95313, 0.00024)},
    ("dictator", 5, 5): {"repaired": (0.44434, 0.00161)},
    ("dictator", 10, 5): {"released": (0.466, None), "repaired": (0.47723, 0.00174)},
    ("q-learning", 5, 1): {"rewritten": (0.56213, 0.00045)},
    ("q-learning", 10, 1): {
        "released": (0.326, None), "repaired": (0.334, None), "rewritten": (0.39579, 0.00320),
    },
    ("auction", 10, 5): {"released": (0.519, None), "repaired": (0.543, None)},
    ("crowd", 10, 5): {"released": (0.540, None), "repaired": (0.552, None)},
    ("tree", 10, 5): {"released": (0.471, None), "repaired": (0.482, None)},
    ("imitation", 10, 5): {"released": (0.799, None), "repaired": (0.814, None)},
    ("stigmergy", 10, 5): {"rewritten": (0.5021, 0.0004)},
    ("stigmergy", 10, 10): {"rewritten": (0.5134, 0.0004)},
    ("shared-q-learning", 10, 5): {"rewritten": (0.4734, None)},
}  # fmt: skip
THEIR_EPISODES = 2_000  # where no standard error is known
# What ours is called that follows the rules of their program, where it is not the same name.
AS_THEIRS = {
    "expert": "expert(intercept=false)",
    "imitation": "imitation(intercept=false)",
    "auction": "auction(fallback=false)",
    "q-learning": "q-learning(bootstrap=released)",
    "tree": "local-search",
}
WHY = {  # minds of ours whose rules are others, by definition
    "tree": "their main program calls plain local search for the tree; ours is the tree",
    "auction": "ours lets each follow its own mind if nobody sees a reward above 0",
}


def _settings(**given: object) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in given.items())


def complexity() -> Part:
    """Compute K of the example, and the uncertainty H of where Good and Evil are."""
    import pandas as pd

    from allminds.complexity import search_space

    rows = [
        {"grid": f"{n} x {n}", "H bits": search_space(n, n), "example K": example()}
        for n in (3, 5, 10, 20, 30)
    ]
    return Part(
        "Search space H of a grid, and K of the paper's example",
        "H = log₂(mn(mn - 1)) for two objects in different cells; K is the number of Lempel and "
        "Ziv's phrases in the cells that Good visits.",
        pd.DataFrame(rows),
    )


def by_complexity() -> Part:
    """Plot the score against K."""
    import pandas as pd

    found = {
        mind: scores("lambda-star", mind, EPISODES).groupby("K")["score"].mean() for mind in SINGLES
    }
    return Part(
        "Score against the complexity of the pattern",
        "10 x 10, 50 steps, one mind. What stands still (K = 2) is easiest; then K matters little.",
        pd.DataFrame(found).reset_index(),
        [("Singles by K.", lines(
            {mind: list(zip(of.index, of, strict=True)) for mind, of in found.items()},
            "complexity K", "score", (-0.1, 1),
        ))],
    )  # fmt: skip


def _mean(name: str, **settings: object) -> float:
    """Compute the mean score of a mind or group over a quarter of the episodes."""
    return float(scores("lambda-star", name, EPISODES // 4, _settings(**settings))["score"].mean())


def by_size() -> Part:
    """Plot the score against the size of a group, by protocol."""
    sizes = (1, 2, 5, 10, 20)
    return against(
        {name: [_mean(name, agents=n) for n in sizes] for name in PROTOCOLS},
        "size", sizes, (0, 1),
        "Score against the size of the group, by protocol",
        "Members are local searches. Imitation has an expert to follow, others only each other.",
        "Groups by size.", "agents",
    )  # fmt: skip


def by_time() -> Part:
    """Plot the score against the number of steps."""
    times = (10, 20, 50, 100, 200)
    groups = (("local-search", 1), ("dictator", 5), ("stigmergy", 5), ("crowd", 5))
    return against(
        {name: [_mean(name, agents=n, iterations=time, patterns="released") for time in times]
         for name, n in groups},
        "steps", times, (0, 1),
        "Score against time",
        "10 x 10, patterns as in the released program. Time helps whoever has to find Good first.",
        "By steps.",
    )  # fmt: skip


def released() -> Part:
    """Tabulate the scores of three programs beside ours, on the patterns of the released one.

    Ours stands beside the repaired program's score, or the rewritten one's; they agree if they are
    within four standard errors of the difference.
    """
    import pandas as pd

    rows = []
    for (mind, grid, agents), found in PROGRAMS.items():
        names = [AS_THEIRS.get(mind, mind)] if "repaired" in found else []
        names += [mind] if "rewritten" in found or mind in WHY else []
        for name in names:
            beside = "rewritten" if name == mind and "rewritten" in found else "repaired"
            rows.append(_beside(name, mind, grid, agents, beside))
    return Part(
        "Scores on the patterns of the released program",
        "The paper prints no scores. 'Released' is the authors' program as published, 'repaired' "
        "the same with the true map in iteration 1, 'rewritten' our definition in an independent "
        f"program. Ours are of {EPISODES:,} episodes; they are compared with the repaired program "
        "if they follow its rules, else with the rewritten one.",
        pd.DataFrame(rows),
    )


def _beside(name: str, mind: str, grid: int, agents: int, beside: str) -> dict[str, object]:
    """Compute one row: our score of a mind beside the programs' scores of theirs."""
    frame = scores(
        "lambda-star", name, EPISODES,
        _settings(rows=grid, cols=grid, agents=agents, patterns="released"),
    )["score"]  # fmt: skip
    found, spread, ours = PROGRAMS[mind, grid, agents], float(frame.std()), float(frame.mean())
    theirs, stderr = found[beside]
    if stderr is None:
        stderr = spread / THEIR_EPISODES**0.5
    error = math.hypot(stderr, spread / EPISODES**0.5)
    within = abs(ours - theirs) <= 4 * error
    return {
        "their mind": mind, "grid": f"{grid} x {grid}", "agents": agents,
        **{kind: found.get(kind, (math.nan,))[0] for kind in ("released", "repaired", "rewritten")},
        "our mind": name, "ours": ours, "beside": beside, "four errors": 4 * error,
        "within": within, "why not": "" if within else WHY.get(mind, ""),
    }  # fmt: skip


ERRATA = (
    Erratum("reward", "⊕ twice", "the second is ⊖: Evil takes away what Good gives",
            "without it no reward could be negative"),
    Erratum("the expert as an oracle", "a ceiling", "beaten by the optimum in an eighth to a "
            "quarter of episodes", "`allminds evaluate lambda-star -m expert -m optimum`"),
    Erratum("§5.1, footnote 3", "a standard deviation of less than .001 between identical "
            "experiments of 1,000 episodes", "about .003 to .004 for local search, from six seeds "
            "and from the spread of episodes", "`allminds reproduce chmait-2016`, its numbers"),
)  # fmt: skip

PAPER = Paper(
    name="chmait-2016",
    cited="Chmait, Li, Dowe and Green (2016)",
    citation="N. Chmait, Y.-F. Li, D. L. Dowe, D. G. Green: A dynamic intelligence test framework "
    "for evaluating AI agents. Evaluating general-purpose AI, ECAI 2016",
    what="Groups of minds on a torus with Good and Evil.",
    parts={
        **FIGURES,
        "complexity": complexity,
        "released": released,
        "by-complexity": by_complexity,
        "by-size": by_size,
        "by-time": by_time,
        **PARTS,
        "phenomena": phenomena,
    },
    claims=claims,
    statements=statements,
    worked=worked,
    errata=ERRATA,
)
