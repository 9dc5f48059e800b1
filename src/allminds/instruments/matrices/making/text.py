"""Problems in words, for minds that read: prose, tuples and JSON of the same item; and probes.

Anything with `cells` and `options` can be told, of the cells only the first eight. The words say
what a careful eye sees, and nothing of rules. A mind that fails a matrix may not have seen it:
each probe asks for one attribute of one cell, and has one right answer in a word or a number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from allminds.instruments.matrices.making.panel import (
    COLOURS,
    NAMES,
    POLYGONS,
    Figure,
    Marks,
    Panel,
)

SIZE_WORDS = ("tiny", "very small", "small", "medium", "large", "very large", "huge")
PLACE_WORDS = (
    "top left", "top", "top right",
    "left", "centre", "right",
    "bottom left", "bottom", "bottom right",
)  # fmt: skip
SHAPE_WORDS = {
    "3": "triangle", "4": "square", "5": "pentagon", "6": "hexagon", "7": "heptagon",
    "8": "octagon", "9": "nonagon", "circle": "circle", "ellipse": "ellipse", "line": "line",
    "arc": "arc",
}  # fmt: skip
COUNT_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
MARK_WORDS = {
    "lines": ("top", "right", "bottom", "left"),
    "corners": ("top left", "top right", "bottom right", "bottom left"),
    "dots": ("top left", "top", "top right", "bottom left", "bottom", "bottom right"),
}
_ASKED = (
    "Nine cells are arranged in three rows of three and follow rules along the rows. "
    "The ninth cell is missing."
)


class Asked(Protocol):
    """A problem, or what is seen of one."""

    @property
    def cells(self) -> Sequence[Panel]: ...
    @property
    def options(self) -> Sequence[Panel]: ...


# ---------------------------------------------------------------- problems


def prose(asked: Asked) -> str:
    """Describe the cells and the options in sentences."""
    lines = [_ASKED, ""]
    lines += [f"Cell {n}: {described(cell)}." for n, cell in enumerate(asked.cells[:8], 1)]
    lines += ["Cell 9: ?", "", "Which option belongs in cell 9?", ""]
    lines += [
        f"{name}: {described(option)}." for name, option in zip(NAMES, asked.options, strict=False)
    ]
    return "\n".join([*lines, "", _answer(asked)])


def tuples(asked: Asked) -> str:
    """Write the cells and the options as tuples of values."""
    lines = [
        _ASKED,
        "Each cell is a tuple (shape, size, count, colour, angle, place), a dash for no figure; "
        "after a bar come marks on its rim (kind, which, colour). Polygons are named by their "
        "sides, sizes are levels 0 to 6, angles are degrees, places are 0 to 8 row by row.",
        "",
    ]
    cells = [tuple_of(cell) for cell in asked.cells[:8]] + ["?"]
    lines += [f"row {row + 1}: {'; '.join(cells[3 * row : 3 * row + 3])}" for row in range(3)]
    lines.append("")
    lines += [
        f"{name}: {tuple_of(option)}" for name, option in zip(NAMES, asked.options, strict=False)
    ]
    return "\n".join([*lines, "", _answer(asked)])


def as_json(asked: Asked) -> str:
    """Write the cells and the options as JSON: the attribute records of the data sets."""
    told = {
        "cells": [cell.to_record() for cell in asked.cells[:8]] + [None],
        "options": {
            name: option.to_record() for name, option in zip(NAMES, asked.options, strict=False)
        },
        "question": f"{_ASKED} {_answer(asked)}",
    }
    return json.dumps(told, ensure_ascii=False)


def _answer(asked: Asked) -> str:
    return f"Answer with one letter, A to {NAMES[len(asked.options) - 1]}."


# ---------------------------------------------------------------- panels


def described(panel: Panel) -> str:
    """Describe a panel in words."""
    parts = []
    if panel.figure:
        parts.append(_figure(panel.figure))
    if panel.marks:
        parts.append(_marks(panel.marks))
    return "; ".join(parts) or "nothing"


def _figure(figure: Figure) -> str:
    copies = figure.count * len(figure.place)
    shapes = _joined([SHAPE_WORDS[shape] + "s" * (copies > 1) for shape in figure.shape])
    words = [COUNT_WORDS[copies], _sizes(figure.size), _colours(figure.colour), shapes]
    text = " ".join(word for word in words if word)
    if len(figure.shape) > 1:
        text += " side by side"
    if len(figure.size) > 1:
        text += ", one inside the other"
    if len(figure.angle) > 1:
        text += f" in {COUNT_WORDS[len(figure.angle)]} directions, {_degrees(figure.angle)}"
    elif figure.angle[0]:
        text += f" turned by {_degrees(figure.angle)}"
    if figure.layout == "similar" and copies > 1:
        text += ", nearly alike"
    if figure.layout == "grid":
        text += f", at the {_joined([PLACE_WORDS[place] for place in figure.place])}"
    return text


def _sizes(levels: Sequence[int]) -> str:
    return _joined([SIZE_WORDS[level] for level in levels])


def _colours(colours: Sequence[str]) -> str:
    return colours[0] if len(colours) == 1 else f"half {colours[0]} half {colours[1]}"


def _degrees(angles: Sequence[float]) -> str:
    return f"{_joined([f'{angle:g}' for angle in angles])} degrees"


def _marks(marks: Marks) -> str:
    names = [MARK_WORDS[marks.inventory][n] for n in marks.present]
    kind = marks.inventory if len(names) != 1 else marks.inventory.removesuffix("s")
    if not names:
        return f"no {kind} on the rim"
    return f"{marks.colour} {kind} on the rim at the {_joined(names)}"


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def tuple_of(panel: Panel) -> str:
    """Write a panel as a tuple of values; several values of one attribute are in braces."""
    figure, marks = panel.figure, panel.marks
    text = "-"
    if figure:
        values = [
            _values(figure.shape), _values(figure.size), str(figure.count),
            _values(figure.colour), _values([f"{angle:g}" for angle in figure.angle]),
            _values(figure.place),
        ]  # fmt: skip
        text = f"({', '.join(values)})"
    if marks:
        which = ",".join(map(str, marks.present))
        text += f" | ({marks.inventory}, {{{which}}}, {marks.colour})"
    return text


def _values(values: Sequence[object]) -> str:
    words = [str(value) for value in values]
    return words[0] if len(words) == 1 else "{" + ",".join(words) + "}"


# ---------------------------------------------------------------- what is to be seen


class Probe(NamedTuple):
    """A question about a cell, its answer, and what else might be answered."""

    cell: int  # from 1
    attribute: str
    question: str
    answer: str
    choices: tuple[str, ...]


def probes(asked: Asked) -> list[Probe]:
    """List all questions about the eight cells that have no doubtful answer."""
    return [
        Probe(n, attribute, question.format(n=n), answer, choices)
        for n, cell in enumerate(asked.cells[:8], 1)
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
