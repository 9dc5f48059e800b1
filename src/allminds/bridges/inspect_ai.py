"""The instruments as tasks of Inspect: ``inspect eval allminds/c_test --model openai/gpt-4o``.

Every instrument that is not adaptive is a task of its name, with ``_`` for ``-``; one that can be
asked level by level is also a task that ends when the ability is known: ``c_test_adaptive -T
width=1.0``. Parameters are given with ``-T``: `n` exercises, `seed`, `against` (the minds in other
slots), `form` (text or image, where the instrument has pictures), `history`, `answer` and
`few_shot` as of the mind ``llm``, `tools` that agents are allowed, and the instrument's own
settings, such as ``-T n=50 -T k=7..9``. Any solver of Inspect's may play, ``--solver generate``,
with the tool `act`; `agent` and the plain loop `play` are such solvers. An instrument of yours is
``allminds/game -T name=mine.py:X``. Items are `fresh`, made from the seed, or `published`, which a
language model may have met: never both in one log. A log goes into the common table by
``allminds import LOG.eval``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from inspect_ai import Task
from inspect_ai import task as inspect_task
from inspect_ai._util.error import PrerequisiteError  # what its command line prints in one line
from rich.markup import escape

from allminds import registry
from allminds.bridges.inspect_adaptive import adaptive_task
from allminds.bridges.inspect_match import act, agent, allowed, forget, play, seated
from allminds.bridges.inspect_play import samples
from allminds.bridges.inspect_scores import record, weighted_record
from allminds.bridges.manner import Manner
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.until import MOST, ROUND, UntilInstrument

__all__ = ["act", "agent", "game", "play"]  # the tasks of instruments come by `__getattr__`
QUESTIONS, EXERCISES = 100, 20  # in a task, if neither the user nor the presentation says


class TaskError(Error, PrerequisiteError):  # type: ignore[misc] # their types are not read
    """A wrong parameter of a task, which ``inspect eval`` prints in one line as allminds does."""

    def __init__(self, said: str) -> None:
        Error.__init__(self, said)
        self.message = f"allminds: {escape(said)}"


def task(maker: Callable[..., Task]) -> Callable[..., Task]:
    """Register a function as a task of Inspect, and turn its errors into `TaskError`."""

    @functools.wraps(maker)
    def made(*given: Any, **named: Any) -> Task:
        try:
            return maker(*given, **named)
        except Error as error:
            raise TaskError(str(error)) from None

    found: Callable[..., Task] = inspect_task(name=maker.__name__)(made)
    return found


@task
def game(
    name: str = "", n: int | None = None, seed: int = 1, steps: int | None = None,
    against: str | list[str] = "", set: str | list[str] | dict[str, Any] = "", form: str = "",
    history: str = "full", answer: str = "text", few_shot: int = 0, tools: str | list[str] = "",
) -> Task:  # fmt: skip
    """Give any instrument by its name: models play with each other, or with allminds' minds.

    Settings are given as ``-T set="players=3 factor=1.5"``. `against` names one mind for all slots
    but the first, or one mind for each of them; `model` in it stands for the model again:
    ``model*2,flee``.
    """
    if not name:
        raise Error("name a game: -T name=stag-hunt; allminds list has them all")
    settings = _settings(set) | ({} if steps is None else {"steps": steps})
    manner = Manner(form=form, history=history, answer=answer, few_shot=few_shot)
    return _task(registry.make_instrument(name, settings), n, seed, manner, against, tools)


@task
def adaptive(
    name: str = "", width: float = 1.0, most: int = MOST, round: int = ROUND, seed: int = 1,
    set: str | list[str] | dict[str, Any] = "", form: str = "",
) -> Task:  # fmt: skip
    """Give any instrument that has levels by its name, until its ability is known.

    Settings are given as for `game`; an instrument of yours is ``-T name=mine.py:X``.
    """
    if not name:
        raise Error("name an instrument: -T name=c-test; allminds list has them all")
    until = {"width": width, "most": most, "round": round}
    return _adaptive(name, _settings(set), until, seed, form)


def _adaptive(
    which: str | type[Instrument], settings: dict[str, Any], until: Any, seed: int, form: str
) -> Task:
    tool = registry.make_instrument(which, {**settings, "until": until})
    assert isinstance(tool, UntilInstrument)
    return adaptive_task(tool, seed, Manner(form=form))


def _settings(given: str | list[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Parse settings as Inspect passes them: words KEY=VALUE, split at commas, or YAML."""
    if isinstance(given, Mapping):
        return dict(given)
    words = (" ".join(given) if isinstance(given, list) else str(given)).split()
    pairs = [word.partition("=") for word in words]
    for word, (key, equals, value) in zip(words, pairs, strict=True):
        if not (key and equals and value):
            raise Error(f"-T set takes KEY=VALUE words, such as set=\"players=3\", not '{word}'")
    return {key: value for key, _, value in pairs}


def _task(
    tool: Instrument, n: int | None, seed: int, manner: Manner, against: str | list[str],
    tools: str | list[str],
) -> Task:  # fmt: skip
    """Make the task of an instrument; `tools` are those that an agent is allowed beside `act`."""
    shown = tool.presentation
    usual = tool.length or shown.asked or (QUESTIONS if shown.bank else EXERCISES)
    others = ",".join(against) if isinstance(against, list) else str(against)
    beside = [one for one in (tools.split(",") if isinstance(tools, str) else tools) if one]
    allowed(beside)  # one that there is not is found here
    return Task(
        dataset=samples(tool, usual if n is None else n, seed, manner, others),
        setup=seated(beside), solver=agent() if beside else play(), cleanup=forget,
        sandbox="docker" if "python" in beside else None,
        scorer=weighted_record() if tool.rule().weighted else record(),
        metadata={"items": tool.items}, version=tool.version,
    )  # fmt: skip


def _named(cls: type[Instrument]) -> Callable[..., Task]:
    """Make the task that has an instrument's name, with its settings as parameters."""
    settings = (*cls.Settings.model_fields, "disguise")

    def maker(
        n: int | None = None, seed: int = 1, form: str = "", against: Any = "",
        history: str = "full", answer: str = "text", few_shot: int = 0, tools: Any = "",
        **given: Any,
    ) -> Task:  # fmt: skip
        if form and "form" in settings:
            given, form = given | {"form": form}, ""
        values = {key: value for key, value in given.items() if value is not None}
        fresh = registry.make_instrument(cls).presentation.fresh
        tool = registry.make_instrument(cls, {**fresh, **values})
        manner = Manner(form=form, history=history, answer=answer, few_shot=few_shot)
        return _task(tool, n, seed, manner, against, tools)

    return _registered(maker, cls, cls.name, settings)


def _named_adaptive(cls: type[Instrument]) -> Callable[..., Task]:
    """Make the task in which an instrument asks until the ability is known."""

    def maker(
        width: float = 1.0, most: int = MOST, round: int = ROUND, seed: int = 1, form: str = "",
        **given: Any,
    ) -> Task:  # fmt: skip
        if form and "form" in cls.Settings.model_fields:
            given, form = given | {"form": form}, ""
        values = {key: value for key, value in given.items() if value is not None}
        return _adaptive(cls, values, {"width": width, "most": most, "round": round}, seed, form)

    return _registered(maker, cls, f"{cls.name}-adaptive", cls.Settings.model_fields)


def _registered(
    maker: Callable[..., Task], cls: type[Instrument], name: str, settings: Iterable[str]
) -> Callable[..., Task]:
    """Register a maker under a name, with settings of an instrument among its parameters."""
    own = list(inspect.signature(maker).parameters.values())[:-1]
    more = [
        inspect.Parameter(setting, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for setting in settings
        if setting not in {one.name for one in own}
    ]
    maker.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined] # of callables
    maker.__name__ = maker.__qualname__ = name.replace("-", "_")
    maker.__doc__ = cls.__doc__
    return task(maker)


TASKS = {
    cls.name.replace("-", "_"): _named(cls)
    for cls in registry.instruments().values()
    if not cls.adaptive
} | {
    f"{cls.name}-adaptive".replace("-", "_"): _named_adaptive(cls)
    for cls in registry.instruments().values()
    if cls.levels is not Instrument.levels
}


def __getattr__(name: str) -> Callable[..., Task]:
    """Return a task by its name; ``lambda_``, since ``lambda`` is a word of Python."""
    try:
        return TASKS[name.rstrip("_")]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no task {name!r}") from None
