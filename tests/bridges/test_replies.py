"""Ways to write an answer: those that every instrument reads, and those that none may read."""

from __future__ import annotations

import pytest

from allminds import registry
from allminds.bridges.conversation import Conversation
from allminds.bridges.replies import read_reply
from allminds.contracts import Failure
from allminds.core.seeding import Random
from allminds.core.spending import Ledger
from allminds.episode import Episode

READ = [  # {x} is the answer, {X} in capitals; the first 12 are written as it is asked for
    "{x}", " {x}\n", "ANSWER: {x}", "answer: {x}", "Answer:{x}", "I think.\n\n**ANSWER: {x}**",
    "ANSWER: {y}\nANSWER: {x}", "**Answer:** {x}", "> ANSWER: {x}", "# ANSWER: {x}",
    "Let me see.\nIt repeats.\nANSWER: {x}  ", "ANSWER:   {x}\r\n",
    "ANSWER: {x}.", "ANSWER: <{x}>", "ANSWER: \"{x}\"", "ANSWER: '{x}'", "ANSWER: `{x}`",
    "ANSWER: **{x}**.", "ANSWER: ({x})", "ANSWER: [{x}]", "ANSWER: “{x}”", "ANSWER:\n{x}",
    "ANSWER:\n\n{x}", "ANSWER:\n**{x}**", "ANSWER: $\\boxed{{{x}}}$", "ANSWER: *{x}*!",
    "\\boxed{{{x}}}", "So we get $\\boxed{{{x}}}$.", "\\boxed{{\\text{{{x}}}}}",
    "\\[ \\boxed{{\\mathrm{{{x}}}}} \\]", "The answer is {x}", "The answer is {x}.",
    "The answer is **{x}**.", "The answer is: {x}", "The answer is \"{x}\".",
    "I looked at it. The answer is {x}. Thanks!", "The answer is {x} because it repeats.",
    "The answer is {x} (it repeats).", "Final answer: {x}", "Final answer: {x}.",
    "**Final Answer:** {x}", "**Final answer**: `{x}`", "### Final answer\nANSWER: {x}",
    "My answer: {x}", "My answer is {x}.", "My final answer is **{x}**!", "Answer = {x}",
    "{{\"answer\": \"{x}\"}}", "```json\n{{\"answer\": \"{x}\"}}\n```",
    "{{\"reasoning\": \"it repeats\", \"answer\": \"{x}\"}}", "Here: {{\"action\": \"{x}\"}}",
    "<answer>{x}</answer>", "I thought.\n<answer>\n{x}\n</answer>", "{x}.", "**{x}**", "\"{x}\"",
    "`{x}`", "({x})", "It repeats after four.\n\n{x}", "It repeats.\n\n**{x}**.",
    "Sorry, I made a slip above. The answer is {x}.", "The answer is {y}. No: the answer is {x}.",
    "I choose {x}.", "I'll go with {x}.", "- {x}", "ANSWER: {X}", "The answer is **{X}**.",
]  # fmt: skip
NOT_READ = [
    "{x} or {y}", "ANSWER: {x} or {y}", "ANSWER: {x}, {y}", "ANSWER: {x}/{y}", "{x} {y}",
    "{x}, {y}", "{x}\n{y}", "- {x}\n- {y}", "The answer is {x} or {y}.",
    "The answer is either {x} or {y}", "The answer is not {x}.", "The answer isn't {x}.",
    "The answer is {x} or {y}, I am not sure", "not {x}", "ANSWER: not {x}", "ANSWER:",
    "ANSWER: ?", "ANSWER: I can't", "ANSWER: <answer>", "The answer is", "The answer is unclear.",
    "The answer is a mystery.", "The answer is a bit hard to find", "\\boxed{{}}",
    "\\boxed{{{x} or {y}}}", "{{\"answer\": \"{x} or {y}\"}}", "{{\"answer\": [\"{x}\", \"{y}\"]}}",
    "{{\"thought\": \"{x}\"}}", "{{\"answer\": \"{x}\", \"action\": \"{y}\"}}", "Is it {x}?",
    "{x}?", "Maybe {x}, maybe {y}.", "I first thought of {x}, then of {y}.",
    "The answer is {x}. Wait, no, the answer is {x} or {y}.", "I would never choose {x}",
    "If the answer is {x}, then so be it", "Let me think about {x} again",
    "<answer>{x} or {y}</answer>", "ANSWER: {x} and {y}", "Neither {x} nor {y}",
    "I choose not to answer {x}", "{x}{y}{x}{y} ...",
]  # fmt: skip


def seen(name):
    tool = registry.make_instrument(name)
    episode = Episode(tool.exercise(1, 0))
    slot = min(episode.waiting)
    return tool, episode.waiting[slot], episode.task(slot).actions


def answers(tool, observation, actions):
    """Return two answers in words, with the actions they stand for."""
    found = {}
    for action in actions.allowed(observation):
        labels = getattr(actions, "labels", ())
        text = labels[action - actions.start] if labels else str(action)
        if tool.read(text, observation) == action:
            found[text] = action
    return list(found.items())[-2:]


INSTRUMENTS = sorted(registry.instruments())


def test_the_tables_are_as_long_as_promised():
    assert len(READ) >= 60
    assert len(NOT_READ) >= 40
    assert len(set(READ)) == len(READ)


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_every_way_to_write_an_answer_is_read(name):
    tool, observation, actions = seen(name)
    (y, _), (x, action) = answers(tool, observation, actions)
    for n, template in enumerate(READ):
        reply = template.format(x=x, y=y, X=x.upper())
        found = read_reply(tool, reply, observation)
        assert found.action == action, (reply, found)
        if n < 12:
            assert found.strict, reply


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_what_is_not_one_answer_is_not_read(name):
    tool, observation, actions = seen(name)
    (y, _), (x, _) = answers(tool, observation, actions)
    for template in NOT_READ:
        reply = template.format(x=x, y=y)
        found = read_reply(tool, reply, observation)
        assert isinstance(found.action, Failure), (reply, found)


def test_a_slip_is_not_a_refusal_and_a_refusal_is():
    tool, observation, _ = seen("c-test")
    slip = read_reply(tool, "Sorry, I made a slip; let me look once more.", observation)
    assert slip.action.status == "malformed"
    for reply in ("Sorry, I can't help with that.", "I'm sorry, but no.", "I am unable to."):
        assert read_reply(tool, reply, observation).action.status == "refused"


def test_a_reply_that_was_cut_off_is_not_read_leniently():
    tool, observation, _ = seen("c-test")
    cut = read_reply(tool, "The next letter is b. But", observation, "max_tokens")
    assert cut.action.status == "malformed"
    assert read_reply(tool, "ANSWER: b", observation, "max_tokens").action == 1


def test_both_rates_are_kept():
    tool, observation, _ = seen("c-test")
    talk, ledger = Conversation(tool), Ledger()
    talk.begin(Episode(tool.exercise(1, 0)).task(0))
    for reply in ("ANSWER: b", "The answer is b.", "b or c"):
        talk.hear(read_reply(tool, reply, observation), observation, Random(0))
    ledger.note(talk.counts())
    assert talk.counts() == {"read": 2, "read_strictly": 1, "unread": 1, "defaults": 0}
    assert ledger.as_json()["read"] == 2
    assert ledger.as_json()["read_strictly"] == 1
    assert "1 answers were not written as asked" in str(ledger)
