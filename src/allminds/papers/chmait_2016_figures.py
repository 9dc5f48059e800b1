"""Figures 1 to 4 of Chmait, Li, Dowe and Green (2016), drawn from the code that runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from allminds.episode import Episode
from allminds.papers import diagrams
from allminds.papers.chmait_2016_printed import SEGMENT, example
from allminds.papers.diagrams import EVIL, GOOD, MIND
from allminds.papers.paper import Part

if TYPE_CHECKING:
    from allminds.contracts import Exercise, Record
    from allminds.instruments.lambda_star.grid import Torus

GROUP = 3  # minds in Figure 2
MOST = 2_000  # exercises to search


@cache
def _drawn() -> int:
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
    exercise = tool.exercise(1, _drawn())
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
        f"Exercise {_drawn()} of `lambda-star` with {GROUP} agents, seed 1, complexity "
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


FIGURES = {
    "figure-1": figure_1,
    "figure-2": figure_2,
    "figure-3": figure_3,
    "figure-4": figure_4,
}
