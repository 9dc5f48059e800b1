"""predict, vote, crossing and select as a user meets them."""

from __future__ import annotations

import json

import pytest
from commands import allminds, assert_refused


def found(*words):
    done = allminds(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_predict_prints_a_row_for_every_combination():
    rows = found("predict", "--ability", 11.28, "--difficulty", "5..7", "--options", "2,10")["rows"]
    assert [(row["difficulty"], row["options"]) for row in rows] == [
        (5.0, 2), (6.0, 2), (7.0, 2), (5.0, 10), (6.0, 10), (7.0, 10),
    ]  # fmt: skip
    assert rows[0]["accuracy"] == pytest.approx(0.5 + 0.5 * 2.718281828459045 ** (-5 / 11.28))


def test_the_figures_of_the_paper():
    assert found("vote", 0.55, 0.55, 0.63)["accuracy"] == pytest.approx(0.6144, abs=5e-5)
    plurality = found("vote", 0.55, 0.55, 0.63, "--rule", "plurality", "--options", 3)
    assert plurality["accuracy"] == pytest.approx(0.6661, abs=5e-5)
    (alone,) = found("crossing", 12, "12,12,12", "--options", 3)["crossings"]
    assert alone == pytest.approx(16.64, abs=0.005)
    (mixed,) = found("crossing", 12, "12,12,16.33", "--options", 3)["crossings"]
    assert mixed == pytest.approx(22.64, abs=0.005)
    assert found("crossing", 12, "12,12,12", "--options", 2)["crossings"] == []
    assert found("crossing", 12, 12)["equal"] is True


def test_votes_of_dependent_members():
    found_bounds = found("vote", 0.9, 0.9, 0.1)["bounds"]
    assert found_bounds == pytest.approx({"low": 0.8, "high": 0.95, "sharp": True})
    assert found("vote", *[0.7] * 5, "--correlation", 0.5)["accuracy"] == pytest.approx(
        0.743, abs=5e-4
    )
    weighted = found("vote", 0.7, 0.6, 0.8, "--weights", "1,1,1")
    assert weighted["accuracy"] == pytest.approx(found("vote", 0.7, 0.6, 0.8)["accuracy"])
    said = allminds("vote", 0.7, 0.6, 0.7, 0.6).stdout
    assert "with any dependence between members: 0.5333 to 0.8667" in said


TRIED = ("predict", "--levels", "5..9", "--hits", "20,19,16,11,6", "--trials", 20, "--options", 5)


def test_what_lies_beyond_the_data_has_an_interval_and_its_measured_coverage():
    near, far = found(*TRIED, "--difficulty", "10,15", "--items", 20)["rows"]
    assert near["interval"][0] < near["accuracy"] < near["interval"][1]
    assert near["rate_interval"][0] <= near["interval"][0]
    assert 0.9 < near["coverage"] <= 1
    assert (far["accuracy"], far["interval"]) == (None, None)
    assert "6.0 levels beyond" in far["why_not"]
    said = allminds(*TRIED, "--difficulty", "10,15").stdout
    assert "covered in simulations" in said
    assert f"{near['coverage']:.2f}" in said
    assert "15: no prediction, it is 6.0 levels beyond" in said
    flat = allminds("predict", "--levels", "5..9", "--hits", 19, "--trials", 20, "--difficulty", 10)
    assert flat.returncode == 2
    flat = allminds("predict", "--levels", "5..9", "--hits", "9,8,9,8,9", "--trials", 10,
                    "--difficulty", 10)  # fmt: skip
    assert "no decline" in flat.stdout


def test_select_names_the_cheapest():
    pool = ["--mind", "a=12:1", "--mind", "b=20:3", "--task", 5, "--task", 8]
    assert found("select", *pool, "--threshold", 0.6)["members"] == ["a"]
    assert found("select", *pool, "--threshold", 0.75)["members"] == ["b"]
    assert found("select", *pool, "--threshold", 0.99)["members"] == []


FIGURES = [
    ("predict", "--ability", "5,10", "--difficulty", "0..20"),
    ("predict", "--levels", "1..5", "--hits", "9,9,7,4,2", "--trials", 10, "--difficulty", "6,7"),
    ("vote", 0.55, 0.6, 0.7),
    ("vote", 0.55, 0.6, 0.7, "--weights", "1,2,3", "--correlation", 0.3),
    ("crossing", 12, "12,12,12"),
    ("select", "-m", "a=12:1", "-m", "b=10:1", "--task", 9, "--threshold", 0.5, "--group", 3),
    ("complexity", "abcabcx"),
    ("complexity", "abcab", "--measure", "levin"),
    ("evaluate", "c-test", "-m", "mode", "--json"),
]


@pytest.mark.parametrize("words", FIGURES, ids=lambda words: " ".join(map(str, words[:3])))
def test_every_command_draws_its_figure(tmp_path, words):
    done = allminds(*words, "--plot", tmp_path / "a.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


def test_a_figure_is_drawn_whole(tmp_path):
    for name in ("a.svg", "a.png"):
        words = ("predict", "--ability", "5,10", "--difficulty", "0..20", "--plot", tmp_path / name)
        assert allminds(*words).returncode == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg"]


BAD = [
    (["predict", "--ability", "0", "--difficulty", "5"], "above 0"),
    (["predict", "--ability", "5", "--difficulty", "-5"], "difficulty"),
    (["predict", "--ability", "5", "--difficulty", "hard"], "not 'hard'"),
    (["predict", "--ability", "5", "--difficulty", "9..1"], "is not a range"),
    (["predict", "--ability", "5", "--difficulty", "5", "--options", "2.5"], "whole numbers"),
    (["predict", "--ability", "5", "--difficulty", "5", "--plot", "x.gif"], "ends in .svg or .png"),
    (["vote", "1.5"], "1.5"),
    (["predict", "--difficulty", "5"], "either --ability"),
    (["predict", "--ability", "5", "--hits", "5", "--difficulty", "5"], "either --ability"),
    (["predict", "--hits", "5", "--difficulty", "5"], "need --levels"),
    (
        ["predict", "--levels", "1..3", "--hits", "5,4,3", "--trials", "5", "--difficulty", "2"],
        "not beyond the data",
    ),
    (["vote", "0.5", "--rule", "dice"], "no rule 'dice'"),
    (["vote", "0.5", "--correlation", "2"], "0 to 1"),
    (["vote", "0.5", "--weights", "1", "--rule", "plurality"], "two options"),
    (["vote", "0.5", "--weights", "1,2"], "one for each of the 1"),
    (["vote", "0.5", "0.5", "--ties", "maybe"], "maybe"),
    (["crossing", "a", "b"], "not 'a'"),
    (["crossing", "12", "13", "--difficulty", "5"], "a range such as 5..25"),
    (["select", "--mind", "a=12", "--task", "5", "--threshold", "0.6"], "NAME=ABILITY:COST"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_one_line_and_exit_code_2(words, said, tmp_path):
    assert_refused(words, said, tmp_path)
