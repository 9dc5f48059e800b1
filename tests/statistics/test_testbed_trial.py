"""Υ̂ with both estimators, test error and reliability, weights and what is wrong with them."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from test_testbed_exact import dilemma, instrument, pennies

from allminds import registry
from allminds.core.errors import Error
from allminds.statistics.testbed import (
    Draws,
    InstrumentGame,
    Payoffs,
    Sampling,
    Testbed,
    Weights,
    drawn_scores,
    error_of_tests,
    estimate,
    generality,
    literal_limit,
    repeated_tests,
    specificity,
    upsilon,
)
from allminds.statistics.testbed.trial import Reliance, TestError

UNEQUAL = Weights(minds=[0.6, 0.3, 0.1])


# ---------------------------------------------------------------- estimators


def test_hajek_covers_upsilon_as_its_error_says():
    """300 tests of 120 exercises, drawn uniformly for weights .6 .3 .1: 95 % within 4 errors."""
    bed, uniform = Testbed([dilemma()], UNEQUAL), Sampling(minds=[1 / 3] * 3)
    tests = [estimate(bed, 120, uniform, seed) for seed in range(300)]
    covered = np.mean([one.ci95[0] <= 0.011 <= one.ci95[1] for one in tests])
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 300)
    errors = [one.hajek - 0.011 for one in tests]
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(300) + 2 / 120
    assert np.mean([one.stderr for one in tests]) == pytest.approx(np.std(errors), rel=0.15)


def test_hajeks_error_falls_with_the_root_of_exercises():
    bed, uniform = Testbed([dilemma()], UNEQUAL), Sampling(minds=[1 / 3] * 3)
    few, many = (
        np.mean([estimate(bed, n, uniform, s).stderr for s in range(20)]) for n in (100, 900)
    )
    assert few / many == pytest.approx(3, rel=0.1)


def test_literal_goes_elsewhere_when_drawn_by_the_weights():
    """SOCIAL §3: Υ = 11/1000, the literal limit 2123/21160."""
    bed = Testbed([dilemma()], UNEQUAL)
    assert literal_limit(Draws(bed), bed) == pytest.approx(2123 / 21160, abs=1e-12)
    found = estimate(bed, 20_000)
    assert abs(found.hajek - 0.011) < 4 * found.stderr
    assert abs(found.literal - 2123 / 21160) < 0.02
    uniform = Sampling(minds=[1 / 3] * 3)
    assert literal_limit(Draws(bed, uniform), bed) == pytest.approx(0.011, abs=1e-12)


def test_all_distributions_are_used():
    """Two environments, unequal slots: drawn by p, weighed by w."""
    other = Payoffs("other", ["C", "D", "random"], [[0], [1]], np.full((3, 3, 2), 0.5))
    bed = Testbed(
        [dilemma(), other],
        Weights(environments=[0.3, 0.7], slots=[[0.9, 0.1], [0.5, 0.5]], minds=[0.2, 0.2, 0.6]),
    )
    p = Sampling([0.8, 0.2], [[0.2, 0.8], [0.5, 0.5]], [0.4, 0.4, 0.2])
    drawn = [Draws(bed, p).draw(3, e) for e in range(4000)]
    assert np.mean([d.environment == 0 for d in drawn]) == pytest.approx(0.8, abs=0.03)
    assert np.mean([d.slot for d in drawn if d.environment == 0]) == pytest.approx(0.8, abs=0.04)
    assert np.mean([d.line_up[0] == 2 for d in drawn]) == pytest.approx(0.2, abs=0.03)
    # Σ w/p over draws estimates the sum of all weights
    assert np.mean([d.weight / d.chance for d in drawn]) == pytest.approx(1, abs=0.1)
    found = estimate(bed, 4000, p)
    assert abs(found.hajek - upsilon(bed).upsilon) < 4 * found.stderr
    one = estimate(bed, 4000, p, mind=1)
    assert abs(one.hajek - upsilon(bed).minds[1]) < 4 * one.stderr


def test_an_exercise_depends_on_seed_and_number_alone():
    draws = Draws(Testbed([dilemma()], UNEQUAL))
    assert draws.draw(5, 9) == draws.draw(5, 9)
    assert len({draws.draw(5, e).line_up for e in range(60)}) > 4
    mine, theirs = draws.draw(5, 9, mind=0), draws.draw(5, 9, mind=2)
    assert mine.slot == theirs.slot
    assert mine.line_up[1 - mine.slot] == theirs.line_up[1 - mine.slot]


def test_a_test_that_breaks_off_is_biased():
    """p_K: tit-for-tat's first step is that of a cooperator."""
    minds = ["cooperate", "defect", "tit-for-tat"]
    bed, once = (Testbed([instrument("prisoners-dilemma", k, minds)]) for k in (6, 1))
    found = estimate(bed, 900, Sampling(steps={1: 1.0}), mind=2)
    assert abs(found.hajek - upsilon(once).minds[2]) < 4 * found.stderr
    assert abs(found.hajek - upsilon(bed).minds[2]) > 4 * found.stderr
    assert found.steps == 900
    both = estimate(bed, 200, Sampling(steps={1: 0.5, 6: 0.5}))
    assert 200 < both.steps < 1200


# ---------------------------------------------------------------- test error, reliability


REALISED = {  # one exercise, one realised step: what a mind may get, each as likely
    "C": (-0.4, [0.2, 0.2, -1, -1], 0.36),
    "D": (0.2, [1, 1, -0.6, -0.6], 0.64),
    "random": (-0.1, [0.2, -1, 1, -0.6], 0.59),
}


@pytest.mark.parametrize("mind", REALISED)
def test_error_of_one_realised_step(mind):
    """SOCIAL §3, the last line."""
    truth, got, error = REALISED[mind]
    found = error_of_tests(got, truth)
    assert found.total == pytest.approx(error)
    assert found.bias == pytest.approx(0, abs=1e-12)
    assert found.rel == pytest.approx(math.exp(-error))
    assert found.stderr == pytest.approx(math.sqrt(error))


def test_error_is_bias_squared_and_variance():
    values, p = [0.3, -0.2, 0.9], [0.5, 0.25, 0.25]
    found = error_of_tests(values, 0.1, p)
    direct = sum(q * (v - 0.1) ** 2 for v, q in zip(values, p, strict=True))
    assert found.total == pytest.approx(direct)
    assert found.bias == pytest.approx(0.225)


def test_figures_of_the_one_shot_dilemma():
    """STATISTICS: Rel(1) = .589, 11 exercises for .95, where Eρ² is .55; 80 for Eρ² = .9."""
    errors = tuple(TestError(0.0, te) for te in (0.36, 0.64, 0.59))
    spread = float(np.var([-0.4, 0.2, -0.1]))
    one = Reliance((0, 1, 2), 1, 10**9, errors, spread, None, steps=1.0, seconds=0.5)
    assert one.rel == pytest.approx(0.589, abs=5e-4)
    assert one.budget("rel", 0.95) == 11
    assert one.budget("generalisability", 0.9) == 80
    eleven = tuple(TestError(0.0, te / 11) for te in (0.36, 0.64, 0.59))
    longer = Reliance((0, 1, 2), 11, 10**9, eleven, spread, None, steps=11.0, seconds=5.5)
    assert longer.rel > 0.95
    assert longer.generalisability == pytest.approx(0.55, abs=5e-3)
    assert longer.budget("generalisability", 0.9) == 80
    assert one.efficiency() == pytest.approx((one.rel / 0.5, one.rel))
    with pytest.raises(Error, match="rel or generalisability"):
        one.budget("beauty", 0.9)


def test_repeated_tests_find_the_error_of_the_dilemma():
    game = instrument("prisoners-dilemma", 1, ["cooperate", "defect", "random"])
    bed = Testbed([game])
    found = repeated_tests(bed, upsilon(bed).minds, [0, 1, 2], tests=400)
    for error, wanted in zip(found.errors, (0.36, 0.64, 0.59), strict=True):
        assert error.total == pytest.approx(wanted, abs=0.12)  # 4 errors of a mean of squares
    assert found.rel == pytest.approx(math.exp(-0.53), abs=0.06)
    assert found.spread == pytest.approx(0.06)
    assert found.steps == 1
    assert found.generalisability < found.generalisability_in_common
    longer = repeated_tests(bed, upsilon(bed).minds, [0, 1, 2], tests=80, exercises=10)
    assert longer.total_error == pytest.approx(0.053, abs=0.02)


# ---------------------------------------------------------------- many minds


class Crowd(Payoffs):
    """Many minds in three slots: a mind gets its own worth less half of what the others have."""

    def __init__(self, minds):
        self.name, self.minds = "crowd", tuple(f"m{n}" for n in range(minds))
        self.teams, self.random = ((0,), (1,), (2,)), None
        self.worth = [(37 * n % 101) / 101 - 0.5 for n in range(minds)]

    def outcome(self, line_up):
        worth = [self.worth[n] for n in line_up]
        total = sum(worth)
        self.rewards = {line_up: np.array([w - (total - w) / 4 for w in worth])}
        return super().outcome(line_up)


def test_scores_of_a_thousand_minds_from_line_ups_that_are_drawn():
    game = Crowd(1000)
    bed = Testbed([game])
    found = drawn_scores(bed, 12_000)
    mean = np.mean(game.worth)
    truth = np.array(game.worth) - mean / 2
    assert found.met.sum() == 36_000
    covered = np.mean((found.low <= truth) & (truth <= found.high))
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1000)
    assert np.corrcoef(found.values, truth)[0, 1] > 0.98
    assert abs(estimate(bed, 2000).hajek - mean / 2) < 0.02


def test_a_billion_line_ups_are_never_held():
    bed = Testbed([Crowd(1000)])
    tracemalloc.start()
    drawn_scores(bed, 300)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5e6


# ---------------------------------------------------------------- validity


def test_generality_and_falls():
    alike = np.array([[0.1, 0.2], [0.3, 0.5], [0.9, 0.8]])
    assert generality(alike).correlation == pytest.approx(1)
    assert generality(alike).fall == pytest.approx(0)
    opposed = np.array([[0.1, 0.9], [0.3, 0.5], [0.9, 0.2]])
    found = generality(opposed)
    assert found.correlation == pytest.approx(-1)
    assert found.fall == pytest.approx(((0.9 - 0.2) + (0.9 - 0.1)) / 2)
    assert generality(alike[:, :1]).correlation is None
    three = np.column_stack([alike, opposed[:, 1]])
    assert generality(three, [0.5, 0.5, 0.0]).correlation == pytest.approx(1)


def test_specificity_needs_twenty_minds():
    rng = np.random.default_rng(1)
    alone = rng.normal(size=200)
    assert specificity(alone[:19], alone[:19]).value is None
    assert specificity(2 * alone + 1, alone).value == pytest.approx(0)
    found = specificity(alone + rng.normal(size=200), alone)  # half of it
    assert found.ci95[0] < 0.5 < found.ci95[1]
    assert specificity(np.ones(30), alone[:30]).reason
    with pytest.raises(Error, match="one of each"):
        specificity(alone, alone[:5])


# ---------------------------------------------------------------- what is wrong

WRONG = [
    (lambda: Testbed([dilemma()], Weights(minds=[0.5, 0.3, 0.1])), "sum to 0.9, not to 1"),
    (lambda: Testbed([dilemma()], Weights(slots=[[0.5, 0.6]])), "sum to 1.1, not to c_S = 1"),
    (lambda: Testbed([dilemma()], Weights(environments=[0.5])), "sum to 0.5, not to c_M = 1"),
    (lambda: Testbed([dilemma()], Weights(environments=[1], c_m=2)), "not to c_M = 2"),
    (lambda: Testbed([dilemma()], Weights(line_ups=lambda _: 0.1)), "sums to 0.9, not to c_L = 1"),
    (lambda: Testbed([dilemma()], Weights(line_ups=lambda _: -1.0)), "0 or more"),
    (lambda: Testbed([dilemma()], Weights(minds=[1.5, -0.5, 0])), "0 or more"),
    (lambda: Testbed([dilemma()], Weights(minds=[0.5, 0.5])), "2 weights for 3"),
    (lambda: Testbed([dilemma()], Weights(slots=[[1.0], [1.0]])), "2 lists"),
    (lambda: Testbed([dilemma()], Weights(minds=[1, 0, 0], line_ups=lambda _: 1)), "given twice"),
    (lambda: Testbed([]), "at least one environment"),
    (lambda: Testbed([dilemma(), pennies()]), "one set of minds"),
    (lambda: Draws(Testbed([dilemma()]), Sampling(minds=[0.5, 0.5, 0])), "p of mind random is 0"),
    (lambda: Draws(Testbed([dilemma()]), Sampling(slots=[[1, 0]])), "slot 1 is 0 where its weight"),
    (lambda: Draws(Testbed([dilemma()]), Sampling(minds=[0.5, 0.5, 0.5])), "sum to 1.5"),
    (lambda: Draws(Testbed([dilemma()]), Sampling(steps={0: 1.0})), "0 steps"),
    (lambda: estimate(Testbed([dilemma()]), 0), "1 exercise or more"),
    (lambda: dilemma().outcome((0,)), "a line-up of 1 is too short for dilemma"),
    (lambda: dilemma().outcome((0, 7)), "no mind number 7"),
    (lambda: Payoffs("x", ["a"], [[0], [1]], [[[2.0, 0.0]]]).outcome((0, 0)), "outside [-1, 1]"),
    (lambda: Payoffs("x", ["a"], [[0, 1]], [[[1.0, 0.0]]]).outcome((0, 0)), "are one team"),
    (lambda: Payoffs("x", ["a"], [[0], [2]], [[[1.0, 0.0]]]), "not a partition"),
    (lambda: Payoffs("x", ["a"], [[0], [1]], [1.0]), "shape"),
    (lambda: instrument("prisoners-dilemma", 1, ["rock"]), "is a mind for rock-paper-scissors"),
    (lambda: instrument("prisoners-dilemma", 1, ["nobody"]), "there is no mind 'nobody'"),
    (lambda: Testbed([instrument("stag-hunt", 1, ["stag", "stag"])]), "named twice"),
    (lambda: instrument("stag-hunt", 2, ["stag"]).outcome((0,)), "too short"),
    (lambda: InstrumentGame(registry.make_instrument("lambda-star"), ["crowd"]), "is a group"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_said(make, said):
    with pytest.raises(Error) as raised:
        make()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_longer_line_up_is_cut():
    assert dilemma().outcome((0, 1, 2, 2)).rewards == pytest.approx((-1, 1))


def test_zero_probability_is_fine_where_nothing_weighs():
    bed = Testbed([dilemma()], Weights(minds=[0.5, 0.5, 0.0]))
    found = estimate(bed, 2000, Sampling(minds=[0.2, 0.8, 0.0]))
    assert abs(found.hajek - upsilon(bed).upsilon) < 4 * found.stderr
