"""Asking the models of Inspect: one question, asked again while its provider is at fault.

A fault of the provider (429, a lost connection, a server error) is not a failure of the model: it
is asked again, the wait does not count as the model's time, and if the fault persists the exercise
is `missing`. A rejected key, no money or no such model (401 to 404) stops the whole run at once.
Inspect is imported only when a model is first made.

`ask` is the one way to a model: it looks for a reply that was paid for before, books the call,
asks, settles, and keeps the reply.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from allminds.bridges.conversation import Question
from allminds.bridges.messages import config_of, messages, tools_of
from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.core.messages import MEMBER
from allminds.core.spending import (
    FRAME,
    LARGEST_PICTURE,
    LONGEST_REPLY,
    PICTURE,
    Booking,
    Guess,
    Ledger,
    Price,
    Use,
    ledger_now,
    tokens_of,
)
from allminds.core.transcripts import CONNECTIONS, PLAYING, SHEET, Reply, Sheet
from allminds.core.user_code import shown
from allminds.core.watch import Failed, away

if TYPE_CHECKING:
    import asyncio

MOCK = "mockllm/"  # mockllm/b says b to everything, and needs no network
WAITS = (2.0, 5.0, 15.0, 30.0, 60.0, 120.0)  # seconds before a provider at fault is asked again
LONGEST_WAIT = 600.0  # seconds, if the provider itself says how long
ABOUT_THE_TOOL = 80  # tokens that say what a call, or an object, must be like
_BUGS = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)
NO_ENTRY = (401, 402, 403, 404)  # no key, no money, no such model: asking again is of no use
REJECTED = (400, 413, 422)  # what was sent is too long or not allowed: a failure, and it counts


@functools.cache
def model_named(name: str) -> Any:
    """Make a model of Inspect; one named mockllm/TEXT always replies TEXT."""
    try:
        from inspect_ai.model import ModelOutput, ModelUsage, get_model
    except ModuleNotFoundError:
        raise Error("language models need Inspect: pip install 'allminds[llm]'") from None
    if not name.startswith(MOCK):
        try:
            return _without_retries(get_model(name, memoize=False))
        except Exception as error:  # every provider has its own
            said = " ".join(re.sub(r"\[/?\w+\]", "", str(error)).split())  # without its markup
            said = said.removeprefix("ERROR: ")[:300]
            raise Error(f"Inspect cannot make the model {name}: {said}") from None

    def says_its_name(*_given: Any) -> Any:
        output = ModelOutput.from_content(name, name.removeprefix(MOCK))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(name, custom_outputs=says_its_name)


def _without_retries(model: Any) -> Any:
    """Keep a provider's own client from asking again by itself: every attempt is booked here."""
    client = getattr(model.api, "client", None)
    if client is not None and isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
    return model


def price_of(model: Any) -> Price | None:
    """Return the price of a model in Inspect's list, if it is there."""
    from inspect_ai.model import get_model_info

    info = get_model_info(model)
    return None if info is None or info.cost is None else (info.cost.input, info.cost.output)


# ---------------------------------------------------------------- one question


def ask(model: Any, question: Question, seconds: float, slot: int = 0) -> Any:
    """Return a model's reply to a question, as Inspect has it, or a `Failure`.

    A reply that the run has stored is not asked for again.
    """
    ledger, sheet, name = ledger_now(), SHEET.get(), str(model)
    sent = Sent(messages(question), config_of(question), tools_of(question))
    request = sent.fingerprint()
    stored = sheet.find(slot, name, request) if sheet else None
    if stored is not None:
        from inspect_ai.model import ModelOutput

        ledger.stored += 1
        return ModelOutput.model_validate_json(stored.output)
    if ledger.refuses:
        raise Error(ledger.refuses)
    if sheet is not None and sheet.stopped.is_set():
        return Failure("missing", "not asked, for the run was stopped")
    with away():
        booking = ledger.book(guess(question, ledger), price_of(model))
    if booking is None:
        ledger.unasked += 1
        return Failure("missing", f"not asked, for ${ledger.most:g} are spent")
    try:
        output, took = Call(model, sent, seconds, ledger, booking, sheet).result()
    except Failed:  # it took too long
        raise
    except Exception as error:  # every provider has its own
        return fault(error, name)
    finally:
        ledger.close(booking)
    use = ledger.settle(booking, _use(output, booking))
    if sheet is not None:
        sheet.add(_entry(name, slot, request, question, output, use, took))
    return output


class Sent(NamedTuple):
    """What a model is sent, as Inspect has it."""

    messages: list[Any]
    config: Any  # generation settings, or None
    tools: list[Any]

    def fingerprint(self) -> str:
        """Hash what is sent: the same conversation with the same settings has the same hash."""
        said = [
            one.model_dump(mode="json", exclude={"id"}, exclude_none=True) for one in self.messages
        ]
        parts: list[Any] = [said, _dumped(self.config)]
        parts += [[_dumped(one) for one in self.tools]] if self.tools else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _dumped(thing: Any) -> Any:
    return None if thing is None else thing.model_dump(mode="json", exclude_none=True)


def guess(question: Question, ledger: Ledger) -> Guess:
    """Estimate the tokens of a call; what a dry run supposes to be replies counts as such."""
    longest = question.manner.max_tokens or max(LONGEST_REPLY, ledger.reply)
    likely = min(ledger.reply, longest)
    given = most = ABOUT_THE_TOOL if question.answer in ("tool", "schema") else 0
    for one in question.said:
        if one.supposed:
            given, most = given + FRAME + likely, most + FRAME + longest
            continue
        text, pictures = FRAME + tokens_of(one.text), int(one.picture is not None)
        given, most = given + text + pictures * PICTURE, most + text + pictures * LARGEST_PICTURE
    return Guess(given, likely, most, longest, question.again)


def _use(output: Any, booking: Booking) -> Use:
    """Return what a reply took; a provider that counted nothing is estimated, as in a dry run."""
    usage, given = output.usage, 0
    if usage is not None:  # Inspect counts tokens of a provider's cache apart
        cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
        given = usage.input_tokens + sum(one or 0 for one in cached)
    if not given:
        return Use(booking.guess.input, tokens_of(output.completion), estimated=True)
    return Use(given, usage.output_tokens, usage.reasoning_tokens, usage.total_cost)


def _entry(
    model: str, slot: int, request: str, question: Question, output: Any, use: Use, took: float
) -> Reply:
    """Write down a question and its reply; of the conversation only what was new."""
    said = question.said
    last = max((n for n, one in enumerate(said, 1) if one.role == "assistant"), default=0)
    told = []
    for one in said[last:]:
        told += [*filter(None, [one.text]), *["[an image]"] * (one.picture is not None)]
    return Reply(
        index=PLAYING.get(), slot=slot, model=model, request=request, asked="\n".join(told),
        reply=_written(output), stop=str(output.stop_reason), input_tokens=use.input_tokens,
        output_tokens=use.output_tokens, reasoning_tokens=use.reasoning_tokens, cost=use.cost,
        seconds=round(took, 3), output=output.model_dump_json(exclude_none=True),
        member=MEMBER.get(),
        left_out=question.left_out,
    )  # fmt: skip


def _written(output: Any) -> str:
    """Write a reply as text, with the calls of tools that it makes."""
    calls = (output.message.tool_calls or []) if output.choices else []
    told = [f"[{one.function}({json.dumps(one.arguments)})]" for one in calls]
    return "\n".join(filter(None, [output.completion, *told]))


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Start one event loop in its own thread for all calls, so that connections are reused."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="allminds-llm", daemon=True).start()
    return loop


@functools.cache
def _places(connections: int) -> asyncio.Semaphore:
    """Return the places for so many calls at once, which all threads share."""
    import asyncio

    return asyncio.Semaphore(connections)


class Call:
    """One question to a model, asked again while its provider is at fault.

    If a provider stays at fault, further questions to it are asked only once each, until it has
    answered one, so that an outage costs the waiting times once, not for every exercise.
    """

    down: ClassVar[set[str]] = set()  # models whose provider was at fault last
    open: ClassVar[set[Any]] = set()  # what is waited for now

    def __init__(
        self,
        model: Any,
        sent: Sent,
        seconds: float,
        ledger: Ledger,
        booking: Booking,
        sheet: Sheet | None = None,
    ) -> None:
        self.model, self.sent, self.seconds = model, sent, seconds
        self.ledger, self.booking, self.sheet = ledger, booking, sheet

    def result(self) -> tuple[Any, float]:
        """Wait for the answer and the seconds it took; cancel if the wait is interrupted."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(self._asked(), _loop())
        self.open.add(future)
        try:
            with away():
                return future.result()
        except BaseException:
            future.cancel()
            raise
        finally:
            self.open.discard(future)

    @classmethod
    def cancel_all(cls) -> None:
        """Give up all calls that are waited for."""
        for future in list(cls.open):
            future.cancel()

    async def _once(self, config: Any) -> tuple[Any, float]:
        """Ask once; an attempt that takes too long counts as a time-out of the model."""
        import asyncio

        tools: dict[str, Any] = {"tools": self.sent.tools} if self.sent.tools else {}
        async with _places(self.sheet.connections if self.sheet else CONNECTIONS):
            begun = time.perf_counter()
            try:
                async with asyncio.timeout(self.seconds) as limit:
                    output = await self.model.generate(self.sent.messages, config=config, **tools)
                    return output, time.perf_counter() - begun
            except TimeoutError:
                self.ledger.lose(self.booking)
                if not limit.expired():  # the provider's own
                    raise
                said = f"the provider gave no reply within {self.seconds:g} s"
                raise Failed(Failure("timeout", said)) from None
            except asyncio.CancelledError:
                self.ledger.lose(self.booking)
                raise
            except Exception as error:
                if status_of(error) is None and passing(error):  # it may have replied to nobody
                    self.ledger.lose(self.booking)
                raise

    async def _asked(self) -> tuple[Any, float]:
        import asyncio

        from inspect_ai.model import GenerateConfig

        # Inspect would ask for ever, and not say so; how many are asked at once is said here
        once = GenerateConfig(max_retries=0, max_connections=10_000)
        config = once if self.sent.config is None else self.sent.config.merge(once)
        name = str(self.model)
        for wait in (*(() if name in self.down else WAITS), None):
            try:
                found = await self._once(config)
            except Failed:
                raise
            except Exception as error:
                if wait is None or not passing(error) or self._is_over():
                    if passing(error):
                        self.down.add(name)
                    raise
                wait = retry_after(error, wait)
            else:
                self.down.discard(name)
                return found
            await asyncio.sleep(wait)
        raise AssertionError  # the last attempt returns or raises

    def _is_over(self) -> bool:
        """Return True if no attempt may follow: the run was stopped, or the money is spent."""
        return self.ledger.spent or (self.sheet is not None and self.sheet.stopped.is_set())


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


def retry_after(error: BaseException | None, otherwise: float) -> float:
    """Return the seconds that a provider asked to wait for, in an exception or in its cause."""
    if error is None:
        return otherwise
    headers = getattr(getattr(error, "response", None), "headers", None)
    with contextlib.suppress(AttributeError, TypeError, ValueError):
        return min(LONGEST_WAIT, max(0.0, float(headers.get("retry-after"))))  # type: ignore[union-attr]
    return retry_after(error.__cause__, otherwise)


def passing(error: Exception) -> bool:
    """Return True for a fault that may disappear if the model is asked again."""
    if isinstance(error, json.JSONDecodeError):  # half a reply
        return True
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
    if type(error).__name__ == "RetryError" and error.__cause__ is not None:  # Inspect's wrapping
        error = error.__cause__
    return shown(error, lambda one: " ".join(f"{type(one).__name__}: {one}".split()))
