"""What each mind does, by exact behaviour in worlds made by hand."""

from __future__ import annotations

import itertools

import pytest

from allminds import registry
from allminds.contracts import Exercise
from allminds.core.line_up import LineUp
from allminds.core.seeding import Random, key
from allminds.episode import Episode, play
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.minds import LocalSearch, QLearning, Sarsa
from allminds.instruments.lambda_star.patterns import Recurrent
from allminds.instruments.lambda_star.world import View, World
from allminds.instruments.tables import uniform_best

STAY, RIGHT = (5,), (6,)
LAMBDA_STAR = registry.make_instrument("lambda-star")


@pytest.fixture
def tool():
    return registry.make_instrument("lambda-star", {"rows": 6, "cols": 6, "k": "any"})


def world(good=STAY, evil=STAY, steps=12, rows=6, cols=6, agents=1):
    return World(Torus(rows, cols), steps, agents, 1, Recurrent(good, evil), {"K": 0.0})


def played(tool, name, index=0, **made):
    exercise = Exercise("by-hand", LAMBDA_STAR, 1, index, world(**made))
    return exercise, play(
        exercise, LineUp.alone(registry.subject(name, tool), made.get("agents", 1))
    )


def test_local_search_steps_to_the_best_cell_it_sees_and_draws_among_equals():
    mind = LocalSearch()
    mind.torus = Torus(5, 5)
    cells = Torus(5, 5).around(13, 1)
    rewards = (0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5)
    acts = {mind.act(View(cells, rewards), Random(key(1, i, 2))) for i in range(60)}
    assert acts == {3, 6, 9}
    assert {mind.act(View(cells, (0.0,) * 9), Random(key(1, i, 2))) for i in range(200)} == set(
        range(1, 10)
    )
    assert uniform_best([1.0, 3.0, 2.0], Random(0)) == 1


def test_on_a_good_that_stands_still_local_search_stays(tool):
    for index in range(20):
        _, record = played(tool, "local-search", index, steps=40)
        rewards = [reward for (reward,) in record.rewards]
        if 1.0 in rewards:
            assert set(rewards[rewards.index(1.0) :]) == {1.0}


def test_the_expert_intercepts_what_the_plain_one_chases_in_vain(tool):
    """Good runs to the right for ever: from behind, only going to meet it helps (P4 §5.2.1)."""

    def steps_on_good(name, index):
        _, record = played(tool, name, index, good=RIGHT, steps=12)
        return [reward for (reward,) in record.rewards].count(1.0)

    earlier = 0
    for index in range(30):
        meets = steps_on_good("expert", index)
        chases = steps_on_good("expert(intercept=false)", index)
        assert meets >= chases
        earlier += meets > chases
    assert earlier > 3


def test_the_expert_is_on_good_from_the_first_moment_it_can_be(tool):
    exercise, record = played(tool, "expert", 4, good=RIGHT, steps=12)
    episode = Episode(exercise)
    future = exercise.environment.secret(episode.state, 0, episode.random)
    torus, start = exercise.environment.torus, episode.state.minds[0]
    first = next(j for j in range(1, 13) if torus.distance(start, future.good[j]) <= j)
    cells = [start]
    for (action,) in (made.values() for made in record.actions):
        cells.append(torus.moved(cells[-1], action))
    assert cells[first:] == list(future.good[first:])


def test_the_optimum_is_the_best_of_all_ways(tool):
    """Against brute force over all 9^4 action sequences."""
    for index in range(6):
        exercise, record = played(
            tool, "optimum", index, good=(6, 8, 4, 2), evil=(9, 1), steps=4, rows=4, cols=4
        )
        best = -9.0
        environment = exercise.environment
        begun = Episode(exercise)
        future = environment.secret(begun.state, 0, begun.random)
        for actions in itertools.product(range(1, 10), repeat=4):
            cell, total = begun.state.minds[0], 0.0
            for step, action in enumerate(actions, start=1):
                cell = environment.torus.moved(cell, action)
                total += environment.reward(
                    cell, begun.state._replace(good=future.good[step], evil=future.evil[step])
                )
            best = max(best, total / 4)
        assert record.score == (best,)


def test_q_learning_updates_as_the_paper_says(tool):
    """One session by hand: Q += α (10 R + γ max Q' - Q), 0 after the last step."""
    exercise = Exercise("by-hand", LAMBDA_STAR, 1, 3, world(good=RIGHT, steps=3))
    mind = QLearning(alpha=0.5, gamma=0.25, sessions=1)
    episode = Episode(exercise)
    mind.begin(episode.task(0, rehearsal=True))
    steps = []
    for step in range(3):
        seen = episode.waiting[0]
        action = mind.act(seen, Random(key(1, 3, 2), step))
        episode.play({0: action})
        after = None if episode.record else episode.waiting[0]
        mind.learn(episode.rewards[-1][0], after, episode.record is not None)
        steps.append((seen.cell, step, action - 1, episode.rewards[-1][0]))
    for cell, step, action, reward in steps:
        ahead = 2.0 if step < 2 else 0.0  # every state beyond is still as it began
        expected = 2.0 + 0.5 * (10 * reward + 0.25 * ahead - 2.0)
        assert mind.table[cell, step][action] == expected


def test_the_released_bootstrap_looks_ahead_to_the_first_iteration(tool):
    """The best value of the new cell at iteration 1 counts, whatever it is at the next one."""
    mind = QLearning(alpha=1.0, gamma=0.5, scale=1.0, bootstrap="released")
    episode = Episode(Exercise("by-hand", LAMBDA_STAR, 1, 0, world(steps=3)))
    mind.begin(episode.task(0, rehearsal=True))
    first = episode.waiting[0]
    action = mind.act(first, Random(5))
    episode.play({0: action})
    seen = episode.waiting[0]
    mind.table[seen.cell, 0] = [2.0] * 8 + [7.0]
    mind.table[seen.cell, 1] = [99.0] * 9
    mind.learn(episode.rewards[-1][0], seen, False)
    assert mind.table[first.cell, 0][action - 1] == episode.rewards[-1][0] + 0.5 * 7.0


def test_sarsa_looks_ahead_to_the_action_it_takes(tool):
    """With ε = 1 the next action is any; its value counts, not the largest."""
    mind = Sarsa(alpha=1.0, gamma=1.0, epsilon=1.0, sessions=1, scale=1.0)
    episode = Episode(Exercise("by-hand", LAMBDA_STAR, 1, 0, world(steps=2)))
    mind.begin(episode.task(0, rehearsal=True))
    random = Random(key(1, 0, 2))
    first = episode.waiting[0]
    mind.table[first.cell, 0] = [2.0] * 9
    action = mind.act(first, random.at_step(0))
    episode.play({0: action})
    mind.learn(episode.rewards[-1][0], episode.waiting[0], False)
    seen = episode.waiting[0]
    mind.table[seen.cell, 1] = [float(n) for n in range(9)]
    reward = episode.rewards[-1][0]
    following = mind.act(seen, random.at_step(1))
    assert mind.table[first.cell, 0][action - 1] == reward + (following - 1)


def test_learners_are_tested_with_the_table_frozen(tool):
    mind = QLearning(sessions=1)
    episode = Episode(Exercise("by-hand", LAMBDA_STAR, 1, 0, world(steps=5)))
    mind.begin(episode.task(0))
    seen = episode.waiting[0]
    action = mind.act(seen, Random(5))
    episode.play({0: action})
    before = {key: list(row) for key, row in mind.table.items()}
    mind.learn(1.0, episode.waiting[0], False)
    assert mind.table == before


def test_q_learning_gets_better_with_practice(tool):
    scores = {}
    for sessions in (1, 30):
        records = [
            played(tool, f"q-learning(sessions={sessions})", i, good=(6, 4), steps=12)[1]
            for i in range(15)
        ]
        scores[sessions] = sum(record.score[0] for record in records) / 15
    assert scores[30] > scores[1] + 0.2
