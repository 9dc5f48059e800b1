"""What an item tells, and asking the one that tells most."""

from __future__ import annotations

import numpy as np
import pytest

from allminds import Error
from allminds.statistics.accuracy import (
    AdaptiveTest,
    accuracy,
    administer,
    item_information,
    most_informative_ratio,
)

BANK = np.repeat(np.arange(1.0, 41.0), 8)
FORM = np.tile(np.arange(7.0, 15.0), 60)  # a fixed form cycles through the C-test's levels


@pytest.mark.parametrize(
    ("m", "ratio"), [(2, 0.797), (3, 0.891), (4, 0.958), (5, 1.010), (8, 1.117), (26, 1.347)]
)
def test_the_best_item_is_where_theory_puts_it(m, ratio):
    assert most_informative_ratio(options=m) == pytest.approx(ratio, abs=0.0006)
    grid = np.linspace(0.1, 3, 2901)
    told = item_information(grid * 10, 10, options=m)
    assert grid[np.argmax(told)] == pytest.approx(ratio, abs=0.001)


@pytest.mark.parametrize("beta", [1.0, 3.5])
def test_information_is_the_expected_square_of_the_score(beta):
    d, step = np.linspace(0.5, 40, 50), 1e-5
    around = [accuracy(d, 10 * np.exp(h), options=5, beta=beta) for h in (-step, 0, step)]
    slope = (around[2] - around[0]) / (2 * step)
    p = around[1]
    told = item_information(d, 10, options=5, beta=beta)
    assert told == pytest.approx(slope**2 / (p * (1 - p)), rel=1e-4, abs=1e-9)


def test_items_far_too_easy_or_hard_tell_nothing():
    for c in (0, 0.2):
        assert item_information([0, 1e-9, 1e6, np.inf], 10, chance=c) == pytest.approx(0, abs=1e-9)
    with pytest.raises(Error, match="tells nothing"):
        item_information(5, 5, options=1)


def sit(alpha, rng, bank=BANK, **settings):
    """A simulated mind takes the test."""
    return take(AdaptiveTest.begin(bank, options=26, **settings), alpha, rng)


def take(test, alpha, rng):
    p = accuracy(test.bank, alpha, options=26)
    return administer(test, lambda item: bool(rng.random() < p[item]))


def test_it_begins_with_the_prior_and_asks_the_item_of_most_expected_information():
    test = AdaptiveTest.begin(BANK, options=26)
    assert test.alpha == pytest.approx(10)
    assert test.stderr == pytest.approx(1, abs=1e-3)
    low, high = test.interval()
    assert np.log([low, high]) == pytest.approx(np.log(10) + np.array([-1.96, 1.96]), abs=0.01)
    draws = np.exp(np.random.default_rng(0).normal(np.log(10), 1, 20_000))
    expected = [item_information(d, draws, options=26).mean() for d in np.unique(BANK)]
    assert BANK[test.next_item()] == pytest.approx(np.unique(BANK)[np.argmax(expected)], abs=1)


def test_the_posterior_is_bayes_rule_and_does_not_depend_on_the_order():
    one = AdaptiveTest.begin(BANK, options=26).answered(40, True).answered(120, False)
    other = AdaptiveTest.begin(BANK, options=26).answered(120, False).answered(40, True)
    assert one.posterior == pytest.approx(other.posterior)
    grid = np.exp(np.linspace(np.log(10) - 6, np.log(10) + 6, 601))
    p, q = accuracy(BANK[40], grid, options=26), accuracy(BANK[120], grid, options=26)
    weight = np.exp(-0.5 * (np.log(grid) - np.log(10)) ** 2) * p * (1 - q)
    assert one.log_alpha == pytest.approx(float(weight @ np.log(grid) / weight.sum()))


def test_right_answers_raise_the_estimate_and_the_next_difficulty():
    test = AdaptiveTest.begin(BANK, options=26)
    first = test.next_item()
    up, down = test.answered(first, True), test.answered(first, False)
    assert down.alpha < test.alpha < up.alpha
    assert BANK[down.next_item()] < BANK[up.next_item()]
    assert test.asked == ()  # the test before an answer is untouched
    with pytest.raises(Error, match="asked before"):
        up.answered(first, True)


def test_the_same_answers_make_the_same_test():
    one, other = (sit(12.0, np.random.default_rng(5)) for _ in range(2))
    assert one.asked == other.asked
    assert one.alpha == other.alpha


@pytest.mark.parametrize("alpha", [3.0, 25.0])
def test_it_needs_fewer_items_than_a_fixed_form_for_the_same_error(alpha):
    rng = np.random.default_rng(7)
    test, form = (AdaptiveTest.begin(bank, options=26, most_items=500) for bank in (BANK, FORM))
    sat = [take(test, alpha, rng) for _ in range(30)]
    asked = float(np.mean([len(test.asked) for test in sat]))
    assert all(test.ended == "precise enough" for test in sat)

    def fixed():
        test = form
        for item, hit in enumerate(rng.random(len(FORM)) < accuracy(FORM, alpha, options=26)):
            if test.ended:
                break
            test = test.answered(item, bool(hit))
        return len(test.asked)

    assert asked < 0.8 * np.mean([fixed() for _ in range(30)])


def test_intervals_cover_minds_drawn_from_the_prior():
    """200 minds: 95 % is then known to ± .015 (one standard error)."""
    rng = np.random.default_rng(11)
    alphas = np.exp(rng.normal(np.log(10), 1, 200))
    test = AdaptiveTest.begin(np.repeat(np.geomspace(0.5, 150, 30), 8), options=26)
    sat = [take(test, alpha, rng) for alpha in alphas]
    inside = [t.interval()[0] <= a <= t.interval()[1] for t, a in zip(sat, alphas, strict=True)]
    assert abs(np.mean(inside) - 0.95) < 0.045
    errors = np.array([test.log_alpha for test in sat]) - np.log(alphas)
    assert np.sqrt((errors**2).mean()) == pytest.approx(0.25, abs=0.04)


def test_it_says_off_target_where_the_bank_cannot_reach():
    rng = np.random.default_rng(3)
    narrow = np.repeat(np.arange(7.0, 15.0), 10)
    assert sit(500.0, rng, narrow).off_target == "bank too easy"
    assert sit(0.5, rng, narrow).off_target == "bank too hard"
    on = sit(9.0, rng, narrow)
    assert on.off_target == ""
    assert on.verdict == "precise enough"
    assert "off target (bank too easy)" in sit(500.0, rng, narrow).verdict


def test_it_ends_after_the_items_allowed_or_with_the_bank():
    rng = np.random.default_rng(1)
    assert sit(10.0, rng, most_items=5).ended == "5 items asked"
    assert sit(10.0, rng, BANK[:8]).ended == "bank used up"
    assert len(sit(0.1, rng).asked) == 60


@pytest.mark.parametrize("bank", [[], [0, 1], [-1], [np.inf]])
def test_a_bank_must_have_difficulties(bank):
    with pytest.raises(Error, match="bank"):
        AdaptiveTest.begin(bank, options=26)
    with pytest.raises(Error, match="one option"):
        AdaptiveTest.begin([5], options=1)
