"""A language model as a mind: ``llm(openai/gpt-4o)``, with every provider that Inspect has.

What it is told and how it is read is in `inspect_words`, the same for the Inspect tasks. Inspect is
imported when a model is first asked, and not before. `spending` guards the costs: a most, or a dry
run in which no model is asked.

A fault of the provider (429, a lost connection, a server's error) is not one of the model: it is
asked again, the wait is not counted as the model's time, and if the fault stays the exercise is
`missing`. A key that is refused (401, 403) stops everything at once.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import re
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from allminds.bridges.inspect_words import Conversation, Turn, legal_actions
from allminds.contracts import Failure, Instrument, MindBase, Subject, Task, Traits
from allminds.core.errors import Error
from allminds.core.frames import shown
from allminds.core.seeding import Random
from allminds.core.watch import Failed, away
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


# ---------------------------------------------------------------- what it costs


@dataclass
class Ledger:
    """What language models were asked, and what it cost; without a price the cost is None."""

    most: float | None = None  # dollars
    price: tuple[float, float] | None = None  # dollars per million tokens, in and out
    dry: bool = False
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    unasked: int = 0  # calls that were not made, because the money was spent

    def add(self, tokens_in: int, tokens_out: int, cost: float | None = None) -> None:
        """One more call; its cost by the price, if Inspect has none."""
        self.calls += 1
        self.input_tokens += tokens_in
        self.output_tokens += tokens_out
        if cost is None and self.price is not None:
            cost = (tokens_in * self.price[0] + tokens_out * self.price[1]) / 1e6
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    @property
    def spent(self) -> bool:
        """Whether nothing more may be asked."""
        return self.most is not None and self.cost is not None and self.cost >= self.most

    def as_json(self) -> dict[str, Any]:
        """Its figures."""
        figures = ("calls", "input_tokens", "output_tokens", "cost", "dry")
        return {name: value for name, value in asdict(self).items() if name in figures}

    def __str__(self) -> str:
        about = "about " if self.dry else ""
        cost = "price unknown" if self.cost is None else f"{about}${self.cost:,.4f}"
        out = "" if self.dry else f", {self.output_tokens:,} out"
        verb = "would be asked" if self.dry else "were asked"
        return (
            f"language models {verb} {self.calls:,} times: {about}{self.input_tokens:,} tokens in"
            f"{out}; {cost}"
        )


_ledger: ContextVar[Ledger | None] = ContextVar("allminds_llm_ledger", default=None)


@contextlib.contextmanager
def spending(most: float | None = None, price: str = "", dry: bool = False) -> Iterator[Ledger]:
    """Count what language models cost while this lasts, and ask them no more once it is `most`.

    What is left of the exercises is missing then, and what was paid for stays. `price` is dollars
    per million tokens in and out, such as 2.5/10, for models that Inspect knows no price of. A dry
    run asks nobody: actions are drawn by lot, so that calls can be counted.
    """
    if most is not None and not most > 0:
        raise Error(f"the most that may be spent must be above 0, not {most:g}")
    ledger = Ledger(most, _price(price), dry)
    token = _ledger.set(ledger)
    try:
        yield ledger
    finally:
        _ledger.reset(token)


def _price(text: str) -> tuple[float, float] | None:
    if not text:
        return None
    try:
        low, high = (float(part) for part in text.split("/"))
    except ValueError:
        low = high = -1.0
    if min(low, high) < 0:
        raise Error(f"a price is dollars per million tokens in and out, as 2.5/10, not '{text}'")
    return low, high


# ---------------------------------------------------------------- the mind


@mind("llm")
class LanguageModel(MindBase):
    """A language model by its name in Inspect: llm(openai/gpt-4o) or llm(NAME,form=text).

    Its provider may take `seconds` by the clock for a reply, retries included.
    """

    takes_instrument = True
    traits = Traits(one_at_a_time=True)  # whole exercises are paid for, not beginnings of all

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
        ledger = _ledger.get() or Ledger()
        if ledger.dry:
            return
        self.model = model_named(model)
        if ledger.most is not None and ledger.price is None and not _priced(self.model):
            raise Error(f"no price of {model} is known; give one with --price, as 2.5/10")

    def begin(self, task: Task) -> None:
        """A new conversation."""
        self.task, self.messages = task, []
        self.conversation.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Ask the model, and read its reply."""
        ledger = _ledger.get() or Ledger()
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
        return self.conversation.meant(output.completion, observation, str(output.stop_reason))

    def learn(self, reward: float, observation: Any, done: bool) -> None:  # noqa: ARG002
        """Said with the next question."""
        self.conversation.told(reward)


def is_language_model(subject: Subject) -> bool:
    """Whether somebody is a language model, or a group that has one among its members."""
    maker = getattr(subject.make, "func", None)
    own = isinstance(maker, type) and issubclass(maker, LanguageModel)
    return own or any(is_language_model(member) for member in subject.members)


def message(turn: Turn) -> Any:
    """What a model is told next, as a message of Inspect's."""
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    if turn.picture is None:
        return ChatMessageUser(content=turn.text)
    data = f"data:image/png;base64,{base64.b64encode(turn.picture).decode()}"
    return ChatMessageUser(content=[ContentText(text=turn.text), ContentImage(image=data)])


@functools.cache
def model_named(name: str) -> Any:
    """A model of Inspect's; one beginning with mockllm/ says the rest of its name."""
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
    """One loop for all calls, in a thread of its own: providers keep connections in it."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="allminds-llm", daemon=True).start()
    return loop


class Call:
    """One question to a model, asked again while its provider is at fault.

    After a provider that stayed at fault, other questions to it are asked once each, until it has
    answered one: an outage costs its waits once, not for every exercise.
    """

    down: ClassVar[set[str]] = set()  # models whose provider was at fault last

    def __init__(self, model: Any, messages: list[Any], seconds: float) -> None:
        self.model, self.messages, self.seconds = model, messages, seconds

    def result(self) -> Any:
        """Wait for the answer; call it off if somebody breaks in."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(self._asked(), _loop())
        try:
            with away():
                return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _once(self, config: Any) -> Any:
        """Ask once; an attempt that takes too long is a time-out of the model's."""
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
    """What comes of a provider's exception: missing, or failed if the request was at fault.

    A model that cannot be asked at all, for want of a key or of money, stops everything.
    """
    status, said = status_of(error), _said(error)
    if status in NO_ENTRY or getattr(error, "code", None) == "insufficient_quota":
        raise Error(f"{model} cannot be asked ({status}): {said}; mend that and begin again")
    return rejected(error) or Failure("missing", f"{model} could not be asked: {said}")


def rejected(error: Exception) -> Failure | None:
    """The failure of a conversation that the provider does not take, if that is what is wrong."""
    if status_of(error) not in REJECTED:
        return None
    return Failure("error", f"the provider did not take the conversation: {_said(error)}")


def passing(error: Exception) -> bool:
    """True for a fault that asking again may mend."""
    if isinstance(error, _BUGS) or getattr(error, "code", None) == "insufficient_quota":
        return False
    status = status_of(error)
    return status is None or status in (408, 409, 425, 429) or status >= 500


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status in an exception of any provider, or in what caused it."""
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
