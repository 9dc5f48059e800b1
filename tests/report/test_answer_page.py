"""The first page of the report: it names the user's minds first, and marks them everywhere."""

from __future__ import annotations

import re

import pytest
from html_page import Page

from allminds.report import write_report
from allminds.report.data import read_tests
from allminds.report.sections import answer
from allminds.report.words import brief
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, run
from allminds.runs.summary import answer_of_run
from allminds.statistics.answer_words import error_rates, sentences

HERE = How(jobs=1)
SMALL = {"rows": 5, "cols": 5, "iterations": 10}


def given(minds):
    return [
        Test(instrument="lambda-star", minds=["random", *minds, "optimum"], episodes=66,
             settings=SMALL),
        Test(instrument="stag-hunt", minds=["random", "stag", "q-learning"], episodes=30,
             against="stag"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    plan = Plan(tests=given(["local-search", "q-learning"]), yours=["q-learning"])
    return run(plan, tmp_path_factory.mktemp("mine") / "run", HERE)


@pytest.fixture(scope="module")
def page(folder):
    return Page(write_report(folder, folder.path / "page.html").read_text("utf-8"))


def test_the_title_and_the_first_sentence_name_the_mind(page):
    heading = re.search(r"<h1>(.*?)</h1>", page.source)[1]
    assert heading == "How q-learning did on lambda-star and stag-hunt"
    first = re.search(r'<p class="lead">(.*?)</p>', page.source, re.DOTALL)[1]
    assert first.startswith("q-learning did better than the floor on")


def test_the_title_counts_the_tests_that_the_mind_took(tmp_path):
    plan = Plan(tests=given(["local-search"]), yours=["local-search"])
    text = write_report(run(plan, tmp_path / "run", HERE), tmp_path / "p.html").read_text("utf-8")
    assert "<h1>How local-search did on lambda-star (1 of 2 tests)</h1>" in text
    assert "It did not take the other test of the run." in text


def test_a_number_of_the_matrix_is_short_and_loses_no_digit_before_the_point_but_a_0():
    given = [10.0, 10.25, 20.056, -10.5, 100.03, 0.5, -0.5, 0.056, -0.004, 0.0, 0.999, -1.0, 1.5]
    assert [brief(value) for value in given] == [
        "10.0", "10.2", "20.1", "−10.5", "100", ".50", "−.50", ".06", ".00", ".00", "1",
        "−1.00", "1.50",
    ]  # fmt: skip


def test_the_questions_come_in_their_order(page):
    asked = re.findall(r"<h2[^>]*>(.*?)</h2>", page.source)[:7]
    assert asked == [
        "How did your mind do?", "Where between floor and ceiling, test by test?",
        "What does it beat, tie with and lose to?", "Where does it break?",
        "Why? Plays side by side", "What would make the answer surer?", "All minds on all tests",
    ]  # fmt: skip


def test_report_and_terminal_have_the_same_sentences(page, folder):
    found = answer_of_run(folder)
    (mind,) = found.minds
    text = " ".join(page.text.split())
    for sentence in sentences(found, mind):
        if sentence.topic != "place":  # those are bars
            assert sentence.text in text
    assert error_rates(found) in text


def test_the_bars_count_the_verdicts(page, folder):
    (mind,) = answer_of_run(folder).minds
    shown = dict(re.findall(r'title="(\w+) on (\d+)"', page.source.partition('class="profile"')[0]))
    counts = mind.outcomes("median")
    assert {one: int(n) for one, n in shown.items() if counts.get(one)} == {
        one: len(of) for one, of in counts.items() if of
    }


def test_every_comparison_is_in_the_table_once(page, folder):
    found = answer_of_run(folder)
    rows = page.tables["compared"][0][1:]
    assert len(rows) == found.comparisons
    assert {row[1] for row in rows} == {"q-learning"}
    assert all("optimum" not in row[2] for row in rows)


def test_the_matrix_has_every_mind_and_test_and_the_users_first(page, folder):
    (table,) = page.tables["matrix"]
    assert table[0][1:] == ["lambda-star", "stag-hunt"]
    assert [row[0] for row in table[1:]] == [
        "q-learning", "random", "optimum", "local-search", "stag"
    ]  # fmt: skip
    place = {row["mind"]: row["normalised"] for row in folder.summary()["tests"][0]["results"]}
    cells = {row[0]: row[1] for row in table[1:]}
    for mind, value in place.items():
        assert float(cells[mind].replace("−", "-")) == pytest.approx(value, abs=0.0051)
    assert 'class="yours"><th scope="row" title="q-learning"' in page.source


def test_every_dot_says_whose_it_is(page):
    strips = re.findall(r'<svg [^>]*class="strip".*?</svg>', page.source, re.DOTALL)
    assert strips
    for one in strips:
        symbols = one.count("<circle") + one.count('class="cross"') + one.count('class="top"')
        symbols += one.count('class="own')
        assert symbols == one.count("<title>") > 1


def test_without_a_mind_of_the_users_it_is_about_the_best_fair_ones(tmp_path):
    folder = run(Plan(tests=given(["local-search", "q-learning"])), tmp_path / "run", HERE)
    page = Page(write_report(folder, tmp_path / "page.html").read_text("utf-8"))
    assert "How did the best minds do?" in page.text
    assert "No mind was asked about in particular" in page.text
    assert "How 5 minds did on lambda-star and stag-hunt" in page.text


def test_one_test_has_no_bars_and_no_matrix(tmp_path):
    plan = Plan(tests=given(["local-search"])[:1], yours=["local-search"])
    page = Page(write_report(run(plan, tmp_path / "run", HERE), tmp_path / "p.html").read_text())
    assert "bars" not in page.tables
    assert "matrix" not in page.tables
    assert "local-search scored" in page.text
    assert "Between the floor (random," in page.text


def test_names_of_files_are_left_out_where_that_tells_minds_apart():
    assert answer.called(["a.py:X", "a.py:Y"]) == {"a.py:X": "X", "a.py:Y": "Y"}
    assert answer.called(["a.py:X", "b.py:X"]) == {"a.py:X": "a.py:X", "b.py:X": "b.py:X"}
    assert answer.called(["vote(a.py:X,mode)"]) == {"vote(a.py:X,mode)": "vote(a.py:X,mode)"}


def test_the_colours_of_the_matrix_can_be_read():
    """Ink against its ground by WCAG: 4.5 to 1 or more, at every place."""

    def luminance(colour):
        text = colour.lstrip("#")
        text = "".join(2 * one for one in text) if len(text) == 3 else text
        parts = [int(text[n : n + 2], 16) / 255 for n in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for n in range(-150, 151):
        light, dark = sorted(map(luminance, answer.shade(n / 100)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_line_up_of_the_users_is_marked_in_the_data(folder):
    assert [data.yours for data in read_tests(folder)] == [("q-learning",), ("q-learning",)]
