"""Language models in every game, with each other and with minds of ours, under Inspect's mock."""

from __future__ import annotations

import re

import pytest

from allminds import registry
from allminds.core.errors import Error
from allminds.episode import Episode, play

pytest.importorskip("inspect_ai")
from mocked_models import imported, model

from allminds.bridges import inspect_ai as tasks


def _by_lot(messages):
    """An action that there is: of the choices, of the numbered actions, or a move."""
    shown = messages[-1].content.splitlines()
    numbered = [line.split(":")[0] for line in shown if re.match(r"\d+: ", line)]
    listed = shown[-1].removeprefix("Choose: ").split(", ") if "Choose: " in shown[-1] else []
    return f"Well.\nANSWER: {(listed or numbered or ['6'])[-1]}"


SEVERAL = [name for name in registry.instruments() if registry.make_instrument(name).slots > 1]


@pytest.mark.parametrize("name", SEVERAL)
def test_a_model_plays_every_game_to_its_end_in_all_slots(name, given, tmp_path):
    fields = registry.instruments()[name].Settings.model_fields
    length = {k: 3 for k in ("steps", "iterations") if k in fields and name != "team-lambda"}
    chosen = length | ({"form": "general", "steps": 3} if name == "team-lambda" else {})
    log = given(tasks.game(name=name, n=1, set=chosen), model(_by_lot))
    tool = registry.make_instrument(name, chosen)
    kept = log.samples[0].scores["record"].metadata
    assert kept["status"] == ["ok"] * tool.slots
    assert 1 <= kept["steps"] <= 9
    table = imported(log, tmp_path / "in")
    assert list(table["mind"]) == ["llm(mockllm/model)"] * tool.slots
    assert list(table["score"]) == kept["score"]
    # the same actions give the same scores in the plain loop
    again = Episode(tool.exercise(1, 0))
    for actions in kept["actions"]:
        again.play({int(slot): action for slot, action in actions.items()})
    assert list(again.record.score) == kept["score"]


def test_a_game_is_that_of_its_settings_however_they_are_written(given):
    for written in ("players=3 factor=2", ["players=3", "factor=2"], {"players": 3, "factor": 2}):
        made = tasks.game(name="public-goods", n=1, steps=4, set=written)
        tool = registry.make_instrument("public-goods", {"players": 3, "factor": 2, "steps": 4})
        assert made.dataset[0].metadata["exercise"] == tool.exercise(1, 0).id
    assert "2 times as much" in made.dataset[0].input[0].content


def test_named_games_are_the_same_game():
    one = tasks.prisoners_dilemma(n=2, steps=5, against="grim")
    other = tasks.game(name="prisoners-dilemma", n=2, steps=5, against="grim")
    assert [s.metadata for s in one.dataset] == [s.metadata for s in other.dataset]


def test_every_other_slot_may_have_a_mind_of_its_own(given):
    made = tasks.game(name="public-goods", n=1, steps=3, against="give,keep*2")
    log = given(made, model("keep"))
    tool = registry.make_instrument("public-goods", {"steps": 3})
    ours = play(tool.exercise(1, 0), registry.line_up("keep,give,keep*2", tool))
    kept = log.samples[0].scores["record"].metadata
    assert kept["score"] == list(ours.score)
    assert kept["minds"] == ["llm(mockllm/model)", "give", "keep", "keep"]


def test_a_team_of_models_hunts_a_prey_of_ours(given, tmp_path):
    made = tasks.game(name="predator-prey", n=1, steps=4, against=["model*2", "random"])
    roles = {"slot_1": model("up"), "slot_2": model("down")}
    log = given(made, model("stay"), model_roles=roles)
    kept = log.samples[0].scores["record"].metadata
    assert kept["minds"] == ["llm(mockllm/model)"] * 3 + ["random"]
    labels = registry.make_instrument("predator-prey").environment.actions[0].labels
    first = kept["actions"][0]
    assert [labels[first[str(slot)]] for slot in range(3)] == ["stay", "up", "down"]
    assert list(imported(log, tmp_path / "in")["team"]) == [0, 0, 0, 1]


def test_who_broke_off_and_who_only_waited_is_told_apart(given, tmp_path):
    def breaks(messages):
        raise RuntimeError("the provider is down")

    made = tasks.game(name="predator-prey", n=1, against="model*2,random")
    table = imported(given(made, model(breaks), fail_on_error=False), tmp_path / "in")
    assert list(table["status"]) == ["missing"] * 3 + ["void"]
    assert list(table["mind"]) == ["llm(mockllm/model)"] * 3 + ["random"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "name a game: -T name=stag-hunt"),
        ({"name": "stag-hun"}, "did you mean 'stag-hunt'"),
        ({"name": "stag-hunt", "steps": 0}, "steps must be greater than or equal to 1"),
        ({"name": "stag-hunt", "set": "players"}, "-T set takes KEY=VALUE words"),
        ({"name": "stag-hunt", "set": "players=3"}, "stag-hunt has no setting 'players'"),
        ({"name": "lambda-staircase"}, "chooses an exercise by what came of those before it"),
        ({"name": "lambda-star", "against": "random"}, "has one slot"),
        ({"name": "commons", "against": "random*2"}, "should name 1 or 3"),
        ({"name": "stag-hunt", "against": "stag("}, "cannot read the name"),
    ],
)
def test_bad_games_are_one_sentence_that_inspect_prints(chosen, said):
    from inspect_ai._util.error import PrerequisiteError

    with pytest.raises(Error, match=re.escape(said)) as found:
        tasks.game(**chosen)
    assert isinstance(found.value, PrerequisiteError)
    assert found.value.message.startswith("allminds: ")


def test_a_test_of_published_items_says_so():
    for form, items in (("published", "published"), ("generated", "public"), ("fresh", "fresh")):
        made = tasks.game(name="c-test", n=1, set={"form": form})
        assert made.metadata == {"items": items}
        assert made.dataset[0].metadata["items"] == items


def test_a_game_of_one_round_has_no_right_answer():
    assert tasks.game(name="stag-hunt", n=1, steps=1).dataset[0].target == ""
