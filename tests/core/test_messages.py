"""Who hears whom, what is kept of what was said, and a user's own protocol on any instrument."""

from __future__ import annotations

import pytest

from allminds import Committee, Error, MindBase, Team, registry
from allminds.contracts import Message
from allminds.core.messages import in_words, messages_of, some_members, table, topology
from allminds.episode import play

# ---------------------------------------------------------------- who hears whom


def test_topologies_say_whom_each_member_hears():
    assert topology("all", 3) == {1: (2, 3), 2: (1, 3), 3: (1, 2)}
    assert topology("ring", 5) == {1: (2, 5), 2: (1, 3), 3: (2, 4), 4: (3, 5), 5: (1, 4)}
    assert topology("star", 3) == {1: (2, 3), 2: (1,), 3: (1,)}
    assert topology("tree", 5) == {1: (2, 3), 2: (4, 5), 3: (), 4: (), 5: ()}
    assert topology({2: [1]}, 2) == {1: (), 2: (1,)}
    assert topology("ring", 1) == topology("all", 1) == {1: ()}


@pytest.mark.parametrize("hears", ["1:2/3:9", "rign", "1-2", {4: (1,)}, "1:x"])
def test_a_wrong_topology_is_one_sentence(hears):
    with pytest.raises(Error, match="hears"):
        topology(hears, 3)


def test_members_are_numbers_that_there_are():
    assert some_members("1/3", 3, "drop") == {1, 3}
    for wrong in ("0", "4", "x", "1/"):
        with pytest.raises(Error, match="drop must be members from 1 to 3"):
            some_members(wrong, 3, "drop")


def test_messages_come_back_from_their_table():
    said = [
        Message("1", "says", (2, 3), 4, "It is “four”.\nYes.", 1, 2, 0),
        Message("2.1", "answers", (), None, "", 3, 1, 5),
        Message("3", "abstains", text="error: broken"),
    ]
    assert messages_of(table("mind", list(enumerate(said)))) == said
    assert in_words(said[0]) == "Member 1 answers 4 and says “It is “four”. Yes.”"


# ---------------------------------------------------------------- a protocol of one's own


class Loudest(Committee):
    """Members talk once, then the last decides."""

    def choose(self, observation, random):
        return self.talk()[-1]


class Swapped(Team):
    """Each does what the next wants."""

    def choose(self, observations, random):
        wishes = self.ask()
        return [*wishes[1:], wishes[0]]


def played(maker, member, name, settings=None, count=None):
    tool = registry.make_instrument(name, settings or {})
    one = registry.subject(member, tool)
    members = (one,) * (count or tool.slots)
    who = registry._subject_of("mine", maker, (members,), {}, members)
    return play(tool.exercise(1, 0), registry.line_up(who, tool))


TORUS = {"rows": 5, "cols": 6, "iterations": 8}
QUICK = {
    "lambda-star": TORUS, "lambda-star-coverage": TORUS, "lambda-star-coordination": TORUS,
    "lambda-star-responsive": TORUS, "team-lambda-star": TORUS, "landscape": TORUS,
    "lambda-anytime": {"time": 60}, "lambda-staircase": {"time": 60, "steps": 10},
}  # fmt: skip


@pytest.mark.parametrize("name", registry.instruments())
def test_a_protocol_of_ones_own_plays_every_instrument(name):
    record = played(Loudest, "random", name, QUICK.get(name), 3)
    assert set(record.status) == {"ok"}
    assert {one.kind for one in record.messages} == {"says", "answers"}
    if registry.make_instrument(name, {}).slots > 1 and name != "noughts-and-crosses":
        team = played(Swapped, "random", name, QUICK.get(name))
        assert set(team.status) == {"ok"}
        assert not team.messages


def test_a_team_whose_members_take_turns_is_refused_in_a_sentence():
    with pytest.raises(Error, match="needs all its members to act at once"):
        played(Swapped, "random", "noughts-and-crosses")


def test_protocols_of_the_torus_refuse_other_tests_in_a_sentence():
    from allminds.instruments.lambda_star.groups import Auction

    with pytest.raises(Error, match="commons has no torus of cells"):
        played(Auction, "random", "commons")
    with pytest.raises(Error, match=r"auction goes by the rewards in cells .* predator-prey shows"):
        played(Auction, "random", "predator-prey")


class Listens(MindBase):
    """Keeps what it hears, and says how often it was asked."""

    def begin(self, task):
        self.asked, self.news, self.told = 0, [], task.protocol

    def act(self, observation, random):
        self.asked += 1
        return 1 + len(self.news) % 9

    def hear(self, messages):
        self.news += messages

    def say(self):
        return f"asked {self.asked}" * 1000


def test_what_is_said_is_bounded_heard_and_kept():
    record = played(Loudest, Listens, "lambda-star", QUICK["lambda-star"], 3)
    first = [one for one in record.messages if one.step == 1]
    said = [one for one in first if one.kind == "says"]
    assert [one.sender for one in said] == ["1", "2", "3"]
    assert [one.hearers for one in said] == [(2, 3), (1, 3), (1, 2)]
    assert all(len(one.text) == 1001 and one.text.endswith("asked 1") for one in said)
    assert {one.answer for one in said} == {1}
    assert {one.answer for one in first if one.kind == "answers"} == {3}, "each heard two"
