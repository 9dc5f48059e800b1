"""A language model as a mind: ``llm(openai/gpt-4o)``, with every provider that Inspect has.

`Conversation` is what one model in one slot of one exercise is told and asked, and how its replies
are read. It does not call the model, so that the mind `llm` and the Inspect tasks share the same
words. How a model is asked, and what a provider at fault is, is in `providers`; what it may cost is
in `core.spending`.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allminds.bridges.providers import SUPPOSED, ask, guess, model_named, price_of
from allminds.bridges.replies import Reading, read_reply
from allminds.contracts import Failure, Instrument, Message, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.messages import in_words
from allminds.core.seeding import Random
from allminds.core.spending import ledger_now
from allminds.registry import mind

PATIENCE = 600.0  # seconds that a provider may take for a reply
FORMS = ("text", "image")
HOW = "You may think first. End your reply with a line that has only your answer: ANSWER: {}"


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
        self.news: list[str] = []  # what members of its group said
        self.readings: list[Reading] = []  # of all replies in the exercise

    def begin(self, task: Task) -> None:
        """Start the conversation about a new exercise."""
        self.task, self.reward, self.readings, self.news = task, None, [], []
        self.space = task.actions

    def ask(self, observation: Any) -> Turn:
        """Write the next message: the rules (first time only), the last reward, the observation."""
        lines = []
        if self.task is not None:
            lines += [rules(self.tool, self.task), ""]
            self.task = None
        if self.reward is not None:
            lines.append(f"Your reward: {self.reward:+g}")
        lines, self.news = [*lines, *self.news], []
        if self.form == "image":
            picture = self.tool.presentation.image(observation)
            return Turn("\n".join(lines).strip(), picture)
        return Turn("\n".join([*lines, self.tool.presentation.words(observation)]))

    def told(self, reward: float) -> None:
        """Store the reward of the last action, for the next message."""
        self.reward = reward

    def heard(self, messages: Sequence[Message]) -> None:
        """Store what members of the group said, for the next message."""
        self.news = [in_words(one, self.space) for one in messages]
        self.news.append("Consider this, and answer again.")

    def meant(self, reply: str, observation: Any, stop: str = "stop") -> Any | Failure:
        """Read the action in a reply; `stop` is Inspect's reason why the reply ended."""
        found = read_reply(self.tool, reply, observation, stop)
        self.readings.append(found)
        return found.action


def rules(tool: Instrument, task: Task) -> str:
    """Write what a language model is told before an exercise, and how it must answer."""
    text, answer = tool.presentation.rules(task)
    return "\n".join(filter(None, (text, task.protocol, HOW.format(answer))))


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
    space: Any = task.actions
    return list(space.allowed(observation))


# ---------------------------------------------------------------- the mind


@mind("llm")
class LanguageModel(MindBase):
    """A language model by its name in Inspect: llm(openai/gpt-4o) or llm(NAME,form=text).

    The provider may take `seconds` of real time for each attempt at a reply; one at fault is asked
    again after a wait.
    """

    takes_instrument = True
    # what was paid for is whole exercises, not the beginnings of all
    traits = Traits(one_at_a_time=True, paid=True)

    def __init__(
        self, tool: Instrument, model: str = "", form: str = "", seconds: float = PATIENCE
    ) -> None:
        if "/" not in model:
            raise Error("name a model as Inspect does: llm(provider/model)")
        if not seconds > 0:
            raise Error(f"llm: seconds must be above 0, not {seconds:g}")
        self.seconds = seconds
        self.conversation = Conversation(tool, form)
        self.messages: list[Any] = []
        ledger = ledger_now()
        if ledger.dry:
            return
        self.model = model_named(model)
        if ledger.most is not None and ledger.price is None and not price_of(self.model):
            raise Error(f"no price of {model} is known; give one with --price, as 2.5/10")

    def begin(self, task: Task) -> None:
        """Start a new conversation with the model."""
        self.task, self.messages, self.words = task, [], ""
        self.conversation.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Ask the model, and read its reply."""
        ledger = ledger_now()
        turn = self.conversation.ask(observation)
        if ledger.dry:
            self.messages.append(turn)
            ledger.suppose(guess(self.messages, ledger))
            self.messages.append(SUPPOSED)
            self.words = "word " * ledger.reply
            legal = legal_actions(self.task, observation)
            return legal[random.below(len(legal))]
        self.messages.append(message(turn))
        output = ask(self.model, self.messages, self.seconds, self.task.slot)
        if isinstance(output, Failure):
            return output
        self.messages.append(output.message)
        self.words = output.completion
        action = self.conversation.meant(output.completion, observation, str(output.stop_reason))
        found = self.conversation.readings[-1]
        ledger.note(found.read, found.strict)
        return action

    def learn(self, reward: float, observation: Any, done: bool) -> None:  # noqa: ARG002
        """Store the reward, to tell it with the next question."""
        self.conversation.told(reward)

    def hear(self, messages: Sequence[Message]) -> None:
        """Store what members of its group said, to tell it with the next question."""
        self.conversation.heard(messages)

    def say(self) -> str:
        """Return the last reply: the answer with its reasons."""
        return self.words


def message(turn: Turn) -> Any:
    """Convert the next message to a model into Inspect's form."""
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    if turn.picture is None:
        return ChatMessageUser(content=turn.text)
    data = f"data:image/png;base64,{base64.b64encode(turn.picture).decode()}"
    return ChatMessageUser(content=[ContentText(text=turn.text), ContentImage(image=data)])
