"""Spending: what language models are asked, what it costs, and the most that it may cost.

Money is booked before a call, at what it will likely cost, and settled after it, at what the
provider says. A call whose reply never came (a time-out, a connection that was cut) stays booked
at the likely figure and is counted apart, as unconfirmed: the provider may have been paid for it.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from allminds.core.errors import Error

REPLY = 300  # tokens of a likely reply, if nothing else is said
LONGEST_REPLY = 4096  # tokens of the longest reply that is expected of a model without a limit
PICTURE, LARGEST_PICTURE = 765, 1600  # tokens of an image, likely and at most
COMPLAINT = 150  # tokens that say why a reply could not be read
FRAME = 4  # tokens of a message besides its content
_PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]|_|\n")
LETTERS = 8  # of a word in one token, at most

# what is counted of replies: with an answer, written as asked for, without; and defaults
COUNTED = ("read", "read_strictly", "unread", "defaults")
Price = tuple[float, float]  # dollars per million tokens, in and out


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text: words of up to 8 letters, 3 digits, or one other mark each."""
    return sum(-(-len(piece) // LETTERS) for piece in _PIECES.findall(text))


class Guess(NamedTuple):
    """The tokens that a call will take: likely, and at most."""

    input: int
    output: int
    most_input: int
    most_output: int
    again: bool = False  # it may be made once more, with its reply and why it was not read


@dataclass(frozen=True)
class Use:
    """What one reply took, as its provider counted; None where it did not say."""

    input_tokens: int
    output_tokens: int  # with those of reasoning
    reasoning_tokens: int | None = None
    cost: float | None = None
    estimated: bool = False  # the provider did not count, and the tokens are a guess


@dataclass(eq=False)
class Booking:
    """Money that is booked for a call which is not settled yet."""

    guess: Guess
    cost: float | None


@dataclass
class Ledger:
    """What language models were asked, and what it cost; without a price the cost is None."""

    most: float | None = None  # dollars
    price: Price | None = None
    dry: bool = False
    reply: int = REPLY  # tokens of a likely reply
    refuses: str = ""  # why no model may be asked at all
    calls: int = 0  # that were answered; of a dry run, that would be made
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = 0.0
    estimated: int = 0  # answered calls whose provider did not count, booked by estimate
    unconfirmed: int = 0  # calls whose reply never came
    unconfirmed_tokens: tuple[int, int] = (0, 0)  # in and out, as they were booked
    unconfirmed_cost: float = 0.0
    at_most: tuple[int, int] = (0, 0)  # tokens of a dry run, in and out
    most_cost: float | None = 0.0  # of a dry run
    stored: int = 0  # replies that were paid for before, and taken from the record
    unasked: int = 0  # calls that were not made, because the money was spent
    read: int = 0  # replies in which an answer was found
    read_strictly: int = 0  # of these, those that were written as it was asked for
    unread: int = 0  # replies in which none was found: the model was asked once more, or failed
    defaults: int = 0  # steps at which a default action stood for the model's
    _open: set[Booking] = field(default_factory=set, repr=False)
    _settled: threading.Condition = field(default_factory=threading.Condition, repr=False)

    # ------------------------------------------------------------ one call

    def book(self, guess: Guess, price: Price | None = None) -> Booking | None:
        """Book a call at its likely cost; return None if the money is spent.

        A call waits for others to be settled if all of them together might cost too much, so that
        one call at most exceeds the limit, however many are made at once.
        """
        booking = Booking(guess, _cost(self.price or price, guess.input, guess.output))
        with self._settled:
            while self.most is not None:
                if self.spent:
                    return None
                due = sum(one.cost or 0.0 for one in (*self._open, booking))
                if not self._open or self._paid + due <= self.most:
                    break
                self._settled.wait()
            self._open.add(booking)
        return booking

    def settle(self, booking: Booking, use: Use) -> Use:
        """Settle a call at what its provider counted; return this with the cost by the price."""
        cost = use.cost
        if cost is None:
            cost = _cost(self.price, use.input_tokens, use.output_tokens)
        with self._settled:
            self.calls += 1
            self.estimated += use.estimated
            self.input_tokens += use.input_tokens
            self.output_tokens += use.output_tokens
            self.reasoning_tokens += use.reasoning_tokens or 0
            self.cost = None if cost is None or self.cost is None else self.cost + cost
            self._close(booking)
        return replace(use, cost=cost)

    def lose(self, booking: Booking) -> None:
        """Count an attempt whose reply never came, at the figure that was booked for it."""
        with self._settled:
            self.unconfirmed += 1
            (given, made), guess = self.unconfirmed_tokens, booking.guess
            self.unconfirmed_tokens = given + guess.input, made + guess.output
            self.unconfirmed_cost += booking.cost or 0.0

    def close(self, booking: Booking) -> None:
        """End a booking that came to nothing; one that was settled is closed already."""
        with self._settled:
            self._close(booking)

    def _close(self, booking: Booking) -> None:
        self._open.discard(booking)
        self._settled.notify_all()

    def suppose(self, guess: Guess) -> None:
        """Count a call of a dry run."""
        self.calls += 1
        self.input_tokens += guess.input
        self.output_tokens += guess.output
        times = 2 if guess.again else 1
        most = times * guess.most_input + (times - 1) * (guess.most_output + COMPLAINT)
        self.at_most = self.at_most[0] + most, self.at_most[1] + times * guess.most_output
        self.cost = _cost(self.price, self.input_tokens, self.output_tokens)
        self.most_cost = _cost(self.price, *self.at_most)

    def note(self, counts: Mapping[str, int]) -> None:
        """Add to the counts of replies that were read, strictly and not, and of defaults."""
        with self._settled:
            for name in COUNTED:
                setattr(self, name, getattr(self, name) + counts[name])

    # ------------------------------------------------------------ what it came to

    @property
    def _paid(self) -> float:
        return (self.cost or 0.0) + self.unconfirmed_cost

    @property
    def spent(self) -> bool:
        """Whether nothing more may be asked."""
        return self.most is not None and self.cost is not None and self._paid >= self.most

    def as_json(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        names = ["calls", "input_tokens", "output_tokens", "reasoning_tokens", "cost", "dry"]
        if self.dry:
            most = {"input_tokens": self.at_most[0], "output_tokens": self.at_most[1]}
            return {name: getattr(self, name) for name in names} | {
                "reply_tokens": self.reply, "at_most": most | {"cost": self.most_cost}
            }  # fmt: skip
        names += ["stored", "estimated", *COUNTED]
        given, made = self.unconfirmed_tokens
        return {name: getattr(self, name) for name in names} | {
            "unconfirmed": {
                "calls": self.unconfirmed, "input_tokens": given, "output_tokens": made,
                "cost": None if self.cost is None else self.unconfirmed_cost,
            }
        }  # fmt: skip

    def __str__(self) -> str:
        return self._supposed() if self.dry else self._asked()

    def _supposed(self) -> str:
        cost, most = self.cost, self.most_cost
        price = "price unknown" if cost is None else f"about ${cost:,.4f}, at most ${most:,.4f}"
        return (
            f"language models would be asked {self.calls:,} times: about {self.input_tokens:,} "
            f"tokens in and {self.output_tokens:,} out, at {self.reply:,} a reply (at most "
            f"{self.at_most[0]:,} in and {self.at_most[1]:,} out); {price}"
        )

    def _asked(self) -> str:
        thought = f" ({self.reasoning_tokens:,} of reasoning)" if self.reasoning_tokens else ""
        cost = "price unknown" if self.cost is None else f"${self.cost:,.4f}"
        told = [
            f"language models were asked {self.calls:,} times: {self.input_tokens:,} tokens in, "
            f"{self.output_tokens:,} out{thought}; {cost}"
        ]
        if self.estimated:
            told.append(f"the provider counted no tokens of {self.estimated:,}: they are estimated")
        if self.unconfirmed:
            dollars = "" if self.cost is None else f", for ${self.unconfirmed_cost:,.4f} at most"
            told.append(f"{self.unconfirmed:,} more calls had no reply and may be billed{dollars}")
        if self.stored:
            told.append(f"{self.stored:,} replies were in the run already, and not asked again")
        loose = self.read - self.read_strictly
        if loose:
            told.append(f"{loose:,} answers were not written as asked, and read all the same")
        if self.unread:
            told.append(
                f"{self.unread:,} replies could not be read; at {self.defaults:,} steps a default "
                "action was taken instead"
            )
        return "; ".join(told)


def _cost(price: Price | None, tokens_in: int, tokens_out: int) -> float | None:
    return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1e6


LEDGER: ContextVar[Ledger | None] = ContextVar("allminds_ledger", default=None)


def ledger_now() -> Ledger:
    """Return the ledger that is open, or one that nobody reads."""
    return LEDGER.get() or Ledger()


def is_dry() -> bool:
    """Return True in a dry run, in which a test that may end early goes on to its end."""
    return ledger_now().dry


@contextlib.contextmanager
def spending(
    most: float | None = None,
    price: str = "",
    dry: bool = False,
    reply_tokens: int = REPLY,
) -> Iterator[Ledger]:
    """Count what language models cost while this lasts, and ask them no more once it is `most`.

    What is left of the exercises is missing then, and what was paid for stays. `price` is dollars
    per million tokens in and out, such as 2.5/10, for models that Inspect knows no price of. A dry
    run asks nobody: actions are drawn by lot, so that calls can be counted, and replies are taken
    to have `reply_tokens`.
    """
    if most is not None and not most > 0:
        raise Error(f"the most that may be spent must be above 0, not {most:g}")
    ledger = Ledger(most, _price(price), dry, reply_tokens)
    token = LEDGER.set(ledger)
    try:
        yield ledger
    finally:
        LEDGER.reset(token)


def refuse(what: str) -> None:
    """Ask no language model from now on, unless `spending` is opened."""
    LEDGER.set(Ledger(refuses=f"{what} asks no language model; give it minds that cost nothing"))


def _price(text: str) -> Price | None:
    if not text:
        return None
    try:
        low, high = (float(part) for part in text.split("/"))
    except ValueError:
        low = high = -1.0
    if min(low, high) < 0:
        raise Error(f"a price is dollars per million tokens in and out, as 2.5/10, not '{text}'")
    return low, high
