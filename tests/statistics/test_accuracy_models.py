"""The rival curves: recovered from simulated minds, and the right one wins held-out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import expit

from allminds import Error
from allminds.statistics.accuracy import (
    CURVES,
    Counts,
    accuracy,
    compare,
    fit_curve,
    maximum_likelihood,
)
from allminds.statistics.accuracy.models import Likelihood, Parameters

ITEMS = np.repeat(np.arange(5.0, 17.0), 3)


def minds(count, seed=0):
    return np.exp(np.random.default_rng(seed).normal(np.log(10), 0.3, size=count))[:, None]


def answers(p, trials=1, seed=1, chance=1 / 26):
    hits = np.random.default_rng(seed).binomial(trials, p)
    return Counts.of(ITEMS, hits, trials, chance=chance)


def logistic(where, slope, floor=1 / 26):
    return floor + (1 - floor) * expit(slope * (where - ITEMS))


@pytest.mark.parametrize("name", CURVES)
def test_the_derivatives_are_those_of_the_likelihood(name):
    counts = answers(accuracy(ITEMS, minds(3), options=26, beta=2), trials=4)
    likelihood = Likelihood(CURVES[name], counts, (ITEMS - 10) / 4)
    start = likelihood.pack(np.array([0.3, -0.4, 0.1]), np.array([1.3, 1.3, 1.3]), 0.1)

    def point(flat):
        own = start.own.size
        return Parameters(flat[:own].reshape(start.own.shape), flat[own:])

    def slope(flat):
        found = likelihood.slopes(point(flat))
        return np.concatenate([found.own.ravel(), found.shared])

    flat = np.concatenate([start.own.ravel(), start.shared])
    off = check_grad(lambda p: likelihood.at(point(p)), slope, flat)
    assert off < 1e-4 * np.linalg.norm(slope(flat))


def test_eq_1_fitted_here_is_the_maximum_likelihood_ability():
    counts = answers(accuracy(ITEMS, minds(6), options=26))
    expected = [one.alpha for one in maximum_likelihood(counts)]
    assert fit_curve(counts, "E1").abilities == pytest.approx(expected, rel=1e-4)


def test_plentiful_data_give_every_curve_s_parameters_back():
    alphas = minds(4)
    found = fit_curve(answers(accuracy(ITEMS, alphas, options=26, beta=3.5), 3000), "E2")
    assert found.beta == pytest.approx(3.5, rel=0.02)
    assert found.abilities == pytest.approx(alphas[:, 0], rel=0.02)
    assert found.dispersion == pytest.approx(1, abs=0.3)
    slopes = np.array([[0.4], [0.8], [1.6], [0.6]])
    own = fit_curve(answers(logistic(alphas, slopes), 3000), "logistic own slope")
    assert own.slopes / own.unit == pytest.approx(slopes[:, 0], rel=0.05)
    free = fit_curve(answers(logistic(alphas, 0.8, floor=0.15), 3000), "logistic free floor")
    assert free.floor == pytest.approx(0.15, abs=0.01)
    assert free.abilities is None


def test_a_fit_says_what_the_curve_says():
    counts = answers(accuracy(ITEMS, minds(3), options=26), 5)
    found = fit_curve(counts, "E2")
    expected = accuracy([3.0, 9.0], found.abilities[:, None], options=26, beta=found.beta)
    assert found.accuracy([3.0, 9.0]) == pytest.approx(expected)
    assert found.seen_from(30.0).accuracy([3.0, 9.0]) == pytest.approx(expected)
    rates = fit_curve(counts, "constant").accuracy(50.0)[:, 0]
    assert rates == pytest.approx(counts.hits.sum(axis=1) / counts.trials.sum(axis=1))


def test_minds_always_right_or_never_right_do_not_upset_the_others():
    usual = accuracy(ITEMS, minds(5), options=26, beta=3)
    hits = np.random.default_rng(2).binomial(1, usual)
    with_extremes = np.vstack([hits, np.ones(len(ITEMS)), np.zeros(len(ITEMS))])
    for name in CURVES:
        found = fit_curve(Counts.of(ITEMS, with_extremes, options=26), name)
        assert np.isfinite(found.log_likelihood)
        assert (found.accuracy(ITEMS)[5] > 0.95).all()
        assert (found.accuracy(ITEMS)[6] < 0.08).all()
    alone = fit_curve(Counts.of(ITEMS, hits, options=26), "E1").abilities
    together = fit_curve(Counts.of(ITEMS, with_extremes, options=26), "E1").abilities
    assert together[:5] == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "p"),
    [
        ("E1", accuracy(ITEMS, minds(12), options=26)),
        ("E2", accuracy(ITEMS, minds(12), options=26, beta=3.5)),
        ("logistic own slope", logistic(minds(12), np.geomspace(0.2, 3, 12)[:, None])),
        ("constant", np.broadcast_to(np.linspace(0.2, 0.8, 12)[:, None], (12, len(ITEMS)))),
    ],
)
def test_the_curve_that_made_the_answers_wins(name, p):
    found = compare(answers(p, 30), folds=4)
    assert found.winner("items") == name
    best = next(row for row in found.rows if row.wins and row.scheme == "items")
    assert best.predicted == pytest.approx(best.observed, abs=0.02)


def test_the_table_is_tidy_and_names_one_winner_for_each_scheme():
    found = compare(answers(accuracy(ITEMS, minds(3), options=26)), ["E1", "E2"], folds=3)
    table = found.table()
    assert len(table) == 4
    assert table.groupby("scheme")["wins"].sum().tolist() == [1, 1]
    assert (table.loc[table["wins"], "behind"] == 0).all()
    assert (
        found.rows
        == compare(answers(accuracy(ITEMS, minds(3), options=26)), ["E1", "E2"], folds=3).rows
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda counts: fit_curve(counts, "logistik"), "did you mean 'logistic'"),
        (lambda counts: compare(counts, upper_from=99), "move upper_from"),
        (lambda counts: compare(counts, folds=1), "two or more"),
        (lambda counts: compare(counts.items(ITEMS < 7)), "three or more"),
        (lambda counts: fit_curve(counts, "E1").accuracy(0), "above 0"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(wrong, says):
    counts = answers(accuracy(ITEMS, minds(2), options=26))
    with pytest.raises(Error, match=says):
        wrong(counts)
