"""People in the report: shown as people, compared as a sample of people, named by nobody's id."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from html_page import Page
from typer.testing import CliRunner

from allminds import registry
from allminds.cli.app import app
from allminds.core.errors import Error
from allminds.report import data, write_report
from allminds.report.sections import people
from allminds.report.words import interval, number, p_value
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, run

HERE = How(jobs=1)
ITEMS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tests = [
        Test(
            instrument="c-test", minds=["random", "pattern(y=3)", "pattern(y=6)"], episodes=ITEMS,
            settings={"form": "generated"},
        ),
        Test(
            instrument="prisoners-dilemma", minds=["random", "defect"], against="tit-for-tat",
            episodes=12,
        ),
        Test(instrument="lambda-staircase", minds=["random", "q-learning"], episodes=24,
             settings={"time": 800, "steps": 100}),
    ]  # fmt: skip
    return run(Plan(tests=tests), tmp_path_factory.mktemp("people") / "run", HERE)


def exercises(folder, test):
    given = folder.plan.tests[test]
    tool = registry.make_instrument(given.instrument, given.settings)
    return tool, registry.exercise_prefix(tool, folder.plan.seed)


def table(path, folder, scores, test=0, **columns):
    """A table of people: by person, the scores by number of exercise."""
    _, prefix = exercises(folder, test)
    rows = [
        {"exercise": f"{prefix}{n}", "mind": f"person/{who}", "person": who, "kind": "person",
         "score": score, "status": "ok"} | {key: of(who, n) for key, of in columns.items()}
        for who, of in scores.items()
        for n, score in of.items()
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def hits(folder, mind):
    rows = folder.records()
    return rows[(rows["test"] == 0) & (rows["mind"] == mind)].sort_values("index")["score"]


def page_of(folder, export, tmp_path):
    return Page(write_report(folder, tmp_path / "page.html", exports=[export]).read_text("utf-8"))


def sample(seed=3, persons=12):
    rng = np.random.default_rng(seed)
    skill = rng.beta(4, 2, persons)
    return {
        f"PANEL-{n}-5f3a": dict(enumerate((rng.random(20) < p).astype(float)))
        for n, p in enumerate(skill)
    }


# ---------------------------------------------------------------- what is said


@pytest.mark.parametrize("items", [10, 20])
def test_one_always_right_and_one_always_wrong_leave_it_undecided(folder, tmp_path, items):
    got = hits(folder, "pattern(y=3)").to_numpy()
    right, wrong = np.flatnonzero(got == 1)[: items // 2], np.flatnonzero(got == 0)[: items // 2]
    assert len(right) == len(wrong) == items // 2, "the program is right on half of them"
    taken = [*right, *wrong]
    both = {"ann": dict.fromkeys(taken, 1.0), "bob": dict.fromkeys(taken, 0.0)}
    page = page_of(folder, table(tmp_path / "two.csv", folder, both), tmp_path)
    row = next(row for row in page.tables["cards against"][0] if row[0] == "pattern(y=3)")
    low, high = (float(end.replace("−", "-")) for end in row[3].strip("[]").split(", "))
    assert row[-1] == "undecided"
    assert high - low > 1.5, "a difference lies between -1 and 1"
    sentence = next(line for line in page.text.split("\n") if "2 people scored" in line)
    assert "0 did better, 0 worse and 3 neither for sure" in sentence
    assert "people like these" in sentence
    assert float(sentence.split("[")[1].split(",")[0].replace("−", "-")) < 0.05


def test_the_report_and_compare_print_the_same_numbers(folder, tmp_path):
    export = table(tmp_path / "people.csv", folder, sample())
    page = page_of(folder, export, tmp_path)
    asked = ["compare", str(folder.path), str(export), "--json"]
    reply = CliRunner().invoke(app, [*asked, "--baseline", "people"])
    found = json.loads(reply.stdout)["comparisons"]
    assert [one["instrument"] for one in found] == ["c-test"]
    shown = {row[0]: row for row in page.tables["cards against"][0][1:]}
    for one in found[0]["differences"]:
        row = shown[one["first"]]
        verdict = {"different": "better" if one["mean"] > 0 else "worse"}.get(one["verdict"])
        assert row[2:5] == [number(one["mean"]), interval(one["interval"]), p_value(one["p_holm"])]
        assert row[5].startswith(verdict or one["verdict"])
    standing = next(one for one in found[0]["standings"] if one["mind"] == "people")
    assert f"{number(standing['score'])}, 95 % interval {interval(standing['ci95'])}" in page.text
    for one in found[0]["standings"]:  # the scores of minds are those of evaluate
        if one["mind"] in shown:
            assert shown[one["mind"]][1] == number(one["score"])
    plain = json.loads(CliRunner().invoke(app, asked).stdout)["comparisons"]
    differences = next(one for one in plain if one["instrument"] == "c-test")["differences"]
    turned = {
        one["first"] if one["second"] == "people" else one["second"]: one
        for one in differences
        if "people" in (one["first"], one["second"])
    }
    for mind, row in shown.items():  # asked for all pairs, only the correction is another
        assert float(row[2].replace("−", "-")) == pytest.approx(
            turned[mind]["mean"] * (1 if turned[mind]["second"] == "people" else -1), abs=5e-4
        )


def test_many_more_exercises_of_two_people_tell_no_more_of_people(folder, tmp_path):
    """Rows that were taken for independent would make the interval six times as narrow."""
    widths = []
    for times in (6, ITEMS):
        both = {"ann": dict.fromkeys(range(times), 1.0), "bob": dict.fromkeys(range(times), 0.0)}
        export = table(tmp_path / f"{times}.csv", folder, both)
        (found,), _ = people.beside(data.read_tests(folder), people.read_exports([export]))
        ends = found.found.ci95
        widths.append(ends[1] - ends[0])
    assert widths[1] > 0.9 * widths[0]


def test_nobody_is_named_by_a_panel_id(folder, tmp_path):
    export = table(tmp_path / "people.csv", folder, sample())
    page = page_of(folder, export, tmp_path)
    assert "PANEL" not in page.source
    assert "5f3a" not in page.source
    assert "person 12" in page.source
    assert [row[0] for row in page.tables["persons"][0][1:]] == [str(n) for n in range(1, 13)]


def test_persons_are_dots_and_programs_are_lines(folder, tmp_path):
    export = table(tmp_path / "people.csv", folder, sample())
    page = page_of(folder, export, tmp_path)
    assert page.source.count("<circle") >= 2 * 12
    points = page.tables["person-points"][0][1:]
    _, prefix = exercises(folder, 0)
    rows = folder.records().drop_duplicates("exercise").set_index("exercise")
    k = rows.loc[[f"{prefix}{n}" for n in range(20)], "k"].to_numpy()
    first = np.array(list(sample()["PANEL-0-5f3a"].values()))
    mine = {row[1]: row[2] for row in points if row[0] == "1"}
    assert mine == {f"{level:g}": number(first[k == level].mean()) for level in sorted(set(k))}


# ---------------------------------------------------------------- whom it is about


def test_people_who_met_others_are_not_compared_with_programs(folder, tmp_path):
    played = {"ann": dict.fromkeys(range(12), 0.2), "bob": dict.fromkeys(range(12), -0.1)}

    def met(name):
        return {"line_up": lambda who, n: f"person/{who}, {name}", "slot": lambda who, n: 0}

    export = table(tmp_path / "same.csv", folder, played, 1, **met("tit-for-tat"))
    found, left = people.beside(data.read_tests(folder), people.read_exports([export]))
    assert [one.data.label for one in found] == ["prisoners-dilemma against tit-for-tat"]
    assert not left
    other = table(tmp_path / "other.csv", folder, played, 1, **met("defect"))
    with pytest.raises(Error, match="no exercise in common"):
        people.beside(data.read_tests(folder), people.read_exports([other]))
    _, left = people.beside(data.read_tests(folder), people.read_exports([export, other]))
    assert "2 people met opponents that no program here met" in left[0]


def test_levels_of_an_adaptive_test_are_compared_by_person(folder, tmp_path):
    rng = np.random.default_rng(1)
    played = {f"p{n}": dict(enumerate(rng.uniform(0, 1, 8))) for n in range(5)}
    xi = {who: np.cumsum(rng.uniform(0, 1, 8)) for who in played}
    export = table(tmp_path / "levels.csv", folder, played, 2, xi=lambda who, n: xi[who][n],
                   index=lambda who, n: n)  # fmt: skip
    (found,), _ = people.beside(data.read_tests(folder), people.read_exports([export]))
    tool, _ = exercises(folder, 2)
    levels = [
        tool.rule().figure(xi[who], np.array(list(of.values()))) for who, of in played.items()
    ]
    assert found.found.score == pytest.approx(np.mean(levels))
    assert list(found.persons.values()) == pytest.approx(levels)
    assert found.found.units == 5
    program = next(row for row in found.data.summary["results"] if row["mind"] == "q-learning")
    gain = next(one for one in found.differences if one.first == "q-learning")
    assert gain.mean == pytest.approx(program["score"] - np.mean(levels))


def test_mistakes_are_said_in_one_sentence(folder, tmp_path):
    export = table(tmp_path / "people.csv", folder, sample())
    frame = pd.read_csv(export)

    def refused(*words):
        reply = CliRunner().invoke(app, ["report", *map(str, words), "-o", str(tmp_path / "x")])
        assert isinstance(reply.exception, Error)
        assert not (tmp_path / "x").exists()
        return str(reply.exception)

    assert "a run of programs on the same exercises" in refused(export)
    strange = tmp_path / "strange.csv"
    frame.assign(exercise=frame["exercise"].str.replace("/1/", "/2/")).to_csv(strange, index=False)
    assert "no exercise in common" in refused(folder.path, strange)
    nobody = tmp_path / "nobody.csv"
    frame.drop(columns=["kind", "person"]).to_csv(nobody, index=False)
    assert "has no people" in refused(folder.path, nobody)
    mixed = tmp_path / "mixed.csv"
    frame.assign(kind=["", *["person"] * (len(frame) - 1)]).to_csv(mixed, index=False)
    assert "give programs as run folders" in refused(folder.path, mixed)
