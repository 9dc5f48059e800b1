"""Names and versions of minds and instruments, and entry points for third parties.

Built-in folders and installed packages with an entry point in the group ``allminds`` register
themselves when they are imported, which happens on the first look-up and not before.
"""

from __future__ import annotations

import copy
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from allminds.contracts import Instrument, Traits
from allminds.core.bases import FunctionMind
from allminds.core.errors import Error, nearest
from allminds.core.line_up import LineUp, Name, Subject, parse, parse_all
from allminds.core.seeding import public_seed
from allminds.core.settings import argument, settings_hash
from allminds.core.user_code import USERS, imported, mind_in, reason_of

T = TypeVar("T")

_minds: dict[tuple[str, str], Any] = {}  # (instrument or "*", name) -> class or function
_instruments: dict[str, type[Instrument]] = {}
_families: dict[str, Callable[[str], type[Instrument]]] = {}  # prefix -> class from whole name
_guarded = ""  # the command that resolves names of data just now, and runs no code they name


# ---------------------------------------------------------------- what runs code


def built_in_only(command: str, trust: bool = False) -> None:
    """Let names lead to what is installed only, unless the user trusts the data they come from.

    From now on, for `command`, a name that leads to a file, a module or a program is an error.
    An empty `command` ends it.
    """
    global _guarded
    _guarded = "" if trust else command


def _check_trusted(name: str) -> None:
    if _guarded:
        raise Error(f"'{name}' is code that allminds does not come with; {_guarded} runs it only "
                    "if you trust it: --trust")  # fmt: skip


def _trusted(name: str, what_for: str) -> Any:
    _check_trusted(name)
    return imported(name, what_for)


# ---------------------------------------------------------------- registering


def mind(name: str, instruments: str | Iterable[str] = "*") -> Callable[[T], T]:
    """Register a mind (a class or a plain function) under a name, for some instruments or all.

    Parameters
    ----------
    name : str
        The name, in kebab-case.
    instruments : str or iterable of str
        The instruments that it can take; all by default.

    Returns
    -------
    callable
        The decorator, which returns the class or function as it is.

    Examples
    --------
    >>> from allminds import MindBase, evaluate, mind
    >>> @mind("always-tails", instruments="matching-pennies")
    ... class AlwaysTails(MindBase):
    ...     def act(self, observation, random):
    ...         return 1
    >>> evaluate("matching-pennies", ["always-tails"], episodes=8)["results"][0]["mind"]
    'always-tails'
    """

    def register(maker: T) -> T:
        for instrument in [instruments] if isinstance(instruments, str) else instruments:
            _put(_minds, (instrument, name), maker)
        return maker

    return register


def group(name: str, instruments: str | Iterable[str] = "*") -> Callable[[T], T]:
    """Register a protocol for groups: a class whose first parameter is the list of members.

    Parameters
    ----------
    name : str
        The name, in kebab-case.
    instruments : str or iterable of str
        The instruments that the group can take; all by default.

    Returns
    -------
    callable
        The decorator, which returns the class as it is.

    Examples
    --------
    >>> from allminds import MindBase, evaluate, group
    >>> @group("all-rest", instruments="lambda-star")
    ... class AllRest(MindBase):
    ...     def __init__(self, members):
    ...         self.members = members
    ...     def act(self, observations, randoms):
    ...         return [5] * len(observations)
    >>> team = "all-rest(random*3)"
    >>> found = evaluate("lambda-star", [team], settings={"agents": 3}, episodes=22)
    >>> found["results"][0]["failed"]
    0
    """

    def register(maker: T) -> T:
        maker.is_group = True  # type: ignore[attr-defined] # T is any class
        return mind(name, instruments)(maker)

    return register


def instrument(cls: type[Instrument]) -> type[Instrument]:
    """Register an instrument class under its own name.

    Parameters
    ----------
    cls : class
        A subclass of `Instrument`; its attribute `name` is the name.

    Returns
    -------
    class
        The class as it is, so that this can be a decorator.

    Examples
    --------
    >>> from allminds import instrument, registry
    >>> instrument(registry.kind("matching-pennies")).name
    'matching-pennies'
    """
    _put(_instruments, cls.name, cls)
    return cls


def family(prefix: str) -> Callable[[T], T]:
    """Register a maker of instruments called ``prefix:…``; minds for all are for ``prefix:``."""

    def register(maker: T) -> T:
        _put(_families, prefix, maker)
        return maker

    return register


def _put(table: dict[Any, Any], key: Any, value: Any) -> None:
    known = table.get(key)
    if known is not None and _source(known) != _source(value):
        raise Error(f"{key} is registered twice: by {known.__module__} and {value.__module__}")
    table[key] = value


def _source(thing: Any) -> tuple[str, str]:
    """Where a class or function is written: a file may be imported under two names."""
    file = getattr(sys.modules.get(thing.__module__), "__file__", None)
    return os.path.realpath(file) if file else thing.__module__, thing.__qualname__


@functools.cache
def _entries() -> tuple[importlib.metadata.EntryPoint, ...]:
    """Find the entry points of instruments, and of other modules that register."""
    found = importlib.metadata.entry_points()
    return (*found.select(group="allminds.instruments"), *found.select(group="allminds"))


@functools.cache
def load() -> None:
    """Import everything that registers itself."""
    for entry in _entries():
        entry.load()


@functools.cache
def _fetch(name: str) -> None:
    """Import the module that an entry point of this name leads to, if there is one."""
    for entry in _entries():
        if entry.name == name:
            entry.load()


# ---------------------------------------------------------------- looking up


def instruments() -> dict[str, type[Instrument]]:
    """Return all instruments by name."""
    load()
    return dict(sorted(_instruments.items()))


def instrument_names() -> list[str]:
    """List the names of all instruments without importing one: as shells complete them."""
    entries = {one.name for one in _entries() if one.group == "allminds.instruments"}
    return sorted((entries - set(_families)) | set(_instruments))


def minds(instrument_name: str) -> dict[str, Any]:
    """Return all minds and groups registered for an instrument, by name; import no other one."""
    prefix = instrument_name.partition(":")[0]
    for entry in _entries():
        if entry.group == "allminds" or entry.name == prefix:
            entry.load()
    return _minds_for(instrument_name)


def minds_by_kind(instrument_name: str) -> dict[str, dict[str, Any]]:
    """Return the minds of an instrument in four kinds.

    These are single minds, those that are told the future, groups, and minds for any instrument.
    """
    found: dict[str, dict[str, Any]] = {"single": {}, "future": {}, "group": {}, "anywhere": {}}
    for name, maker in minds(instrument_name).items():
        future = _traits(maker).sees == "future"
        kind = "group" if takes_members(maker) else "future" if future else "single"
        found["anywhere" if _minds.get(("*", name)) is maker else kind][name] = maker
    return found


def takes_members(maker: Any) -> bool:
    """Check whether a mind is made of members: ``tree(random*3)``."""
    return _is_group(maker) or bool(getattr(maker, "takes_members", False))


def _minds_for(instrument_name: str) -> dict[str, Any]:
    """Collect the minds for an instrument among those imported so far."""
    prefix, colon, _ = instrument_name.partition(":")
    fits = {instrument_name, prefix + colon, "*"}
    return {name: _minds[on, name] for on, name in sorted(_minds) if on in fits}


def kind(which: str | type[Instrument]) -> type[Instrument]:
    """Return the class of an instrument.

    `which` is its name, one of a family, ``file.py:Class``, ``package.module:Class``, or the class
    itself. A class is registered under its name, so that its minds and its results find it.
    """
    if not isinstance(which, str):
        return _registered(which, repr(which))
    prefix, colon, _ = which.partition(":")
    if which not in _instruments:
        _fetch(prefix)
    if which not in _instruments and not colon:
        load()
    if which in _instruments:
        return _instruments[which]
    if colon and prefix in _families:
        return _families[prefix](which)
    if colon:
        return _registered(_trusted(which, "instrument"), which)
    raise _unknown(which, instruments())


def _registered(found: Any, text: str) -> type[Instrument]:
    if not (isinstance(found, type) and issubclass(found, Instrument)):
        raise Error(f"{text} is not an instrument: it is not a subclass of allminds.Instrument")
    return instrument(found)


def reference(which: str | type[Instrument]) -> str:
    """Return the text by which another process, in another folder, finds an instrument.

    A class of an interactive session or of the script that is run has its name alone, which no
    other process knows.
    """
    if isinstance(which, str):
        where, _, what = which.rpartition(":")
        return f"{Path(where).resolve()}:{what}" if where.endswith(".py") else which
    cls = kind(which)
    module = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__" or _is_ours(cls) or getattr(module, cls.__name__, None) != cls:
        return cls.name
    return place_of(module, cls.__name__)


def place_of(module: Any, name: str) -> str:
    """Write ``package.module:Name``, or ``file.py:Name`` for a file of the user's."""
    where = module.__file__ if module.__name__.startswith(USERS) else module.__name__
    return f"{where}:{name}"


def in_memory(cls: type[Instrument]) -> bool:
    """Check whether an instrument is a class that no other process finds by a name."""
    family = cls.name.partition(":")[0] in _families
    return not family and not _is_ours(cls) and reference(cls) == cls.name


def _unknown(name: str, known: Iterable[str]) -> Error:
    if name.endswith(".py"):
        return Error(f"'{name}' is a file; name the class in it too, as {name}:CLASS")
    where = sorted(on for on, mind in _minds if mind == name)
    if where:
        on = "any instrument" if "*" in where else ", ".join(where)
        return Error(f"'{name}' is a mind, not an instrument; it is one for {on}")
    return Error(f"there is no instrument '{name}'; {nearest(name, known)}")


def make_instrument(
    which: str | type[Instrument], settings: Mapping[str, Any] | None = None
) -> Instrument:
    """Make an instrument with its settings checked; see `kind` for what may be given.

    Every instrument has three more settings: with a `course` its exercises are given as one, with a
    `disguise`, the number of a skin, they are shown in that skin, and with `until` they are chosen
    by the answers, until the ability is known (see `allminds.until`).
    """
    cls, given = kind(which), dict(settings or {})
    course, disguise = given.pop("course", None), given.pop("disguise", 0)
    until = given.pop("until", None)
    if until is not None and disguise not in (0, "0"):
        raise Error(f"{cls.name}: `until` is not given in disguise; leave out one of the two")
    if until is not None:
        return _made_until(cls, given, course, until)
    tool = cls(**_checked_settings(cls, given))
    if disguise not in (0, "0"):
        from allminds.disguise import DisguisedInstrument

        if course is not None:
            raise Error(f"{cls.name}: a course is not given in disguise; leave out one of the two")
        return DisguisedInstrument(tool, disguise)
    if course is None:
        return tool
    from allminds.course import CourseInstrument

    return CourseInstrument(tool, course)


def _made_until(
    cls: type[Instrument], given: dict[str, Any], course: Any, until: Any
) -> Instrument:
    """Make an instrument that asks until the ability is known; on fresh items, if it has any."""
    from allminds.until import UntilInstrument

    if course is not None:
        raise Error(f"{cls.name}: a course has its exercises fixed; give it, or until, not both")
    fresh = cls().presentation.fresh
    return UntilInstrument(cls(**_checked_settings(cls, {**fresh, **given})), until)


def _checked_settings(cls: type[Instrument], given: Mapping[str, Any]) -> dict[str, Any]:
    known = cls.Settings.model_fields
    for name in given:
        if name not in known:
            raise Error(f"{cls.name} has no setting '{name}'; {nearest(name, known)}")
    return dict(given)


def exercise_prefix(tool: Instrument, seed: int) -> str:
    """Write the id of an exercise without its number: ``instrument@version/settings/seed/``."""
    return f"{tool.name}@{tool.version}/{settings_hash(tool.settings)}/{public_seed(seed)}/"


# ---------------------------------------------------------------- subjects from names


Objects = Mapping[str, Any]
"""Minds of the user's by the names that a plan has for them: classes, functions or objects."""
NO_OBJECTS: Objects = {}


def subject(who: Any, tool: Instrument, objects: Objects = NO_OBJECTS) -> Subject:
    """Resolve what a user gives as a mind.

    That is a name (of one of `objects` too), a class, a plain function, an object with `act`, or a
    Subject.
    """
    if isinstance(who, Subject):
        return _fits(who, tool)
    if isinstance(who, str):
        return _called(who, tool, objects) if who in objects else _resolve(
            parse(who), tool, objects)  # fmt: skip
    if isinstance(who, type) or (callable(who) and not hasattr(who, "act")):
        return _subject_of(name_of(who), who, (), {})
    if hasattr(who, "act"):
        # a fresh copy for every exercise, so that nothing leaks from one into the next
        make = functools.partial(copy.deepcopy, who)
        return Subject(
            name_of(who), make, _traits(who), _is_group(who), built_in=_is_ours(type(who)),
            maker=type(who), reads=bool(getattr(who, "reads", False)),
        )  # fmt: skip
    raise Error(f"{who!r} is not a mind: give a name, or something with a method 'act'")


def name_of(who: Any) -> str:
    """Name a mind that is given as a class, a function or an object, by its class or function."""
    if isinstance(who, Subject):
        return who.name
    who = unwrapped(who)
    return str(getattr(who, "__name__", None) or type(who).__name__)


def unwrapped(who: Any) -> Any:
    """Return the function within a partial call of it, and anything else as it is."""
    return unwrapped(who.func) if isinstance(who, functools.partial) else who


def _called(name: str, tool: Instrument, objects: Objects) -> Subject:
    """Resolve one of the user's own minds, under the name that the plan has for it."""
    given = objects[name]
    if given != name and _is_taken(name, given, tool):
        raise Error(f"'{name}' is the name of another mind for {tool.name}; call yours otherwise")
    others = {key: value for key, value in objects.items() if key != name}
    return replace(subject(given, tool, others), name=name)


def _is_taken(name: str, given: Any, tool: Instrument) -> bool:
    """Check whether a name, as it stands, is that of another mind, which a table could show too.

    The name of a mind that cannot be made without parameters, such as ``policy``, is free.
    """
    known = _minds_for(tool.name)
    if known.get(name) is given:
        return False
    if name in (tool.floor_mind, tool.ceiling_mind):
        return True
    if name not in known:
        return False
    try:
        _resolve(parse(name), tool)
    except Error:
        return False
    return True


def line_up(who: Any, tool: Instrument, objects: Objects = NO_OBJECTS) -> LineUp:
    """Build the line-up of an instrument: one subject in all slots, or several in slot order.

    Several are a list, or names with commas between them: ``tit-for-tat, defect*3``. Names may be
    those of `objects`.
    """
    if isinstance(who, str) and who not in objects:
        named = parse_all(who)
        if len(named) > 1:
            who = [str(replace(name, times=1)) for name in named for _ in range(name.times)]
    for part in tool.parts:
        if part.name != tool.name:
            line_up(who, part, objects)  # whoever takes a course can take all its phases
    if isinstance(who, (list, tuple)):
        return LineUp.of([subject(one, tool, objects) for one in who], tool.slots)
    return LineUp.alone(subject(who, tool, objects), tool.slots)


def _fits(who: Subject, tool: Instrument) -> Subject:
    if who.instruments and tool.name not in who.instruments:
        raise Error(f"{who.name} is a mind for {', '.join(who.instruments)}, not for {tool.name}")
    return who


def _resolve(name: Name, tool: Instrument, objects: Objects = NO_OBJECTS) -> Subject:
    if name.name in objects and str(replace(name, times=1)) == name.name:
        return _called(name.name, tool, objects)
    maker = _find(name.name, tool)
    text = str(replace(name, times=1))
    if getattr(maker, "runs_code", False):
        _check_trusted(text)
    if takes_members(maker):
        numbers = [str(one) for one in name.arguments if _is_number(one)]
        members = tuple(
            member
            for one in name.arguments
            if not _is_number(one)
            for member in (_resolve(replace(one, times=1), tool, objects),) * one.times
        )
        keywords = _numbered(text, maker, numbers) | dict(name.keywords)
        return _subject_of(text, maker, (members,), keywords, members)
    if name.times != 1:
        raise Error(f"'{name}' repeats a mind, which only the members of a group can")
    arguments: tuple[Any, ...] = tuple(str(argument) for argument in name.arguments)
    if getattr(maker, "takes_instrument", False):  # it shows and reads as the instrument does
        arguments = (tool, *arguments)
    return _subject_of(text, maker, arguments, dict(name.keywords))


def _is_number(name: Name) -> bool:
    """Check whether an argument is a plain number, which no mind is called."""
    return name.name.isascii() and name.name.isdigit() and name == Name(name.name)


def _numbered(text: str, maker: Any, numbers: Sequence[str]) -> dict[str, str]:
    """Give the plain numbers among the members to a protocol's first parameters, in order."""
    places = list(inspect.signature(maker).parameters.values())[1:] if numbers else []
    names = [one.name for one in places if one.kind is one.POSITIONAL_OR_KEYWORD]
    if len(numbers) > len(names):
        raise Error(f"{text}: {numbers[len(names)]} is neither a member nor a parameter")
    return dict(zip(names, numbers, strict=False))


def _find(name: str, tool: Instrument) -> Any:
    if name not in _minds_for(tool.name):
        _fetch(name)
    known = _minds_for(tool.name)
    if ":" in name and name not in known:
        return _trusted(name, "mind")
    if name not in known:
        known = minds(tool.name)
    if name in known:
        return known[name]
    if name.endswith(".py"):
        raise Error(f"'{name}' is a file; name the mind in it too, as {name}:{mind_in(name)}")
    elsewhere = sorted({on for on, other in _minds if other == name})
    if elsewhere:
        raise Error(f"'{name}' is a mind for {', '.join(elsewhere)}, not for {tool.name}")
    raise Error(f"there is no mind '{name}' for {tool.name}; {nearest(name, known)}")


# ---------------------------------------------------------------- making subjects


def _subject_of(
    text: str,
    maker: Any,
    arguments: tuple[Any, ...],
    keywords: Mapping[str, str],
    members: tuple[Subject, ...] = (),
) -> Subject:
    if not isinstance(maker, type):
        if not callable(maker):
            raise Error(f"{text} is not a mind: it is neither a class nor a function")
        if arguments or keywords:
            raise Error(f"{text}: a plain function does not support parameters in brackets")
        make = functools.partial(FunctionMind, maker, _traits(maker))
        return Subject(text, make, _traits(maker), built_in=_is_ours(maker), maker=maker)
    if not hasattr(maker, "act"):
        raise Error(f"{text} is not a mind: the class {maker.__name__} has no method 'act'")
    values = {key: argument(maker, text, key, value) for key, value in keywords.items()}
    make = functools.partial(maker, *arguments, **values)
    try:
        probe = make()  # a wrong parameter is found here, once, and not in the midst of a run
    except Error:
        raise
    except (Exception, SystemExit) as error:
        raise Error(f"cannot make {text}: {reason_of(error)}") from None
    ours = _is_ours(maker) and all(member.built_in for member in members)
    return Subject(
        text, make, _traits(probe), _is_group(probe), members, built_in=ours, maker=maker,
        alone=getattr(probe, "alone", ""), reads=bool(getattr(maker, "reads", False)),
    )  # fmt: skip


def first_line(thing: Any) -> str:
    """Return the first line that a class or function says of itself, as plain text."""
    return (getattr(thing, "__doc__", None) or "").strip().partition("\n")[0].replace("`", "")


def _traits(thing: Any) -> Traits:
    found = getattr(thing, "traits", None)
    return found if isinstance(found, Traits) else Traits()


def _is_ours(maker: Any) -> bool:
    """Check whether a class or function comes with allminds."""
    return str(maker.__module__).startswith("allminds.")


def _is_group(thing: Any) -> bool:
    return bool(getattr(thing, "is_group", False))
