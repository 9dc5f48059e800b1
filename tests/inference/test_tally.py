"""A tally of many plays counts those that are alike; the oracle is one that keeps them all."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds.contracts import STATUSES
from allminds.core.blocks import Block
from allminds.inference import Rule, Tally, tally
from allminds.inference.estimates import summed
from allminds.inference.intervals import Betting

RNG = np.random.default_rng
FAILED, MISSING = STATUSES.index("error"), STATUSES.index("missing")


def block(first, score, stratum, status, learning, **more):
    return Block(
        first=first,
        complexity={"K": stratum},
        score=score[:, None],
        learning=learning[:, None],
        status=status[:, None],
        steps=np.full(len(score), 10, np.int32),
        curve=np.zeros(10),
        actions=np.zeros((0, 10, 1), np.int16),
        **more,
    )


def drawn(seed, n, values, strata, lost):
    """Scores among few values, in strata of different sizes; some failed and some are missing."""
    rng = RNG(seed)
    stratum = 1 + np.floor(rng.uniform(0, 1, n) ** 2 * strata)
    score = rng.choice(values, n, p=rng.dirichlet(np.full(len(values), 0.5)))
    status = np.where(rng.uniform(size=n) < lost, FAILED, 0)
    status = np.where(rng.uniform(size=n) < lost / 2, MISSING, status).astype(np.int8)
    score = np.where(status == FAILED, min(values), score)
    learning = np.where(rng.uniform(size=n) < 0.1, np.nan, rng.choice([-0.5, -0.0, 0.0, 0.25], n))
    return score, stratum, status, learning


def filled(rule, columns, cuts=(), paired=()):
    made, n = Tally(rule, paired), len(columns[0])
    places = sorted({0, n, *(cut for cut in cuts if cut < n)})
    for low, high in itertools.pairwise(places):
        made.add(block(low, *(column[low:high] for column in columns)))
    return made


def alike(one, other, reach):
    """Compare all figures: to 1e-12 of the scale, and the interval to `reach`."""
    for name, value in dataclasses.asdict(one).items():
        expected, most = getattr(other, name), reach if name == "ci95" else 1e-12
        assert value == (None if expected is None else pytest.approx(expected, rel=most, abs=most))


SCALES = [
    (0.0, 1.0, (0.0, 1.0)),  # hits
    (-1.0, 1.0, (-1.0, -0.5, 0.0, 0.25, 1.0)),
    (0.0, 9.0, (0.0, 0.1, 0.2, 9.0)),  # some far from the others
    (-1.0, 1.0, (0.5,)),  # no variance
]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(SCALES),
    st.integers(1, 400),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from([0.0, 0.04, 0.4, 2.0]),
    st.integers(0, 99),
    st.lists(st.integers(1, 400), max_size=5),
)
def test_counted_plays_have_the_figures_of_all_plays(scale, n, strata, weighted, lost, seed, cuts):
    low, high, values = scale
    rule = Rule("K" if strata > 1 else None, weighted, low, high)
    columns = drawn(seed, n, values, strata, lost)
    full = filled(rule, columns, paired=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "MOST", 20)
        counted, again = filled(rule, columns, cuts), filled(rule, columns, [c // 2 for c in cuts])
        assert bool(counted._lots) is (n > 20)
        found = counted.estimate()
        assert again.estimate() == found  # to the bit
    bets = isinstance(summed(full.plays(), rule)[2], Betting)
    alike(found, full.estimate(), 1e-8 if bets else 1e-12)  # whose ends are searched to 1e-9


def test_many_scores_of_few_values_take_few_rows(monkeypatch):
    monkeypatch.setattr(tally, "MOST", 1000)
    columns = drawn(1, 50_000, (0.0, 0.5, 1.0), 4, 0.01)
    made = filled(Rule("K", low=0.0), columns, range(0, 50_000, 700), [(10, 20), (40_000, 40_005)])
    rows = len(set(zip(*(np.nan_to_num(of, nan=9.0).tolist() for of in columns), strict=True)))
    assert sum(map(len, made._lots)) <= 64 * rows
    assert made.plays().item.tolist() == [*range(10, 20), *range(40_000, 40_005)]
    assert (
        made.plays().score.tolist()
        == filled(Rule("K", low=0.0), columns, paired=None)
        .plays()
        .where(np.isin(np.arange(50_000), made.plays().item))
        .score.tolist()
    )
    assert made.estimate().episodes == 50_000


def test_scores_that_are_all_different_are_kept(monkeypatch):
    monkeypatch.setattr(tally, "MOST", 64)
    rng = RNG(3)
    columns = [rng.uniform(-1, 1, 9000), np.zeros(9000), np.zeros(9000, np.int8), np.zeros(9000)]
    made = filled(Rule(), columns, range(0, 9000, 100))
    alike(made.estimate(), filled(Rule(), columns, paired=None).estimate(), 1e-12)


@pytest.mark.parametrize("kind", ["item", "cluster"])
def test_repeats_and_clusters_are_never_counted(kind, monkeypatch):
    monkeypatch.setattr(tally, "MOST", 10)
    columns, made = drawn(2, 60, (0.0, 1.0), 1, 0.0), Tally(Rule(low=0.0))
    made.add(block(0, *columns, **{kind: np.arange(60) % 7}))
    assert not made._lots
    assert made.estimate().clusters == 7


def test_items_that_are_named_halfway_are_refused(monkeypatch):
    monkeypatch.setattr(tally, "MOST", 10)
    columns = drawn(2, 60, (0.0, 1.0), 1, 0.0)
    made = filled(Rule(low=0.0), columns)
    with pytest.raises(ValueError, match="for some exercises"):
        made.add(block(60, *columns, item=np.arange(60) % 7))


def test_rows_that_share_a_number_stay_apart(monkeypatch):
    monkeypatch.setattr(tally, "MOST", 10)
    columns = drawn(4, 300, (0.0, 0.25, 1.0), 3, 0.1)
    expected = filled(Rule("K"), columns, range(0, 300, 40)).estimate()
    monkeypatch.setattr(tally, "_mixed", lambda bits: np.zeros(bits.shape[1], np.uint64))
    alike(filled(Rule("K"), columns, range(0, 300, 40)).estimate(), expected, 1e-12)
