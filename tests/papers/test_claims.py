"""Agreement counts numbers that a paper prints, by the precision of the print."""

from __future__ import annotations

import re

import pytest
from quotes import text_of

from allminds.papers import PAPERS, Claim, paper


def claim(printed, ours, **given):
    return Claim("§1", "a number", printed, ours, quote=printed, **given)


@pytest.mark.parametrize(
    ("printed", "ours", "agrees"),
    [
        ("16.64", 16.6355, True),
        ("16.64", 16.6486, False),
        (".27", 0.2651, True),
        (".27", 0.2649, False),
        ("14", 13.51, True),
        ("14", 13.12, False),
        ("-1/6", -1 / 6, True),
        ("-1/6", -0.167, False),
        ("five", 5, True),
        ("< .001", 0.0009, True),
        ("< .001", 0.001, False),
    ],
)
def test_a_number_agrees_within_half_a_unit_of_its_last_place(printed, ours, agrees):
    assert claim(printed, ours).agrees is agrees


def test_an_exact_value_is_not_a_rounded_one_and_errors_are_added():
    assert not claim("1", 0.99, exact=True).agrees
    assert claim("1", 0.99).agrees
    assert claim(".259", 0.2726, error=0.028).agrees
    assert not claim(".259", 0.2726, error=0.01).agrees


@pytest.mark.parametrize("name", PAPERS)
def test_every_figure_and_table_of_a_paper_is_made_or_has_its_reason(name):
    kinds = {"Fig": "figure", "Figure": "figure", "Table": "table"}
    named = re.findall(r"\b(Fig|Figure|Table)\.? (\d+)", text_of(name))
    found = {f"{kinds[kind]}-{number}" for kind, number in named}
    about = paper(name)
    assert found <= {*about.parts, *about.not_made}
    made = {part for part in about.parts if re.fullmatch(r"(figure|table)-\d+", part)}
    assert made <= found
    assert not made & set(about.not_made)
