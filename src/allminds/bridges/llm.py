"""A language model as a mind: ``llm(openai/gpt-4o)``, with every provider that Inspect has.

What a model is told, and how its replies are read, is in `conversation`, which the tasks of Inspect
share. How a model is asked, and what a provider at fault is, is in `providers`; what it may cost is
in `core.spending`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.bridges.conversation import SUPPOSED, Conversation, Question
from allminds.bridges.manner import Manner
from allminds.bridges.messages import check
from allminds.bridges.providers import ask, guess, model_named, price_of
from allminds.contracts import Failure, Instrument, Message, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.spending import ledger_now
from allminds.core.transcripts import SHEET
from allminds.registry import mind

PATIENCE = 600.0  # seconds that a provider may take for a reply


@mind("llm")
class LanguageModel(MindBase):
    """A language model by its name in Inspect: llm(openai/gpt-4o) or llm(NAME,effort=high).

    Generation settings (effort, temperature, top_p, max_tokens, seed) go to the provider. `system`
    is a system message, `few_shot` a number of solved examples, `history` full, last(n) or
    summary, `answer` text, schema or tool, `form` text or image. The provider may take `seconds`
    of real time for each attempt at a reply; one at fault is asked again after a wait.
    """

    takes_instrument = reads = True
    # what was paid for is whole exercises, not the beginnings of all
    traits = Traits(one_at_a_time=True, paid=True)

    def __init__(
        self, tool: Instrument, model: str = "", form: str = "", effort: str = "",
        temperature: float | None = None, top_p: float | None = None,
        max_tokens: int | None = None, seed: int | None = None, system: str = "",
        few_shot: int = 0, history: str = "full", answer: str = "text",
        seconds: float = PATIENCE,
    ) -> None:  # fmt: skip
        if "/" not in model:
            raise Error("name a model as Inspect does: llm(provider/model)")
        if not seconds > 0:
            raise Error(f"llm: seconds must be above 0, not {seconds:g}")
        self.seconds = seconds
        manner = Manner(
            form, effort, temperature, top_p, max_tokens, seed, system, few_shot, history, answer
        )
        self.conversation = Conversation(tool, manner)
        ledger = ledger_now()
        if ledger.dry:
            return
        self.model = model_named(model)
        check(manner)
        if ledger.most is not None and ledger.price is None and not price_of(self.model):
            raise Error(f"no price of {model} is known; give one with --price, as 2.5/10")

    def begin(self, task: Task) -> None:
        """Start a new conversation with the model."""
        self.task = task
        self.at, self.taught = -1, True  # the step it was asked at last, and whether it was its own
        self.conversation.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Ask the model, and once more if its reply cannot be read."""
        talk = self.conversation
        if random.step != self.at and not self.taught:
            talk.overruled()
        self.at, self.taught = random.step, False
        before = talk.counts()
        turn = talk.turn(observation, random)
        try:
            question = next(turn)
            while True:
                output = self._answer(question)
                if isinstance(output, Failure):
                    return output
                question = turn.send(output)
        except StopIteration as end:
            return end.value
        finally:
            turn.close()
            self._note({name: n - before[name] for name, n in talk.counts().items()})

    def _answer(self, question: Question) -> Any:
        """Return the reply of the model, or what stands for one in a dry run."""
        ledger = ledger_now()
        if ledger.dry:
            ledger.suppose(guess(question, ledger))
            return SUPPOSED
        return ask(self.model, question, self.seconds, self.task.slot)

    def _note(self, counts: dict[str, int]) -> None:
        ledger_now().note(counts)
        sheet = SHEET.get()
        if sheet is not None:
            sheet.note(self.task.slot, counts)

    def learn(self, reward: float, observation: Any, done: bool) -> None:  # noqa: ARG002
        """Store the reward, to tell it with the next question."""
        self.taught = True
        self.conversation.told(reward)

    def hear(self, messages: Sequence[Message]) -> None:
        """Store what members of its group said, to tell it with the next question."""
        self.conversation.overheard(messages)

    def say(self) -> str:
        """Return the last reply: the answer with its reasons."""
        past = self.conversation.past
        if not past:
            return ""
        supposed = past[-1].reply.supposed
        return "word " * ledger_now().reply if supposed else past[-1].reply.text
