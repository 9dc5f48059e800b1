"""Seeded nonsense: small changes to good inputs, and values that nobody expects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = (
    "0", "-1", "-0", "1", "2", "3.5", ".5", "1e3", "1e309", "-1e309", "nan", "inf", "-inf", "1_0",
    "0x10", "007", "+1", "9" * 20, "9" * 30, "9" * 5000, "1" + "0" * 400, "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "2147483648", "1e-320",
    "٣", "²", "½", "１",
)  # fmt: skip
WORDS = (
    "", " ", "\t", "\n", "\r\n", "\r", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff",
    "\u202e", "\ud800", "\udcff", "é", "ß", "漢", "😀", "a" * 300, "true", "false", "null", "None",
    "NaN", "-", "--", "-h", "=", "==", ",", ",,", ":", "::", "..", "...", "*", "**", "(", ")", "()",
    ")(", "[", "]", "[]", "{", "}", "{}", "{0}", "{x!r}", "{x:>9}", "{{", "%s", "%(x)s", "'", '"',
    '"""', "\\", "\\u0000", "\\ud800", "#", ";", "&", "|", "$x", "`", "<b>", "[red]", "[/]",
    "=1+1", "@1/0/1/2", "(" * 1500, "[" * 1500, "a(" * 1500, "{\"a\":" * 1500,
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, float("nan"), float("inf"), 2**31, 2**63,
    2**64, -(2**63) - 1, 10**400, "", " ", "x", "0", "ok", "\x00", "\ud800", "é", "a" * 300, [],
    [None], [1, "a"], {}, {"a": 1}, {"": None}, [[]], "nan", "random",
)  # fmt: skip


def odd_word(rng: Random) -> str:
    """A piece of text that breaks something somewhere."""
    return rng.choice(NUMBERS if rng.random() < 0.4 else WORDS)


def mutated(rng: Random, text: str, others: Sequence[str], words: Sequence[str] = ()) -> str:
    """A text with one to four small changes; `words` are of its own language."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(_CHANGES)(rng, text, others, words)
    return text[:60_000]


def _span(rng: Random, text: str) -> tuple[int, int]:
    start = rng.randint(0, len(text))
    return start, min(len(text), start + rng.choice((0, 1, 1, 2, 4, 8, 30)))


def _inserted(rng: Random, text: str, _others: Sequence[str], words: Sequence[str]) -> str:
    start, end = _span(rng, text)
    word = rng.choice(words) if words and rng.random() < 0.6 else odd_word(rng)
    return text[:start] + word + text[end if rng.random() < 0.5 else start :]


def _cut(rng: Random, text: str, _others: Sequence[str], _words: Sequence[str]) -> str:
    start, end = _span(rng, text)
    return text[:start] + text[end:] if rng.random() < 0.9 else text[:start]


def _doubled(rng: Random, text: str, _others: Sequence[str], _words: Sequence[str]) -> str:
    start, end = _span(rng, text)
    at = rng.randint(0, len(text))
    return text[:at] + text[start:end] * rng.choice((1, 1, 2, 20)) + text[at:]


def _spliced(rng: Random, text: str, others: Sequence[str], _words: Sequence[str]) -> str:
    other = rng.choice(others) if others else text
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _renumbered(rng: Random, text: str, _others: Sequence[str], _words: Sequence[str]) -> str:
    found = list(re.finditer(r"\d+(\.\d+)?", text))
    if not found:
        return text
    one = rng.choice(found)
    return text[: one.start()] + rng.choice(NUMBERS) + text[one.end() :]


def _other_letter(rng: Random, text: str, _others: Sequence[str], _words: Sequence[str]) -> str:
    if not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))) + text[at + 1 :]


def _lines(rng: Random, text: str, _others: Sequence[str], _words: Sequence[str]) -> str:
    """Lines left out, doubled, or in another order; a value for another."""
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(other, lines[at])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        key, equals, _ = lines[at].partition("=")
        lines[at] = f"{key}{equals} {rng.choice(VALUES)}"
    return "\n".join(lines)


VALUES = (  # of TOML
    *NUMBERS[:12], '"x"', '""', "[]", "{}", "true", "[1, 2]", '["a", "a"]', "{a = 1}", "[{}]",
    "2027-01-01", "2027-01-01T00:00:00Z", "0001-01-01", "07:32:00", "nan", '"\\u0000"', "'''a'''",
    '["random", 3]', "[[[]]]", '"{x}"', '["{rows}"]',
)  # fmt: skip
Change = Callable[[Random, str, Sequence[str], Sequence[str]], str]
_CHANGES: tuple[Change, ...] = (
    _inserted, _inserted, _cut, _cut, _doubled, _spliced, _renumbered, _other_letter, _lines,
)  # fmt: skip


def mutated_bytes(rng: Random, data: bytes) -> bytes:
    """The same for a file that is not text: bits, spans, ends."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(made) + 1)
        how = rng.randrange(4)
        if how == 0 and at < len(made):
            made[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del made[at : at + rng.choice((1, 4, 64, len(made)))]
        elif how == 2:
            made[at:at] = rng.randbytes(rng.choice((1, 4, 16)))
        else:
            made[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"))
    return bytes(made)


def mutated_json(rng: Random, value: Any) -> Any:
    """A JSON value with something inside it replaced, left out, or moved."""
    made = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(made))
        if not places:
            return rng.choice(ODD)
        inside, key = rng.choice(places)
        how = rng.random()
        if how < 0.2:
            del inside[key]
        elif how < 0.3:
            other, name = rng.choice(places)
            inside[key] = json.loads(json.dumps(other[name]))
        elif how < 0.4 and isinstance(inside, dict):
            inside[odd_word(rng)] = inside.pop(key)
        else:
            inside[key] = rng.choice(ODD)
    return made


def _places(value: Any) -> Any:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in list(pairs):
        yield value, key
        if isinstance(inside, (dict, list)):
            yield from _places(inside)
