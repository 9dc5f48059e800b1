"""A sheet to look at, with one item for every rule on every attribute that can carry it."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from allminds.instruments.matrices.drawing.geometry import RIGHT
from allminds.instruments.matrices.drawing.svg import THICK, composite_svg, layout
from allminds.instruments.matrices.environment import made
from allminds.instruments.matrices.making.cases import SLENDER
from allminds.instruments.matrices.making.generator import generate
from allminds.instruments.matrices.making.panel import ATTRIBUTES, KINDS, SIDE, Kind, Problem
from allminds.instruments.matrices.making.rules import CARRIED, Slot

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
