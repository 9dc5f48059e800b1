"""Words, tuples and JSON of an item, and questions about what is to be seen."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from allminds.instruments.matrices.instrument import Item
from allminds.instruments.matrices.making.generator import problems
from allminds.instruments.matrices.making.panel import Figure, Marks, Panel
from allminds.instruments.matrices.making.text import (
    Probe,
    as_json,
    described,
    probes,
    prose,
    right,
    tuple_of,
    tuples,
)

PLAIN = Figure(("3",), (6,), 1, ("red",), (0.0,), (4,))


@pytest.mark.parametrize(
    ("panel", "words", "values"),
    [
        (Panel(PLAIN, None), "one huge red triangle", "(3, 6, 1, red, 0, 4)"),
        (
            Panel(replace(PLAIN, count=3, layout="slots", size=(0,), angle=(30.0,)), None),
            "three tiny red triangles turned by 30 degrees",
            "(3, 0, 3, red, 30, 4)",
        ),
        (
            Panel(replace(PLAIN, count=2, layout="similar", size=(5,)), None),
            "two very large red triangles, nearly alike",
            "(3, 5, 2, red, 0, 4)",
        ),
        (
            Panel(replace(PLAIN, shape=("4", "circle"), colour=("black", "blue")), None),
            "one huge half black half blue square and circle side by side",
            "({4,circle}, 6, 1, {black,blue}, 0, 4)",
        ),
        (
            Panel(replace(PLAIN, shape=("line",), angle=(0.0, 45.0, 90.0)), None),
            "one huge red line in three directions, 0, 45 and 90 degrees",
            "(line, 6, 1, red, {0,45,90}, 4)",
        ),
        (
            Panel(replace(PLAIN, place=(0, 8), layout="grid"), Marks("dots", (1,), "green")),
            "two huge red triangles, at the top left and bottom right; "
            "green dot on the rim at the top",
            "(3, 6, 1, red, 0, {0,8}) | (dots, {1}, green)",
        ),
        (Panel(None, Marks("lines", (), "red")), "no lines on the rim", "- | (lines, {}, red)"),
    ],
)
def test_a_panel_in_words_and_as_a_tuple(panel, words, values):
    assert described(panel) == words
    assert tuple_of(panel) == values


def test_different_panels_have_different_words():
    seen = {}
    for problem in problems(31, 0, 300):
        for panel in (*problem.cells, *problem.options):
            plain = panel  # layout is not told by tuples, but by the places they name
            figure = panel.figure
            if figure and figure.layout != "grid" and "nearly alike" not in described(panel):
                plain = replace(panel, figure=replace(figure, layout="whole"))
            assert seen.setdefault(described(panel) + tuple_of(panel), plain) in (plain, panel)


@pytest.mark.parametrize("form", [prose, tuples, as_json])
def test_the_ninth_cell_is_never_told(form):
    for problem in problems(32, 0, 20):
        other = replace(problem, cells=(*problem.cells[:8], problem.cells[0]), answer=0, rules=())
        assert form(problem) == form(other) == form(Item(problem.cells[:8], problem.options))
        assert "A to D" in form(problem)


def test_json_can_be_read_back():
    (problem,) = problems(33, 5, 6)
    told = json.loads(as_json(problem))
    assert tuple(Panel.from_record(cell) for cell in told["cells"][:8]) == problem.cells[:8]
    assert told["cells"][8] is None
    assert [Panel.from_record(one) for one in told["options"].values()] == list(problem.options)


# ---------------------------------------------------------------- probes


def test_probes_ask_only_what_can_be_seen_and_know_the_answer():
    cells = (Panel(replace(PLAIN, count=4, layout="slots"), Marks("dots", (0, 2), "blue")),) * 8
    asked = [probe for probe in probes(Item(cells, ())) if probe.cell == 4]
    assert {probe.attribute: probe.answer for probe in asked} == {
        "count": "4", "colour": "red", "shape": "3", "marks": "2", "mark colour": "blue",
    }  # fmt: skip
    question = next(probe.question for probe in asked if probe.attribute == "count")
    assert question.startswith("How many shapes are there in cell 4")
    twice = replace(PLAIN, size=(1, 3), colour=("red", "blue"))
    assert probes(Item((Panel(twice, None),) * 8, ())) == []


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ("top", True), ("At the top.", True), ("top left", False), ("It is the TOP cell", True),
        ("top or left", False), ("bottom", False), ("", False),
    ],
)  # fmt: skip
def test_an_answer_is_right_if_it_names_the_right_place_and_no_other(said, is_right):
    probe = Probe(1, "position", "Where?", "top", ("top left", "top", "left", "bottom"))
    assert right(probe, said) is is_right


def test_numbers_may_be_words():
    probe = Probe(1, "count", "How many?", "3", ("1", "2", "3", "13"))
    assert right(probe, "There are three.")
    assert right(probe, "3")
    assert not right(probe, "13")
    assert not right(probe, "2 or 3")


def test_every_problem_has_probes_with_answers_among_their_choices():
    for problem in problems(34, 0, 100):
        for probe in probes(problem):
            assert probe.answer in probe.choices
            assert right(probe, probe.answer)
            assert str(probe.cell) in probe.question
