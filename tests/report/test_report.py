"""The report says what the run folder says, in one file that fetches nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from by_hand import about_mean
from html_page import Page

from allminds import registry
from allminds.contracts import Discrete, Environment, Exercise, Instrument
from allminds.core.errors import Error
from allminds.core.settings import Settings
from allminds.report import data, sources, write_report
from allminds.report.charts import drawing
from allminds.report.page import count, interval, number, plan_text
from allminds.runs.plan import Plan, Test, read_plan
from allminds.runs.run import How, run
from allminds.runs.store import RunFolder

SMALL = {"rows": 5, "cols": 5, "iterations": 20}
HERE = How(jobs=1)

FAILING = """
class Always:
    def act(self, observation, random):
        raise ValueError("<b>broken</b> & gone")

class Sometimes:
    def act(self, observation, random):
        return 5 if random.below(40) else 99

class Seldom:
    def act(self, observation, random):
        return 5 if random.below(500) else 99
"""


def page_of(folder: RunFolder, out) -> Page:
    return Page(write_report(folder, out / "report.html").read_text("utf-8"))


def played(out, minds, episodes=66, **settings) -> RunFolder:
    test = Test(instrument="lambda-star", minds=minds, episodes=episodes, settings=SMALL | settings)
    return run(Plan(tests=[test]), out / "run", HERE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tests = [
        Test(
            instrument="lambda-star", minds=["random", "local-search"], episodes=66, settings=SMALL
        ),
        Test(
            instrument="lambda-star",
            minds=["local-search", "random"],
            episodes=40,
            settings=SMALL | {"agents": 3},
        ),
    ]
    return run(Plan(tests=tests, seed=3), tmp_path_factory.mktemp("report") / "run", HERE)


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    return page_of(folder, tmp_path_factory.mktemp("page"))


# ---------------------------------------------------------------- what it says


def test_every_mind_stands_in_the_table_of_every_test(page):
    assert [sorted(row[0] for row in table[1:]) for table in page.tables["scores"]] == [
        ["local-search", "random"],
        ["local-search", "random"],
    ]


def test_the_scores_are_those_of_the_summary_best_first(page, folder):
    for table, test in zip(page.tables["scores"], folder.summary()["tests"], strict=True):
        best_first = sorted(test["results"], key=lambda row: -row["score"])
        assert [row[:7] for row in table[1:]] == [
            [
                row["mind"],
                number(row["score"]),
                interval(row["ci95"]),
                number(row["normalised"]),
                number(row["learning"]),
                count(row["episodes"]),
                count(row["failed"]),
            ]
            for row in best_first
        ]


def per_exercise(folder):
    """The scores with all slots of an exercise as one value, by pandas."""
    by = ["test", "mind", "index", "K"]
    return folder.records().groupby(by, observed=True, as_index=False)["score"].mean()


def check_points(folder):
    """Means and intervals of all points by pandas and by hand; how many are by Student's t."""
    rows, by_t = per_exercise(folder), 0
    for n, found in enumerate(data.read_tests(folder)):
        scores = dict(list(rows[rows["test"] == n].groupby(["mind", "K"], observed=True)["score"]))
        assert {(point.mind, point.k) for point in found.points} == set(scores)
        for point in found.points:
            score = scores[point.mind, point.k]
            assert point.exercises == len(score)
            assert point.mean == pytest.approx(score.mean())
            if len(score) == 1:
                assert point.interval is None
            else:
                one = about_mean(score)
                by_t += one.student
                assert point.interval == pytest.approx(one.interval, abs=1e-6)
    return by_t


@pytest.mark.parametrize("batch", [sources.BATCH, 7])
def test_points_are_means_over_exercises_with_intervals_of_few(folder, monkeypatch, batch):
    monkeypatch.setattr(sources, "BATCH", batch)  # 7 records cut an exercise of 3 slots in two
    assert check_points(folder) == 0


def test_points_of_more_exercises_have_t_intervals(tmp_path):
    assert check_points(played(tmp_path, ["random", "local-search"], 40, k="3..4")) > 0


def test_the_points_of_the_score_plot_stand_in_its_table(page, folder):
    for table, found in zip(page.tables["points"], data.read_tests(folder), strict=True):
        assert table[1:] == [
            [p.mind, f"{p.k:g}", number(p.mean), interval(p.interval), count(p.exercises)]
            for p in found.points
        ]


def test_the_figures_of_the_learning_plot_are_mean_rewards(page, folder):
    sums = folder.curves().groupby(["test", "step", "mind"])[["total", "count"]].sum()
    means = (sums["total"] / sums["count"]).to_dict()
    for n, table in enumerate(page.tables["curve"]):
        minds = table[0][1:]
        for row in table[1:]:
            assert row[1:] == [number(means[n, int(row[0]), mind]) for mind in minds]
        assert [int(row[0]) for row in table[1:]] == list(range(1, 21))


def test_it_says_how_to_repeat_the_run(page, folder, tmp_path):
    assert folder.plan.run in page.text
    assert "allminds run PLAN.toml" in page.text
    assert folder.made["versions"]["numpy"] in page.text
    (tmp_path / "PLAN.toml").write_text(plan_text(folder.plan), "utf-8")
    again = read_plan(tmp_path / "PLAN.toml")
    assert again == folder.plan
    assert again.run == folder.plan.run
    assert plan_text(folder.plan) in page.text


def test_any_plan_survives_being_written_as_toml(tmp_path):
    odd = {"a b": 'quo"te\\', "deep": {"x": [1, 2.5, True]}, "π": "\x7f\n"}
    test = Test(instrument="lambda-star", minds=["m<ü>&.py:X"], settings=odd)
    plan = Plan(tests=[test, test.model_copy(update={"settings": {}})], seed=2**62)
    (tmp_path / "PLAN.toml").write_text(plan_text(plan), "utf-8")
    assert read_plan(tmp_path / "PLAN.toml") == plan


def test_no_large_words(page):
    assert not re.search(r"\bIQ\b|intelligen", page.text, re.IGNORECASE)


def test_figures_have_three_decimals_and_a_real_minus_sign():
    assert [number(x) for x in (-0.12345, -0.0001, 1, None)] == ["−0.123", "0.000", "1.000", "–"]
    assert interval((-1, 0.5)) == "[−1.000, 0.500]"
    assert [count(1, "mind"), count(12345, "exercise")] == ["1 mind", "12,345 exercises"]


# ---------------------------------------------------------------- one file, nothing fetched


def test_nothing_is_fetched_from_elsewhere(page):
    links = [value for name, value in page.attributes if name in ("href", "src", "xlink:href")]
    assert links
    held = [link for link in links if link.startswith("data:")]  # files of the card, in the page
    assert len(held) == 3
    assert all(link.startswith("#") for link in links if link not in held)
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(page.tags)
    text = page.source
    assert set(re.findall(r'(\S*)="?https?://', text)) <= {"xmlns", "xmlns:xlink"}
    assert text.count("://") == len(re.findall(r'xmlns(?::xlink)?="http://', text))
    assert not re.search(r"url\(|@import", text)


def test_the_same_run_gives_the_same_page(page, folder, tmp_path):
    assert page_of(folder, tmp_path).source == page.source


def test_names_and_reasons_are_text_and_never_markup(tmp_path):
    file = tmp_path / "m<i>&x.py"
    file.write_text(FAILING)
    page = page_of(
        played(tmp_path, [f"{file}:Sometimes", f"{file}:Always", "random"], 30), tmp_path
    )
    assert f"{file}:Sometimes" in [row[0] for row in page.tables["scores"][0]]
    assert "m<i>&x.py…ometimes" in page.text  # at the end of its line
    assert "<b>broken</b> & gone" in page.text
    assert "i" not in page.tags


# ---------------------------------------------------------------- odd runs


def test_failures_count_and_what_they_could_have_changed_is_shown(tmp_path):
    (tmp_path / "mine.py").write_text(FAILING)
    always, sometimes = f"{tmp_path}/mine.py:Always", f"{tmp_path}/mine.py:Sometimes"
    folder = played(tmp_path, [always, sometimes, "random"], 30)
    page = page_of(folder, tmp_path)
    worst = interval(about_mean([-1.0] * 30).interval)
    assert [row[0] for row in page.tables["scores"][0][1:]] == ["random", sometimes, always]
    assert page.tables["scores"][0][-1][:7] == [always, "−1.000", worst, "–", "–", "30", "30"]
    rows = folder.records().set_index("K")
    rows = rows[rows["mind"] == sometimes]
    broken = rows["status"] != "ok"

    def over_levels(score):
        return number(score.groupby(level="K").mean().mean())

    some = str(int(broken.sum()))
    assert 0 < int(some) < 30
    ends = [over_levels(rows["score"].mask(broken, end)) for end in (-1.0, 1.0)]
    assert page.tables["scores"][0][2][1] == over_levels(rows["score"])
    assert page.tables["scores"][0][2][6] == some
    found = {row[0]: row[1:9] for row in page.tables["excluded"][0][1:]}
    finished = found[sometimes].pop(4)
    assert float(finished.replace("−", "-")) == pytest.approx(
        rows["score"][~broken].groupby(level="K").mean().mean(), abs=0.00051
    )
    assert found == {
        always: ["lambda-star", "30", "0", "30", "–", "[−1.000, 1.000]", "no", "error 30"],
        sometimes: [
            "lambda-star", some, "0", "30", f"[{ends[0]}, {ends[1]}]", "no", f"malformed {some}",
        ],
    }  # fmt: skip
    points = [row for row in page.tables["points"][0] if row[0] == always]
    assert {row[2] for row in points} == {"−1.000"}
    assert f"{30 + int(some)} plays failed and count: see failures." in page.text
    assert page.source.count("not ranked</small>") == 2


def test_a_mind_that_seldom_fails_is_ranked(tmp_path):
    (tmp_path / "mine.py").write_text(FAILING)
    folder = played(tmp_path, [f"{tmp_path}/mine.py:Seldom", "random"], 30)
    page = page_of(folder, tmp_path)
    (row,) = page.tables["excluded"][0][1:]
    assert (row[2], row[7]) == ("1", "yes")
    assert "not ranked</small>" not in page.source


def test_without_failures_there_is_no_table_of_them(page):
    assert "excluded" not in page.tables
    assert "No exercise failed, and none is missing." in page.text
    assert "failed and count" not in page.text
    assert "not ranked" not in page.text


def test_a_run_in_which_everything_failed_is_at_the_lowest_and_learns_nothing(tmp_path):
    (tmp_path / "mine.py").write_text(FAILING)
    page = page_of(played(tmp_path, [f"{tmp_path}/mine.py:Always"], 3), tmp_path)
    assert {row[2] for row in page.tables["points"][0][1:]} == {"−1.000"}
    assert "curve" not in page.tables
    assert page.tables["scores"][0][1][2] == interval(about_mean([-1.0] * 3).interval)


def test_a_single_exercise_has_an_interval_over_nearly_all_there_is(tmp_path):
    folder = played(tmp_path, ["local-search"], 1)
    page = page_of(folder, tmp_path)
    (score,) = folder.records()["score"]
    low, high = about_mean([score]).interval
    assert page.tables["scores"][0][1][2] == interval((low, high))
    assert high - low > 1.9


class Pair(Environment):
    """Two minds in one step, of no measured complexity; the first gets half its action."""

    actions = (Discrete(3), Discrete(3))

    def reset(self, _random):
        return 0

    def awaited(self, state):
        return () if state else (0, 1)

    def step(self, _state, actions, _random):
        return 1, (actions[0] / 2, 0.0)


class Question(Instrument):
    name, version, chance, ceiling, slots = "question", 1, 0.25, 0.5, 2
    Settings = Settings

    def __init__(self):
        self.settings = Settings()

    def exercise(self, seed, i, history=()):
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Pair())

    def show(self, observation, form):
        return str(observation)

    def read(self, answer):
        return int(answer)


def test_a_question_without_complexity_has_a_table_and_no_plot(tmp_path, monkeypatch):
    registry.load()
    monkeypatch.setitem(registry._instruments, "question", Question)
    plan = Plan(tests=[Test(instrument="question", minds=["random"], episodes=50)])
    page = page_of(run(plan, tmp_path / "run", HERE), tmp_path)
    assert page.tables["scores"][0][1][0] == "random"
    assert page.tags.count("svg") == 1  # of the result card


def test_many_complexities_are_put_into_bins(folder, monkeypatch):
    monkeypatch.setattr(data, "MOST_LEVELS", 4)
    monkeypatch.setattr(data, "BINS", 4)
    rows = per_exercise(folder)
    rows = rows[(rows["test"] == 0) & (rows["mind"] == "random")]
    found = data.read_tests(folder)[0]
    bins = [point for point in found.points if point.mind == "random"]
    assert found.binned
    assert len(bins) <= 6
    for point in bins:
        low, high = (float(x) for x in point.label[1:-1].split(","))
        inside = rows[(low <= rows["K"]) & (rows["K"] < high)]
        assert point.exercises == len(inside)
        assert point.mean == pytest.approx(inside["score"].mean())
    assert sum(point.exercises for point in bins) == len(rows)


def test_every_value_falls_into_its_bin_whatever_the_rounding():
    values = np.linspace(0.3, 0.9, 200)
    width = data._round_step(0.6 / 16)
    levels = data.Levels(width * np.arange(np.floor(0.3 / width), 19), width)
    numbers = levels.number(values)
    assert width == pytest.approx(0.05)
    assert numbers.min() == 0
    assert (np.diff(numbers) >= 0).all()


def test_many_steps_are_put_together(folder, monkeypatch):
    monkeypatch.setattr(data, "MOST_STEPS", 8)
    curve = data.read_tests(folder)[0].curve
    labels = ["1–3", "4–6", "7–9", "10–12", "13–15", "16–18", "19–20"]
    assert [stretch.label for stretch in curve] == labels
    rows = folder.curves()
    last = rows[(rows["test"] == 0) & (rows["mind"] == "random") & (rows["step"] >= 19)]
    assert curve[-1].means["random"] == pytest.approx(last["total"].sum() / last["count"].sum())


# ---------------------------------------------------------------- errors


@pytest.fixture
def no_plots(monkeypatch):
    """Plots take the time, and are not what these tests are about."""
    monkeypatch.setattr(drawing, "svg", lambda *_: "<svg></svg>")


@pytest.mark.usefixtures("no_plots")
def test_a_place_that_cannot_be_written_is_said_in_one_sentence(folder, tmp_path):
    with pytest.raises(Error, match=r"cannot write .*nowhere.*: No such file"):
        write_report(folder, tmp_path / "nowhere" / "report.html")
    (tmp_path / "taken").mkdir()
    with pytest.raises(Error, match="cannot write"):
        write_report(folder, tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.usefixtures("no_plots")
def test_a_disk_that_fails_leaves_the_old_report_as_it_was(folder, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    (tmp_path / "report.html").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Error, match="No space left on device"):
        write_report(folder, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "old"


def test_a_run_that_is_not_complete_has_no_report(tmp_path):
    test = Test(instrument="lambda-star", minds=["random"], settings=SMALL)
    folder = RunFolder.create(tmp_path / "run", Plan(tests=[test]))
    with pytest.raises(Error, match="not complete"):
        write_report(folder, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_importing_the_report_loads_nothing_heavy():
    code = (
        "import sys, allminds.report; "
        "print([n for n in "
        "('altair', 'vl_convert', 'jinja2', 'pandas', 'pyarrow', 'numba', 'scipy') "
        "if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_adaptive_test_shows_its_path_and_what_may_be_compared(tmp_path):
    settings = {"time": 400, "steps": 40}
    test = {"instrument": "lambda-staircase", "minds": ["random", "expert"], "episodes": 20,
            "settings": settings}  # fmt: skip
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run")
    (found,) = data.read_tests(folder)
    assert len(found.path) == 10
    assert found.path[0].means == {"random": 1.0, "expert": 1.0}
    assert found.path[-1].means["expert"] > found.path[-1].means["random"]
    text = write_report(folder, tmp_path / "report.html").read_text()
    assert "as it rises and falls with its success" in text
    assert "compare them with the same settings only" in text
