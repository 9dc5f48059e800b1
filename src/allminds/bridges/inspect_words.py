"""What a language model is told and asked, and how its reply is read: no library needed.

A `Conversation` is one model in one slot of one exercise, without the asking itself, so that the
mind `llm` and the Inspect tasks say the same words and read replies in the same way.
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
    """What a model is told next: words, and a PNG picture if there is one."""

    text: str
    picture: bytes | None = None


class Conversation:
    """One model in one slot: what to say to it, and what it meant."""

    def __init__(self, tool: Instrument, form: str = "") -> None:
        self.tool, self.form = tool, form_of(tool, form)
        self.task: Task | None = None
        self.reward: float | None = None

    def begin(self, task: Task) -> None:
        """An exercise begins."""
        self.task, self.reward = task, None

    def ask(self, observation: Any) -> Turn:
        """The rules, if they were not told yet; what the last action brought; what is seen."""
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
        """What the last action brought; said with the next question."""
        self.reward = reward

    def meant(self, reply: str, observation: Any, stop: str = "stop") -> Any | Failure:
        """The action in a reply, read strictly; `stop` is why it ended, in Inspect's words.

        The answer is what follows the last ``ANSWER:`` at the start of a line; without one, the
        whole reply is it.
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
    """Return what a language model is told before an exercise, and how it is to answer."""
    text, answer = tool.presentation.rules(task)
    return f"{text}\n{HOW.format(answer)}"


def form_of(tool: Instrument, form: str) -> str:
    """Text or image: as asked for, or as the instrument is shown best."""
    if form and form not in FORMS:
        raise Error(f"there is no form '{form}'; choose {' or '.join(FORMS)}")
    pictured = tool.presentation.pictured
    if form == "image" and not pictured:
        raise Error(f"{tool.name} is shown to language models as text, not as an image")
    return form or ("image" if pictured else "text")


def mind_name(model: str, tool: Instrument, form: str) -> str:
    """The name of a model in the results table: the one that `allminds evaluate` takes."""
    usual = form_of(tool, "")
    return f"llm({model})" if form in ("", usual) else f"llm({model},form={form})"


def legal_actions(task: Task, observation: Any) -> Sequence[Any]:
    """What may be done now."""
    legal = getattr(observation, "legal", None)
    space: Any = task.actions
    return list(range(space.start, space.start + space.n)) if legal is None else list(legal)
