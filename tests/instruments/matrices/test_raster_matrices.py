"""Pixels: the published figures, exact periods, valid PNG files, and what can be told apart."""

from __future__ import annotations

import io
import math
import struct
import zlib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from allminds.instruments.matrices.drawing.geometry import Element, elements
from allminds.instruments.matrices.drawing.raster import (
    GREYS,
    PALETTE,
    composite_numbers,
    composite_png,
    matrix_numbers,
    matrix_png,
    paint,
    palette_png,
    panel_grey,
    panel_numbers,
    panel_png,
    panel_rgb,
)
from allminds.instruments.matrices.drawing.svg import FRAME, STEP, layout
from allminds.instruments.matrices.drawing.visibility import (
    ENOUGH,
    pixels,
    rendered_pixels,
    visible,
)
from allminds.instruments.matrices.making.generator import problems
from allminds.instruments.matrices.making.panel import (
    CENTRE,
    COLOURS,
    OPEN,
    SHAPES,
    Figure,
    Marks,
    Panel,
    orientations,
)
from allminds.instruments.matrices.making.panel import PALETTE as NAMED
from allminds.instruments.matrices.making.rules import made


def black(shape, r, angle=0.0):
    canvas = np.zeros((160, 160), np.uint8)
    paint(canvas, Element(shape, 0, 80.0, 80.0, r, angle, 2.0, "black", "black", "white"))
    return GREYS[canvas].astype(int)


def changed(one, other):
    return int((np.abs(one - other) > 96).sum())


def figure(**values):
    plain = {
        "shape": ("3",), "size": (6,), "count": 1, "colour": ("red",), "angle": (0.0,),
        "place": (CENTRE,),
    }  # fmt: skip
    return Panel(Figure(**plain | values), None)


# ---------------------------------------------------------------- the figures of the specification

RADII = (58, 30, 15, 8)
PUBLISHED = {
    (("3", 0), ("4", 0)): (3062, 854, 242, 74),
    (("5", 0), ("6", 0)): (1318, 378, 98, 33),
    (("7", 0), ("8", 0)): (737, 211, 58, 12),
    (("8", 0), ("9", 0)): (603, 167, 35, 4),
    (("9", 0), ("circle", 0)): (920, 253, 67, 16),
    (("3", 0), ("3", 60)): (3162, 913, 286, 92),
    (("3", 0), ("3", 15)): (1647, 476, 158, 53),
    (("4", 0), ("4", 45)): (2424, 672, 220, 64),
    (("4", 0), ("4", 15)): (1462, 413, 120, 41),
    (("8", 0), ("8", 22.5)): (896, 232, 76, 16),
}


@pytest.mark.parametrize("pair", PUBLISHED, ids=str)
def test_pixels_that_change_are_those_of_the_specification(pair):
    (one, first), (other, second) = pair
    found = [changed(black(one, r, first), black(other, r, second)) for r in RADII]
    assert found == pytest.approx(PUBLISHED[pair], rel=0.03, abs=16)


def test_sizes_change_as_many_pixels_as_in_the_specification():
    found = [changed(black("6", 30), black("6", 30 * ratio)) for ratio in (1.05, 1.1, 1.2247, 1.5)]
    assert found == pytest.approx([252, 560, 1248, 3042], rel=0.03)


@pytest.mark.parametrize("r", RADII)
@pytest.mark.parametrize(
    ("shape", "period"),
    [*((str(n), 360 / n) for n in range(3, 10)), ("circle", 33), ("ellipse", 180), ("arc", 360)],
)
def test_a_shape_turned_by_its_period_is_the_same_to_the_pixel(shape, period, r):
    assert changed(black(shape, r), black(shape, r, period)) == 0


@pytest.mark.parametrize("n", range(3, 10))
def test_the_area_of_a_polygon_is_right(n):
    r = 40 + 1 / math.cos(math.pi / n)  # with the outer half of its outline
    ink = (255 - black(str(n), 40)).sum() / 255
    assert ink == pytest.approx(n / 2 * math.sin(2 * math.pi / n) * r * r, rel=0.004)


def test_the_area_of_round_shapes_is_right():
    assert (255 - black("circle", 40)).sum() / 255 == pytest.approx(math.pi * 41**2, rel=0.002)
    ellipse = math.pi * (0.55 * 40 + 1) * 41
    assert (255 - black("ellipse", 40, 20)).sum() / 255 == pytest.approx(ellipse, rel=0.01)


# ---------------------------------------------------------------- panels


def test_colours_are_those_of_the_palette_and_white_stays_outlined():
    for name in COLOURS:
        rgb = panel_rgb(figure(shape=("circle",), colour=(name,)))
        assert "#" + bytes(rgb[80, 80]).hex() == NAMED[name]
        assert (rgb[0] == 255).all()
        assert rgb[80, 80 - 58].max() < 60  # the outline


def test_nothing_touches_the_border_of_its_panel():
    for problem in problems(3, 0, 300):
        for panel in (*problem.cells, *problem.options):
            numbers = panel_numbers(panel)
            edges = (numbers[0], numbers[-1], numbers[:, 0], numbers[:, -1])
            assert not any(edge.any() for edge in edges)
            assert numbers.any()


def test_other_sizes_show_the_same():
    panel = Panel(figure(shape=("4",), angle=(22.5,)).figure, Marks("lines", (0, 3), "blue"))
    whole = 255.0 - panel_grey(panel)
    for size in (80, 96, 320):
        ink = (255.0 - panel_grey(panel, size)).sum() * (160 / size) ** 2
        assert ink == pytest.approx(whole.sum(), rel=0.05)  # small outlines are a little thicker
    twice = panel_grey(panel, 320).reshape(160, 2, 160, 2).mean(axis=(1, 3))
    assert np.abs(twice - panel_grey(panel)).mean() < 0.5


def test_two_sizes_are_a_ring_inside_a_shape_whatever_its_colour():
    for colour in COLOURS:
        one = figure(shape=("6",), size=(6,), colour=(colour,))
        two = figure(shape=("6",), size=(2, 6), colour=(colour,))
        assert rendered_pixels(one, two) >= ENOUGH


@pytest.mark.parametrize("shape", ["3", "6", "ellipse"])
def test_which_two_sizes_are_shown_can_be_seen(shape):
    """Rings are a factor of 1.5 apart, or more; there are white ones and black ones."""
    asked = made(rules=1, kinds="distribution-of-two", attributes="size")
    levels = {cell.figure.size for problem in problems(6, 0, 60, asked) for cell in problem.cells}
    assert {abs(a - b) for a, b in levels} == {2, 4, 6}
    for one, other in combinations(sorted(levels), 2):
        pair = [figure(shape=(shape,), size=size, colour=("green",)) for size in (one, other)]
        assert rendered_pixels(*pair) >= ENOUGH


def test_similar_copies_are_a_little_turned_and_scaled():
    one, other = (figure(shape=("4",), count=4, layout=name) for name in ("slots", "similar"))
    assert 0 < rendered_pixels(one, other) < 0.3 * rendered_pixels(other, Panel(None, None))
    marks = Marks("dots", (), "red")
    turns = {e.angle for e in elements(Panel(other.figure, marks))}
    radii = [e.r for e in elements(Panel(other.figure, marks))]
    assert len(turns) == 4
    assert max(map(abs, turns)) < 12
    assert 0.9 * max(radii) < min(radii) < max(radii)


def test_two_colours_are_halves_that_turn_with_the_shape():
    upright = panel_rgb(figure(shape=("4",), colour=("blue", "yellow")))
    assert (upright[80, 60, 2], upright[80, 100, 2]) == (0x70, 0x12)
    turned = panel_rgb(figure(shape=("4",), colour=("blue", "yellow"), angle=(67.5,)))
    assert (turned[60, 80, 2], turned[100, 80, 2]) == (0x70, 0x12)


# ---------------------------------------------------------------- PNG


def read_png(data):
    """A small decoder for files without filters: kind of colours, palette, lines."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(name + body)
        chunks[name] = body
        at += 12 + length
    assert list(chunks)[-1] == b"IEND"
    width, height, depth, kind, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, rest) == (8, [0, 0, 0])
    assert kind == 3  # numbers into a palette
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not raw[:, 0].any()  # no filters
    return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[raw[:, 1:]]


def test_png_files_have_the_pixels_they_were_given():
    rng = np.random.default_rng(1)
    for shape in ((1, 1), (5, 3), (64, 160)):
        numbers = rng.integers(0, len(PALETTE), shape, np.uint8)
        assert (read_png(palette_png(numbers, PALETTE)) == PALETTE[numbers]).all()


def test_pillow_reads_the_same_where_it_is_installed():
    image = pytest.importorskip("PIL.Image")
    (problem,) = problems(4, 7, 8)
    for data in (panel_png(problem.cells[0]), composite_png(problem), matrix_png(problem, 96)):
        seen = np.asarray(image.open(io.BytesIO(data)).convert("RGB"))
        assert (seen == read_png(data)).all()


def test_a_composite_has_its_options_where_they_belong():
    (problem,) = problems(4, 8, 9)
    whole = composite_numbers(problem)
    option = panel_numbers(problem.options[0])
    places = [
        (y, x)
        for y in range(500, whole.shape[0] - 160)
        for x in (16,)
        if (whole[y : y + 160, x : x + 160] == option).all()
    ]
    assert len(places) == 1


def test_a_key_is_the_composite_with_the_answer_in_its_place_and_both_framed():
    for problem in problems(4, 0, 12):
        asked, key = (composite_numbers(problem, 80, answer) for answer in (None, problem.answer))
        rows, columns = np.nonzero(asked != key)
        place = layout(4)
        x, y = ((at + FRAME + 2 * STEP) // 2 for at in place.matrix)
        assert (key[y : y + 80, x : x + 80] == panel_numbers(problem.cells[8], 80)).all()
        ox, oy = (at // 2 for at in place.options[problem.answer])
        near_cell = (abs(rows - y - 40) <= 45) & (abs(columns - x - 40) <= 45)
        near_option = (abs(rows - oy - 40) <= 45) & (abs(columns - ox - 40) <= 45)
        assert (near_cell | near_option).all()
        assert near_option.any()
        assert (asked == composite_numbers(problem, 80)).all()


@pytest.mark.parametrize("size", [64, 96, 120, 160])
def test_cells_stand_apart_by_a_sixth_of_their_width(size):
    (problem,) = problems(4, 9, 10)
    whole = matrix_numbers(problem, size)
    for lines in (whole, whole.T):
        empty = [not line.any() for line in lines]
        assert sum(empty) >= 2 * (size / 6 - 2)
        assert not empty[0]


# ---------------------------------------------------------------- what can be told apart


@st.composite
def pairs(draw):
    """Two panels of one layout, as they may meet in a problem."""
    layout = draw(st.sampled_from(("whole", "slots", "grid")))
    marks = draw(st.sampled_from((None, Marks("dots", (0, 4), "red"))))
    made = []
    for _ in range(2):
        shape = draw(st.sampled_from(SHAPES))
        colours = [name for name in COLOURS if name != "white" or shape not in OPEN]
        made.append(
            Panel(
                Figure(
                    shape=(shape,),
                    size=(draw(st.integers(0, 6)),),
                    count=draw(st.integers(1, 4)) if layout == "slots" else 1,
                    colour=(draw(st.sampled_from(colours)),),
                    angle=(draw(st.sampled_from(orientations(shape))),),
                    place=(draw(st.integers(0, 8)) if layout == "grid" else CENTRE,),
                    layout=layout,
                ),
                marks,
            )
        )
    return made


@limits(max_examples=300)
@given(pairs())
def test_what_the_table_calls_visible_is_visible_when_rendered(pair):
    assert pixels(*pair) == pixels(*pair[::-1])
    if visible(*pair):
        assert rendered_pixels(*pair) >= 0.9 * ENOUGH
    if pair[0] == pair[1]:
        assert pixels(*pair) == rendered_pixels(*pair) == 0


def test_the_table_counts_like_the_renderer_where_one_value_differs():
    for shape, other in (("3", "4"), ("8", "9"), ("5", "circle")):
        for colour in ("black", "white"):
            pair = [figure(shape=(name,), colour=(colour,)) for name in (shape, other)]
            assert pixels(*pair) == rendered_pixels(*pair)
    places = [figure(place=(place,), layout="grid") for place in (0, 8)]
    assert pixels(*places) == pytest.approx(rendered_pixels(*places), rel=0.03)
    marks = [Panel(None, Marks("corners", present, "blue")) for present in ((0, 1), (0, 2))]
    assert pixels(*marks) == rendered_pixels(*marks)


def test_all_options_and_cells_of_problems_can_be_told_apart():
    for problem in problems(5, 0, 150):
        for some in (problem.options, set(problem.cells)):
            assert all(rendered_pixels(a, b) >= ENOUGH for a, b in combinations(some, 2))
