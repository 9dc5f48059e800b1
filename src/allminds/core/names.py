"""The little language of names: ``name``, ``name(arg, key=value)``, ``group(member*3, other)``.

A name may hold ``/ . : -``, so ``llm(openai/gpt-4o)``, ``file.py:MyMind`` and
``stigmergy(local-search*3, expert(intercept=false))`` are all names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from allminds.core.errors import Error

_TOKEN = re.compile(r"\s*(?:([(),=*])|([^\s(),=*]+))")


MOST_COPIES = 100_000  # of a member: more than any environment has slots
MOST_DEEP = 50  # brackets within brackets


@dataclass(frozen=True)
class Name:
    """A parsed name: the word, its arguments and keywords, and how often it is repeated."""

    name: str
    arguments: tuple[Name, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    times: int = 1

    def __str__(self) -> str:
        inside = [str(argument) for argument in self.arguments]
        inside += [f"{key}={value}" for key, value in self.keywords]
        text = f"{self.name}({','.join(inside)})" if inside else self.name
        return text if self.times == 1 else f"{text}*{self.times}"


def parse(text: str) -> Name:
    """Parse one name; the error says where the text breaks off."""
    names = parse_all(text)
    if len(names) > 1:
        raise Error(f"cannot read the name '{text}': ',' is not expected after it")
    return names[0]


def parse_all(text: str) -> tuple[Name, ...]:
    """Parse names with commas between them, as of a line-up: ``tit-for-tat, defect*3``."""
    parser = _Parser(text)
    names = [parser.name()]
    while parser.peek() == ",":
        parser.take()
        names.append(parser.name())
    if parser.peek():
        raise parser.error(f"'{parser.peek()}' is not expected after it")
    return tuple(names)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [symbol or word for symbol, word in _TOKEN.findall(text)]
        self.at = 0
        self.deep = 0  # brackets that are open

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def error(self, what: str) -> Error:
        return Error(f"cannot read the name '{self.text}': {what}")

    def word(self, what: str) -> str:
        token = self.take()
        if not token or token in "(),=*":
            raise self.error(f"{what} is missing" + (f" before '{token}'" if token else ""))
        return token

    def name(self) -> Name:
        word = self.word("a name")
        arguments: list[Name] = []
        keywords: list[tuple[str, str]] = []
        if self.peek() == "(":
            self._brackets(arguments, keywords)
        return Name(word, tuple(arguments), tuple(keywords), self._times())

    def _brackets(self, arguments: list[Name], keywords: list[tuple[str, str]]) -> None:
        self.take()
        self.deep += 1
        if self.deep > MOST_DEEP:
            raise self.error(f"more than {MOST_DEEP} brackets are open")
        while self.peek() != ")":
            self._argument(arguments, keywords)
            if self.peek() not in (",", ")"):
                raise self.error("a closing bracket is missing")
            if self.peek() == ",":
                self.take()
        self.take()
        self.deep -= 1

    def _argument(self, arguments: list[Name], keywords: list[tuple[str, str]]) -> None:
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        if following == "=":
            key = self.word("a parameter")
            self.take()
            keywords.append((key, self.word(f"the value of {key}")))
        else:
            arguments.append(self.name())

    def _times(self) -> int:
        if self.peek() != "*":
            return 1
        self.take()
        count = self.word("a number after '*'")
        if not count.isascii() or not count.isdigit() or not count.strip("0"):
            raise self.error(f"'{count}' after '*' is not a number of members")
        if len(count.lstrip("0")) > len(str(MOST_COPIES)) or int(count) > MOST_COPIES:
            raise self.error(f"{count} copies are too many; {MOST_COPIES} will do")
        return int(count)
