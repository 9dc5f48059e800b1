"""P4 computed again, beside the program its authors released."""

from __future__ import annotations

import pytest

from allminds.papers import paper


@pytest.mark.slow
def test_our_scores_are_those_of_the_released_program():
    """Eleven numbers, four standard errors each: one run in about 1,500 would fail by chance."""
    assert [claim.what for claim in paper("chmait-2016").claims() if not claim.agrees] == []


@pytest.mark.slow
def test_an_expert_to_follow_is_worth_more_than_company():
    table = paper("chmait-2016").parts["by-size"]().table.set_index("size")
    assert (table.loc[10, "imitation"] > table.loc[10].drop("imitation")).all()


def test_the_search_space_grows_with_the_grid():
    table = paper("chmait-2016").parts["complexity"]().table
    assert table["H bits"].is_monotonic_increasing
    assert set(table["example K"]) == {6}
