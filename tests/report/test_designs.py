"""Groups and factors: the figures of the page against the same worked out by pandas and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from by_hand import paired, verdicts
from html_page import Page
from scipy import stats

from allminds.core.line_up import LineUp, Subject
from allminds.inference import Difference
from allminds.report.charts import drawing
from allminds.report.data import read_tests
from allminds.report.page import count, decided, interval, number, percent, percents, write_report
from allminds.report.sections import factors
from allminds.runs.designs import by_words, designs
from allminds.runs.plan import Plan, Test, read_plan
from allminds.runs.provenance import Portrait
from allminds.runs.run import How, run

HERE = How(jobs=1)

CROSSED = """
[[tests]]
instrument = "lambda-star"
episodes = 20
minds = ["{protocol}({members}*{agents})", "{members}", "random"]
[tests.settings]
rows = 5
cols = 5
k = "3..4"
[tests.factors]
grid = [{rows = 5, cols = 5}, {rows = 6, cols = 6}]
time = [{iterations = 10}, {iterations = 15}]
size = [{agents = 2}, {agents = 3}]
[tests.words]
protocol = ["auction", "majority"]
members = ["local-search", "local-search(slip=0.5)"]
"""

SIZES = """
[[tests]]
instrument = "lambda-star"
episodes = 44
minds = ["{protocol}", "shared-q-learning(sessions=2)", "local-search", "q-learning(sessions=2)"]
[tests.settings]
rows = 5
cols = 5
iterations = 10
[tests.factors]
size = [{agents = 2}, {agents = 4}]
[tests.words]
protocol = ["auction", "dictator"]

[[tests]]
instrument = "lambda-star"
episodes = 44
minds = ["tree(local-search*2,random)", "crowd(expert*3)", "local-search", "random"]
settings = {rows = 5, cols = 5, iterations = 12, agents = 3}
"""


def played(where, text):
    """A run of a plan, its page, and its records."""
    (where / "plan.toml").write_text(text, "utf-8")
    folder = run(read_plan(where / "plan.toml"), where / "run", HERE)
    page = Page(write_report(folder, where / "report.html").read_text("utf-8"))
    return folder, page, folder.records()


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    return played(tmp_path_factory.mktemp("crossed"), CROSSED)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    return played(tmp_path_factory.mktemp("sizes"), SIZES)


def table(page, name):
    (found,) = page.tables[name]
    return found[1:]


def by_exercise(rows, test, mind, slots=None):
    """A mind's mean score on each exercise of a test, over some slots or all."""
    here = rows[(rows["test"] == test) & (rows["mind"] == mind)]
    here = here if slots is None else here[here["slot"].isin(slots)]
    return here.groupby("index")["score"].mean().to_numpy()


def levels_of(rows, test):
    """The complexity K of each exercise of a test: scores are means of the means at each."""
    return rows[rows["test"] == test].groupby("index")["K"].first().to_numpy()


def unsigned(text):
    """Without the sign of a 0, which is a matter of the verdict."""
    return text.replace("−0.000", "0.000").replace("+0.000", "0.000")


# ---------------------------------------------------------------- a group against its members


def test_gains_are_paired_differences_largest_first(sizes):
    _, page, rows = sizes
    found = table(page, "cards gains")
    pairs = {
        "auction": "local-search",
        "dictator": "local-search",
        "shared-q-learning(sessions=2)": "q-learning(sessions=2)",
    }
    for test, level in enumerate(["size 2", "size 4"]):
        first = found.index([level]) + 1
        here = found[first : first + 3]
        assert {row[0]: row[1] for row in here} == pairs
        worked = [
            paired(
                by_exercise(rows, test, protocol),
                by_exercise(rows, test, members),
                levels_of(rows, test),
            )
            for protocol, members, *_ in here
        ]
        for (_, _, *figures), one, verdict in zip(here, worked, verdicts(worked), strict=True):
            assert figures == [number(one.mean), figures[1], verdict, "44"]
            assert unsigned(figures[1]) == unsigned(interval(one.interval))
        means = [one.mean for one in worked]
        assert means == sorted(means, reverse=True)


def test_a_mixed_group_says_who_gains(sizes):
    _, page, rows = sizes
    found = table(page, "cards gains")
    ((place, row),) = [(n, row) for n, row in enumerate(found) if row[0] == "tree"]
    assert row[1] == "2 local-search, 1 random"
    kinds = {line[1]: line[2:5] for line in found[place + 1 : place + 3]}
    group, levels = "tree(local-search*2,random)", levels_of(rows, 2)
    parts = {"2 local-search": ("local-search", [0, 1]), "1 random": ("random", [2])}
    total, worked = np.zeros(44), {}
    for text, (mind, slots) in parts.items():
        together, alone = (by_exercise(rows, 2, who, slots) for who in (group, mind))
        total += (together - alone) * len(slots) / 3
        worked[text] = paired(together, alone, levels)
    for (text, one), verdict in zip(worked.items(), verdicts(worked.values()), strict=True):
        assert kinds[text][::2] == [number(one.mean), verdict]
        assert unsigned(kinds[text][1]) == unsigned(interval(one.interval))
    whole = paired(total, np.zeros(44), levels)
    assert [row[2], row[4]] == [number(whole.mean), *verdicts([whole])]
    assert unsigned(row[3]) == unsigned(interval(whole.interval))


def test_a_group_whose_members_are_not_there_alone_is_named(sizes):
    _, page, _ = sizes
    assert "Nothing can be said about crowd(expert*3):" in page.text
    assert "crowd" not in [row[0] for row in table(page, "cards gains")]


def test_gains_over_all_cells_of_a_folded_design(crossed):
    """Verdicts are corrected over the rows, those of single cells over all cells and rows."""
    folder, page, rows = crossed
    found = table(page, "cards pooled")
    assert len(found) == 4
    levels = [levels_of(rows, n) for n in range(8)]
    assert all((one == levels[0]).all() for one in levels)
    worked, cells = [], []
    for protocol, members, *_ in found:
        differences = []
        for n, test in enumerate(folder.plan.tests):
            group = f"{protocol}({members}*{test.settings['agents']})"
            differences.append(by_exercise(rows, n, group) - by_exercise(rows, n, members))
            cells.append(paired(differences[-1], np.zeros(20), levels[n]))
        worked.append(paired(np.mean(differences, axis=0), np.zeros(20), levels[0]))
    words = np.array(verdicts(cells)).reshape(4, 8)
    for row, one, verdict, own in zip(found, worked, verdicts(worked), words, strict=True):
        counts = [str(sum(w.startswith(word) for w in own)) for word in ("gains", "loses")]
        row[3] = unsigned(row[3])
        ends = unsigned(interval(one.interval))
        assert row[2:] == [number(one.mean), ends, verdict, *counts]


class Club:
    """Stands in for a group that says who its members are alone."""

    alone = "q-learning"


def test_a_group_may_say_who_its_members_are_alone(sizes):
    folder, _, _ = sizes
    tool = read_tests(folder)[0].tool
    subject = Subject("club(alpha=0.1,loud=1)", Club, group=True, alone=Club.alone, maker=Club)
    portrait = Portrait.of(LineUp.alone(subject, 2), tool)
    assert portrait.alone == ("q-learning(alpha=0.1)",) * 2
    assert portrait.about == "Stands in for a group that says who its members are alone."


def test_an_end_of_an_interval_that_looks_like_0_keeps_its_sign_where_it_counts():
    found = [
        Difference("a", "b", True, (9,), mean, None, ends, ends, 0.5, 0.5)
        for mean, ends in [
            (-0.005, (-0.009, -0.0001)), (0.005, (0.0001, 0.009)), (0.001, (-0.0001, 0.002)),
            (0.1, None),
        ]
    ]  # fmt: skip
    ends = ["[−0.009, −0.000]", "[+0.000, 0.009]", "[0.000, 0.002]", "–"]
    assert [decided(one) for one in found] == ends


# ---------------------------------------------------------------- score against size


def test_score_against_size_shows_the_scores_of_the_summary(sizes):
    folder, page, _ = sizes
    results = folder.summary()["tests"][:2]
    assert sorted(table(page, "sizes")) == sorted(
        [
            row["mind"],
            str(test["settings"]["agents"]),
            number(row["score"]),
            interval(row["ci95"]),
            count(row["episodes"]),
        ]
        for test in results
        for row in test["results"]
    )


# ---------------------------------------------------------------- factors


def cells_of(folder, rows):
    """One row a cell, a group and an exercise, with all levels: what the shares are about."""
    words = {}
    for n, test in enumerate(folder.plan.tests):
        for mind, own in test.words.items():
            if len(own) == 2:
                words[n, mind] = test.levels | own
    means = rows.groupby(["test", "mind", "index"], observed=True)["score"].mean().reset_index()
    means = means[[key in words for key in zip(means["test"], means["mind"], strict=True)]]
    names = ["grid", "time", "size", "protocol", "members"]
    for name in names:
        pairs = zip(means["test"], means["mind"], strict=True)
        means[name] = [words[pair][name] for pair in pairs]
    return names, means


def squares_of(names, cells):
    """By the school formula: sums of squares of marginal means, those of pairs less their own."""
    grand, size = cells.mean(), len(cells)

    def squares(of):
        margin = cells.groupby(list(of)).mean()
        return ((margin - grand) ** 2).sum() * size / len(margin)

    found = {(name,): squares([name]) for name in names}
    for pair in itertools.combinations(names, 2):
        found[pair] = squares(pair) - found[pair[:1]] - found[pair[1:]]
    return found


def shares_of(names, means):
    """The squares of cell means less those that chance makes, over all of them."""
    cells = means.groupby(names)["score"].mean()
    total = ((cells - cells.mean()) ** 2).sum()
    found = squares_of(names, cells)
    each = [
        squares_of(names, rows.groupby(names)["score"].mean() - cells)
        for _, rows in means.groupby("index")
    ]
    n = len(each)
    chance = {of: sum(one[of] for one in each) / (n - 1) / n for of in found}
    return {of: max(0.0, found[of] - chance[of]) / total for of in found}


def test_shares_of_variance_are_those_of_an_analysis_by_hand(crossed):
    folder, page, rows = crossed
    shares = shares_of(*cells_of(folder, rows))
    printed = {}
    for found in page.tables["effects"]:
        printed |= {row[0]: row[1:3] for row in found[1:]}
    for of, share in shares.items():
        assert printed[" × ".join(of)][0] == percent(share)
    rest = 1 - sum(shares.values())
    assert printed["three-way and higher, and chance"][0] == percent(rest)
    large = [row[0] for row in page.tables["effects"][0][1:]]
    for of, share in shares.items():
        assert (" × ".join(of) in large) == (len(of) == 1 or share >= factors.SMALL)
    assert large[0] == " × ".join(max(shares, key=shares.get))


def test_the_means_of_every_level_are_those_of_pandas(crossed):
    folder, page, rows = crossed
    names, means = cells_of(folder, rows)
    found = table(page, "means")
    assert len(found) == 4 * 2 * 2 + 2
    assert {row[0] for row in found} == set(names)
    for factor, level, line, mean, ends in found:
        here = means[(means[factor] == level) & (means["protocol"] == line)]
        values = here.groupby("index")["score"].mean()
        low, high = stats.t.interval(0.95, 19, values.mean(), values.sem())
        assert (mean, ends) == (number(values.mean()), interval((low, high)))


def test_members_have_their_own_score_below_the_axis(crossed):
    folder, page, rows = crossed
    for mind in ("local-search", "local-search(slip=0.5)"):
        alone = np.mean([by_exercise(rows, n, mind).mean() for n in range(8)])
        assert f"alone {alone:.2f}" in page.source
    assert len(folder.plan.tests) == 8


def test_missing_exercises_leave_the_figures_of_the_others():
    scores = np.random.default_rng(1).normal(size=(2, 3, 50))
    found = factors.Crossed({"a": ["1", "2"], "b": ["x", "y", "z"]}, "b", scores, {})
    whole = factors.means(found)
    assert whole[0].mean == pytest.approx(scores[0, 0].mean())
    assert [m.mean for m in whole[6:]] == pytest.approx(scores.mean(axis=(0, 2)))
    scores[0, 0, :10] = np.nan
    some = factors.means(found)
    assert some[0].mean == pytest.approx(scores[0, 0, 10:].mean())
    assert some[1] == whole[1]


def test_shares_that_cannot_be_estimated_are_a_dash():
    assert percent(float("nan")) == percents((float("nan"), 1.0)) == "–"
    assert percents((0.01, 0.125)) == "[1.0, 12.5]"


# ---------------------------------------------------------------- cells


def test_every_link_of_a_large_design_leads_somewhere(crossed):
    page = crossed[1]
    links = {value[1:] for name, value in page.attributes if name == "href" and value[0] == "#"}
    assert links <= {value for name, value in page.attributes if name == "id"}
    assert "cells-1" in links


def test_a_large_design_is_one_table_of_all_cells(crossed):
    folder, page, _ = crossed
    assert "scores" not in page.tables
    assert "points" not in page.tables
    rows = []
    for test, summary in zip(folder.plan.tests, folder.summary()["tests"], strict=True):
        for row in summary["results"]:
            shown = " / ".join(test.words[row["mind"]].values()) or row["mind"]
            rows.append([*test.levels.values(), shown, number(row["score"])])
            rows[-1] += [interval(row["ci95"]), "20", "0"]
    assert table(page, "cells") == rows
    assert rows[0][3] == "auction / local-search"


def test_a_small_design_keeps_its_sections(sizes):
    _, page, _ = sizes
    assert len(page.tables["scores"]) == 3
    assert "cells" not in page.tables


def test_the_same_run_gives_the_same_page(crossed, tmp_path):
    folder, page, _ = crossed
    again = write_report(folder, tmp_path / "again.html").read_text("utf-8")
    assert again == page.source


def test_a_run_without_groups_has_no_such_sections(tmp_path):
    settings = {"rows": 5, "cols": 5, "iterations": 5}
    test = Test(instrument="lambda-star", minds=["random"], episodes=5, settings=settings)
    folder = run(Plan(tests=[test]), tmp_path / "run", HERE)
    page = Page(write_report(folder, tmp_path / "report.html").read_text("utf-8"))
    sections = [value for name, value in page.attributes if name == "id" and "-" not in value]
    assert sections == [
        "rest", "tests", "who", "reliability", "excluded", "meaning", "card", "repeat", "plan"
    ]  # fmt: skip
    assert ("id", "factors-1") not in page.attributes
    assert ("id", "cells-1") not in page.attributes


# ---------------------------------------------------------------- which tests are a design


def cell(levels, **more):
    return Test(instrument="lambda-star", minds=["random"], levels=levels, **more)


def test_tests_in_a_row_with_the_same_factors_are_one_design():
    plain = Test(instrument="lambda-star", minds=["random"])
    two = [cell({"a": "1"}), cell({"a": "2"})]
    found = designs([plain, *two, *two, plain, cell({"b": "1"}), plain, cell({"b": "2"})])
    assert [design.cells for design in found] == [[1, 2], [3, 4], [6], [8]]
    assert all(design.full for design in found)
    square = [cell({"a": a, "b": b}) for a, b in ("11", "12", "21")]
    (found,) = designs(square)
    assert found.levels == {"a": ["1", "2"], "b": ["1", "2"]}
    assert not found.full
    assert designs([plain]) == []


def test_minds_that_would_look_alike_keep_their_names():
    words = {"auction(a*2)": {"p": "auction", "m": "a"}, "a": {"m": "a"}, "vote(a)": {"m": "a"}}
    shown = {"auction(a*2)": "auction / a", "a": "a", "vote(a)": "vote(a)"}
    assert by_words(words) == shown
    assert by_words({"random": {}}) == {"random": "random"}


# ---------------------------------------------------------------- drawing


def test_lots_are_few_and_even():
    names = list("abcdefghi")
    assert [len(lot) for lot in drawing.evenly(names, 8)] == [5, 4]
    assert drawing.evenly(names, 9) == [names]
    assert drawing.evenly([], 3) == [[]]


def test_names_of_levels_are_text_and_panels_of_one_width():
    marks = [drawing.Mark(name, x, x, x, x) for name in ("a", "much longer") for x in (0, 1)]
    shares = [{"a": drawing.STYLES[0]}, {"much longer": drawing.STYLES[1]}]
    labels = {"a": "a", "much longer": "much longer"}
    lines = (("<i>\"'", "&amp;"), ("]; x", "\\"))
    axes = ("x", (-0.3, 1.3)), ("y", (0.0, 1.0))
    svgs = drawing.panels(marks, shares, labels, *axes, (0, 1), lines)
    for svg in svgs:
        page = Page(svg)
        assert all(text in page.text for pair in lines for text in pair)
        assert "i" not in page.tags
    assert len({svg.split('viewBox="')[1].split(" ")[2] for svg in svgs}) == 1
