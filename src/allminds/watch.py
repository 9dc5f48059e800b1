"""A watch over minds that hang, without reading a clock at every move."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from allminds.contracts import Failure
from allminds.errors import Error


class Hang(BaseException):
    """Raised inside a mind's own code when it has not answered in time.

    Not an `Exception`, so that a mind's ``except Exception`` does not swallow it. A mind that was
    kept waiting by somebody else may go on; it is broken in upon again half the `seconds` later.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Failed(Exception):
    """Raised by a protocol whose member failed: the failure is the group's."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def malformed(action: Any) -> Failure:
    """The failure of a mind that gave this for an action."""
    return Failure("malformed", f"{shown(action, repr)} is not one of the actions")


def shown(thing: Any, how: Callable[[Any], str]) -> str:
    """What somebody else's object says of itself, if it can, cut short and fit for a file."""
    try:
        text = how(thing)[:200]
    except Exception:
        text = f"<{type(thing).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()


class Watch:
    """Calls a mind's code and breaks in when one call takes 1 to 1.5 times `seconds`.

    A timer ticks in the background; a call is broken off at the third tick within it. So a
    call costs one addition, not a system call. Signals reach the main thread only: in another
    thread, or with ``seconds=0``, minds are not watched.
    """

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds = seconds
        self.calls = 0  # whoever calls minds in a tight loop counts here
        self.inside = False  # and says here that it does
        self._seen = (-1, 0)  # the call seen at the last tick, and for how many ticks

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A mind's own function(*arguments), or the `Failure` that came of it."""
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

    def failure(self, error: BaseException) -> Failure:
        """What a mind's exception comes to; our own errors are the user's to mend."""
        if isinstance(error, Error):
            raise error
        if isinstance(error, Failed):
            return error.failure
        if isinstance(error, Hang):
            return Failure("timeout", f"gave no answer within {self.seconds:g} s")
        return Failure("error", f"{type(error).__name__}: {shown(error, str)}")

    @contextlib.contextmanager
    def running(self) -> Iterator[Watch]:
        """Watch while this lasts."""
        if self.seconds <= 0 or threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, self.seconds / 2, self.seconds / 2)
        try:
            yield self
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _tick(self, _signal: int, _frame: Any) -> None:
        if not self.inside:
            return
        call, ticks = self._seen
        ticks = ticks + 1 if call == self.calls else 1
        self._seen = (self.calls, ticks)
        if ticks >= 3:  # two whole intervals lie between three ticks
            raise Hang(self.seconds)
