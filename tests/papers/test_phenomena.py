"""Each phenomenon appears where it must, and only there; oracles written from the definitions."""

from __future__ import annotations

import math
from itertools import product

import pytest

from allminds.papers.phenomena import CHANCE_OF_BLACK, MEMBERS, crowd_gain, herding, phenomena


def against_own_ball(balls):
    """Let members answer in turn, as most answers before them and their own ball say."""
    answers = []
    for own in balls:
        lead = sum(2 * one - 1 for one in answers) + (2 * own - 1)
        answers.append(own if lead == 0 else int(lead > 0))
    return sum(a != b for a, b in zip(answers, balls, strict=True)) / len(balls)


def test_the_share_that_follows_the_herd_is_that_of_a_second_program():
    expected = math.fsum(
        math.prod(CHANCE_OF_BLACK if ball else 1 - CHANCE_OF_BLACK for ball in balls)
        * against_own_ball(balls)
        for balls in product((0, 1), repeat=MEMBERS)
    )
    assert herding(False) == pytest.approx(expected, abs=1e-12)


def test_the_gain_of_a_crowd_is_that_of_the_binomial():
    right = math.fsum(
        math.comb(MEMBERS, k) * CHANCE_OF_BLACK**k * (1 - CHANCE_OF_BLACK) ** (MEMBERS - k)
        for k in range(MEMBERS // 2 + 1, MEMBERS + 1)
    )
    assert crowd_gain(False) == pytest.approx(right - CHANCE_OF_BLACK, abs=1e-12)


def test_every_phenomenon_appears_where_it_must_and_not_where_it_must_not():
    table = phenomena().table
    assert (table["appears"] == table["must appear"]).all()
    assert sorted(table["phenomenon"].unique()) == [
        "herding", "pluralistic ignorance", "tragedy of the commons", "wisdom of the crowd",
    ]  # fmt: skip
