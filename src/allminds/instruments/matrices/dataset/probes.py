"""Questions about what is to be seen, apart from what is to be thought.

A mind that fails a matrix may not have seen it. Each probe asks for one attribute of one cell, and
has one right answer in a word or a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allminds.instruments.matrices.making.panel import COLOURS, POLYGONS, Figure, Panel
from allminds.instruments.matrices.making.text import COUNT_WORDS, PLACE_WORDS, SHAPE_WORDS, Asked


class Probe(NamedTuple):
    """A question about a cell, its answer, and what else might be answered."""

    cell: int  # from 1
    attribute: str
    question: str
    answer: str
    choices: tuple[str, ...]


def probes(asked: Asked) -> list[Probe]:
    """List all questions about the eight cells that have no doubtful answer."""
    cells: Sequence[Panel] = asked.cells[:8]
    return [
        Probe(n, attribute, question.format(n=n), answer, choices)
        for n, cell in enumerate(cells, 1)
        for attribute, question, answer, choices in _about(cell)
    ]


def right(probe: Probe, said: str) -> bool:
    """Return whether an answer names the right choice and no other; numbers may be words."""
    signs = "".join(sign if sign.isalnum() else " " for sign in said.lower())
    words = [NUMBERS.get(word, word) for word in signs.split()]
    text = f" {' '.join(words)} "
    named = []
    for choice in sorted(probe.choices, key=len, reverse=True):  # "top left" before "top"
        if f" {choice} " in text:
            named.append(choice)
            text = text.replace(f" {choice} ", "  ")
    return named == [probe.answer]


NUMBERS = {word: str(n) for n, word in enumerate(COUNT_WORDS) if n}
_COUNTS = tuple(str(n) for n in range(37))
_SIDES = tuple(POLYGONS)
_OTHERS = ("polygon", *(word for shape, word in SHAPE_WORDS.items() if shape not in POLYGONS))

_Told = tuple[str, str, str, tuple[str, ...]]  # attribute, question, answer, choices


def _about(panel: Panel) -> Iterator[_Told]:
    figure, marks = panel.figure, panel.marks
    if figure:
        yield from _about_figure(figure)
    if marks:
        kind = {"lines": "bars", "corners": "corner marks", "dots": "dots"}[marks.inventory]
        question = f"How many {kind} are there along the rim of cell {{n}}?"
        yield "marks", question, str(len(marks.present)), _COUNTS
        if marks.present:
            question = f"What colour are the {kind} along the rim of cell {{n}}?"
            yield "mark colour", question, marks.colour, COLOURS


def _about_figure(figure: Figure) -> Iterator[_Told]:
    one_each = len(figure.size) == 1 and len(figure.angle) == 1
    if one_each:
        shapes = figure.count * len(figure.place) * len(figure.shape)
        question = "How many shapes are there in cell {n}, not counting marks along its rim?"
        yield "count", question, str(shapes), _COUNTS
    if len(figure.colour) == 1:
        yield "colour", "What colour are the shapes in cell {n}?", figure.colour[0], COLOURS
    if len(figure.shape) == 1 and one_each:
        shape = figure.shape[0]
        if shape in POLYGONS:
            yield "shape", "How many sides has each shape in cell {n}?", shape, _SIDES
        else:
            question = f"Is each shape in cell {{n}} a {', '.join(_OTHERS[:-1])} or {_OTHERS[-1]}?"
            yield "shape", question, SHAPE_WORDS[shape], _OTHERS
    if figure.layout == "grid" and len(figure.place) == 1:
        question = f"Where in cell {{n}} is the shape: {', '.join(PLACE_WORDS)}?"
        yield "position", question, PLACE_WORDS[figure.place[0]], PLACE_WORDS
