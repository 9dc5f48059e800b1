"""The commands import and compare, as a user meets them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import allminds
from typer.testing import CliRunner

from allminds.cli.app import app
from allminds.core.errors import Error


def called(*words):
    """The same without a process of its own: what it prints, or the error it raises."""
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def write(path, seed, minds, first=0, count=40, instrument="quiz"):
    rng = np.random.default_rng(seed)
    lines = ["exercise,mind,score,K,instrument"]
    base = np.random.default_rng(99).normal(0, 0.1, 1000)
    for mind, mean in minds.items():
        for n in range(first, first + count):
            score = np.clip(mean + base[n] - 0.02 * (n % 9) + rng.normal(0, 0.1), -1, 1)
            lines.append(f"e{n},{mind},{score:.4f},{n % 9},{instrument}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def one(tmp_path):
    return write(tmp_path / "one.csv", 1, {"ann": 0.5, "bob": 0.2})


@pytest.fixture
def two(tmp_path):
    return write(tmp_path / "two.csv", 2, {"program": 0.5})


@pytest.fixture
def elsewhere(tmp_path):
    return write(tmp_path / "elsewhere.csv", 3, {"other": 0.5}, first=500)


def test_compare_shows_everything_within_eighty_columns(one, two):
    done = allminds("compare", one, two, "--verbose")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("ann − bob", "different", "Correlation", "Reliability", "Rel = e^(−TE)", "Eρ²"):
        assert word in done.stdout
    assert done.stderr == ""


def test_json_is_complete_and_plain(one, two):
    found = json.loads(called("compare", one, two, "--json", "--seed", 5))
    assert found["runs"] == [str(one), str(two)]
    assert (found["margin"], found["seed"]) == (0.05, 5)
    [comparison] = found["comparisons"]
    assert comparison["instrument"] == "quiz"
    assert [row["mind"] for row in comparison["standings"]][-1] == "bob"
    for row in comparison["standings"]:
        assert row["ci95"][0] < row["score"] < row["ci95"][1]
        assert (row["failed"], row["missing"], row["coverage"], row["ranked"]) == (0, 0, 1, True)
        assert row["ranks"][0] <= row["rank"] <= row["ranks"][1]
    verdicts = {(row["first"], row["second"]): row["verdict"] for row in comparison["differences"]}
    assert verdicts["ann", "bob"] == verdicts["bob", "program"] == "different"
    assert verdicts["ann", "program"] in ("undecided", "equivalent")
    assert {row["complexity"] for row in comparison["correlations"]} == {"K"}
    assert set(comparison["reliability"]["stderr"]) == {"ann", "bob", "program"}
    assert comparison["reliability"]["generalisability"] > 0.9


def test_the_same_seed_prints_the_same(one, two):
    assert called("compare", one, two, "--json") == called("compare", one, two, "--json")


def test_the_margin_decides_what_is_equivalent(one, two):
    def verdict(margin):
        found = json.loads(called("compare", one, two, "--json", "--margin", margin))
        rows = found["comparisons"][0]["differences"]
        return next(r["verdict"] for r in rows if {r["first"], r["second"]} == {"ann", "program"})

    assert verdict(0.2) == "equivalent"
    assert verdict(0.001) == "undecided"


def test_minds_without_a_common_exercise_need_to_be_asked_for(one, elsewhere):
    with pytest.raises(Error, match="have no common exercise"):
        called("compare", one, elsewhere)
    done = allminds("compare", one, elsewhere)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "have no common exercise" in done.stderr
    assert "* each on exercises of its own: unpaired" in called(
        "compare", one, elsewhere, "--unpaired"
    )


@pytest.fixture
def four(tmp_path):
    return write(tmp_path / "four.csv", 7, {"a": 0.5, "b": 0.45, "c": 0.3, "d": 0.1})


def test_what_is_asked_for_is_compared_and_corrected_for(four):
    def pairs(*words):
        [found] = json.loads(called("compare", four, "--json", *words))["comparisons"]
        return {(row["first"], row["second"]): row for row in found["differences"]}

    everything = pairs()
    assert len(everything) == 6
    single = pairs("--mind", "a", "--mind", "b")
    assert set(single) == {("b", "a")}, "the first that is named is subtracted"
    assert single["b", "a"]["mean"] == -everything["a", "b"]["mean"]
    assert single["b", "a"]["p_holm"] == single["b", "a"]["p"]
    assert single["b", "a"]["p"] == pytest.approx(everything["a", "b"]["p"])
    assert everything["a", "b"]["p_holm"] >= single["b", "a"]["p_holm"]
    baseline = pairs("--baseline", "a")
    assert set(baseline) == {("b", "a"), ("c", "a"), ("d", "a")}
    assert {row["verdict"] for row in pairs("--instrument", "quiz").values()}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mind", "ana", "--mind", "b"], "no mind 'ana'"),
        (["--baseline", "ana"], "no mind 'ana'"),
        (["--instrument", "quis"], "no results on 'quis'"),
    ],
)
def test_what_is_asked_for_must_be_there(four, words, said):
    with pytest.raises(Error, match=said):
        called("compare", four, *words)


def test_failures_are_told_and_count(tmp_path):
    """A mind that failed a tenth: counted as the lowest, not ranked, and said with its bounds."""
    path, lines = tmp_path / "fails.csv", ["exercise,mind,score,status"]
    for n in range(40):
        lines.append(f"e{n},a,{n % 2},ok")
        lines.append(f"e{n},b,,error" if n < 4 else f"e{n},b,1,ok")
    path.write_text("\n".join(lines) + "\n")
    [found] = json.loads(called("compare", path, "--json"))["comparisons"]
    row = next(row for row in found["standings"] if row["mind"] == "b")
    assert (row["score"], row["failed"], row["coverage"]) == (0.9, 4, 0.9)
    assert (row["finished"], row["bounds"], row["ranked"]) == (1.0, [0.9, 1.0], False)
    assert row["rank"] is None
    shown = called("compare", path)
    assert "not ranked" in shown
    assert "b failed 4 of 40 exercises" in " ".join(shown.split())


def test_other_instruments_are_never_compared(one, tmp_path):
    other = write(tmp_path / "other.csv", 4, {"program": 0.5}, instrument="riddles")
    for words in ([], ["--unpaired"]):
        with pytest.raises(Error, match="not even an instrument"):
            called("compare", one, other, *words)


def test_instruments_are_compared_each_by_itself(tmp_path):
    one = write(tmp_path / "a.csv", 1, {"ann": 0.5, "bob": 0.2})
    more = write(tmp_path / "b.csv", 2, {"ann": 0.1, "bob": 0.2}, instrument="riddles")
    text = one.read_text() + more.read_text().partition("\n")[2]
    both = tmp_path / "both.csv"
    both.write_text(text)
    found = json.loads(called("compare", both, "--json"))
    assert [row["instrument"] for row in found["comparisons"]] == ["quiz", "riddles"]


def test_by_a_column_shows_the_correlation_at_its_values(one, tmp_path):
    path = tmp_path / "by.csv"
    lines = one.read_text().splitlines()
    rows = [lines[0] + ",size,test"]
    rows += [f"{line},{n % 2},{n % 40 // 2}" for n, line in enumerate(lines[1:])]
    path.write_text("\n".join(rows))
    found = json.loads(called("compare", path, "--by", "size", "--json"))["comparisons"][0]
    assert {row["level"] for row in found["correlations"]} == {None, 0, 1}
    assert found["unit"] == "test"
    assert [row["factors"] for row in found["anova"]["effects"]] == [
        ["mind"], ["size"], ["mind", "size"],
    ]  # fmt: skip
    shown = called("compare", path, "--by", "size")
    assert "Analysis of variance" in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_plot_draws_a_forest(one, two, tmp_path, suffix):
    out = tmp_path / f"forest.{suffix}"
    called("compare", one, two, "--plot", out)
    made = out.read_bytes()
    assert made.startswith(b"\x89PNG" if suffix == "png" else b"<svg")
    if suffix == "svg":
        assert "ann − bob" in made.decode()
        assert "different" in made.decode()
    assert not list(tmp_path.glob("*.tmp"))


def test_budget_tells_how_many_exercises(one):
    found = json.loads(called("compare", one, "--json", "--budget", "rel=0.999"))
    assert found["comparisons"][0]["budget"] >= 1
    assert "Exercises for generalisability 0.9:" in called(
        "compare", one, "--budget", "generalisability=0.9"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "alpha=0.9"], "--budget takes"),
        (["--budget", "rel=2"], "--budget takes"),
        (["--by", "size"], "no column 'size'"),
        (["--unit", "person"], "no column 'person'"),
        (["--margin", "0"], "margin must be above 0"),
        (["--plot", "forest.pdf"], "ends in .svg or .png"),
        (["--plot", "no/such/folder/f.svg"], "cannot write"),
    ],
)
def test_what_cannot_be_asked(one, words, said):
    with pytest.raises(Error, match=said):
        called("compare", one, *words)


def test_places_without_results(one, tmp_path):
    with pytest.raises(Error, match="holds no results"):
        called("compare", one, tmp_path / "nowhere")
    with pytest.raises(Error, match="named twice"):
        called("compare", one, one)
    single = write(tmp_path / "single.csv", 1, {"ann": 0.5})
    with pytest.raises(Error, match="no two minds took the same instrument"):
        called("compare", single)


def test_import_then_compare(one, two, tmp_path):
    said = called("import", one, "--out", tmp_path / "people")
    assert "80 results of ann, bob on 40 exercises" in said
    found = json.loads(called("compare", tmp_path / "people", two, "--json"))
    assert len(found["comparisons"][0]["differences"]) == 3
    assert json.loads(called("import", two, "--out", tmp_path / "p", "--json"))["rows"] == 40


def test_import_errors_are_one_line_and_leave_nothing(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("exercise,mind,score\ne1,ann,1.2\n")
    done = allminds("import", bad, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"allminds: {bad}, line 2: score 1.2 is above 1; scores lie in -1..1, so rescale it"
    ]
    assert not (tmp_path / "out").exists()


def test_p3_from_the_authors_rows(reference, tmp_path):
    called("import", reference / "lambda_2011_rows.csv", "--out", tmp_path / "p3",
           "--format", "lambda-2011")  # fmt: skip
    shown = called("compare", tmp_path / "p3", "--by", "cells", "--verbose")
    assert max(map(len, shown.splitlines())) <= 80
    for figure in ("0.237", "0.259", "−0.257", "−0.444", "0.4605", "0.4005", "0.6930", ".5056",
                   ".8774", ".6557", "[−0.088, 0.045]", "[−0.077, 0.033]", "undec"):  # fmt: skip
        assert figure in shown
