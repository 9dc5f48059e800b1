"""Measures: the entropies of the specification, and what a problem is said to need."""

from __future__ import annotations

import math

import pytest

from allminds.instruments.matrices.making import problems as beliefs
from allminds.instruments.matrices.making import rules as settings
from allminds.instruments.matrices.making.generator import problems
from allminds.instruments.matrices.making.problems import distance, needed_rules
from allminds.instruments.matrices.making.solver import Scale

KNOWN = ("constant", "progression", "distribution-of-three")


@pytest.mark.parametrize(
    ("values", "scale", "free", "progression", "three"),
    [
        (7, Scale("levels", 7), 2.80, 1.12, 1.95),  # size
        (4, Scale("numbers", 4, 1), 1.99, 0.34, 0.75),  # count
        (7, Scale("numbers", 7, 3), 2.79, 1.16, 1.94),  # sides
        (6, Scale("names"), 2.58, 2.00, 2.00),  # colour
        (8, Scale("ring", 8), 3.00, 2.04, 2.07),  # angle
        (9, Scale("grid", 9), 3.12, 0.97, 2.44),  # position
    ],
)
def test_the_bits_that_rows_1_and_2_must_supply(values, scale, free, progression, three):
    domain = (1 << values) - 1
    ways = ("constant", "progression", "three")
    variants = {kind: [(way, domain)] for kind, way in zip(KNOWN, ways, strict=True)}
    belief = beliefs.made(variants, scale)
    found = [belief.left_by(kind) for kind in KNOWN]
    assert [round(bits, 2) for bits in found] == [0.0, progression, three]
    assert round(belief.free, 2) == free


def test_after_one_row_of_counts_the_rule_may_be_in_doubt():
    domain = 0b1111
    ways = ("constant", "progression", "three")
    variants = {kind: [(way, domain)] for kind, way in zip(KNOWN, ways, strict=True)}
    belief = beliefs.made(variants, Scale("numbers", 4, 1))
    assert belief.doubt[1, 1, 1] == 0.0
    assert 0 < belief.doubt[1, 2, 4] < 1
    assert belief.doubt[1, 2, 8] == 0.0  # no progression


def test_the_measures_of_problems():
    for problem in problems(31, 0, 150):
        found = problem.measures
        assert 0 <= found["I_context"] <= found["I_answer"]
        assert 0 <= found["H_rule_row1"] <= problem.C * math.log2(3)  # kinds that share a row
        assert found["L_rules"] > problem.C * 5
        assert found["elements"] >= 9
        assert found["needed_rules"] == min(problem.C, 2)
        attributes = {rule.attribute for rule in problem.rules}
        if {rule.kind for rule in problem.rules} == {"constant"} and "count" not in attributes:
            assert found["I_context"] == 0.0  # the third row tells all; counts might be added


def test_four_options_never_need_three_rules_and_eight_do():
    assert [needed_rules(1, 4), needed_rules(2, 4), needed_rules(3, 4)] == [1, 2, 2]
    assert needed_rules(3, 8) == 3
    assert distance(3, 4) == 2.0
    assert distance(2, 4) == pytest.approx(4 / 3)


def test_a_bound_rule_adds_nothing_to_the_bits_of_the_answer():
    asked = settings.made(rules=2, kinds="distribution-of-three", attributes="size,colour")
    bound = {True: set(), False: set()}
    for problem in problems(32, 0, 60, asked):
        bound[problem.rules[1].bound].add(problem.measures["I_answer"])
    assert bound[True].pop() == pytest.approx(2.80, abs=0.005)
    assert bound[False].pop() == pytest.approx(2.80 + 2.58, abs=0.01)
    assert not bound[True] | bound[False]


def test_elements_are_counted():
    asked = settings.made(rules=1, kinds="progression", attributes="count")
    for problem in problems(33, 0, 10, asked):
        total = sum(cell.figure.count for cell in problem.cells)
        assert problem.measures["elements"] == total
