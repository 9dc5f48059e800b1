"""Instruments as PettingZoo environments, at once and one after the other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pettingzoo = pytest.importorskip("pettingzoo")

from pettingzoo.test import (  # noqa: E402
    api_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)

from allminds import registry  # noqa: E402
from allminds.bridges import environment_id  # noqa: E402
from allminds.bridges.pettingzoo import IDS  # noqa: E402
from allminds.core.errors import Error  # noqa: E402
from allminds.core.seeding import MINDS, Random, key  # noqa: E402
from allminds.episode import play_on  # noqa: E402

NAMES = {environment_id(cls): name for name, cls in registry.instruments().items()}
SMALL = {
    "lambda-star": {"rows": 5, "cols": 6, "iterations": 12, "agents": 3},
    "team-lambda-star": {"rows": 5, "cols": 6, "iterations": 12},
    "lambda": {"agents": 4, "teams": 2},
    "lambda-anytime": {"time": 200, "agents": 2},
    "lambda-staircase": {"time": 100, "steps": 20, "agents": 2},
    "lambda-star-coordination": {"rows": 5, "cols": 6, "iterations": 12, "agents": 3},
    "lambda-star-coverage": {"rows": 5, "cols": 6, "iterations": 12, "agents": 3},
    "lambda-star-responsive": {"rows": 5, "cols": 6, "iterations": 12, "agents": 2},
    "landscape": {"rows": 8, "cols": 8, "iterations": 12, "agents": 2},
    "predator-prey": {"rows": 4, "cols": 4},
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def made(kind, id):
    return lambda **more: pettingzoo.make(kind, id, **more)


def test_every_instrument_for_several_minds_has_an_id():
    several = [n for n in registry.instruments() if registry.make_instrument(n).slots > 1]
    assert {NAMES[id] for id in IDS} >= {*several, "lambda-star", "lambda"}
    everything = {NAMES[id] for id in IDS} | {"c-test", "matrices"}  # of one mind by nature
    assert everything == set(registry.instruments())


@pytest.mark.parametrize("id", IDS)
def test_the_api_test_passes(id):
    api_test(made("aec", id)(), num_cycles=100)


@pytest.mark.parametrize("id", IDS)
def test_the_parallel_api_test_passes(id):
    parallel_api_test(made("parallel", id)(), num_cycles=100)


@pytest.mark.parametrize("id", IDS)
def test_the_seed_tests_pass(id):
    seed_test(made("aec", id), num_cycles=100)
    parallel_seed_test(made("parallel", id), num_cycles=100)


@pytest.mark.parametrize("id", IDS)
def test_the_render_test_passes(id):
    render_test(made("aec", id))


# ---------------------------------------------------------------- rewards


class ByLot:
    """Any action that may be taken now."""

    def begin(self, task):
        self.actions = task.actions

    def act(self, observation, random):
        legal = getattr(observation, "legal", None)
        every = range(self.actions.start, self.actions.start + self.actions.n)
        some = every if legal is None else legal
        return some[random.below(len(some))]


def drawn(seed, exercise, slot, step, space, info):
    """The same, as a policy that sees a mask."""
    mask = info.get("action_mask", np.ones(space.n))
    legal = np.flatnonzero(mask)
    random = Random(key(seed, exercise, MINDS + slot), step)
    return int(space.start) + int(legal[random.below(len(legal))]) if len(legal) else None


def records(name, seed):
    tool = registry.make_instrument(name, SMALL.get(name))
    return [r for _, r in play_on(tool, registry.line_up(ByLot, tool), seed, 0, 4)]


@pytest.mark.parametrize("seed", [0, 42])
@pytest.mark.parametrize("id", IDS)
def test_rewards_at_once_are_those_of_the_runner(id, seed):
    env = made("parallel", id)(**SMALL.get(NAMES[id], {}))
    for record in records(NAMES[id], seed):
        _, infos = env.reset(seed=seed, options={"exercise": record.index})
        rewards = []
        while env.agents:
            actions = {
                agent: drawn(
                    seed, record.index, slot, len(rewards), env.action_space(agent), infos[agent]
                )
                for slot, agent in enumerate(env.possible_agents)
            }
            seen, paid, _, _, infos = env.step(actions)
            rewards.append(tuple(paid[agent] for agent in env.possible_agents))
            assert all(seen[agent] in env.observation_space(agent) for agent in seen)
        assert rewards == list(record.rewards)
        assert tuple(infos[agent]["score"] for agent in env.possible_agents) == record.score


@pytest.mark.parametrize("seed", [0, 42])
@pytest.mark.parametrize("id", IDS)
def test_rewards_by_turns_are_those_of_the_runner(id, seed):
    env = made("aec", id)(**SMALL.get(NAMES[id], {}))
    for record in records(NAMES[id], seed):
        env.reset(seed=seed, options={"exercise": record.index})
        totals = dict.fromkeys(env.possible_agents, 0.0)
        scores = {}
        for agent in env.agent_iter():
            _, reward, terminated, truncated, info = env.last()
            totals[agent] += reward
            if terminated or truncated:
                scores[agent] = info["score"]
                env.step(None)
                continue
            step = env.series.playing().step
            slot = env.slots[agent]
            env.step(drawn(seed, record.index, slot, step, env.action_space(agent), info))
        assert tuple(scores[agent] for agent in env.possible_agents) == record.score
        paid = np.sum(record.rewards, axis=0)
        assert list(totals.values()) == pytest.approx(paid.tolist(), abs=1e-12)


# ---------------------------------------------------------------- the rest


def test_teams_are_in_the_metadata():
    env = made("parallel", "allminds/PredatorPrey-v1")()
    assert env.metadata["teams"] == (("player_0", "player_1", "player_2"), ("player_3",))
    assert env.metadata["name"] == "predator_prey_v1"
    alone = made("aec", "allminds/LambdaStar-v1")(agents=3)
    assert alone.metadata["teams"] == (("player_0",), ("player_1",), ("player_2",))


def test_nobody_sees_what_the_others_have_said():
    env = made("aec", "allminds/PrisonersDilemma-v1")()
    env.reset(seed=1)
    before = env.observe("player_1")
    env.step(1)
    assert env.agent_selection == "player_1"
    assert np.array_equal(env.observe("player_1"), before)
    assert env.rewards == {"player_0": 0, "player_1": 0}
    env.step(0)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}


def test_a_won_game_is_terminated_and_a_full_board_too():
    env = made("parallel", "allminds/NoughtsAndCrosses-v1")()
    for moves in ([0, 3, 1, 4, 2], [0, 1, 2, 4, 3, 5, 7, 6, 8]):
        env.reset(seed=1)
        for move in moves:
            assert env.agents
            _, _, terminated, truncated, _ = env.step(dict.fromkeys(env.agents, move))
        assert not env.agents
        assert set(terminated.values()) == {True}
        assert set(truncated.values()) == {False}


def test_only_who_is_to_move_is_listened_to():
    env = made("parallel", "allminds/NoughtsAndCrosses-v1")()
    _, infos = env.reset(seed=1)
    assert infos["player_0"]["action_mask"].sum() == 9
    assert infos["player_1"]["action_mask"].sum() == 0
    _, _, _, _, infos = env.step({"player_0": 4, "player_1": 4})
    assert env.agents
    assert infos["player_1"]["action_mask"].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]


def test_an_action_that_may_not_be_taken_ends_it_for_all():
    env = made("parallel", "allminds/NoughtsAndCrosses-v1")()
    env.reset(seed=1)
    env.step({"player_0": 4, "player_1": 0})
    _, rewards, terminated, _, infos = env.step({"player_0": 0, "player_1": 4})
    assert rewards == {"player_0": 0.0, "player_1": -1.0}  # whoever fails loses the game
    assert set(terminated.values()) == {True}
    assert [infos[a]["status"] for a in env.possible_agents] == ["void", "malformed"]


def test_a_missing_action_is_said():
    env = made("parallel", "allminds/StagHunt-v1")()
    env.reset(seed=1)
    with pytest.raises(Error, match="an action of player_1 is awaited"):
        env.step({"player_0": 1})
