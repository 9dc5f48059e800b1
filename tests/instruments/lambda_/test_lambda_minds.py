"""Minds of Λ, by what they do in worlds small enough to know what is right."""

from __future__ import annotations

import itertools
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import check_mind, registry
from allminds.contracts import Discrete, Task
from allminds.core.errors import Error
from allminds.core.seeding import Random, key
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain, form, play, play_on
from allminds.instruments.lambda_.minds import ModelBased, PatternModel, QLambda, QLearning, Sarsa
from allminds.instruments.lambda_.world import Space, View

RING = "1+2-|1+2-|1+2-|1+2-"


def given_world(pattern, steps=12, space=RING, **more):
    settings = {"form": "given", "space": space, "pattern": pattern, "steps": steps}
    return registry.make_instrument("lambda", settings | more)


def played(tool, who, seed=1, i=0):
    return play(tool.exercise(seed, i), registry.line_up(who, tool))


def task(cells=3, actions=2):
    facts = {"cells": cells, "observation": "full", "rewards": "position"}
    return Task("lambda", 0, 1, (0,), Discrete(actions), 10, facts)


def view(symbols, cell, actions=2):
    return View(symbols, cell, (cell,) * actions, (), 3)


ANY = Random(key(1, 0, 2))


# ---------------------------------------------------------------- minds that are told something


@pytest.mark.parametrize("i", range(20))
def test_the_optimum_is_the_best_of_all_action_sequences(i):
    tool = registry.make_instrument("lambda", {"form": "general", "cells": 4, "steps": 5})
    exercise = tool.exercise(3, i)
    actions = range(exercise.environment.space.actions)
    best = -9.0
    for sequence in itertools.product(actions, repeat=5):
        episode = Episode(exercise)
        for action in sequence:
            episode.play({0: action})
        best = max(best, episode.record.score[0])
    assert played(tool, "optimum", 3, i).score[0] == best


def test_the_expert_goes_by_the_shortest_way_to_where_good_will_be():
    tool = given_world("0")
    for seed in range(20):
        exercise = tool.exercise(seed, 0)
        start = Episode(exercise).state
        away = min((start.minds[0] - start.good) % 4, (start.good - start.minds[0]) % 4)
        record = played(tool, "expert", seed)
        assert [reward for (reward,) in record.rewards[max(0, away - 1) :]] == [1] * (
            12 - max(0, away - 1)
        )


def test_the_follower_goes_where_good_is_now():
    tool = given_world("0")
    assert all(r == (1,) for r in played(tool, "follower", 4).rewards[-3:])
    moving = given_world("1")
    late = [played(moving, "follower", seed).rewards[-1][0] for seed in range(40)]
    assert set(late) <= {0, -1}  # always a cell behind: with Evil if that is where Evil is


def test_no_optimum_where_rewards_lie_about():
    tool = given_world("1", rewards="trail")
    assert tool.ceiling_mind == "expert"
    with pytest.raises(Error, match="optimum knows only rewards=position"):
        played(tool, "optimum")


# ---------------------------------------------------------------- minds that learn a table


def test_q_learning_as_in_the_paper():
    mind = QLearning()
    mind.begin(task())
    assert (mind.alpha, mind.gamma, mind.initial) == (0.05, 0.35, 2.0)
    here, there = view((0, 1), 2), view((0, 1), 0)
    first = mind.act(here, ANY)
    mind.learn(1.0, there, False)
    row = mind.table[(0, 1), 2]
    assert row[first] == 2.0 + 0.05 * (2.0 + 0.35 * 2.0 - 2.0)
    assert row[1 - first] == 2.0
    mind.act(there, ANY)
    mind.learn(-1.0, here, False)
    assert mind.table[(0, 1), 0][mind.action] == 2.0 + 0.05 * (0.35 * row[first] - 2.0)
    assert mind.act(here, ANY) == first  # 2.035 beats 2


def test_ties_are_broken_uniformly():
    mind = QLearning()
    mind.begin(task(actions=4))
    made = [mind.act(view((0, 1), 2, 4), Random(key(1, 0, 2), n)) for n in range(4000)]
    for action in range(4):
        assert abs(made.count(action) - 1000) < 4 * 750**0.5


def test_sarsa_looks_ahead_to_the_action_it_takes():
    mind = Sarsa(epsilon=1.0)
    mind.begin(task())
    here, there = view((0, 1), 2), view((0, 1), 0)
    first = mind.act(here, ANY)
    mind.table[(0, 1), 0] = [5.0, 1.0]
    mind.learn(0.0, there, False)
    second = mind.act(there, ANY.at_step(1))
    ahead = mind.table[(0, 1), 0][second]
    assert mind.table[(0, 1), 2][first] == 2.0 + 0.05 * (1.0 + 0.35 * ahead - 2.0)


def test_traces_carry_an_error_back():
    mind = QLambda(trace=0.5, alpha=0.1)
    mind.begin(task())
    places = [view((0, 1), cell) for cell in (0, 1, 2)]
    first = mind.act(places[0], ANY)
    mind.learn(0.0, places[1], False)
    before = mind.table[(0, 1), 0][first]
    mind.act(places[1], ANY)
    mind.learn(1.0, places[2], False)
    error = 2.0 + 0.35 * 2.0 - 2.0
    assert mind.table[(0, 1), 0][first] == pytest.approx(before + 0.1 * error * 0.35 * 0.5)


@given(st.integers(0, 2**40))
@settings(max_examples=20)
def test_without_traces_it_is_q_learning(seed):
    tool = registry.make_instrument("lambda", {})
    for i in (0, 3):
        one, other = played(tool, "q-lambda(trace=0)", seed, i), played(tool, "q-learning", seed, i)
        assert (one.actions, one.score) == (other.actions, other.score)


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ("q-learning(alpha=0)", r"alpha must be in \(0, 1\], not 0"),
        ("sarsa(gamma=1.5)", r"gamma must be in \[0, 1\], not 1.5"),
        ("q-lambda(trace=2)", r"trace must be in \[0, 1\], not 2"),
        ("model-based(depth=0)", "depth must be in 1..100, not 0"),
        ("local-search", "is a mind for lambda-star, .*not for lambda"),
    ],
)
def test_bad_parameters_are_refused(who, said):
    tool = registry.make_instrument("lambda", {})
    with pytest.raises(Error, match=said):
        registry.subject(who, tool)


# ---------------------------------------------------------------- the model-based mind


def shown(model, space, pattern, good, evil, steps):
    """Let a model see a pattern at work."""
    for step in range(steps):
        action = int(pattern[step % len(pattern)])
        after = space.moved(good, action), space.moved(evil, action)
        model.saw((good, evil), after)
        good, evil = after
    return good, evil


def test_it_finds_the_shortest_period_that_explains_the_moves():
    space = Space.parse("1+2-|1+2-|1+2-|1+2-|1+2-")
    model = PatternModel(3)
    model.learnt({(c, a): space.moved(c, a) for c in range(5) for a in range(3)})
    pair = shown(model, space, "1120", 0, 2, 8)
    assert model.period == 4
    assert [mask.bit_length() - 1 for mask in model.phases] == [1, 1, 2, 0]
    ahead = {pair: 1.0}
    for step, action in enumerate((1, 1, 2)):
        pair = tuple(space.moved(cell, action) for cell in pair)
        ahead = model.moved(ahead, step)
        assert ahead == {pair: 1.0}


def test_moves_teach_it_arrows_where_it_never_was():
    space = Space.parse("1+2-|1+2-|1+2-|1+2-|1+2-")
    model = PatternModel(3)
    model.learnt({(0, a): space.moved(0, a) for a in range(3)})
    model.saw((0, 2), (1, 3))
    assert model.arrows[2, 1] == 3


def test_it_learns_who_is_good_and_then_sits_with_it():
    tool = given_world("0", steps=20)
    for seed in range(10):
        assert all(r == (1,) for r in played(tool, "model-based", seed).rewards[-5:])


def test_it_predicts_what_a_table_cannot_learn_so_fast():
    tool = registry.make_instrument("lambda", {})

    def mean(who):
        way = form(tool, registry.line_up(who, tool), Watch())
        return way.play(1, 0, 70, 0).score.mean()

    assert mean("model-based") > 0.75 > 0.4 > mean("q-learning")


@pytest.mark.parametrize("more", [{"observation": "adjacent"}, {"rewards": "trail", "agents": 3}])
def test_minds_without_foresight_play_all_forms(more):
    tool = registry.make_instrument("lambda", more)
    for who in ("model-based", "q-learning", "sarsa", "q-lambda", "follower", "expert"):
        block = Plain(tool, registry.line_up(who, tool), Watch()).play(1, 0, 3, 0)
        assert (block.status == 0).all()
        assert np.isfinite(block.score).all()


def test_the_model_sees_only_what_it_is_shown():
    assert ModelBased().traits.sees == "own"
    assert not ModelBased().traits.deterministic


ONE_WORLD = {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "2210", "steps": 20}


def taught(who: str, settings: dict, course: str) -> list:
    tool = registry.make_instrument("lambda", {**settings, "course": course})
    found = play_on(tool, registry.line_up(who, tool), 1, 0, tool.sitting, Watch())
    return [record for _, record in found if record.lesson.role == "test"]


def test_a_model_based_mind_that_carries_knows_its_world_again():
    """Paired in 40 tests, the gain is more than 4 standard errors at this seed."""
    course = "train=30,test=40"
    without, carried = (
        taught(who, ONE_WORLD, course) for who in ("model-based", "model-based(carry=true)")
    )
    more = [one.score[0] - other.score[0] for one, other in zip(carried, without, strict=True)]
    assert fmean(more) > 4 * stdev(more) / len(more) ** 0.5
    fresh = {"form": "general", "cells": 4, "actions": 3, "steps": 20}
    one, other = (taught(who, fresh, course) for who in ("model-based", "model-based(carry=true)"))
    assert [record.score for record in one] == [record.score for record in other]


def test_worlds_are_told_apart_and_the_one_of_the_exercise_is_remembered_last():
    worlds = [{**ONE_WORLD, "pattern": pattern} for pattern in ("2210", "1")]
    tools = [registry.make_instrument("lambda", world) for world in worlds]
    mind = ModelBased(carry=True)
    for n, which in enumerate((0, 1, 0, 1, 0, 0)):
        episode = Episode(tools[which].exercise(3, n))
        mind.begin(episode.task(0))
        while episode.record is None:
            episode.play({0: mind.act(episode.waiting[0], Random(n, episode.step))})
            done = episode.record is not None
            mind.learn(episode.rewards[-1][0], None if done else episode.observe(0), done)
        assert len(mind.memory[3, 3]) == min(n + 1, 2)
    assert mind.trust == 4 - 1  # it was in a world that it knew four times, in another once
    assert mind.memory[3, 3][-1].period == 4


def test_a_carried_world_that_is_contradicted_is_dropped_and_an_empty_one_is_not():
    model = PatternModel(2)
    model.learnt({(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0})
    again = model.again()
    assert again.holds
    assert again.before == {0, 1}
    again.learnt({(0, 1): 0})
    assert not again.holds


def test_the_model_based_mind_that_carries_keeps_the_contract():
    check_mind("model-based(carry=true)", "lambda", {"form": "general", "steps": 12})
