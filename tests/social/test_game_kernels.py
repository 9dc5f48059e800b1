"""The compiled games are the plain ones, bit for bit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.check import block_difference
from allminds.episode import Plain, form
from allminds.instruments.social.fast import CompiledRounds
from allminds.watch import Watch

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
    from allminds.instruments.social.minds.base import PolicyMind

    class Broken(PolicyMind):
        """Divides by nothing."""

        def policy(self, observation):
            return [1 / 0, 0]

    way = form(tool, registry.line_up([Broken, "random"], tool), Watch())
    block = way.play(1, 0, 2, 0)
    assert block.reasons[0].startswith("ZeroDivisionError")


def test_a_mind_that_acts_otherwise_than_its_policy_says_is_not_compiled():
    tool = registry.make_instrument("prisoners-dilemma")
    from allminds.instruments.social.minds.strategies import TitForTat

    class Contrary(TitForTat):
        """Says one thing and does another."""

        def act(self, observation, random):
            return 1

    way = form(tool, registry.line_up([Contrary, "random"], tool), Watch())
    assert isinstance(way, Plain)
