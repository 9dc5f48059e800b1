"""Reaction times of people: quantiles by person, intervals over people, ratios of a crossed model.

The figures of R are from R 4.2.2, lme4 1.1-31, lmerTest 3.1-3, on data/reaction.csv, made once with
``numpy.random.default_rng(26)``; `late`, `w` (wrong) and `K` (complexity) are centred:

    d$K <- d$k - mean(d$k); d$late <- (d$source == "late") - mean(d$source == "late")
    d$w <- (1 - d$score) - mean(1 - d$score)
    ctl <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10))
    summary(lmer(log(rt_ms) ~ late + w + K + (1 | person) + (0 + w | person) + (0 + K | person) +
                 (1 | exercise) + (0 + late | exercise) + (0 + w | exercise), d, control = ctl))
    a <- aggregate(log(rt_ms) ~ person, d, median)[, 2]; exp(mean(a)); exp(t.test(a)$conf.int)
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from allminds.core.errors import Error
from allminds.statistics.comparison import compare, reaction_times
from allminds.statistics.comparison.reaction import QUANTILES

DATA = Path(__file__).parent / "data"


def facts():
    frame = pd.read_csv(DATA / "reaction.csv")
    return frame.assign(mind="person/" + frame["person"], kind="person", status="ok")


def people(log, **columns):
    """Log times [person, item] as a results table of people."""
    count, items = np.shape(log)
    frame = pd.DataFrame({
        "exercise": np.tile([f"e{i}" for i in range(items)], count),
        "mind": np.repeat([f"person/p{p}" for p in range(count)], items),
        "person": np.repeat([f"p{p}" for p in range(count)], items),
        "kind": "person", "status": "ok", "score": 0.5, "rt_ms": np.exp(np.ravel(log)),
    })  # fmt: skip
    return frame.assign(**columns)


def test_ratios_errors_and_degrees_of_freedom_are_those_of_lmertest():
    found = reaction_times(facts())
    expected = {
        "source late against early": (0.2361699716, 0.33263313375, 9.494096287, 0.4947719346),
        "wrong against right": (0.1215368981, 0.10183169272, 5.398857523, 0.2824644361),
        "k, one more": (0.1063144333, 0.04227015295, 14.636994407, 0.02411284927),
    }
    assert [one.term for one in found.ratios] == list(expected)
    for one in found.ratios:
        estimate, stderr, df, p = expected[one.term]
        reach = stats.t.ppf(0.975, df) * stderr
        assert one.ratio == pytest.approx(np.exp(estimate), rel=1e-6)
        assert one.df == pytest.approx(df, rel=1e-5)
        assert one.p == pytest.approx(p, rel=1e-5)
        ends = np.exp([estimate - reach, estimate + reach])
        assert one.interval == pytest.approx(tuple(ends), rel=1e-5)


def test_the_median_of_people_is_that_of_a_t_test_over_persons_log_medians():
    group = reaction_times(facts()).groups[0]
    middle = QUANTILES.index(0.5)
    assert (group.answers, group.people, group.choices) == ("all", 10, 116)
    assert group.quantiles[middle] == pytest.approx(1343.950454)
    assert group.intervals[middle] == pytest.approx((908.0859742, 1989.0218262))
    assert group.quantiles[QUANTILES.index(0.25)] == pytest.approx(972.6583248)


def test_right_and_wrong_answers_are_shown_apart_and_a_persons_quantiles_are_hers():
    frame = facts()
    found = reaction_times(frame)
    assert [one.answers for one in found.groups] == ["all", "right", "wrong"]
    assert [one.choices for one in found.groups] == [116, 80, 36]
    own = frame[(frame["person"] == "p3") & (frame["score"] == 1)]["rt_ms"]
    (one,) = [one for one in found.persons if (one.person, one.answers) == ("p3", "right")]
    assert one.choices == len(own)
    assert one.quantiles[2] == pytest.approx(np.exp(np.median(np.log(own))))
    (few,) = [one for one in found.persons if (one.person, one.answers) == ("p3", "wrong")]
    assert few.quantiles[0] is None, "a tenth of fewer than ten times is not to be had"
    assert reaction_times(frame.assign(score=0.3)).groups[1:] == ()


def test_what_does_not_count_is_left_out_and_said():
    frame = people(np.log(1000) + np.zeros((3, 6)))
    frame["rt_ms"] = np.where(frame["exercise"] == "e0", 0.0, frame["rt_ms"])
    frame["practice"] = (frame["exercise"] == "e1").astype(int)
    frame["status"] = np.where(frame["exercise"] == "e2", "timeout", "ok")
    frame["reloaded"] = (frame["exercise"] == "e3").astype(int)
    frame.loc[frame["exercise"] == "e4", "rt_ms"] = np.nan
    found = reaction_times(frame)
    assert found.choices == 3
    assert list(found.left_out.values()) == [3, 3, 3, 6]
    (note,) = [one for one in found.notes if "left out" in one]
    assert "3 of practice" in note
    assert "3 in exercises that failed" in note
    assert "3 after the page was loaded again" in note
    assert "6 without a time above 0" in note
    none = reaction_times(frame.assign(rt_ms=0.0))
    assert (none.choices, none.groups, none.ratios) == (0, (), ())


@pytest.mark.parametrize("count", [1, 2, 7])
def test_few_people_have_medians_and_no_interval_over_people(count):
    rng = np.random.default_rng(count)
    found = reaction_times(people(rng.normal(7, 0.5, (count, 12)), k=np.tile(np.arange(12), count)))
    assert found.groups[0].quantiles[2] is not None
    assert set(found.groups[0].intervals) == {None}
    assert len(found.persons) == count
    if count == 1:
        assert found.ratios == ()
        assert any("one person is not a sample of people" in note for note in found.notes)
    else:
        (ratio,) = found.ratios
        assert ratio.interval[0] < ratio.ratio < ratio.interval[1]
    if count == 2:
        assert ratio.df < 2, "two people have one degree of freedom between them, not 22"
        assert ratio.interval[1] / ratio.interval[0] > 1.5


def test_times_that_are_all_alike_have_no_interval_and_no_ratio():
    found = reaction_times(people(np.full((9, 5), 7.0), k=np.tile(np.arange(5), 9)))
    assert found.groups[0].quantiles[2] == pytest.approx(np.exp(7))
    assert set(found.groups[0].intervals) == {None}
    assert found.ratios == ()
    assert found.notes == ("No ratios of times: all times are alike.",)


def test_without_people_or_times_nothing_is_said():
    frame = people(np.full((2, 3), 7.0))
    assert reaction_times(frame.drop(columns="rt_ms")) is None
    assert reaction_times(frame.assign(kind="")) is None
    assert reaction_times(frame.assign(rt_ms=np.nan)) is None


def test_one_item_and_effects_that_cannot_be_told_apart_are_said():
    rng = np.random.default_rng(1)
    one = reaction_times(people(rng.normal(7, 1, (4, 1))))
    assert one.notes == ("No ratios of times: one item is not a sample of items.",)
    arm = np.repeat([0, 0, 1, 1], 6)
    both = reaction_times(people(rng.normal(7, 1, (4, 6)), source=arm.astype(str), test=arm))
    assert [one.term for one in both.ratios] == ["source 1 against 0"]
    assert both.notes == (
        "The effect of test 1 against 0 on times cannot be told from that of others.",
    )


def test_compare_pairs_choices_with_results_and_a_table_column_is_no_complexity():
    rng = np.random.default_rng(5)
    log = rng.normal(7, 0.4, (3, 8))
    frame = people(log)
    program = frame[frame["person"] == "p0"].assign(
        mind="program", kind="", person="", rt_ms=np.nan
    )
    both = pd.concat([frame, program], ignore_index=True).assign(source="here")
    found = compare(both, np.random.default_rng(1))
    assert found.times.choices == 24
    assert {one.complexity for one in found.correlations} == set()
    steps = pd.DataFrame({
        "source": "here", "test": 0, "practice": 0, "reloaded": 0, "step": [0, 1] * 24,
        "person": np.repeat(frame["person"], 2), "exercise": np.repeat(frame["exercise"], 2),
        "rt_ms": np.repeat(frame["rt_ms"], 2), "correct": np.nan,
    })  # fmt: skip
    extra = steps.iloc[:4].assign(exercise="other", practice=[1, 1, 0, 0])
    choices = pd.concat([steps, extra, extra.assign(test=1)], ignore_index=True)
    found = compare(both.drop(columns="rt_ms"), np.random.default_rng(1), choices=choices)
    assert found.times.choices == 48
    assert found.times.left_out == {"of practice": 2, "in exercises still open": 2}
    json.dumps(found.as_json())
    asked = compare(both, np.random.default_rng(1), minds=["people", "program"])
    assert asked.times is not None


def test_people_of_two_studies_with_one_label_are_two_people():
    rng = np.random.default_rng(6)
    one = people(rng.normal(7, 0.3, (2, 6))).assign(source="one")
    other = people(rng.normal(7, 0.3, (2, 6))).assign(source="other")
    other["mind"] += " in other"
    found = reaction_times(pd.concat([one, other], ignore_index=True))
    assert found.people == 4
    assert [one.term for one in found.ratios] == ["source other against one"]


# ---------------------------------------------------------------- the command


@pytest.fixture
def export(tmp_path):
    """The folder of an export: results of ten people, their choices, and a program's results.

    It has no sums, as exports of long ago: what was cut short is found by its number of rows.
    """
    from allminds.runs.imports import IMPORTED, import_results

    frame = facts()[["exercise", "mind", "person", "kind", "k", "score"]].assign(instrument="quiz")
    frame.to_csv(tmp_path / "people.csv", index=False)
    folder = import_results(tmp_path / "people.csv", tmp_path / "people")
    made = json.loads((folder / IMPORTED).read_text())
    (folder / made.pop("sums")).unlink()
    (folder / IMPORTED).write_text(json.dumps(made))
    program = frame.drop_duplicates("exercise").assign(mind="program", kind="", person="", score=0)
    program.to_csv(tmp_path / "program.csv", index=False)
    choices = facts().assign(test=0, practice=0, step=0, reloaded=0)
    choices = choices.rename(columns={"person": "label", "score": "correct"})
    names = ["label", "exercise", "test", "practice", "step", "correct", "rt_ms", "reloaded"]
    lines = [",".join(names), *(",".join(map(str, row)) for row in choices[names].to_numpy())]
    (folder / "choices.csv").write_text("\n".join([*lines, f"#rows,{len(lines) - 1}"]) + "\n")
    return folder, tmp_path / "program.csv"


def run(*arguments):
    import allminds.cli  # noqa: F401 - registers the commands
    from allminds.cli.app import app

    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_the_command_prints_reaction_times_where_an_export_has_them(export, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    done = run(*export, "--verbose")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "Reaction times in ms, 10 people on 12 items" in said
    assert "all 10 116 663 973 1,344 [908, 1,989] 2,081 2,620" in said
    assert "wrong 10 36 – – 1,480 [1,069, 2,050] – –" in said
    made = json.loads(run(*export, "--json").output)["comparisons"][0]["times"]
    terms = {one["term"]: one["ratio"] for one in made["ratios"]}
    assert set(terms) == {"k, one more", "wrong against right"}
    assert f"k, one more {terms['k, one more']:.3f}" in said
    assert len(made["persons"]) == 30
    assert made["left_out"] == {}


def test_choices_that_were_cut_short_are_an_error(export):
    file = export[0] / "choices.csv"
    lines = file.read_text().splitlines(keepends=True)
    for damaged in ([*lines[:-2], lines[-1]], lines[:-1], lines[:1], ["x\n", "y\n"]):
        file.write_text("".join(damaged))
        done = run(*export)
        assert isinstance(done.exception, Error)
        assert "export the study again" in str(done.exception)
    file.write_text("".join(lines))
    table = (export[0].parent / "people.csv").rename(export[0] / "results.csv")
    assert "Reaction times" in run(table, export[1], "--verbose").output
    file.unlink()
    assert "Reaction times" not in run(*export, "--verbose").output
