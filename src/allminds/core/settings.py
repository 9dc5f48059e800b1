"""Settings, plans and numbers as users write them, checked once, with errors to act on."""

from __future__ import annotations

import errno
import hashlib
import inspect
import json
import math
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from allminds.core.errors import Error, nearest

M = TypeVar("M", bound=BaseModel)
MOST = 2000  # values in a range
LARGEST = 32 * 10**6  # bytes of a plan or a study


class Settings(BaseModel):
    """The base of all settings: frozen, and unknown names are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Extended:
    """Settings of an instrument, and what every instrument can have beside its own."""

    def __init__(self, inner: Any, **more: Any) -> None:
        self.inner, self.more = inner, more

    def model_dump(self, **how: Any) -> dict[str, Any]:
        """Convert all settings to a plain value."""
        return {**self.inner.model_dump(**how), **self.more}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "inner" not in vars(self):
            raise AttributeError(name)
        return getattr(self.inner, name)


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


# ---------------------------------------------------------------- settings in words


WORDS = {
    "integer": "a whole number", "number": "a number", "string": "text",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip
BOUNDS = {
    "minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}",
    "exclusiveMaximum": "below {}",
}  # fmt: skip


def settings_hash(settings: Any) -> str:
    """Hash the settings of an instrument to eight hex digits, for an exercise's id."""
    text = json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def described(model: type[BaseModel]) -> list[dict[str, Any]]:
    """List the settings of a model: name, values in words, default, and meaning."""
    schema = model.model_json_schema()
    known, required = schema.get("$defs", {}), schema.get("required", ())
    return [
        {
            "name": name,
            "values": _values(one, known),
            "required": name in required,
            "default": None if name in required else plain(model.model_fields[name].get_default()),
            "meaning": one.get("description", ""),
        }
        for name, one in schema.get("properties", {}).items()
    ]


def _values(schema: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Say in words which values a setting can have."""
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return " or ".join(_values(one, known) for one in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        *most, last = map(str, schema.get("enum", [schema.get("const")]))
        return " or ".join(filter(None, [", ".join(most), last]))
    if schema.get("type") == "array":
        each = _values(schema["items"], known) if schema.get("items") else "values"
        return f"{each}, or several of them, by commas"
    bounds = [said.format(schema[key]) for key, said in BOUNDS.items() if key in schema]
    return " ".join([WORDS.get(schema.get("type", ""), "a value"), *bounds])


def plain(value: Any) -> Any:
    """Convert a value to what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def file_text(path: Path) -> str:
    """Read a text file of a user's: no device or pipe, which may have no end, and none too large.

    What is wrong is an OSError, as for a file that is not there.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    if path.is_file() and path.stat().st_size > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 10**6} MB", str(path))
    return path.read_text(encoding="utf-8")


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


# ---------------------------------------------------------------- parameters in brackets


def argument(maker: type, text: str, key: str, value: str) -> Any:
    """Convert a parameter of a mind to the type that its constructor's annotation says."""
    parameters = inspect.signature(maker).parameters
    if key not in parameters:
        raise Error(
            f"{text}: {maker.__name__} has no parameter '{key}'; {nearest(key, parameters)}"
        )
    try:
        kind = typing.get_type_hints(maker.__init__).get(key, str)  # type: ignore[misc] # any class
    except NameError:
        kind = str
    if type(None) in (either := typing.get_args(kind)):
        kind = next(one for one in either if one is not type(None))
    try:
        if kind is bool:
            return {"true": True, "false": False}[value.lower()]
        return kind(value) if kind in (int, float) else unquoted(value)
    except (KeyError, ValueError):
        word = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise Error(f"{text}: {key} must be {word}, not '{value}'") from None


def unquoted(value: str) -> str:
    """Return a value without the double quotes that stand round it in a name."""
    quoted = len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted else value
