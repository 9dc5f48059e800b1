"""The mind that sees pictures only."""

from __future__ import annotations

import numpy as np
import pytest
from test_drawing_matrices import resvg

from allminds.core.seeding import Random
from allminds.instruments.matrices.drawing.eyes import read, seen, solved
from allminds.instruments.matrices.drawing.raster import PALETTE, panel_rgb
from allminds.instruments.matrices.drawing.svg import panel_svg
from allminds.instruments.matrices.instrument import Item
from allminds.instruments.matrices.making.generator import problems
from allminds.instruments.matrices.making.rules import made
from allminds.instruments.matrices.minds import PixelSolver


def pictures(problem):
    return [panel_rgb(panel) for panel in (*problem.cells[:8], *problem.options)]


@pytest.mark.slow
def test_it_finds_99_of_100_answers():
    hits = 0
    for problem in problems(41, 0, 200):
        drawn = pictures(problem)
        hits += solved(drawn[:8], drawn[8:]) == problem.answer
    assert hits >= 198


def test_what_it_sees_is_what_was_drawn():
    for problem in problems(42, 0, 30):
        assert seen(pictures(problem)) == [*problem.cells[:8], *problem.options]


def test_it_sees_copies_that_are_only_similar():
    asked, looked = made(rules=2, attributes="count,colour,shape"), 0
    for problem in problems(47, 0, 40, asked):
        if problem.cells[0].figure and problem.cells[0].figure.layout == "similar":
            looked += 1
            assert seen(pictures(problem)) == [*problem.cells[:8], *problem.options]
    assert looked > 5


def test_eight_options_are_no_harder():
    for problem in problems(43, 0, 6, made(rules=3, candidates=8)):
        drawn = pictures(problem)
        assert solved(drawn[:8], drawn[8:]) == problem.answer


def test_it_reads_the_pictures_of_another_renderer_too():
    hits = 0
    for problem in problems(44, 0, 12):
        drawn = [resvg(panel_svg(panel)) for panel in (*problem.cells[:8], *problem.options)]
        hits += solved(drawn[:8], drawn[8:]) == problem.answer
    assert hits >= 11


def test_noise_in_the_pixels_does_not_matter():
    rng = np.random.default_rng(1)
    (problem,) = problems(45, 3, 4)
    drawn = [
        np.clip(rgb + rng.normal(0, 3, rgb.shape), 0, 255).astype(np.uint8)
        for rgb in pictures(problem)
    ]
    assert solved(drawn[:8], drawn[8:]) == problem.answer


def test_as_a_mind_it_looks_at_pictures_only(monkeypatch):
    problem = next(one for one in problems(46, 0, 100) if not set(one.options) & set(one.cells[:8]))
    item = Item(problem.cells[:8], problem.options)
    assert PixelSolver().act(item, Random(0)) == problem.answer
    turned = dict(zip(problem.options, problem.options[::-1], strict=True))
    monkeypatch.setattr(
        "allminds.instruments.matrices.drawing.raster.panel_rgb",
        lambda panel: panel_rgb(turned.get(panel, panel)),
    )
    assert PixelSolver().act(item, Random(0)) == 3 - problem.answer


def test_shades_are_read_as_the_nearest_of_the_palette():
    numbers = np.arange(len(PALETTE), dtype=np.uint8)[None]
    again = PALETTE[read(PALETTE[numbers])]
    assert np.abs(again.astype(int) - PALETTE[numbers]).max() <= 8
