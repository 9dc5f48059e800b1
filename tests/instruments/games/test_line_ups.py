"""Line-ups by name: one mind in all slots, or several in slot order."""

from __future__ import annotations

import json

import pytest
from commands import allminds

from allminds import registry
from allminds.core.errors import Error


def make(game, **settings):
    return registry.make_instrument(game, settings)


def names(line_up):
    return [(seat.subject.name, seat.slots) for seat in line_up.seats]


def test_one_name_fills_all_slots():
    found = registry.line_up("give", make("public-goods"))
    assert found.name == "give"
    assert names(found) == [("give", (slot,)) for slot in range(4)]


@pytest.mark.parametrize(
    "text", ["give,keep*3", " give , keep * 3 ", ["give", "keep", "keep", "keep"]]
)
def test_several_names_are_in_slot_order(text):
    found = registry.line_up(text, make("public-goods"))
    assert found.name == "give, keep, keep, keep"
    assert names(found) == [("give", (0,)), ("keep", (1,)), ("keep", (2,)), ("keep", (3,))]


def test_parameters_in_brackets_keep_their_commas():
    found = registry.line_up("q-learning(alpha=0.1,gamma=0.5),defect", make("prisoners-dilemma"))
    assert [name for name, _ in names(found)] == ["q-learning(alpha=0.1,gamma=0.5)", "defect"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("give,keep", "a line-up of 2 is too short for an environment of 4 slots: give, keep"),
        ("give,keep*4", "a line-up of 5 is too long for an environment of 4 slots: give, keep"),
        ("give,keep,heads,keep", "'heads' is a mind for matching-pennies, not for public-goods"),
        ("give,", "a name is missing"),
        ("give keep", "'keep' is not expected after it"),
        ("keep*2", "only the members of a group"),
    ],
)
def test_what_is_no_line_up_is_one_sentence(text, said):
    with pytest.raises(Error, match=said):
        registry.line_up(text, make("public-goods"))


def test_the_score_of_a_line_up_is_that_of_its_first_mind():
    done = allminds(
        "evaluate", "prisoners-dilemma", "-m", "tit-for-tat,defect", "-m", "defect,tit-for-tat",
        "--episodes", "20", "--json", "--jobs", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = {row["mind"]: row["score"] for row in json.loads(done.stdout)["results"]}
    assert scores["tit-for-tat, defect"] == pytest.approx((-1 - 9 * 0.6) / 10)
    assert scores["defect, tit-for-tat"] == pytest.approx((1 - 9 * 0.6) / 10)


def test_a_wrong_line_up_is_one_line_and_exit_code_2():
    done = allminds("evaluate", "public-goods", "-m", "give,keep", "--episodes", "2")
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "allminds: a line-up of 2 is too short for an environment of 4 slots: give, keep"
    )


def test_games_are_listed_and_a_family_is_found_by_its_prefix():
    known = registry.instruments()
    assert {"prisoners-dilemma", "noughts-and-crosses", "predator-prey"} <= set(known)
    assert (
        registry.kind("pettingzoo:classic/tictactoe_v3").name == "pettingzoo:classic/tictactoe_v3"
    )
    assert set(registry.minds("pettingzoo:classic/chess_v6")) >= {"random", "q-learning"}
    with pytest.raises(Error, match="there is no instrument 'zoo:lion'"):
        registry.make_instrument("zoo:lion")
