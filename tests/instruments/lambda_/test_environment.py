"""One exercise of Λ: rewards, sight, teams, and the two properties that P3 asks for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.contracts import MindBase
from allminds.core.errors import Error
from allminds.core.line_up import Seat, Subject
from allminds.core.seeding import Random, key
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain
from allminds.instruments.lambda_.world import HIDDEN, Space, World

RING = Space.parse("1+2-|1+2-|1+2-|1+2-")
LINE = Space.parse("1+2|1+2-|12-")  # 0 - 1 - 2, with 1 further on and 2 back


def world(space, pattern, **more):
    given = {
        "steps": 6, "agents": 1, "teams": ((0,),), "good_symbol": 0, "rewards": "position",
        "sight": "full", "complexity": {},
    }  # fmt: skip
    return World(space, pattern, **given | more)


def random_of(seed):
    return Random(key(seed, 0, 1))


def walked(place, actions, seed=1):
    """States and rewards of a world, given everybody's actions step by step."""
    random = random_of(seed)
    state, found = place.reset(random), []
    for step, made in enumerate(actions, start=1):
        state, rewards = place.step(state, dict(enumerate(made)), random.at_step(step))
        found.append((state, list(rewards)))
    return found


# ---------------------------------------------------------------- rewards


@given(st.integers(0, 2**60))
def test_reward_is_1_with_good_minus_1_with_evil_and_0_elsewhere(seed):
    for state, (reward,) in walked(world(RING, "12"), [[0]] * 6, seed):
        mind = state.minds[0]
        assert reward == (mind == state.good) - (mind == state.evil)


def test_good_and_evil_take_the_same_action_at_the_same_step():
    random = random_of(3)
    place = world(RING, "0112")
    before = place.reset(random)
    for step, (state, _) in enumerate(walked(place, [[0]] * 6, 3)):
        action = int("0112"[step % 4])
        assert state.good == RING.moved(before.good, action)
        assert state.evil == RING.moved(before.evil, action)
        before = state


def test_a_trail_is_halved_each_step_and_taken_by_who_enters():
    place = world(RING, "1", rewards="trail", steps=8)
    random = random_of(5)
    state = place.reset(random)
    start = {state.good: 1.0, state.evil: -1.0}
    assert state.trail == tuple(start.get(cell, 0.0) for cell in range(4))
    state = state._replace(good=0, evil=2, minds=(0,), trail=(1.0, 0.0, -1.0, 0.0))
    state, rewards = place.step(state, {0: 0}, random.at_step(1))
    assert (state.good, state.evil) == (1, 3)
    assert list(rewards) == [0.5]  # what Good left behind, one step old
    assert state.trail == (0.0, 1.0, -0.5, -1.0)
    state, rewards = place.step(state, {0: 1}, random.at_step(2))
    assert list(rewards) == [0.5]  # Good has moved on from cell 1
    assert state.trail == (-1.0, 0.0, 1.0, -0.5)


def test_those_who_enter_together_share_a_trail():
    place = world(RING, "0", rewards="trail", agents=2, teams=((0,), (1,)))
    state = place.reset(random_of(1))._replace(good=0, evil=2, minds=(3, 1))
    _, rewards = place.step(state, {0: 1, 1: 2}, random_of(1).at_step(1))
    assert list(rewards) == [0.5, 0.5]


@pytest.mark.parametrize("rewards", ["position", "trail"])
def test_a_team_gets_the_mean_of_its_members(rewards):
    tool = registry.make_instrument("lambda", {"agents": 6, "teams": 2, "rewards": rewards})
    assert tool.exercise(1, 0).environment.teams == ((0, 1, 2), (3, 4, 5))
    alone = registry.make_instrument("lambda", {"agents": 6, "rewards": rewards})
    one = Plain(tool, registry.line_up("random", tool), Watch()).play(1, 0, 7, 0)
    other = Plain(alone, registry.line_up("random", alone), Watch()).play(1, 0, 7, 0)
    for team in ([0, 1, 2], [3, 4, 5]):
        assert one.score[:, team[0]] == pytest.approx(other.score[:, team].mean(axis=1))
        assert (one.score[:, team] == one.score[:, team[:1]]).all()


# ---------------------------------------------------------------- what is seen


def test_full_sight_and_adjacent_sight():
    place = world(LINE, "0", agents=2, teams=((0,), (1,)))
    near = world(LINE, "0", agents=2, teams=((0,), (1,)), sight="adjacent")
    state = place.reset(random_of(1))._replace(good=2, evil=1, minds=(0, 2))
    assert place.observe(state, 0) == ((2, 1), 0, (0, 1, 0), (2,), 3)
    assert near.observe(state, 0) == ((HIDDEN, 1), 0, (0, 1, 0), (HIDDEN,), 3)
    assert near.observe(state, 1) == ((2, 1), 2, (2, 2, 1), (HIDDEN,), 3)
    other = world(LINE, "0", good_symbol=1)
    assert other.observe(state, 0).symbols == (1, 2)


def test_which_symbol_is_good_is_shuffled_from_exercise_to_exercise():
    tool = registry.make_instrument("lambda", {})
    good = [tool.exercise(1, i).environment.good_symbol for i in range(2000)]
    assert abs(sum(good) - 1000) < 4 * 500**0.5


@given(st.integers(0, 2**40), st.integers(0, 10**6), st.integers(1, 3))
def test_those_who_see_the_future_are_told_the_way_of_good_and_evil(seed, index, agents):
    tool = registry.make_instrument("lambda", {"agents": agents, "form": "general"})
    episode = Episode(tool.exercise(seed, index))
    secret = episode.task(0, future=True).secret
    assert episode.task(0).secret is None
    states = [episode.state]
    while episode.record is None:
        episode.play(dict.fromkeys(range(agents), 0))
        states.append(episode.state)
    assert secret.good == tuple(state.good for state in states)
    assert secret.evil == tuple(state.evil for state in states)


# ---------------------------------------------------------------- balanced, reward-sensitive


def pairs_after(space, action, good, evil):
    """Where Good and Evil may be next, each outcome as likely as the others."""
    to_good, to_evil = space.moved(good, action), space.moved(evil, action)
    if to_good != to_evil:
        return [(to_good, to_evil)]
    if good == to_good or evil == to_evil:
        return [(good, evil)]
    return [(to_good, evil), (good, to_evil)]


def test_a_random_mind_expects_0_at_every_step_of_every_environment():
    """Exactly: the chances of all states, for thousands of generated environments."""
    tool = registry.make_instrument("lambda", {"form": "general", "disabled": 0.1})
    for i in range(3000):
        place = tool.exercise(11, i).environment
        space, cells = place.space, place.space.cells
        pairs = [(g, e) for g in range(cells) for e in range(cells) if g != e]
        chances = dict.fromkeys(pairs, 1 / len(pairs))
        mind = np.full(cells, 1 / cells)
        for digit in (place.pattern * 12)[:12]:
            after = dict.fromkeys(pairs, 0.0)
            for pair, chance in chances.items():
                outcomes = pairs_after(space, int(digit), *pair)
                for outcome in outcomes:
                    after[outcome] += chance / len(outcomes)
            chances, before, mind = after, mind, np.zeros(cells)
            for cell in range(cells):
                for to in space.reachable(cell):
                    mind[to] += before[cell] / space.actions
            gain = sum(p * (mind[g] - mind[e]) for (g, e), p in chances.items())
            assert abs(gain) < 1e-12


@pytest.mark.parametrize("more", [{"rewards": "trail"}, {"observation": "adjacent", "agents": 3}])
def test_a_random_mind_gets_0_in_the_other_forms(more):
    tool = registry.make_instrument("lambda", {"form": "general", "steps": 12} | more)
    block = Plain(tool, registry.line_up("random", tool), Watch()).play(2, 0, 1200, 0)
    scores = block.score.mean(axis=1)
    assert abs(scores.mean()) < 4 * scores.std() / len(scores) ** 0.5


def can_force(space, pattern, sign):
    """From which states a mind can come to a reward of this sign: [phase, pair, cell]."""
    cells = space.cells
    pairs = [(g, e) for g in range(cells) for e in range(cells) if g != e]
    number = {pair: n for n, pair in enumerate(pairs)}
    to = np.array([space.reachable(cell) for cell in range(cells)])
    ways = []
    for digit in pattern:
        outcomes = [pairs_after(space, int(digit), *pair) for pair in pairs]
        ways.append([[number[some[k % len(some)]] for some in outcomes] for k in (0, 1)])
    paid = np.zeros((len(pairs), cells), bool)
    for n, pair in enumerate(pairs):
        paid[n, pair[0 if sign > 0 else 1]] = True
    able = np.zeros((len(pattern), len(pairs), cells), bool)
    while True:
        before = able.copy()
        for phase in reversed(range(len(pattern))):
            good = paid | able[(phase + 1) % len(pattern)]
            for way in ways[phase]:
                able[phase] |= good[way][:, to].any(axis=2)
        if (able == before).all():
            return able


def test_there_is_no_heaven_and_no_hell():
    """From every state of every environment a mind can come to a reward and to a punishment."""
    tool = registry.make_instrument("lambda", {"form": "general", "disabled": 0.1})
    for i in range(1500):
        place = tool.exercise(12, i).environment
        for sign in (1, -1):
            assert can_force(place.space, place.pattern, sign).all(), (i, place)


def test_the_search_would_find_a_hell():
    class Trap:
        cells = 3
        to = ((0, 1), (1, 0), (2, 2))

        def moved(self, cell, action):
            return self.to[cell][action]

        def reachable(self, cell):
            return self.to[cell]

    assert not can_force(Trap(), "01", 1).all()


# ---------------------------------------------------------------- minds that fail


def test_one_mind_that_fails_voids_the_exercise_of_all():
    tool = registry.make_instrument("lambda", {"agents": 2})

    class Broken(MindBase):
        def act(self, observation, random):
            return 99

    line_up = registry.line_up("random", tool)
    broken = Subject("broken", Broken)
    mixed = type(line_up)("mixed", (line_up.seats[0], Seat(broken, (1,))))
    block = Plain(tool, mixed, Watch()).play(1, 0, 2, 0)
    assert block.status.tolist() == [[5, 2], [5, 2]]
    assert "99 is not one of the actions" in block.reasons[0]


def test_a_world_with_an_unknown_action_in_its_pattern_is_refused():
    with pytest.raises(Error, match="an action '3'"):
        world(RING, "0123")
