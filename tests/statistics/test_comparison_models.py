"""What scores depend on: against sums of squares by hand, other formulas and simulations."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from allminds.core.errors import Error
from allminds.inference import Rule
from allminds.statistics.comparison import (
    correlations,
    greenhouse_geisser,
    mixed_model,
    plays_by_mind,
    ranks,
    repeated_measures,
    scores_of,
)
from allminds.statistics.comparison.effects import correlate
from allminds.statistics.comparison.ranks import rank_intervals

RNG = np.random.default_rng


def crossed(values, names):
    """A table from values[subject, level of the first factor, …]."""
    places = np.indices(values.shape).reshape(values.ndim, -1)
    frame = pd.DataFrame(dict(zip(names, places, strict=True)))
    return frame.assign(score=values.reshape(-1))


# ---------------------------------------------------------------- analysis of variance


def by_hand(y):
    """F of both factors and of both together for y[subject, a, b], from sums of squares."""
    n, a, b = y.shape
    grand, s = y.mean(), y.mean(axis=(1, 2))
    ma, mb, mab = y.mean(axis=(0, 2)), y.mean(axis=(0, 1)), y.mean(axis=0)
    sa, sb = y.mean(axis=2), y.mean(axis=1)
    ss_a = n * b * ((ma - grand) ** 2).sum()
    ss_b = n * a * ((mb - grand) ** 2).sum()
    ss_ab = n * ((mab - ma[:, None] - mb[None] + grand) ** 2).sum()
    ss_sa = b * ((sa - s[:, None] - ma[None] + grand) ** 2).sum()
    ss_sb = a * ((sb - s[:, None] - mb[None] + grand) ** 2).sum()
    rest = y - sa[:, :, None] - sb[:, None, :] - mab[None] + s[:, None, None]
    ss_sab = ((rest + ma[None, :, None] + mb[None, None, :] - grand) ** 2).sum()
    out = []
    for effect, error, df in (
        (ss_a, ss_sa, a - 1), (ss_b, ss_sb, b - 1), (ss_ab, ss_sab, (a - 1) * (b - 1)),
    ):  # fmt: skip
        f = (effect / df) / (error / (df * (n - 1)))
        out.append(
            (f, df, df * (n - 1), stats.f.sf(f, df, df * (n - 1)), effect / (effect + error))
        )
    return out


def epsilon_by_box(levels):
    """Greenhouse and Geisser's ε from a table [subject, level], by Box's formula."""
    s = np.cov(levels, rowvar=False)
    k = len(s)
    top = k**2 * (np.trace(s) / k - s.mean()) ** 2
    squares = (s**2).sum() - 2 * k * (s.mean(axis=1) ** 2).sum() + k**2 * s.mean() ** 2
    return top / ((k - 1) * squares)


@pytest.mark.parametrize("shape", [(20, 2, 7), (5, 3, 4), (9, 2, 2)])
def test_anova_agrees_with_sums_of_squares_by_hand(shape):
    y = RNG(1).normal(size=shape).cumsum(axis=2) + np.arange(shape[1])[None, :, None]
    found = repeated_measures(crossed(y, ["test", "agent", "cells"]), "test", ["agent", "cells"])
    for one, expected in zip(found.effects, by_hand(y), strict=True):
        assert (one.f, *one.freedom, one.p, one.eta) == pytest.approx(expected, abs=1e-6)


def test_epsilon_agrees_with_boxs_formula():
    y = RNG(2).normal(size=(12, 2, 5)).cumsum(axis=2)
    assert greenhouse_geisser(y, [0]) == pytest.approx(1, abs=1e-12)
    assert greenhouse_geisser(y, [1]) == pytest.approx(epsilon_by_box(y.mean(axis=1)), abs=1e-10)
    # With two levels of one factor, the interaction is the other's effect on the difference.
    both = epsilon_by_box(y[:, 0] - y[:, 1])
    assert greenhouse_geisser(y, [0, 1]) == pytest.approx(both, abs=1e-10)
    assert 0.25 <= greenhouse_geisser(y, [1]) <= 1


@pytest.mark.slow
def test_correction_holds_the_level_where_the_plain_test_does_not():
    """A random walk over six levels, no effect, 300 studies: p < .05 in 5 of 100."""
    rng, plain, corrected = RNG(3), [], []
    for _ in range(300):
        y = rng.normal(size=(15, 6)).cumsum(axis=1)
        [one] = repeated_measures(crossed(y, ["s", "level"]), "s", ["level"]).effects
        plain.append(one.p < 0.05)
        corrected.append(one.p_corrected < 0.05)
    error = np.sqrt(0.05 * 0.95 / 300)
    assert np.mean(plain) > 0.05 + 4 * error
    assert abs(np.mean(corrected) - 0.05) < 4 * error


def test_several_scores_at_one_place_are_averaged():
    y = RNG(4).normal(size=(6, 3))
    frame = crossed(y, ["s", "level"])
    twice = pd.concat(
        [frame.assign(score=frame["score"] + 1), frame.assign(score=frame["score"] - 1)]
    )
    one, other = (repeated_measures(f, "s", ["level"]).effects[0] for f in (frame, twice))
    assert one.f == pytest.approx(other.f)


def test_where_nothing_varies_there_is_no_f():
    y = np.tile(np.arange(3.0), (5, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [one] = repeated_measures(crossed(y, ["s", "level"]), "s", ["level"]).effects
    assert one.f is one.p is one.eta is None


def test_names_that_mean_something_in_formulas_are_just_names():
    y = RNG(5).normal(size=(6, 2, 3))
    plain = repeated_measures(crossed(y, ["s", "a", "b"]), "s", ["a", "b"])
    odd = repeated_measures(crossed(y, ["C", "a + b", "Q(1)"]), "C", ["a + b", "Q(1)"])
    assert [one.f for one in plain.effects] == [one.f for one in odd.effects]


@pytest.mark.parametrize(
    ("wrong", "within", "said"),
    [
        (lambda f: f.iloc[1:], ["a", "b"], "none at s 0, a 0, b 0"),
        (lambda f: f[f["a"] == 0], ["a", "b"], "two or more values of 'a'"),
        (lambda f: f[f["s"] == 0], ["a", "b"], "two or more values of 's'"),
        (lambda f: f, ["a", "d"], "no column 'd'"),
        (lambda f: f, [], "one or more other columns"),
        (lambda f: f, ["a", "a"], "one or more other columns"),
    ],
)
def test_designs_that_are_not_whole(wrong, within, said):
    frame = crossed(RNG(6).normal(size=(4, 2, 3)), ["s", "a", "b"])
    with pytest.raises(Error, match=said):
        repeated_measures(wrong(frame), "s", within)


# ---------------------------------------------------------------- the mixed model


def study(rng, persons=10, environments=30, spread=(0.3, 0.4, 0.2), effects=(0.1, -0.05, 0.02)):
    """People and programs, `persons` of each, on the same environments."""
    of_person, of_environment, noise = spread
    environment = rng.normal(0, of_environment, environments)
    K = rng.integers(3, 20, environments).astype(float)
    rows = []
    for kind, number in itertools.product(("people", "program"), range(persons)):
        own, is_program = rng.normal(0, of_person), kind == "program"
        score = 0.3 + own + environment + rng.normal(0, noise, environments)
        score = score + effects[0] * is_program + (effects[1] + effects[2] * is_program) * (K - 10)
        rows += [
            {"kind": kind, "person": f"{kind}{number}", "exercise": e, "K": K[e], "score": score[e]}
            for e in range(environments)
        ]
    return pd.DataFrame(rows)


def by_direct_likelihood(frame):
    """Restricted maximum likelihood with nothing but NumPy: effects, their errors, components."""
    y, K = frame["score"].to_numpy(), frame["K"].to_numpy() - frame["K"].mean()
    kind = (frame["kind"] == "program").to_numpy(float)
    X = np.column_stack([np.ones(len(y)), kind, K, kind * K])
    same = [
        np.equal.outer(frame[name].to_numpy(), frame[name].to_numpy()).astype(float)
        for name in ("person", "exercise")
    ]

    def fit(logs):
        V = np.eye(len(y)) + np.exp(logs[0]) * same[0] + np.exp(logs[1]) * same[1]
        L = np.linalg.cholesky(V)
        A, b = np.linalg.solve(L, X), np.linalg.solve(L, y)
        beta = np.linalg.lstsq(A, b, rcond=None)[0]
        freedom = len(y) - X.shape[1]
        scale = ((b - A @ beta) ** 2).sum() / freedom
        _, whole = np.linalg.slogdet(A.T @ A)
        value = 2 * np.log(np.diag(L)).sum() + whole + freedom * np.log(scale)
        return value, beta, scale, np.sqrt(scale * np.diag(np.linalg.inv(A.T @ A)))

    best = optimize.minimize(lambda logs: fit(logs)[0], [0, 0], method="Nelder-Mead",
                             options={"xatol": 1e-6, "fatol": 1e-9})  # fmt: skip
    _, beta, scale, stderr = fit(best.x)
    return beta, stderr, *(np.exp(best.x) * scale), scale


def test_the_mixed_model_agrees_with_the_likelihood_worked_out_directly():
    frame = study(RNG(7), persons=4, environments=12)
    found = mixed_model(frame, "K")
    beta, stderr, persons, environments, residual = by_direct_likelihood(frame)
    assert [term.estimate for term in found.terms] == pytest.approx(beta, abs=1e-5)
    assert [term.stderr for term in found.terms] == pytest.approx(stderr, rel=1e-3)
    assert found.persons == pytest.approx(persons, rel=5e-3)
    assert found.environments == pytest.approx(environments, rel=5e-3)
    assert found.residual == pytest.approx(residual, rel=5e-3)
    assert [term.name for term in found.terms] == [
        "intercept",
        "kind program",
        "K",
        "kind program × K",
    ]


def test_a_component_at_its_edge_is_said_in_a_sentence_and_not_as_a_warning():
    frame = study(RNG(12), persons=4, environments=15, spread=(0.0, 0.4, 0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mixed_model(frame, "K")
    assert found.persons == pytest.approx(0, abs=1e-5)
    [sentence] = found.trouble
    assert "'person' is estimated at 0" in sentence
    assert all(term.df <= 7 for term in found.terms)  # eight persons, whatever the rows


def test_programs_without_a_person_have_no_person_effect():
    frame = study(RNG(13), persons=6, environments=20)
    named = frame[(frame["kind"] == "people") | (frame["person"] == "program0")]
    none = named.assign(person=named["person"].where(named["kind"] == "people"))
    found = mixed_model(none, "K")
    assert found.rows == 7 * 20
    assert found.terms == mixed_model(none.fillna({"person": ""}), "K").terms
    of_program = next(term for term in found.terms if term.name == "kind program")
    assert of_program.df < 30  # six people, and not 140 rows


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda f: f.drop(columns="person"), "no column 'person'"),
        (lambda f: f[f["kind"] == "people"], "two or more values of 'kind'"),
        (lambda f: f.assign(K=1.0), "two or more values of 'K'"),
        (lambda f: f.assign(person=range(len(f))), "every score has a 'person' of its own"),
        (lambda f: f.assign(K=f["K"].where(f["kind"] == "people", 3.0)), "single value of 'K'"),
    ],
)
def test_mixed_models_that_cannot_be_fitted(wrong, said):
    frame = study(RNG(9), persons=8, environments=20)
    with pytest.raises(Error, match=said):
        mixed_model(wrong(frame), "K")


# ---------------------------------------------------------------- correlation


def scored(y, K, tests=None):
    """y[exercise, mind] as a table of minds m0, m1, …"""
    frame = pd.DataFrame(
        [
            {"exercise": e, "mind": f"m{m}", "score": y[e, m], "K": K[e]}
            for e in range(len(y))
            for m in range(y.shape[1])
        ]
    )
    if tests is not None:
        frame["test"] = np.repeat(tests, y.shape[1])
    return frame


def test_correlations_agree_with_scipy_whatever_the_scale():
    rng = RNG(10)
    K = rng.normal(size=50)
    y = np.column_stack([rng.normal(size=50) - K, rng.normal(size=50) + 2 * K])
    for offset, scale in ((0, 1), (1e6, 1), (-3, 1e-6)):
        found = correlations(scores_of(scored(y, offset + scale * K)), ["K"])
        expected = [stats.pearsonr(K, y[:, m])[0] for m in range(2)]
        assert [one.r for one in found] == pytest.approx(expected, abs=1e-6)


def test_no_correlation_where_nothing_varies_or_too_little_is_known():
    K = np.arange(12.0)
    y = np.column_stack([np.full(12, 0.3), np.eye(12)[3]])
    flat, single = correlations(scores_of(scored(y, K)), ["K"])
    assert flat.r is flat.interval is None
    assert single.r is not None
    assert single.interval is None  # without that one hit there is nothing to correlate


def test_failed_plays_are_no_part_of_a_correlation():
    rng = RNG(11)
    K, y = rng.normal(size=30), rng.normal(size=(30, 2))
    y[:5, 0] = np.nan
    first, second = correlations(scores_of(scored(y, K)), ["K"])
    assert (first.exercises, second.exercises) == (25, 30)
    assert first.r == pytest.approx(stats.pearsonr(K[5:], y[5:, 0])[0])


@pytest.mark.slow
def test_correlation_intervals_cover_where_exercises_come_in_tests():
    """Tests shift score and K together, so that exercises are far from independent."""
    rng, times, hits, narrow = RNG(12), 300, 0, 0
    tests = np.repeat(np.arange(40), 5)
    for _ in range(times):
        shift = rng.normal(size=(40, 2))
        K = shift[tests, 0] + rng.normal(size=200)
        y = (0.8 * shift[tests, 0] + 0.6 * shift[tests, 1] + rng.normal(size=200))[:, None]
        truth = 0.8 / 2  # cov .8, both variances 2
        frame = scored(y, K, tests)
        for unit in ("test", None):
            [one] = correlations(scores_of(frame, unit), ["K"])
            covered = one.interval[0] <= truth <= one.interval[1]
            if unit:
                hits += covered
            else:
                narrow += covered
    assert abs(hits / times - 0.95) < 4 * np.sqrt(0.95 * 0.05 / times)
    assert narrow < hits


# ---------------------------------------------------------------- ranks and repeats


def ranked(frame, seed=1, rule=None, **how):
    rule = rule or Rule(low=-3.0, high=3.0)
    return ranks(plays_by_mind(frame, rule), rule, RNG(seed), **how)


def test_ranks_are_by_the_score_that_is_printed():
    """Of twenty items the hard ones weigh more: who solves those alone is first."""
    k = np.repeat([1.0, 9.0], 10)
    y = np.stack([k == 1, (k == 9) & (np.arange(20) > 10)], axis=1).astype(float)
    frame = scored(y, k)
    assert [one.rank for one in ranked(frame)] == [1, 2]
    weighted = Rule("K", True, low=0.0, high=1.0)
    assert [one.rank for one in ranked(frame, rule=weighted)] == [2, 1]


def test_ranks_of_minds_that_are_far_apart_are_sure():
    y = RNG(13).normal(0, 0.1, size=(50, 3)) + np.array([0.0, 1.0, 0.5])
    found = ranked(scored(y, np.arange(50)))
    assert [(one.mind, one.rank, one.interval) for one in found] == [
        ("m0", 3, (3, 3)),
        ("m1", 1, (1, 1)),
        ("m2", 2, (2, 2)),
    ]


def test_minds_that_tie_share_a_place_and_hold_all_places_of_the_tie():
    y = RNG(14).normal(size=(40, 1)) + np.array([0.0, 0.0, -5.0])
    found = ranked(scored(y, np.arange(40)))
    assert [one.rank for one in found] == [1, 1, 3]
    assert [one.interval for one in found] == [(1, 2), (1, 2), (3, 3)]


def test_the_same_seed_gives_the_same_intervals():
    y = RNG(15).normal(size=(30, 4))
    frame = scored(y, np.arange(30))
    assert ranked(frame, 5) == ranked(frame, 5)


def test_no_ranks_without_exercises_that_all_have():
    y = np.array([[0.1, np.nan], [np.nan, 0.2]])
    assert ranked(scored(y, np.arange(2))) == []


def test_one_exercise_ranks_nobody_for_sure():
    found = ranked(scored(np.array([[0.9, 0.1, 0.5]]), [1.0]))
    assert [(one.rank, one.interval) for one in found] == [(1, (1, 3)), (3, (1, 3)), (2, (1, 3))]


def test_rank_intervals_hold_the_true_place_of_close_minds():
    """Three minds .1 apart, 300 studies: the true rank is inside in 95 of 100 or more."""
    rng, times, inside = RNG(16), 300, np.zeros(3)
    for _ in range(times):
        y = rng.normal(0, 0.4, size=(40, 3)) + np.array([0.2, 0.1, 0.0])
        found = ranked(scored(y, np.arange(40)), draws=200)
        inside += [one.interval[0] <= n + 1 <= one.interval[1] for n, one in enumerate(found)]
    assert (inside / times > 0.95 - 4 * np.sqrt(0.95 * 0.05 / times)).all()


def test_repeats_are_resampled_within_their_exercise():
    """Two minds alike in every exercise but for the noise of repeats: either may come first."""
    rng = RNG(17)
    base = rng.normal(size=20)
    rows = [
        {"exercise": e, "mind": mind, "repeat": r, "score": base[e] + rng.normal(0, 0.5)}
        for e in range(20) for mind in ("a", "b") for r in range(4)
    ]  # fmt: skip
    frame = pd.DataFrame(rows).assign(K=lambda f: f["exercise"])
    scores = scores_of(frame)
    assert scores.values.shape == (20, 2, 4)
    assert [one.interval for one in ranked(frame)] == [(1, 2), (1, 2)]
    [first, _] = correlations(scores, ["K"])
    assert first.r == pytest.approx(stats.pearsonr(np.arange(20), scores.means[:, 0])[0])
    assert first.interval[0] < first.r < first.interval[1]


def test_no_interval_of_a_correlation_from_three_or_of_a_straight_line():
    x = np.arange(6.0)
    assert correlate(x[:3], np.array([1.0, 3.0, 2.0]))[1:] == (pytest.approx(0.5), None)
    assert correlate(x, 2 * x)[1:] == (pytest.approx(1.0), None)
    assert correlate(x[:2], x[:2]) == (2, None, None)


def test_a_difference_that_is_the_same_everywhere_is_sure_by_the_sign_test():
    """Five units, two minds: p = .06, so nothing is sure; with six it is .03."""
    values = np.column_stack([np.zeros(6), np.ones(6)])
    assert [list(end) for end in rank_intervals(values[:5], RNG(1))] == [[1, 1], [2, 2]]
    assert [list(end) for end in rank_intervals(values, RNG(1))] == [[2, 1], [2, 1]]


def test_the_f_of_repeated_measures_is_that_of_statsmodels():
    import pandas as pd
    from statsmodels.stats.anova import AnovaRM

    from allminds.statistics.comparison.effects import repeated_measures

    table = np.random.default_rng(4).normal(size=(7, 3, 2, 4)) + np.arange(4)
    places = np.indices(table.shape).reshape(4, -1)
    frame = pd.DataFrame(dict(zip(["subject", "a", "b", "c"], places, strict=True)))
    frame["score"] = table.reshape(-1)
    theirs = AnovaRM(frame, "score", "subject", within=["a", "b", "c"]).fit().anova_table
    ours = repeated_measures(frame, "subject", ["a", "b", "c"]).effects
    assert len(ours) == len(theirs) == 7
    for effect in ours:
        row = theirs.loc[":".join(effect.factors)]
        assert effect.freedom == (row["Num DF"], row["Den DF"])
        assert effect.f == pytest.approx(row["F Value"])
        assert effect.p == pytest.approx(row["Pr > F"])
