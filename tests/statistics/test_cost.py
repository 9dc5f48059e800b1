"""Is a group worth its cost: prices, the frontier, and the gain over the best single mind."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from coins import COINS, Coins
from commands import allminds
from test_worth import noisy

from allminds import registry
from allminds.core.errors import Error
from allminds.episode import play
from allminds.inference import Estimate
from allminds.statistics.cost import Asked, Costs, costs
from allminds.statistics.selection import against_best

GROUP = f"plurality({noisy(0.8)}*5)"


def asked(**more: object) -> Asked:
    return replace(Asked(COINS, {}, episodes=40), **more)


def scores(mind: str) -> np.ndarray:
    """Play in the plain loop, exercise by exercise."""
    tool = registry.make_instrument(Coins, {})
    line_up = registry.line_up(mind, tool)
    return np.array([play(tool.exercise(1, i), line_up).score[0] for i in range(40)], float)


def test_the_gain_is_paired_on_the_half_that_the_best_was_not_chosen_on() -> None:
    singles = [noisy(0.6), noisy(0.9)]
    found = costs(asked(), [GROUP], singles).gains[0]
    alone = np.column_stack([scores(one) for one in singles])
    best = against_best(alone, scores(GROUP), np.random.default_rng(1))
    assert best is not None
    assert found.best == singles[best.chosen]
    tool = registry.make_instrument(Coins, {})
    tens = np.array(
        [tool.exercise(1, int(i)).environment.complexity["tens"] for i in best.compared]
    )
    wanted = np.mean([best.differences[tens == value].mean() for value in np.unique(tens)])
    assert found.gain is not None
    assert found.gain.mean == pytest.approx(wanted, abs=1e-12)
    assert found.gain.units == (20,)
    assert found.measure == "tens"
    assert sum(band.gain.units[0] for band in found.bands) == 20


def test_a_single_mind_that_costs_more_is_on_the_frontier_but_is_no_rival() -> None:
    singles = [noisy(0.6), noisy(0.99)]
    for price, rivals in ((5.0, singles), (5.1, singles[:1])):
        found = costs(asked(prices={noisy(0.99): price}), [GROUP], singles)
        assert found.gains[0].rivals == rivals
        by = {one.label: one for one in found.entries}
        assert (by[GROUP].cost, by[noisy(0.99)].cost) == (5.0, price)
        assert found.frontier(by[noisy(0.99)])
    dear = costs(asked(prices={noisy(0.8): 2.0}), [GROUP], singles).entries
    assert max(one.cost for one in dear) == 10.0, "a price of members is that of each of them"
    whole = costs(asked(prices={GROUP: 0.5}), [GROUP], singles)
    assert whole.gains[0].rivals == []
    assert whole.gains[0].gain is None


def test_the_frontier_is_who_nobody_beats() -> None:
    one = costs(asked(episodes=2), [GROUP], []).entries[0]
    rng = np.random.default_rng(5)
    points = rng.integers(0, 4, (30, 2)).tolist()
    made = [replace(one, cost=float(x), score=Estimate(score=y / 4)) for x, y in points]
    found = Costs("stated", made, [])
    for (x, y), entry in zip(points, made, strict=True):
        beaten = any(a <= x and b >= y and (a, b) != (x, y) for a, b in points)
        assert found.frontier(entry) is not beaten


def test_seconds_are_told_and_decide_nothing() -> None:
    ticks = iter([0.0, 1e9, 0.0, 1e-9])
    found = costs(asked(), [GROUP], [noisy(0.9)], clock=lambda: next(ticks))
    plain = costs(asked(), [GROUP], [noisy(0.9)])
    assert [one.seconds for one in found.entries] != [one.seconds for one in plain.entries]
    assert [gain.as_json() for gain in found.gains] == [gain.as_json() for gain in plain.gains]


def test_equal_minds_are_said_to_differ_in_at_most_one_run_of_twenty() -> None:
    """Of 60 runs at a rate of .05, more than 8 come by chance in less than .5 % of cases."""
    four = [f"vote({noisy(0.7)}*4,drop={drop})" for drop in ("2/3/4", "1/3/4", "1/2/4", "1/2/3")]
    claimed = 0
    for seed in range(60):
        found = costs(asked(seed=seed, episodes=24), four[:1], four[1:]).gains[0]
        assert found.gain is not None
        claimed += found.gain.sign != 0
    assert claimed <= 8


@pytest.mark.parametrize(("more", "singles", "said"), [
    ({"prices": {"nobody": 1.0}}, [noisy(0.6)], "none of the minds"),
    ({}, [f"{noisy(0.6)}; coins=3"], "are not those of"),
    ({"unit": "hours"}, [noisy(0.6)], "stated, tokens or dollars"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(more: dict, singles: list[str], said: str) -> None:
    with pytest.raises(Error, match=said):
        costs(asked(**more), [GROUP], singles)


def test_the_command_prints_the_frontier_and_the_gain() -> None:
    words = ("worth", "matching-pennies", "-m", "vote(heads*3), heads", "--against",
             "random, heads", "--against", "tails, heads", "--price-of", "tails=9")  # fmt: skip
    found = json.loads(allminds(*words, "--json").stdout)
    assert found["gains"][0]["rivals"] == ["random, heads"]
    shown = allminds(*words).stdout
    assert "Γ = " in shown
    assert "frontier" in shown
    for wrong in (("--price-of", "tails"), ("--cost", "tokens")):
        assert allminds(*words, *wrong).returncode == 2
