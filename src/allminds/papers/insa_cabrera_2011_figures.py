"""The figures and tables of Insa-Cabrera et al. (2011): a simulation, and the authors' rows.

Without the rows there is Q-learning alone: 20,000 simulated tests show where the 20 of the paper
may lie, and the first 20 are drawn in the paper's size. People are in the rows only.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.papers import Part, diagrams, scores
from allminds.papers.plots import boxes_beside, cloud, density, heat, histogram

if TYPE_CHECKING:
    import pandas as pd

    from allminds.contracts import Exercise

TESTS = 20_000
SIZES = range(3, 10)
SAMPLE, SAMPLES = 20, 2_000  # tests in the paper; samples of as many from ours
# As printed: mean, sd of test means, correlation with K.
PUBLISHED = {"mean": 0.259, "sd of test means": 0.122, "correlation": -0.444}
# Table 2 as printed: correlation and p by number of cells.
TABLE_2 = {
    "people": (
        ("-.474", ".017"), ("-.134", ".286"), ("-.367", ".056"), ("-.515", ".010"),
        ("-.282", ".114"), ("-.189", ".213"), ("-.146", ".270"),
    ),
    "q-learning": (
        ("-.612", ".002"), ("-.538", ".008"), ("-.526", ".009"), ("-.403", ".039"),
        ("-.442", ".026"), ("-.387", ".046"), ("-.465", ".019"),
    ),
}  # fmt: skip
REWARD = "mean reward of an exercise"
OUR_TESTS = "q-learning, 20 simulated tests"


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


def first_tests() -> pd.DataFrame:
    """Take the first 20 simulated tests, as many as the paper has."""
    frame = simulated()
    return frame[frame["test"] < SAMPLE]


def one_tailed(r: float, n: int) -> float:
    """Compute the p value of a negative correlation, one-tailed, as in Table 2."""
    from scipy.stats import t

    return float(t.cdf(r * np.sqrt((n - 2) / (1 - r * r)), n - 2))


def read(path: Path) -> pd.DataFrame:
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


def subjects(rows: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Split the authors' rows by subject; without rows, take Q-learning's simulated tests."""
    if rows is None:
        frame = first_tests()
        return {OUR_TESTS: frame.assign(K=frame["K_prefix"])}
    return {who: rows[rows["subject"] == who] for who in ("q-learning", "people")}


def _of(rows: pd.DataFrame | None) -> str:
    """Say whose scores these are."""
    if rows is not None:
        return "From the authors' rows. "
    return (
        "Q-learning on the first 20 of our simulated tests; the scores of people are in the "
        "authors' rows, which are not part of allminds: give them with --rows. "
    )


# ---------------------------------------------------------------- tables and figures


def table_1() -> Part:
    """Tabulate the settings of the test, as its exercises have them."""
    import pandas as pd

    from allminds import registry

    tool = registry.make_instrument("lambda", {})
    worlds: list[Any] = [tool.exercise(1, i).environment for i in range(len(SIZES))]
    rows = [
        {
            "Env. #": n, "No. cells (n_c)": world.space.cells, "No. steps (m)": world.steps,
            "p_stop": f"1/{world.space.cells}",
        }
        for n, world in enumerate(worlds, 1)
    ]  # fmt: skip
    total = sum(world.steps for world in worlds)
    rows.append({"Env. #": "TOTAL", "No. cells (n_c)": "-", "No. steps (m)": total, "p_stop": "-"})
    return Part(
        "Setting for the 7 environments which compose the test",
        "Cells and steps are those of the first seven exercises of `lambda`.",
        pd.DataFrame(rows),
    )


def figure_3(rows: pd.DataFrame | None = None) -> Part:
    """Draw histograms of the scores of exercises, with their densities."""
    import pandas as pd

    of = subjects(rows)
    plots = [
        (f"{who}: {len(frame)} exercises", histogram(frame["score"].to_numpy(), REWARD, 0.2, 2.0))
        for who, frame in of.items()
    ]
    table = pd.DataFrame({who: frame["score"].describe() for who, frame in of.items()})
    return Part(
        "Histograms of the 140 exercises, with probability densities",
        _of(rows) + "Bins and bandwidth are the defaults of R, which the paper used.",
        table.rename_axis("of").reset_index(), plots,
    )  # fmt: skip


def figure_4(rows: pd.DataFrame | None = None) -> Part:
    """Draw scores by number of cells and by agent, and every exercise against complexity."""
    import pandas as pd

    of = subjects(rows)
    points = {
        who: [(float(k), float(s)) for k, s in zip(frame["K"], frame["score"], strict=True)]
        for who, frame in of.items()
    }
    top = max(k for drawn in points.values() for k, _ in drawn)
    number = sum(map(len, points.values()))
    plots = [
        ("Left: scores by number of cells. Boxes are quartiles, the black segment the median, "
         "lines join the means.",
         boxes_beside(of, "cells", "score", "number of cells", ("mean reward", (-1, 1)))),
        (f"Right: {number} exercises against K_approx.",
         cloud(points, ("K_approx", (8, top + 1)), ("mean reward", (-1, 1)))),
    ]  # fmt: skip
    table = [frame.groupby("cells")["score"].describe().assign(agent=who).reset_index()
             for who, frame in of.items()]  # fmt: skip
    return Part(
        "Scores by number of cells, and all exercises against complexity",
        _of(rows) + "K_approx is the length of the pattern after zlib, with the letter p before "
        "it, as the authors had it.",
        pd.concat(table), plots,
    )  # fmt: skip


def table_2(rows: pd.DataFrame | None = None) -> Part:
    """Tabulate correlations with complexity and their p values by number of cells."""
    import pandas as pd

    found = subjects(rows) if rows is not None else {}
    frame, table = simulated(), []
    for who, printed in TABLE_2.items():
        for cells, (r, p) in zip(SIZES, printed, strict=True):
            row = {"agent": who, "cells": cells, "r printed": r, "p printed": p,
                   "p of the printed r": round(one_tailed(float(r), SAMPLE), 5)}  # fmt: skip
            if found:
                here = found[who][found[who]["cells"] == cells]
                r_rows = float(here["score"].corr(here["K"]))
                row |= {"r of the rows": round(r_rows, 4),
                        "p of the rows": round(one_tailed(r_rows, SAMPLE), 5)}  # fmt: skip
            if who == "q-learning":
                here = frame[frame["cells"] == cells]
                low, high = np.nanquantile(_correlations_of_20(here), [0.025, 0.975])
                ours = float(here["score"].corr(here["K_prefix"]))
                row |= {"r simulated": round(ours, 3),
                        "95 % of 20 tests": f"{low:.2f} to {high:.2f}"}  # fmt: skip
            table.append(row)
    return Part(
        "Pearson correlation of complexity and reward by number of cells, with one-tailed p",
        "p follows from r and n = 20, so that the printed pairs can be checked: -.538 would have "
        ".007, not .008. The simulation has Q-learning alone; its last column holds 95 % of all "
        f"samples of 20 out of {TESTS:,} tests.",
        pd.DataFrame([dict.fromkeys(table[-1], "") | row for row in table]),
    )


def samples() -> Part:
    """Locate the published 20 tests among samples of 20."""
    import pandas as pd

    drawn = samples_of_20()
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
def samples_of_20() -> pd.DataFrame:
    import pandas as pd

    frame = simulated()
    rows = np.arange(len(frame)).reshape(TESTS, -1)  # of every test, its exercises in order
    random = np.random.default_rng(1)
    drawn = [random.choice(TESTS, SAMPLE, replace=False) for _ in range(SAMPLES)]
    return pd.DataFrame([summary(frame.iloc[rows[of].ravel()]) for of in drawn])


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


# ---------------------------------------------------------------- a space and a screen


SEQUENCE = "201210200"  # the pattern of the text, for the space of Figure 1
MOST = 10_000  # exercises to search


@cache
def _space() -> tuple[int, Any]:
    """Find the first space of 5 cells and 3 actions in which a2 leads from c5 to c1."""
    from allminds import registry

    tool = registry.make_instrument("lambda", {"form": "general", "cells": 5, "actions": 3})
    for number in range(MOST):
        world: Any = tool.exercise(1, number).environment
        if world.space.to[4][2] == 0:
            return number, world.space
    raise AssertionError("a space in five has this arrow")


def figure_1() -> Part:
    """Draw a space, and let Good walk through it by the pattern of the text."""
    import pandas as pd

    number, space = _space()
    rows, cell = [], 4
    for step, digit in enumerate(SEQUENCE, 1):
        after = space.moved(cell, int(digit))
        rows.append({"step": step, "action": f"a{digit}", "from": f"c{cell + 1}",
                     "to": f"c{after + 1}"})  # fmt: skip
        cell = after
    return Part(
        "A space with 5 cells and 3 actions",
        f"A space that `lambda` draws (form=general, cells=5, actions=3, seed 1, exercise "
        f"{number}): the first in which, as in the paper's example, a2 leads from c5 to c1. "
        f"Action a0, which stays, is not shown. The table follows Good from c5 by {SEQUENCE}.",
        pd.DataFrame(rows),
        [("Ours, in place of the paper's example; the arrows that share a way have one line.",
          diagrams.graph(space.to))],
    )  # fmt: skip


@cache
def _moment() -> tuple[Exercise, int, int]:
    """Find an exercise whose first step gives the moment of Figure 2.

    The agent goes to cell 3, finds Good there and Evil in cell 2, and can go to cells 1 and 3.
    """
    from allminds import registry
    from allminds.episode import Episode

    tool = registry.make_instrument("lambda", {"form": "general", "cells": 3, "steps": 20})
    for number in range(MOST):
        exercise = tool.exercise(1, number)
        world: Any = exercise.environment
        for action in range(world.space.actions):
            episode = Episode(exercise)
            episode.play({0: action})
            state: Any = episode.state
            if (state.minds[0], state.good, state.evil) == (2, 2, 1) and set(
                world.space.reachable(2)
            ) == {0, 2}:
                return exercise, number, action
    raise AssertionError("a moment in a hundred is such")


def figure_2() -> Part:
    """Show the screen that a participant sees at the moment of the paper's snapshot."""
    import pandas as pd

    _, number, _ = _moment()
    said = (
        "The agent has just received a positive reward and is in cell 3 with Good; Evil is in cell "
        "2. It can go to cells 1 and 3, which have a thick border; cell 3 is highlighted, as under "
        "the pointer. Good and Evil are neutral shapes, drawn anew for every exercise."
    )
    table = pd.DataFrame([{"instrument": "lambda", "settings": "form=general, cells=3, steps=20",
                           "seed": 1, "exercise": number}])  # fmt: skip
    if importlib.util.find_spec("babel") is None:
        return Part("The interface for humans", said + " To see it, install allminds[web].", table)
    return Part(
        "The interface for humans", said, table,
        [("The screen of the web application, from its own template and style.", _screen())],
        wide=True,
    )  # fmt: skip


def _screen() -> str:
    """Render the exercise in a tree of its own, so that the page's style does not reach it."""
    from allminds.core.seeding import Random, key
    from allminds.episode import Episode
    from allminds.presentation import Move
    from allminds.web import screens

    exercise, _, action = _moment()
    episode = Episode(exercise)
    before = episode.observe(0)
    episode.play({0: action})
    face = exercise.tool.presentation.face(0)
    view = face.view(episode.observe(0), Move(before, "3", action, 1.0), Random(key(1, 1, 0)))
    context = {
        "title": "", "token": "", "contact": "", "languages": ["en"],
        "form": {"exercise": 1, "step": 1}, "face": "lambda", "told": face.told(), "view": view,
        "choices": list(face.choices(episode.observe(0))), "exercise": 1, "exercises": 7,
        "move": 2, "moves": 20, "practice": False, "reward": 1, "number": None, "slot": 0,
        "mine": "", "left": None,
    }  # fmt: skip
    made = screens.main("exercise", "en", **context)
    hue = next(cell["hue"] for cell in view["cells"] if cell["number"] == 3)
    made = made.replace(
        f'class="cell open hue-{hue}" name="choice" value="3"',
        f'class="cell open chosen hue-{hue}" name="choice" value="3"',
    )
    style = (resources.files("allminds.web") / "static" / "people.css").read_text("utf-8")
    style = style.replace(":root", ":host").replace("\nbody {", "\n:host {")
    return (
        f'<div class="screen" inert><template shadowrootmode="open"><style>{style}</style>{made}'
        "</template></div>"
    )
