"""The compiled games are the plain ones, bit for bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.core.blocks import Block, block_difference
from allminds.core.watch import Watch
from allminds.episode import Plain, form, play_on
from allminds.instruments.games.fast import CompiledRounds, halves_of, sums_exactly
from allminds.instruments.games.game import Repeated

CONSTANT = {
    "matching-pennies": ["heads", "tails"],
    "rock-paper-scissors": ["rock", "scissors"],
    "prisoners-dilemma": ["cooperate", "defect"],
    "stag-hunt": ["stag", "hare"],
    "public-goods": ["give", "keep", "conditional-cooperator"],
}
ADAPTING = ["random", "best-reply", "fictitious-play", "regret-matching", "best-response"]
STRATEGIES = [
    "tit-for-tat", "suspicious-tit-for-tat", "generous-tit-for-tat", "contrite-tit-for-tat",
    "win-stay-lose-shift", "grim", "tit-for-two-tats", "two-tits-for-tat", "joss", "gradual",
    "firm-but-fair", "extortion", "alternate", "soft-majority", "tester", "prober", "adaptive",
    "adaptive-tit-for-tat", "tit-for-tat(slip=0.1)", "cooperate", "defect", "random", "minimax",
]  # fmt: skip


def same(game, line_up, seed=3, first=5, last=45, **settings):
    tool = registry.make_instrument(game, settings)
    played = registry.line_up(line_up, tool)
    quick = form(tool, played, Watch())
    assert isinstance(quick, CompiledRounds)
    plain = Plain(tool, played, Watch())
    blocks = [way.play(seed, first, last, first + 7) for way in (quick, plain)]
    assert block_difference(*blocks) == ""


@pytest.mark.parametrize("one", STRATEGIES)
def test_all_pairs_of_strategies_of_the_dilemma(one):
    for other in STRATEGIES:
        same("prisoners-dilemma", f"{one}, {other}", last=11)


@given(
    st.sampled_from(sorted(CONSTANT)),
    st.data(),
    st.integers(1, 7),
    st.integers(0, 2**40),
    st.integers(0, 2**40),
)
def test_any_line_up_of_any_matrix_game(game, data, steps, seed, first):
    names = st.sampled_from(CONSTANT[game] + ADAPTING)
    settings = {"steps": steps}
    players = 2
    if game == "public-goods":
        settings["players"] = players = data.draw(st.integers(2, 4))
    line_up = ", ".join(data.draw(names) for _ in range(players))
    same(game, line_up, seed=seed, first=first, last=first + 9, **settings)


def test_one_round_has_no_learning_and_many_rounds_are_summed_alike():
    same("prisoners-dilemma", "joss, random", steps=1)
    same("prisoners-dilemma", "joss, generous-tit-for-tat(slip=0.3)", steps=257, last=15)


def test_eight_players():
    same("public-goods", "random", players=8, steps=5)


@pytest.mark.parametrize(
    "line_up",
    ["q-learning(sessions=2), random", "roth-erev(initial=2), random*1", "human, random"],
)
def test_a_mind_without_a_small_machine_is_played_plainly(line_up):
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 60})
    assert isinstance(form(tool, registry.line_up(line_up, tool), Watch()), Plain)


def test_a_mind_that_breaks_is_told_of_by_the_plain_loop():
    tool = registry.make_instrument("prisoners-dilemma")
    from allminds.core.bases import PolicyMind

    class Broken(PolicyMind):
        """Divides by nothing."""

        def policy(self, observation):
            return [1 / 0, 0]

    way = form(tool, registry.line_up([Broken, "random"], tool), Watch())
    block = way.play(1, 0, 2, 0)
    assert block.reasons[0].startswith("ZeroDivisionError")


def test_a_mind_that_acts_otherwise_than_its_policy_says_is_not_compiled():
    tool = registry.make_instrument("prisoners-dilemma")
    from allminds.instruments.games.strategies import TitForTat

    class Contrary(TitForTat):
        """Says one thing and does another."""

        def act(self, observation, random):
            return 1

    way = form(tool, registry.line_up([Contrary, "random"], tool), Watch())
    assert isinstance(way, Plain)


# ---------------------------------------------------------------- sums


PAYOFFS = st.floats(-1, 1, allow_nan=False, allow_subnormal=False).filter(
    lambda x: x == 0 or abs(x) > 1e-3
)


@given(st.lists(PAYOFFS, min_size=4, max_size=4), st.data(), st.integers(1, 3000))
def test_high_and_low_halves_sum_as_fractions_do(payoffs, data, steps):
    game = Repeated(steps, 1, ("a", "b", "c", "d"), tuple((x,) for x in payoffs))
    high, low = halves_of(game)
    assert sums_exactly(high, low, steps)
    seed = data.draw(st.integers(0, 10**6))
    chosen = np.random.default_rng(seed).integers(0, 4, steps)
    both = float(high[chosen, 0].cumsum()[-1]) + float(low[chosen, 0].cumsum()[-1])
    exact = sum((Fraction(payoffs[n]) for n in chosen.tolist()), Fraction(0))
    assert both == float(exact) == math.fsum(payoffs[n] for n in chosen.tolist())


def test_pay_offs_that_cannot_be_summed_exactly_are_left_to_the_plain_loop():
    game = Repeated(50, 1, ("a", "b"), ((1e-9 / 3,), (0.1,)))
    assert not sums_exactly(*halves_of(game), 50)


def test_scores_are_the_exact_sums_of_their_rewards_rounded_once():
    """Pay-offs in ninths are no binary fractions: `sum` has other last bits before Python 3.12."""
    tool = registry.make_instrument("public-goods", {"steps": 37})
    line_up = registry.line_up("random", tool)
    differing = 0
    for _, record in play_on(tool, line_up, 4, 0, 60):
        for slot in range(tool.slots):
            rewards = [rewards[slot] for rewards in record.rewards]
            exact = sum(map(Fraction, rewards), Fraction(0))
            assert record.score[slot] == float(exact) / 37
            naive = 0.0
            for reward in rewards:
                naive += reward
            differing += naive != float(exact)
    assert differing > 20
    same("public-goods", "random", last=65, steps=37)


def test_a_learning_curve_is_the_same_however_exercises_are_cut_into_blocks():
    tool = registry.make_instrument("public-goods", {"steps": 5})
    line_up = registry.line_up("random", tool)
    for make in (form, Plain):
        way = make(tool, line_up, Watch())
        whole = way.play(4, 0, 90, 0)
        for size in (1, 7, 64):
            parts = [way.play(4, n, min(n + size, 90), 0) for n in range(0, 90, size)]
            assert np.array_equal(Block.join(parts).curve, whole.curve)
        rewards = [record.rewards for _, record in play_on(tool, line_up, 4, 0, 90)]
        assert np.allclose(whole.curve, np.sum(rewards, axis=(0, 2)), rtol=0, atol=90 * 4 * 2**-27)
