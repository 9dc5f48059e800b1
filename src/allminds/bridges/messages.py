"""Questions in the form of Inspect: messages, generation settings, and the tool `act`."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from allminds.bridges.conversation import Question, Said
from allminds.bridges.manner import Manner
from allminds.core.errors import Error

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

TOOL = "act"
_NOTHING = "(nothing)"  # providers reject an empty reply in a conversation


def messages(question: Question) -> list[ChatMessage]:
    """Convert the messages of a question; what follows a call of a tool is its result."""
    tools = question.answer == "tool" or question.manner.answer == "tool"
    made: list[Any] = []
    for number, said in enumerate(question.said):
        if said.role == "assistant":
            made.append(_reply(said, tools, number))
        else:
            calls = getattr(made[-1], "tool_calls", None) if made else None
            made += _results(said, calls) if calls else [_told(said)]
    return made


def _told(said: Said) -> Any:
    from inspect_ai.model import (
        ChatMessageSystem,
        ChatMessageUser,
        ContentImage,
        ContentText,
    )

    if said.role == "system":
        return ChatMessageSystem(content=said.text)
    if said.picture is None:
        return ChatMessageUser(content=said.text)
    data = f"data:image/png;base64,{base64.b64encode(said.picture).decode()}"
    text = [ContentText(text=said.text)] if said.text else []
    return ChatMessageUser(content=[*text, ContentImage(image=data)])


def _reply(said: Said, tools: bool, number: int) -> Any:
    """Return a reply as it came; where no tool is offered, without calls of any."""
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.tool import ToolCall

    if said.raw is None and tools:  # an example
        call = ToolCall(id=f"example_{number}", function=TOOL, arguments={"action": said.text})
        return ChatMessageAssistant(content="", tool_calls=[call])
    if said.raw is None:
        return ChatMessageAssistant(content=said.text or _NOTHING)
    if said.raw.tool_calls and tools:
        return said.raw
    if said.raw.text.strip():
        return said.raw.model_copy(update={"tool_calls": None})
    return said.raw.model_copy(update={"tool_calls": None, "content": _NOTHING})


def _results(said: Said, calls: list[Any]) -> list[Any]:
    """Make what is told the result of the last call; a picture follows as a message."""
    from dataclasses import replace

    from inspect_ai.model import ChatMessageTool

    texts = ["(see the next call)"] * (len(calls) - 1) + [said.text or "(see the picture)"]
    made: list[Any] = [
        ChatMessageTool(content=text, tool_call_id=call.id, function=call.function)
        for call, text in zip(calls, texts, strict=True)
    ]
    return made if said.picture is None else [*made, _told(replace(said, text=""))]


def config_of(question: Question) -> Any | None:
    """Return the generation settings of a question, with the schema of its answer; None if none."""
    given = dict(question.manner.generation)
    if question.answer != "schema":
        return configuration(given) if given else None
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    text = JSONSchema(type="string", description="what leads you to the answer")
    answer = JSONSchema(type="string", description=f"just the answer: {question.expected}")
    schema = JSONSchema(
        type="object", properties={"thoughts": text, "answer": answer},
        required=["thoughts", "answer"], additionalProperties=False,
    )  # fmt: skip
    return configuration(given | {"response_schema": ResponseSchema(
        name="answer", json_schema=schema, strict=True)})  # fmt: skip


def configuration(given: dict[str, Any]) -> Any:
    """Make the configuration of Inspect; a value that it does not know is one sentence."""
    from inspect_ai.model import GenerateConfig
    from pydantic import ValidationError

    try:
        return GenerateConfig(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = "effort" if first["loc"][:1] == ("reasoning_effort",) else first["loc"][0]
        raise Error(f"llm: {name}={first['input']} is not known: {first['msg']}") from None


def check(manner: Manner) -> None:
    """Reject generation settings that Inspect does not know."""
    configuration(manner.generation)


def tools_of(question: Question) -> list[Any]:
    """Return the tools that a question offers: `act`, if the answer is to be a call of it."""
    if question.answer != "tool":
        return []
    from inspect_ai.tool import ToolInfo, ToolParams
    from inspect_ai.util import JSONSchema

    action = JSONSchema(type="string", description=f"just the answer: {question.expected}")
    return [
        ToolInfo(
            name=TOOL, description="Give your answer; its result is what you see next.",
            parameters=ToolParams(properties={"action": action}, required=["action"]),
        )
    ]  # fmt: skip
