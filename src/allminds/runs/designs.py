"""Crossed designs: every combination of levels from a few lines of a plan, and found again in it.

    [[tests]]
    instrument = "lambda-star"
    minds = ["{protocol}({members}*{agents})", "{members}"]
    [tests.factors]                      # settings, level by level
    grid = [{rows = 5, cols = 5}, {rows = 10, cols = 10}]
    size = [{agents = 2}, {agents = 5}]
    [tests.words]                        # what the minds' names are made of
    protocol = ["auction", "tree"]
    members = ["local-search", "random"]

becomes four tests of six minds each. A mind's name may also use any setting by its name.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error, nearest
from allminds.runs.plan import MOST

if TYPE_CHECKING:
    from allminds.runs.plan import Test

MOST_SECTIONS = 6  # a design of more cells than this has one table instead of a section a cell


# ---------------------------------------------------------------- from a few lines to all cells


def expanded(plan: dict[str, Any], where: str) -> dict[str, Any]:
    """Replace each crossed test of a plan by its cells; other tests stay as they are."""
    tests = plan.get("tests")
    if not isinstance(tests, list):
        return plan
    return plan | {"tests": [cell for test in tests for cell in _cells(test, where)]}


def _cells(test: Any, where: str) -> Iterator[Any]:
    if not isinstance(test, dict) or not ({"factors", "words"} & set(test)) or "levels" in test:
        yield test
        return
    factors = _table(test.get("factors", {}), dict, f"{where}: factors", "settings")
    words = _table(test.get("words", {}), str, f"{where}: words", "names")
    settings, templates = test.get("settings", {}), test.get("minds", [])
    if not isinstance(settings, dict) or not isinstance(templates, list):
        raise Error(f"{where}: settings must be a table, and minds a list of names")
    _check_apart(factors, words, where)
    rest = {key: value for key, value in test.items() if key not in ("factors", "words")}
    _check_count(factors.values(), where, "cells")
    for chosen in itertools.product(*factors.values()):
        levels = dict(zip(factors, chosen, strict=True))
        here = dict(settings)
        for level in chosen:
            here |= level
        minds = _named(templates, words, here, where)
        yield rest | {
            "minds": list(minds),
            "settings": here,
            "levels": {name: _label(level) for name, level in levels.items()},
            "words": minds,
        }


def _check_apart(
    factors: Mapping[str, list[Any]], words: Mapping[str, list[str]], where: str
) -> None:
    """Require that no two factors set the same setting: their effects would be confounded."""
    both = next((name for name in factors if name in words), None)
    if both:
        raise Error(f"{where}: '{both}' is a factor and a word; call one of them otherwise")
    owner: dict[str, str] = {}
    for name, levels in factors.items():
        labels = [_label(level) for level in levels]
        if len(set(labels)) < len(labels) or not all(levels):
            raise Error(f"{where}: factors.{name} has an empty level, or one twice")
        for setting in {setting for level in levels for setting in level}:
            if owner.setdefault(setting, name) != name:
                raise Error(f"{where}: factors {owner[setting]} and {name} both set '{setting}'")
    for name, levels in words.items():
        if len(set(levels)) < len(levels):
            raise Error(f"{where}: words.{name} has a level twice")


def _check_count(levels: Iterable[Sized], where: str, what: str) -> None:
    """Require that a product of levels is small enough to be written out."""
    count = math.prod(len(one) for one in levels)
    if count > MOST:
        raise Error(f"{where}: that makes {count:,} {what}, and {MOST:,} is the most")


def _table(given: Any, kind: type, where: str, what: str) -> dict[str, list[Any]]:
    """Check a table of names, each with a list of levels of one type."""
    if not isinstance(given, dict):
        raise Error(f"{where} must be a table of lists, not {given!r}")
    for name, levels in given.items():
        if not isinstance(levels, list) or not levels:
            raise Error(f"{where}.{name} must be a list of {what}, not {levels!r}")
        for level in levels:
            if not isinstance(level, kind):
                raise Error(f"{where}.{name} must be a list of {what}, and {level!r} is none")
    return given


def _named(
    templates: Any, words: Mapping[str, list[str]], settings: Mapping[str, Any], where: str
) -> dict[str, dict[str, str]]:
    """Fill the templates: the name of every mind, and the words that it is made of."""
    minds: dict[str, dict[str, str]] = {}
    for template in templates:
        used = _fields(str(template), where)
        for name in used:
            if name not in words and name not in settings:
                known = nearest(name, [*words, *settings])
                raise Error(
                    f"{where}: nothing is called '{name}' for the mind '{template}'; {known}"
                )
        mine = [name for name in words if name in used]
        _check_count((words[name] for name in mine), where, f"minds '{template}'")
        for chosen in itertools.product(*(words[name] for name in mine)):
            levels = dict(zip(mine, chosen, strict=True))
            minds[str(template).format_map(dict(settings) | levels)] = levels
    return minds


def _fields(template: str, where: str) -> list[str]:
    """List the names in braces of a template."""
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise Error(f"{where}: cannot read the mind '{template}': {error}") from None
    for _, name, spec, conversion in parsed:
        if name is not None and (not name or spec or conversion):
            raise Error(f"{where}: '{template}' must have plain names in its braces, as {{agents}}")
    return [name for _, name, _, _ in parsed if name]


def _label(level: Mapping[str, Any]) -> str:
    """Name a level: its values, or 5x5 for two that are numbers."""
    values = [str(value) for value in level.values()]
    return "x".join(values) if all(value.isdigit() for value in values) else " ".join(values)


# ---------------------------------------------------------------- the designs of a plan


@dataclass
class Design:
    """The cells of one crossed design, by their numbers in the plan, and the levels they have."""

    cells: list[int] = field(default_factory=list)
    levels: dict[str, list[str]] = field(default_factory=dict)  # of settings, in plan order
    words: dict[str, list[str]] = field(default_factory=dict)  # that minds' names are made of

    @property
    def folded(self) -> bool:
        """True if there are too many cells for a section each."""
        return len(self.cells) > MOST_SECTIONS

    @property
    def full(self) -> bool:
        """True if every combination of levels has its cell."""
        return len(self.cells) == math.prod(map(len, self.levels.values()))

    def add(self, number: int, test: Test) -> None:
        """Add one more cell with its levels and words."""
        self.cells.append(number)
        for name, level in test.levels.items():
            _note(self.levels, name, level)
        for words in test.words.values():
            for name, word in words.items():
                _note(self.words, name, word)


def designs(tests: Sequence[Test]) -> list[Design]:
    """Find the crossed designs of a plan: tests in a row that differ in their levels only."""
    found: list[Design] = []
    last, seen = None, set[tuple[str, ...]]()
    for number, test in _crossed(tests):
        like = (test.instrument, test.episodes, tuple(test.levels))
        levels = tuple(test.levels.values())
        if like != last or levels in seen or number - 1 not in found[-1].cells:
            found.append(Design())
            seen = set()
        last = like
        seen.add(levels)
        found[-1].add(number, test)
    return found


def by_words(words: dict[str, dict[str, str]]) -> dict[str, str]:
    """Name minds by their words (auction / local-search), unless two would look alike."""
    short = {mind: " / ".join(own.values()) or mind for mind, own in words.items()}
    all_short = list(short.values())
    return {mind: text if all_short.count(text) == 1 else mind for mind, text in short.items()}


def _crossed(tests: Sequence[Test]) -> Iterator[tuple[int, Test]]:
    return (
        (number, test)
        for number, test in enumerate(tests)
        if test.levels or any(test.words.values())
    )


def _note(table: dict[str, list[str]], name: str, level: str) -> None:
    levels = table.setdefault(name, [])
    if level not in levels:
        levels.append(level)
