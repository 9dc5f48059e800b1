"""Chmait, Li, Dowe and Green (2016): groups of minds on Λ*.

The paper describes the test and its factors and prints an example of a complexity, but no scores.
Beside ours stand those of the program its authors released, run with its first observation
repaired; `docs/lambda-star.md` says where that program and the paper differ. The tests that the
paper proposes in §6 are in `chmait_2016_extensions`.
"""

from __future__ import annotations

import math

from allminds.papers.chmait_2016_extensions import PARTS, figure_5
from allminds.papers.chmait_2016_figures import FIGURES
from allminds.papers.chmait_2016_printed import claims, example, statements, worked
from allminds.papers.drawing import lines
from allminds.papers.paper import Erratum, Paper, Part, scores

EPISODES = 4_000
SINGLES = ("random", "local-search", "q-learning", "expert", "optimum")
PROTOCOLS = ("dictator", "stigmergy", "tree", "auction", "crowd", "imitation", "majority")
# mind, grid, agents: score and standard error of the released program (20,000 or 5,000 episodes).
RELEASED = {
    ("random", 5, 1): (-0.00008, 0.00057), ("random", 10, 1): (0.00015, 0.00053),
    ("local-search", 5, 1): (0.44518, 0.00082), ("local-search", 10, 1): (0.48377, 0.00088),
    ("expert(intercept=false)", 5, 1): (0.88905, 0.00069),
    ("expert(intercept=false)", 10, 1): (0.95313, 0.00024),
    ("q-learning", 5, 1): (0.56213, 0.00045), ("q-learning", 10, 1): (0.39579, 0.00320),
    ("dictator", 5, 5): (0.44434, 0.00161), ("dictator", 10, 5): (0.47723, 0.00174),
}  # fmt: skip


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
    drawn = {mind: list(zip(of.index, of, strict=True)) for mind, of in found.items()}
    return Part(
        "Score against the complexity of the pattern",
        "10 x 10, 50 steps, one mind. What stands still (K = 2) is easiest; then K matters little.",
        pd.DataFrame(found).reset_index(),
        [("Singles by K.", lines(drawn, "complexity K", "score", (-0.1, 1)))],
    )


def by_size() -> Part:
    """Plot the score against the size of a group, by protocol."""
    import pandas as pd

    sizes = (1, 2, 5, 10, 20)
    found = {
        name: [
            scores("lambda-star", name, EPISODES // 4, _settings(agents=n))["score"].mean()
            for n in sizes
        ]
        for name in PROTOCOLS
    }
    drawn = {name: list(zip(sizes, of, strict=True)) for name, of in found.items()}
    return Part(
        "Score against the size of the group, by protocol",
        "Members are local searches. Imitation has an expert to follow, others only each other.",
        pd.DataFrame({"size": sizes} | found),
        [("Groups by size.", lines(drawn, "agents", "score", (0, 1)))],
    )


def by_time() -> Part:
    """Plot the score against the number of steps."""
    import pandas as pd

    times = (10, 20, 50, 100, 200)
    found = {
        name: [
            scores(
                "lambda-star", name, EPISODES // 4,
                _settings(agents=n, iterations=time, patterns="released"),
            )["score"].mean()
            for time in times
        ]
        for name, n in (("local-search", 1), ("dictator", 5), ("stigmergy", 5), ("crowd", 5))
    }  # fmt: skip
    drawn = {name: list(zip(times, of, strict=True)) for name, of in found.items()}
    return Part(
        "Score against time",
        "10 x 10, patterns as in the released program. Time helps whoever has to find Good first.",
        pd.DataFrame({"steps": times} | found),
        [("By steps.", lines(drawn, "steps", "score", (0, 1)))],
    )


def released() -> Part:
    """Tabulate the scores of the released program beside ours, on its patterns.

    The tolerance of a score is four standard errors.
    """
    import pandas as pd

    rows = []
    for (mind, grid, agents), (theirs, stderr) in RELEASED.items():
        frame = scores(
            "lambda-star", mind, EPISODES,
            _settings(rows=grid, cols=grid, agents=agents, patterns="released"),
        )["score"]  # fmt: skip
        error = math.hypot(stderr, float(frame.std()) / len(frame) ** 0.5)
        ours = float(frame.mean())
        rows.append({
            "mind": mind, "grid": f"{grid} x {grid}", "agents": agents, "program": theirs,
            "ours": ours, "four errors": 4 * error, "within": abs(ours - theirs) <= 4 * error,
        })  # fmt: skip
    return Part(
        "Scores on the patterns of the released program",
        f"The paper prints no scores. Ours are of {EPISODES:,} episodes.",
        pd.DataFrame(rows),
    )


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
        "figure-5": figure_5,
        "complexity": complexity,
        "released": released,
        "by-complexity": by_complexity,
        "by-size": by_size,
        "by-time": by_time,
        **PARTS,
    },
    claims=claims,
    statements=statements,
    worked=worked,
    errata=ERRATA,
)
