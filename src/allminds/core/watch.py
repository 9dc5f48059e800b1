"""The guard over minds: a time limit without a clock at every move."""

from __future__ import annotations

import contextlib
import operator
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from allminds.contracts import Discrete, Failure, Space
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.turns import waiting
from allminds.core.user_code import reason_of, shown, story_of

BY_THE_CLOCK = 10  # times the limit: what a mind that sleeps may take
TICKS = 4  # looks at a mind within its limit
STORIES = 100  # different failures of which the whole story is kept


class Hang(BaseException):
    """Raised inside a mind's own code when it has not answered in time.

    Not an `Exception`, so that a mind's ``except Exception`` does not swallow it.
    """


class Failed(Exception):
    """Raised by a protocol whose member failed: the failure is the group's."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def malformed(action: Any, space: Space, legal: Sequence[Any] | None = None) -> Failure:
    """Describe the failure of a mind that gave a wrong action, with what would be right.

    `legal` are the actions that may be taken now, where not all of the space may.
    """
    given = shown(action, repr)
    if not isinstance(space, Discrete):
        return Failure("malformed", f"{given} is not one of the actions")
    if space.contains(action) and legal is not None:
        now = space.listed(legal) or "none"
        return Failure("malformed", f"{given} is not legal now; legal are {now}")
    hint = meant(action, space)
    word = isinstance(action, str) and not action.strip().isdigit()
    named = word or len(space.labels) <= FEW
    said = f"{given} is not one of the actions {space.listed() if named else space.span}"
    return Failure("malformed", f"{said}; {hint}" if hint else said)


FEW = 4  # labels that are listed even for a number out of range


def meant(action: Any, space: Discrete) -> str:
    """Advise the author of a mind what to return instead; "" for an int out of range."""
    kind = type(action).__name__
    if action is None:
        return "return an int (did act end without return?)"
    if isinstance(action, str) and action in space.labels:
        return f"return the int {space.start + space.labels.index(action)}"
    if isinstance(action, bool):
        return "return an int, not a bool"
    try:
        operator.index(action)
        return ""
    except Exception:  # a mind may hand over anything
        pass
    try:
        number = int(action)
        same = str(number) == action if isinstance(action, str) else bool(number == action)
    except Exception:
        same = False
    if same and space.contains(number):
        return f"return the int {number}, not a {kind}"
    return f"return an int, not a {kind}"


_away = 0  # how many wait for a provider just now


@contextlib.contextmanager
def away() -> Iterator[None]:
    """Stop the clock of every watch while a mind waits for something else, such as a provider.

    Where exercises are played side by side, another one has its turn meanwhile.
    """
    global _away
    _away += 1
    try:
        with waiting():
            yield
    finally:
        _away -= 1


class Watch:
    """A guard that calls a mind's code and interrupts a call that takes too long.

    Too long is 1 to 1.5 times `seconds` of processor time of this thread, so that no mind fails
    because the machine is busy, or ten times that by the clock, so that a mind that sleeps is found
    too. A timer ticks in the background and looks at the call: so a call costs one addition, not a
    system call. Signals reach the main thread only: in another thread, or with ``seconds=0``, minds
    are not watched. Paths in reasons are relative to `folder`, the working directory if empty.
    """

    def __init__(self, seconds: float = 10.0, folder: str = "") -> None:
        self.seconds, self.folder = seconds, folder
        self.calls = 0
        self.answers: Sequence[Any] = ()  # of minds that are called in a tight loop, as they come
        self.inside = False  # whoever makes such a loop says here that it does
        self.stories: dict[str, str] = {}  # reason of a failure -> all frames that led to it
        self._seen = ((-1, 0), 0, 0.0)  # calls at the last tick, ticks in it, processor time then

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a mind's own function(*arguments); return its result or its `Failure`."""
        self.calls += 1
        self.inside = True
        try:
            return function(*arguments)
        except KeyboardInterrupt:  # the user's, not the mind's
            raise
        except BaseException as error:  # a mind may raise anything, SystemExit too
            return self.failure(error)
        finally:
            self.inside = False

    def over(self, subject: Subject) -> Watch:
        """Return this watch, or one without a limit for a mind that comes with allminds."""
        return Watch(0, self.folder) if subject.built_in else self

    def failure(self, error: BaseException) -> Failure:
        """Convert a mind's exception to a `Failure`; an `Error` is the user's and is raised."""
        if isinstance(error, Error):
            raise error
        if isinstance(error, Failed):
            return error.failure
        if isinstance(error, Hang):
            return Failure("timeout", self._too_long())
        reason = reason_of(error, self.folder)
        if reason not in self.stories and len(self.stories) < STORIES:
            self.stories[reason] = story_of(error, self.folder)
        return Failure("error", reason)

    def _too_long(self) -> str:
        if self._seen[1] > BY_THE_CLOCK * TICKS:
            return f"gave no answer within {BY_THE_CLOCK * self.seconds:g} s by the clock"
        return f"gave no answer within {self.seconds:g} s of processor time"

    @contextlib.contextmanager
    def running(self) -> Iterator[Watch]:
        """Watch calls as long as this context lasts."""
        if self.seconds <= 0 or threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, self.seconds / TICKS, self.seconds / TICKS)
        try:
            yield self
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _tick(self, _signal: int, _frame: Any) -> None:
        if not self.inside:
            return
        call, ticks, since = self._seen
        now = self.calls, len(self.answers)
        if call != now or _away:
            self._seen = (now, 1, time.thread_time())
            return
        self._seen = (call, ticks + 1, since)
        if time.thread_time() - since >= self.seconds or ticks >= BY_THE_CLOCK * TICKS:
            raise Hang
