"""What a person is shown and may choose is what a mind is shown and may do, and no more."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import gallery
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.contracts import Failure
from allminds.core.seeding import Random
from allminds.episode import Episode
from allminds.instruments.lambda_.present import SHAPES
from allminds.instruments.lambda_.world import HIDDEN, View
from allminds.presentation import Move
from allminds.web.questions import face
from allminds.web.screens import page as html_of

TESTS = [(name, settings) for name, settings, _ in gallery.TESTS.values()]
seeds = st.integers(0, 2**32)


def begun(name: str, settings: dict[str, Any], seed: int, index: int) -> tuple[Any, Episode]:
    """A face, and an exercise before it."""
    tool = registry.make_instrument(name, settings)
    return face(tool), Episode(tool.exercise(seed, index))


# ---------------------------------------------------------------- the same test


@pytest.mark.parametrize(("name", "settings"), TESTS)
@given(seed=seeds, index=st.integers(0, 30))
def test_every_choice_is_an_action(
    name: str, settings: dict[str, Any], seed: int, index: int
) -> None:
    """All that is offered can be done, all that can be done is offered, and nothing else is."""
    shown, episode = begun(name, settings, seed, index)
    seen = episode.waiting[0]
    actions = [shown.action(choice, seen) for choice in shown.choices(seen)]
    space = episode.environment.actions[0]
    assert all(space.contains(action) for action in actions)
    assert len(set(actions)) == len(actions)
    if isinstance(seen, View):
        assert {seen.reachable[action] for action in actions} == set(seen.reachable)
        assert all(action == seen.reachable.index(seen.reachable[action]) for action in actions)
    else:
        every = [action for action in range(-1, 30) if space.contains(action)]
        assert sorted(actions) == every
    for wrong in ("", "0", "zz", "-1", "1 "):
        if wrong not in shown.choices(seen):
            assert isinstance(shown.action(wrong, seen), Failure)


@pytest.mark.parametrize(("name", "settings"), TESTS)
def test_what_is_drawn_can_be_chosen(name: str, settings: dict[str, Any]) -> None:
    """The form offers exactly the choices."""
    test = next(key for key, value in gallery.TESTS.items() if value[:2] == (name, settings))
    context = gallery.exercise(test)
    html = html_of("exercise", "en", **context)
    for choice in [*context["choices"], "?"]:
        offered = f'name="choice" value="{choice}"' in html
        assert offered == (choice in context["choices"])


def test_a_view_is_json() -> None:
    """A view can be stored and sent as it is."""
    for name, settings in TESTS:
        shown, episode = begun(name, settings, 5, 1)
        view = shown.view(episode.waiting[0], None, Random(1))
        assert json.loads(json.dumps(view)) == view


@pytest.mark.parametrize("name", ["landscape", "public-goods", "commons", "predator-prey"])
def test_a_test_without_a_board_has_its_text_and_a_button_for_each_action(name: str) -> None:
    tool = registry.make_instrument(name)
    shown, seen = face(tool, tool.slots - 1), Episode(tool.exercise(5, 1)).waiting[tool.slots - 1]
    view = shown.view(seen, None, Random(1))
    assert json.loads(json.dumps(view)) == view
    assert view["text"] == tool.show(seen, "text")
    assert shown.told()["rules"] in view["rules"]
    for choice in shown.choices(seen):
        assert shown.action(choice, seen) == tool.read(choice, seen)
    assert isinstance(shown.action("no such", seen), Failure)


# ---------------------------------------------------------------- cells


@given(seed=seeds, key=seeds)
def test_shapes_and_colours_last_an_exercise(seed: int, key: int) -> None:
    """The same two shapes and colours at every step, whatever step the shuffle stands at."""
    shown, episode = begun("lambda", {}, seed, 3)
    views, before = [], None
    for move in range(4):
        seen = episode.waiting[0]
        views.append(shown.view(seen, before, Random(key, step=move)))
        episode.play({0: 0})
        before = Move(seen, "1", 0, 0.0)
    assert len({tuple(view["shapes"]) for view in views}) == 1
    assert len({tuple(cell["hue"] for cell in view["cells"]) for view in views}) == 1
    assert len(set(views[0]["shapes"])) == 2
    assert all(sum(len(cell["here"]) for cell in view["cells"]) == 3 for view in views)


def test_shapes_say_nothing_of_roles() -> None:
    """Over many people each shape is each of the two symbols equally often: |z| < 4 of 2000."""
    shown, episode = begun("lambda", {}, 1, 6)
    seen = episode.waiting[0]._replace(symbols=(0, 1), cell=2)
    firsts = []
    for person in range(2000):
        view = shown.view(seen, None, Random(person * 7919))
        firsts.append(view["cells"][0]["here"][0])
        assert view["shapes"] == sorted(view["shapes"])
    for shape in SHAPES:
        z = (firsts.count(shape) - 250) / (2000 * 1 / 8 * 7 / 8) ** 0.5
        assert abs(z) < 4


def test_those_in_one_cell_are_sorted_by_name() -> None:
    """Not by role: swapping the symbols swaps nothing else."""
    shown, episode = begun("lambda", {}, 1, 6)
    seen = episode.waiting[0]._replace(symbols=(4, 4), cell=4)
    for key in range(50):
        here = shown.view(seen, None, Random(key))["cells"][4]["here"]
        assert here[0] == "you"
        assert here[1:] == sorted(here[1:])


def test_who_is_out_of_sight_is_in_no_cell() -> None:
    """And nobody is told where it came from."""
    shown, episode = begun("lambda", {"observation": "adjacent"}, 1, 6)
    seen = episode.waiting[0]._replace(symbols=(HIDDEN, 3), cell=4)
    before = Move(seen._replace(symbols=(2, HIDDEN), cell=5), "1", 0, 0.0)
    view = shown.view(seen, before, Random(3))
    places = {place["shape"]: (place["cell"], place["from"]) for place in view["places"]}
    assert places.pop("you") == (5, 6)
    assert sorted(places.values(), key=str) == [(0, 3), (4, None)]
    assert sum(len(cell["here"]) for cell in view["cells"]) == 2


# ---------------------------------------------------------------- nothing secret


@pytest.mark.parametrize("test", ["c-test", "c-test-five", "matrices", "matrices-eight"])
def test_a_question_looks_the_same_whatever_its_answer(test: str) -> None:
    """Two questions that differ in the answer alone are one and the same page."""
    name, settings, index = gallery.TESTS[test]
    tool = registry.make_instrument(name, settings)
    environment: Any = tool.exercise(7, index).environment
    if name == "c-test":
        other = replace(environment, answer=environment.options[0], complexity={"k": 99.0})
    else:
        problem = environment.problem
        other = replace(environment, problem=replace(problem, answer=problem.answer ^ 1))
    pages = []
    for one in (environment, other):
        view = face(tool).view(one.observe(None, 0), None, Random(4))
        pages.append(html_of("exercise", "en", **gallery.exercise(test) | {"view": view}))
    assert pages[0] == pages[1]
    assert environment != other
