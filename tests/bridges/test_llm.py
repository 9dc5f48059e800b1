"""Language models as minds, under Inspect's mock model; what they cost, and what is read."""

from __future__ import annotations

import contextlib
import json
import re

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from plainly import evaluate

from allminds import registry
from allminds.bridges import llm, providers
from allminds.bridges.conversation import Conversation
from allminds.bridges.manner import Manner, form_of
from allminds.bridges.replies import read_reply
from allminds.cli import main
from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.core.spending import spending
from allminds.episode import Episode, play
from allminds.runs.run import How

ONE = How(jobs=1)


@pytest.fixture
def mock(monkeypatch):
    """Put a mock model in the place of all others."""
    pytest.importorskip("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def put(says, stop="stop"):
        def reply(messages, *_given):
            text = says(messages) if callable(says) else says
            output = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
            output.usage = ModelUsage(input_tokens=1000, output_tokens=100, total_tokens=1100)
            return output

        model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
        monkeypatch.setattr(llm, "model_named", lambda name: model)

    return put


def result(instrument, episodes, who="llm(some/model)", **how):
    return evaluate(instrument, [who], episodes=episodes, how=ONE, **how)["results"][0]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Providers at fault are asked once."""
    monkeypatch.setattr(providers, "WAITS", ())
    monkeypatch.setattr(providers.Call, "down", set())


# ---------------------------------------------------------------- the mind


def test_a_model_that_knows_scores_all_and_one_that_does_not_nothing(mock):
    tool = registry.make_instrument("c-test")
    asked = {" ".join(item.shown): item.answer for item in tool.published}
    mock(lambda messages: f"ANSWER: {asked[messages[0].content.splitlines()[-1]]}")
    assert result("c-test", 20)["score"] == 1.0
    mock("none")
    assert result("c-test", 20)["score"] == 0.0


def test_refusals_and_nonsense_are_failures_and_the_run_goes_on(mock):
    mock("I can't do that.")
    assert result("c-test", 5)["failures"] == {"refused": 5}
    mock("b", stop="content_filter")
    assert result("c-test", 5)["failures"] == {"refused": 5}
    mock("b or perhaps c")
    assert result("c-test", 5)["failures"] == {"malformed": 5}


def test_what_the_provider_raises_is_no_failure_and_no_score(mock):
    def down(messages):
        raise RuntimeError("the provider is down")

    mock(down)
    found = result("c-test", 3)
    assert (found["failures"], found["missing"], found["score"]) == ({}, 3, None)
    assert "the provider is down" in found["reason"]


def test_one_that_hangs_is_broken_off(mock, monkeypatch):
    import asyncio

    async def hangs(messages, config):
        await asyncio.sleep(60)

    mock("b")
    monkeypatch.setattr(llm.model_named("x"), "generate", hangs)
    row = result("c-test", 2, "llm(some/model,seconds=0.3)", time_limit=0.01)
    assert row["failures"] == {"timeout": 2}
    assert row["reason"] == "the provider gave no reply within 0.3 s"


def test_the_time_limit_of_other_minds_is_not_the_providers(mock, monkeypatch):
    import asyncio

    mock("b")
    model = llm.model_named("x")
    generate = model.generate

    async def slowly(messages):
        await asyncio.sleep(0.4)
        return await generate(messages)

    monkeypatch.setattr(model, "generate", slowly)
    assert result("c-test", 1, time_limit=0.01)["failed"] == 0


def test_an_episode_is_one_conversation(mock):
    seen = []

    def stay(messages):
        seen.append([str(one.content) for one in messages])
        return "ANSWER: **stay**"

    mock(stay)
    settings = {"iterations": 3}
    tool = registry.make_instrument("lambda-star", settings)
    record = play(tool.exercise(1, 0), registry.line_up("llm(some/model)", tool))
    ours = play(tool.exercise(1, 0), registry.line_up(lambda view: 5, tool))
    assert (record.score, record.actions) == (ours.score, ours.actions)
    assert [len(messages) for messages in seen] == [1, 3, 5]
    assert "There are 3 steps" in seen[0][0]
    assert f"Your reward: {record.rewards[0][0]:+g}" in seen[1][2]


def test_settings_are_those_of_the_test(mock):
    shown = []
    mock(lambda messages: shown.append(str(messages[-1].content)) or "5")
    result("lambda-star", 1, settings={"range": 2, "iterations": 1})
    assert re.findall(r"[+-]\d\.\d", shown[0].splitlines()[-1]) != []
    assert len(shown[0].splitlines()[-1].split()) == 5


def test_matrices_are_seen_unless_text_is_asked_for(mock):
    kinds = []

    def look(messages):
        content = messages[0].content
        kinds.append("text" if isinstance(content, str) else content[-1].type)
        return "A"

    mock(look)
    result("matrices", 1)
    result("matrices", 1, "llm(some/model,form=text)")
    assert kinds == ["image", "text"]


def test_two_models_play_each_other(mock):
    mock("defect")
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 3})
    record = play(tool.exercise(1, 0), registry.line_up("llm(a/b),llm(c/d)", tool))
    assert record.score == pytest.approx((-0.6, -0.6))


def test_bad_names_are_one_sentence():
    tool = registry.make_instrument("c-test")
    with pytest.raises(Error, match="name a model as Inspect does"):
        registry.subject("llm", tool)
    with pytest.raises(Error, match="Inspect cannot make the model nosuch/x"):
        registry.subject("llm(nosuch/x)", tool)
    with pytest.raises(Error, match="shown to language models as text"):
        registry.subject("llm(mockllm/b,form=image)", tool)
    with pytest.raises(Error, match="no parameter 'temprature'; did you mean 'temperature'"):
        registry.subject("llm(mockllm/b,temprature=1)", tool)


# ---------------------------------------------------------------- what it costs


def test_a_dry_run_asks_nobody_and_counts_every_call(monkeypatch):
    monkeypatch.setattr(llm, "model_named", lambda name: pytest.fail("was asked"))
    with spending(dry=True, price="2/8") as ledger:
        result("lambda-star", 4, settings={"iterations": 5})
    assert ledger.calls == 20
    assert ledger.output_tokens == 20 * 300
    assert ledger.cost == pytest.approx((ledger.input_tokens * 2 + ledger.output_tokens * 8) / 1e6)
    assert ledger.most_cost > ledger.cost
    with spending(dry=True) as ledger:
        result("noughts-and-crosses", 3, "llm(a/b),llm(c/d)")
    assert 15 <= ledger.calls <= 27  # somebody wins after 5 moves at the earliest


def test_no_more_is_asked_once_the_money_is_spent(mock):
    mock("none")
    with spending(most=0.01, price="1/10") as ledger:  # 0.002 a call
        found = result("c-test", 20)
    assert ledger.calls == 5
    assert ledger.cost == pytest.approx(0.01)
    assert (found["failed"], found["missing"], found["score"]) == (0, 15, 0.0)
    assert found["reason"] == "not asked, for $0.01 are spent"


def test_a_most_needs_a_price(mock):
    mock("none")
    with spending(most=1.0), pytest.raises(Error, match="no price of some/model is known"):
        result("c-test", 1)


@pytest.mark.parametrize("price", ["2", "a/b", "1/2/3", "-1/2"])
def test_a_price_is_two_numbers(price):
    with pytest.raises(Error, match="dollars per million tokens"), spending(price=price):
        pass


def test_a_most_is_above_0():
    with pytest.raises(Error, match="above 0"), spending(most=0.0):
        pass


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["allminds", *words])
    with contextlib.suppress(SystemExit):
        main()
    return capsys.readouterr()


def test_the_command_line_counts_and_guards(monkeypatch, capsys):
    pytest.importorskip("inspect_ai")
    words = ["evaluate", "c-test", "--mind", "llm(mockllm/b)", "--episodes", "8", "--json"]
    dry = json.loads(run(monkeypatch, capsys, *words, "--dry-run").out)
    assert (dry["llm"]["calls"], dry["llm"]["dry"]) == (8, True)
    paid = json.loads(run(monkeypatch, capsys, *words, "--max-cost", "1", "--price", "1/1").out)
    assert paid["llm"]["cost"] == pytest.approx(8 * 2e-6)
    assert paid["results"][0]["failed"] == 0
    refused = run(monkeypatch, capsys, *words, "--max-cost", "1").err
    assert refused == (
        "allminds: no price of mockllm/b is known; give one with --price, as 2.5/10\n"
    )


# ---------------------------------------------------------------- what is said and read


def read(reply, instrument="c-test", stop="stop"):
    tool = registry.make_instrument(instrument)
    observation = Episode(tool.exercise(1, 0)).waiting[0]
    return read_reply(tool, reply, observation, stop).action


@pytest.mark.parametrize(
    "reply",
    ["b", " b\n", "ANSWER: b", "answer: b", "I think.\n\n**ANSWER: b**", "ANSWER: a\nANSWER: b",
     "**Answer:** b", "> ANSWER: b", "ANSWER: B", "The answer is b", "b.", "ANSWER:\nb"],
)  # fmt: skip
def test_answers_are_read(reply):
    assert read(reply) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "b or c",
        "ANSWER: b or c",
        "ANSWER:",
        "bb",
        "ANSWER: I can't",
        "1",
    ],
)
def test_what_is_not_just_an_answer_is_malformed(reply):
    found = read(reply)
    assert isinstance(found, Failure)
    assert found.status == "malformed"


@pytest.mark.parametrize(
    "reply",
    ["", "  \n", "I'm sorry, but no.", "I cannot answer this.", "I can't.", "Sorry, no.",
     "I’m sorry, I can’t.",     "As an AI I do not play.", "Unfortunately, I cannot help."],
)  # fmt: skip
def test_refusals_are_told_apart(reply):
    found = read(reply)
    assert isinstance(found, Failure)
    assert found.status == "refused"


@drawn(st.text())
def test_whatever_is_said_is_an_action_or_a_failure(reply):
    found = read(reply)
    assert isinstance(found, (int, Failure))


def test_five_options_are_told():
    tool = registry.make_instrument("c-test", {"options": 5})
    episode = Episode(tool.exercise(1, 0))
    talk = Conversation(tool)
    talk.begin(episode.task(0))
    talk.see(episode.waiting[0])
    text = talk.question().said[-1].text
    assert f"Choose from: {', '.join(episode.waiting[0].options)}." in text
    assert text.splitlines()[-1] == " ".join(episode.waiting[0].shown)


def test_names_are_those_that_evaluate_takes():
    tool = registry.make_instrument("matrices")
    assert form_of(tool, "") == "image"
    assert Manner(form="image").named("a/b", tool) == "llm(a/b)"
    assert Manner(form="text").named("a/b", tool) == "llm(a/b,form=text)"
