"""Figures 1 and 2 of Insa-Cabrera et al. (2011): a space, and the screen for people."""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from allminds.papers import diagrams
from allminds.papers.paper import Part

if TYPE_CHECKING:
    from allminds.contracts import Exercise

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
        "mine": "",
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
