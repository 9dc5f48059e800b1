"""Walks on landscapes: exact examples, the ceiling, the measures, and who does well and badly."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import registry
from allminds.check import check_instrument, check_mind
from allminds.contracts import Exercise
from allminds.core.bases import Wrapper
from allminds.core.blocks import block_difference
from allminds.core.errors import Error
from allminds.core.seeding import Random, key
from allminds.core.watch import Watch
from allminds.episode import Plain, form, play
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.landscape.present import colour, picture
from allminds.instruments.landscape.world import Hills, Landscape, Standpoint, measures, ways

TORUS = Torus(11, 11)
TWO = Hills(TORUS, (1.0, 0.6), (TORUS.cell(2, 2), TORUS.cell(8, 8)))


def walk(mind, start, hills=TWO, steps=12, drift=0.0, reach=1):
    """One mind from a cell: the cells it stands on and what it gets."""
    world = Landscape(hills, steps, 1, reach, drift, {})
    tool = registry.make_instrument("landscape", {"rows": 11, "cols": 11})
    exercise = Exercise("", tool, 1, 0, Began(world, start))
    record = play(exercise, registry.line_up(mind, tool))
    return [state.minds[0] for state in ways(exercise, record)], record


@dataclass(frozen=True)
class Began(Wrapper):
    """A landscape whose one mind begins in a given cell."""

    start: int

    def reset(self, random):
        return Standpoint(0, self.inner.hills.tops, (self.start,))


# ---------------------------------------------------------------- exact examples


def test_a_hill_climber_is_stuck_on_the_nearest_hill():
    """From (6, 7) it takes two steps to the lesser top and stays there for good."""
    cells, record = walk("hill-climber", TORUS.cell(6, 7))
    assert [TORUS.place(cell) for cell in cells[:3]] == [(6, 7), (7, 8), (8, 8)]
    assert set(cells[2:]) == {TORUS.cell(8, 8)}
    assert record.rewards[-1][0] == TWO.field[8, 8] < 1


def test_the_expert_goes_straight_to_the_global_optimum():
    cells, record = walk("expert", TORUS.cell(6, 7))
    assert [TORUS.place(cell) for cell in cells[:6]] == [
        (6, 7), (5, 6), (4, 5), (3, 4), (2, 3), (2, 2)
    ]  # fmt: skip
    assert set(cells[5:]) == {TORUS.cell(2, 2)}
    assert record.rewards[-1] == (1.0,)


def test_restarts_leave_the_lesser_hill_and_end_on_the_highest():
    cells, _ = walk("restarts(share=0.8)", TORUS.cell(6, 7), steps=60)
    assert TORUS.cell(8, 8) in cells
    assert cells[-1] == TORUS.cell(2, 2)


def test_an_explorer_that_sees_everything_stops_looking():
    cells, _ = walk("explorer(share=1)", TORUS.cell(6, 7), steps=60)
    first = cells.index(TORUS.cell(2, 2))
    assert set(cells[first:]) == {TORUS.cell(2, 2)}


def test_a_cold_annealing_never_goes_down():
    cells, record = walk("annealing(heat=1e-9)", TORUS.cell(5, 5), steps=40)
    rewards = [reward for (reward,) in record.rewards]
    assert rewards == sorted(rewards)
    assert TORUS.distance(cells[0], cells[-1]) > 0
    with pytest.raises(Error, match="heat must be above 0"):
        walk("annealing(heat=0)", 1)


@pytest.mark.parametrize(
    ("mind", "said"),
    [
        ("explorer(share=2)", r"share must be in \[0, 1\]"),
        ("restarts(stride=0)", "stride must be 1 or more"),
        ("scouts(random)", "leave out the members"),
    ],
)
def test_bad_parameters_are_told(mind, said):
    with pytest.raises(Error, match=said):
        registry.line_up(mind, registry.make_instrument("landscape"))


# ---------------------------------------------------------------- random, and the ceiling


def test_a_random_minds_expected_reward_is_0_at_every_step():
    """Uniform at the start, it is uniform ever after: the expectation is the mean of the field."""
    tool = registry.make_instrument("landscape", {"drift": 0.5, "iterations": 10})
    exercise = tool.exercise(3, 1)
    told = exercise.environment.secret(
        exercise.environment.reset(Random(key(3, 1, 1))), 0, Random(key(3, 1, 1))
    )
    assert len(told.fields) == 11
    assert max(abs(np.mean(field)) for field in told.fields) < 1e-12
    assert [field.index(1.0) + 1 for field in told.fields] == list(told.sought)
    assert len(set(told.sought)) > 1


def best_by_brute_force(world, start, steps, fields):
    """The most that any of 9^steps ways brings."""
    best = -np.inf
    for moves in itertools.product(range(1, 10), repeat=steps):
        cell, total = start, 0.0
        for step, move in enumerate(moves):
            cell = world.hills.torus.moved(cell, move)
            total += fields[step + 1][cell - 1]
        best = max(best, total)
    return best / steps


@pytest.mark.parametrize("drift", [0.0, 0.8])
def test_the_optimum_is_the_best_of_all_ways(drift):
    tool = registry.make_instrument(
        "landscape", {"rows": 7, "cols": 6, "iterations": 4, "drift": drift}
    )
    for i in range(3):
        exercise = tool.exercise(1, i)
        record = play(exercise, registry.line_up("optimum", tool))
        state = exercise.environment.reset(Random(key(1, i, 1)))
        fields = exercise.environment.secret(state, 0, Random(key(1, i, 1))).fields
        expected = best_by_brute_force(exercise.environment, state.minds[0], 4, fields)
        assert record.score[0] == pytest.approx(expected, abs=1e-12)


EVERYBODY = ("random", "hill-climber", "annealing", "explorer", "restarts", "expert",
             "q-learning(sessions=5)", "sarsa(sessions=5)")  # fmt: skip


@pytest.mark.parametrize("drift", [0.0, 0.3])
def test_nobody_beats_the_optimum_on_any_exercise(drift):
    tool = registry.make_instrument(
        "landscape", {"drift": drift, "iterations": 30, "peaks": "4..9"}
    )
    for i in range(6):
        exercise = tool.exercise(7, i)
        top = play(exercise, registry.line_up("optimum", tool)).score[0]
        for mind in EVERYBODY:
            assert play(exercise, registry.line_up(mind, tool)).score[0] <= top + 1e-12


# ---------------------------------------------------------------- measures


def test_measures_of_who_stays_and_of_who_goes_straight():
    start = TORUS.cell(6, 7)
    world = Landscape(TWO, 12, 1, 1, 0.0, {})
    tool = registry.make_instrument("landscape", {"rows": 11, "cols": 11})
    exercise = Exercise("", registry.make_instrument("landscape"), 1, 0, Began(world, start))
    stays = measures(exercise, play(exercise, registry.line_up(lambda seen: 5, tool)))
    value = float(TWO.field[6, 7])
    assert stays.exploitation == pytest.approx(value)
    assert stays.regret == pytest.approx(1 - value)
    assert stays.exploration == 1 / 12
    assert stays.steps_to_optimum is None
    goes = measures(exercise, play(exercise, registry.line_up("expert", tool)))
    assert goes.exploration == 5 / 12
    assert goes.steps_to_optimum == 5
    on_top = Exercise(
        "", registry.make_instrument("landscape"), 1, 0, Began(world, TORUS.cell(2, 2))
    )
    best = measures(on_top, play(on_top, registry.line_up("expert", tool)))
    assert (best.exploitation, best.regret, best.steps_to_optimum) == (1.0, 0.0, 0)


@given(st.sampled_from(["random", "explorer", "scouts", "hill-climber"]), st.integers(1, 4))
@settings(max_examples=12)
def test_measures_keep_their_bounds(mind, agents):
    tool = registry.make_instrument(
        "landscape", {"rows": 6, "cols": 7, "iterations": 20, "agents": agents}
    )
    exercise = tool.exercise(1, agents)
    found = measures(exercise, play(exercise, registry.line_up(mind, tool)))
    assert -1 <= found.exploitation <= 1
    assert 0 < found.exploration <= 1
    assert found.regret == pytest.approx(1 - found.exploitation)
    assert found.steps_to_optimum is None or 0 <= found.steps_to_optimum <= 20


def test_only_a_whole_record_can_be_measured():
    tool = registry.make_instrument("landscape")
    exercise = tool.exercise(1, 0)
    failed = play(exercise, registry.line_up(lambda seen: 0, tool))
    with pytest.raises(Error, match="only a whole record"):
        measures(exercise, failed)


# ---------------------------------------------------------------- who does well, and who badly


def mean_score(mind, exercises=45, **given_settings):
    tool = registry.make_instrument("landscape", given_settings)
    line_up = registry.line_up(mind, tool)
    return np.mean([play(tool.exercise(1, i), line_up).score for i in range(exercises)])


def test_alone_it_pays_to_climb_and_to_leave_lesser_hills():
    names = ("random", "annealing", "hill-climber", "restarts", "optimum")
    found = [mean_score(mind) for mind in names]
    assert found == sorted(found)


def test_a_shared_map_is_worth_more_than_climbing_alone():
    alone, together = (mean_score(mind, 30, agents=5) for mind in ("hill-climber", "scouts"))
    assert together > alone + 0.1


def test_it_keeps_the_contract():
    small = {"rows": 8, "cols": 9, "iterations": 12, "drift": 0.2, "agents": 2}
    check_instrument("landscape", small)
    for mind in ("hill-climber", "annealing", "explorer", "restarts", "scouts", "optimum", "crowd"):
        check_mind(mind, "landscape", small)


@pytest.mark.parametrize("drift", [0, 0.3])
@pytest.mark.parametrize("agents", [1, 3])
@pytest.mark.parametrize(
    "mind", ["random", "hill-climber", "q-learning(sessions=6)", "sarsa(sessions=5,epsilon=0.2)"]
)
def test_the_quick_form_is_the_plain_loop_bit_for_bit(mind, agents, drift):
    given_settings = {"rows": 8, "cols": 9, "iterations": 15, "agents": agents, "drift": drift}
    tool = registry.make_instrument("landscape", given_settings)
    line_up = registry.line_up(mind, tool)
    quick = form(tool, line_up, Watch())
    assert not isinstance(quick, Plain)
    found, plain = (way.play(9, 5, 20, 12) for way in (quick, Plain(tool, line_up, Watch())))
    assert block_difference(found, plain) == ""


def test_a_mixed_line_up_is_quick_if_everybody_is():
    tool = registry.make_instrument("landscape", {"agents": 3})
    quick = registry.line_up("random, hill-climber, q-learning(sessions=2)", tool)
    assert not isinstance(form(tool, quick, Watch()), Plain)
    for mind in ("random, hill-climber, restarts", "hill-climber(slip=0.1)", "crowd"):
        assert isinstance(form(tool, registry.line_up(mind, tool), Watch()), Plain)


# ---------------------------------------------------------------- the picture


def test_the_picture_shows_every_cell_every_mind_and_the_optimum():
    tool = registry.make_instrument("landscape", {"agents": 3, "iterations": 15})
    exercise = tool.exercise(1, 2)
    record = play(exercise, registry.line_up("hill-climber", tool))
    drawn = ElementTree.fromstring(picture(exercise, record, 7))
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.find(f"{space}title").text == "Fitness landscape after step 7: 3 minds"
    assert len(drawn.findall(f".//{space}polygon")) == 3
    assert len(drawn.findall(f".//{space}rect")) == 400 + 100  # cells, and the colour bar
    assert picture(exercise, record) == picture(exercise, record, 15)
    other = registry.make_instrument("lambda-star")
    with pytest.raises(Error, match="lambda-star is not a landscape"):
        picture(other.exercise(1, 0), play(other.exercise(1, 0), registry.line_up("random", other)))


def test_colours_run_from_blue_over_white_to_orange():
    assert colour(-1) == "#215494"
    assert colour(0) == "#f6f6f4"
    assert colour(1) == "#b24c06"
    assert colour(7) == colour(1)


def test_the_state_is_shown_as_a_map():
    tool = registry.make_instrument("landscape", {"rows": 5, "cols": 5, "agents": 2})
    world = tool.exercise(1, 0).environment
    shown = tool.show_state(world, Standpoint(0, world.hills.tops, (1, 1)))
    assert len(shown.splitlines()) == 5
    assert shown.count("^") == 1
    assert "[*]" in shown.splitlines()[0]
