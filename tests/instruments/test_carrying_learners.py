"""MC-AIXI and policy gradient in the tests that have them: what they see, and what they learn."""

from __future__ import annotations

from statistics import fmean

import pytest

from allminds import registry
from allminds.core.seeding import MINDS, Random, key
from allminds.episode import Episode
from allminds.instruments.games.game import Round
from allminds.instruments.games.minds import GameAixi
from allminds.instruments.lambda_.learners import Credit, LambdaAixi, LambdaGradient
from allminds.instruments.lambda_.world import View
from allminds.instruments.lambda_star.learners import LambdaStarAixi, TorusGradient
from allminds.instruments.lambda_star.world import View as TorusView

ONE_WORLD = {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "2210", "steps": 30}


def course(tool, mind, exercises: int, others: str = "") -> list[float]:
    """The scores of one instance that lives through many exercises."""
    scores = []
    for i in range(exercises):
        exercise = tool.exercise(1, i)
        episode = Episode(exercise)
        rest = {
            slot: registry.subject(others, tool).make()
            for slot in range(1, len(exercise.environment.actions))
        }
        minds = {0: mind, **rest}
        words = {slot: Random(key(1, i, MINDS + slot)) for slot in minds}
        for slot, one in minds.items():
            one.begin(episode.task(slot))
        while episode.record is None:
            step = episode.step
            episode.play(
                {
                    slot: minds[slot].act(seen, words[slot].at_step(step))
                    for slot, seen in episode.waiting.items()
                }
            )
            done = episode.record is not None
            for slot, one in minds.items():
                one.learn(episode.rewards[-1][slot], None if done else episode.observe(slot), done)
        scores.append(episode.record.score[0])
    return scores


# ---------------------------------------------------------------- how a world is written


def begun(mind, name: str, **settings):
    episode = Episode(registry.make_instrument(name, settings).exercise(1, 0))
    mind.begin(episode.task(0))
    return mind


def test_in_lambda_a_symbol_is_the_action_that_leads_to_it_and_the_better_one_comes_first():
    mind = begun(LambdaAixi(), "lambda", form="general", cells=4, actions=3)
    assert mind.written.actions == 3
    assert mind.written.bits == 4
    assert mind.written.rewards == (-1.0, 0.0, 1.0)
    seen = View((2, 3), 0, (0, 2, 1), (), 4)
    assert mind.bits(seen) == 0b01_11  # by action 1; by none
    mind.credit.note(1.0, View((2, 0), 0, (0, 2, 1), (), 4))
    assert mind.bits(seen) == 0b11_01
    trail = begun(LambdaAixi(), "lambda", form="general", cells=4, actions=3, rewards="trail")
    assert len(trail.written.rewards) == 5


def test_in_lambda_star_the_best_cell_in_sight_is_a_move():
    mind = begun(LambdaStarAixi(), "lambda-star", rows=5, cols=5)
    around = mind.torus.around(13, 1)
    rewards = [0.0] * 9
    assert mind.bits(TorusView(around, tuple(rewards))) == 9
    rewards[2] = 0.5
    assert mind.bits(TorusView(around, tuple(rewards))) == 2
    assert mind.written.bits == 4


def test_in_a_game_the_others_actions_are_seen_and_rewards_are_those_of_the_table():
    mind = begun(GameAixi(), "rock-paper-scissors")
    assert mind.written == (3, 2, (-1.0, 0.0, 1.0))
    assert [mind.bits(Round(0, -1, ())), mind.bits(Round(1, 0, (2,)))] == [0, 2]
    goods = begun(GameAixi(), "public-goods", players=4)
    assert goods.written.bits == 3
    assert goods.bits(Round(1, 0, (1, 0, 1))) == 0b101
    assert goods.written.rewards[0] == -1.0


def test_credit_is_what_standing_with_a_symbol_brought():
    credit = Credit()
    assert credit.ordered((1, 2)) == (1, 2)
    credit.note(-1.0, View((0, 1), 0, (0, 1), (), 3))
    assert credit.ordered((1, 2)) == (2, 1)
    credit.note(0.0, View((2, 1), 0, (0, 1), (), 3))
    assert credit.sums == [-1.0, 0.0]


def test_features_of_lambda_are_what_they_say():
    mind = begun(LambdaGradient(), "lambda", form="general", cells=4, actions=3)
    first = mind.features(View((2, 3), 0, (0, 2, 1), (), 4))
    assert first.tolist() == [
        [0, 0, 0, 0, 0, 1],
        [1, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 0],
    ]
    mind.features(View((1, 3), 2, (2, 1, 3), (), 4))  # they went from (2, 3) to (1, 3)
    again = mind.features(View((2, 3), 0, (0, 2, 1), (), 4))
    assert again[:, 2].tolist() == [0, 0, 1]
    assert again[:, 4].tolist() == [0, 0, 1]


def test_features_of_a_torus_are_what_they_say():
    mind = begun(TorusGradient(), "lambda-star", rows=5, cols=5, range=2)
    torus_cells = tuple(range(1, 26))
    rewards = tuple(cell / 100 for cell in torus_cells)
    features = mind.features(TorusView(torus_cells, rewards))
    assert features[:, 0].tolist() == [rewards[n] for n in (6, 7, 8, 11, 12, 13, 16, 17, 18)]
    assert features[:, 2].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]


# ---------------------------------------------------------------- what is learnt


@pytest.mark.slow
def test_mc_aixi_learns_one_world_of_lambda_over_a_course_and_not_within_an_exercise():
    tool = registry.make_instrument("lambda", ONE_WORLD)
    carrying = LambdaAixi(simulations=40, explore=0.5, decay=0.995, carry=True)
    scores = course(tool, carrying, 60)
    assert fmean(scores[-20:]) > 0.65
    assert fmean(course(tool, LambdaAixi(simulations=40), 20)) < 0.35


@pytest.mark.slow
def test_mc_aixi_beats_who_repeats_itself_in_games():
    tool = registry.make_instrument("matching-pennies", {"steps": 30})
    assert fmean(course(tool, GameAixi(carry=True), 6, "heads")[-3:]) > 0.9
    tool = registry.make_instrument("rock-paper-scissors", {"steps": 30})
    carrying = GameAixi(carry=True, simulations=200, explore=0.5, decay=0.99)
    assert fmean(course(tool, carrying, 20, "best-reply")[-5:]) > 0.6


def test_policy_gradient_learns_over_a_course_of_fresh_worlds():
    """What it carries is general: every exercise has another space and pattern, or landscape."""
    tool = registry.make_instrument(
        "lambda", {"form": "general", "cells": 4, "actions": 3, "steps": 30}
    )
    scores = course(tool, LambdaGradient(carry=True), 100)
    assert fmean(scores[-50:]) > 0.35
    tool = registry.make_instrument("lambda-star", {"rows": 5, "cols": 5, "iterations": 30})
    scores = course(tool, TorusGradient(carry=True), 60)
    assert fmean(scores[-30:]) > 0.25
    tool = registry.make_instrument("landscape", {"rows": 8, "cols": 9, "iterations": 30})
    scores = course(tool, TorusGradient(carry=True), 40)
    assert fmean(scores[-20:]) > 0.3


def test_the_plain_form_of_a_mind_acts_as_the_compiled_one(monkeypatch):
    tool = registry.make_instrument("lambda", {"form": "general", "cells": 3, "steps": 8})
    fast = course(tool, LambdaAixi(depth=8, simulations=10, carry=True), 3)
    monkeypatch.setattr(LambdaAixi, "plain", True)
    assert course(tool, LambdaAixi(depth=8, simulations=10, carry=True), 3) == fast
