"""Exact properties: SOCIAL's worked values, every value of the oracles, and brute force."""

from __future__ import annotations

import csv
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_testbed import Naive

from allminds import registry
from allminds.core.errors import Error
from allminds.statistics.testbed import (
    InstrumentGame,
    Payoffs,
    Testbed,
    Weights,
    exact_profile,
    sigma,
    upsilon,
)
from allminds.statistics.testbed.bed import line_ups
from allminds.statistics.testbed.results import team_sums

PENNIES = np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]], float)
DILEMMA = np.array([[0.2, -1, -0.4], [1, -0.6, 0.2], [0.6, -0.8, -0.1]])
SCISSORS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float)


def two(name, minds, first, second, random=None, teams=((0,), (1,))):
    return Payoffs(name, minds, teams, np.stack([first, second], axis=-1), random)


def pennies():
    return two("pennies", ["heads", "tails", "random"], PENNIES, -PENNIES, "random")


def dilemma():
    return two("dilemma", ["C", "D", "random"], DILEMMA, DILEMMA.T, "random")


def scissors():
    return two("scissors", ["rock", "paper", "scissors"], SCISSORS, SCISSORS.T)


def coordination():
    return two("coordination", ["a", "b", "random"], PENNIES, PENNIES, "random", teams=((0, 1),))


def instrument(name, steps, minds):
    return InstrumentGame(registry.make_instrument(name, {"steps": steps}), minds)


def profile(game, weights=None):
    bed = Testbed([game], weights or Weights())
    return exact_profile(game, bed.w_l[0], bed.w_s[0])


# ---------------------------------------------------------------- worked values (SOCIAL §3)

NAMES = ("action_dependency", "reward_dependency", "fine_discrimination", "coarse_discrimination")
F = Fraction
WORKED = [
    (
        pennies,
        {
            "upsilon": 0, "action_dependency": (0, 0), "reward_dependency": (F(2, 3), F(1, 3)),
            "fine_discrimination": (F(2, 3), F(1, 3)), "coarse_discrimination": (0, 0),
            "variance.me": 0, "variance.them": 0, "variance.match": F(4, 9), "social_share": 1,
            "strategic_share": 1, "strict_total_grading": 0, "partial_grading": 1,
            "slot_reward_dependency": -1, "competitive_anticipation": 0,
            "anticipation_potential": F(1, 6), "cooperative_anticipation": None,
            "max_asymmetry": 2, "team_symmetry": False, "zero_sum": True, "max_abs_step_sum": 0,
            "cyclic_share": None,
        },
    ),
    (
        dilemma,
        {
            "upsilon": F(-1, 10), "upsilon[C]": F(-2, 5), "upsilon[D]": F(1, 5),
            "upsilon[random]": F(-1, 10), "action_dependency": (0, 0),
            "reward_dependency": (1, F(149, 600)), "fine_discrimination": (1, F(29, 600)),
            "coarse_discrimination": (1, F(9, 200)), "variance.me": F(3, 50),
            "variance.them": F(49, 150), "variance.match": F(1, 225),
            "social_share": F(149, 176), "strategic_share": F(1, 88),
            "strict_total_grading": 1, "partial_grading": 1, "cyclic_share": 0,
            "slot_reward_dependency": F(-31, 44), "competitive_anticipation": 0,
            "anticipation_potential": F(1, 60), "cooperative_anticipation": None,
            "max_asymmetry": 0, "team_symmetry": True, "zero_sum": False,
            "max_abs_step_sum": F(6, 5),
        },
    ),
    (
        scissors,
        {
            "upsilon": 0, "reward_dependency": (1, F(1, 2)), "fine_discrimination": (1, F(1, 2)),
            "coarse_discrimination": (0, 0), "variance.match": F(2, 3), "social_share": 1,
            "strategic_share": 1, "strict_total_grading": 0, "partial_grading": 0,
            "cyclic_share": 1, "slot_reward_dependency": -1, "max_asymmetry": 0,
            "zero_sum": True, "competitive_anticipation": None,
        },
    ),
    (
        coordination,
        {
            "reward_dependency": (F(2, 3), F(1, 3)), "fine_discrimination": (F(2, 3), F(1, 3)),
            "cooperative_anticipation": 0, "anticipation_potential": F(1, 6),
            "competitive_anticipation": None, "strict_total_grading": None,
            "partial_grading": None, "slot_reward_dependency": None, "cyclic_share": None,
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "worked"), WORKED, ids=[make.__name__ for make, _ in WORKED])
def test_worked_values(make, worked):
    found = profile(make()).properties
    for name, wanted in worked.items():
        one = found[name]
        if wanted is None:
            assert one.value is None, name
            assert one.reason, name
        elif isinstance(wanted, bool):
            assert one.value is wanted, name
        elif isinstance(wanted, tuple):
            assert one.value == pytest.approx(float(wanted[0]), abs=1e-9), name
            assert one.graded**2 == pytest.approx(float(wanted[1]), abs=1e-9), name
        else:
            assert one.value == pytest.approx(float(wanted), abs=1e-9), name
        assert one.exact, name


def test_the_iterated_dilemma_with_tit_for_tat():
    """SOCIAL §3, the column K = 5, and §5's cyclic share."""
    found = profile(
        instrument("prisoners-dilemma", 5, ["cooperate", "defect", "random", "tit-for-tat"])
    )
    values = {name: one.value for name, one in found.properties.items()}
    assert values["upsilon"] == pytest.approx(-69 / 800, abs=1e-9)
    assert values["action_dependency"] == pytest.approx(5 / 24, abs=1e-9)
    assert found.properties["action_dependency"].graded == pytest.approx(77 / 384, abs=1e-9)
    assert values["competitive_anticipation"] == pytest.approx(23 / 1600, abs=1e-9)
    assert values["anticipation_potential"] == pytest.approx(37 / 800, abs=1e-9)
    assert values["cyclic_share"] == pytest.approx(24 / 155, abs=1e-9)
    assert values["social_share"] == pytest.approx(0.9469, abs=5e-5)
    assert values["strategic_share"] == pytest.approx(0.1544, abs=5e-5)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_memoryless_minds_have_the_same_values_at_every_length(steps):
    once = profile(dilemma()).properties
    found = profile(instrument("prisoners-dilemma", steps, ["cooperate", "defect", "random"]))
    for name in ("upsilon", *NAMES[1:], "slot_reward_dependency", "anticipation_potential"):
        assert found.properties[name].value == pytest.approx(once[name].value, abs=1e-9)
        if once[name].graded is not None:
            assert found.properties[name].graded == pytest.approx(once[name].graded, abs=1e-9)


def test_unequal_weights_of_the_dilemma():
    """SOCIAL §3: weights .6 .3 .1."""
    found = profile(dilemma(), Weights(minds=[0.6, 0.3, 0.1])).properties
    assert found["upsilon"].value == pytest.approx(11 / 1000, abs=1e-9)
    assert found["competitive_anticipation"].value == pytest.approx(201 / 2000, abs=1e-9)
    assert found["slot_reward_dependency"].value == pytest.approx(-0.767097, abs=5e-7)


def test_every_value_of_the_oracles(reference):
    with open(reference / "social_oracles.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    games = {}
    for row in rows:
        key = (row["game"], int(row["steps"]), row["minds"])
        if key not in games:
            games[key] = profile(instrument(key[0], key[1], key[2].split("|"))).properties
        name, _, form = row["property"].partition(".")
        exact = Fraction(row["exact"]) if "/" in row["exact"] else float(row["exact"])
        if name == "variance":
            value = games[key][row["property"]].value
        elif form.startswith("graded"):
            value = games[key][name].graded ** (2 if form == "graded^2" else 1)
        else:
            value = games[key][name].value
        assert value == pytest.approx(float(exact), abs=1e-9), row
    assert len(rows) > 80
    assert len(games) == 4


# ---------------------------------------------------------------- ratings and cycles


def test_rock_paper_scissors_is_one_cycle():
    found = profile(scissors()).ratings
    assert found.values == pytest.approx(np.zeros(3))
    assert found.cycles_as_json() == [
        {"minds": ["rock", "scissors", "paper"], "margins": [2.0, 2.0, 2.0]}
    ]


def test_ratings_of_a_game_without_cycles_are_its_margins():
    found = profile(dilemma()).ratings
    assert [row["mind"] for row in found.as_json()] == ["D", "random", "C"]
    assert found.cycles == []
    gaps = found.values[:, None] - found.values[None, :]
    assert gaps == pytest.approx(found.margins)


def test_one_team_has_no_ratings():
    assert profile(coordination()).ratings is None


# ---------------------------------------------------------------- symmetry and sums


def test_sigma_keeps_teams_together():
    """P1 §4.5: τ = {{1, 2}, {3, 4}}."""
    found = sigma((1, 2, 3, 4), ((0, 1), (2, 3)))
    assert (3, 4, 2, 1) in found
    assert (1, 3, 2, 4) not in found
    assert len(found) == math.factorial(2) * math.factorial(2) ** 2
    doubled = {tuple(1 if mind == 2 else mind for mind in line_up) for line_up in found}
    assert sigma((1, 1, 3, 4), ((0, 1), (2, 3))) == doubled


def test_unequal_teams_are_not_symmetric_but_have_an_intra_part():
    rewards = np.zeros((2, 2, 2, 3))
    rewards[0, 1, :, :2] = 0.5  # the first place of the team is worth more to mind 0
    found = profile(Payoffs("hunt", ["a", "b"], [[0, 1], [2]], rewards)).properties
    assert found["team_symmetry"].value is False
    assert "unequal" in found["team_symmetry"].reason
    assert found["max_asymmetry"].value is None
    assert found["inter_team_asymmetry"].value is None
    assert found["intra_team_asymmetry"].value == pytest.approx(0.5)


def test_teams_of_two_and_three_sum_to_zero():
    """P1 §4.4: 1/4 for each of two, -1/6 for each of three."""
    rewards = (0.25, 0.25, -1 / 6, -1 / 6, -1 / 6)
    teams = ((0, 1), (2, 3, 4))
    assert team_sums(rewards, teams) == pytest.approx((0.5, -0.5))
    game = Payoffs("teams", ["a"], teams, np.array(rewards).reshape(1, 1, 1, 1, 1, 5))
    found = profile(game)
    assert found.properties["zero_sum"].value is True
    assert found.properties["zero_sum_in_the_limit"].value is True
    assert found.team_totals == pytest.approx((0.5, -0.5))
    assert found.kind == "mixed"


def test_kinds():
    assert profile(pennies()).kind == profile(scissors()).kind == "pure competition"
    assert profile(coordination()).kind == "pure cooperation"
    assert profile(dilemma()).kind == "mixed"


def test_constant_sum_is_not_zero_sum():
    found = profile(two("shift", ["a", "b"], np.array([[0.5, 1], [0, 0.5]]),
                        np.array([[0.5, 0], [1, 0.5]]))).properties  # fmt: skip
    assert found["constant_sum"].value is True
    assert found["constant_sum"].more["range"] == pytest.approx([1.0, 1.0])
    assert found["zero_sum"].value is False


# ---------------------------------------------------------------- null with a reason


def test_what_has_no_value_says_why():
    alone = profile(Payoffs("alone", ["a", "b", "c"], [[0]], [[0.1], [0.2], [0.3]])).properties
    one = profile(two("one", ["a"], np.zeros((1, 1)), np.zeros((1, 1)))).properties
    for found, names in (
        (alone, ("reward_dependency", "slot_reward_dependency", "strict_total_grading")),
        (one, ("action_dependency", *NAMES, "social_share", "partial_grading")),
    ):
        for name in names:
            assert found[name].value is None, name
            assert found[name].graded is None, name
            assert found[name].reason, name
            assert "NaN" not in str(found[name].as_json()), name
    assert alone["fine_discrimination"].value == pytest.approx(1)
    assert alone["social_share"].value == pytest.approx(0)


# ---------------------------------------------------------------- Υ, streamed


class Counting(Payoffs):
    """Four slots; keeps count of what it was asked."""

    def __init__(self, minds):
        self.name, self.minds = "counting", tuple(f"m{n}" for n in range(minds))
        self.teams, self.random = ((0,), (1,), (2,), (3,)), None
        self.asked = 0

    def outcome(self, line_up):
        self.asked += 1
        self.rewards = {
            line_up: np.array([((7 * n + s) % 5 - 2) / 4 for s, n in enumerate(line_up)])
        }
        return super().outcome(line_up)


def test_upsilon_of_six_minds_in_four_slots_asks_every_line_up_once():
    game = Counting(6)
    found = upsilon(Testbed([game]))
    assert game.asked == 6**4
    by_hand = np.mean([
        ((7 * n + s) % 5 - 2) / 4
        for l in itertools.product(range(6), repeat=4) for s, n in enumerate(l)
    ])  # fmt: skip
    assert found.upsilon == pytest.approx(by_hand)
    assert found.minds[3] == pytest.approx(np.mean([((21 + s) % 5 - 2) / 4 for s in range(4)]))


def test_line_ups_are_streamed():
    """A thousand minds in four slots have a million million line-ups."""
    stream = line_ups(Counting(1000))
    assert next(stream) == (0, 0, 0, 0)
    assert next(stream) == (0, 0, 0, 1)
    with pytest.raises(Error, match="too many line-ups"):
        profile(Counting(1000))


def test_public_goods_with_six_minds_exactly():
    """Giving and keeping by their pay-offs; six minds in four slots without sampling."""
    minds = ["give", "keep", "random", "conditional-cooperator", "always(0)", "always(1)"]
    found = upsilon(Testbed([instrument("public-goods", 1, minds)]))
    assert found.minds[0] == pytest.approx(found.minds[4])
    assert found.minds[1] == pytest.approx(found.minds[5])
    assert found.minds[2] == pytest.approx((found.minds[0] + found.minds[1]) / 2)


def test_several_environments_weigh_what_they_are_given():
    games = [pennies(), two("dilemma", ["heads", "tails", "random"], DILEMMA, DILEMMA.T, "random")]
    bed = Testbed(games, Weights(environments=[0.25, 0.75]))
    assert upsilon(bed).upsilon == pytest.approx(-0.075)


def test_constants_scale_upsilon():
    plain = upsilon(Testbed([dilemma()]))
    bed = Testbed([dilemma()], Weights(environments=[2], slots=[[1.5, 1.5]], c_m=2, c_s=3))
    assert upsilon(bed).upsilon == pytest.approx(6 * plain.upsilon)
    assert upsilon(bed).minds == pytest.approx(6 * plain.minds)


# ---------------------------------------------------------------- brute force

PARTITIONS = {1: [[[0]]], 2: [[[0], [1]], [[0, 1]]],
              3: [[[0], [1], [2]], [[0, 1], [2]], [[2, 0], [1]], [[0, 1, 2]]],
              4: [[[0, 1], [2, 3]], [[0, 3], [1], [2]]]}  # fmt: skip


class Scripted(Payoffs):
    """Pay-offs with any distribution of joint action sequences."""

    def __init__(self, *given, acts, **more):
        super().__init__(*given, **more)
        self.acts = acts

    def others(self, line_up, slot):
        found = {}
        for sequence, chance in self.acts[line_up].items():
            rest = tuple(joint[:slot] + joint[slot + 1 :] for joint in sequence)
            found[rest] = found.get(rest, 0.0) + chance
        return found


@st.composite
def games(draw):
    slots = draw(st.integers(1, 4))
    n = draw(st.integers(1, 4 if slots < 3 else 2 if slots == 4 else 3))
    teams = draw(st.sampled_from(PARTITIONS[slots]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    levels = draw(st.sampled_from([(-1, 0, 1), (-0.5, -0.25, 0, 1), tuple(np.linspace(-1, 1, 41))]))
    rewards = np.zeros((n,) * slots + (slots,))
    for team in teams:
        rewards[..., team] = rng.choice(levels, size=(n,) * slots + (1,))
    every = list(itertools.product(range(n), repeat=slots))
    sequences = [tuple(tuple(rng.integers(0, 2, slots)) for _ in range(2)) for _ in range(3)]
    acts = {
        l: dict(zip(sequences, rng.dirichlet(np.ones(3)), strict=True))
        if rng.random() < 0.7
        else {sequences[0]: 1.0}
        for l in every
    }
    random = draw(st.sampled_from([None, "m0"]))
    game = Scripted("any", [f"m{k}" for k in range(n)], teams, rewards, random, acts=acts)
    if draw(st.booleans()):
        minds = rng.dirichlet(np.ones(n))
        if n > 1 and draw(st.booleans()):
            minds[0], minds[1] = 0.0, minds[0] + minds[1]
        weights = Weights(minds=list(minds), slots=[list(rng.dirichlet(np.ones(slots)))])
        w = {l: math.prod(minds[k] for k in l) for l in every}
    else:
        shares = dict(zip(every, rng.dirichlet(np.ones(len(every))), strict=True))
        weights = Weights(line_ups=shares.__getitem__, slots=[list(rng.dirichlet(np.ones(slots)))])
        w = shares
    naive = Naive(
        n, slots, [list(t) for t in teams], {l: tuple(rewards[l]) for l in every}, w,
        list(weights.slots[0]), None if random is None else 0, acts,
    )  # fmt: skip
    return game, weights, naive


@settings(max_examples=60)
@given(games())
def test_every_property_is_as_defined(drawn):
    game, weights, naive = drawn
    found = profile(game, weights)
    values = {name: one.value for name, one in found.properties.items()}
    for name, wanted in naive.all().items():
        of, _, form = name.partition(".graded")
        value = found.properties[of].graded if form or name.endswith(".graded") else values[name]
        if math.isnan(wanted):
            assert value is None, name
            assert found.properties[of].reason
        else:
            assert value == pytest.approx(wanted, abs=1e-7), name
    for n, mind in enumerate(game.minds):
        assert values[f"upsilon[{mind}]"] == pytest.approx(naive.upsilon_of(n), abs=1e-9)
        for i in range(naive.slots):
            assert found.scores[n, i] == pytest.approx(naive.score(i, n), abs=1e-9)
    if found.ratings is not None:
        for n in range(naive.n):
            assert found.ratings.values[n] == pytest.approx(naive.rating(n), abs=1e-9)


@settings(max_examples=40)
@given(games())
def test_the_potential_of_anticipation_is_as_defined(drawn):
    game, weights, naive = drawn
    pairs = [(i, j) for i in range(naive.slots) for j in range(naive.slots) if i != j]
    wanted = naive.mean([(naive.potential(i, j), naive.w_s[i] * naive.w_s[j]) for i, j in pairs])
    value = profile(game, weights).properties["anticipation_potential"].value
    assert value is None if math.isnan(wanted) else value == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=40)
@given(games())
def test_streamed_upsilon_is_the_sum_over_everything(drawn):
    game, weights, naive = drawn
    found = upsilon(Testbed([game], weights))
    assert found.upsilon == pytest.approx(naive.upsilon(), abs=1e-12)
    assert found.minds == pytest.approx([naive.upsilon_of(n) for n in range(naive.n)], abs=1e-12)
