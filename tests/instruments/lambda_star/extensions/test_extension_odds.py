"""Chance levels against brute force over all joint cells; quick forms; who does well and badly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from allminds import registry
from allminds.check import check_instrument, check_mind
from allminds.core.blocks import block_difference
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.instruments.lambda_star.extensions.coordination import (
    Coordination,
    coordination_chance,
)
from allminds.instruments.lambda_star.extensions.coverage import coverage_chance
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import Recurrent
from allminds.instruments.lambda_star.world import State

STILL = Recurrent((5,), (5,))


def step_matrix(torus):
    """The chance that a random move leads from one cell to another."""
    matrix = np.zeros((torus.cells, torus.cells))
    for cell, action in itertools.product(range(1, torus.cells + 1), range(1, 10)):
        matrix[cell - 1, torus.moved(cell, action) - 1] += 1 / 9
    return matrix


def distinct_starts(torus, agents):
    """The chance of every tuple of starting cells."""
    joint = np.zeros((torus.cells,) * agents)
    for cells in itertools.permutations(range(torus.cells), agents):
        joint[cells] = 1.0
    return joint / joint.sum()


def moved(joint, matrix):
    for axis in range(joint.ndim):
        joint = np.moveaxis(np.tensordot(joint, matrix, (axis, 0)), -1, axis)
    return joint


@pytest.mark.parametrize(
    ("rows", "cols", "agents", "needed"),
    [(4, 4, 2, 2), (5, 4, 2, 1), (4, 4, 3, 2), (4, 4, 3, 3), (2, 5, 2, 2)],
)
def test_coordinations_chance_is_that_of_all_joint_cells(rows, cols, agents, needed):
    """Good in cell 1 and Evil in another, whichever: minds are anywhere with the same chance."""
    torus, steps = Torus(rows, cols), 3
    world = Coordination(torus, steps, agents, 1, STILL, {}, needed=needed)
    worth = np.zeros((torus.cells,) * agents)
    for cells in itertools.product(range(torus.cells), repeat=agents):
        worth[cells] = np.mean(world.rewards(State(0, 1, 7, tuple(c + 1 for c in cells))))
    joint, matrix, expected = distinct_starts(torus, agents), step_matrix(torus), []
    for _ in range(steps):
        joint = moved(joint, matrix)
        expected.append((joint * worth).sum())
    found = coordination_chance(torus, steps, agents, needed)
    assert found == pytest.approx(np.mean(expected), abs=1e-13)
    assert (needed == 1) == (abs(found) < 1e-15)


@pytest.mark.parametrize(
    ("rows", "cols", "agents", "reach"), [(4, 4, 1, 1), (5, 4, 2, 1), (4, 5, 3, 1), (6, 6, 1, 2)]
)
def test_coverages_chance_is_that_of_all_joint_walks(rows, cols, agents, reach):
    """By symmetry: the chance that cell 1 has been seen. Joint walks that never saw it remain."""
    torus, steps = Torus(rows, cols), 4
    blind = np.ones(torus.cells)
    blind[np.array(torus.around(1, reach)) - 1] = 0
    unseen, matrix, expected = distinct_starts(torus, agents), step_matrix(torus), []
    for step in range(steps + 1):
        unseen = moved(unseen, matrix) if step else unseen
        for axis in range(agents):
            shape = [1] * agents
            shape[axis] = -1
            unseen = unseen * blind.reshape(shape)
        expected.append(1 - unseen.sum())
    found = coverage_chance(torus, steps, agents, reach)
    assert found == pytest.approx(np.mean(expected[1:]), abs=1e-13)


@pytest.mark.parametrize("instrument", ["lambda-star-coordination", "lambda-star-coverage"])
def test_random_minds_score_the_chance_level(instrument):
    """2,000 exercises, 4 standard errors."""
    tool = registry.make_instrument(instrument, {"rows": 8, "cols": 7, "agents": 3})
    tally = tool.tally()
    tally.add(form(tool, registry.line_up("random", tool), Watch()).play(5, 0, 2000, 0))
    found = tally.estimate()
    assert abs(found.score - tool.chance) < 4 * found.stderr


def expected_when_all_stand_still_but_for_responses(torus, q, steps):
    """The exact expectation of a random mind, over all places of Good and Evil as seen from it.

    An oracle of its own: rows and columns of differences, chances in dictionaries.
    """
    rows, cols = torus.rows, torus.cols
    moves = list(itertools.product((-1, 0, 1), repeat=2))
    places = list(itertools.product(range(rows), range(cols)))

    def far(place):
        return max(min(place[0], rows - place[0]), min(place[1], cols - place[1]))

    def shifted(place, by, sign=1):
        return (place[0] + sign * by[0]) % rows, (place[1] + sign * by[1]) % cols

    def fleeing(good):
        reached = [shifted(good, by) for by in moves]
        best = [to for to in reached if far(to) == max(map(far, reached))]
        return [(to, 1 / len(best)) for to in best]

    def seeking(evil):
        def nearer(n, size):
            return 0 if n == 0 else (-1 if 2 * n < size else 1)

        return shifted(evil, (nearer(evil[0], rows), nearer(evil[1], cols)))

    def after(good, evil):
        for to_good, likely in [(good, 1 - q), *((to, q * p) for to, p in fleeing(good))]:
            for to_evil, also in ((evil, 1 - q), (seeking(evil), q)):
                if to_good != to_evil:
                    yield to_good, to_evil, likely * also
                elif to_good == good:
                    yield to_good, evil, likely * also
                elif to_evil == evil:
                    yield good, to_evil, likely * also
                else:
                    yield to_good, evil, likely * also / 2
                    yield good, to_evil, likely * also / 2

    pairs = [(good, evil) for good in places for evil in places if good != evil]
    here, found = dict.fromkeys(pairs, 1 / len(pairs)), []
    worth = {place: (1 / (far(place) + 1) if far(place) < 2 else 0.0) for place in places}
    for _ in range(steps):
        following = dict.fromkeys(pairs, 0.0)
        for (good, evil), chance in here.items():
            for to_good, to_evil, likely in after(good, evil):
                for by in moves:  # the mind moves, so all else moves the other way as it sees it
                    into = shifted(to_good, by, -1), shifted(to_evil, by, -1)
                    following[into] += chance * likely / 9
        here = following
        found.append(sum(p * (worth[good] - worth[evil]) for (good, evil), p in here.items()))
    return sum(found) / steps


@pytest.mark.parametrize(("rows", "cols", "q"), [(5, 5, 1.0), (5, 7, 0.4), (5, 5, 0.0)])
def test_a_random_mind_gets_what_is_expected_of_it_in_a_responsive_world(rows, cols, q):
    """Patterns of K = 2 stand still; odd sizes, where no cell is exactly half-way round."""
    settings = {"rows": rows, "cols": cols, "iterations": 6, "k": "2", "responsive": q}
    tool = registry.make_instrument("lambda-star-responsive", settings)
    expected = expected_when_all_stand_still_but_for_responses(tool.torus, q, 6)
    block = form(tool, registry.line_up("random", tool), Watch()).play(3, 0, 2000, 0)
    error = block.score.std() / 2000**0.5
    assert abs(block.score.mean() - expected) < 4 * error  # 4 standard errors
    assert q > 0 or expected == pytest.approx(0, abs=1e-12)


def test_the_chance_level_of_a_responsive_world_is_estimated():
    """Against 440 other exercises, 4 standard errors of both; without responses it is 0."""
    tool = registry.make_instrument("lambda-star-responsive", {"responsive": 0.5})
    tally = tool.tally()
    tally.add(form(tool, registry.line_up("random", tool), Watch()).play(5, 0, 440, 0))
    found = tally.estimate()
    assert abs(found.score - tool.chance) < 4 * 2**0.5 * found.stderr
    assert "an estimate" in tool.caution
    still = registry.make_instrument("lambda-star-responsive", {"responsive": 0})
    assert (still.chance, still.caution) == (0.0, "")


# ---------------------------------------------------------------- quick forms

SMALL = {
    "lambda-star-coordination": {"rows": 6, "cols": 5, "iterations": 15, "agents": 4},
    "lambda-star-responsive": {"rows": 6, "cols": 5, "iterations": 15},
    "lambda-star-coverage": {"rows": 6, "cols": 5, "iterations": 15, "agents": 3},
}


@pytest.mark.parametrize("instrument", SMALL)
def test_they_keep_the_contract(instrument):
    check_instrument(instrument, SMALL[instrument])
    for mind in ("random", "local-search", "sweep", "explorer", "scouts", "dictator"):
        check_mind(mind, instrument, SMALL[instrument])


@pytest.mark.parametrize("instrument", ["lambda-star-coordination", "lambda-star-coverage"])
@pytest.mark.parametrize("mind", ["random", "local-search(slip=0.3)", "crowd", "stigmergy"])
def test_more_than_one_block_of_lanes_is_the_plain_loop_bit_for_bit(instrument, mind):
    tool = registry.make_instrument(instrument, SMALL[instrument])
    line_up = registry.line_up(mind, tool)
    quick = form(tool, line_up, Watch()).play(9, 5, 140, 30)
    plain = Plain(tool, line_up, Watch()).play(9, 5, 140, 30)
    assert not isinstance(form(tool, line_up, Watch()), Plain)
    assert block_difference(quick, plain) == ""


@pytest.mark.parametrize("q", [0, 0.3, 1])
@pytest.mark.parametrize("patterns", ["cyclic", "drift"])
@pytest.mark.parametrize(
    "mind", ["random", "local-search", "q-learning(sessions=6)", "sarsa(sessions=5,epsilon=0.2)"]
)
def test_one_mind_in_a_responsive_world_is_the_plain_loop_bit_for_bit(mind, patterns, q):
    settings = {"rows": 5, "cols": 6, "iterations": 21, "patterns": patterns, "responsive": q}
    tool = registry.make_instrument("lambda-star-responsive", settings)
    line_up = registry.line_up(mind, tool)
    quick = form(tool, line_up, Watch())
    assert not isinstance(quick, Plain)
    found, plain = (way.play(9, 5, 35, 12) for way in (quick, Plain(tool, line_up, Watch())))
    assert block_difference(found, plain) == ""


@pytest.mark.parametrize(
    ("mind", "settings"),
    [
        ("local-search(slip=0.2)", {}),
        ("local-search", {"range": 2}),
        ("random", {"agents": 2}),
        ("random", {"patterns": "released"}),
        ("random", {"rows": 2}),
        ("expert", {}),
    ],
)
def test_what_has_no_kernel_is_left_to_the_plain_loop(mind, settings):
    tool = registry.make_instrument("lambda-star-responsive", settings)
    assert isinstance(form(tool, registry.line_up(mind, tool), Watch()), Plain)


def test_who_learns_from_rewards_is_left_to_the_plain_loop():
    tool = registry.make_instrument("lambda-star-coordination", SMALL["lambda-star-coordination"])
    for mind in ("q-learning(sessions=2)", "shared-q-learning(sessions=2)", "sweep"):
        assert isinstance(form(tool, registry.line_up(mind, tool), Watch()), Plain)


# ---------------------------------------------------------------- who does well, and who badly


def scores(instrument, minds, episodes=110, **settings):
    tool = registry.make_instrument(instrument, settings)
    found = {}
    for mind in minds:
        tally = tool.tally()
        tally.add(form(tool, registry.line_up(mind, tool), Watch()).play(1, 0, episodes, 0))
        found[mind] = tally.estimate().score
    return found


def test_gathering_pays_where_several_are_needed():
    found = scores("lambda-star-coordination", ["random", "local-search", "auction", "optimum"],
                   needed=4)  # fmt: skip
    assert found["random"] < 0 < found["local-search"]
    assert found["local-search"] + 0.1 < found["auction"] < found["optimum"]


def test_dispersing_pays_where_it_is_coverage_that_counts():
    found = scores("lambda-star-coverage", ["stay", "dictator", "random", "sweep", "scouts"], 44)
    assert list(found) == sorted(found, key=found.__getitem__)


def test_the_responsive_world_is_harder_the_more_it_responds():
    by_q = [scores("lambda-star-responsive", ["local-search"], responsive=q)["local-search"]
            for q in (0, 0.25, 1)]  # fmt: skip
    assert by_q == sorted(by_q, reverse=True)
    found = scores("lambda-star-responsive", ["stay", "random", "local-search", "expert"], 44)
    assert list(found) == sorted(found, key=found.__getitem__)
