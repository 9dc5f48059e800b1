"""What a language model is told of a test is what the test does: pay-offs, sizes, teams."""

from __future__ import annotations

import itertools
import re

import pytest

from allminds import registry
from allminds.bridges.conversation import Conversation
from allminds.bridges.manner import Manner
from allminds.core.seeding import Random
from allminds.episode import Episode
from allminds.presentation import Presentation

MATRIX_GAMES = ("matching-pennies", "prisoners-dilemma", "rock-paper-scissors", "stag-hunt")


def rules(tool, task):
    """What a model is told before it sees anything."""
    talk = Conversation(tool)
    talk.begin(task)
    return f"{talk.rules}\n{talk.how}"


def told(name, slot=0, **settings):
    """The rules, for a slot."""
    tool = registry.make_instrument(name, settings)
    return rules(tool, Episode(tool.exercise(1, 0)).task(slot))


def step(name, actions, **settings):
    """What an environment pays at its first step."""
    world = registry.make_instrument(name, settings).exercise(1, 0).environment
    return world.step(world.reset(Random(0)), dict(enumerate(actions)), Random(0, 1))[1]


def test_every_instrument_has_rules_in_words():
    for name in registry.instruments():
        shown = registry.make_instrument(name).presentation
        assert type(shown).rules is not Presentation.rules, name


@pytest.mark.parametrize("name", registry.instruments())
def test_they_are_whole_sentences_and_say_how_to_answer(name):
    tool = registry.make_instrument(name)
    episode = Episode(tool.exercise(1, 0))
    for slot in range(tool.slots):
        said = rules(tool, episode.task(slot))
        assert not re.search(r"[{}]|  |None|\.\.|nan", said)
        assert re.search(r"ANSWER: <[^<>]+>$", said)
        assert said[0].isupper()


@pytest.mark.parametrize("name", registry.instruments())
def test_a_new_conversation_shows_what_is_seen_after_the_rules(name):
    tool = registry.make_instrument(name)
    episode = Episode(tool.exercise(1, 0))
    slot, seen = next(iter(episode.waiting.items()))
    talk = Conversation(tool, Manner(form="text"))
    talk.begin(episode.task(slot))
    talk.see(seen)
    shown = tool.presentation.words(seen)
    counter = f"Step 1 of {episode.environment.steps}.\n" if episode.environment.steps > 1 else ""
    (first,) = talk.question().said
    assert first.text == f"{rules(tool, episode.task(slot))}\n\n{counter}{shown}"


# ---------------------------------------------------------------- pay-offs


@pytest.mark.parametrize("name", MATRIX_GAMES)
@pytest.mark.parametrize("slot", [0, 1])
def test_the_table_is_that_of_the_game_from_either_side(name, slot):
    line = r"If you choose ([\w-]+) and the other ([\w-]+), you get (\S+) and the other (\S+)\."
    found = {
        (own, other): (float(mine), float(theirs))
        for own, other, mine, theirs in re.findall(line, told(name, slot))
    }
    labels = registry.make_instrument(name).names
    assert set(found) == set(itertools.product(labels, labels))
    for (own, other), paid in found.items():
        actions = [labels.index(own), labels.index(other)]
        rewards = step(name, actions if slot == 0 else actions[::-1])
        assert paid == pytest.approx((rewards[slot], rewards[1 - slot]), abs=5e-4)


@pytest.mark.parametrize("given", [{}, {"players": 3, "factor": 2.5}, {"players": 2}])
def test_public_goods_pay_as_they_say(given):
    players = given.get("players", 4)
    said = told("public-goods", **given)
    found = re.search(r"give, you get (.*) if you give and (.*) if you keep", said)
    give, keep = ([float(word) for word in part.split(", ")] for part in found.groups())
    for others in range(players):
        rest = [0] * others + [1] * (players - 1 - others)
        assert give[others] == pytest.approx(step("public-goods", [0, *rest], **given)[0], abs=5e-4)
        assert keep[others] == pytest.approx(step("public-goods", [1, *rest], **given)[0], abs=5e-4)


def test_the_commons_say_how_the_stock_grows():
    given = {"players": 2, "capacity": 30, "most": 4, "growth": 0.5}
    said = told("commons", **given)
    assert "You and another harvest from one stock, 30 units at first" in said
    assert "0 to 4 units" in said
    rate, capacity = re.search(r"grows by (\S+) x left x \(1 - left / (\d+)\)", said).groups()
    world = registry.make_instrument("commons", given).environment
    for left in range(31):
        assert world.grown(left) == left + int(float(rate) * left * (1 - left / int(capacity)))
    assert step("commons", [0, 4], **given) == [-1.0, 1.0]
    assert "-1 for 0 units, 1 for 4" in said


def test_pluralistic_ignorance_adds_up_as_it_says():
    given = {"players": 4, "opposed": 2, "conformity": 0.7}
    said = told("pluralistic-ignorance", **given)
    parts = re.search(r"two parts: (\S+) if .* else (\S+); and (\S+) times", said).groups()
    true, false, weight = map(float, parts)
    for acts in itertools.product((0, 1), repeat=4):
        same = sum(act == acts[0] for act in acts[1:]) / 3
        owed = (true if acts[0] == 0 else false) + weight * (same - (1 - same))
        assert step("pluralistic-ignorance", acts, **given)[0] == pytest.approx(owed)


def test_predators_and_their_prey_know_who_they_are():
    assert "You are predator 2, in a team with the other predators." in told("predator-prey", 2)
    said = told("predator-prey", 3, rows=5, cols=6, steps=7)
    assert "You are the prey." in said
    assert "5 x 6 cells" in said
    assert "within 7 steps each predator gets 0.333 and the prey -1" in said
    assert step("predator-prey", [2] * 4, steps=1) == pytest.approx([-1 / 3] * 3 + [1.0])


# ---------------------------------------------------------------- settings of the worlds


def test_lambda_says_what_brings_rewards_and_what_is_seen():
    assert "leaves +1 in its cell" not in told("lambda")
    said = told("lambda", rewards="trail", observation="adjacent")
    assert "leaves +1 in its cell and the evil one -1" in said
    assert "You see only what is in your own cell and in those that your actions lead to." in said
    assert "Your team" not in said


@pytest.mark.parametrize(
    ("slot", "mate"), [(0, "△"), (1, "△"), (2, "△2"), (3, "△2")]
)  # the other slots are △, △1, △2 in their order
def test_teams_know_their_own_by_the_signs_that_are_shown(slot, mate):
    for name, given in (("team-lambda", {}), ("lambda", {"agents": 4, "teams": 2})):
        assert f"Your team are you and {mate}." in told(name, slot, **given)
        tool = registry.make_instrument(name, given)
        episode = Episode(tool.exercise(1, 0))
        (other,) = set(episode.task(slot).team) - {slot}
        shown = tool.show(episode.waiting[slot], "text")
        assert f"{mate} is in cell {episode.state.minds[other]}" in shown


def test_teams_are_told_what_they_share():
    for name in ("team-lambda", "team-lambda-star"):
        assert "gets half of how much the mean gain" in told(name)
        assert "gets the mean gain of its members." in told(name, shares="own")
        assert "two teams of 3 players." in told(name, agents=6)


def test_the_torus_says_its_size_its_sight_and_its_company():
    said = told("lambda-star", rows=4, cols=7, range=2, agents=3, iterations=9)
    assert "4 x 7 cells" in said
    assert "up to 2 away from you" in said
    assert "2 other players are on it too" in said
    assert "There are 9 steps." in said
    assert "other players" not in told("lambda-star")


def test_the_extensions_say_their_own_rule():
    assert "at least 3 players" in told("lambda-star-coordination", needed=3)
    assert "with chance 0.5" in told("lambda-star-responsive", responsive=0.5)
    assert "all of you get the share of all cells that any of you has seen" in told(
        "lambda-star-coverage"
    )
    assert "every hill moves" not in told("landscape")
    assert "every hill moves by a cell with chance 0.2" in told("landscape", drift=0.2)


def test_an_instrument_of_somebody_else_is_told_by_its_page():
    tool = registry.make_instrument("lambda-star")
    task = Episode(tool.exercise(1, 0)).task(0)

    class Foreign(type(tool)):
        """Guess: say what the other thinks of.

        More about it.
        """

        name = "guess"
        presentation = property(Presentation)

    said = rules(Foreign(), task)
    assert said.startswith("Guess: say what the other thinks of. There are 50 steps.\n")
    assert said.endswith("right, down-left, down or down-right>")


def test_one_of_a_family_is_told_by_its_name():
    pytest.importorskip("pettingzoo")
    pytest.importorskip("pygame")
    said = told("pettingzoo:classic/tictactoe_v3")
    assert said.startswith("This is pettingzoo:classic/tictactoe_v3. An environment of PettingZoo")
