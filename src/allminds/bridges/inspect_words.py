"""What a language model is told and asked, and how its reply is read, without any library.

A `Conversation` is for one model in one slot of one exercise. It does not call the model, so that
the mind `llm` and the Inspect tasks share the same words and read replies in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allminds.contracts import Failure, Instrument, Task
from allminds.core.errors import Error

FORMS = ("text", "image")
HOW = "You may think first. End your reply with a line that has only your answer: ANSWER: {}"

_ANSWER = re.compile(
    r"^[ \t*#>]*answer[ \t*]*:[ \t*]*(.*?)[ \t\r*]*$", re.IGNORECASE | re.MULTILINE
)
_REFUSAL = re.compile(
    r"\W*(?:(?:i am|i'm) (?:very )?(?:sorry|unable|not able)|sorry|i (?:cannot|can't|can not|won't|"
    r"will not|must decline|decline|refuse)|as an ai\b|unfortunately,? i (?:cannot|can't))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Turn:
    """The next message to a model: text, and a PNG picture if there is one."""

    text: str
    picture: bytes | None = None


class Conversation:
    """The messages to one model in one slot, and the reading of its replies."""

    def __init__(self, tool: Instrument, form: str = "") -> None:
        self.tool, self.form = tool, form_of(tool, form)
        self.task: Task | None = None
        self.reward: float | None = None

    def begin(self, task: Task) -> None:
        """Start the conversation about a new exercise."""
        self.task, self.reward = task, None

    def ask(self, observation: Any) -> Turn:
        """Write the next message: the rules (first time only), the last reward, the observation."""
        lines = []
        if self.task is not None:
            lines += [rules(self.tool, self.task), ""]
            self.task = None
        if self.reward is not None:
            lines.append(f"Your reward: {self.reward:+g}")
        if self.form == "image":
            picture = self.tool.presentation.image(observation)
            return Turn("\n".join(lines).strip(), picture)
        return Turn("\n".join([*lines, self.tool.presentation.words(observation)]))

    def told(self, reward: float) -> None:
        """Store the reward of the last action, for the next message."""
        self.reward = reward

    def meant(self, reply: str, observation: Any, stop: str = "stop") -> Any | Failure:
        """Read the action in a reply strictly; `stop` is Inspect's reason why the reply ended.

        The answer is the text after the last ``ANSWER:`` at the start of a line or, without one,
        the whole reply.
        """
        if stop == "content_filter":
            return Failure("refused", "the provider's filter stopped the reply")
        if not reply.strip():
            return Failure("refused", "gave no answer")
        found = _ANSWER.findall(reply)
        action = self.tool.read(found[-1] if found else reply.strip(), observation)
        if not isinstance(action, Failure):
            return action
        if not found and _REFUSAL.match(reply.replace("’", "'")):
            return Failure("refused", f"refused: '{' '.join(reply.split())[:100]}'")
        if stop in ("max_tokens", "model_length"):
            return Failure("malformed", "the reply was cut off before its answer")
        return action


def rules(tool: Instrument, task: Task) -> str:
    """Write what a language model is told before an exercise, and how it must answer."""
    text, answer = tool.presentation.rules(task)
    return f"{text}\n{HOW.format(answer)}"


def form_of(tool: Instrument, form: str) -> str:
    """Choose text or image: the form asked for, or else the instrument's usual one."""
    if form and form not in FORMS:
        raise Error(f"there is no form '{form}'; choose {' or '.join(FORMS)}")
    pictured = tool.presentation.pictured
    if form == "image" and not pictured:
        raise Error(f"{tool.name} is shown to language models as text, not as an image")
    return form or ("image" if pictured else "text")


def mind_name(model: str, tool: Instrument, form: str) -> str:
    """Name a model in the results table with the name that `allminds evaluate` accepts."""
    usual = form_of(tool, "")
    return f"llm({model})" if form in ("", usual) else f"llm({model},form={form})"


def legal_actions(task: Task, observation: Any) -> Sequence[Any]:
    """List the actions that are allowed now."""
    legal = getattr(observation, "legal", None)
    space: Any = task.actions
    return list(range(space.start, space.start + space.n)) if legal is None else list(legal)
