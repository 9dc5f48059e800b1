"""What a mind's class, module and functions hold, to see whether it stores between exercises.

Found are attributes of classes, globals of the module, and attributes, default arguments and
closures of functions. What lies in a file, in another process or module, or behind an object whose
class is written elsewhere is not seen.
"""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from allminds.core.seeding import fingerprint

DEEP = 8  # containers within containers that are looked into
PLAIN = (str, bytes, int, float, complex, bool, type(None))


def holdings(maker: Any) -> dict[str, int]:
    """Hash what the class or function of a mind, and its module, hold, by where it is held."""
    home = str(maker.__module__)
    found = dict(_of_class(maker, home) if isinstance(maker, type) else _of_function(maker, ""))
    module = sys.modules.get(home)
    for name, value in list(vars(module).items()) if module else ():
        if name.startswith("__"):
            continue
        if isinstance(value, type) and value.__module__ == home:
            found.update(_of_class(value, home))
        elif isinstance(value, types.FunctionType) and value.__module__ == home:
            found.update(_of_function(value, ""))
        else:
            found[f"the global {name}"] = fingerprint(_plain(value, home, DEEP))
    return found


def _of_class(cls: type, home: str) -> Iterator[tuple[str, int]]:
    for one in cls.__mro__:
        if one.__module__ in ("builtins", "abc", "typing") or one.__module__.startswith("allminds"):
            continue
        for name, value in list(vars(one).items()):
            inner = getattr(value, "__func__", value)
            if isinstance(inner, types.FunctionType):
                yield from _of_function(inner, f"{one.__name__}.")
            elif not name.startswith("__"):
                where = f"the class attribute {one.__name__}.{name}"
                yield where, fingerprint(_plain(value, home, DEEP))


def _of_function(function: Any, owner: str) -> Iterator[tuple[str, int]]:
    if not isinstance(function, types.FunctionType):
        return
    cells = [cell for cell in function.__closure__ or () if cell != types.CellType()]
    held = {
        "an attribute": vars(function),
        "a default argument": (function.__defaults__, function.__kwdefaults__),
        "a variable": [cell.cell_contents for cell in cells],
    }
    for what, value in held.items():
        where = f"{what} of the function {owner}{function.__name__}"
        yield where, fingerprint(_plain(value, function.__module__, DEEP))


def _plain(value: Any, home: str, deep: int) -> Any:
    """Copy a value to what can be hashed as text; of what cannot be looked into, the type."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, fingerprint(value.tolist())
    if deep == 0:
        return type(value).__name__
    if isinstance(value, Mapping):
        pairs = list(value.items())
        return "{}", [(_plain(k, home, deep - 1), _plain(v, home, deep - 1)) for k, v in pairs]
    if isinstance(value, (list, tuple, deque)):
        return "[]", [_plain(one, home, deep - 1) for one in list(value)]
    if isinstance(value, (set, frozenset)):
        return "set", sorted(str(_plain(one, home, deep - 1)) for one in list(value))
    kind = type(value)
    if kind.__module__ == home and hasattr(value, "__dict__"):
        return kind.__name__, _plain(vars(value), home, deep - 1)
    return kind.__name__
