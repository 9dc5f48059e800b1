"""Panels and problems as SVG: the reference rendering.

A composite has the matrix above and the options below, with their letters; a key is the same with
the answer in its place and marked. Signs are drawn as strokes, not as text, so that no font is
needed and pixels are the same everywhere. But for the key, titles and descriptions say what is
shown, and nothing of the answer.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from allminds.instruments.matrices.drawing.geometry import (
    ARC,
    BLANK,
    FIRST,
    FLAT,
    OUTLINE,
    RIGHT,
    WHOLE,
    Element,
    centres,
    corners,
    glyph,
    is_polygon,
    mark_elements,
    turned,
)
from allminds.instruments.matrices.making.cases import SLENDER
from allminds.instruments.matrices.making.generator import generate
from allminds.instruments.matrices.making.panel import (
    ATTRIBUTES,
    KINDS,
    NAMES,
    PALETTE,
    SIDE,
    Kind,
    Panel,
    Problem,
)
from allminds.instruments.matrices.making.rules import CARRIED, Slot, made
from allminds.instruments.matrices.making.text import Asked

FRAME = 2  # width of the line round a panel
SPACE = 28  # between the frames of cells, so that no pattern seems to run on from one to the next
THICK = 8  # width of the line round the right option
STEP = SIDE + 2 * FRAME + SPACE  # from a cell to the next
MATRIX = 3 * STEP - SPACE  # the side of the matrix, with its frames
GAP = 16  # between options
LABEL = 34  # height of the line with the letters
ACROSS = 4  # options in a line
_OPENING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{2:g}" '
_MATRIX = "Three rows of three panels; the ninth is blank."


# ---------------------------------------------------------------- panels


def panel_svg(panel: Panel, size: int = SIDE) -> str:
    """Draw one panel, without a frame."""
    return _document(SIDE, SIDE, size / SIDE, "A panel", "", _white(SIDE, SIDE) + drawn(panel))


@lru_cache(maxsize=50_000)
def drawn(panel: Panel) -> str:
    """Draw what is in a panel: each glyph moved to its place."""
    figure, marks = panel.figure, panel.marks
    parts = []
    if figure:
        within = marks is not None
        for slot, (x, y) in enumerate(centres(figure, within)):
            one = _together(glyph(figure, within, slot))
            parts.append(f'<g transform="translate({_n(x)} {_n(y)})">{one}</g>')
    if marks:
        parts.append(_together(mark_elements(marks)))
    return "".join(parts)


@lru_cache(maxsize=50_000)
def _together(some: tuple[Element, ...]) -> str:
    return "".join(map(element_svg, some))


def element_svg(element: Element) -> str:
    """Draw one shape as SVG."""
    colour, edge = PALETTE[element.colour], PALETTE[element.edge]
    if element.shape == "line":
        low, high = {WHOLE: (-1, 1), FIRST: (-1, 0)}.get(element.part, (0, 1))
        ends = [turned(element, 0, element.r * end) for end in (low, high)]
        path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in ends)
        return f'<path d="{path}" stroke="{edge}" stroke-width="{_n(element.width)}"/>'
    if element.shape == "arc":
        path = _arc(element)
        return f'<path d="{path}" fill="none" stroke="{edge}" stroke-width="{_n(element.width)}"/>'
    style = f'fill="{colour}" stroke="{edge}" stroke-width="{_n(OUTLINE)}"'
    if is_polygon(element):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners(element))
        return f'<polygon points="{points}" {style}/>'
    return _round(element, style)


def _round(element: Element, style: str) -> str:
    """Draw a circle or an ellipse, or a half of one."""
    r, across = element.r, element.r * (FLAT if element.shape == "ellipse" else 1.0)
    if element.part == WHOLE:
        place = f'cx="{_n(element.x)}" cy="{_n(element.y)}"'
        if element.shape == "circle":
            return f'<circle {place} r="{_n(r)}" {style}/>'
        return f'<ellipse {place} rx="{_n(across)}" ry="{_n(r)}"{_turn(element)} {style}/>'
    top, bottom = turned(element, 0, -r), turned(element, 0, r)
    sweep = 0 if element.part == FIRST else 1
    path = (
        f"M{_n(top[0])} {_n(top[1])}A{_n(across)} {_n(r)} {_n(element.angle)} 0 {sweep} "
        f"{_n(bottom[0])} {_n(bottom[1])}Z"
    )
    return f'<path d="{path}" {style}/>'


def _arc(element: Element) -> str:
    """Trace the middle of the stroke of an arc, clockwise; its halves end on top."""
    r, half = element.r - element.width / 2, math.radians(ARC / 2)
    ends = [(-half, half), (-half, 0.0), (0.0, half)][element.part]
    start, end = (turned(element, r * math.sin(a), -r * math.cos(a)) for a in ends)
    large = int(element.part == WHOLE and ARC > 180)
    return f"M{_n(start[0])} {_n(start[1])}A{_n(r)} {_n(r)} 0 {large} 1 {_n(end[0])} {_n(end[1])}"


def _turn(element: Element) -> str:
    if not element.angle:
        return ""
    return f' transform="rotate({_n(element.angle)} {_n(element.x)} {_n(element.y)})"'


def _n(number: float) -> str:
    return f"{round(number, 2):g}"


# ---------------------------------------------------------------- problems


def matrix_svg(asked: Asked, size: int = SIDE) -> str:
    """Draw the matrix with its blank; `size` is that of a panel."""
    title, zoom = "A matrix with a blank", size / SIDE
    return _document(MATRIX, MATRIX, zoom, title, _MATRIX, _matrix(asked, _BLANK))


def options_svg(asked: Asked, size: int = SIDE) -> str:
    """Draw the options with their letters; `size` is that of a panel."""
    place = layout(len(asked.options), above=0)
    inner = _white(place.width, place.height) + _options(asked, place)
    return _document(place.width, place.height, size / SIDE, "Options", "", inner)


def composite_svg(asked: Asked, size: int = SIDE) -> str:
    """Draw the matrix and, below, the options with letters; `size` is that of a panel."""
    told = f"{_MATRIX} Which of the options {_range(asked)} belongs there?"
    return _composite(asked, size, "A matrix with a blank, and options", told, None)


def key_svg(problem: Problem, size: int = SIDE) -> str:
    """Draw the answer key: the composite with the answer in its place, both marked by frames."""
    told = f"Three rows of three panels; of the options {_range(problem)} the ninth is "
    return _composite(problem, size, "An answer key", f"{told}{problem.letter}.", problem.answer)


def _composite(asked: Asked, size: int, title: str, told: str, answer: int | None) -> str:
    place = layout(len(asked.options))
    ninth = _BLANK if answer is None else drawn(asked.options[answer]) + _THICK
    parts = [
        _white(place.width, place.height),
        f'<g transform="translate({place.matrix[0]:g} {place.matrix[1]:g})">',
        _matrix(asked, ninth),
        "</g>",
        _options(asked, place, answer),
    ]
    return _document(place.width, place.height, size / SIDE, title, told, "".join(parts))


def _range(asked: Asked) -> str:
    return f"{NAMES[0]} to {NAMES[len(asked.options) - 1]}"


class Composite(NamedTuple):
    """Where the parts of a composite are: the corners on the left and on top."""

    width: int
    height: int
    matrix: tuple[int, int]
    options: tuple[tuple[int, int], ...]


def layout(count: int, above: int = MATRIX + GAP) -> Composite:
    """Compute the places of `count` options, four in a line, with so much room above them."""
    lines = -(-count // ACROSS)
    width = ACROSS * SIDE + (ACROSS + 1) * GAP
    height = above + lines * (GAP + SIDE + LABEL) + GAP // 2
    options = tuple(
        (GAP + n % ACROSS * (SIDE + GAP), GAP + above + n // ACROSS * (SIDE + LABEL + GAP))
        for n in range(count)
    )
    return Composite(width, height, ((width - MATRIX) // 2, GAP), options)


def _matrix(asked: Asked, ninth: str) -> str:
    parts = [_white(MATRIX, MATRIX)]
    for n, cell in enumerate([*map(drawn, asked.cells[:8]), ninth]):
        x, y = FRAME + n % 3 * STEP, FRAME + n // 3 * STEP
        parts.append(f'<g transform="translate({x} {y})">{cell}{_FRAMED}</g>')
    return "".join(parts)


def _options(asked: Asked, place: Composite, answer: int | None = None) -> str:
    parts = []
    for n, (option, (x, y)) in enumerate(zip(asked.options, place.options, strict=True)):
        inner = drawn(option) + (_THICK if n == answer else "") + _FRAMED + _SIGNS[NAMES[n]]
        parts.append(f'<g transform="translate({x:g} {y:g})">{inner}</g>')
    return "".join(parts)


def _document(width: float, height: float, zoom: float, title: str, told: str, inner: str) -> str:
    opening = _OPENING.format(width, height, width * zoom)
    said = f"<title>{title}</title>" + (f"<desc>{told}</desc>" if told else "")
    return f'{opening}height="{height * zoom:g}" role="img">{said}{inner}</svg>'


def _white(width: float, height: float) -> str:
    return f'<path d="M0 0H{width:g}V{height:g}H0Z" fill="#fff"/>'


# ---------------------------------------------------------------- signs and frames

# Letters and a question mark as strokes, on a field of 4 x 6.
STROKES: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "A": (((0, 6), (2, 0), (4, 6)), ((0.8, 4), (3.2, 4))),
    "B": (
        ((0, 0), (2.4, 0), (3.4, 0.7), (3.4, 2.1), (2.4, 2.8), (0, 2.8), (0, 0)),
        ((2.4, 2.8), (3.8, 3.6), (3.8, 5.2), (2.6, 6), (0, 6), (0, 2.8)),
    ),
    "C": (((4, 1), (3, 0), (1, 0), (0, 1.2), (0, 4.8), (1, 6), (3, 6), (4, 5)),),
    "D": (((0, 0), (2.4, 0), (4, 1.6), (4, 4.4), (2.4, 6), (0, 6), (0, 0)),),
    "E": (((4, 0), (0, 0), (0, 6), (4, 6)), ((0, 2.9), (3.2, 2.9))),
    "F": (((4, 0), (0, 0), (0, 6)), ((0, 2.9), (3.2, 2.9))),
    "G": (
        ((4, 1), (3, 0), (1, 0), (0, 1.2), (0, 4.8), (1, 6), (3, 6), (4, 5), (4, 3.2), (2.4, 3.2)),
    ),
    "H": (((0, 0), (0, 6)), ((4, 0), (4, 6)), ((0, 2.9), (4, 2.9))),
    "?": (
        ((0.2, 1.6), (0.6, 0.6), (1.6, 0), (2.6, 0), (3.6, 0.7), (3.8, 1.8), (3.2, 2.7), (2, 3.5),
         (2, 4.4)),
        ((2, 5.5), (2, 6.1)),
    ),
}  # fmt: skip
LETTER, QUESTION = 3.0, 10.0  # how large a unit of that field is
BROAD = 0.8  # of a stroke, in these units


def _sign(name: str, x: float, y: float, unit: float) -> str:
    lines = "".join(
        "M" + "L".join(f"{_n(x + unit * (px - 2))} {_n(y + unit * (py - 3))}" for px, py in line)
        for line in STROKES[name]
    )
    return (
        f'<path d="{lines}" fill="none" stroke="#000" stroke-width="{_n(unit * BROAD)}" '
        'stroke-linejoin="round" stroke-linecap="round"/>'
    )


def _around(width: float, colour: str) -> str:
    """Draw a line of some width round a panel."""
    far = SIDE + width / 2
    path = f"M{-width / 2:g} {-width / 2:g}H{far:g}V{far:g}H{-width / 2:g}Z"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'


_BLANK = (
    f'<path d="M0 0H{SIDE}V{SIDE}H0Z" fill="{BLANK}"/>{_sign("?", SIDE / 2, SIDE / 2, QUESTION)}'
)
_SIGNS = {name: _sign(name, SIDE / 2, SIDE + LABEL / 2 + 2, LETTER) for name in NAMES}
_FRAMED, _THICK = _around(FRAME, PALETTE["black"]), _around(THICK, RIGHT)


ZOOM = 0.36
MARGIN, HEAD, LEFT = 14, 34, 34
COLUMNS: tuple[Slot, ...] = (*(("figure", name) for name in ATTRIBUTES), ("marks", "shape"))
_FONT = 'font-family="sans-serif" font-size="17" text-anchor="middle"'


class Shown(NamedTuple):
    """An item and where it stands on the sheet."""

    row: int
    column: int
    problem: Problem
    told: str  # what stands above it, if anything


def sheet_items(seed: int = 1) -> list[Shown]:
    """List items of one rule (kinds are rows, attributes columns), then of two and three rules."""
    items = [
        Shown(row, column, _single(kind, slot, row, seed + row * len(COLUMNS) + column), "")
        for row, kind in enumerate(KINDS)
        for column, slot in enumerate(COLUMNS)
        if slot in CARRIED[kind]
    ]
    below: tuple[tuple[str, tuple[Kind, ...], int], ...] = (
        ("constant, distribution of three (as Fig. 2)", KINDS[0:3:2], 2),
        ("two progressions", KINDS[1:2], 2),
        ("addition, distribution of two", KINDS[3:], 2),
        ("three rules", KINDS[:3], 3),
        ("three rules", KINDS, 3),
    )
    for column, (told, kinds, rules) in enumerate(below):
        items.append(Shown(len(KINDS), column, _several(kinds, rules, seed + column), told))
    return items


def _single(kind: Kind, slot: Slot, row: int, seed: int) -> Problem:
    """Find the first item with one such rule; counts and positions are those of slender shapes."""
    settings = made(rules=1, kinds=(kind,), attributes=(slot[1],))
    problems = (generate(seed, index, settings) for index in count())
    found = (one for one in problems if one.rules[0].layer == slot[0])
    if slot[1] not in ("count", "position"):
        return next(found)
    wanted = (SLENDER[(row + (slot[1] == "position")) % len(SLENDER)],)
    return next(one for one in found if one.cells[0].figure and one.cells[0].figure.shape == wanted)


def _several(kinds: tuple[Kind, ...], rules: int, seed: int) -> Problem:
    """Find the first item with rules of all these kinds, or of as many as there is room for."""
    settings = made(rules=rules, kinds=kinds)
    problems = (generate(seed, index, settings) for index in count())
    wanted = min(rules, len(kinds))
    return next(one for one in problems if len({rule.kind for rule in one.rules}) == wanted)


def sheet_svg(seed: int = 1) -> str:
    """Draw the sheet; right options have a blue frame."""
    place = layout(4)
    wide, high = place.width * ZOOM + MARGIN, place.height * ZOOM + MARGIN
    width = LEFT + wide * len(COLUMNS) + MARGIN
    height = HEAD + high * (len(KINDS) + 1) + HEAD
    parts = [f'<path d="M0 0H{width:g}V{height:g}H0Z" fill="#fff"/>']
    for column, (layer, attribute) in enumerate(COLUMNS):
        name = "marks on the rim" if layer == "marks" else attribute
        parts.append(_text(name, LEFT + wide * (column + 0.5), HEAD * 0.7))
    for row, kind in enumerate((*KINDS, "several rules")):
        y = HEAD + high * (row + 0.5) + (HEAD if row == len(KINDS) else 0)
        turn = f' transform="rotate(-90 {LEFT * 0.6:g} {y:g})"'
        parts.append(_text(kind.replace("n-s", "n, s").replace("-", " "), LEFT * 0.6, y, turn))
    for item in sheet_items(seed):
        x = LEFT + wide * item.column + MARGIN / 2
        y = HEAD + high * item.row + (HEAD if item.told else 0)
        if item.told:
            parts.append(_text(item.told, x + wide / 2, y - 6, ' style="font-size:12px"'))
        parts.append(_placed(item.problem, x, y))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img"><title>Matrices: every rule on every '
        f"attribute</title>{''.join(parts)}</svg>"
    )


def _text(words: str, x: float, y: float, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {_FONT}{more}>{words}</text>'


def _placed(problem: Problem, x: float, y: float) -> str:
    """Draw a composite with the right option marked."""
    ox, oy = layout(len(problem.options)).options[problem.answer]
    inner = composite_svg(problem).partition("</desc>")[2].removesuffix("</svg>")
    side = SIDE + THICK
    frame = f"M{ox - THICK / 2:g} {oy - THICK / 2:g}h{side}v{side}h-{side}Z"
    return (
        f'<g transform="translate({x:g} {y:g}) scale({ZOOM})">{inner}'
        f'<path d="{frame}" fill="none" stroke="{RIGHT}" stroke-width="{THICK}"/></g>'
    )
