"""The catalogue of patterns has the law that the docs state: checked by an independent program."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pattern_law import distinct, local_search, shelves

from allminds import registry
from allminds.core.watch import Watch
from allminds.episode import form

LEVELS = (5, 8, 11)  # shelves that are full after 60,000 draws; at 5 the law shows most


@pytest.fixture(scope="module")
def law():
    found = shelves(distinct(np.random.default_rng(2016), 60_000), 1_000)
    assert all(len(found[k]) == 1_000 for k in LEVELS)
    return found


@pytest.fixture(scope="module")
def tool():
    return registry.make_instrument("lambda-star", {"rows": 5, "cols": 5})


@pytest.mark.parametrize("k", LEVELS)
def test_segments_of_a_complexity_have_the_lengths_of_the_law(k, law, tool):
    """Two samples of 1,000: mean lengths within four standard errors, 1 in 16,000 by chance."""
    ours = [len(tool.catalogue.segment(k, n)) for n in range(tool.catalogue.size(k))]
    theirs = [len(segment) for segment in law[k]]
    error = math.sqrt((np.var(ours) + np.var(theirs)) / 1_000)
    assert len({tool.catalogue.segment(k, n) for n in range(1_000)}) == len(ours) == 1_000
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


@pytest.mark.parametrize("k", LEVELS)
def test_local_search_scores_the_same_on_patterns_of_the_law(k, law):
    """Four standard errors, over Good's segments: the 1,000 of ours are a sample, too."""
    score, segment = local_search(np.random.default_rng(k), law[k], 8_000)
    of_segment = [score[segment == n].mean() for n in np.unique(segment)]
    error = np.std(of_segment) / math.sqrt(len(of_segment)) * math.sqrt(2)
    tool = registry.make_instrument("lambda-star", {"rows": 5, "cols": 5, "k": str(k)})
    ours = form(tool, registry.line_up("local-search", tool), Watch()).play(3, 0, 20_000, 0).score
    assert error < 0.006
    assert abs(ours.mean() - score.mean()) < 4 * error
