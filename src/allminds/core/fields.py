"""The fields of NamedTuples and dataclasses: their names, types and values, as text."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Sequence
from typing import Any

LONGEST = 150  # letters of a sample


def field_names(kind: type) -> Sequence[str]:
    """Return the names of the fields of a NamedTuple or a dataclass, else none."""
    if dataclasses.is_dataclass(kind):
        return [one.name for one in dataclasses.fields(kind)]
    return getattr(kind, "_fields", ()) if issubclass(kind, tuple) else ()


def type_of(of: Any, name: str) -> str:
    """Write a type as its annotation has it."""
    found = getattr(of, "__annotations__", {}).get(name, "")
    found = getattr(found, "__forward_arg__", found)
    return found if isinstance(found, str) else inspect.formatannotation(found)


def classes_of(kind: Any, found: dict[type, None] | None = None) -> list[type]:
    """List the NamedTuples and dataclasses that a type is made of, itself first."""
    found = {} if found is None else found
    if isinstance(kind, type) and field_names(kind):
        if kind in found:
            return list(found)
        found[kind] = None
        try:
            hints = typing.get_type_hints(kind)
        except Exception:  # names that only a type checker knows
            hints = {}
        for hint in hints.values():
            classes_of(hint, found)
    for part in typing.get_args(kind):
        classes_of(part, found)
    return list(found)


def instance_of(value: Any, kind: type) -> Any:
    """Find the first value of a class within another value, or None."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str):
        return None
    parts = [getattr(value, name) for name in field_names(type(value))] or (
        value if isinstance(value, (tuple, list)) else ()
    )
    return next(
        (one for one in (instance_of(part, kind) for part in parts) if one is not None), None
    )


def first_words(thing: Any) -> str:
    """Return what stands first in a docstring, up to a full stop or an empty line."""
    text = inspect.getdoc(thing) or ""
    if text.startswith(f"{getattr(thing, '__name__', '')}("):  # made by NamedTuple or dataclass
        return ""
    return " ".join(text.partition("\n\n")[0].split()).replace("`", "")


def sample_of(value: Any) -> str:
    """Write a value in Python, floats rounded, cut where it gets long."""
    text = _written(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _written(value: Any) -> str:
    if isinstance(value, float):
        return repr(round(value, 3) + 0.0)
    names = field_names(type(value))
    if names:
        inside = ", ".join(f"{name}={_written(getattr(value, name))}" for name in names)
        return f"{type(value).__name__}({inside})"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(_written, value)) + "," * (len(value) == 1)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside.rstrip(',')}]"
    return " ".join(repr(value).split())
