"""What can be seen: which values may go together in one matrix.

The one place that knows how small a glyph may be for its values to be told apart, in pixels of a
panel of 160 (every two values in one attribute differ in 120 pixels or more). A larger panel is
this one enlarged.
"""

from __future__ import annotations

from allminds.instruments.matrices.codes import union
from allminds.instruments.matrices.panel import (
    CENTRE,
    COLOURS,
    INVENTORIES,
    OPEN,
    ORIENTATIONS,
    PLACES,
    POLYGONS,
    ROOM,
    ROOM_WITHIN_MARKS,
    SHAPES,
    SIDE_BY_SIDE,
    SIZES,
    scale,
)
from allminds.instruments.matrices.rules import Carrier, Plan, layout_of

# The least radius at which one value is told from another.
LEAST = {
    "shape": 17.0,  # up to six sides, circles and ellipses
    "many sides": 30.0,  # seven to nine sides, and open shapes among closed ones
    "size": 11.0,  # the smaller of two neighbouring levels
    "rings": 18.0,  # two sizes at once
    "colour": 13.0,
    "halves": 17.5,  # two colours at once
    "coloured strokes": 15.0,
    "crossing lines": 15.0,
    "count": 8.0,
    "position": 8.0,
}
LEAST_TURNED = {"3": 12.0, "4": 15.0, "5": 18.0, "ellipse": 16.0, "line": 20.0, "arc": 24.0}
LARGE = (2, 3, 4)  # sizes of figures whose size no rule governs

CLOSED = tuple(name for name in SHAPES if name not in OPEN)
FEW_SIDES = (*POLYGONS[:4], "circle", "ellipse")
QUINCUNX, PLUS = (0, 2, 4, 6, 8), (1, 3, 4, 5, 7)  # places where sets of glyphs are


def shapes_code(names: tuple[str, ...]) -> int:
    """Some shapes as a code."""
    return union([SHAPES.index(name) for name in names])


ALL_COLOURS = (1 << len(COLOURS)) - 1
WHITE = 1 << COLOURS.index("white")
DARK = union([COLOURS.index(name) for name in ("black", "blue")])


def has(plan: Plan, attribute: str, many: bool | None = None) -> bool:
    """Whether a plan governs an attribute of the figure, with several values a cell or with one."""
    return any(
        carrier.layer == "figure"
        and carrier.attribute == attribute
        and many in (None, carrier.many)
        for carrier in plan
    )


def within_marks(plan: Plan) -> bool:
    """Whether there are marks round about."""
    return any(carrier.layer == "marks" for carrier in plan)


def room(plan: Plan) -> float:
    """The radius of the largest glyph."""
    largest = (ROOM_WITHIN_MARKS if within_marks(plan) else ROOM)[layout_of(plan)]
    return largest * SIDE_BY_SIDE if has(plan, "shape", many=True) else largest


def least_radius(plan: Plan, shape: str | None) -> float:
    """How large a figure must be for all its rules; the shape is the one that turns, if any."""
    needs = [LEAST["count"]]
    if has(plan, "shape"):
        needs.append(LEAST["many sides" if _many_sides(plan) else "shape"])
    if has(plan, "size"):
        needs.append(LEAST["rings" if has(plan, "size", many=True) else "size"])
    if has(plan, "colour"):
        open_shape = "coloured strokes" if shape in OPEN else "colour"
        needs.append(LEAST["halves" if has(plan, "colour", many=True) else open_shape])
    if has(plan, "orientation", many=True):
        needs.append(LEAST["crossing lines"])
    elif shape is not None:
        needs.append(LEAST_TURNED[shape])
    return max(needs)


def _many_sides(plan: Plan) -> bool:
    """Whether there is room for seven to nine sides."""
    alone = layout_of(plan) == "whole" and not has(plan, "size")
    return alone and not has(plan, "shape", many=True)


# ---------------------------------------------------------------- values, as codes


def turning_shapes(plan: Plan) -> tuple[str, ...]:
    """The shapes on which a rule of orientation can be seen."""
    if has(plan, "orientation", many=True):
        return ("line",)
    if has(plan, "colour", many=True) or has(plan, "size"):  # strokes have no halves and no area
        return tuple(name for name in ORIENTATIONS if name not in OPEN)
    return tuple(ORIENTATIONS)


def shapes(plan: Plan) -> int:
    """The shapes of a figure that does not turn: of its rule, or one for the whole matrix."""
    if not has(plan, "shape"):
        return shapes_code(CLOSED)
    if not _many_sides(plan):
        return shapes_code(FEW_SIDES)
    return shapes_code(CLOSED if has(plan, "colour") else SHAPES)


def sizes(plan: Plan, shape: str | None) -> int:
    """The levels of size that are large enough: of its rule, or one for the whole matrix."""
    least, largest = least_radius(plan, shape), room(plan)
    levels = range(SIZES) if has(plan, "size") else LARGE
    return union([level for level in levels if largest * scale(level) >= least])


def colours(plan: Plan, shape: str | None) -> int:
    """Strokes are never white, and what rings are drawn on is not dark."""
    strokes = shape in OPEN or (has(plan, "shape") and shapes(plan) & shapes_code(OPEN))
    rings = has(plan, "size", many=True)
    return ALL_COLOURS & ~(WHITE if strokes else 0) & ~(DARK if rings else 0)


def mark_colours() -> int:
    """Marks are strokes too."""
    return ALL_COLOURS & ~WHITE


def places(carrier: Carrier) -> tuple[int, ...]:
    """The sets of places of which a rule of position has one, as codes."""
    if carrier.kind == "addition-subtraction":
        return union(QUINCUNX), union(PLUS)
    return ((1 << PLACES) - 1,)


def centre() -> int:
    """Where a figure is that no rule moves."""
    return 1 << CENTRE


def elements(inventory: str) -> int:
    """All elements of an inventory."""
    return (1 << INVENTORIES[inventory]) - 1
