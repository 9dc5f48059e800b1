"""Votes by rankings, against all ballots gone through one by one."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from commands import allminds
from scipy.optimize import linprog

from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.voting import (
    RANKED_RULES,
    plurality_bounds,
    ranked_accuracy,
    ranked_bounds,
    ranked_vote,
)


@functools.cache
def winners_of(ballots, rule):
    """Find who wins, by the definitions of the rules, from ballots with the best first."""
    m, n = len(ballots[0]), len(ballots)
    place = [{option: at for at, option in enumerate(ballot)} for ballot in ballots]
    support = {
        (a, b): sum(one[a] < one[b] for one in place)
        for a, b in itertools.permutations(range(m), 2)
    }
    others = {a: [b for b in range(m) if b != a] for a in range(m)}
    score = {
        "borda": lambda a: sum(m - 1 - one[a] for one in place),
        "harmonic": lambda a: sum(math.lcm(*range(1, m + 1)) // (one[a] + 1) for one in place),
        "maximin": lambda a: min(support[a, b] for b in others[a]),
        "copeland": lambda a: sum(
            (2 * support[a, b] > n) - (2 * support[a, b] < n) for b in others[a]
        ),
    }[rule]
    best = max(map(score, range(m)))
    return [a for a in range(m) if score(a) == best]


def winners(ballots, rule):
    """Find who wins; whose ballot is whose makes no difference, which saves much time."""
    return winners_of(tuple(sorted(map(tuple, ballots))), rule)


def chance_of(ballot, p):
    """Multiply the chances of one place after the other; option 0 is right."""
    weights = [p * (len(ballot) - 1) / (1 - p)] + [1.0] * (len(ballot) - 1)
    left, found = sum(weights), 1.0
    for option in ballot:
        found *= weights[option] / left
        left -= weights[option]
    return found


def by_hand(members, m, rule, ties):
    ballots = list(itertools.permutations(range(m)))
    chances = [[chance_of(ballot, p) for ballot in ballots] for p in members]
    found = []
    for profile in itertools.product(range(len(ballots)), repeat=len(members)):
        won = winners([ballots[one] for one in profile], rule)
        if 0 in won and (ties == "coin" or len(won) == 1):
            chance = math.prod(of[one] for of, one in zip(chances, profile, strict=True))
            found.append(chance / len(won))
    return math.fsum(found)


@pytest.mark.parametrize("ties", ["coin", "fail"])
@pytest.mark.parametrize("rule", RANKED_RULES)
@pytest.mark.parametrize(("members", "m"), [
    ([0.4], 4), ([0.2, 0.9], 4), ([0.55, 0.3], 3), ([0.6, 0.5, 0.3], 3), ([0.1, 0.2, 0.7, 0.8], 3),
    ([0.6, 0.7, 0.8, 0.55], 2),
])  # fmt: skip
def test_the_accuracy_is_that_of_all_ballots(members, m, rule, ties):
    found = ranked_accuracy(members, m, rule, ties)
    assert found.accuracy == pytest.approx(by_hand(members, m, rule, ties), abs=1e-12)
    assert found.stderr == 0


@pytest.mark.slow
@pytest.mark.parametrize("rule", RANKED_RULES)
def test_of_four_options_too(rule):
    members = [0.3, 0.45, 0.6, 0.25]
    found = ranked_accuracy(members, 4, rule)
    assert found.accuracy == pytest.approx(by_hand(members, 4, rule, "coin"), abs=1e-12)


@pytest.mark.parametrize("rule", RANKED_RULES)
def test_two_options_are_a_majority_and_one_member_is_itself(rule):
    from allminds.voting import majority_accuracy

    members = [0.6, 0.7, 0.55, 0.9]
    assert ranked_accuracy(members, 2, rule).accuracy == pytest.approx(majority_accuracy(members))
    assert ranked_accuracy([0.37], 4, rule).accuracy == pytest.approx(0.37)


@pytest.mark.parametrize("rule", RANKED_RULES)
def test_who_is_always_right_or_never(rule):
    assert ranked_accuracy([1.0, 1.0, 1.0], 4, rule).accuracy == 1
    assert ranked_accuracy([0.0, 0.0, 0.0], 4, rule).accuracy == 0
    assert ranked_accuracy([0.25] * 5, 4, rule).accuracy == pytest.approx(0.25)  # by chance


def test_nine_members_and_four_options_are_exact():
    for rule in RANKED_RULES:
        assert ranked_accuracy([0.4] * 9, 4, rule).stderr == 0


@pytest.mark.parametrize("rule", RANKED_RULES)
def test_a_sample_agrees_with_what_is_exact(rule, monkeypatch):
    from allminds.voting import ranked

    members = [0.3, 0.5, 0.45, 0.6, 0.2]
    exact = ranked_accuracy(members, 4, rule).accuracy
    monkeypatch.setattr(ranked, "STATES", 1)
    found = ranked_accuracy(members, 4, rule, random=Random(3))
    assert 0 < found.stderr < 0.002
    assert abs(found.accuracy - exact) < 4.5 * found.stderr  # wrong in 1 of 150,000 rules
    assert found == ranked_accuracy(members, 4, rule, random=Random(3))


def test_large_groups_need_a_generator_and_too_large_ones_are_refused():
    with pytest.raises(Error, match="give a generator"):
        ranked_accuracy([0.5] * 30, 5, "copeland")
    with pytest.raises(Error, match="too large to sample"):
        ranked_accuracy([0.5] * 1000, 500, "maximin", random=Random(1))


@pytest.mark.parametrize("rule", RANKED_RULES)
def test_the_vote_elects_whom_the_definition_elects(rule):
    draw = Random(8)
    for _ in range(200):
        ballots = [draw.permutation(4) for _ in range(1 + draw.below(5))]
        assert ranked_vote(ballots, Random(draw.word()), rule) in winners(ballots, rule)
    tied = [[0, 1, 2], [2, 1, 0]]
    won = {ranked_vote(tied, Random(seed), "harmonic") for seed in range(40)}
    assert won == set(winners(tied, "harmonic")) == {0, 2}


def test_the_vote_wants_whole_rankings():
    with pytest.raises(Error, match="ballot 2 ranks"):
        ranked_vote(["abc", "ab"], Random(1))
    with pytest.raises(Error, match="ballot 1 ranks"):
        ranked_vote(["aab", "abc"], Random(1))
    with pytest.raises(Error, match="did you mean 'borda'"):
        ranked_vote(["ab"], Random(1), "bordas")
    assert ranked_vote([None, None], Random(1)) is None
    assert ranked_vote([None, "ba"], Random(1)) == "b"


@pytest.mark.parametrize("ties", ["coin", "fail"])
@pytest.mark.parametrize("rule", RANKED_RULES)
def test_the_bounds_are_those_of_a_program_over_all_ballots(rule, ties):
    """One unknown for each set of ballots, as the definition has it, for three of three options."""
    members, m = [0.5, 0.35, 0.7], 3
    ballots = list(itertools.permutations(range(m)))
    profiles = list(itertools.product(ballots, repeat=len(members)))
    value = []
    for profile in profiles:
        won = winners(profile, rule)
        value.append((0 in won) * (1 / len(won) if ties == "coin" else len(won) == 1))
    right = np.array([[ballot[0] == 0 for ballot in profile] for profile in profiles], float).T
    known = {"A_eq": np.vstack([np.ones(len(profiles)), right]), "b_eq": [1.0, *members]}
    found = ranked_bounds(members, m, rule, ties)
    assert found.low == pytest.approx(linprog(value, **known).fun, abs=1e-9)
    assert found.high == pytest.approx(-linprog(-np.array(value, float), **known).fun, abs=1e-9)


def test_bounds_hold_the_model_and_are_bounded_in_size():
    for rule in RANKED_RULES:
        low, high = ranked_bounds([0.6, 0.5, 0.4], 4, rule)
        assert low <= ranked_accuracy([0.6, 0.5, 0.4], 4, rule).accuracy <= high
    with pytest.raises(Error, match="too many ballots"):
        ranked_bounds([0.6] * 4, 4)
    assert ranked_bounds([0.6] * 3, 2) == pytest.approx(plurality_bounds([0.6] * 3, 2))


def test_the_command_line():
    done = allminds("vote", 0.4, 0.5, 0.6, "--rule", "borda", "--options", 4)
    assert done.returncode == 0, done.stderr
    assert "Plackett" in done.stdout
    assert "any rankings" in done.stdout
    done = allminds("vote", *[0.5] * 20, "--rule", "copeland", "--options", 5)
    assert "standard error, sampled" in done.stdout
    for words in (
        ["--rule", "bordas"], ["--rule", "borda", "--correlation", 0.2],
        ["--rule", "maximin", "--weights", "1,2"], ["--rule", "copeland", "--options", 10**6],
    ):  # fmt: skip
        done = allminds("vote", 0.4, 0.5, *words)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
