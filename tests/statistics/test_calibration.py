"""The gate: nothing that is printed is wrong more often than it says."""

from __future__ import annotations

import json
from functools import partial

import gate
import numpy as np
import pytest
from typer.testing import CliRunner

from allminds.core.errors import Error
from allminds.statistics import calibration
from allminds.statistics.calibration import (
    Found,
    Row,
    answers,
    courses,
    figures,
    one_mind,
    people,
    two_minds,
)

SEED = gate.SEED


@pytest.mark.slow
@pytest.mark.parametrize("section", gate.sections(one_mind, two_minds))
def test_no_row_fails_the_gate(section):
    assert gate.failures(section) == []


def test_all_sections_are_held_in_one_of_the_files():
    held = gate.sections(one_mind, two_minds, answers, courses, figures, people)
    assert set(held) == {row.section for row in calibration.rows()}


def wald(rng, repeats, n, p):
    """p̂ ± 1.96 √(p̂(1 - p̂)/n): the textbook's interval, which is too short."""
    rate = rng.binomial(n, p, repeats) / n
    reach = 1.96 * np.sqrt(rate * (1 - rate) / n)
    return int((np.abs(rate - p) > reach).sum()), repeats


def too_long(rng, repeats):
    """Twice as long as need be."""
    return int((np.abs(rng.normal(size=repeats)) > 2 * 1.96).sum()), repeats


def uncorrected(rng, repeats):
    """Five tests at 5 % each, without a correction."""
    return int((rng.random((repeats, 5)) < 0.05).any(axis=1).sum()), repeats


@pytest.mark.parametrize(
    ("kind", "simulate", "passes"),
    [
        ("approximate", partial(wald, n=20, p=0.03), False),
        ("bounded", partial(wald, n=20, p=0.97), False),
        ("approximate", too_long, False),
        ("bounded", too_long, True),  # an exact interval may be long
        ("verdict", uncorrected, False),
        ("verdict", lambda rng, repeats: (rng.binomial(repeats, 0.05), repeats), True),
    ],
)
def test_the_gate_can_fail(kind, simulate, passes):
    (found,) = calibration.calibrate([Row("A", "b", kind, simulate)], gate.REPEATS[kind], SEED)
    assert found.passes is passes
    assert len(calibration.failures([found])) == (not passes)


def test_what_no_row_shows_alone_the_rows_of_a_section_show_together():
    """False in 14 of 160 studies: one row may be so by chance, and ten may not."""
    rows = [Row("A", str(n), "verdict", lambda *_: (14, 160)) for n in range(10)]
    assert [row for row in rows if gate.failures("A", [row])] == []
    (together,) = gate.failures("A", rows)
    assert "A: all 10 rows, verdict: wrong in" in together
    right = [Row("A", str(n), "verdict", lambda *_: (8, 160)) for n in range(10)]
    assert gate.failures("A", right) == []


def test_what_may_never_be_wrong_fails_when_it_is_wrong_often_enough_to_be_sure():
    never = Row("A", "b", "verdict", lambda *_: (0, 0), nominal=0.0, most=0.0)
    assert Found(never, 0, 300).passes
    assert not Found(never, 1, 300).passes


def test_a_row_has_the_same_figures_alone_and_among_others():
    rows = calibration.chosen(calibration.rows(), "score of hits: 10")
    together = [one.wrong for one in calibration.calibrate(rows, 200, 3)]
    assert [next(calibration.calibrate([row], 200, 3)).wrong for row in rows] == together


def test_names_are_unique():
    names = [f"{row.section}: {row.name}" for row in calibration.rows()]
    assert len(names) == len(set(names))


def test_an_unknown_word_names_the_sections():
    with pytest.raises(Error, match="the sections are: Score of hits"):
        calibration.chosen(calibration.rows(), "horoscope")


def run(*arguments):
    import allminds.cli  # noqa: F401 - registers the commands
    from allminds.cli.app import app

    return CliRunner().invoke(app, ["calibrate", *arguments])


def test_the_command_prints_figures_and_writes_a_page(tmp_path):
    page = tmp_path / "page.md"
    done = run("--only", "score of hits: 5", "--repeats", "50", "--json", "--out", str(page))
    assert done.exit_code == 0
    made = json.loads(done.output)
    assert made["failures"] == []
    assert all(row["total"] == 50 and row["passes"] for row in made["rows"])
    assert "| 5 exercises, right in 0.5 | 0.95 |" in page.read_text("utf-8")


def test_the_command_ends_with_1_where_a_row_fails(monkeypatch):
    wrong = [Row("A", "a short interval", "approximate", partial(wald, n=20, p=0.03))]
    monkeypatch.setattr(calibration, "rows", lambda: wrong)
    done = run("--quick")
    assert done.exit_code == 1
    assert "A: a short interval: wrong in" in done.output
    assert "0 of 1 rows pass the gate" in done.output


# ---------------------------------------------------------------- what it found, and was mended


def units(score, low=-1.0, high=1.0, stratum=None):
    from allminds.inference import Units

    n = len(score)
    stratum = np.zeros(n, np.int64) if stratum is None else stratum
    share = np.ones(int(stratum.max()) + 1) / (stratum.max() + 1)
    return Units(np.asarray(score, float), stratum, np.arange(n), share, low, high)


@pytest.mark.parametrize(
    "score",
    [
        np.linspace(-0.01, 0.01, 20),  # hardly any variance
        np.r_[np.zeros(99), 1.0],  # all of it from one unit
        np.r_[np.linspace(-0.05, 0.05, 95), np.full(5, 0.95)],  # from a few
    ],
)
def test_samples_that_students_t_cannot_bear_are_for_the_betting_interval(score):
    from allminds.inference.intervals import Betting, Student, of_mean, t_interval

    found = of_mean(units(score))
    assert isinstance(found, Betting)
    low, high = found.interval()
    own = t_interval(score.mean(), score.std(ddof=1) / len(score) ** 0.5, len(score) - 1)
    assert low < own[0] < own[1] < high
    assert isinstance(of_mean(units(np.linspace(-0.5, 0.5, 20))), Student)


def test_a_little_more_on_all_of_few_exercises_is_undecided():
    from allminds.inference.verdict import paired

    few = units(np.linspace(0.09, 0.11, 10), -2.0, 2.0)
    assert paired(few, False, ("a", "b"), margin=0.01).verdict == "undecided"
    hits = units(np.ones(10))
    assert paired(hits, True, ("a", "b")).verdict == "different"


def test_one_unit_a_stratum_says_nothing_of_strata():
    from allminds.inference.units import clustered_error

    score = np.linspace(0.8, -0.4, 12)
    plain = score.std(ddof=1) / 12**0.5
    assert clustered_error(units(score, stratum=np.arange(12)))[0] == pytest.approx(plain)
    two = units(np.repeat(score, 2), stratum=np.repeat(np.arange(12), 2))
    assert clustered_error(two)[0] == pytest.approx(0.0, abs=1e-12)
