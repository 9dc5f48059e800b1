"""Insa-Cabrera et al. (2011): people and Q-learning on Λ.

Our simulation stands beside the published figures: 20,000 tests show where 20 may lie. With the
authors' own rows (`--rows`, see `instruments.lambda_.rows`) theirs are recomputed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.papers.drawing import boxes, density, heat, lines
from allminds.papers.paper import Claim, Erratum, Paper, Part, scores

if TYPE_CHECKING:
    import pandas as pd

TESTS = 20_000
SIZES = range(3, 10)
SAMPLE, SAMPLES = 20, 2_000  # tests in the paper; samples of as many from ours
MINDS = ("random", "follower", "q-learning", "expert", "optimum")
# As printed: mean, sd of test means, correlation with K; then correlations by cells (Table 2).
PUBLISHED = {"mean": 0.259, "sd of test means": 0.122, "correlation": -0.444}
TABLE_2 = {
    "people": (-0.474, -0.134, -0.367, -0.515, -0.282, -0.189, -0.146),
    "q-learning": (-0.612, -0.538, -0.526, -0.403, -0.442, -0.387, -0.465),
}


def simulated(mind: str = "q-learning", tests: int = TESTS) -> pd.DataFrame:
    """Simulate a mind on the paper's generated tests: scores with test and cells."""
    frame = scores("lambda", mind, 7 * tests).copy()
    frame["test"] = frame["exercise"] // 7
    return frame


def summary(frame: pd.DataFrame) -> dict[str, float]:
    """Compute the mean, the standard deviation of test means, and the correlation with K."""
    return {
        "mean": frame["score"].mean(),
        "sd of test means": frame.groupby("test")["score"].mean().std(),
        "correlation": frame["score"].corr(frame["K_prefix"]),
    }


# ---------------------------------------------------------------- tables and figures


def table_1() -> Part:
    """Tabulate the settings of the test."""
    import pandas as pd

    rows = [{"cells": n, "steps": 10 * (n - 1), "p_stop": 1 / n} for n in SIZES]
    total = sum(int(row["steps"]) for row in rows)
    return Part("The seven exercises of a test", f"{total} steps in all.", pd.DataFrame(rows))


def figure_3() -> Part:
    """Plot the distribution of the scores of exercises."""
    frame = simulated()
    plot = density({"q-learning": frame["score"].to_numpy()}, "mean reward of an exercise")
    return Part(
        "Distribution of the scores of exercises",
        f"Q-learning on {7 * TESTS:,} exercises; the paper has 140.",
        frame["score"].describe().rename_axis("of").reset_index(),
        [("q-learning, ours", plot)],
    )


def figure_4() -> Part:
    """Plot scores by number of cells, and against complexity."""
    frame = simulated()
    by_size = frame.groupby("cells")["score"].describe().reset_index()
    by_k = frame.groupby("K")["score"].agg(["mean", "count"]).reset_index()
    by_k = by_k[by_k["count"] >= 100]
    line = {"q-learning": list(zip(by_k["K"], by_k["mean"], strict=True))}
    return Part(
        "Scores by number of cells, and against complexity",
        "Boxes are quartiles, whiskers the 5th and 95th percentile. Score falls with the "
        "complexity of the pattern.",
        by_size,
        [
            ("by cells", boxes(frame, "cells", "score", "cells", "mean reward")),
            ("against K_approx", lines(line, "zlib length of the pattern", "mean reward", (0, 1))),
        ],
    )


def table_2() -> Part:
    """Tabulate correlations by number of cells, beside theirs."""
    import pandas as pd

    frame = simulated()
    rows = []
    for place, cells in enumerate(SIZES):
        here = frame[frame["cells"] == cells]
        low, high = np.nanquantile(_correlations_of_20(here), [0.025, 0.975])
        rows.append({
            "cells": cells, "theirs": TABLE_2["q-learning"][place],
            "ours": here["score"].corr(here["K_prefix"]), "low of 20": low, "high of 20": high,
        })  # fmt: skip
    return Part(
        "Correlation of score and complexity by number of cells, Q-learning",
        "The last columns hold 95 % of all samples of 20 tests.",
        pd.DataFrame(rows),
    )


def samples() -> Part:
    """Locate the published 20 tests among samples of 20."""
    import pandas as pd

    drawn = _samples_of_20()
    rows, plots = [], []
    for name, theirs in PUBLISHED.items():
        values = drawn[name].to_numpy()
        low, high = np.quantile(values, [0.025, 0.975])
        rows.append({
            "figure": name, "theirs": theirs, "ours": summary(simulated())[name],
            "low of 20": low, "high of 20": high, "share below theirs": (values < theirs).mean(),
        })  # fmt: skip
        plots.append((f"{name}: theirs {theirs}", density({"samples": values}, name, theirs)))
    return Part(
        "Where the published 20 tests lie among samples of 20",
        f"{SAMPLES:,} samples of 20 tests out of {TESTS:,}.",
        pd.DataFrame(rows), plots,
    )  # fmt: skip


@cache
def _samples_of_20() -> pd.DataFrame:
    import pandas as pd

    groups = [group for _, group in simulated().groupby("test")]
    random = np.random.default_rng(1)
    drawn = [random.choice(TESTS, SAMPLE, replace=False) for _ in range(SAMPLES)]
    return pd.DataFrame([summary(pd.concat([groups[n] for n in of])) for of in drawn])


def _correlations_of_20(frame: pd.DataFrame) -> NDArray[np.float64]:
    random = np.random.default_rng(1)
    drawn = [frame.iloc[random.choice(len(frame), SAMPLE, replace=False)] for _ in range(SAMPLES)]
    return np.array([part["score"].corr(part["K_prefix"]) for part in drawn])


def parameters() -> Part:
    """Search Q-learning's α and γ on a grid, at a smaller size than theirs."""
    import pandas as pd

    grid = [round(0.05 + 0.1 * n, 2) for n in range(10)]
    rows = [
        {
            "alpha": alpha, "gamma": gamma,
            "score": scores(
                "lambda", f"q-learning(alpha={alpha},gamma={gamma})", 600,
                (("form", "general"), ("steps", "2000")),
            )["score"].mean(),
        }
        for alpha in grid for gamma in grid
    ]  # fmt: skip
    best = max(rows, key=lambda row: row["score"])
    return Part(
        "The choice of α and γ",
        f"600 environments of 2,000 steps for each of 100 pairs. Best: α = {best['alpha']}, γ = "
        f"{best['gamma']} with {best['score']:.3f}; the paper chose .05 and .35 from 400 pairs.",
        pd.DataFrame(rows),
        [("mean reward", heat(pd.DataFrame(rows), "gamma", "alpha", "score"))],
    )


# ---------------------------------------------------------------- numbers in the text


def claims() -> Sequence[Claim]:
    """Compare the published figures of Q-learning with ours.

    The tolerance is two standard deviations of samples of 20 tests.
    """
    from allminds.complexity import measure

    found = summary(simulated())
    drawn = _samples_of_20()
    error = {name: 2 * float(drawn[name].std()) for name in PUBLISHED}
    said = "two standard deviations of samples of 20"
    result = [
        Claim("§5", f"Q-learning: {name}", theirs, found[name], error[name], said)
        for name, theirs in PUBLISHED.items()
    ]
    result.append(Claim("§5", "zlib length of the printed pattern", 19,
                        float(measure("20122220022222200222222002", "zlib")), 0))  # fmt: skip
    result.append(
        Claim("Table 1", "steps of a test", 350, float(table_1().table["steps"].sum()), 0)
    )
    return result


def rows_frame(path: Path) -> pd.DataFrame:
    """Read the authors' rows as a frame: test, cells, subject, score, K (with the letter p)."""
    import pandas as pd

    from allminds.complexity import zlib_length
    from allminds.instruments.lambda_.rows import read_rows

    return pd.DataFrame(
        {
            "test": row.test, "cells": row.cells, "subject": row.subject, "score": row.score,
            "K": zlib_length("p" + "".join(map(str, row.pattern))),
        }
        for row in read_rows(path)
    )  # fmt: skip


def rows_claims(path: Path) -> Sequence[Claim]:
    """Compare what the paper prints with the authors' rows."""
    from allminds.statistics.comparison import repeated_measures

    frame = rows_frame(path)
    result = []
    printed = {"people": (0.237, 0.150, -0.257), "q-learning": (0.259, 0.122, -0.444)}
    for who, (mean, sd, r) in printed.items():
        here = frame[frame["subject"] == who]
        tests = here.groupby("test")["score"].mean()
        result += [
            Claim("§5", f"{who}: mean", mean, here["score"].mean(), 5e-4),
            Claim("§5", f"{who}: sd of test means", sd, tests.std(), 5e-4),
            Claim("§5", f"{who}: correlation with K", r, here["score"].corr(here["K"]), 5e-4),
        ]
        for (cells, part), theirs in zip(here.groupby("cells"), TABLE_2[who], strict=True):
            ours = part["score"].corr(part["K"])
            note = "misprinted: the rows give -.528" if theirs == -0.538 else ""
            result.append(Claim("Table 2", f"{who}, {cells} cells", theirs, ours, 5e-4, note))
    found = repeated_measures(frame, "test", ["subject", "cells"])
    for effect, f, p in zip(
        found.effects, (0.461, 0.401, 0.693), (0.506, 0.877, 0.656), strict=True
    ):
        name = " × ".join(effect.factors)
        result += [Claim("§5", f"ANOVA, F of {name}", f, effect.f or 0.0, 5e-4),
                   Claim("§5", f"ANOVA, p of {name}", p, effect.p or 0.0, 5e-4)]  # fmt: skip
    return result


def rows_figures(path: Path) -> Part:
    """Plot figures 3 and 4 from the authors' rows."""
    frame = rows_frame(path)
    of = {who: frame[frame["subject"] == who] for who in ("people", "q-learning")}
    values = {who: part["score"].to_numpy() for who, part in of.items()}
    plots = [("scores of 140 exercises each", density(values, "mean reward of an exercise"))]
    plots += [
        (f"{who}, by cells", boxes(part, "cells", "score", "cells", "mean reward"))
        for who, part in of.items()
    ]
    means = {
        who: list(part.groupby("K", as_index=False)["score"].mean().itertuples(index=False))
        for who, part in of.items()
    }
    plots.append(
        ("against K_approx", lines(means, "zlib length of the pattern", "mean reward", (-1, 1)))
    )
    return Part(
        "Figures 3 and 4 from the authors' rows",
        "The test did not separate people from Q-learning.",
        frame.groupby(["subject", "cells"])["score"].describe().reset_index(), plots,
    )  # fmt: skip


ERRATA = (
    Erratum("Table 2", "-.538 for Q-learning on 4 cells", "-.528", "the authors' rows"),
    Erratum("§5", "standard deviations .122 and .150", "those of the 20 test means; over the 140 "
            "exercises they are .325 and .334", "the authors' rows"),
    Erratum("§5", "no significant difference, read as no difference", "undecided: people minus "
            "Q-learning is -.022 with a 90 % interval of [-.077, .033]", "`allminds compare`"),
)  # fmt: skip

NAME = "insa-cabrera-2011"
CITATION = (
    "J. Insa-Cabrera, D. L. Dowe, S. España-Cubillo, M. V. Hernández-Lloreda, J. Hernández-Orallo: "
    "Comparing humans and AI agents. AGI 2011"
)
WHAT = "The same test for people and for Q-learning."
PARTS: dict[str, Callable[[], Part]] = {
    "table-1": table_1, "figure-3": figure_3, "figure-4": figure_4, "table-2": table_2,
    "samples": samples, "parameters": parameters,
}  # fmt: skip


def with_rows(path: Path) -> Paper:
    """Add to the paper what the authors' rows give."""
    parts: dict[str, Callable[[], Part]] = {**PARTS, "rows": partial(rows_figures, path)}
    return Paper(NAME, CITATION, WHAT, parts, lambda: [*claims(), *rows_claims(path)], ERRATA)


PAPER = Paper(NAME, CITATION, WHAT, PARTS, claims, ERRATA, with_rows)
