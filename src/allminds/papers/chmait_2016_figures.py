"""Figures 1 to 5 of Chmait, Li, Dowe and Green (2016), and the tests that it proposes in §6.

Figures are drawn from the code that runs. The paper prints no scores of the tests of §6. Exercises
are few, so that the page is quick; `allminds evaluate` gives more of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from allminds.episode import Episode
from allminds.papers import Part, diagrams
from allminds.papers.diagrams import EVIL, GOOD, MIND
from allminds.papers.plots import lines

if TYPE_CHECKING:
    from allminds.contracts import Exercise, Record
    from allminds.core.blocks import Block
    from allminds.instruments.lambda_star.grid import Torus

SEGMENT = (7, 3, 4, 9, 8)  # the cells of Figure 3
GROUP = 3  # minds in Figure 2
MOST = 2_000  # exercises to search


def example() -> int:
    """Count Lempel and Ziv's phrases in the paper's example of 20 steps."""
    from allminds.complexity import lz76

    return lz76(list(SEGMENT) * 4)


@cache
def _chosen() -> int:
    """Find the first exercise with ways of 7 to 10 moves that do not cross the border."""
    from allminds import registry

    tool = registry.make_instrument("lambda-star", {"agents": GROUP})
    for number in range(MOST):
        exercise = tool.exercise(1, number)
        world: Any = exercise.environment
        segment = int(world.complexity["segment"])
        if 7 <= segment <= 10 and world.complexity["cells"] >= 6:
            episode = Episode(exercise)
            future = world.secret(episode.state, 0, episode.random.at_step(0))
            ways = (future.good[: segment + 1], future.evil[: segment + 1])
            if all(_inside(world.torus, way) for way in ways):
                return number
    raise AssertionError("one exercise in some hundred is such")


def _inside(torus: Torus, way: Sequence[int]) -> bool:
    """Return whether no step of a way leads over the border."""
    places = [torus.place(cell) for cell in way]
    return all(max(abs(a - c), abs(b - d)) <= 1 for (a, b), (c, d) in itertools.pairwise(places))


def _played(agents: int) -> tuple[Exercise, Record]:
    from allminds import registry
    from allminds.episode import play

    tool = registry.make_instrument("lambda-star", {"agents": agents})
    exercise = tool.exercise(1, _chosen())
    return exercise, play(exercise, registry.line_up("local-search", tool))


def _states(exercise: Exercise, record: Record) -> Iterable[Any]:
    """Play the record again and yield the state before each step and after the last."""
    episode = Episode(exercise)
    yield episode.state
    for actions in record.actions:
        episode.play(actions)
        yield episode.state


def figure_1() -> Part:
    """Draw the loop of agent and environment with the first step of an episode."""
    import pandas as pd

    from allminds.instruments.lambda_star.grid import ACTIONS

    exercise, record = _played(1)
    episode = Episode(exercise)
    rows = []
    for step, actions in enumerate(record.actions[:5], 1):
        seen = episode.observe(0)
        episode.play(actions)
        rows.append({
            "step i": step, "observation oᵢ: cells": " ".join(map(str, seen.cells)),
            "rewards in them": " ".join(f"{r:g}" for r in seen.rewards),
            "action aᵢ": f"{actions[0]} {ACTIONS[actions[0] - 1]}",
            "reward rᵢ": record.rewards[step - 1][0],
        })  # fmt: skip
    action, reward = str(rows[0]["action aᵢ"]), record.rewards[0][0]
    plot = diagrams.loop("9 cells, 9 rewards", action, f"{reward:g}")
    return Part(
        "The agent-environment framework",
        "The first step of an episode of local search on `lambda-star`; the table has the first "
        "five.",
        pd.DataFrame(rows),
        [("Observation, action and reward go round once in every step.", plot)],
    )


def figure_2() -> Part:
    """Draw a 10 x 10 space: objects, the ways of Good and Evil, and rewards."""
    import pandas as pd

    exercise, record = _played(GROUP)
    world: Any = exercise.environment
    states = list(_states(exercise, record))
    start = states[0]
    rewards = {cell: world.reward(cell, start) for cell in range(1, world.torus.cells + 1)}
    shade = {1.0: "#a9d8c6", 0.5: "#d9efe6", -0.5: "#f6e0d0", -1.0: "#ecbf9f"}
    fills = {cell: shade.get(r, "#fff") for cell, r in rewards.items()}
    words = {cell: f"{r:+g}".replace("-", "−") for cell, r in rewards.items() if r}
    marks = {start.good: ("⊕", GOOD), start.evil: ("⊖", EVIL)}
    words = {cell: word for cell, word in words.items() if cell not in marks}
    marks |= {cell: (f"π{n}", MIND) for n, cell in enumerate(start.minds, 1)}
    segment = int(world.complexity["segment"])
    ways = [
        ([state.good for state in states[: segment + 1]], GOOD, ""),
        ([state.evil for state in states[: segment + 1]], EVIL, "5 3"),
    ]
    plot = diagrams.grid(10, 10, fills, words, ways, marks)
    rows = [
        {"step": n, "Good's cell": state.good, "Evil's cell": state.evil,
         **{f"cell of π{m}": cell for m, cell in enumerate(state.minds, 1)}}
        for n, state in enumerate(states)
    ]  # fmt: skip
    return Part(
        "A 10-by-10 space with objects, paths and rewards",
        f"Exercise {_chosen()} of `lambda-star` with {GROUP} agents, seed 1, complexity "
        f"K = {world.complexity['K']:g}, before the first step. Good (⊕) and Evil (⊖) repeat "
        f"segments of {segment} moves; arrows are the first round. Numbers are the rewards now "
        "lying in cells.",
        pd.DataFrame(rows), [("Ours, in place of the paper's sample space.", plot)],
    )  # fmt: skip


def figure_3() -> Part:
    """Draw the 5 x 5 grid with its indices and the pattern 7, 3, 4, 9, 8."""
    import pandas as pd

    from allminds.instruments.lambda_star.grid import Torus

    torus = Torus(5, 5)
    words = {cell: str(cell) for cell in range(1, torus.cells + 1)}
    plot = diagrams.grid(
        5, 5, dict.fromkeys(SEGMENT, "#d4d4d4"), words, [((*SEGMENT, SEGMENT[0]), GOOD, "")]
    )
    rows = [
        {"move": n, "from": a, "to": b, "king moves": torus.distance(a, b)}
        for n, (a, b) in enumerate(zip(SEGMENT, (*SEGMENT[1:], SEGMENT[0]), strict=True), 1)
    ]
    return Part(
        "A 5-by-5 grid and its cell indices, 1 to 25",
        "Good repeats 7, 3, 4, 9, 8 (grey). Four rounds have "
        f"K = {example()} by Lempel and Ziv, a value of ours.",
        pd.DataFrame(rows), [("Every move leads to a neighbouring cell.", plot)],
    )  # fmt: skip


def figure_4() -> Part:
    """Draw which class of minds and groups derives from which, as registered."""
    import pandas as pd

    from allminds import registry
    from allminds.contracts import MindBase

    names = {
        maker: name
        for name, maker in registry.minds("lambda-star").items()
        if maker.__module__.startswith("allminds.instruments.")
    }
    below: dict[str, list[str]] = {}
    rows = []
    for maker, name in names.items():
        line, base = [maker.__name__], maker.__bases__[0]
        while base not in (object, MindBase):
            line.append(base.__name__)
            base = base.__bases__[0]
        line.append("Group" if base is object else "MindBase")
        for parent, child in zip(line[1:], line, strict=False):
            children = below.setdefault(parent, [])
            if child not in children:
                children.append(child)
        rows.append({"mind or group": name, "classes": " < ".join(line)})
    notes = {maker.__name__: name for maker, name in names.items()}
    return Part(
        "Classes of isolated and collective behaviours",
        "As registered for `lambda-star`, by the first base of each class. In the paper's program "
        "a group is made of agents that redefine their class; here a group is an object that plays "
        "all its slots, and its members may be any minds.",
        pd.DataFrame(rows),
        [("Isolated minds; in blue the names to give to `--mind`.",
          diagrams.tree(below, "MindBase", notes)),
         ("Groups.", diagrams.tree(below, "Group", notes))],
    )  # fmt: skip


# ---------------------------------------------------------------- the tests of §6


MANY, FEW = 220, 22  # exercises of minds that have kernels, and of those that have none


@lru_cache(maxsize=64)
def _block(instrument: str, mind: str, exercises: int, **settings: Any) -> Block:
    """Play the first exercises with a mind, and return their block."""
    from allminds import registry
    from allminds.core.watch import Watch
    from allminds.episode import form

    tool = registry.make_instrument(instrument, settings)
    watch = Watch(10.0)
    with watch.running():
        return form(tool, registry.line_up(mind, tool), watch).play(1, 0, exercises, 0)


def _records(
    instrument: str, mind: str, exercises: int, **settings: Any
) -> list[tuple[Exercise, Record]]:
    """Play the first exercises with a mind, and keep every action."""
    from allminds import registry
    from allminds.episode import play_on

    tool = registry.make_instrument(instrument, settings)
    return play_on(tool, registry.line_up(mind, tool), 1, 0, exercises)


# ---------------------------------------------------------------- §6.1


def against(
    found: dict[str, list[float]], name: str, values: Sequence[float],
    domain: tuple[float, float], title: str, said: str, caption: str, axis: str = "",
    without: str = "",
) -> Part:  # fmt: skip
    """Plot the scores of minds at each value of a factor, all but one of them."""
    import pandas as pd

    drawn = {
        mind: list(zip(values, of, strict=True)) for mind, of in found.items() if mind != without
    }
    plot = lines(drawn, axis or name, "score", domain)
    return Part(title, said, pd.DataFrame({name: list(values)} | found), [(caption, plot)])


def coordination() -> Part:
    """Plot the score against the number of minds that Good needs."""
    from allminds import registry

    numbers, name = (1, 2, 3, 4, 5), "lambda-star-coordination"
    found = {
        mind: [float(_block(name, mind, MANY, needed=c).score.mean()) for c in numbers]
        for mind in ("optimum", "auction", "local-search", "dictator", "random")
    }
    found["chance"] = [registry.make_instrument(name, {"needed": c}).chance for c in numbers]
    return against(
        found, "c", numbers, (-0.1, 1),
        "Good pays only when c minds are near it",
        f"Five minds on 10 x 10, {MANY} exercises. With c = 1 this is Λ*. Those who search each "
        "for themselves lose most; a group that goes where one of them sees Good is there at once. "
        "The chance level is computed exactly.",
        "Score by the number needed.", "minds needed c", "random",
    )  # fmt: skip


def responsive() -> Part:
    """Plot the score against how often the world responds."""
    shares, name = (0.0, 0.25, 0.5, 0.75, 1.0), "lambda-star-responsive"
    return against(
        {mind: [float(_block(name, mind, FEW, responsive=q).score.mean()) for q in shares]
         for mind in ("expert", "local-search", "random", "stay")},
        "q", shares, (-1, 1),
        "With chance q Good shuns the nearest mind, and Evil seeks it",
        f"One mind on 10 x 10, {FEW} exercises. With q = 0 this is Λ*. Whoever stays is found "
        "by Evil; even one who knows the next cells of both cannot catch a Good that always flees.",
        "Score by q.", "chance q of a response",
    )  # fmt: skip


def coverage() -> Part:
    """Plot the share of cells that a group has seen, over time."""
    import pandas as pd

    agents = 5
    minds = ("scouts", "explorer", "sweep", "random", "local-search", "dictator", "stay")
    drawn, rows = {}, []
    for mind in minds:
        block = _block("lambda-star-coverage", mind, FEW, agents=agents)
        seen = block.curve / (FEW * agents)
        if mind != "explorer":  # more lines than these an eye cannot tell apart
            drawn[mind] = [(step + 1, float(share)) for step, share in enumerate(seen)]
        rows.append({"mind": mind, "score": float(block.score.mean()), "step 10": seen[9],
                     "step 50": seen[49]})  # fmt: skip
    return Part(
        "The share of cells seen by a group, over time",
        f"Five minds on 20 x 20, {FEW} exercises; the score is the mean over the steps. Following "
        "a leader or sitting on Good, which pays in Λ*, is the opposite of keeping watch.",
        pd.DataFrame(rows),
        [("Share of cells seen.", lines(drawn, "step", "share of cells", (0, 1)))],
    )


# ---------------------------------------------------------------- §6.2


def landscape() -> Part:
    """Measure exploration and exploitation on fitness landscapes, and draw one of them."""
    import pandas as pd

    rows = [
        _measured(mind, drift, agents)
        for drift in (0.0, 0.1)
        for mind, agents in (
            ("random", 1), ("hill-climber", 1), ("explorer", 1), ("restarts", 1), ("optimum", 1),
            ("hill-climber", 5), ("scouts", 5),
        )
    ]  # fmt: skip
    return Part(
        "Many local optima and one global one, still or drifting",
        f"20 x 20, 2 to 16 hills, 100 steps, {FEW // 2} exercises. Fitness is 0 on average and 1 "
        "at the global optimum. With drift a hill moves in a tenth of the steps. Exploitation is "
        "the mean reward, exploration the distinct cells stood on as a share of those that could "
        "have been; regret is 1 less exploitation.",
        pd.DataFrame(rows),
    )


def _measured(mind: str, drift: float, agents: int) -> dict[str, Any]:
    from statistics import fmean, median

    from allminds.instruments.landscape import measures

    found = [
        measures(exercise, record)
        for exercise, record in _records("landscape", mind, FEW // 2, drift=drift, agents=agents)
    ]
    steps = [one.steps_to_optimum for one in found if one.steps_to_optimum is not None]
    return {
        "mind": mind, "minds": agents, "drift": drift,
        "exploitation": fmean(one.exploitation for one in found),
        "exploration": fmean(one.exploration for one in found),
        "regret": fmean(one.regret for one in found),
        "found it": len(steps) / len(found),
        "in steps": median(steps) if steps else float("nan"),
    }  # fmt: skip


def figure_5() -> Part:
    """Draw a landscape with many local optima and one global one, with minds on it."""
    import pandas as pd

    drawn = [_picture("hill-climber", 3), _picture("hill-climber", None), _picture("scouts", 12)]
    rows = [{"mind": "hill-climber", "step": "3 and last"}, {"mind": "scouts", "step": "12"}]
    return Part(
        "Early stages of a simulation on a fitness landscape",
        "A landscape of ours with 16 hills; the paper's is not described. Colours are fitness from "
        "-1 to 1.",
        pd.DataFrame(rows), drawn,
    )  # fmt: skip


def _picture(mind: str, step: int | None) -> tuple[str, str]:
    """Draw minds as black stars on the colours of fitness."""
    from allminds.instruments.landscape.present import picture

    ((exercise, record),) = _records("landscape", mind, 1, agents=8, peaks="16")
    when = "in the end" if step is None else f"after step {step}"
    return (
        f"Eight minds, {mind}, {when}. Stars are minds, dots where they began, the "
        "ring is the global optimum.",
        picture(exercise, record, step),
    )


# ---------------------------------------------------------------- §6.3


def commons() -> Part:
    """Compute the tragedy of the commons, by how many minds take all they can."""
    import pandas as pd

    rows = []
    for greedy in range(5):
        seats = ["greedy"] * greedy + ["sustain"] * (4 - greedy)
        ((exercise, record),) = _records("commons", ",".join(seats), 1)
        world: Any = exercise.environment
        collapse = world.collapse(record)
        rows.append({
            "greedy": greedy, "sustain": 4 - greedy, "tragedy 1 - W/W*": world.tragedy(record),
            "against what lasts": world.tragedy(record, "lasting"),
            "collapse at step": float("nan") if collapse is None else collapse,
            "W": sum(world.harvests(record)) / record.steps, "W*": world.best_harvest,
            "W* that lasts": world.lasting_harvest,
        })  # fmt: skip
    return Part(
        "1 - W/W*, and the step of collapse",
        "Four minds, a stock of 24, ten steps. If all take all, nothing is left after three steps. "
        "W* is the most that ten steps can yield, by dynamic programming. Beside it stands the "
        "most that can be taken for ever; a tragedy below 0 against that one says that the stock "
        "itself was eaten.",
        pd.DataFrame(rows),
    )


def pluralistic_ignorance() -> Part:
    """Compute how far public acts are from private attitudes, by the weight of conformity."""
    import pandas as pd

    rows = []
    for mind in ("honest", "conform", "best-reply"):
        for weight in (0.2, 0.4, 0.6, 0.8):
            ((exercise, record),) = _records("pluralistic-ignorance", mind, 1, conformity=weight)
            world: Any = exercise.environment
            size, flagged = world.ignorance(record)
            rows.append({"mind": mind, "conformity": weight, "ignorance": size,
                         "opposite": "yes" if flagged else "no"})  # fmt: skip
    return Part(
        "|Mean public act - mean private attitude| / 2",
        "Five minds, four of whom oppose in private what all have supported in public. Best "
        "replies keep a norm alive that hardly anybody holds as soon as agreement weighs more than "
        "truth. Public and private are opposite if their means have different signs.",
        pd.DataFrame(rows),
    )


FIGURES = {
    "figure-1": figure_1, "figure-2": figure_2, "figure-3": figure_3, "figure-4": figure_4,
    "figure-5": figure_5,
}  # fmt: skip
PARTS = {
    "coordination": coordination, "responsive": responsive, "coverage": coverage,
    "landscape": landscape, "commons": commons, "pluralistic-ignorance": pluralistic_ignorance,
}  # fmt: skip
