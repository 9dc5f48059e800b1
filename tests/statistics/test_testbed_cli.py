"""allminds testbed as a user meets it."""

from __future__ import annotations

import json
from functools import partial

import commands
import pytest

from allminds import registry
from allminds.statistics.testbed import InstrumentGame, default_minds

MINDS_OF_DILEMMA = "cooperate,defect,random,tit-for-tat"
DILEMMA = ["prisoners-dilemma", "--set", "steps=5", "--minds", MINDS_OF_DILEMMA]


allminds = partial(commands.allminds, "testbed")


def found(*words):
    done = allminds(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_json_has_the_promised_shape():
    made = found(*DILEMMA, "--episodes", 40)
    assert made["environment"] == "prisoners-dilemma"
    assert made["minds"] == ["cooperate", "defect", "random", "tit-for-tat"]
    assert made["settings"]["steps"] == 5
    properties = made["properties"]
    assert properties["upsilon"] == {"value": pytest.approx(-69 / 800), "exact": True}
    assert properties["upsilon[defect]"]["value"] == pytest.approx(0.08)
    assert properties["action_dependency"]["value"] == pytest.approx(5 / 24)
    assert properties["action_dependency"]["graded"] == pytest.approx(77 / 384)
    assert properties["zero_sum"] == {"value": False, "exact": True}
    assert properties["max_asymmetry"]["value"] == pytest.approx(0, abs=1e-9)
    assert properties["cooperative_anticipation"]["value"] is None
    assert properties["cooperative_anticipation"]["reason"]
    assert all("exact" in one for one in properties.values())
    assert made["ratings"][0] == {"mind": "defect", "rating": pytest.approx(0.85), "exact": True}
    assert made["cycles"] == []
    rely = made["reliability"]
    assert rely["test_error"] == pytest.approx(
        sum(row["bias2"] + row["variance"] for row in rely["minds"]) / 4
    )
    assert rely["efficiency_per_step"] == pytest.approx(rely["rel"] / 5)
    assert rely["efficiency_per_second"] == pytest.approx(rely["rel"] / rely["seconds"])
    assert made["test"]["literal_bias"] == pytest.approx(0, abs=1e-12)


def test_sampled_json_has_intervals_and_the_same_seed_gives_the_same():
    words = (*DILEMMA, "--sampled", "--episodes", 160, "--seed", 7)
    one, same = found(*words), found(*words)
    for made in (one, same):
        made["reliability"].pop("seconds")
        made["reliability"].pop("efficiency_per_second")
    assert one == same
    for name, row in one["properties"].items():
        assert "ci95" in row or "exact" in row or row["value"] is None, name
    low, high = one["properties"]["reward_dependency"]["ci95"]
    assert low < one["properties"]["reward_dependency"]["graded"] < high


def test_weights_and_budget():
    made = found("prisoners-dilemma", "--set", "steps=1", "--minds", "cooperate,defect,random",
                 "--weights", ".6,.3,.1", "--episodes", 60, "--budget", "rel=0.95")  # fmt: skip
    assert made["properties"]["upsilon"]["value"] == pytest.approx(0.011)
    assert made["test"]["literal_bias"] == pytest.approx(2123 / 21160 - 0.011)
    assert made["budget"]["figure"] == "rel"
    assert 3 <= made["budget"]["exercises"] <= 20


def test_the_table_fits_80_columns_and_shows_cycles():
    for words in (
        ["rock-paper-scissors", "--set", "steps=1"],
        ["matching-pennies", "--set", "steps=2", "--sampled", "--episodes", 120],
    ):
        done = allminds(*words, COLUMNS="80")
        assert done.returncode == 0, done.stderr
        assert max(len(line) for line in done.stdout.splitlines()) <= 80
        assert "Exercises a mind needs for generalisability" in done.stdout
    done = allminds("rock-paper-scissors", "--set", "steps=1", "--episodes", 20, COLUMNS="80")
    assert "cycle: rock beats scissors beats paper beats rock" in done.stdout


def test_the_profile_is_drawn_whole(tmp_path):
    for name in ("a.svg", "a.png"):
        done = allminds(
            "stag-hunt", "--set", "steps=2", "--episodes", 20, "--plot", tmp_path / name
        )
        assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn.startswith("<svg")
    assert "anticipation potential" in drawn
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg"]


WITH_MINDS = [n for n in registry.instruments() if registry.make_instrument(n).presentation.minds]


@pytest.mark.parametrize("name", WITH_MINDS)
def test_usual_minds_can_play(name):
    tool = registry.make_instrument(name)
    game = InstrumentGame(tool, default_minds(tool))
    line_up = tuple(n % len(game.minds) for n in range(tool.slots))
    assert set(game.play(line_up, 1, 0).status) == {"ok"}


BAD = [
    (["no-such-game"], "there is no instrument 'no-such-game'"),
    (["c-test"], "c-test has no usual minds"),
    (["stag-hunt", "--minds", "stag,rock"], "is a mind for rock-paper-scissors"),
    (["stag-hunt", "--minds", "stag,stag"], "named twice"),
    (["stag-hunt", "--weights", ".5,.5,.5,.5"], "sum to 2, not to 1"),
    (["stag-hunt", "--weights", "a"], "--weights takes a number"),
    (["stag-hunt", "--budget", "0.9"], "rel=0.95 or generalisability=0.9"),
    (["stag-hunt", "--budget", "rel=2"], "rel=0.95 or generalisability=0.9"),
    (["stag-hunt", "--sampled", "--episodes", "20"], "give --episodes 64"),
    (["stag-hunt", "--set", "rounds=2"], "no setting 'rounds'"),
    (["predator-prey", "--exact"], "sample"),
    (["stag-hunt", "--set", "steps=1", "--plot", "x.gif"], "ends in .svg or .png"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_one_line_and_exit_code_2(words, said, tmp_path):
    commands.assert_refused(["testbed", *words], said, tmp_path)
