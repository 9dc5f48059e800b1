"""Solvers and agents of Inspect's at the exercises: what they do with the tool `act` counts."""

from __future__ import annotations

import math

import pytest

from allminds import registry
from allminds.core.errors import Error
from allminds.episode import play

pytest.importorskip("inspect_ai")
from inspect_ai.agent import as_solver, react
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import chain, generate, system_message
from inspect_ai.tool import ToolCall
from mocked_models import imported, model

from allminds.bridges import inspect_ai as tasks


def caller(decide):
    """A mock model that calls a tool with what `decide` makes of the messages, or says a text."""

    def reply(messages, *_given):
        made = decide(messages)
        output = ModelOutput.from_content("mockllm/model", made if isinstance(made, str) else "")
        if not isinstance(made, str):
            name, given = made
            call = ToolCall(id=f"c{len(messages)}", function=name, arguments=given)
            output.choices[0].message.tool_calls = [call]
            output.choices[0].stop_reason = "tool_calls"
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return output

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


def acting(word="6"):
    def decide(messages):
        over = messages[-1].text == "The exercise is over."
        return "Done." if over else ("act", {"action": word})

    return caller(decide)


def score(log):
    assert log.status == "success", log.error
    return log.samples[0].scores["record" if "record" in log.samples[0].scores else
                                 "weighted_record"]  # fmt: skip


def ours(moves, **settings):
    tool = registry.make_instrument("lambda-star", settings)
    told = iter(moves)
    return play(tool.exercise(1, 0), registry.line_up(lambda seen: next(told), tool))


SOLVERS = {
    "generate": generate,
    "agent": tasks.agent,
    "chain": lambda: chain(system_message("You are careful."), generate()),
    "react": lambda: as_solver(react(tools=[tasks.act()], submit=False)),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_any_solver_plays_with_act_as_a_tool(name, given, tmp_path):
    made = tasks.lambda_star(n=1, iterations=4)
    log = given(made, acting(), solver=SOLVERS[name]())
    kept = score(log).metadata
    assert kept["status"] == ["ok"]
    assert kept["score"] == list(ours([6] * 4, iterations=4).score)
    results = [one for one in log.samples[0].messages if isinstance(one, ChatMessageTool)]
    assert "Step 2 of 4." in results[0].text
    assert "The exercise is over." in results[3].text
    mind = imported(log, tmp_path / "in")["mind"][0]
    assert mind.startswith("llm(mockllm/model,agent=")
    assert imported(given(made, model("6")), tmp_path / "plain")["mind"][0] == "llm(mockllm/model)"


def test_generate_answers_a_question_in_words_or_by_the_tool(given):
    made = tasks.c_test(n=2)
    for who in (model("ANSWER: none"), acting("none")):
        found = score(given(made, who, solver=generate()))
        assert found.value["coverage"] == 1.0
        assert not math.isnan(found.value["score"])
    broken = score(given(made, model("b or c"), solver=generate()))
    assert (broken.value["malformed"], broken.value["score"]) == (1.0, 0.0)


def test_a_world_that_a_solver_leaves_early_has_failed_and_is_scored(given):
    def tires(messages):
        return ("act", {"action": "5"}) if len(messages) < 4 else "I have had enough."

    found = score(given(tasks.lambda_star(n=1, iterations=6), caller(tires), solver=generate()))
    stays = ours([5] * 6, iterations=6)
    before = sum(made[0] for made in stays.rewards[:2])
    assert found.value["score"] == pytest.approx((before - 4) / 6)
    assert (found.value["refused"], found.value["coverage"]) == (1.0, 0.0)
    assert found.explanation == "stopped after 2 of 6 steps"


def test_a_call_that_cannot_be_read_is_an_error_of_the_tool_and_then_the_default(given):
    def slips(messages):
        last = messages[-1]
        wrong = "Step 2 of" in last.text or (last.role == "tool" and last.error is not None)
        return "act", {"action": "north" if wrong else "6"}

    log = given(tasks.lambda_star(n=1, iterations=3), caller(slips), solver=tasks.agent())
    found = score(log)
    assert found.metadata["score"] == list(ours([6, 5, 6], iterations=3).score)
    assert found.value["defaults"] == 1.0
    results = [one for one in log.samples[0].messages if isinstance(one, ChatMessageTool)]
    assert "could not be read: 'north'" in results[1].error.message


def test_an_agent_plays_a_game_against_a_mind_of_ours(given):
    made = tasks.prisoners_dilemma(n=1, steps=4, against="tit-for-tat")
    found = score(given(made, acting("defect"), solver=generate()))
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 4})
    game = play(tool.exercise(1, 0), registry.line_up("defect,tit-for-tat", tool))
    assert found.metadata["score"] == list(game.score)


def test_an_agent_that_answers_in_words_is_read_too(given):
    log = given(tasks.lambda_star(n=1, iterations=3), model("ANSWER: 6"), solver=tasks.agent())
    assert score(log).metadata["score"] == list(ours([6] * 3, iterations=3).score)


def test_a_scratchpad_is_a_tool_if_the_task_allows_it(given):
    def notes(messages):
        last = messages[-1].text
        if "Step " in last:
            return "scratchpad", {"note": last.splitlines()[-1][:20]}
        return "act", {"action": "6"}

    log = given(tasks.lambda_star(n=1, iterations=2, tools="scratchpad"), caller(notes))
    assert score(log).metadata["status"] == ["ok"]
    assert len(log.samples[0].store["allminds_notes"]) == 2


def test_python_is_off_unless_asked_for_and_then_in_a_sandbox():
    assert tasks.lambda_star(n=1).sandbox is None
    assert tasks.lambda_star(n=1, tools="scratchpad").sandbox is None
    assert tasks.lambda_star(n=1, tools="python").sandbox.type == "docker"
    with pytest.raises(Error, match="there is no tool 'telephone'"):
        tasks.lambda_star(n=1, tools="telephone")


def test_settings_of_inspect_are_in_the_name_of_the_mind(given, tmp_path):
    made = tasks.lambda_star(n=1, iterations=2, history="last(1)")
    log = given(made, model("6"), temperature=0, reasoning_effort="high")
    name = "llm(mockllm/model,effort=high,temperature=0,history=last(1))"
    assert list(imported(log, tmp_path / "in")["mind"]) == [name]
    assert imported(log, tmp_path / "again")["input_tokens"][0] == 200


def test_a_limit_of_inspects_is_a_time_out_of_an_agent_too(given):
    made = tasks.lambda_star(n=1, iterations=9)
    log = given(made, acting(), solver=generate(), message_limit=5)
    found = score(log)
    assert found.metadata["status"] == ["timeout"]
    assert found.explanation == "Inspect's limit on message"
