"""The games themselves: pay-offs and rules, by hand."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.check import check_instrument
from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.episode import Episode, play
from allminds.exact import outcome
from allminds.instruments.games.society import Commons

DILEMMA = {("cooperate",) * 2: (0.2, 0.2), ("cooperate", "defect"): (-1, 1),
           ("defect", "cooperate"): (1, -1), ("defect",) * 2: (-0.6, -0.6)}  # fmt: skip
STAG = {("stag", "stag"): (1, 1), ("stag", "hare"): (-1, 0.5), ("hare", "stag"): (0.5, -1),
        ("hare", "hare"): (0, 0)}  # fmt: skip
BEATS = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}


def make(game, **settings):
    return registry.make_instrument(game, settings)


@pytest.mark.parametrize(("game", "payoffs"), [("prisoners-dilemma", DILEMMA), ("stag-hunt", STAG)])
def test_pay_offs_are_those_of_the_specification(game, payoffs):
    for minds, rewards in payoffs.items():
        assert outcome(make(game, steps=1), minds).rewards == pytest.approx(rewards)
        assert outcome(make(game, steps=7), minds).rewards == pytest.approx(rewards)


def test_in_pennies_the_first_slot_wins_a_match():
    for minds in product(("heads", "tails"), repeat=2):
        won = 1.0 if minds[0] == minds[1] else -1.0
        assert outcome(make("matching-pennies", steps=1), minds).rewards == (won, -won)


def test_each_of_rock_paper_scissors_beats_one_and_loses_to_one():
    for minds in product(("rock", "paper", "scissors"), repeat=2):
        won = float(minds in BEATS) - float(minds[::-1] in BEATS)
        assert outcome(make("rock-paper-scissors", steps=1), minds).rewards == (won, -won)


def test_public_goods_by_the_number_of_givers():
    """x = kept + 0.4 givers, from 0.4..2.2 to -1..1."""
    tool = make("public-goods", steps=1)
    for givers in range(5):
        rewards = outcome(tool, ["give"] * givers + ["keep"] * (4 - givers)).rewards
        assert rewards[:givers] == pytest.approx([(0.4 * givers - 0.4) / 0.9 - 1] * givers)
        kept = (1 + 0.4 * givers - 0.4) / 0.9 - 1
        assert rewards[givers:] == pytest.approx([kept] * (4 - givers))


@given(st.integers(2, 8), st.floats(1.01, 7.9))
def test_public_goods_reach_their_bounds_and_stay_within(players, factor):
    if factor >= players:
        with pytest.raises(Error, match=f"factor must be below the {players} players"):
            make("public-goods", players=players, factor=factor)
        return
    payoffs = make("public-goods", players=players, factor=factor).environment.payoffs
    values = [reward for rewards in payoffs for reward in rewards]
    assert (min(values), max(values)) == (-1.0, 1.0)


GAMES = {
    "matching-pennies": ((0,), (1,)),
    "rock-paper-scissors": ((0,), (1,)),
    "prisoners-dilemma": ((0,), (1,)),
    "stag-hunt": ((0,), (1,)),
    "public-goods": ((0,), (1,), (2,), (3,)),
    "commons": ((0,), (1,), (2,), (3,)),
    "pluralistic-ignorance": ((0,), (1,), (2,), (3,), (4,)),
    "noughts-and-crosses": ((0,), (1,)),
    "predator-prey": ((0, 1, 2), (3,)),
    "team-lambda-star": ((0, 1), (2, 3)),
}


@pytest.mark.parametrize(("game", "teams"), GAMES.items())
def test_teams_are_those_of_the_game(game, teams):
    assert make(game).exercise(1, 0).environment.teams == teams


@pytest.mark.parametrize("game", ["matching-pennies", "prisoners-dilemma", "public-goods",
                                  "rock-paper-scissors", "stag-hunt", "commons",
                                  "noughts-and-crosses", "pluralistic-ignorance"])  # fmt: skip
def test_the_chance_level_is_the_exact_score_of_slot_0_among_random_minds(game):
    tool = make(game) if game == "noughts-and-crosses" else make(game, steps=4)
    assert tool.chance == pytest.approx(outcome(tool, ["random"] * tool.slots).rewards[0])


# ---------------------------------------------------------------- commons


def stocks(record, world: Commons) -> list[int]:
    """The stock before every step and after the last."""
    found = [world.capacity]
    for actions in record.actions:
        left = max(found[-1] - sum(actions.values()), 0)
        found.append(left + int(world.growth * left * (1 - left / world.capacity)))
    return found


def test_the_commons_collapse_after_three_steps_when_all_take_all():
    """24 - 12 = 12, + 4 = 16; - 12 = 4, + 2 = 6; 6 is less than 12."""
    tool = make("commons")
    record = play(tool.exercise(1, 0), registry.line_up("greedy", tool))
    world = tool.environment
    assert stocks(record, world)[:4] == [24, 16, 6, 0]
    assert world.collapse(record) == 3
    assert world.harvests(record) == pytest.approx([12, 12, 6] + [0] * 7)
    assert record.score == pytest.approx(((2 * 3 / 3 + 2 * 3 / 3 + 2 * 1.5 / 3) / 10 - 1,) * 4)
    assert world.tragedy(record) == pytest.approx(1 - 30 / 10 / 6)
    assert world.tragedy(record, "lasting") == pytest.approx(1 - 30 / 10 / 4)


def test_the_commons_last_when_all_take_their_share():
    tool = make("commons", steps=50)
    record = play(tool.exercise(1, 0), registry.line_up("sustain", tool))
    world = tool.environment
    # 0.8 · 8 · 2/3 = 4.27, of 7 only 3.97
    assert (world.lasting_harvest, world.best_left) == (4, 8)
    assert world.collapse(record) is None
    assert set(world.harvests(record)[5:]) == {4.0}
    assert abs(world.tragedy(record, "lasting")) < 0.1
    assert 0 < world.tragedy(record) < 0.1


def test_what_is_asked_beyond_the_stock_is_shared_as_asked():
    world = Commons(5, 2, 24, 3, 0.8)
    _, rewards = world.step(world.reset(None)._replace(stock=2), {0: 3, 1: 1}, None)
    assert [(r + 1) * 1.5 for r in rewards] == pytest.approx([1.5, 0.5])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"capacity": 3, "growth": 0.1}, "it never grows by a whole unit"),
        ({"growth": 4}, "it outgrows its capacity of 24"),
        ({"players": 1}, "players must be greater than or equal to 2"),
    ],
)
def test_commons_that_cannot_be_are_refused(settings, said):
    with pytest.raises(Error, match=said):
        make("commons", **settings)


# ---------------------------------------------------------------- pluralistic ignorance


def test_a_norm_that_few_hold_lives_on_when_all_conform():
    tool = make("pluralistic-ignorance")
    world = tool.environment
    conform = play(tool.exercise(1, 0), registry.line_up("conform", tool))
    size, flagged = world.ignorance(conform)
    assert size == pytest.approx((1 + 0.6) / 2)  # all support, the mean attitude is -0.6
    assert flagged
    assert conform.score == pytest.approx((-0.4 + 0.6,) * 4 + (1.0,))
    honest = play(tool.exercise(1, 0), registry.line_up("honest", tool))
    assert world.ignorance(honest) == (pytest.approx(0), False)


def test_best_replies_keep_the_norm_unless_truth_weighs_more():
    for conformity, acts in ((0.6, 1), (0.4, 0)):
        tool = make("pluralistic-ignorance", conformity=conformity)
        record = play(tool.exercise(1, 0), registry.line_up("best-reply", tool))
        assert [actions[0] for actions in record.actions] == [acts] * 10


# ---------------------------------------------------------------- team Λ*


def test_a_team_gets_the_mean_of_its_cells_less_that_of_the_other():
    tool, alone = make("team-lambda-star"), make("lambda-star", agents=4)
    shares = make("team-lambda-star", shares="own")
    for i in range(3):
        record = play(tool.exercise(1, i), registry.line_up("local-search", tool))
        own = play(shares.exercise(1, i), registry.line_up("local-search", shares))
        single = play(alone.exercise(1, i), registry.line_up("local-search", alone))
        assert record.actions == single.actions
        for mixed, of_team, each in zip(record.rewards, own.rewards, single.rewards, strict=True):
            first, second = (each[0] + each[1]) / 2, (each[2] + each[3]) / 2
            assert of_team == (first, first, second, second)
            assert mixed == pytest.approx(((first - second) / 2,) * 2 + ((second - first) / 2,) * 2)


def test_groups_play_as_teams():
    tool = make("team-lambda-star", rows=5, cols=5, iterations=20)
    line_up = registry.line_up("stigmergy(local-search*2), random*2", tool)
    assert [seat.slots for seat in line_up.seats] == [(0, 1), (2,), (3,)]
    record = play(tool.exercise(1, 0), line_up)
    assert set(record.status) == {"ok"}


def test_odd_teams_are_refused():
    with pytest.raises(Error, match="3 agents make no two equal teams"):
        make("team-lambda-star", agents=3)


# ---------------------------------------------------------------- words


@pytest.mark.parametrize("game", [name for name in GAMES if name != "team-lambda-star"])
def test_a_game_tells_its_story_and_reads_answers(game):
    tool = make(game)
    episode = Episode(tool.exercise(1, 0))
    slot, seen = next(iter(episode.waiting.items()))
    space = episode.environment.actions[slot]
    text = tool.show(seen, "text")
    assert all(label in text for label in space.labels)
    assert tool.show(seen, "html").startswith("<pre>")
    assert tool.read(f" {space.labels[1].upper()} ", seen) == 1
    assert tool.read("1", seen) == 1
    assert isinstance(tool.read("99", seen), Failure)
    with pytest.raises(Error, match="cannot be shown as svg"):
        tool.show(seen, "svg")


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("prisoners-dilemma", {"steps": 1}),
        ("public-goods", {"players": 8, "factor": 3}),
        ("commons", {"players": 2, "most": 1, "capacity": 12}),
        ("pluralistic-ignorance", {"players": 2, "opposed": 0, "conformity": 1}),
        ("predator-prey", {"rows": 3, "cols": 4, "steps": 1}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*rewarded alike")
def test_games_keep_the_contract_with_other_settings(game, settings):
    check_instrument(game, settings)


def test_team_lambda_is_lambda_in_two_teams():
    tool, alone = make("team-lambda"), make("lambda", agents=4)
    assert tool.exercise(1, 3).environment.teams == ((0, 1), (2, 3))
    assert tool.exercise(1, 3).environment.complexity == alone.exercise(1, 3).environment.complexity
    one = play(tool.exercise(1, 3), registry.line_up("expert*2, random*2", tool))
    assert all(sum(step) == 0 and step[0] == step[1] for step in one.rewards)
    assert one.score[0] > 0
    with pytest.raises(Error, match="set an even number"):
        make("team-lambda", agents=3)
