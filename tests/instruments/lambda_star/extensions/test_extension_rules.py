"""Coordination, the responsive world and coverage: exact at their corners."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.core.errors import Error
from allminds.core.seeding import Random, key
from allminds.episode import play
from allminds.instruments.lambda_star.extensions import Coordination, Coverage, Responsive
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import Recurrent
from allminds.instruments.lambda_star.world import State, World

SMALL = {"rows": 5, "cols": 6, "iterations": 20, "agents": 3}
STILL = Recurrent((5,), (5,))
TORUS = Torus(9, 9)


def played(instrument, mind, exercises=4, seed=3, **settings):
    tool = registry.make_instrument(instrument, settings)
    line_up = registry.line_up(mind, tool)
    return [play(tool.exercise(seed, i), line_up) for i in range(exercises)]


def outcome(record):
    return record.actions, record.rewards, record.score, record.learning, record.complexity


# ---------------------------------------------------------------- coordination

EVERYBODY = ("random", "local-search", "expert", "optimum", "q-learning(sessions=3)", "stigmergy",
             "crowd", "dictator", "imitation", "shared-sarsa(sessions=2)")  # fmt: skip


@pytest.mark.parametrize("mind", EVERYBODY)
def test_one_mind_needed_is_plain_lambda_star_record_by_record(mind):
    plain = played("lambda-star", mind, **SMALL)
    extended = played("lambda-star-coordination", mind, needed=1, **SMALL)
    assert [outcome(record) for record in extended] == [outcome(record) for record in plain]


def together(*minds, needed=2, good=(4, 4), evil=(0, 0)):
    """The rewards of minds in some cells when Good and Evil stand still."""
    world = Coordination(TORUS, 5, len(minds), 1, STILL, {}, needed=needed)
    state = State(0, TORUS.cell(*good), TORUS.cell(*evil), tuple(TORUS.cell(*m) for m in minds))
    return world.step(state, dict.fromkeys(range(len(minds)), 5), Random(0))[1]


def test_good_pays_when_enough_minds_are_near_and_evil_always_takes():
    assert together((4, 4), (8, 8)) == [0.0, -0.5]  # alone on Good
    assert together((4, 4), (5, 5)) == [1.0, 0.5]
    assert together((4, 4), (4, 4)) == [1.0, 1.0]  # a cell holds any number
    assert together((4, 4), (6, 4)) == [0.0, 0.0]  # two cells away is not near
    assert together((4, 4), (5, 5), (0, 0), needed=3) == [0.0, 0.0, -1.0]
    assert together((4, 4), (5, 5), (3, 4), needed=3) == [1.0, 0.5, 0.5]
    assert together((1, 1), (2, 2), good=(2, 2), evil=(0, 0)) == [0.0, 1.0]  # 0.5 - 0.5, and 1


@given(st.lists(st.integers(1, 81), min_size=2, max_size=5), st.integers(1, 81), st.data())
def test_what_good_gives_falls_with_the_number_needed(minds, good, data):
    evil = data.draw(st.integers(1, 81).filter(lambda cell: cell != good))
    state = State(0, good, evil, tuple(minds))
    before = None
    for needed in range(1, len(minds) + 1):
        world = Coordination(TORUS, 5, len(minds), 1, STILL, {}, needed=needed)
        here = world.rewards(state)
        assert before is None or all(a <= b for a, b in zip(here, before, strict=True))
        before = here


def test_what_is_seen_is_the_map_of_lambda_star_whether_or_not_good_pays():
    settings = SMALL | {"needed": 3}
    tool, plain = (
        registry.make_instrument("lambda-star-coordination", settings),
        registry.make_instrument("lambda-star", SMALL),
    )
    for i in range(6):
        one, other = tool.exercise(1, i).environment, plain.exercise(1, i).environment
        state = one.reset(Random(key(1, i, 1)))
        assert [one.observe(state, s) for s in range(3)] == [
            other.observe(state, s) for s in range(3)
        ]
        assert one.facts["needed"] == 3


def test_more_minds_than_there_are_cannot_be_needed():
    with pytest.raises(Error, match="needed must be at most the 5 agents"):
        registry.make_instrument("lambda-star-coordination", {"needed": 6})
    with pytest.raises(Error, match="agents must be less than or equal to 20"):
        registry.make_instrument("lambda-star-coordination", {"agents": 21})


# ---------------------------------------------------------------- the responsive world


@pytest.mark.parametrize(
    "mind", ["random", "local-search", "stigmergy", "crowd", "dictator", "q-learning(sessions=2)"]
)
def test_a_world_that_never_responds_is_plain_lambda_star(mind):
    plain = played("lambda-star", mind, **SMALL)
    extended = played("lambda-star-responsive", mind, responsive=0, **SMALL)
    assert [outcome(record) for record in extended] == [outcome(record) for record in plain]


cells = st.integers(1, 81)


@given(cells, cells, st.lists(cells, min_size=1, max_size=4), st.integers(0, 1000))
def test_good_flees_the_nearest_mind_and_evil_comes_toward_its_own(good, evil, minds, word):
    if good == evil:
        return
    world = Responsive(TORUS, 5, len(minds), 1, STILL, {}, responsive=1.0)
    state = State(0, good, evil, tuple(minds))
    to_good, to_evil = world.travel(state, Random(key(word, 0, 1), 1))
    assert to_good != to_evil
    assert TORUS.distance(good, to_good) <= 1
    assert TORUS.distance(evil, to_evil) <= 1
    nearest = min(minds, key=lambda mind: TORUS.distance(good, mind))
    farthest = max(TORUS.distance(TORUS.moved(good, a), nearest) for a in range(1, 10))
    sought = min(minds, key=lambda mind: TORUS.distance(evil, mind))
    closest = min(TORUS.distance(TORUS.moved(evil, a), sought) for a in range(1, 10))
    if to_good != good:  # it may have had to stay for Evil's sake
        assert TORUS.distance(to_good, nearest) == farthest
    if to_evil != evil:
        assert TORUS.distance(to_evil, sought) == closest
    assert (to_good, to_evil) != (good, evil) or farthest == TORUS.distance(good, nearest)


def test_good_cannot_be_caught_nor_evil_shaken_off_when_they_always_respond():
    """Good, straight ahead of a mind that goes right, keeps away; Evil behind it keeps up."""
    world = Responsive(TORUS, 8, 1, 1, STILL, {}, responsive=1.0)
    state = State(0, TORUS.cell(4, 6), TORUS.cell(4, 3), (TORUS.cell(4, 4),))
    rewards = []
    for step in range(8):
        state, (reward,) = world.step(state, {0: 6}, Random(key(5, 0, 1), step + 1))
        rewards.append(reward)
        assert TORUS.distance(state.minds[0], state.good) >= 2
        assert TORUS.distance(state.minds[0], state.evil) == 1
    assert rewards == [-0.5] * 8


def test_they_respond_to_where_the_minds_stood_before_the_step():
    """Whichever way the mind moves, Good and Evil go to the same cells."""
    world = Responsive(TORUS, 8, 1, 1, STILL, {}, responsive=1.0)
    state = State(0, TORUS.cell(4, 6), TORUS.cell(1, 3), (TORUS.cell(4, 4),))
    ways = {world.step(state, {0: a}, Random(key(5, 0, 1), 1))[0][1:3] for a in range(1, 10)}
    assert len(ways) == 1


def test_they_respond_as_often_as_they_are_asked_to():
    """Standing still but for responses, Evil moves in a quarter of the steps; 4 standard errors."""
    world = Responsive(TORUS, 5, 1, 1, STILL, {}, responsive=0.25)
    state = State(0, TORUS.cell(4, 6), TORUS.cell(1, 3), (TORUS.cell(4, 4),))
    steps = 4000
    moved = [world.travel(state, Random(key(11, i, 1), 1)) for i in range(steps)]
    error = 4 * (0.25 * 0.75 / steps) ** 0.5
    assert abs(sum(evil != state.evil for _, evil in moved) / steps - 0.25) < error
    assert abs(sum(good != state.good for good, _ in moved) / steps - 0.25) < error
    both = sum(good != state.good and evil != state.evil for good, evil in moved)
    assert abs(both / steps - 1 / 16) < 4 * (15 / 256 / steps) ** 0.5  # each for itself


def test_the_expert_knows_the_next_cells_of_good_and_evil():
    """Its reward is the best of the nine cells at every step, whatever responds."""
    tool = registry.make_instrument("lambda-star-responsive", {"responsive": 0.5})
    for i in range(3):
        exercise = tool.exercise(2, i)
        record = play(exercise, registry.line_up("expert", tool))
        world, random = exercise.environment, Random(key(2, i, 1))
        state = world.reset(random)
        for made, (reward,) in zip(record.actions, record.rewards, strict=True):
            words = random.at_step(state.step + 1)
            others = [world.step(state, {0: a}, words)[1][0] for a in range(1, 10)]
            assert reward == max(others)
            state, _ = world.step(state, made, words)


def test_the_expert_of_a_responsive_world_plays_alone():
    with pytest.raises(Error, match="not that of 2; set agents=1"):
        played("lambda-star-responsive", "expert", 1, agents=2)
    alone, pair = ({"agents": n} for n in (1, 2))
    assert registry.make_instrument("lambda-star-responsive", alone).ceiling_mind == "expert"
    assert registry.make_instrument("lambda-star-responsive", pair).ceiling_mind is None


# ---------------------------------------------------------------- coverage


@pytest.mark.parametrize(("reach", "seen"), [(1, 9), (2, 25), (3, 49)])
def test_who_stays_covers_one_neighbourhood(reach, seen):
    for record in played("lambda-star-coverage", "stay", agents=1, range=reach):
        assert set(record.rewards) == {(seen / 400,)}


def test_minds_that_all_stay_cover_the_union_of_their_neighbourhoods():
    tool = registry.make_instrument("lambda-star-coverage", {"rows": 6, "cols": 6, "agents": 4})
    for i in range(5):
        exercise = tool.exercise(1, i)
        record = play(exercise, registry.line_up("stay", tool))
        world = exercise.environment.inner
        minds = world.reset(Random(key(1, i, 1))).minds
        seen = {cell for mind in minds for cell in world.torus.around(mind, 1)}
        assert set(record.rewards) == {(len(seen) / 36,) * 4}


def test_a_straight_line_shows_three_cells_a_step():
    tool = registry.make_instrument("lambda-star-coverage", {"agents": 1, "iterations": 25})
    record = play(tool.exercise(1, 0), registry.line_up(lambda seen: 6, tool))
    shown = [min(9 + 3 * step, 60) / 400 for step in range(1, 26)]
    assert [reward for (reward,) in record.rewards] == shown
    slanting = play(tool.exercise(1, 0), registry.line_up(lambda seen: 9, tool))
    assert slanting.rewards[9] == ((9 + 5 * 10) / 400,)


@pytest.mark.parametrize("mind", ["random", "local-search", "scouts", "crowd"])
def test_coverage_never_falls_and_everybody_gets_the_same(mind):
    for record in played("lambda-star-coverage", mind, agents=3, rows=8, cols=8):
        shares = [step[0] for step in record.rewards]
        assert all(set(step) == {step[0]} for step in record.rewards)
        assert shares == sorted(shares)
        assert shares[0] >= 9 / 64
        assert shares[-1] <= 1


def test_scouts_see_a_small_torus_whole_as_soon_as_it_can_be():
    """Of 100 cells one mind sees 9 and then 5 more a step: 19 steps at least."""
    (record,) = played("lambda-star-coverage", "explorer", 1, agents=1, rows=10, cols=10)
    whole = [reward for (reward,) in record.rewards].index(1.0) + 1
    assert 19 <= whole <= 30


def test_one_scout_is_an_explorer():
    alone = {"agents": 1, "rows": 7, "cols": 9, "iterations": 30}
    scouts = played("lambda-star-coverage", "scouts", **alone)
    explorers = played("lambda-star-coverage", "explorer", **alone)
    assert [outcome(record) for record in scouts] == [outcome(record) for record in explorers]
    with pytest.raises(Error, match="leave out the members"):
        played("lambda-star-coverage", "scouts(random)")


def test_sweeping_goes_over_the_whole_torus():
    (record,) = played("lambda-star-coverage", "sweep", 1, agents=1, rows=9, cols=9, iterations=27)
    assert record.rewards[-1] == (1.0,)


def test_good_and_evil_are_on_the_map_but_pay_nothing():
    tool = registry.make_instrument("lambda-star-coverage", {"agents": 2})
    world = tool.exercise(1, 3).environment
    state = world.reset(Random(key(1, 3, 1)))
    onto_good = state._replace(world=state.world._replace(minds=(state.good, state.good)))
    assert world.observe(onto_good, 0).rewards[4] > 0
    after, rewards = world.step(onto_good, {0: 5, 1: 5}, Random(key(1, 3, 1), 1))
    assert rewards == [after.seen.bit_count() / 400] * 2
    assert "of 400 cells have been seen" in tool.show_state(world, after)


def test_coverage_is_a_world_of_lambda_star():
    world = registry.make_instrument("lambda-star-coverage").exercise(1, 0).environment
    assert isinstance(world, Coverage)
    assert isinstance(world.inner, World)
    assert world.teams == ((0, 1, 2, 3, 4),)
