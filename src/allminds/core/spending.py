"""What minds cost that are paid by the call: a ledger, and a guard over it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

from allminds.core.errors import Error


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
    read: int = 0  # replies in which an answer was found
    read_strictly: int = 0  # of these, those that were written as it was asked for

    def add(self, tokens_in: int, tokens_out: int, cost: float | None = None) -> None:
        """One more call; its cost by the price, if Inspect has none."""
        self.calls += 1
        self.input_tokens += tokens_in
        self.output_tokens += tokens_out
        if cost is None and self.price is not None:
            cost = (tokens_in * self.price[0] + tokens_out * self.price[1]) / 1e6
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def note(self, read: bool, strict: bool) -> None:
        """Count a reply by whether an answer was found, and was written as it was asked for."""
        self.read += read
        self.read_strictly += read and strict

    @property
    def spent(self) -> bool:
        """Whether nothing more may be asked."""
        return self.most is not None and self.cost is not None and self.cost >= self.most

    def as_json(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        figures = (
            "calls", "input_tokens", "output_tokens", "cost", "dry", "read", "read_strictly"
        )  # fmt: skip
        return {name: value for name, value in asdict(self).items() if name in figures}

    def __str__(self) -> str:
        about = "about " if self.dry else ""
        cost = "price unknown" if self.cost is None else f"{about}${self.cost:,.4f}"
        out = "" if self.dry else f", {self.output_tokens:,} out"
        verb = "would be asked" if self.dry else "were asked"
        loose = self.read - self.read_strictly
        form = f"; {loose:,} answers were not written as asked, and read all the same"
        return (
            f"language models {verb} {self.calls:,} times: {about}{self.input_tokens:,} tokens in"
            f"{out}; {cost}{form if loose else ''}"
        )


LEDGER: ContextVar[Ledger | None] = ContextVar("allminds_llmLEDGER", default=None)


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
    token = LEDGER.set(ledger)
    try:
        yield ledger
    finally:
        LEDGER.reset(token)


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
