"""A language model as a mind: ``llm(openai/gpt-4o)``, with every provider that Inspect has.

`Conversation` is what one model in one slot of one exercise is told and asked, and how its replies
are read. It does not call the model, so that the mind `llm` and the Inspect tasks share the same
words. Inspect is imported only when a model is first made. `spending` controls the costs: a
maximum, or a dry run in which no model is asked.

A fault of the provider (429, a lost connection, a server error) is not a failure of the model: it
is asked again, the wait does not count as the model's time, and if the fault persists the exercise
is `missing`. A rejected key, no money or no such model (401 to 404) stops the whole run at once.
"""

from __future__ import annotations

import base64
import functools
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from allminds.bridges.replies import Reading, read_reply
from allminds.contracts import Failure, Instrument, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.user_code import shown
from allminds.core.watch import LEDGER, Failed, Ledger, away
from allminds.registry import mind

if TYPE_CHECKING:
    import asyncio

MOCK = "mockllm/"  # mockllm/b says b to everything, and needs no network
LETTERS_A_TOKEN = 4  # about, in a dry run
PATIENCE = 600.0  # seconds that a provider may take for a reply
WAITS = (2.0, 5.0, 15.0, 30.0, 60.0, 120.0)  # seconds before a provider at fault is asked again
_BUGS = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)
NO_ENTRY = (401, 402, 403, 404)  # no key, no money, no such model: asking again is of no use
REJECTED = (400, 413, 422)  # what was sent is too long or not allowed: a failure, and it counts
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
        self.readings: list[Reading] = []  # of all replies in the exercise

    def begin(self, task: Task) -> None:
        """Start the conversation about a new exercise."""
        self.task, self.reward, self.readings = task, None, []

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
        """Read the action in a reply; `stop` is Inspect's reason why the reply ended."""
        found = read_reply(self.tool, reply, observation, stop)
        self.readings.append(found)
        return found.action


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
        ledger = LEDGER.get() or Ledger()
        if ledger.dry:
            return
        self.model = model_named(model)
        if ledger.most is not None and ledger.price is None and not _priced(self.model):
            raise Error(f"no price of {model} is known; give one with --price, as 2.5/10")

    def begin(self, task: Task) -> None:
        """Start a new conversation with the model."""
        self.task, self.messages = task, []
        self.conversation.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Ask the model, and read its reply."""
        ledger = LEDGER.get() or Ledger()
        turn = self.conversation.ask(observation)
        if ledger.dry:
            self.messages.append(turn.text)
            ledger.add(sum(map(len, self.messages)) // LETTERS_A_TOKEN, 0)
            legal = legal_actions(self.task, observation)
            return legal[random.below(len(legal))]
        if ledger.spent:
            ledger.unasked += 1
            return Failure("missing", f"not asked, for ${ledger.most:g} are spent")
        self.messages.append(message(turn))
        try:
            output = Call(self.model, list(self.messages), self.seconds).result()
        except Failed:  # it took too long
            raise
        except Exception as error:  # every provider has its own
            return fault(error, str(self.model))
        usage = output.usage
        if usage is not None:
            ledger.add(usage.input_tokens, usage.output_tokens, usage.total_cost)
        else:
            ledger.add(0, 0)
        self.messages.append(output.message)
        action = self.conversation.meant(output.completion, observation, str(output.stop_reason))
        found = self.conversation.readings[-1]
        ledger.note(found.read, found.strict)
        return action

    def learn(self, reward: float, observation: Any, done: bool) -> None:  # noqa: ARG002
        """Store the reward, to tell it with the next question."""
        self.conversation.told(reward)


def message(turn: Turn) -> Any:
    """Convert the next message to a model into Inspect's form."""
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    if turn.picture is None:
        return ChatMessageUser(content=turn.text)
    data = f"data:image/png;base64,{base64.b64encode(turn.picture).decode()}"
    return ChatMessageUser(content=[ContentText(text=turn.text), ContentImage(image=data)])


@functools.cache
def model_named(name: str) -> Any:
    """Make a model of Inspect; one named mockllm/TEXT always replies TEXT."""
    try:
        from inspect_ai.model import ModelOutput, ModelUsage, get_model
    except ModuleNotFoundError:
        raise Error("language models need Inspect: pip install 'allminds[llm]'") from None
    if not name.startswith(MOCK):
        try:
            return get_model(name)
        except Exception as error:  # every provider has its own
            said = " ".join(re.sub(r"\[/?\w+\]", "", str(error)).split())  # without its markup
            said = said.removeprefix("ERROR: ")[:300]
            raise Error(f"Inspect cannot make the model {name}: {said}") from None

    def says_its_name(*_given: Any) -> Any:
        output = ModelOutput.from_content(name, name.removeprefix(MOCK))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(name, custom_outputs=says_its_name)


def _priced(model: Any) -> bool:
    from inspect_ai.model import get_model_info

    info = get_model_info(model)
    return info is not None and info.cost is not None


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Start one event loop in its own thread for all calls, so that connections are reused."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="allminds-llm", daemon=True).start()
    return loop


class Call:
    """One question to a model, asked again while its provider is at fault.

    If a provider stays at fault, further questions to it are asked only once each, until it has
    answered one, so that an outage costs the waiting times once, not for every exercise.
    """

    down: ClassVar[set[str]] = set()  # models whose provider was at fault last

    def __init__(self, model: Any, messages: list[Any], seconds: float) -> None:
        self.model, self.messages, self.seconds = model, messages, seconds

    def result(self) -> Any:
        """Wait for the answer; cancel the question if the wait is interrupted."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(self._asked(), _loop())
        try:
            with away():
                return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _once(self, config: Any) -> Any:
        """Ask once; an attempt that takes too long counts as a time-out of the model."""
        import asyncio

        try:
            async with asyncio.timeout(self.seconds) as limit:
                return await self.model.generate(self.messages, config=config)
        except TimeoutError:
            if not limit.expired():  # the provider's own
                raise
            said = f"the provider gave no reply within {self.seconds:g} s"
            raise Failed(Failure("timeout", said)) from None

    async def _asked(self) -> Any:
        import asyncio

        from inspect_ai.model import GenerateConfig

        name = str(self.model)
        once = GenerateConfig(max_retries=0)  # Inspect would ask for ever, and not say so
        for wait in (*(() if name in self.down else WAITS), None):
            try:
                output = await self._once(once)
            except Failed:
                raise
            except Exception as error:
                if wait is None or not passing(error):
                    if passing(error):
                        self.down.add(name)
                    raise
            else:
                self.down.discard(name)
                return output
            assert wait is not None
            await asyncio.sleep(wait)
        raise AssertionError  # the last attempt returns or raises


# ---------------------------------------------------------------- providers at fault


def fault(error: Exception, model: str) -> Failure:
    """Turn a provider's exception into `missing`, or into `error` if the request was rejected.

    A model that cannot be asked at all, without a key or money, stops the whole run.
    """
    status, said = status_of(error), _said(error)
    if status in NO_ENTRY or getattr(error, "code", None) == "insufficient_quota":
        raise Error(f"{model} cannot be asked ({status}): {said}; mend that and begin again")
    return rejected(error) or Failure("missing", f"{model} could not be asked: {said}")


def rejected(error: Exception) -> Failure | None:
    """Return the failure of a conversation that the provider rejected, or None."""
    if status_of(error) not in REJECTED:
        return None
    return Failure("error", f"the provider did not take the conversation: {_said(error)}")


def passing(error: Exception) -> bool:
    """Return True for a fault that may disappear if the model is asked again."""
    if isinstance(error, _BUGS) or getattr(error, "code", None) == "insufficient_quota":
        return False
    status = status_of(error)
    return status is None or status in (408, 409, 425, 429) or status >= 500


def status_of(error: BaseException | None) -> int | None:
    """Find the HTTP status in an exception of any provider, or in its cause."""
    if error is None:
        return None
    response = getattr(error, "response", None)
    told = [getattr(error, name, None) for name in ("status_code", "status", "code")]
    told.append(getattr(response, "status_code", None))
    if isinstance(response, dict):  # as Amazon's
        told.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    known = (one for one in told if isinstance(one, int) and 400 <= one < 600)
    return next(known, None) or status_of(error.__cause__)


def _said(error: BaseException) -> str:
    return shown(error, lambda one: " ".join(f"{type(one).__name__}: {one}".split()))
