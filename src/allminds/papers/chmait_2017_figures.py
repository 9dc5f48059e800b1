"""The figures of Chmait, Dowe, Li and Green (2017), and its table of minds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.papers import Part
from allminds.papers.plots import lines, marked_curves

if TYPE_CHECKING:
    import pandas as pd

    from allminds.statistics.accuracy import Counts
    from allminds.statistics.selection import Curve

MINDS = (
    "random", "mode", "min-repetition", "min-distance", "max-distance", "pattern", "pattern(y=2)",
    "pattern(y=3)", "pattern(y=4)",
)  # fmt: skip
MIND = 11.28  # α of the min-distance mind in Figures 2 and 4
MIND_OF_TEXT = 12.0094  # and in §8
BETTER, WORSE, GOOD = 16.33, 4.56, 15.18  # abilities of other members
GROUPS = {"A1": (MIND,) * 3, "A2": (MIND, MIND, BETTER), "A3": (MIND, MIND, WORSE),
          "A4": (WORSE, BETTER, GOOD)}  # fmt: skip
SPACES = (2, 3, 5, 10)  # options m in Figure 5, which does not say its own
SERIES = "cabdbccecd_"  # the induction item of Table 1 here, k = 14
P_AXIS = "accuracy P"


# ---------------------------------------------------------------- Table 1

BEHAVIOURS = {
    "random": ("random agent", "any letter, all equally likely"),
    "mode": ("mode agent", "the most frequent letter, the left-most of several"),
    "min-repetition": (
        "min-repetition agent",
        "the least frequent letter; of several the left-most (ours: the paper does not say)",
    ),
    "min-distance": (
        "min-distance agent",
        "the least frequent distance of neighbours, added to the last letter, as the formula says",
    ),
    "min-distance(by=value)": (
        "min-distance agent",
        "the smallest distance instead, as the text says",
    ),
    "max-distance": ("max-distance agent", "the most frequent distance, as the formula says"),
    "max-distance(by=value)": (
        "max-distance agent",
        "the largest distance instead, as the text says",
    ),
    "pattern": ("pattern agent 1", "repeats the pattern of distances between letters 1 apart"),
    "pattern(y=2)": ("pattern agent 2", "the same for letters 2 apart"),
    "pattern(y=3)": ("pattern agent 3", "the same for letters 3 apart"),
    "pattern(y=4)": ("pattern agent 4", "the same for letters 4 apart"),
}


def table_1() -> Part:
    """Tabulate the minds: what each does, its answer to a series, and its score."""
    import pandas as pd

    from allminds import registry
    from allminds.episode import play
    from allminds.instruments.series.items import INDUCTION
    from allminds.statistics.accuracy import scores

    number = next(n for n, item in enumerate(INDUCTION) if item.shown == SERIES)
    tool = registry.make_instrument("c-test", {})
    rows = []
    for name, (agent, behaviour) in BEHAVIOURS.items():
        expected = name == "random"
        found = [1 / 26] * len(INDUCTION) if expected else _hits(name)
        record = play(tool.exercise(1, number), registry.line_up(name, tool))
        answer = "any" if expected else "abcdefghijklmnopqrstuvwxyz"[record.actions[0][0]]
        rows.append({
            "in the paper": agent, "mind": name, "answers": behaviour,
            f"next of {SERIES.rstrip('_')}": answer,
            "r̃": round(float(scores(_counts([found]))[0]), 3),
        })  # fmt: skip
    return Part(
        "Sample agent behaviours evaluated over the C-test",
        "Text and formula of the two distance agents contradict each other: both are here, and "
        "the formula is the default. r̃ is the score on the 20 published induction items (of the "
        f"random mind: expected). The series is one of them; the next letter is "
        f"{INDUCTION[number].answer}.",
        pd.DataFrame(rows),
    )


# ---------------------------------------------------------------- Figure 1


@cache
def answers() -> Counts:
    """Count hits of the nine minds on the published items; the random mind's are expected."""
    from allminds.instruments.series.items import INDUCTION

    return _counts([[1 / 26] * len(INDUCTION), *(_hits(name) for name in MINDS[1:])])


def _hits(name: str) -> list[float]:
    from allminds import registry
    from allminds.episode import play

    tool = registry.make_instrument("c-test", {})
    line_up = registry.line_up(name, tool)
    plays = [play(tool.exercise(1, i), line_up) for i in range(tool.length or 0)]
    return [float(record.score[0] or 0) for record in plays]


def group_score(name: str) -> float:
    """Compute the score r̃ of one mind or group on the published items."""
    from allminds.statistics.accuracy import scores

    return float(scores(_counts([_hits(name)]))[0])


def _counts(hits: Sequence[Sequence[float]]) -> Counts:
    from allminds.instruments.series.items import INDUCTION
    from allminds.statistics.accuracy import Counts

    return Counts.of([item.k for item in INDUCTION], hits, options=26)


def figure_1() -> Part:
    """Compute scores, and the accuracy that Eq. 1 gives with the fitted ω."""
    import pandas as pd

    from allminds.statistics.accuracy import accuracy, omega, scores

    counts = answers()
    fitted, found = omega(counts), scores(counts)
    level = counts.by_level()
    rows, plots = [], []
    for n, name in enumerate(MINDS):
        alpha = fitted.omega * found[n]
        rates = level.hits[n] / level.trials[n]
        foreseen = accuracy(level.difficulty, alpha, options=26)
        rows += [
            {
                "mind": name,
                "score": found[n],
                "ability": alpha,
                "k": k,
                "hit rate": rate,
                "Eq. 1": p,
            }
            for k, rate, p in zip(level.difficulty, rates, foreseen, strict=True)
        ]
        drawn = {
            "Eq. 1": list(zip(level.difficulty, foreseen, strict=True)),
            "observed": list(zip(level.difficulty, rates, strict=True)),
        }
        caption = f"{name}: r̃ {found[n]:.3f}, α {alpha:.2f}"
        plots.append((caption, lines(drawn, "complexity k", "hit rate", (0, 1))))
    return Part(
        "Scores of nine minds on the C-test and their accuracies by Eq. 1",
        f"ω = {fitted.omega:.1f} on the published items (28 in the paper, on others). The minds "
        "are not the smooth curves that Eq. 1 makes of them: its root mean square error is "
        f"{fitted.mean_squared_error**0.5:.2f}.",
        pd.DataFrame(rows), plots,
    )  # fmt: skip


# ---------------------------------------------------------------- Figures 2, 3 and 4


def figure_2() -> Part:
    """Plot the accuracy of the min-distance mind over difficulty, by options."""
    import pandas as pd

    from allminds.statistics.accuracy import accuracy

    grid = np.arange(0.0, 41.0)
    drawn = {f"m = {m}": accuracy(grid, MIND, options=m) for m in (2, 3, 5, 10, 26)}
    rows = [
        {"options": m, "difficulty": d, "accuracy": accuracy(d, MIND, options=m)}
        for m in range(2, 27)
        for d in grid
    ]
    plot = lines({name: list(zip(grid, p, strict=True)) for name, p in drawn.items()},
                 "difficulty D", P_AXIS, (0, 1))  # fmt: skip
    return Part(
        f"Accuracy of a mind of α = {MIND} over difficulty, by options",
        "The more options, the less one more matters.",
        pd.DataFrame(rows), [("Every curve falls to 1/m.", plot)],
    )  # fmt: skip


def figure_3() -> Part:
    """Plot the shift in accuracy over difficulty and options, by ability."""
    import pandas as pd

    from allminds.statistics.accuracy import accuracy

    rows = [
        {"ability": a, "difficulty": d, "options": m, "accuracy": float(accuracy(d, a, options=m))}
        for a in range(1, 9) for d in range(1, 21) for m in range(2, 11)
    ]  # fmt: skip
    plots = []
    for m in (2, 5, 10):
        drawn = {
            f"α = {a}": [
                (row["difficulty"], row["accuracy"])
                for row in rows if (row["ability"], row["options"]) == (a, m)
            ]
            for a in (1, 2, 4, 8)
        }  # fmt: skip
        plots.append((f"m = {m}", lines(drawn, "difficulty D", P_AXIS, (0, 1))))
    return Part(
        "Shift in accuracy over difficulty and options, by ability",
        "For poor minds accuracy is all but 1/m: options matter more than difficulty. For better "
        f"ones it is the other way round; over D = 1 to 20 and m = 2 to 10 from α = "
        f"{turning_ability():.2f} on (the paper: 3, without its ranges).",
        pd.DataFrame(rows), plots,
    )  # fmt: skip


def turning_ability(first: int = 1, most: int = 10) -> float:
    """Find the α from which difficulty matters more than options.

    From there on, difficulty `first`..20 changes accuracy more than options 2..`most` do, on
    average.
    """
    from scipy.optimize import brentq

    from allminds.statistics.accuracy import accuracy

    def excess(ability: float) -> float:
        grid = np.arange(float(first), 21.0)[:, None], np.arange(2, most + 1)[None, :]
        found = accuracy(grid[0], ability, options=grid[1])
        return float(np.ptp(found, axis=0).mean() - np.ptp(found, axis=1).mean())

    return float(brentq(excess, 0.1, 20))


def figure_4() -> Part:
    """Compute the hardest task for every accuracy that is wanted, by options."""
    import pandas as pd

    from allminds.statistics.accuracy import difficulty

    wanted = (0.6, 0.7, 0.8, 0.9)
    options = np.arange(2, 27)
    drawn = {
        f"P ≥ {p}": [(float(m), float(difficulty(p, MIND, options=m))) for m in options]
        for p in wanted
    }
    rows = [
        {"accuracy": float(name[4:]), "options": m, "hardest": d}
        for name, line in drawn.items() for m, d in line
    ]  # fmt: skip
    plot = lines(drawn, "options m", "hardest difficulty D", (0, 19))
    return Part(
        f"Difficulty up to which an accuracy is reached, by options, for α = {MIND}",
        "Predicted, not guaranteed: α is an estimate, and Eq. 1 a curve that other curves beat on "
        "answers of people.",
        pd.DataFrame(rows), [("Below a line that accuracy is predicted.", plot)],
    )  # fmt: skip


# ---------------------------------------------------------------- Figure 5


def group_curves(options: int, ability: float = MIND) -> dict[str, Curve]:
    """Build the curves of the min-distance mind of an ability, and of the four groups that vote."""
    from allminds.statistics.accuracy import accuracy
    from allminds.statistics.selection import group_curve

    def single(alpha: float) -> Curve:
        return lambda hard: accuracy(hard, alpha, options=options)

    members = {name: [ability if a == MIND else a for a in of] for name, of in GROUPS.items()}
    voting = {
        name: group_curve([single(a) for a in of], "majority", options)
        for name, of in members.items()
    }
    return {"alone": single(ability), **voting}


def figure_5() -> Part:
    """Compare four groups that vote with the single mind, in four panels."""
    import pandas as pd

    grid = np.arange(0.0, 40.5, 0.5)
    curves = {m: {n: c(grid) for n, c in group_curves(m, MIND_OF_TEXT).items()} for m in SPACES}
    plots = []
    for name, caption in PANELS.items():
        drawn = {f"m = {m}": _points(grid, of[name]) for m, of in curves.items()}
        alone = {f"m = {m}": _points(grid, of["alone"])[::2] for m, of in curves.items()}
        last = name == "A4"
        stars = [] if last else _stars(name)
        made = marked_curves(
            drawn, {} if last else alone, stars, ("difficulty D", (0, 40)), (P_AXIS, (0, 1))
        )
        plots.append((caption, made))
    rows = [
        {"options": m, "subject": name, "difficulty": d, "accuracy": p}
        for m, of in curves.items() for name, line in of.items()
        for d, p in zip(grid, line, strict=True)
    ]  # fmt: skip
    return Part(
        "Groups that vote by majority beside one of their members",
        f"Drawn with the α = {MIND_OF_TEXT} of §8 for π, the min-distance mind: dots in the first "
        "three panels. * marks where a group is as accurate as π. A group of equals is better "
        "than its members exactly where these are right more often than not. The paper does not "
        "say which m it draws, nor the ability of the worse member of A³: here "
        f"{WORSE}, the weakest that it names. The table has the cut-offs for both abilities that "
        "the paper gives to π.",
        pd.DataFrame(rows), plots,
        summary=_cut_offs(),
    )  # fmt: skip


PANELS = {
    "A1": "Top left, A¹: π three times.",
    "A2": f"Top right, A²: one π replaced by a better mind, α = {BETTER}.",
    "A3": f"Bottom left, A³: one π replaced by a worse mind, α = {WORSE}.",
    "A4": f"Bottom right, A⁴: α = {WORSE}, {BETTER} and {GOOD}.",
}


def _points(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]


def _stars(name: str) -> list[tuple[float, float]]:
    """Find where a group is as accurate as the single mind, for every m."""
    found = []
    for m in SPACES:
        at = cut_off(m, MIND_OF_TEXT, "alone", name)
        if not np.isnan(at):
            accuracy = group_curves(m, MIND_OF_TEXT)["alone"](np.array([at]))
            found.append((at, float(accuracy[0])))
    return found


def _cut_offs() -> pd.DataFrame:
    """Tabulate where groups meet the single mind and each other, for both abilities of π."""
    import pandas as pd

    pairs = {"π and A¹": ("alone", "A1"), "π and A²": ("alone", "A2"),
             "π and A³": ("alone", "A3"), "A¹ and A⁴": ("A1", "A4")}  # fmt: skip
    return pd.DataFrame(
        {"equal at D": pair, "m": m}
        | {f"α = {a}": round(cut_off(m, a, *two), 2) for a in (MIND, 12, MIND_OF_TEXT)}
        for pair, two in pairs.items()
        for m in (*SPACES, 26)
    )


def cut_off(options: int, ability: float, one: str, other: str) -> float:
    """Find the difficulty at which two of the subjects are equally accurate; NaN if none."""
    from allminds.statistics.selection import crossings

    curves = group_curves(options, ability)
    found = crossings(curves[one], curves[other], 0.01, 60).at
    return found[0] if found else float("nan")
