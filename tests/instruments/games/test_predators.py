"""Predator and prey: rules, teams that are not alike, the chance level."""

from __future__ import annotations

import numpy as np
import pytest

from allminds import registry
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain, play
from allminds.instruments.games.boards import Chase, Hunt, survival
from allminds.instruments.lambda_star.grid import Torus

UP, LEFT, STAY, RIGHT, DOWN = range(5)
THIRD = 1 / 3


@pytest.fixture
def world():
    return Chase(Torus(5, 5), 3)


def moved(world, cells, moves, step=0):
    return world.step(Hunt(step, cells, False), dict(enumerate(moves)), None)


def test_the_prey_is_caught_in_its_cell(world):
    after, rewards = moved(world, (1, 12, 25, 13), (STAY, RIGHT, STAY, STAY))
    assert after.caught
    assert rewards == [THIRD] * 3 + [-1.0]
    assert world.awaited(after) == ()


def test_the_prey_is_caught_by_changing_places(world):
    after, rewards = moved(world, (1, 12, 25, 13), (STAY, RIGHT, STAY, LEFT))
    assert after.cells[1:] == (13, 25, 12)
    assert after.caught
    assert rewards[3] == -1.0


def test_the_prey_may_follow_a_predator(world):
    after, _ = moved(world, (1, 12, 25, 13), (STAY, LEFT, STAY, LEFT))
    assert not after.caught


def test_the_prey_wins_when_the_time_is_over(world):
    after, rewards = moved(world, (1, 11, 25, 13), (STAY,) * 4, step=2)
    assert rewards == [-THIRD] * 3 + [1.0]
    assert world.awaited(after) == ()
    assert sum(rewards) == pytest.approx(0)


def test_the_field_has_no_borders(world):
    after, _ = moved(world, (1, 5, 21, 13), (UP, RIGHT, DOWN, STAY))
    assert after.cells == (21, 1, 1, 13)


def test_everybody_starts_in_a_cell_of_its_own():
    tool = registry.make_instrument("predator-prey", {"rows": 3, "cols": 3})
    for i in range(200):
        assert len(set(Episode(tool.exercise(1, i)).state.cells)) == 4


@pytest.mark.parametrize(("rows", "cols", "steps"), [(3, 4, 2), (5, 5, 6), (4, 7, 12)])
def test_the_chance_level_is_that_of_simulated_lots(rows, cols, steps):
    settings = {"rows": rows, "cols": cols, "steps": steps}
    tool = registry.make_instrument("predator-prey", settings)
    line_up = registry.line_up("random", tool)
    scores = Plain(tool, line_up, Watch()).play(5, 0, 1500, 0).score[:, 0]
    error = scores.std(ddof=1) / np.sqrt(len(scores))
    assert abs(scores.mean() - tool.chance) < 4 * error
    assert tool.chance == pytest.approx((1 - 2 * survival(rows, cols, steps)) / 3)


def test_teams_of_three_and_one_are_not_symmetric():
    """The same minds in other slots: what a mind gets depends on the slot it is in."""
    tool = registry.make_instrument("predator-prey")
    scores = {}
    for names in ("greedy*3, random", "random*3, greedy"):
        line_up = registry.line_up(names, tool)
        scores[names] = Plain(tool, line_up, Watch()).play(1, 0, 60, 0).score.mean(axis=0)
    assert scores["greedy*3, random"][0] == pytest.approx(THIRD)
    assert scores["random*3, greedy"][3] > 0.9
    assert len({len(team) for team in tool.environment.teams}) == 2


def test_predators_share_one_reward_at_every_step():
    tool = registry.make_instrument("predator-prey")
    for i in range(20):
        record = play(
            tool.exercise(2, i), registry.line_up("greedy, random, always(up), random", tool)
        )
        assert all(len(set(rewards[:3])) == 1 for rewards in record.rewards)
        assert all(sum(rewards) == pytest.approx(0) for rewards in record.rewards)


def test_the_field_is_drawn():
    tool = registry.make_instrument("predator-prey", {"rows": 3, "cols": 3})
    assert tool.show_state(tool.environment, Hunt(0, (1, 5, 9, 3), False)) == "0 . P\n. 1 .\n. . 2"
