"""Exact outcomes: the worked values, brute force, and sampling agree; what has none says why."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.contracts import Discrete, Environment, Exercise, MindBase
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.episode import Plain
from allminds.exact import outcome
from allminds.instruments.games.game import Game, GameSettings


def upsilon_of(mind: str, minds: list[str], tool) -> float:
    """Υ(π) with uniform weights: the mean over slots and over who else plays."""
    rewards = [
        outcome(tool, [*others[:slot], mind, *others[slot:]]).rewards[slot]
        for slot in range(tool.slots)
        for others in product(minds, repeat=tool.slots - 1)
    ]
    return sum(rewards) / len(rewards)


def test_scores_of_minds_are_those_worked_out_independently(reference):
    text = (reference / "social_oracles.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in text if not line.startswith("#"))
    checked = 0
    for row in rows:
        tool = registry.make_instrument(row["game"], {"steps": row["steps"]})
        minds = row["minds"].split("|")
        each = {mind: upsilon_of(mind, minds, tool) for mind in minds}
        each[""] = sum(each.values()) / len(minds)
        name, _, inside = row["property"].partition("[")
        if name == "upsilon":
            assert each[inside.rstrip("]")] == pytest.approx(
                float(Fraction(row["exact"])), abs=1e-9
            )
            checked += 1
        if name == "max_abs_step_sum":
            sums = [outcome(tool, pair).max_abs_step_sum for pair in product(minds, repeat=2)]
            assert max(sums) == pytest.approx(float(Fraction(row["exact"])), abs=1e-9)
            checked += 1
    assert checked == 21


def chance_to_cooperate(name: str, own: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The strategies again, written from whole histories."""
    if name == "random":
        return 0.5
    if name == "cooperate":
        return 1.0
    if name == "tit-for-tat":
        return 1.0 if not other or other[-1] == 0 else 0.0
    if name == "grim":
        return 0.0 if 1 in other else 1.0
    if name == "joss":
        return 1.0 if not other else 0.9 if other[-1] == 0 else 0.0
    return 1.0 if not other or own[-1] == other[-1] else 0.0  # win-stay-lose-shift


NAMES = ["random", "cooperate", "tit-for-tat", "grim", "joss", "win-stay-lose-shift"]


@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 5))
def test_every_history_has_its_probability(one, other, steps):
    tool = registry.make_instrument("prisoners-dilemma", {"steps": steps})
    points = {(0, 0): (3, 3), (0, 1): (0, 5), (1, 0): (5, 0), (1, 1): (1, 1)}
    expected, totals, wanted = {}, [], np.zeros(2)
    for joints in product(points, repeat=steps):
        likely = 1.0
        for k, (a, b) in enumerate(joints):
            before = tuple(zip(*joints[:k], strict=True)) or ((), ())
            p = chance_to_cooperate(one, before[0], before[1])
            q = chance_to_cooperate(other, before[1], before[0])
            likely *= (p if a == 0 else 1 - p) * (q if b == 0 else 1 - q)
        if likely > 1e-15:
            expected[joints] = likely
            paid = np.array([[2 * x / 5 - 1 for x in points[joint]] for joint in joints])
            wanted += likely * paid.mean(axis=0)
            totals.append(paid.sum())
    found = outcome(tool, [one, other])
    assert found.rewards == pytest.approx(tuple(wanted), abs=1e-12)
    assert dict(found.sequences) == pytest.approx(expected, abs=1e-12)
    assert len(found.sequences) == len(expected)
    assert found.total_sums == pytest.approx((min(totals), max(totals)), abs=1e-12)


@pytest.mark.parametrize(
    ("game", "line_up"),
    [
        ("prisoners-dilemma", "gradual(slip=0.1), generous-tit-for-tat"),
        ("stag-hunt", "roth-erev, random"),
        ("rock-paper-scissors", "regret-matching, fictitious-play"),
        ("public-goods", "conditional-cooperator, random*2, give"),
        ("commons", "sustain, random*3"),
        ("pluralistic-ignorance", "conform, random*2, honest, best-reply"),
        ("noughts-and-crosses", "random, best-response(random)"),
    ],
)
def test_sampling_agrees_within_four_standard_errors(game, line_up):
    settings = {"steps": 5} if game == "stag-hunt" else {}
    tool = registry.make_instrument(game, settings)
    played = registry.line_up(line_up, tool)
    exact = outcome(tool, [seat.subject.name for seat in played.seats]).rewards
    scores = Plain(tool, played, Watch()).play(7, 0, 400, 0).score
    error = scores.std(axis=0, ddof=1) / 20
    assert (np.abs(scores.mean(axis=0) - exact) <= 4 * error + 1e-12).all()


def test_ten_rounds_of_random_minds_are_summed_without_listing_all_histories():
    tool = registry.make_instrument("prisoners-dilemma")
    found = outcome(tool, ["random", "random"])
    assert found.rewards == pytest.approx((-0.1, -0.1))
    assert len(found.sequences) == 4**10
    with pytest.raises(Error, match="1,048,576 joint action sequences"):
        found.sequences[()]


def test_a_slot_that_is_not_to_move_is_marked():
    tool = registry.make_instrument("noughts-and-crosses")
    (sequence,) = outcome(tool, ["minimax", "minimax"]).sequences
    assert [sorted(joint)[0] for joint in sequence] == [-1] * 9
    assert sequence[0][1] == sequence[1][0] == -1


def test_a_longer_line_up_is_cut_and_a_shorter_is_an_error():
    tool = registry.make_instrument("public-goods")
    assert outcome(tool, ["give"] * 6).rewards == pytest.approx((1 / 3,) * 4)
    with pytest.raises(Error, match="a line-up of 2 is too short for public-goods, which has 4"):
        outcome(tool, ["give", "keep"])


class NoPolicy(MindBase):
    """Acts, and does not say how."""

    def act(self, observation, random):
        return 0


@pytest.mark.parametrize(
    ("game", "minds", "said"),
    [
        ("prisoners-dilemma", ["heads", "defect"], "a mind for matching-pennies"),
        ("prisoners-dilemma", [f"{__file__}:NoPolicy", "defect"], "gives no action distribution"),
        ("prisoners-dilemma", ["q-learning", "defect"], "rehearses before it counts"),
        ("predator-prey", ["random"] * 4, "draws by lot"),
        ("team-lambda-star", ["random"] * 4, "its exercises differ"),
        ("lambda-star", ["random"], "its exercises differ"),
    ],
)
def test_what_cannot_be_exact_says_why(game, minds, said):
    with pytest.raises(Error, match=said):
        outcome(registry.make_instrument(game), minds)


def test_a_game_that_is_too_large_says_how_large():
    tool = registry.make_instrument("commons", {"players": 8, "steps": 10, "capacity": 60})
    with pytest.raises(Error, match=r"[\d,]+ different moves by step 2 of 10"):
        outcome(tool, ["random"] * 8)


class Unfair(Game):
    """One team of two whose second member gets more in the second step."""

    name, version, chance, ceiling = "unfair", 1, 0.0, 1.0

    def world(self):
        return World(self.reward)

    def told(self, observation):
        return "?"

    reward = 0.5


class World(Environment):
    """Two steps; rewards are wrong in the second."""

    teams, steps = ((0, 1),), 2
    actions = (Discrete(2),) * 2

    def __init__(self, reward):
        self.reward = reward

    def reset(self, random):
        return 0

    def awaited(self, state):
        return (0, 1) if state < 2 else ()

    def step(self, state, actions, random):
        return state + 1, [0.0, self.reward * state]


class Beyond(Unfair):
    """Rewards that leave [-1, 1]."""

    reward = 1.5


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        (Unfair(), r"step 2: slots \(0, 1\) are one team but were rewarded differently"),
        (Beyond(), r"step 2: slot 1 got 1.5, outside \[-1, 1\]"),
    ],
)
def test_an_environment_that_breaks_its_word_is_an_error_with_step_and_slots(tool, said):
    line_up = registry.line_up("random", tool)
    with pytest.raises(Error, match=said):
        Plain(tool, line_up, Watch()).play(1, 0, 1, 0)
    with pytest.raises(Error, match=said):
        outcome(tool, ["random", "random"])


def test_the_check_of_games_uses_what_settings_there_are():
    assert isinstance(Unfair().exercise(1, 2), Exercise)
    assert GameSettings().steps == 10
