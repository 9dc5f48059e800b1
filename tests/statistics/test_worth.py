"""Who does the work: contributions of members against every order, and how often they err."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coins import Coins
from commands import allminds

from allminds import MindBase, registry
from allminds.core.errors import Error
from allminds.core.seeding import fingerprint
from allminds.episode import play
from allminds.statistics import worth as module
from allminds.statistics.worth import FINE, worth
from allminds.voting import majority_accuracy

HERE = Path(__file__).resolve()


class Noisy(MindBase):
    """Calls a coin rightly with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def act(self, observation: Any, random: Any) -> int:
        right = fingerprint(observation.number) % 2
        return right if random.unit() < self.p else 1 - right


def noisy(p: float) -> str:
    return f"{HERE}:Noisy(p={p})"


def tool() -> Any:
    return registry.make_instrument(Coins, {})


def scores(group: str, members: list[int], count: int, episodes: int) -> list[float]:
    """Play a coalition exercise by exercise in the plain loop."""
    away = "/".join(str(n + 1) for n in range(count) if n not in members)
    name = f"{group[:-1]},drop={away})" if away else group
    line_up = registry.line_up(name, tool())
    return [play(tool().exercise(1, i), line_up).score[0] or 0.0 for i in range(episodes)]


def over_orders(group: str, count: int, empty: list[float], episodes: int) -> list[list[Fraction]]:
    """Average what each member adds over all orders, from the definition."""
    values = {
        frozenset(some): scores(group, list(some), count, episodes)
        for size in range(1, count + 1)
        for some in itertools.combinations(range(count), size)
    }
    values[frozenset()] = empty
    orders = list(itertools.permutations(range(count)))
    found = [[Fraction(0)] * episodes for _ in range(count)]
    for order in orders:
        for place, member in enumerate(order):
            now, before = values[frozenset(order[: place + 1])], values[frozenset(order[:place])]
            for i in range(episodes):
                found[member][i] += (Fraction(now[i]) - Fraction(before[i])) / len(orders)
    return found


@pytest.mark.parametrize("protocol", ["vote", "plurality"])
def test_contributions_are_those_of_every_order_and_sum_to_the_score_minus_chance(
    protocol: str,
) -> None:
    group, episodes = f"{protocol}({noisy(0.9)},{noisy(0.6)},{noisy(0.6)},{noisy(0.3)})", 12
    found = worth(tool(), group, episodes=episodes)
    parts = [[Fraction(int(x)) / Fraction(found.unit) for x in row] for row in found.parts]
    total = [Fraction(int(x)) / Fraction(found.unit) for x in found.whole]
    own = scores(group, [0, 1, 2, 3], 4, episodes)
    empty = [float(Fraction(one) - value) for one, value in zip(own, total, strict=True)]
    assert set(empty) <= {0.0, 1.0}
    assert parts == over_orders(group, 4, empty, episodes)
    assert [sum(column) for column in zip(*parts, strict=True)] == total
    assert sum(one.found.mean for one in found.shares) == pytest.approx(
        (found.score.score or 0.0) - (found.chance or 0.0), abs=1e-12
    )


def test_a_member_without_weight_adds_exactly_nothing() -> None:
    group = f"weighted-vote({noisy(0.9)},{noisy(0.9)},{noisy(0.7)},p=0.8/0.5/0.6)"
    found = worth(tool(), group, episodes=60)
    assert not found.parts[1].any()
    assert found.shares[1].found.mean == 0.0
    assert [one.word for one in found.shares][:2] == ["adds", "nothing"]


def test_of_many_members_orders_are_sampled_and_the_intervals_hold_the_exact_values() -> None:
    """Five intervals of 95 %, of which four hold their value but in 2 % of cases; fixed seed.

    The exact values come from the same exercises, so that only the orders are sampled.
    """
    group = f"plurality({','.join(noisy(p) for p in (0.9, 0.8, 0.7, 0.6, 0.4))})"
    exact = worth(tool(), group, episodes=40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_EXACT", 4)
        found = worth(tool(), group, episodes=40)
    assert (exact.how, found.how) == ("exact", "sampled")
    assert (found.parts.sum(axis=0) == found.whole).all()
    assert (found.whole / found.unit == exact.whole / exact.unit).all()
    held = 0
    for one, other in zip(found.shares, exact.shares, strict=True):
        low, high = one.found.interval or (0.0, 0.0)
        held += low <= other.found.mean <= high
    assert held >= 4


@pytest.mark.slow
def test_equal_members_are_seldom_called_unlike_and_guessers_seldom_said_to_add() -> None:
    """At a rate of .05, more than 11 of 100 runs come by chance in less than .5 % of cases."""
    group, unlike, adding = f"plurality({noisy(0.5)}*3)", 0, 0
    for seed in range(100):
        found = worth(tool(), group, episodes=20, seed=seed)
        unlike += any(one.unlike in ("more", "less") for one in found.shares)
        adding += any(one.word in ("adds", "harms") for one in found.shares)
    assert unlike <= 11
    assert adding <= 11


def test_messages_are_worth_what_the_group_loses_if_nobody_hears_them() -> None:
    group = f"debate({noisy(0.9)},{noisy(0.9)},conformist({noisy(0.5)}),1)"
    found = worth(tool(), group, episodes=30)
    assert [one.member for one in found.senders] == [1, 2, 3]
    own = scores(group, [0, 1, 2], 3, 30)
    muted = registry.line_up(f"{group[:-1]},mute=1)", tool())
    without = [play(tool().exercise(1, i), muted).score[0] or 0.0 for i in range(30)]
    strata = np.array([tool().exercise(1, i).environment.complexity["tens"] for i in range(30)])
    change = np.subtract(own, without)
    wanted = np.mean([change[strata == value].mean() for value in np.unique(strata)])
    assert found.senders[0].found.mean == pytest.approx(wanted, abs=1e-12)
    assert not worth(tool(), f"vote({noisy(0.9)}*3)", episodes=9).senders


def test_messages_of_a_team_are_muted_too() -> None:
    pennies = registry.make_instrument("matching-pennies", {"steps": 4})
    found = worth(pennies, "talk(heads,conformist(tails))", episodes=8)
    assert [one.member for one in found.senders] == [1, 2]
    assert not worth(pennies, "talk(heads,tails)", episodes=3).senders[0].found.differs


def test_redundancy_tells_independent_members_from_copies_of_one() -> None:
    group = f"vote({noisy(0.7)}*3)"
    found = worth(tool(), group, episodes=200).redundancy
    assert found is not None
    assert found.errors == pytest.approx(0, abs=0.15)
    assert found.dependence.correlated == pytest.approx(majority_accuracy([0.7] * 3), abs=0.1)
    assert found.observed == pytest.approx(found.dependence.correlated, abs=0.1)
    copies = worth(tool(), f"vote({HERE.parent.parent}/coins.py:Memo*3)", episodes=60).redundancy
    assert copies is not None
    assert copies.errors == pytest.approx(1)
    assert copies.independent is not None
    assert copies.dependence.correlated == pytest.approx(copies.observed, abs=0.02)


def test_members_of_a_team_are_replaced_by_the_floor_mind() -> None:
    given = {"agents": 2, "rows": 4, "cols": 4, "iterations": 6}
    star = registry.make_instrument("lambda-star", given)
    found = worth(star, "auction(local-search,random)", episodes=22)
    assert not found.parts[1].any(), "the floor mind is random, and replaces itself"
    assert [one.name for one in found.shares] == ["local-search", "random", "the protocol"]
    assert found.shares[0].word == "adds"
    line_up = registry.line_up("random", star)
    by_k: dict[float, list[float]] = {}
    for exercise in (star.exercise(1, i) for i in range(22)):
        k = exercise.environment.complexity[star.strata]
        by_k.setdefault(k, []).append(float(np.mean(play(exercise, line_up).score)))
    wanted = np.mean([np.mean(some) for some in by_k.values()])
    assert found.chance == pytest.approx(wanted, abs=1e-12)
    assert (found.parts.sum(axis=0) == found.whole).all()


@pytest.mark.parametrize(("group", "said"), [
    ("random", "is no group"), ("vote(random*2,drop=1)", "without drop"),
    ("vote(random*63)", "62 is the most"),
])  # fmt: skip
def test_what_cannot_be_left_out_is_refused(group: str, said: str) -> None:
    with pytest.raises(Error, match=said):
        worth(tool(), group, episodes=3)


def test_the_command_prints_contributions_and_their_sum() -> None:
    words = ("worth", "matching-pennies", "-m", "vote(heads,tails,heads), heads", "--episodes", "9")
    found = json.loads(allminds(*words, "--json").stdout)["groups"][0]
    total = sum(row["adds"] for row in found["members"])
    assert total == pytest.approx(found["score"] - found["chance"], abs=1e-12)
    shown = allminds(*words).stdout
    assert "adds" in shown
    assert "chance" in shown


def test_scores_on_the_lattice_are_the_scores() -> None:
    found = worth(tool(), f"vote({noisy(0.9)})", episodes=8)
    assert found.unit == FINE
    assert set(np.unique(found.parts / found.unit)) <= {-1.0, 0.0, 1.0}
