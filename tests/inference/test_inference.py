"""Intervals, estimates and verdicts against brute force, scipy and statsmodels.

Every oracle is written from the definition in its paper, not from the source: full matrices for the
clustered errors, sums over all assignments of signs, a search on a grid for the score intervals.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from allminds.contracts import STATUSES
from allminds.core.blocks import Block
from allminds.inference import (
    Difference,
    Plays,
    Rule,
    Tally,
    Units,
    corrected,
    difference,
    estimate,
    holm,
)
from allminds.inference.estimates import normalised, play_scores
from allminds.inference.intervals import (
    Betting,
    Hits,
    PairedHits,
    StratifiedHits,
    Student,
    brent,
    of_mean,
)
from allminds.inference.units import clustered_error
from allminds.inference.verdict import apart, of_levels, paired

RNG = np.random.default_rng
NAMES = ("a", "b")


def units(score, stratum=None, cluster=None, share=None, low=-1.0, high=1.0):
    score = np.asarray(score, float)
    stratum = np.zeros(len(score), np.int64) if stratum is None else np.asarray(stratum)
    cluster = np.arange(len(score)) if cluster is None else np.asarray(cluster)
    share = np.ones(stratum.max() + 1) if share is None else np.asarray(share, float)
    return Units(score, stratum, cluster, share / share.sum(), low, high)


def plays(score, item=None, stratum=None, cluster=None, failed=()):
    score = np.asarray(score, float)
    item = np.arange(len(score)) if item is None else np.asarray(item)
    lost = np.zeros(len(score), bool)
    lost[list(failed)] = True
    stratum = np.zeros(len(score)) if stratum is None else np.asarray(stratum, float)
    cluster = item if cluster is None else np.asarray(cluster)
    return Plays(item, cluster, stratum, score, lost, np.full(len(score), np.nan))


# ---------------------------------------------------------------- hits


@pytest.mark.parametrize("n", [1, 2, 5, 19, 20, 50, 200])
def test_hits_have_the_exact_interval_below_20_and_wilsons_from_there_on(n):
    for hits in sorted({0, 1, n // 2, n - 1, n}):
        method = "exact" if n < 20 else "wilson"
        for level in (0.9, 0.95, 0.99):
            expected = stats.binomtest(hits, n).proportion_ci(level, method=method)
            found = Hits(hits, n).interval(level)
            assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
            assert 0 <= found[0] < found[1] <= 1  # never of no width, never outside


@pytest.mark.parametrize(("hits", "n"), [(3, 10), (0, 10), (10, 10), (13, 40), (0, 40)])
def test_tails_are_the_levels_at_which_an_interval_ends(hits, n):
    made = Hits(hits, n)
    for value in (0.05, 0.2, 0.5, 0.9):
        if value == hits / n:
            continue
        at_most, at_least = made.tails(value)
        assert at_most + at_least == pytest.approx(1)
        if 1e-9 < min(at_most, at_least) < 0.49:  # beyond that, there is no such level
            end = made.interval(1 - 2 * min(at_most, at_least))[0 if at_most < at_least else 1]
            assert end == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("hits", "n", "value"), [(3, 10, 0.1), (7, 12, 0.9), (1, 5, 0.6)])
def test_exact_tails_are_those_of_the_binomial(hits, n, value):
    at_most, at_least = Hits(hits, n).tails(value)
    if value < hits / n:
        assert at_most == pytest.approx(stats.binom.sf(hits - 1, n, value), rel=1e-6)
    else:
        assert at_least == pytest.approx(stats.binom.cdf(hits, n, value), rel=1e-6)


def test_strata_of_the_same_rate_and_size_have_nearly_the_interval_of_one_count():
    rate, n = np.full(4, 0.5), np.full(4, 25.0)
    found = StratifiedHits(rate, n, np.full(4, 0.25)).interval()
    assert found == pytest.approx(proportion_confint(50, 100, method="wilson"), abs=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_stratified_hits_are_wilsons_for_the_effective_number(level):
    """n_eff = p(1-p)/Σ W² p_h(1-p_h)/n_h with p_h = (x + ¼)/(n + ½), solved as a quadratic."""
    hits, n, share = np.array([9, 14, 20]), np.array([10, 20, 20]), np.array([0.5, 0.3, 0.2])
    drawn = (hits + 0.25) / (n + 0.5)
    p = float(share @ drawn)
    effective = p * (1 - p) / float((share**2 * drawn * (1 - drawn) / n).sum())
    rate, z = float(share @ (hits / n)), stats.norm.ppf((1 + level) / 2)

    def beyond(at, sign):
        return at - rate - sign * z * math.sqrt(at * (1 - at) / effective)

    ends = (
        optimize.brentq(beyond, 1e-9, rate, args=(-1,)),
        optimize.brentq(beyond, rate, 1 - 1e-9, args=(1,)),
    )
    found = StratifiedHits(hits / n, n.astype(float), share).interval(level)
    assert found == pytest.approx(ends, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.03, 0.5, 1.0]))
def test_an_interval_of_hits_has_a_width_and_lies_in_the_scale(n, seed, p):
    rng = RNG(seed)
    score = (rng.random(n) < p).astype(float)
    stratum = np.unique(rng.integers(0, 5, n), return_inverse=True)[1]
    share = rng.random(stratum.max() + 1) + 0.1
    low, high = of_mean(units(score, stratum, share=share, low=0.0)).interval()
    assert 0 <= low < high <= 1
    mean = units(score, stratum, share=share, low=0.0).mean
    assert low - 1e-9 <= mean <= high + 1e-9


# ---------------------------------------------------------------- means and clusters


def full_matrix(made):
    """CR2 (Bell and McCaffrey 2002) with Satterthwaite's freedom (Pustejovsky and Tipton 2018).

    Weighted least squares on dummies of the strata with working variance 1/w, whose adjustment
    matrices for the target Σ w y are 1/√(1 - h) for the part of a cluster in a stratum; the freedom
    is taken as if all units were equally variable.
    """
    w, y = made.weights, made.score
    strata = made.stratum.max() + 1
    D = (made.stratum[:, None] == np.arange(strata)).astype(float)
    hat = D @ np.linalg.inv(D.T @ (w[:, None] * D)) @ D.T @ np.diag(w)
    residual = np.eye(len(y)) - hat
    pulls = []
    for g in np.unique(made.cluster):
        row = np.zeros(len(y))
        for h in range(strata):
            part = (made.cluster == g) & (made.stratum == h)
            if part.any():
                leverage = w[part].sum() / w[made.stratum == h].sum()
                row += (w * part / math.sqrt(1 - leverage)) @ residual
        pulls.append(row)
    P = np.array(pulls)
    E = P @ P.T
    return math.sqrt(((P @ y) ** 2).sum()), np.trace(E) ** 2 / np.trace(E @ E)


def test_one_stratum_without_clusters_is_the_t_test():
    y = RNG(1).uniform(-0.5, 0.5, 23)
    expected = stats.ttest_1samp(y, 0.03)
    found = of_mean(units(y))
    assert isinstance(found, Student)
    assert found.freedom == pytest.approx(22)
    assert found.stderr == pytest.approx(stats.sem(y))
    for level in (0.9, 0.95):
        assert found.interval(level) == pytest.approx(tuple(expected.confidence_interval(level)))
    assert 2 * min(found.tails(0.03)) == pytest.approx(expected.pvalue)


def test_strata_of_the_same_size_have_the_error_of_the_definitions():
    """√Σ s_h²/n_h / S, and with strata of one variance nearly n - S degrees of freedom."""
    rng, stratum = RNG(2), np.arange(90) % 3
    y = rng.uniform(-0.4, 0.4, 90) + stratum * 0.1
    parts = [y[stratum == h] for h in range(3)]
    stderr, freedom = clustered_error(units(y, stratum))
    assert units(y, stratum).mean == pytest.approx(np.mean([part.mean() for part in parts]))
    assert stderr == pytest.approx(math.sqrt(sum(part.var(ddof=1) / 30 for part in parts)) / 3)
    assert freedom == pytest.approx(87)


@pytest.mark.parametrize("kind", ["alone", "within", "across", "uneven"])
@pytest.mark.parametrize("seed", range(3))
def test_clustered_errors_are_those_of_the_full_matrices(kind, seed):
    rng = RNG(seed)
    stratum = np.repeat(np.arange(3), (8, 12, 10))
    cluster = {
        "alone": np.arange(30),
        "within": stratum * 10 + rng.permutation(np.arange(30)) % 4,
        "across": np.arange(30) % 7,
        "uneven": rng.permutation([0] * 9 + [1] * 6 + [2] * 5 + [3] * 4 + [4] * 3 + [5, 6, 7]),
    }[kind]
    share = {"uneven": [0.2, 0.3, 0.5]}.get(kind)
    made = units(rng.uniform(-1, 1, 30), stratum, cluster, share)
    assert clustered_error(made) == pytest.approx(full_matrix(made), rel=1e-9)


def test_the_cr2_error_of_a_mean_is_the_closed_form_of_bell_and_mccaffrey():
    """One stratum, clusters of m units each: s of the cluster means / √G, with G - 1 freedom."""
    rng = RNG(4)
    y = np.repeat(rng.normal(0, 0.3, 9), 4) + rng.normal(0, 0.1, 36)
    means = y.reshape(9, 4).mean(axis=1)
    stderr, freedom = clustered_error(units(y, cluster=np.repeat(np.arange(9), 4)))
    assert stderr == pytest.approx(stats.sem(means))
    assert freedom == pytest.approx(8)


def test_a_stratum_of_one_unit_is_put_to_its_neighbour():
    """Sizes 3, 1, 4, 2, 1 are pooled to 3, 5 (1 + 4) and 3 (2 + 1), and so is their error."""
    y = np.linspace(-0.5, 0.4, 11) + RNG(5).normal(0, 0.05, 11)
    apart_, together = np.repeat(np.arange(5), (3, 1, 4, 2, 1)), np.repeat(np.arange(3), (3, 5, 3))
    share = np.array([3, 1, 4, 2, 1])
    pooled = units(y, together, share=[3, 5, 3])
    assert clustered_error(units(y, apart_, share=share)) == pytest.approx(clustered_error(pooled))


@pytest.mark.parametrize("n", [3, 10])
def test_strata_of_one_unit_each_are_left_out_of_account(n):
    """There may be strata that none was drawn from, so the plain error stands in."""
    y = RNG(5).uniform(-0.5, 0.5, n)
    stderr, freedom = clustered_error(units(y, np.arange(n)))
    assert (stderr, freedom) == pytest.approx((stats.sem(y), n - 1))


def test_the_interval_covers_the_truth_at_its_rate():
    """2,000 samples of 40 in 4 strata: 95 % ± 4 standard errors of a share (.0049)."""
    rng, stratum = RNG(3), np.arange(40) % 4
    inside = 0
    for _ in range(2000):
        made = units(rng.normal(stratum / 10, 0.2), stratum, low=-2, high=2)
        low, high = of_mean(made).interval()
        inside += low <= 0.15 <= high
    assert abs(inside / 2000 - 0.95) < 4 * 0.0049


def test_intervals_stay_in_the_scale():
    y = np.array([0.99, 0.9, 1.0, 0.7, 1.0, 0.95, 0.2, 1.0] * 5)
    low, high = of_mean(units(y, low=0.0)).interval(0.9999)
    assert 0 <= low < high <= 1


# ---------------------------------------------------------------- betting


def capital(y, weights, m):
    """The mean over 24 shares c of Π (1 - c + c · n w y / m), straight from the definition."""
    shares = (np.arange(24) + 0.5) / 24
    return np.mean([np.prod(1 - c + c * len(y) * weights * y / m) for c in shares])


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_betting_interval_are_the_means_that_no_gambler_refuses(level):
    rng = RNG(6)
    y, weights = rng.random(7), rng.random(7) + 0.5
    weights /= weights.sum()
    grid = np.linspace(1e-4, 1 - 1e-4, 4001)
    kept = [
        m for m in grid
        if capital(y, weights, m) < 2 / (1 - level)
        and capital(1 - y, weights, 1 - m) < 2 / (1 - level)
    ]  # fmt: skip
    found = Betting(y, weights, 0.0, 1.0).interval(level)
    assert found == pytest.approx((min(kept), max(kept)), abs=5e-4)
    wide = Betting(2 * y - 1, weights, -1.0, 1.0).interval(level)
    assert wide == pytest.approx([2 * end - 1 for end in found])


def test_the_betting_tails_are_one_over_the_capital():
    y, weights = RNG(7).random(6), np.full(6, 1 / 6)
    at_most, at_least = Betting(y, weights, 0.0, 1.0).tails(0.05)
    assert at_most == pytest.approx(min(1.0, 1 / capital(y, weights, 0.05)))
    assert at_least == pytest.approx(min(1.0, 1 / capital(1 - y, weights, 0.95)))


@pytest.mark.parametrize("near", [1e-3, 1e-9, 1e-14])
def test_roots_are_those_of_scipy_to_the_bit(near):
    rng, found = np.random.default_rng(5), 0
    for _ in range(400):
        terms = rng.normal(size=4)

        def function(x, terms=terms):
            return math.exp(x) - 1 + float(np.polyval(terms, x))

        low, high = sorted(rng.normal(0, 2, 2))
        if function(low) * function(high) < 0:
            assert brent(function, low, high, near) == optimize.brentq(
                function, low, high, xtol=near
            )
            found += 1
    assert found > 100
    assert brent(lambda x: x - 2, 2.0, 5.0, near) == 2.0
    assert brent(lambda x: x - 5, 2.0, 5.0, near) == 5.0
    with pytest.raises(ValueError, match="same sign"):
        brent(lambda x: x + 1, 2.0, 5.0, near)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_betting_intervals_grow_with_the_level_and_hold_the_mean(y):
    made = Betting(np.array(y), np.full(len(y), 1 / len(y)), 0.0, 1.0)
    ends = [made.interval(level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)]
    for (low, high), (lower, higher) in itertools.pairwise(ends):
        assert lower <= low + 1e-9
        assert higher >= high - 1e-9
    assert 0 <= ends[0][0] <= np.mean(y) + 1e-9
    assert np.mean(y) - 1e-9 <= ends[0][1] <= 1


def test_the_betting_interval_covers_what_students_t_misses():
    """n = 20 of scores that are 1 but for 3 % of 0: t has no width in half of the samples."""
    rng, times, missed = RNG(8), 1000, 0
    for _ in range(times):
        y = np.where(rng.random(20) < 0.03, 0.0, 0.999)
        low, high = of_mean(units(y, low=0.0)).interval()
        missed += not low <= 0.97 * 0.999 <= high
    assert missed / times < 0.05 + 4 * math.sqrt(0.05 * 0.95 / times)


@pytest.mark.parametrize(
    "y", [[0.3], [0.3] * 50, [0.1, 0.4, 0.2, 0.6, 0.3, 0.2, 0.5], [1.0] * 30 + [0.5]]
)
def test_few_units_no_variance_or_a_mean_at_the_end_is_betted_on(y):
    found = of_mean(units(y, low=0.0))
    assert isinstance(found, Betting)
    low, high = found.interval()
    assert 0 <= low < high <= 1


# ---------------------------------------------------------------- paired hits


def tango(gained, lost, n, at):
    """(b - c - nΔ)/√(n(2q + Δ(1 - Δ))), q by maximum likelihood given Δ, found by a search."""

    def against(q):
        chances = (q + at, q, 1 - 2 * q - at)
        counts = (gained, lost, n - gained - lost)
        return -sum(x * math.log(max(p, 1e-300)) for x, p in zip(counts, chances, strict=True) if x)

    low, high = max(0.0, -at), (1 - at) / 2
    q = optimize.minimize_scalar(against, bounds=(low, high), method="bounded",
                                 options={"xatol": 1e-13}).x  # fmt: skip
    return (gained - lost - n * at) / math.sqrt(n * (2 * q + at * (1 - at)))


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(12, 2, 40), (5, 5, 30), (9, 1, 50), (3, 8, 11), (20, 13, 200)]
)
def test_tangos_interval_is_that_of_a_search(gained, lost, n):
    grid = np.linspace(-0.999, 0.999, 4001)
    kept = [at for at in grid if abs(tango(gained, lost, n, at)) < stats.norm.ppf(0.975)]
    found = PairedHits(gained, lost, n).interval()
    assert found == pytest.approx((min(kept), max(kept)), abs=6e-4)
    at_most, at_least = PairedHits(gained, lost, n).tails(0.1)
    assert at_most == pytest.approx(stats.norm.sf(tango(gained, lost, n, 0.1)), abs=1e-5)
    assert at_most + at_least == pytest.approx(1)


def test_tangos_interval_where_hardly_a_pair_differs():
    """With no pair that differs it is the closed form ±z²/(n + z²): never of no width."""
    z2 = stats.norm.ppf(0.975) ** 2
    low, high = PairedHits(0, 0, 44).interval()
    assert (low, high) == pytest.approx((-z2 / (44 + z2), z2 / (44 + z2)), abs=1e-9)
    low, high = PairedHits(1, 0, 44).interval()
    assert low < 0 < high
    for made in (PairedHits(0, 3, 3), PairedHits(3, 0, 3), PairedHits(0, 0, 1)):
        low, high = made.interval()
        assert -1 <= low < high <= 1


@pytest.mark.parametrize(("n", "p"), [(20, 0.1), (50, 0.03), (50, 0.4)])
def test_tangos_interval_covers_at_its_rate(n, p):
    """All tables of n pairs with both kinds of change of chance p: exact coverage ≥ .93."""
    covered = 0.0
    for gained in range(n + 1):
        for lost in range(n + 1 - gained):
            chance = stats.multinomial.pmf([gained, lost, n - gained - lost], n, [p, p, 1 - 2 * p])
            if chance > 1e-7:
                low, high = PairedHits(gained, lost, n).interval()
                covered += chance * (low <= 0 <= high)
    assert covered > 0.93


# ---------------------------------------------------------------- p-values and verdicts


@settings(deadline=None, max_examples=30)  # theirs takes 50 ms a call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_statsmodels(values):
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1], abs=1e-12)


def test_holm_of_nothing_is_nothing():
    assert holm([]) == []
    assert corrected([]) == []


def flipped(gaps):
    """p of all assignments of signs."""
    return stats.permutation_test(
        (gaps, np.zeros(len(gaps))), lambda a, b: np.mean(a - b), permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_p_of_few_differences_is_by_students_t_and_by_all_assignments_of_signs(seed):
    """The larger of both: signs say nothing of the mean of lopsided differences."""
    gaps = RNG(seed).uniform(-0.4, 0.9, 11)
    found = paired(units(gaps, low=-2, high=2), False, NAMES)
    assert found.p == pytest.approx(max(stats.ttest_1samp(gaps, 0).pvalue, flipped(gaps)))


@pytest.mark.parametrize("n", [2, 5, 7])
def test_p_of_fewer_than_eight_is_that_of_the_gambler_or_of_the_signs(n):
    gaps = RNG(n).uniform(-0.1, 0.9, n)
    bets = capital((gaps + 2) / 4, np.full(n, 1 / n), 0.5)
    against = capital((2 - gaps) / 4, np.full(n, 1 / n), 0.5)
    betted = min(1.0, 2 * min(1.0, 1 / max(bets, against)))
    found = paired(units(gaps, low=-2, high=2), False, NAMES)
    assert found.p == pytest.approx(max(betted, flipped(gaps)))


@pytest.mark.parametrize(
    ("gained", "lost", "same"), [(6, 0, 4), (9, 2, 20), (30, 14, 6), (5, 5, 0)]
)
def test_p_of_paired_hits_is_mcnemars_exact_test(gained, lost, same):
    gaps = np.repeat([1.0, -1.0, 0.0], (gained, lost, same))
    expected = stats.binomtest(gained, gained + lost).pvalue
    assert paired(units(gaps), True, NAMES).p == pytest.approx(expected)


def test_p_of_many_differences_is_that_of_the_paired_t_test():
    a, b = RNG(1).uniform(-0.5, 0.5, (2, 30))
    found = paired(units(a - b, low=-2, high=2), False, NAMES)
    expected = stats.ttest_rel(a, b)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.interval90 == pytest.approx(tuple(expected.confidence_interval(0.9)))
    below, above = (
        stats.ttest_1samp(a - b, end, alternative=side).pvalue
        for end, side in ((-0.05, "greater"), (0.05, "less"))
    )
    assert found.p_same == pytest.approx(max(below, above))


def test_minds_with_exercises_of_their_own_are_compared_by_welch():
    rng = RNG(2)
    a, b = rng.uniform(-0.5, 0.5, 12), rng.uniform(-0.9, 1, 40)
    sides = [(float(y.mean()), len(y), of_mean(units(y))) for y in (a, b)]
    found = apart(*sides, NAMES)
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert not found.paired


def test_hits_of_exercises_of_their_own_are_newcombes_interval():
    """Newcombe (1998), method 10: 56/70 against 48/80 is .2000 [.0524, .3339]."""
    sides = [(hits / n, n, Hits(hits, n)) for hits, n in ((56, 70), (48, 80))]
    found = apart(*sides, NAMES)
    assert found.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(
    ("shift", "noise", "n", "verdict"),
    [
        (0.0, 0.1, 40, "equivalent"),
        (0.03, 0.1, 400, "different, but smaller than δ"),
        (0.3, 0.1, 40, "different"),
        (0.0, 0.5, 40, "undecided"),
        (0.05, 0.1, 400, "different"),
        (0.03, 0.1, 40, "undecided"),
    ],
)
def test_four_words(shift, noise, n, verdict):
    found = paired(units(spread(shift, noise, n)), False, NAMES)
    assert found.verdict == verdict
    assert found.sign == (0 if verdict in ("equivalent", "undecided") else 1)
    failed = {"equivalent": "undecided", "different, but smaller than δ": "different"}
    assert replace(found, failed=True).verdict == failed.get(verdict, verdict)


def spread(shift, noise, n):
    """n differences of just this mean and this standard deviation."""
    gaps = RNG(3).normal(size=n)
    return shift + noise * (gaps - gaps.mean()) / gaps.std(ddof=1)


def test_the_reason_is_said_with_the_verdict():
    same = paired(units(spread(0, 0.1, 40)), False, NAMES)
    assert same.words.startswith("equivalent; 90 % interval [")
    assert "more than 5 % of the exercises failed" in replace(same, failed=True).words
    narrow = paired(units(spread(0, 0.1, 40)), False, NAMES, margin=0.01)
    assert "is not within ±0.01" in narrow.words
    none = paired(units(np.zeros(40), low=-2, high=2), False, NAMES)
    assert none.words == "undecided: they did the same on every unit"
    clear = paired(units(spread(0.3, 0.1, 40)), False, NAMES)
    assert clear.words.startswith("different; p = ")


@pytest.mark.parametrize("n", [2, 8, 20, 2000])
@pytest.mark.parametrize("hits", [True, False])
def test_where_no_unit_differs_nothing_is_decided(n, hits):
    found = paired(units(np.zeros(n), low=-2, high=2), hits, NAMES)
    assert (found.verdict, found.p, found.mean) == ("undecided", 1.0, 0.0)
    low, high = found.interval
    assert low < 0 < high


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("gap", [0.25, 1.0, 2.0])
def test_up_to_five_units_decide_nothing_however_sure_they_look(n, gap):
    """The least p of n signs is 2/2ⁿ: .0625 of five."""
    found = paired(units(np.full(n, gap), low=-2, high=2), gap == 1.0, NAMES)
    assert found.verdict == "undecided"
    assert n == 1 or found.p >= 2 / 2**n * (1 - 1e-12)
    assert n == 1 or gap != 1.0 or found.p == pytest.approx(2 / 2**n)


def test_units_that_all_differ_alike_decide_when_there_are_enough():
    """Hits by the signs, from six on; scores when the gambler is rich enough, for any scale."""
    hits = {n: paired(units(np.ones(n)), True, NAMES) for n in (5, 6)}
    assert [one.verdict for one in hits.values()] == ["undecided", "different"]
    assert hits[6].p == pytest.approx(2 / 2**6)
    for n, verdict in ((8, "undecided"), (100, "different")):
        found = paired(units(np.full(n, 0.5), low=-2, high=2), False, NAMES)
        bets = capital(np.full(n, 0.625), np.full(n, 1 / n), 0.5)
        assert found.p == pytest.approx(min(1.0, 2 / bets))
        assert found.verdict == verdict


def test_one_unit_has_no_interval():
    found = paired(units([0.8], low=-2, high=2), False, NAMES)
    assert found.interval is found.p is found.stderr is None
    assert found.verdict == "undecided"
    assert found.words == "undecided: there are too few units to tell"


def test_both_kinds_of_claim_are_corrected():
    def one(p, same):
        return Difference("a", "b", True, (40,), 0.0, 0.1, (0, 0), (0, 0), p, same, p, same)

    found = corrected([one(0.03, 0.001), one(0.9, 0.03), one(0.5, 0.04)])
    assert [x.p_holm for x in found] == pytest.approx(holm([0.03, 0.9, 0.5]))
    assert [x.p_same_holm for x in found] == pytest.approx(holm([0.001, 0.03, 0.04]))
    assert [x.verdict for x in found] == ["equivalent", "undecided", "undecided"]
    nothing = replace(one(None, None), p=None, p_same=None)
    assert corrected([nothing, one(0.03, 0.9)])[1].p_holm == 0.03
    assert corrected([nothing])[0].verdict == "undecided"


@pytest.mark.parametrize("minds", [2, 10])
def test_false_verdicts_are_rare_in_the_whole_family(minds):
    """600 families of minds against the first: at no difference, and at the margin."""
    rng, times, different, same = RNG(11), 600, 0, 0
    for _ in range(times):
        base = rng.normal(0, 0.05, 30)
        for shift in (0.0, 0.05):
            found = corrected([
                paired(units(rng.normal(shift, 0.05, 30) - base, low=-2, high=2), False, NAMES)
                for _ in range(minds - 1)
            ])  # fmt: skip
            said = {one.verdict for one in found}
            different += shift == 0 and bool(said & {"different", "different, but smaller than δ"})
            same += shift > 0 and bool(said & {"equivalent", "different, but smaller than δ"})
    most = 0.05 + 4 * math.sqrt(0.05 * 0.95 / times)
    assert different / times < most
    assert same / times < most


def test_levels_are_compared_by_student():
    gaps = np.array([0.5, 0.9, 0.4, 0.8])
    found = of_levels(units(gaps, low=-math.inf, high=math.inf), NAMES)
    assert found.p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    assert found.verdict == "different"
    assert of_levels(units(np.zeros(3)), NAMES).verdict == "undecided"


# ---------------------------------------------------------------- plays


OK, VOID, MISSING, ERROR = (STATUSES.index(name) for name in ("ok", "void", "missing", "error"))


@pytest.mark.parametrize(
    ("score", "status", "expected", "at_fault"),
    [
        ([0.2, 0.6], [OK, OK], 0.4, False),
        ([-1.0, np.nan], [ERROR, VOID], -1.0, True),  # the one at fault counts, the other has none
        ([-1.0, -0.5], [ERROR, ERROR], -0.75, True),
        ([np.nan, np.nan], [VOID, VOID], np.nan, False),
        ([np.nan, np.nan], [MISSING, VOID], np.nan, False),
        ([0.3, np.nan], [OK, MISSING], np.nan, False),
        ([-1.0, np.nan], [ERROR, MISSING], -1.0, True),
    ],
)
def test_the_score_of_a_play_from_its_slots(score, status, expected, at_fault):
    found, failed = play_scores(np.array([score]), np.array([status], np.int8))
    assert found[0] == pytest.approx(expected, nan_ok=True)
    assert bool(failed[0]) is at_fault


def test_every_failure_counts_and_nothing_else():
    for number, status in enumerate(STATUSES):
        found, failed = play_scores(np.array([[-1.0]]), np.array([[number]], np.int8))
        assert bool(failed[0]) == (status in ("refused", "malformed", "timeout", "error"))
        assert np.isnan(found[0]) == (status in ("void", "missing"))


def test_failures_count_and_missing_plays_do_not():
    rule = Rule(low=0.0)
    found = estimate(plays([1.0, 1.0, 0.0, 1.0, np.nan], failed=[2]), rule)
    assert (found.score, found.episodes, found.failed, found.missing) == (0.75, 5, 1, 1)
    assert found.coverage == 0.75
    assert found.finished == 1.0
    assert found.bounds == (0.75, 1.0)
    assert not found.ranked
    assert found.units == 4


def test_bounds_and_the_score_of_those_finished_by_hand():
    """Failures in two strata of three: worst and best are -1 and 1 there."""
    score, stratum = np.array([0.5, -0.2, 0.1, 0.3, 0.9, 0.0]), np.array([1, 1, 2, 2, 3, 3])
    found = estimate(plays(score, stratum=stratum, failed=[1, 3]), Rule(strata="K"))
    assert found.score == pytest.approx(np.mean([0.15, 0.2, 0.45]))
    assert found.finished == pytest.approx(np.mean([0.5, 0.1, 0.45]))
    assert found.bounds == pytest.approx(
        (np.mean([-0.25, -0.45, 0.45]), np.mean([0.75, 0.55, 0.45]))
    )
    assert found.bounds[0] <= found.score <= found.bounds[1]


def test_no_failure_no_bounds():
    found = estimate(plays([0.5, 0.2]), Rule())
    assert found.finished is found.bounds is None
    assert found.coverage == 1
    assert found.ranked


@pytest.mark.parametrize(("failed", "ranked"), [(5, True), (6, False)])
def test_who_fails_more_than_one_in_twenty_is_not_ranked(failed, ranked):
    mine, theirs = plays(spread(0, 0.1, 100), failed=range(failed)), plays(np.zeros(100))
    assert estimate(mine, Rule()).ranked is ranked
    found = difference(mine, theirs, Rule(), NAMES)
    assert found.verdict == ("equivalent" if ranked else "undecided")


def test_missing_plays_are_no_plays_when_failures_are_counted():
    """3 of 50 that were played are more than 5 %, whatever was missing beside them."""
    score = np.append(spread(0, 0.1, 50), np.full(50, np.nan))
    assert difference(plays(score), plays(np.zeros(100)), Rule(), NAMES).verdict == "equivalent"
    mine = plays(score, failed=range(3))
    assert not estimate(mine, Rule()).ranked
    assert difference(mine, plays(np.zeros(100)), Rule(), NAMES).verdict == "undecided"


def test_what_cannot_be_estimated_is_none():
    nothing = estimate(plays([np.nan, np.nan]), Rule())
    assert nothing.score is nothing.stderr is nothing.ci95 is nothing.coverage is None
    assert not nothing.ranked
    one = estimate(plays([0.3]), Rule())
    assert (one.score, one.stderr) == (0.3, None)
    assert -1 <= one.ci95[0] < 0.3 < one.ci95[1] <= 1  # of one score: nearly anything


def test_repeats_of_an_item_are_one_unit():
    """20 items ten times have the score and the interval of 20."""
    rng = RNG(2)
    once = (rng.random(20) < 0.6).astype(float)
    rule = Rule(low=0.0, strata="K")
    stratum = np.arange(20) // 4
    single = estimate(plays(once, stratum=stratum), rule)
    tenfold = estimate(
        plays(np.tile(once, 10), item=np.tile(np.arange(20), 10), stratum=np.tile(stratum, 10)),
        rule,
    )
    assert tenfold.units == single.units == 20
    assert tenfold.episodes == 200
    assert tenfold.score == pytest.approx(single.score)
    assert tenfold.ci95 == pytest.approx(single.ci95)


def test_items_of_a_cluster_are_not_independent():
    rng = RNG(3)
    score = np.repeat(rng.uniform(-0.5, 0.5, 12), 5) + rng.normal(0, 0.01, 60)
    alone, together = (
        estimate(plays(score, cluster=cluster), Rule())
        for cluster in (np.arange(60), np.repeat(np.arange(12), 5))
    )
    assert (together.units, together.clusters) == (60, 12)
    assert together.stderr == pytest.approx(stats.sem(score.reshape(12, 5).mean(axis=1)))
    assert together.stderr > 2 * alone.stderr


def test_a_weighted_figure_weighs_strata_by_number_and_complexity():
    score, k = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), np.array([7, 7, 9, 9, 9])
    found = estimate(plays(score, stratum=k), Rule("k", weighted=True, low=0.0))
    assert found.score == pytest.approx((score * k).sum() / k.sum())


def test_a_pair_is_compared_in_the_figure_that_each_is_scored_by():
    rng = RNG(4)
    k = np.repeat([7.0, 9.0, 14.0], (5, 20, 10))
    one, other = (plays((rng.random(35) < p).astype(float), stratum=k) for p in (0.8, 0.4))
    for rule in (Rule("k", low=0.0), Rule("k", weighted=True, low=0.0)):
        found = difference(one, other, rule, NAMES)
        assert found.mean == pytest.approx(estimate(one, rule).score - estimate(other, rule).score)


def test_a_pair_is_compared_on_the_items_it_has_in_common():
    one, other = plays([0.1, 0.2, 0.3, np.nan]), plays([np.nan, 0.1, 0.1, 0.9])
    found = difference(one, other, Rule(), NAMES)
    assert found.units == (2,)
    assert found.mean == pytest.approx(0.15)
    strangers = plays([0.4, 0.5], item=[7, 8])
    assert difference(one, strangers, Rule(), NAMES) is None
    assert not difference(one, strangers, Rule(), NAMES, unpaired=True).paired


# ---------------------------------------------------------------- normalised


def test_normalised_is_between_floor_and_ceiling_as_measured():
    """By hand: a ratio of means, whose error is that of gap - ratio · width."""
    rng = RNG(5)
    low, high = rng.uniform(-0.2, 0.1, 40), rng.uniform(0.7, 1, 40)
    own = low + 0.6 * (high - low) + rng.normal(0, 0.05, 40)
    value, ends = normalised(plays(own), plays(low), plays(high), Rule())
    ratio = (own - low).mean() / (high - low).mean()
    assert value == pytest.approx(ratio)
    error = stats.sem((own - low) - ratio * (high - low)) / (high - low).mean()
    assert ends == pytest.approx(stats.t.interval(0.95, 39, ratio, error))


def test_floor_is_0_and_ceiling_is_1():
    rng = RNG(6)
    low, high = plays(rng.uniform(-0.2, 0.1, 40)), plays(rng.uniform(0.7, 1, 40))
    assert normalised(low, low, high, Rule()) == (pytest.approx(0), None)
    assert normalised(high, low, high, Rule()) == (pytest.approx(1), None)
    known = normalised(plays(np.full(40, 0.5)), low, 1.0, Rule())
    assert known[0] == pytest.approx((0.5 - low.score.mean()) / (1 - low.score.mean()))


def test_without_a_scale_nothing_is_normalised():
    rng = RNG(7)
    low, same = (plays(rng.uniform(0, 1, 40)) for _ in range(2))
    assert normalised(low, low, same, Rule()) is None  # the ends cannot be told apart
    assert normalised(low, plays(np.ones(40)), plays(np.ones(40)), Rule()) is None
    assert normalised(plays([0.5]), plays([0.0]), plays([1.0]), Rule()) is None
    strangers = plays(rng.uniform(0, 1, 40), item=np.arange(100, 140))
    assert normalised(low, strangers, 1.0, Rule()) is None


def test_two_exercises_make_no_scale_between_floor_and_ceiling():
    """Both right against both wrong is undecided, so nothing lies between them."""
    for n, there in ((2, False), (5, False), (8, True)):
        found = normalised(plays(np.ones(n)), plays(np.zeros(n)), plays(np.ones(n)), Rule(low=0.0))
        assert (found is not None) is there, n


def test_a_score_that_never_varied_has_no_standard_error():
    for n in (2, 30):
        found = estimate(plays(np.ones(n)), Rule(low=0.0))
        assert found.stderr is None
        assert found.ci95[0] < 1


def test_administrations_that_are_mostly_alike_are_not_called_too_few():
    units = Units(np.r_[np.zeros(9), 1.0], np.zeros(10, int), np.arange(10), np.ones(1), -9, 9)
    assert "most units are alike" in of_levels(units, ("a", "b")).words
    same = replace(units, score=np.zeros(10))
    assert "did the same on every unit" in of_levels(same, ("a", "b")).words


def test_the_interval_of_normalised_covers_at_its_rate():
    rng, times, inside = RNG(8), 1000, 0
    for _ in range(times):
        world = rng.normal(0, 0.2, 30)
        low, high = world + rng.normal(0, 0.1, 30), world + rng.normal(0.8, 0.1, 30)
        own = world + rng.normal(0.4, 0.1, 30)
        _, ends = normalised(plays(own), plays(low), plays(high), Rule(low=-2, high=3))
        inside += ends[0] <= 0.5 <= ends[1]
    assert 0.93 - 0.02 < inside / times < 0.98


# ---------------------------------------------------------------- as plays come in


def block(first, score, stratum=None, failed=()):
    score = np.array(score, float).reshape(len(score), -1)
    status = np.zeros(score.shape, np.int8)
    for lane in failed:
        status[lane], score[lane] = 2, -1.0
    return Block(
        first=first,
        complexity={"K": np.array(stratum, float)} if stratum is not None else {},
        score=score,
        learning=score * 0.5,
        status=status,
        steps=np.full(len(score), 10, np.int32),
        curve=np.zeros(10),
        actions=np.zeros((0, 10, score.shape[1]), np.int16),
    )


def tallied(*blocks, strata=None, scored=(0,)):
    tally = Tally(Rule(strata, scored=scored))
    for one in blocks:
        tally.add(one)
    return tally.estimate()


def test_all_slots_of_an_exercise_are_one_value():
    found = tallied(block(0, [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]), scored=(0, 1))
    assert (found.score, found.units) == (0.5, 3)
    assert found.stderr is None
    assert found.ci95[0] < 0.5 < found.ci95[1]  # three that are alike do not prove it


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 2000), max_size=6), st.integers(0, 5))
def test_the_figures_are_the_same_bits_in_any_chunks(cuts, seed):
    rng = RNG(seed)
    score, stratum = rng.uniform(-1, 1, 8000), np.arange(8000) % 7
    whole = tallied(block(0, score, stratum), strata="K")
    places = sorted({0, 8000, *np.cumsum(cuts).tolist()} & set(range(8001)))
    parts = [block(a, score[a:b], stratum[a:b]) for a, b in itertools.pairwise(places)]
    assert tallied(*parts, strata="K") == whole


def test_learning_is_of_plays_that_were_finished():
    found = tallied(block(0, [0.4, 0.2, 0.9, 0.2], failed=[2]))
    assert found.learning == pytest.approx(np.mean([0.2, 0.1, 0.1]))
    assert found.score == pytest.approx(np.mean([0.4, 0.2, -1.0, 0.2]))


def test_an_empty_tally_has_no_score():
    assert Tally(Rule()).estimate().score is None
