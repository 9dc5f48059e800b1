"""Measures of the complexity of a sequence, by name, for the command line and for plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from allminds.complexity.measures import (
    lz76,
    lz76_codes,
    lz76_reference,
    lz78,
    search_space,
    shannon,
    zlib_length,
)
from allminds.core.errors import Error, nearest

__all__ = [
    "MEASURES",
    "Measure",
    "growth",
    "lz76",
    "lz76_codes",
    "lz76_reference",
    "lz78",
    "measure",
    "search_space",
    "shannon",
    "zlib_length",
]


@dataclass(frozen=True)
class Measure:
    """A measure of complexity: a number for a sequence of symbols."""

    description: str
    function: Callable[[Sequence[Hashable]], float]
    of_text: bool = False  # measures the text as it was written, its commas included
    slow: bool = False  # only when asked for by name


def _zlib(symbols: Sequence[Hashable]) -> int:
    if isinstance(symbols, str | bytes):
        return zlib_length(symbols)
    return zlib_length(",".join(map(str, symbols)))


def _levin(symbols: Sequence[Hashable]) -> float:
    from allminds.complexity.levin import complexity

    return complexity("".join(map(str, symbols))).value


MEASURES: dict[str, Measure] = {
    "lz76": Measure("phrases of Lempel and Ziv 1976: K of a Λ* pattern", lz76),
    "lz78": Measure("phrases of Ziv and Lempel 1978", lz78),
    "zlib": Measure("bytes after zlib, level 6: K_approx of a Λ pattern", _zlib, of_text=True),
    "entropy": Measure("bits per symbol of the symbols' frequencies", shannon),
    "levin": Measure(
        "instructions + log2 steps of the cheapest program: k of a letter series", _levin, slow=True
    ),
    # A new measure is one more line here.
}


def measure(sequence: str, name: str) -> float | int:
    """Measure the complexity of a sequence written as text, by the measure of that name.

    With a comma in it the text is a list of symbols; without, each character is one.
    """
    if name not in MEASURES:
        raise Error(f"there is no measure '{name}': {nearest(name, MEASURES)}")
    chosen = MEASURES[name]
    symbols = _symbols(sequence)
    return chosen.function(sequence if chosen.of_text else symbols)


def growth(sequence: str, name: str) -> list[tuple[int, float]]:
    """Measure every beginning of a sequence, and pair it with its number of symbols."""
    measure(sequence, name)  # what is wrong with it is found here
    symbols = _symbols(sequence)
    joint = "," if "," in sequence else ""
    # one letter is no series, and a first symbol of several letters would be taken for several
    first = 2 if MEASURES[name].slow or len(symbols[0]) > 1 else 1
    return [(n, measure(joint.join(symbols[:n]), name)) for n in range(first, len(symbols) + 1)]


def _symbols(text: str) -> Sequence[str]:
    if not text:
        raise Error("the sequence is empty: write symbols such as 0110 or 7,3,4")
    if "," not in text:
        return text
    symbols = [symbol.strip() for symbol in text.split(",")]
    if "" in symbols:
        place = symbols.index("") + 1
        raise Error(f"symbol {place} of '{text}' is empty: write one symbol between two commas")
    return symbols
