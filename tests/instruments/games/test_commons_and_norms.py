"""What became of the commons and of a norm: the measures at their corners, and against oracles."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import registry
from allminds.contracts import Record
from allminds.episode import play
from allminds.instruments.games.society import Commons, Norm


def played(name, line_up, **settings_of_game):
    tool = registry.make_instrument(name, settings_of_game)
    return tool.environment, play(tool.exercise(1, 0), registry.line_up(line_up, tool))


# ---------------------------------------------------------------- commons

LANDS = [
    dict(zip(("players", "capacity", "most", "growth"), values, strict=True))
    for values in product((2, 5), (12, 24, 100), (1, 3, 10), (0.5, 0.8))
]


@pytest.mark.parametrize("land", LANDS)
def test_when_all_take_all_the_commons_collapse_at_the_computed_step(land):
    world, record = played("commons", "greedy", steps=40, **land)
    stock, harvests, gone = land["capacity"], [], None
    for step in range(1, 41):
        taken = min(stock, land["players"] * land["most"])
        left = stock - taken
        stock = left + int(land["growth"] * left * (1 - left / land["capacity"]))
        harvests.append(taken)
        if stock == 0 and gone is None:
            gone = step
    assert world.collapse(record) == gone
    assert world.harvests(record) == pytest.approx(harvests)
    expected = 1 - sum(harvests) / 40 / world.lasting_harvest
    assert world.tragedy(record, "lasting") == pytest.approx(expected, abs=1e-12)


def for_ever(world, stock, harvest):
    """Whether so much can be taken from a stock every step without end."""
    for _ in range(2 * world.capacity + 2):  # by then every stock has come back
        if stock < harvest:
            return False
        stock = world.grown(stock - harvest)
    return True


@pytest.mark.parametrize("land", LANDS)
def test_the_lasting_harvest_is_the_most_that_can_be_taken_for_ever(land):
    world = Commons(10, land["players"], land["capacity"], land["most"], land["growth"])
    lasting = [
        harvest
        for harvest in range(land["players"] * land["most"] + 1)
        if any(for_ever(world, stock, harvest) for stock in range(land["capacity"] + 1))
    ]
    assert world.lasting_harvest == max(lasting)


def test_who_takes_nothing_has_the_whole_tragedy_and_no_collapse():
    world, record = played("commons", "always(take-0)")
    assert world.tragedy(record) == 1.0
    assert world.collapse(record) is None


def test_taking_what_lasts_at_every_step_is_no_tragedy_against_what_lasts():
    """One unit each of four: exactly 4."""
    world, record = played("commons", "always(take-1)", steps=50)
    assert set(world.harvests(record)) == {4.0}
    assert world.tragedy(record, "lasting") == pytest.approx(0, abs=1e-12)
    assert world.tragedy(record) > 0  # the stock is left over
    assert world.collapse(record) is None


def test_the_longer_it_lasts_the_greater_the_tragedy_of_the_greedy():
    """After the collapse nothing more comes: W = 30/steps, so that the tragedy goes to 1."""
    for steps in (3, 10, 100, 1000):
        world, record = played("commons", "greedy", steps=steps)
        assert world.tragedy(record, "lasting") == pytest.approx(1 - 30 / steps / 4)


# What so many steps can yield, by programs that share nothing with the package.


def grown_by_hand(land, left):
    return left + int(land["growth"] * left * (1 - left / land["capacity"]))


def best_by_recursion(land, steps):
    """The most that all together can take, over every joint harvest at every step, remembered."""

    @cache
    def most(stock, to_go):
        if to_go == 0:
            return 0
        can = min(stock, land["players"] * land["most"])
        return max(
            taken + most(grown_by_hand(land, stock - taken), to_go - 1) for taken in range(can + 1)
        )

    return most(land["capacity"], steps)


def best_by_trying_all(land, steps):
    """The same by brute force: every sequence of joint actions of all players, played out."""
    best = 0
    joints = list(product(range(land["most"] + 1), repeat=land["players"]))
    for sequence in product(joints, repeat=steps):
        stock, got = land["capacity"], 0
        for asked in sequence:
            taken = min(stock, sum(asked))
            got, stock = got + taken, grown_by_hand(land, stock - taken)
        best = max(best, got)
    return best


TINY = {"players": 2, "capacity": 9, "most": 2, "growth": 0.9}


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_the_best_harvest_is_the_best_of_all_that_can_be_played(steps):
    world = Commons(steps, *TINY.values())
    assert world.best_harvest * steps == best_by_trying_all(TINY, steps)
    assert best_by_recursion(TINY, steps) == best_by_trying_all(TINY, steps)


@pytest.mark.parametrize("land", LANDS)
@pytest.mark.parametrize("steps", [1, 2, 10, 25])
def test_the_best_harvest_is_that_of_an_independent_recursion(land, steps):
    world = Commons(steps, *land.values())
    assert world.best_harvest * steps == pytest.approx(best_by_recursion(land, steps), abs=1e-9)


def test_the_commons_as_they_come_yield_six_a_step():
    """Sustaining loses 2/15 of it, taking all one half; against what lasts, -.3 and 1/4."""
    land = {"players": 4, "capacity": 24, "most": 3, "growth": 0.8}
    assert best_by_recursion(land, 10) == 60
    for mind, harvests, best, lasting in (
        ("sustain", [12, 8, *[4] * 8], 2 / 15, -0.3),
        ("greedy", [12, 12, 6, *[0] * 7], 0.5, 0.25),
    ):
        world, record = played("commons", mind)
        assert world.best_harvest == 6.0
        assert world.harvests(record) == pytest.approx(harvests)
        assert world.tragedy(record) == pytest.approx(best)
        assert world.tragedy(record, "lasting") == pytest.approx(lasting)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=6, max_size=6))
@settings(max_examples=100)
def test_the_tragedy_is_from_nothing_to_all(acts):
    world = Commons(6, 3, 20, 3, 0.8)
    state, rewards = world.reset(None), []
    for step in acts:
        state, gained = world.step(state, dict(enumerate(step)), None)
        rewards.append(tuple(gained))
    record = replace(record_of(acts), rewards=tuple(rewards))
    assert -1e-12 <= world.tragedy(record) <= 1


def test_a_stock_of_ten_thousand_units_is_solved_too():
    assert 0 < Commons(200, 8, 10_000, 100, 0.5).best_harvest <= 800


# ---------------------------------------------------------------- pluralistic ignorance


@st.composite
def norms(some):
    players = some(st.integers(2, 6))
    world = Norm(some(st.integers(1, 5)), players, some(st.integers(0, players)), 0.6)
    acts = some(
        st.lists(
            st.tuples(*[st.integers(0, 1)] * players), min_size=world.steps, max_size=world.steps
        )
    )
    return world, acts


def record_of(acts):
    kept = tuple(dict(enumerate(step)) for step in acts)
    return Record("", 0, {}, len(kept), (), (), (), actions=kept)


@given(norms())
@settings(max_examples=200)
def test_ignorance_is_half_the_distance_of_what_is_done_and_what_is_thought(made):
    world, acts = made
    size, flagged = world.ignorance(record_of(acts))
    supported = sum(map(sum, acts)) / (world.steps * world.players)  # share of acts
    held = 1 - world.opposed / world.players  # share of minds
    assert size == pytest.approx(abs(supported - held), abs=1e-12)
    assert 0 <= size <= 1 + 1e-12
    assert flagged == ((supported - 0.5) * (held - 0.5) < -1e-12)


def test_ignorance_at_its_corners():
    nobody = Norm(3, 4, 4, 0.6)  # all oppose in private
    assert nobody.ignorance(record_of([(1, 1, 1, 1)] * 3)) == (1.0, True)
    assert nobody.ignorance(record_of([(0, 0, 0, 0)] * 3)) == (0.0, False)
    divided = Norm(3, 4, 2, 0.6)  # a mean of 0 has no sign to differ
    assert divided.ignorance(record_of([(1, 1, 1, 1)] * 3)) == (0.5, False)
    assert nobody.ignorance(record_of([(1, 1, 0, 0)] * 3)) == (0.5, False)
