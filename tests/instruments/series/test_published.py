"""The published form of the C-test: items, minds, votes, options and scores."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plainly import evaluate

from allminds import registry
from allminds.complexity.levin import rivals
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import Random, key
from allminds.episode import play
from allminds.instruments.series.instrument import five_options
from allminds.instruments.series.items import ABDUCTION, INDUCTION, LETTERS, NO_ANSWER, Item
from allminds.instruments.series.minds import Pattern, distances, next_distance, run_up

# r̃ of P0's minds on the 20 induction items (DEFINITIONS §4).
SCORES = {
    "mode": 0.033, "min-repetition": 0.112, "min-distance": 0.312, "min-distance(by=value)": 0.349,
    "max-distance": 0.228, "max-distance(by=value)": 0.256, "pattern": 0.442, "pattern(y=2)": 0.535,
    "pattern(y=3)": 0.563, "pattern(y=4)": 0.637, "pattern(y=5)": 0.042, "pattern(y=6)": 0.144,
}  # fmt: skip


def test_our_copy_of_the_items_is_the_file(reference):
    with open(reference / "ctest_items.csv", newline="") as file:
        stored = [
            (
                row["form"], int(row["number"]),
                row["series"] if "_" in row["series"] else row["series"] + "_",
                row["answer"], int(row["k"]), float(row["students_hit_rate"]),
            )
            for row in csv.DictReader(file)
        ]  # fmt: skip
    assert [tuple(item[:6]) for item in INDUCTION + ABDUCTION] == stored


@pytest.mark.slow
def test_the_rivals_noted_are_those_that_a_search_finds():
    for item in INDUCTION + ABDUCTION:
        if item.k <= 12 and item.shown[0] != "_":
            found = [one.letter for one in rivals(item.shown, delta=2.0)]
            assert found == [item.answer, *item.rivals]


def test_the_minds_of_the_paper_score_as_listed():
    found = evaluate("c-test", list(SCORES), episodes=20)["results"]
    for row in found:
        assert row["score"] == pytest.approx(SCORES[row["mind"]], abs=0.0005), row["mind"]


def test_a_random_mind_hits_one_in_twenty_six_and_one_in_five():
    """20,000 answers: 4 standard errors of a share; hits are counted by the mean of the points."""
    free, five = (
        evaluate("c-test", ["random"], episodes=20_000, settings={"task": "both", "options": n})
        for n in (26, 5)
    )
    assert abs(free["results"][0]["score"] - 1 / 26) < 4 * 0.0015
    assert abs(five["results"][0]["score"] - 1 / 5) < 4 * 0.0030
    points = evaluate(
        "c-test", ["random"], episodes=20_000, settings={"options": 5, "scoring": "administered"}
    )["results"][0]
    assert abs(points["score"]) < 4 * points["stderr"]


def test_the_pattern_algorithm_by_hand():
    """abdeg: distances 1 2 1 2; their unique run 1 2 occurs twice, so the next is 1: h."""
    assert distances("abdeg") == [1, 2, 1, 2]
    assert next_distance([1, 2, 1, 2]) == 1
    assert Pattern(1).letter(Item("abdeg_", LETTERS)) == "h"
    assert next_distance([3]) == 3
    assert next_distance([4, 7]) == 4  # P = D(|D| - 1), the last but one
    assert Pattern(9).letter(Item("abc_", LETTERS)) is None


def test_a_missing_letter_is_led_up_to_from_one_side():
    assert run_up(Item("hgf_dcba", LETTERS)) == "hgf"
    assert run_up(Item("_bzayzxy", LETTERS)) == "yxzyazb"
    assert run_up(Item("a_bbccd", LETTERS)) == "dccbb"


def test_points_as_given_to_people():
    tool = registry.make_instrument("c-test", {"options": 5, "scoring": "administered"})
    exercise = tool.exercise(1, 0)
    right = exercise.environment.options.index(exercise.environment.answer)

    def points(action):
        subject = registry.subject(lambda item: action, tool)
        return play(exercise, LineUp.alone(subject, 1)).score[0]

    assert points(right) == 1.0
    assert points((right + 1) % 5) == -0.25
    assert points(NO_ANSWER) == 0.0


@given(st.sampled_from(INDUCTION + ABDUCTION), st.integers(0, 1000))
def test_five_options_are_distinct_and_hold_the_answer(item, seed):
    options = five_options(item.shown, item.answer, "", Random(key(seed, 0, 0)))
    assert len(set(options)) == len(options) == 5
    assert item.answer in options


def test_the_answers_place_among_the_options_is_uniform():
    """Chi-square on 4 degrees of freedom over 5,000 shuffles; above 18.5 in 1 of 1,000."""
    item = INDUCTION[4]
    places = [
        five_options(item.shown, item.answer, "", Random(key(7, i, 0))).index(item.answer)
        for i in range(5_000)
    ]
    counts = [places.count(n) for n in range(5)]
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 18.5


def test_votes_on_the_same_item():
    tool = registry.make_instrument("c-test", {})
    exercise = tool.exercise(1, 3)  # aazzyy_: x

    def answer(name):
        return play(exercise, registry.line_up(name, tool)).actions[0][0]

    letters = {name: LETTERS[answer(name)] for name in ("mode", "max-distance", "pattern(y=2)")}
    assert letters == {"mode": "a", "max-distance": "y", "pattern(y=2)": "x"}
    assert LETTERS[answer("vote(pattern(y=2)*2,mode)")] == "x"
    assert answer("vote(pattern(y=2),mode,max-distance)") == NO_ANSWER
    assert LETTERS[answer("plurality(mode*2,pattern(y=2))")] == "a"
    assert LETTERS[answer("weighted-vote(mode,mode,pattern(y=2),p=0.1/0.1/0.9)")] == "x"


def test_members_that_draw_by_lot_draw_apart():
    tool = registry.make_instrument("c-test", {})
    together = [
        play(tool.exercise(1, i), registry.line_up("vote(random*3)", tool)).actions[0][0]
        for i in range(200)
    ]
    assert together.count(NO_ANSWER) > 150  # three letters by lot seldom agree


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vote", "vote has no members"),
        ("weighted-vote(mode,random,p=0.5)", "p must be 2 numbers in (0, 1)"),
        ("weighted-vote(mode,p=1)", "p must be 1 numbers in (0, 1)"),
        ("pattern(y=0)", "y must be 1 or more"),
        ("min-distance(by=luck)", "by must be frequency or value"),
        ("local-search", "for c-test"),
    ],
)
def test_minds_that_cannot_be(name, said):
    with pytest.raises(Error) as caught:
        registry.line_up(name, registry.make_instrument("c-test", {}))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"options": 7}, "choose 26 for a free answer, or 5"),
        ({"scoring": "administered"}, "needs five options"),
        ({"task": "deduction"}, "task must be"),
        ({"form": "secret"}, "form must be"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(Error) as caught:
        registry.make_instrument("c-test", settings)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_score_and_its_error_by_hand():
    """Two items of k = 7 and one of 10; hits 1, 0 and 1: r̃ = 17/24."""
    tool = registry.make_instrument("c-test", {"task": "both"})
    tally = tool.tally()
    hits = np.array([[1.0], [0.0], [1.0]])
    tally.add(
        Block(
            first=0,
            complexity={"k": np.array([7.0, 7.0, 10.0])},
            score=hits,
            learning=np.full(hits.shape, np.nan),
            status=np.zeros(hits.shape, np.int8),
            steps=np.ones(3, np.int32),
            curve=np.zeros(1),
            actions=np.zeros((0, 1, 1), np.int16),
        )
    )
    found = tally.estimate()
    assert found.score == pytest.approx(17 / 24)
    # k = 10 has one item, which says nothing of its variance, so both strata are one: weights
    # w = k / 24, residuals e = hit - r̃, and the variance is Σ (w e)² / (1 - w).
    weights = np.array([7, 7, 10]) / 24
    pulls = weights * (hits[:, 0] - 17 / 24)
    assert found.stderr == pytest.approx((pulls**2 / (1 - weights)).sum() ** 0.5)
    low, high = found.ci95
    assert 0 <= low < 17 / 24 < high <= 1
