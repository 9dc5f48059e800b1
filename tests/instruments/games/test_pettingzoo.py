"""PettingZoo's environments as ours: their rewards, their seeds, their masks."""

from __future__ import annotations

import numpy as np
import pytest

from allminds import registry
from allminds.check import check_instrument, check_mind
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain, play
from allminds.exact import outcome

zoo = pytest.importorskip("pettingzoo")
gymnasium = pytest.importorskip("gymnasium")
TURNS = ("classic/tictactoe_v3", "classic/connect_four_v3")


def make(name, **settings):
    return registry.make_instrument(f"pettingzoo:{name}", settings)


class Wander(zoo.ParallelEnv):
    """Three agents draw noise; agent 2 leaves after two steps; rewards are 0..10 and noisy."""

    metadata = {"name": "wander_v0"}  # noqa: RUF012
    possible_agents = ["a", "b", "c"]  # noqa: RUF012

    def __init__(self, length=4, shared=False):
        self.length, self.shared = length, shared

    def observation_space(self, agent):
        return gymnasium.spaces.Box(0, 10, (2,))

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(3, start=2)

    def reset(self, seed=None, options=None):
        self.noise = np.random.default_rng(seed)
        self.agents, self.made = list(self.possible_agents), 0
        return self._seen(), {agent: {} for agent in self.agents}

    def _seen(self):
        return {agent: np.array([self.made, self.noise.integers(9)]) for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.made += 1
        noise = int(self.noise.integers(5))
        rewards = {agent: float(actions[agent] - 2 + noise) for agent in self.agents}
        if self.shared:
            rewards["b"] = rewards["a"]
        seen = self._seen()
        gone = {agent: agent == "c" and self.made == 2 for agent in self.agents}
        over = dict.fromkeys(self.agents, self.made == self.length)
        infos = {agent: {} for agent in self.agents}
        self.agents = [agent for agent in self.agents if not gone[agent] and not over[agent]]
        return seen, rewards, gone, over, infos


class Continuous(Wander):
    """Actions that are not discrete."""

    def action_space(self, agent):
        return gymnasium.spaces.Box(0, 1, (1,))


zoo.register("parallel", "allminds_test/wander-v0", Wander)
zoo.register("parallel", "allminds_test/continuous-v0", Continuous)
WANDER = "allminds_test/wander_v0"


# ---------------------------------------------------------------- PettingZoo's own


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("classic/tictactoe_v3", {}),
        ("classic/connect_four_v3", {}),
        ("classic/rps_v2", {"steps": 12}),
        (WANDER, {"low": 0, "high": 6}),
    ],
)
def test_it_keeps_the_contract(name, settings):
    check_instrument(f"pettingzoo:{name}", settings)
    for mind in ("random", "q-learning(sessions=3)"):
        check_mind(mind, f"pettingzoo:{name}", settings)


def test_the_chance_level_is_measured_where_none_is_stated():
    """By lot against lot the crosses score 187/630; 200 games are within four errors of it."""
    tool = registry.make_instrument("pettingzoo:classic/tictactoe_v3", {})
    assert abs(tool.chance - 187 / 630) < 4 * 0.88 / 200**0.5
    stated = {"chance": 0.9}
    assert registry.make_instrument("pettingzoo:classic/tictactoe_v3", stated).chance == 0.9
    with pytest.raises(Error, match=r"its stated chance is 0\.9"):
        check_instrument("pettingzoo:classic/tictactoe_v3", stated)


@pytest.mark.parametrize("name", TURNS)
def test_a_game_by_turns_is_that_of_pettingzoo_s_own_loop(name):
    tool = make(name)
    env = zoo.make("aec", name.replace("_v", "-v"))
    for i in range(6):
        record = play(tool.exercise(1, i), registry.line_up("random", tool))
        env.reset(seed=0)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        played = iter(record.actions)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            totals[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            ((slot, action),) = next(played).items()
            assert env.possible_agents[slot] == agent
            assert seen["action_mask"][action] == 1
            env.step(action)
        assert next(played, None) is None
        assert record.score == tuple(totals.values())


def test_a_simultaneous_game_is_that_of_pettingzoo_s_own_loop():
    tool = make("classic/rps_v2", steps=15, options="max_cycles=15")
    env = zoo.make("parallel", "classic/rps-v2", max_cycles=15)
    record = play(tool.exercise(1, 3), registry.line_up("random", tool))
    assert record.steps == 15
    env.reset(seed=0)
    for actions, rewards in zip(record.actions, record.rewards, strict=True):
        _, got, _, _, _ = env.step(dict(zip(env.agents, actions.values(), strict=True)))
        assert tuple(got.values()) == rewards
    assert not env.agents


@pytest.mark.parametrize("name", TURNS)
def test_an_action_that_the_mask_forbids_is_malformed(name):
    tool = make(name)
    episode = Episode(tool.exercise(1, 0))
    for _ in range(7):
        ((slot, seen),) = episode.waiting.items()
        assert set(seen.legal) == set(np.flatnonzero(seen.observation["action_mask"]))
        illegal = set(range(episode.environment.actions[slot].n)) - set(seen.legal)
        if illegal:
            episode.play({slot: min(illegal)})
            assert episode.record.status[slot] == "malformed"
            return
        episode.play({slot: seen.legal[0]})
    raise AssertionError("no action was ever illegal")


def test_our_noughts_and_crosses_is_theirs():
    """The same lots, cell by cell: theirs are numbered by columns."""
    theirs, ours = make("classic/tictactoe_v3"), registry.make_instrument("noughts-and-crosses")
    for i in range(30):
        record = play(ours.exercise(1, i), registry.line_up("random", ours))
        episode = Episode(theirs.exercise(1, i))
        for actions in record.actions:
            episode.play({slot: cell % 3 * 3 + cell // 3 for slot, cell in actions.items()})
        assert episode.record.score == record.score


# ---------------------------------------------------------------- states are values


def test_the_same_seed_makes_the_same_game_and_another_another():
    tool = make(WANDER, low=0, high=6)
    line_up = registry.line_up("random", tool)
    again = make(WANDER, low=0, high=6)
    first = [play(tool.exercise(5, i), line_up).rewards for i in range(5)]
    assert first == [play(again.exercise(5, i), line_up).rewards for i in range(5)]
    assert len(set(first)) == 5


def test_an_older_state_can_be_gone_on_from():
    tool = make(WANDER, low=0, high=6)
    exercise = tool.exercise(1, 0)
    world, episode = exercise.environment, Episode(exercise)
    states = [episode.state]
    for action in (2, 3):
        episode.play(dict.fromkeys(episode.waiting, action))
        states.append(episode.state)
    seen = {n: world.observe(state, 0).observation.tolist() for n, state in enumerate(states)}
    other, rewards = world.step(states[1], {0: 4, 1: 4, 2: 4}, None)
    assert other != states[2]
    assert rewards != list(episode.rewards[1])
    assert world.awaited(states[0]) == (0, 1, 2)
    assert world.awaited(states[2]) == (0, 1)
    for n, state in reversed(list(enumerate(states))):
        assert world.observe(state, 0).observation.tolist() == seen[n]
    same, _ = world.step(states[1], {0: 3, 1: 3, 2: 3}, None)
    assert same == states[2]
    assert hash(same) == hash(states[2])


def test_two_games_played_by_turns_do_not_mix():
    tool = make("classic/connect_four_v3")
    apart = [Episode(tool.exercise(1, i)) for i in range(2)]
    while any(episode.record is None for episode in apart):
        for n, episode in enumerate(apart):
            for slot, seen in list(episode.waiting.items()):
                episode.play({slot: seen.legal[(n + episode.step) % len(seen.legal)]})
    for n, episode in enumerate(apart):
        alone = Episode(tool.exercise(1, n))
        for actions in episode.actions:
            alone.play(actions)
        assert alone.record.score == episode.record.score


# ---------------------------------------------------------------- rewards and agents


def test_rewards_are_rescaled_by_the_declared_bounds():
    tool = make(WANDER, low=0, high=6)
    env = Wander()
    episode = Episode(tool.exercise(1, 0))
    env.reset(seed=episode.state.seed)
    while episode.record is None:
        actions = {slot: 2 + slot for slot in episode.waiting}
        _, rewards, _, _, _ = env.step({"abc"[slot]: a for slot, a in actions.items()})
        episode.play(actions)
        for slot, got in enumerate(episode.rewards[-1]):
            assert got == pytest.approx(2 * rewards.get("abc"[slot], 0) / 6 - 1)
    assert episode.record.steps == 4


def test_a_game_by_turns_keeps_no_reward_at_nothing():
    tool = make("classic/tictactoe_v3", low=-4, high=2)
    record = play(tool.exercise(1, 0), registry.line_up("random", tool))
    assert record.rewards[0] == (0.0, 0.0)
    assert sorted(record.score) in ([-0.25, 0.25], [0.0, 0.0])


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("classic/rps_v2", {"low": -0.5, "high": 0.5},
         r"step \d+: slot \d got -?1 a step, outside the declared bounds -0.5..0.5"),
        ("classic/tictactoe_v3", {"low": -0.5, "high": 0.5},
         r"slot 0 got -?1 in total, outside the declared bounds"),
        (WANDER, {"low": 0, "high": 6, "teams": "0 1/2"},
         r"slots \(0, 1\) are one team but were rewarded differently"),
    ],
)  # fmt: skip
def test_rewards_that_break_their_word_are_an_error(name, settings, said):
    tool = make(name, **settings)
    way = Plain(tool, registry.line_up("random", tool), Watch())
    with pytest.raises(Error, match=said):
        way.play(1, 0, 20, 0)


def test_agents_that_share_rewards_can_be_a_team():
    tool = make(WANDER, low=0, high=6, teams="0,1/2", options="shared=True,length=3")
    record = play(tool.exercise(1, 0), registry.line_up("random", tool))
    assert record.steps == 3
    assert all(rewards[0] == rewards[1] for rewards in record.rewards)


def test_steps_are_a_limit():
    tool = make("classic/connect_four_v3", steps=5)
    assert play(tool.exercise(1, 0), registry.line_up("random", tool)).steps == 5


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("classic/tictactoe_v9", {}, "did you mean 'classic/tictactoe_v3'"),
        ("nowhere/nothing_v0", {}, "PettingZoo has no environment 'nowhere/nothing_v0'"),
        ("allminds_test/continuous_v0", {}, "the actions of a are Box.*only discrete actions"),
        ("classic/rps_v2", {"teams": "0/0"}, r"must name each of slots 0..1 once"),
        ("classic/rps_v2", {"low": 1, "high": 1}, "low must be below high"),
        ("classic/rps_v2", {"options": "cycles"}, "'cycles' is not NAME=VALUE"),
        ("classic/rps_v2", {"options": "moon=1"}, "PettingZoo cannot make 'classic/rps_v2'"),
        ("classic/rps_v2", {"rows": 1}, "has no setting 'rows'"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(name, settings, said):
    with pytest.raises(Error, match=said):
        make(name, **settings)


def test_it_has_no_exact_outcome():
    with pytest.raises(Error, match="draws by lot"):
        outcome(make("classic/tictactoe_v3"), ["random", "random"])


def test_a_module_that_is_not_registered_will_do(tmp_path, monkeypatch):
    (tmp_path / "mine_v0.py").write_text(
        "from pettingzoo.classic.rps.rps import parallel_env  # noqa: F401\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert make("mine_v0", steps=3).slots == 2
