"""Plots: told apart without colour, named without collisions."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from allminds.report.charts import drawing, plots
from allminds.report.data import Point, Stretch, TestData


def data_of(minds: list[str]) -> TestData:
    """A test whose minds did ever better, two values of K each."""
    tool = SimpleNamespace(floor_mind="random", ceiling_mind="optimum", adaptive=False)
    found = TestData(None, tool, {"results": [{"mind": mind} for mind in minds]}, column="K")
    for n, mind in enumerate(minds):
        found.points += [Point(mind, k, str(k), 9, n / 9, (n / 9 - 5, n / 9 + 5)) for k in (1, 2)]
    found.curve = [Stretch(step, step, dict.fromkeys(minds, step / 9)) for step in (1, 2, 3)]
    return found


def test_dash_and_shape_each_suffice_to_tell_a_mind():
    styles = (plots.FLOOR, plots.CEILING, *plots.STYLES)
    assert len({style.shape for style in styles}) == len(styles)
    assert len({style.colour for style in styles}) == len(styles)
    dashes = [style.dash for style in styles]
    assert len(set(dashes)) == len(dashes)
    assert len(plots.STYLES) >= plots.OTHERS


def test_thirty_minds_are_shared_out_with_floor_and_ceiling_in_every_panel():
    minds = ["random", *(f"m{n}" for n in range(28)), "optimum"]
    panels = plots._shared_out(data_of(minds), set(minds), ())
    assert all({"random", "optimum"} <= set(panel) for panel in panels)
    assert max(map(len, panels)) <= 8
    others = [mind for panel in panels for mind in panel if mind.startswith("m")]
    assert others == minds[1:-1]


def test_whom_the_page_is_about_stands_heavily_in_every_panel():
    minds = ["random", *(f"m{n}" for n in range(14))]
    panels = plots._shared_out(data_of(minds), set(minds), ["m3", "m13"])
    assert len(panels) > 1
    for panel in panels:
        assert {mind for mind, style in panel.items() if style.heavy} == {"m3", "m13"}


def test_one_mind_or_only_the_floor_makes_one_panel():
    for minds in (["random"], ["mine"], ["optimum", "random"]):
        (svg,) = plots.learning_panels(data_of(minds))
        assert all(f">{mind}<" in svg for mind in minds)


def test_a_mind_that_got_nowhere_is_left_out():
    found = data_of(["random", "mine", "broken"])
    found.points = [point for point in found.points if point.mind != "broken"]
    (svg,) = plots.score_panels(found)
    assert ">mine<" in svg
    assert "broken" not in svg


def test_intervals_that_dwarf_the_means_are_cut():
    found = data_of(["random", "mine"])
    assert plots.cut_intervals(found)
    low, high = drawing.y_domain([plots.mark(point) for point in found.points])
    assert high - low < 1


def test_names_in_a_plot_are_text():
    (svg,) = plots.score_panels(data_of(["a<b>&c"]))
    assert "a&lt;b&gt;&amp;c" in svg
    assert "<b>" not in svg


def test_a_plot_shrinks_and_grows_with_the_page():
    (svg,) = plots.score_panels(data_of(["random", "local-search"]))
    assert 'viewBox="0 0 ' in svg


def test_long_names_are_cut_and_stay_apart():
    minds = [f"q-learning(alpha=0.{n},gamma=0.9)" for n in range(9)]
    minds += ["random", "a/long/way/to/my/file.py:Mind"]
    short = drawing.short_names(minds)
    assert len(set(short.values())) == len(minds)
    assert max(map(len, short.values())) <= drawing.LONGEST_LABEL
    assert short["random"] == "random"
    assert short[minds[1]] == "q-learning #2"
    assert short[minds[-1]] == "file.py:Mind"


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_labels_keep_their_order_and_distance_and_stay_inside(wanted):
    places = drawing.spread(wanted, 0.1, -1, 1)
    ordered = [place for _, place in sorted(zip(wanted, places, strict=True))]
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(ordered))
    assert min(places) >= -1 - 1e-9
    assert max(places) <= 1 + 1e-9


def test_labels_that_do_not_collide_stay_where_they_are():
    assert drawing.spread([0.5, -0.5, 0.0], 0.1, -1, 1) == [0.5, -0.5, 0.0]
