"""Crossed designs in a plan: every combination of levels, from a few lines.

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
import string
from collections.abc import Iterator, Mapping
from typing import Any

from allminds.core.errors import Error, nearest


def crossed(plan: dict[str, Any], where: str) -> dict[str, Any]:
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
        for field in used:
            if field not in words and field not in settings:
                known = nearest(field, [*words, *settings])
                raise Error(
                    f"{where}: nothing is called '{field}' for the mind '{template}'; {known}"
                )
        mine = [name for name in words if name in used]
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
    for _, field, spec, conversion in parsed:
        if field is not None and (not field or spec or conversion):
            raise Error(f"{where}: '{template}' must have plain names in its braces, as {{agents}}")
    return [field for _, field, _, _ in parsed if field]


def _label(level: Mapping[str, Any]) -> str:
    """Name a level: its values, or 5x5 for two that are numbers."""
    values = [str(value) for value in level.values()]
    return "x".join(values) if all(value.isdigit() for value in values) else " ".join(values)
