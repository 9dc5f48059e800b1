"""Settings, plans and numbers as users write them, checked once, with errors to act on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from allminds.core.errors import Error, nearest

M = TypeVar("M", bound=BaseModel)
MOST = 2000  # values in a range


class Settings(BaseModel):
    """The base of all settings: frozen, and unknown names are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def checked(model: type[M], values: Mapping[str, Any], where: str) -> M:
    """Build a model from a user's values; the error names the first wrong value in one sentence."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise Error(_sentence(model, error, where)) from None
    except UnicodeEncodeError:
        raise Error(f"{where} is not a text in UTF-8") from None


def _sentence(model: type[BaseModel], error: ValidationError, where: str) -> str:
    first = error.errors()[0]
    path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        wrong = str(first["loc"][-1])
        return f"{where} has no '{path}'; {nearest(wrong, _fields(model, first['loc'][:-1]))}"
    if first["type"] == "missing":
        return f"{where} lacks '{path}'"
    if first["type"] == "value_error":
        said = str(first["ctx"]["error"])
        return f"{where}: {path}: {said}" if path else f"{where}: {said}"
    if first["type"] == "too_short":
        return f"{where}: {path} must not be empty"
    if first["type"] == "literal_error":
        return f"{where}: {path} must be {first['ctx']['expected']}, not {first['input']!r}"
    told = first["msg"].removeprefix("Input should be ").partition(", unable")[0]
    return f"{where}: {path} must be {told}, not {first['input']!r}"


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """List the fields of the model that a path of names leads to."""
    for part in path:
        if isinstance(part, int) or part not in model.model_fields:
            continue
        kind = model.model_fields[part].annotation
        inner = [k for k in (kind, *getattr(kind, "__args__", ())) if isinstance(k, type)]
        model = next((k for k in inner if issubclass(k, BaseModel)), model)
    return list(model.model_fields)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Write settings in words: rows 5, cols 5."""
    return ", ".join(
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in settings.items()
    )


# ---------------------------------------------------------------- numbers and ranges


def numbers(text: str, where: str) -> list[float]:
    """Parse a number, several with commas between, or a range of whole steps."""
    try:
        if ".." in text:
            low, high = ends(text, where)
            return [low + step for step in range(int(high - low) + 1)]
        found = [float(part) for part in text.split(",")]
        if not all(math.isfinite(value) for value in found):
            raise ValueError
        return found
    except ValueError:
        raise Error(f"{where} takes a number, or a range such as 5..25, not '{text}'") from None


def ends(text: str, where: str) -> tuple[float, float]:
    """Parse the ends of a range."""
    low, dots, high = text.partition("..")
    try:
        found = float(low), float(high)
    except ValueError:
        raise Error(f"{where} takes a range such as 5..25, not '{text}'") from None
    if not dots or not 0 <= found[1] - found[0] <= MOST:
        raise Error(f"{where}: '{text}' is not a range of at most {MOST} steps")
    return found


def whole_numbers(text: str, where: str) -> list[int]:
    """Parse `text` like `numbers`, but accept integers only."""
    found = numbers(text, where)
    if not all(value.is_integer() for value in found):
        raise Error(f"{where} takes whole numbers, not '{text}'")
    return [int(value) for value in found]
