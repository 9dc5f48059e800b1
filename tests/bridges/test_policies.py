"""Policies as minds: the same rewards in the runner as through the bridge they were trained on."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import allminds as am
from allminds import registry
from allminds.bridges import policies
from allminds.bridges.policies import agents_subject, subject
from allminds.check import check_mind
from allminds.contracts import Traits
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.episode import play_on

EXAMPLES = Path(__file__).parents[2] / "examples"


class Model:
    """Stands in for a Stable-Baselines3 model of Λ*: its spaces, and `predict` as theirs."""

    def __init__(self, n=9, start=0, size=18):
        self.action_space = types.SimpleNamespace(n=n, start=start)
        self.observation_space = types.SimpleNamespace(shape=(size,))

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert observation.shape == self.observation_space.shape
        assert observation.dtype == np.float32
        assert deterministic
        best = int(observation[9:].argmax())
        return np.array(best + self.action_space.start), state

    @classmethod
    def load(cls, file, device="auto"):
        return cls(**json.loads(Path(file).read_text()))


@pytest.fixture
def baselines(monkeypatch):
    """A stand-in for the library, which drags PyTorch along."""
    monkeypatch.setitem(sys.modules, "stable_baselines3", types.SimpleNamespace(PPO=Model))
    policies._loaded.cache_clear()


def score(who, instrument="lambda-star", episodes=60, **settings):
    rows = am.evaluate(instrument, [who], episodes=episodes, settings=settings)["results"]
    named = [row for row in rows if row["mind"] == who]  # floor and ceiling stand beside it
    (row,) = named or [row for row in rows if row["end"] is None]
    assert row["failed"] == 0
    return row["score"]


# ---------------------------------------------------------------- any that predicts


def test_a_model_is_paid_in_the_runner_what_it_is_paid_through_gymnasium():
    gymnasium = pytest.importorskip("gymnasium")
    from allminds.bridges.gymnasium import FromZero

    env, model = FromZero(gymnasium.make("allminds/LambdaStar-v1")), Model()
    tool = registry.make_instrument("lambda-star")
    for seed in (0, 9):
        line_up = registry.line_up(subject(model, "model"), tool)
        for _, record in play_on(tool, line_up, seed, 0, 3):
            seen, _ = env.reset(seed=seed, options={"exercise": record.index})
            rewards, over = [], False
            while not over:
                action, _ = model.predict(seen, deterministic=True)
                seen, reward, _, over, _ = env.step(action)
                rewards.append((reward,))
            assert tuple(rewards) == record.rewards


def test_policies_for_several_agents_are_paid_the_same_through_pettingzoo():
    pettingzoo = pytest.importorskip("pettingzoo")
    import allminds.bridges.pettingzoo  # noqa: F401

    def policy(seen, agent):
        return int(seen.sum() + len(agent) * int(agent[-1])) % 5

    env = pettingzoo.make("parallel", "allminds/PredatorPrey-v1")
    tool = registry.make_instrument("predator-prey")
    for _, record in play_on(tool, registry.line_up(agents_subject(policy), tool), 3, 0, 5):
        seen, _ = env.reset(seed=3, options={"exercise": record.index})
        rewards = []
        while env.agents:
            seen, paid, *_ = env.step({agent: policy(seen[agent], agent) for agent in env.agents})
            rewards.append(tuple(paid[agent] for agent in env.possible_agents))
        assert tuple(rewards) == record.rewards


def test_actions_counted_from_elsewhere_are_the_same_actions():
    assert score(subject(Model(start=0))) == score(subject(Model(start=1)))


def test_functions_of_the_vector_will_do():
    stays = score(subject(lambda seen: 5, "stays"))
    assert stays == score(lambda observation: 5)
    greedy = score(subject(lambda seen: 1 + int(seen[9:].argmax()), "greedy"))
    assert greedy == score(subject(Model()))


def test_a_function_may_draw_from_the_random_words_it_is_given():
    lots = subject(lambda seen, random: 1 + random.below(9), "lots")
    assert score(lots) == score("random")
    check_mind(lots, "lambda-star")


def test_a_policy_keeps_the_contract():
    check_mind(subject(Model(), "model", Traits(deterministic=True)), "lambda-star")


def test_a_recurrent_policy_remembers_within_an_exercise_only():
    class Counting:
        def predict(self, observation, state=None, episode_start=None):
            assert bool(episode_start[0]) == (state is None)
            steps = 0 if state is None else state
            return 1 + steps % 9, steps + 1

    class ByStep:
        def __init__(self):
            self.steps = 0

        def act(self, observation, random):
            self.steps += 1
            return 1 + (self.steps - 1) % 9

    check_mind(subject(Counting(), "counting"), "lambda-star")
    assert score(subject(Counting())) == score(ByStep)


def test_a_policy_that_takes_masks_is_given_them():
    class Masked:
        def predict(self, observation, action_masks=None, deterministic=False):
            return int(np.flatnonzero(action_masks)[-1]), None

    assert score(subject(Masked()), "noughts-and-crosses") == score(
        lambda seen: seen.legal[-1], "noughts-and-crosses"
    )
    assert score(subject(Masked()), "lambda") == score(
        lambda seen: len(seen.reachable) - 1, "lambda"
    )


def test_every_agent_may_have_a_policy_of_its_own():
    own = {"player_0": lambda seen: 1, "player_1": lambda seen: 0}
    tool = registry.make_instrument("prisoners-dilemma")
    line_up = registry.line_up(agents_subject(own), tool)
    ((_, record),) = play_on(tool, line_up, 1, 0, 1)
    assert record.score == (1.0, -1.0)
    with pytest.raises(Error, match="there is no policy for player_2"):
        score(agents_subject(own), "public-goods")


@pytest.mark.parametrize("instrument", ["lambda", "c-test", "matrices", "noughts-and-crosses"])
def test_a_policy_can_be_asked_about_any_instrument(instrument):
    rows = am.evaluate(instrument, [subject(lambda seen: 0, "first")], episodes=7)["results"]
    assert rows[0]["episodes"] == 7


# ---------------------------------------------------------------- what does not fit


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Model(n=4), r"a policy with actions .*n=4.* does not fit lambda-star, which has 9"),
        (Model(size=27), r"observations of shape \(27,\) .* have 18 numbers"),
    ],
)
def test_spaces_that_do_not_fit_are_one_sentence(model, said):
    with pytest.raises(Error, match=said) as caught:
        score(subject(model))
    assert "\n" not in str(caught.value)


def test_continuous_actions_do_not_fit():
    gymnasium = pytest.importorskip("gymnasium")
    model = Model()
    model.action_space = gymnasium.spaces.Box(-1, 1, (2,))
    with pytest.raises(Error, match="does not fit lambda-star"):
        score(subject(model))


def test_what_cannot_be_asked_is_no_policy():
    with pytest.raises(Error, match="42 is not a policy"):
        subject(42)


# ---------------------------------------------------------------- files


def test_a_model_file_is_a_mind_by_name(baselines, tmp_path):
    file = tmp_path / "model.zip"
    file.write_text("{}")
    assert score(f"policy({file})") == score(subject(Model()))
    check_mind(f"policy({file})", "lambda-star")
    file.write_text('{"n": 4}')
    with pytest.raises(Error, match="does not fit lambda-star"):
        score(f"policy({file})")


def test_what_is_wrong_with_a_file_is_said(baselines, tmp_path):
    tool = registry.make_instrument("lambda-star")
    bad = tmp_path / "bad.zip"
    bad.write_text("not a model")
    for name, said in {
        "policy": r"policy needs the file of a model: policy\(model.zip\)",
        "policy(none.zip)": "there is no file 'none.zip'",
        f"policy({bad})": "is not a model of PPO",
        f"policy({bad},algorithm=QQQ)": "stable_baselines3 has no algorithm 'QQQ'",
        f"policy({bad},algorithm=no_such_package:A)": "pip install no-such-package",
    }.items():
        with pytest.raises(Error, match=said):
            registry.line_up(name, tool)


def test_without_the_library_the_way_to_get_it_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    policies._loaded.cache_clear()
    file = tmp_path / "model.zip"
    file.write_text("{}")
    with pytest.raises(Error, match="pip install stable-baselines3"):
        registry.line_up(f"policy({file})", registry.make_instrument("lambda-star"))


def test_a_policy_is_a_subject_like_any_other():
    made = subject(Model(), "mine", Traits(deterministic=True))
    assert isinstance(made, Subject)
    assert made.name == "mine"
    assert made.traits.deterministic


# ---------------------------------------------------------------- the example


def test_the_example_learns_more_than_chance():
    pytest.importorskip("gymnasium")
    spec = importlib.util.spec_from_file_location("train_policy", EXAMPLES / "train_policy.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    rows = {row["mind"]: row for row in example.main(rounds=3, episodes=100)}
    assert rows["trained"]["failed"] == 0
    assert rows["trained"]["ci95"][0] > 0.2 > rows["random"]["ci95"][1]
