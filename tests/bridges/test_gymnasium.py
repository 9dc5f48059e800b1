"""Instruments as Gymnasium environments: theirs are the rules, ours the rewards."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from allminds import registry  # noqa: E402
from allminds.bridges import environment_id  # noqa: E402
from allminds.bridges.gymnasium import IDS, AllmindsEnv, FromZero  # noqa: E402
from allminds.bridges.vectors import observation_space, vector  # noqa: E402
from allminds.core.errors import Error  # noqa: E402
from allminds.core.seeding import MINDS, Random, key  # noqa: E402
from allminds.episode import play_on  # noqa: E402
from allminds.presentation import Presentation  # noqa: E402

NAMES = {environment_id(cls): name for name, cls in registry.instruments().items()}
SEEDS = (0, 7, 123456)


def test_every_instrument_for_one_mind_has_an_id():
    alone = [n for n in registry.instruments() if registry.make_instrument(n).slots == 1]
    assert sorted(NAMES[i] for i in IDS) == sorted(alone)
    for id in ("LambdaStar-v1", "Lambda-v1", "CTest-v1", "Matrices-v2"):
        assert f"allminds/{id}" in IDS


def test_every_instrument_can_be_encoded():
    for name in registry.instruments():
        tool = registry.make_instrument(name)
        fields, world = tool.presentation.fields(), tool.exercise(0, 0).environment
        ends = [end for field in fields for end in (field.low, field.high)]
        assert all(map(math.isfinite, ends)), f"{name} does not say what its numbers may be"
        seen = world.observe(world.reset(Random(0)), 0)
        numbers = list(tool.presentation.vector(seen, tool.slots))
        assert len(numbers) == sum(field.size for field in fields), name


def test_an_instrument_without_an_encoding_is_told_what_to_do():
    shown = Presentation(registry.make_instrument("c-test"))
    with pytest.raises(Error, match="write `fields` and `vector` in a Presentation"):
        shown.fields()


@pytest.mark.parametrize("id", IDS)
def test_gymnasiums_own_check_passes_without_a_warning(id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(id).unwrapped)


def test_make_imports_the_module_that_is_named():
    code = (
        "import gymnasium; e = gymnasium.make("
        "'allminds.bridges.gymnasium:allminds/LambdaStar-v1', rows=4, cols=4, iterations=3); "
        "print(e.observation_space.shape, e.action_space)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == "(18,) Discrete(9, start=1)"


def test_import_allminds_imports_none_of_it():
    code = (
        "import sys, allminds; allminds.evaluate; from allminds import registry; registry.load(); "
        "print([m for m in ('gymnasium', 'pettingzoo', 'PIL', 'stable_baselines3', 'torch') "
        "if m in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == "[]"


class Drawn:
    """A policy: any action of the mask, by the words that the mind in slot 0 would draw."""

    def __init__(self, seed, exercise, space):
        self.random, self.space = Random(key(seed, exercise, MINDS)), space

    def __call__(self, step, mask):
        legal = np.arange(self.space.n) if mask is None else np.flatnonzero(mask)
        return int(self.space.start) + int(legal[self.random.at_step(step).below(len(legal))])


def played_by_runner(name, settings, seed, last):
    """The same by the runner: a mind that draws any action that there is."""
    tool = registry.make_instrument(name, settings)

    class ByLot:
        def begin(self, task):
            self.actions = task.actions

        def act(self, observation, random):
            legal = getattr(observation, "legal", None)
            every = range(self.actions.start, self.actions.start + self.actions.n)
            some = every if legal is None else legal
            return some[random.below(len(some))]

    line_up = registry.line_up(ByLot, tool)
    return [record for _, record in play_on(tool, line_up, seed, 0, last)]


SMALL = {"lambda-anytime": {"time": 200}, "lambda-staircase": {"time": 100, "steps": 20}}


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rewards_are_those_of_the_runner(id, seed):
    name = NAMES[id]
    settings, last = SMALL.get(name, {}), 5
    env = gymnasium.make(id, **settings)
    for record in played_by_runner(name, settings, seed, last):
        _, info = env.reset(seed=seed, options={"exercise": record.index})
        assert info["exercise"] == record.exercise
        policy = Drawn(seed, record.index, env.action_space)
        rewards, over = [], False
        while not over:
            action = policy(len(rewards), info.get("action_mask"))
            seen, reward, terminated, truncated, info = env.step(action)
            rewards.append(reward)
            over = terminated or truncated
            assert seen in env.observation_space
        assert rewards == [row[0] for row in record.rewards]
        assert (info["status"], info["score"]) == ("ok", record.score[0])
        assert truncated == (record.steps > 1)


def test_without_options_exercises_come_in_turn_and_a_seed_begins_again():
    env = AllmindsEnv("lambda-star", rows=5, cols=5)

    def number(**how):
        return env.reset(**how)[1]["exercise"].rpartition("/")[2]

    assert [number(), number(), number()] == ["0", "1", "2"]
    assert [number(seed=3), number(), number(options={"exercise": 9}), number()] == [
        *("0", "1", "9", "10")
    ]
    assert env.reset()[1]["exercise"].split("/")[2] == "3"


def test_an_adaptive_instrument_must_be_played_in_order():
    env = AllmindsEnv("lambda-staircase", time=60, steps=20)
    env.reset(seed=1)
    with pytest.raises(Error, match="exercise 2 of lambda-staircase depends on those before it"):
        env.reset(options={"exercise": 2})
    for _ in range(20):
        env.step(0)
    assert env.reset()[1]["exercise"].endswith("/1/1")
    assert env.reset()[1]["exercise"].endswith("/1/1")  # it was broken off
    assert env.reset(options={"exercise": 3})[1]["exercise"].endswith("/1/3")  # another sitting


@pytest.mark.parametrize("index", [-1, "first", 1.5])
def test_what_is_no_exercise_is_said(index):
    with pytest.raises(Error, match="must be the number of an exercise"):
        AllmindsEnv("lambda-star").reset(options={"exercise": index})


def test_an_action_that_there_is_not_ends_the_exercise_as_in_the_runner():
    env = AllmindsEnv("lambda")
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert env.action_masks().tolist() == [True] * 3 + [False] * 6
    _, reward, terminated, truncated, info = env.step(8)
    assert (reward, terminated, truncated) == (-20.0, True, False)  # of 20 steps, none was made
    assert info["score"] == -1.0
    assert (info["status"], info["reason"]) == ("malformed", "8 is not one of the actions 0..2")
    with pytest.raises(Error, match="is over"):
        env.step(0)


def test_several_minds_are_sent_to_pettingzoo():
    with pytest.raises(Error, match=r"has 2 slots here.*allminds.bridges.pettingzoo"):
        AllmindsEnv("lambda-star", agents=2)


def test_nothing_can_be_played_before_a_reset():
    with pytest.raises(Error, match="call reset first"):
        AllmindsEnv("lambda-star").step(1)


def test_fields_are_where_they_are_said_to_be():
    env = AllmindsEnv("lambda-star", rows=7, cols=6, range=2)
    seen, _ = env.reset(seed=4)
    view = env.series.playing().observe(0)
    assert seen[env.fields["cells"]].tolist() == list(view.cells)
    assert seen[env.fields["rewards"]].tolist() == list(view.rewards)


@pytest.mark.parametrize("settings", [{"options": 5}, {"form": "generated"}, {"task": "both"}])
def test_letters_fit_their_box(settings):
    tool = registry.make_instrument("c-test", settings)
    box = observation_space(tool)
    for i in range(60):
        seen = tool.exercise(2, i).environment.observe(None, 0)
        assert vector(tool.presentation, seen, 1) in box


def test_actions_can_be_counted_from_zero():
    env = FromZero(AllmindsEnv("lambda-star"))
    other = AllmindsEnv("lambda-star")
    assert env.action_space == gymnasium.spaces.Discrete(9)
    for each in (env, other):
        each.reset(seed=1)
    for action in range(9):
        assert np.array_equal(env.step(action)[0], other.step(action + 1)[0])


def test_it_is_rendered_as_text_and_as_pixels():
    text = AllmindsEnv("lambda-star", render_mode="ansi", rows=3, cols=4)
    text.reset(seed=1)
    assert len(text.render().splitlines()) == 3
    assert {"+", "-", "0"} <= set(text.render())
    picture = AllmindsEnv("lambda-star", render_mode="rgb_array", rows=3, cols=4)
    picture.reset(seed=1)
    assert picture.render().shape == (3 * 32 + 1, 4 * 32 + 1, 3)
    assert len(np.unique(picture.render().reshape(-1, 3), axis=0)) > 4  # Good, Evil, a mind, a grid
    nothing = AllmindsEnv("lambda-star")
    nothing.reset(seed=1)
    assert nothing.render() is None
    odd = AllmindsEnv("lambda-star", render_mode="smell")
    odd.reset(seed=1)
    with pytest.raises(Error, match="cannot be rendered as 'smell'; choose ansi or rgb_array"):
        odd.render()


def middle(picture, cell, cols):
    """The colour of a cell, off its mark and its mind."""
    row, col = divmod(cell - 1, cols)
    return tuple(int(part) for part in picture[row * 32 + 28, col * 32 + 4])


def test_a_land_is_drawn_by_its_heights():
    env = AllmindsEnv("landscape", render_mode="rgb_array", rows=8, cols=9, iterations=2)
    env.reset(seed=2)
    episode, picture = env.series.playing(), env.render()
    heights = episode.environment.field(episode.state)
    green = [middle(picture, cell, 9) for cell in range(1, 73)]
    assert green[heights.index(max(heights))] == (0, 158, 115)
    assert green[heights.index(min(heights))] == (213, 94, 0)
    for (red, _, blue), height in zip(green, heights, strict=True):
        assert abs(height) < 0.02 or (red > blue) == (height < 0)


def test_what_was_seen_is_drawn():
    from allminds.instruments.lambda_star.present import SEEN

    env = AllmindsEnv(
        "lambda-star-coverage", render_mode="rgb_array", rows=8, cols=9, agents=1, iterations=2
    )
    env.reset(seed=2)
    state, picture = env.series.playing().state, env.render()
    seen = tuple(int(SEEN[at : at + 2], 16) for at in (1, 3, 5))
    drawn = {cell for cell in range(1, 73) if middle(picture, cell, 9) == seen}
    known = {cell for cell in range(1, 73) if state.seen >> cell & 1}
    assert len(known) == 9
    assert known - {state.good, state.evil} == drawn
