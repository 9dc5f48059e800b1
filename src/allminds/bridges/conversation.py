"""What a language model is told and asked, and what its replies mean; it calls no model.

`Conversation` is one model in one slot of one exercise. The mind ``llm`` and the tasks of Inspect
drive the same generator, `Conversation.turn`, so that both ask in the same words, keep the same
history, and treat a reply that cannot be read in the same way: the model is told why and asked once
more; then a default action stands for its own, which the record counts.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from allminds.bridges.manner import Manner, form_of
from allminds.bridges.replies import Reading, read_call, read_object, read_reply
from allminds.contracts import Discrete, Failure, Instrument, Message, Task
from allminds.core.errors import Error
from allminds.core.messages import in_words
from allminds.core.seeding import Random
from allminds.core.spending import COUNTED
from allminds.episode import Episode

HOW = {
    "text": "You may think first. End your reply with a line that has only your answer: ANSWER: {}",
    "schema": 'Reply with a JSON object: {{"thoughts": "…", "answer": "{}"}}',
    "tool": "You may think first. Then call the tool `act` once, with your answer: {}",
}
SUMMARISE = (
    "Before you go on: write down in at most 150 words all that you want to remember. From now on "
    "you will see the rules, what you write now, and what comes after it, but nothing else."
)
AGAIN = 1  # times that a model is asked once more for one answer
SILENT = 3  # steps without one answer that could be read, after which an exercise has failed
EXAMPLES = 0x5EED_0F_E8A3_91E5  # seed of solved examples, which no test is given by
SUPPOSED = "…"  # stands for a reply in the messages of a dry run


@dataclass(frozen=True)
class Said:
    """One message of a conversation; `raw` is the reply of a model as Inspect has it."""

    role: str  # system, user or assistant
    text: str = ""
    picture: bytes | None = None
    raw: Any = None

    @property
    def supposed(self) -> bool:
        """True for a reply of a dry run, of which only the length is supposed."""
        return self.role == "assistant" and self.text is SUPPOSED


@dataclass(frozen=True)
class Question:
    """What a model is sent: the messages, how it shall answer, and how much was left out."""

    said: Sequence[Said]
    manner: Manner
    answer: str  # text, schema or tool
    expected: str = ""  # the form of an answer, such as <letter>
    left_out: int = 0  # earlier steps that are not in the messages
    again: bool = False  # it may be asked once more, if its answer cannot be read


@dataclass
class Exchange:
    """One step of a conversation: the message to the model, and the reply that counted."""

    asked: Said
    reply: Said


class Conversation:
    """The messages to one model in one slot, and the reading of its replies."""

    def __init__(self, tool: Instrument, manner: Manner | None = None) -> None:
        self.tool, self.manner = tool, manner or Manner()
        self.form = form_of(tool, self.manner.form)
        if self.manner.few_shot and not tool.presentation.bank:
            raise Error(f"few_shot is for tests of questions, which {tool.name} is not")
        if self.manner.few_shot and tool.length is not None:
            raise Error(
                f"few_shot needs a test that is made from a seed; this form of {tool.name} is the "
                "same for every seed, so that its examples would be what is tested"
            )

    def begin(self, task: Task) -> None:
        """Start the conversation about a new exercise."""
        self.task = task
        self.rules, self.expected = self.tool.presentation.rules(task)
        if task.protocol:
            self.rules = f"{self.rules} {task.protocol}"
        self.how = HOW[self.manner.answer].format(self.expected)
        self.step, self.note = 1, ""
        self.news: list[str] = []  # what members of its group said
        self.reward: float | None = None
        self.past: list[Exchange] = []
        self.dropped = 0  # steps that a summary stands for
        self.now: list[Said] = []  # of the step that is being asked about
        self.readings: list[Reading] = []  # of all replies in the exercise
        self.bad = 0  # replies in this step that could not be read
        self.silent = 0  # steps without an answer, if none was ever read
        self.defaults = 0  # steps at which the default action was taken, or it abstained

    def told(self, reward: float) -> None:
        """Store the reward of the last step, for the next message."""
        self.reward = reward
        self.step += 1

    def overruled(self) -> None:
        """Go on to the next step after one in which its group did something else."""
        self.reward = None
        self.step += 1

    def overheard(self, messages: Sequence[Message]) -> None:
        """Store what members of its group said, for the next message."""
        self.news = [in_words(one, self.task.actions) for one in messages]
        self.news.append("Consider this, and answer again.")

    def counts(self) -> dict[str, int]:
        """Count what became of the replies, as the records do."""
        read = sum(one.read for one in self.readings)
        strictly = sum(one.read and one.strict for one in self.readings)
        counted = (read, strictly, len(self.readings) - read, self.defaults)
        return dict(zip(COUNTED, counted, strict=True))

    # ------------------------------------------------------------ one step

    def turn(self, observation: Any, random: Random) -> Generator[Question, Any, Any]:
        """Yield questions, take Inspect's output for each, and return the action or a `Failure`.

        An output that is `SUPPOSED`, as in a dry run, means any answer: one is drawn.
        """
        if self.manner.summarises and len(self.past) - self._summed >= self.manner.kept:
            yield from self._summarised()
        self.see(observation)
        while True:
            output = yield self.question()
            if output is SUPPOSED:
                self._close(Said("assistant", SUPPOSED))
                return self._drawn(observation, random)
            action = self.hear(self.reading(output, observation), observation, random)
            if action is not None:
                self._close(_reply(output))
                return action
            why = self.readings[-1].action.reason
            self.now += [_reply(output), Said("user", self.complaint(why))]

    def see(self, observation: Any) -> None:
        """Begin a step: write the message that shows an observation."""
        if self.manner.few_shot and not self.past:
            self.past = self._examples(observation)
        lines = [self.note] if self.note else []
        if self.task.steps > 1:
            lines.append(f"Step {self.step} of {self.task.steps}.")
        if self.reward is not None:
            lines.append(f"Your reward: {self.reward:+g}")
        lines, self.news = [*lines, *self.news], []
        self.now, self.note, self.bad = [self._shown(observation, lines)], "", 0

    def _shown(self, observation: Any, lines: Sequence[str] = ()) -> Said:
        shown = self.tool.presentation
        if self.form == "image":
            return Said("user", "\n".join(lines), shown.image(observation))
        return Said("user", "\n".join([*lines, shown.words(observation)]))

    def _close(self, reply: Said) -> None:
        """End a step: of its messages only the first and the reply that counted are kept."""
        self.past.append(Exchange(self.now[0], reply))
        self.now = []

    # ------------------------------------------------------------ what is sent

    def question(self) -> Question:
        """Put together what is sent: rules, what is kept of the history, and this step."""
        kept = self.past[-self.manner.kept :] if self.manner.trims else self.past
        said = [one for exchange in kept for one in (exchange.asked, exchange.reply)] + self.now
        first = [f"{self.rules}\n{self.how}", ""]
        left_out = self.dropped + len(self.past) - len(kept)
        if self.manner.trims and left_out:
            first += [f"[{left_out} earlier steps are left out here.]", ""]
        said[0] = replace(said[0], text="\n".join([*first, said[0].text]).strip())
        system = [Said("system", self.manner.system)] if self.manner.system else []
        return Question(
            [*system, *said], self.manner, self.manner.answer, self.expected,
            left_out, self.bad < AGAIN,
        )  # fmt: skip

    @property
    def _summed(self) -> bool:
        return bool(self.past) and self.past[0].asked.text == SUMMARISE

    def _summarised(self) -> Generator[Question, Any, None]:
        """Ask the model for a summary, which replaces the history so far."""
        self.now = [Said("user", SUMMARISE)]
        output = yield replace(self.question(), answer="text", again=False)
        reply = Said("assistant", SUPPOSED) if output is SUPPOSED else _reply(output)
        self.dropped += len(self.past) - self._summed
        self.past = [Exchange(Said("user", SUMMARISE), reply)]

    def _examples(self, observation: Any) -> list[Exchange]:
        """Solve some exercises of a seed that no test has; one that shows the same is left out."""
        shown, made, i = self.tool.presentation, list[Exchange](), 0
        here = shown.words(observation)
        while len(made) < self.manner.few_shot:
            exercise = self.tool.exercise(EXAMPLES, i)
            seen, i = Episode(exercise).waiting[0], i + 1
            if shown.words(seen) != here:
                answer = str(shown.item(exercise)["answer"])
                made.append(Exchange(self._shown(seen), Said("assistant", self.written(answer))))
        return made

    def written(self, answer: str) -> str:
        """Write an answer as the model shall write it; a call of the tool is made of it later."""
        forms = {"text": f"ANSWER: {answer}", "schema": f'{{"thoughts": "", "answer": "{answer}"}}'}
        return forms.get(self.manner.answer, answer)

    # ------------------------------------------------------------ what is heard

    def reading(self, output: Any, observation: Any) -> Reading:
        """Read the action in a reply as Inspect has it: a call of the tool, an object, or text."""
        how, calls = self.manner.answer, output.message.tool_calls if output.choices else None
        if how == "tool" and calls:
            return read_call(self.tool, calls, observation)
        found = read_object(self.tool, output.completion, observation) if how == "schema" else None
        return found or read_reply(
            self.tool, output.completion, observation, str(output.stop_reason)
        )

    def hear(self, found: Reading, observation: Any, random: Random) -> Any | Failure | None:
        """Return the action that a reply means; None if the model is to be asked once more."""
        self.readings.append(found)
        if found.read:
            return found.action
        self.bad += 1
        return None if self.bad <= AGAIN else self._instead(found.action, observation, random)

    def complaint(self, why: str) -> str:
        """Tell the model why its reply could not be read, and how it shall answer."""
        return f"Your reply could not be read: {why}. Answer once more. {self.how}"

    def _instead(self, failure: Failure, observation: Any, random: Random) -> Any | Failure:
        """Return the default action, or the failure where the answer was all that was asked for.

        An exercise of several steps fails only if its first steps all go without an answer.
        """
        if self.task.abstains:
            self.defaults += 1
            return failure
        self.silent += not any(one.read for one in self.readings)
        if self.task.steps == 1 or self.silent >= min(SILENT, self.task.steps):
            return failure
        self.defaults += 1
        space: Any = self.task.actions
        action = self.tool.presentation.default_action
        if action is None or not space.contains(action):
            action = self._drawn(observation, random)
        label = space.listed([action]) if isinstance(space, Discrete) else action
        self.note = f"Your last reply could not be read, so this was done for you: {label}."
        return action

    def _drawn(self, observation: Any, random: Random) -> Any:
        """Draw one of the actions that are allowed now."""
        legal = legal_actions(self.task, observation)
        return legal[random.below(len(legal))]


def legal_actions(task: Task, observation: Any) -> Sequence[Any]:
    """List the actions that are allowed now."""
    space: Any = task.actions
    return list(space.allowed(observation))


def _reply(output: Any) -> Said:
    return Said("assistant", output.completion, raw=output.message if output.choices else None)
