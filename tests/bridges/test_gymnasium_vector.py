"""Many copies of Λ* at once: the same as one after the other."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.vector import AutoresetMode  # noqa: E402

from allminds import registry  # noqa: E402
from allminds.bridges.gymnasium import AllmindsEnv, AllmindsVectorEnv  # noqa: E402
from allminds.core.errors import Error  # noqa: E402
from allminds.core.seeding import MINDS, below, keys, words  # noqa: E402
from allminds.core.watch import Watch  # noqa: E402
from allminds.episode import form  # noqa: E402

LambdaStarVectorEnv = functools.partial(AllmindsVectorEnv, instrument="lambda-star")
SETTINGS = [
    {"rows": 5, "cols": 6, "iterations": 7},
    {"rows": 3, "cols": 3, "iterations": 4, "range": 2},
    {"rows": 6, "cols": 6, "iterations": 5, "patterns": "drift", "k": "any"},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("seed", [0, 5])
def test_every_copy_sees_and_gets_what_it_would_alone(settings, seed):
    copies, rounds = 9, 2
    envs = LambdaStarVectorEnv(copies, **settings)
    one = AllmindsEnv("lambda-star", **settings)
    lots = np.random.default_rng(3)
    seen, _ = envs.reset(seed=seed)
    for number in range(rounds):
        if number:  # the step after the last begins the next round
            seen, rewards, _, over, _ = envs.step(np.full(copies, 1))
            assert not rewards.any()
            assert not over.any()
        actions = lots.integers(1, 10, (settings["iterations"], copies))
        shown, paid = [seen], []
        for made in actions:
            seen, rewards, terminated, over, info = envs.step(made)
            assert seen in envs.observation_space
            assert not terminated.any()
            shown.append(seen)
            paid.append(rewards)
        assert over.all()
        for copy in range(copies):
            where = {"exercise": number * copies + copy}
            alone, _ = one.reset(seed=seed, options=where)
            for step, made in enumerate(actions[:, copy]):
                assert np.array_equal(alone, shown[step][copy])
                alone, reward, *_, told = one.step(made)
                assert reward == paid[step][copy]
            assert told["score"] == info["score"][copy]


def test_a_random_policy_scores_as_the_random_mind_of_the_runner():
    copies, seed = 300, 11
    envs = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=copies)
    assert isinstance(envs.unwrapped, AllmindsVectorEnv)
    envs.reset(seed=seed)
    lots = keys(seed, np.arange(copies), MINDS)
    over, step = np.array(False), 0
    while not over.all():
        *_, over, info = envs.step(1 + below(words(lots, step), 9).astype(int))
        step += 1
    tool = registry.make_instrument("lambda-star")
    block = form(tool, registry.line_up("random", tool), Watch()).play(seed, 0, copies, 0)
    assert np.array_equal(info["score"], block.score[:, 0])


def test_rounds_follow_each_other_and_options_choose_the_first():
    envs = LambdaStarVectorEnv(4, rows=5, cols=5, iterations=3)
    first, _ = envs.reset(seed=2)
    second, _ = envs.reset()
    assert np.array_equal(envs.reset(seed=2)[0], first)
    assert np.array_equal(envs.reset(options={"exercise": 4})[0], second)
    assert not np.array_equal(first, second)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP


def test_its_spaces_are_those_of_gymnasiums_own():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=3)
        theirs = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=3, vectorization_mode="sync")
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.single_action_space == theirs.single_action_space


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([1, 10, 3], "action 10 of copy 1 is not one of 1..9"),
        ([1, 2], "3 actions are awaited"),
        ([1.0, 2.0, 3.0], "whole numbers"),
    ],
)
def test_wrong_actions_are_said(actions, said):
    envs = LambdaStarVectorEnv(3)
    envs.reset(seed=1)
    with pytest.raises(Error, match=said):
        envs.step(np.array(actions))


def test_what_it_cannot_do_is_said():
    with pytest.raises(Error, match="set agents=1"):
        LambdaStarVectorEnv(3, agents=2)
    with pytest.raises(Error, match="cannot be rendered"):
        LambdaStarVectorEnv(3, render_mode="ansi")
    with pytest.raises(Error, match="call reset first"):
        LambdaStarVectorEnv(3).step(np.ones(3, int))
