"""The battery: blind shortcuts are at chance on our problems, and not on a set that leaks."""

from __future__ import annotations

import pytest

from allminds.core.errors import Error
from allminds.instruments.matrices.dataset.battery import (
    Sight,
    battery,
    best,
    of_sights,
    rule_induction,
    unfair,
)
from allminds.instruments.matrices.making import rules as settings
from allminds.instruments.matrices.making.generator import batch, problems
from allminds.instruments.matrices.making.rules import encoded

MUST = ("majority vote", "blind table", "most ink", "least ink", "brightest", "darkest")


def sights(seed, count, asked):
    made = batch(seed, range(count), asked)
    coded = [made.coded(n) for n in range(count)]
    return [Sight(one.cells[:8], one.options, one.answer) for one in coded]


@pytest.mark.slow
@pytest.mark.parametrize("values", [{"rules": 1}, {"rules": 3, "candidates": 8}])
def test_blind_shortcuts_are_at_chance_and_the_solver_is_not(values):
    seen = sights(41, 3000, settings.made(**values))
    entries = {entry.name: entry for entry in of_sights(seen)}
    assert not unfair(list(entries.values()))
    assert all(entries[name].blind and entries[name].at_chance for name in MUST)
    assert entries["majority vote"].hits == pytest.approx(entries["majority vote"].chance)
    assert all(best(rule_induction(one.cells, one.options)) == [one.answer] for one in seen)


def test_a_set_in_which_each_wrong_option_differs_in_one_attribute_is_found_out():
    """The way of RAVEN: who votes among the options is right."""
    leaking = []
    for one in sights(42, 600, settings.made(rules=3, candidates=8)):
        right = one.options[one.answer]
        near = [o for o in one.options if sum(a != b for a, b in zip(o, right, strict=True)) <= 1]
        leaking.append(Sight(one.cells, near, near.index(right)))
    found = {entry.name: entry for entry in unfair(of_sights(leaking))}
    assert found["majority vote"].hits == 1.0
    assert not found["majority vote"].at_chance


def test_a_set_in_which_a_value_is_always_right_is_found_out_by_the_table():
    """The answer is always the least of the values on offer."""
    leaking = []
    for one in sights(43, 600, settings.made(rules=1, kinds="constant", attributes="size")):
        least = min(range(4), key=lambda n, o=one: o.options[n])
        leaking.append(Sight(one.cells, one.options, least))
    assert {"blind table", "least ink"} <= {entry.name for entry in unfair(of_sights(leaking))}


def test_what_was_measured_otherwise_joins_in():
    made = list(problems(44, 0, 400))
    sizes = [[100 + (n == problem.answer) for n in range(4)] for problem in made]
    found = {entry.name: entry for entry in battery(made, {"file": sizes})}
    assert found["largest file"].hits == 1.0
    assert found["smallest file"].hits == 0.0
    assert not found["largest file"].fair


def test_problems_and_their_codes_give_the_same_entries():
    made = list(problems(45, 0, 100))
    seen = [
        Sight([encoded(c) for c in p.cells[:8]], [encoded(o) for o in p.options], p.answer)
        for p in made
    ]
    assert battery(made) == of_sights(seen)


def test_shortcuts_through_the_context_are_printed_but_may_exceed_chance():
    found = {entry.name: entry for entry in of_sights(sights(46, 900, settings.made(rules=1)))}
    assert found["last row only"].hits > 0.6
    assert found["last row only"].fair
    assert found["seen in context"].hits > 0.3


def test_a_set_too_small_or_mixed_is_told():
    with pytest.raises(Error, match="two problems or more"):
        battery([])
    one = sights(47, 1, settings.made(rules=3))[0]
    other = sights(47, 1, settings.made(rules=3, candidates=8))[0]
    with pytest.raises(Error, match="equally many options"):
        of_sights([one, other])
