"""What a mind's class, module and functions hold, to see whether it stores between exercises.

Found are attributes of classes, globals of the module and of modules in its folder that it imports,
attributes, default arguments and closures of functions, and what a cache has kept and was changed
later. Looked into are containers, arrays, iterators, generators, random generators and objects of
the mind's own classes. What lies in a file, in another process, or behind another library's object
is not seen.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import types
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from allminds import registry
from allminds.core.seeding import fingerprint

DEEP = 8  # containers within containers that are looked into
PLAIN = (str, bytes, int, float, complex, bool, type(None))
CACHED = "a value that was cached by the function "
# modules of the standard library and of NumPy whose objects say what they hold by `__reduce__`
OPEN = ("builtins", "itertools", "random", "_random", "array", "_io", "io", "types", "collections",
        "functools", "numpy.random._generator", "numpy.random.mtrand")  # fmt: skip
GIVEN = ("__builtins__", "__cached__", "__loader__", "__spec__", "__warningregistry__", "__dict__",
         "__weakref__", "__annotations__")  # fmt: skip # names that Python writes itself
LRU = type(functools.lru_cache(abs))


def changed(before: Mapping[str, int], after: Mapping[str, int]) -> str | None:
    """Return the first place that holds something else than before; a cache may only grow."""
    for where in {**before, **after}:
        fresh = where.startswith(CACHED) and not (where in before and where in after)
        if not fresh and before.get(where) != after.get(where):
            return where.partition("\0")[0]
    return None


def holdings(maker: Any) -> dict[str, int]:
    """Hash what the class or function of a mind, and its modules, hold, by where it is held."""
    modules = _modules(str(registry.unwrapped(maker).__module__))
    look = _Look(frozenset(modules))
    found: dict[str, int] = {}
    if isinstance(maker, type):
        found.update(look.of_class(maker))
    else:
        found.update(look.of_value("what the mind holds", maker))
    for home, module in modules.items():
        for name, value in list(vars(module).items()):
            if name not in GIVEN and not isinstance(value, types.ModuleType):
                if isinstance(value, type) and value.__module__ == home:
                    found.update(look.of_class(value))
                else:
                    found.update(look.of_value(f"the global {name}", value))
    return found


def _modules(home: str) -> dict[str, types.ModuleType]:
    """Find the module of a mind, and those in the same folder that it imports by name."""
    module = sys.modules.get(home)
    if module is None:
        return {}
    imported = [one for one in vars(module).values() if isinstance(one, types.ModuleType)]
    folder = _folder(module)
    near = [one for one in imported if folder is not None and _folder(one) == folder]
    return {home: module} | {one.__name__: one for one in near}


def _folder(module: types.ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).parent if file else None


class _Look:
    """A look at what is held; objects of the classes of the modules `own` are looked into."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own

    def of_class(self, cls: type) -> Iterator[tuple[str, int]]:
        for one in cls.__mro__:
            home = one.__module__
            if home in ("builtins", "abc", "typing") or home.startswith("allminds"):
                continue
            for name, value in list(vars(one).items()):
                if name not in GIVEN:
                    where = f"the class attribute {one.__name__}.{name}"
                    yield from self.of_value(where, value, f"{one.__name__}.")

    def of_value(self, where: str, value: Any, owner: str = "") -> Iterator[tuple[str, int]]:
        inner = getattr(value, "__func__", value)
        if isinstance(value, property):
            inner = value.fget
        if isinstance(inner, types.FunctionType):
            for what, held in self._held(inner).items():
                place = f"{what} of the function {owner}{inner.__name__}"
                yield place, fingerprint(self.plain(held, DEEP))
            value = getattr(value, "__self__", None)  # the object of a bound method
        if isinstance(inner, LRU):
            for key, kept in _kept(inner):
                place = f"{CACHED}{inner.__name__}\0{key}"
                yield place, fingerprint(self.plain(kept, DEEP))
        yield where, fingerprint(self.plain(value, DEEP))

    def _held(self, function: types.FunctionType) -> dict[str, Any]:
        cells = [cell for cell in function.__closure__ or () if cell != types.CellType()]
        return {
            "an attribute": vars(function),
            "a default argument": (function.__defaults__, function.__kwdefaults__),
            "a variable": [cell.cell_contents for cell in cells],
        }

    def plain(self, value: Any, deep: int) -> Any:
        """Copy a value to what can be hashed as text; of what cannot be looked into, the type."""
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, np.ndarray):
            whole = str(value.tolist()).encode() if value.dtype.hasobject else value.tobytes()
            return value.dtype, value.shape, blake2b(whole).hexdigest()
        if deep == 0 or isinstance(value, (type, types.ModuleType)):
            return type(value).__name__
        if isinstance(value, Mapping):
            try:
                pairs = list(value.items())
            except Exception:  # a library's, which is none before it is used
                return type(value).__name__
            return "{}", [(self.plain(k, deep - 1), self.plain(v, deep - 1)) for k, v in pairs]
        if isinstance(value, (list, tuple, deque)):
            return "[]", [self.plain(one, deep - 1) for one in list(value)]
        if isinstance(value, (set, frozenset)):
            return "set", sorted(str(self.plain(one, deep - 1)) for one in list(value))
        return type(value).__name__, self.plain(self._inside(value), deep - 1)

    def _inside(self, value: Any) -> Any:
        """Return what an object holds as far as it can be known, else nothing."""
        if isinstance(value, types.FunctionType):
            return self._held(value)
        if isinstance(value, types.GeneratorType):
            frame = value.gi_frame
            return None if frame is None else [frame.f_lasti, dict(frame.f_locals)]
        if isinstance(value, types.MethodType):
            return [value.__func__, value.__self__]
        if isinstance(value, ContextVar):
            return value.get(None)
        kind = type(value)
        if kind.__module__ in self.own:
            slots = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ())]
            held = {name: getattr(value, name, None) for name in slots if isinstance(name, str)}
            return held | getattr(value, "__dict__", {})
        if kind.__module__ in OPEN:
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                made = value.__reduce_ex__(2)
                return made if isinstance(made, str) else list(made[1:])
        return None


def _kept(cache: Any) -> list[tuple[str, Any]]:
    """List what a cache of `functools` has kept, by what the function was called with.

    It is found as the garbage collector finds it, since nothing else shows it.
    """
    referents = gc.get_referents(cache)
    found = []
    for place, held in enumerate(referents):
        if isinstance(held, type) and held.__name__ == "_lru_list_elem" and place > 1:
            found.append((str(referents[place - 2]), referents[place - 1]))  # of a bounded cache
        elif isinstance(held, dict) and held is not vars(cache):
            entries = list(held.items())
            found += [(str(k), v) for k, v in entries if type(v).__name__ != "_lru_list_elem"]
    return found
