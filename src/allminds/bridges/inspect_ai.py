"""The instruments as tasks of Inspect: ``inspect eval allminds/c_test --model openai/gpt-4o``.

Parameters are given with ``-T``, such as ``-T n=50 -T seed=2``. Every game, and any other
instrument that is not adaptive, is ``allminds/game -T name=stag-hunt``. Items are `fresh`, made
from the seed, or `published`, which a language model may have met: never both in one log. A log
goes into the common table by ``allminds import LOG.eval``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from inspect_ai import Task
from inspect_ai import task as inspect_task
from inspect_ai._util.error import PrerequisiteError  # what its command line prints in one line
from rich.markup import escape

from allminds import registry
from allminds.bridges import items_of
from allminds.bridges.inspect_play import play, record, samples, weighted_record
from allminds.core.errors import Error, nearest

FRESH, PUBLISHED = "fresh", "published"


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

    found: Callable[..., Task] = inspect_task(name=maker.__name__.rstrip("_"))(made)
    return found


@task
def c_test(
    items: str = FRESH,
    n: int | None = None,
    seed: int = 1,
    k: str = "7..15",
    ask: str = "induction",
    options: int = 26,
) -> Task:
    """Continue letter series of known complexity k: fresh ones, or the published items.

    `ask` is induction (the next letter), abduction (a missing letter) or both.
    """
    forms = {FRESH: "generated", PUBLISHED: "published"}
    if items not in forms:
        raise Error(f"c_test has no items '{items}'; {nearest(items, forms)}")
    settings = {"form": forms[items], "task": ask, "options": options, "k": str(k)}
    tool = registry.make_instrument("c-test", settings)
    return Task(
        dataset=samples(tool, n or tool.length or 100, seed), solver=play(),
        scorer=weighted_record(), metadata={"items": items}, version=tool.version,
    )  # fmt: skip


@task
def matrices(
    n: int = 100, seed: int = 1, form: str = "image", rules: str = "any", candidates: int = 4
) -> Task:
    """Complete matrices in the style of Raven, as an image or in words (form=text)."""
    settings = {"rules": str(rules), "candidates": candidates}
    return _task("matrices", settings, n, seed, form)


@task
def lambda_star(
    n: int = 22, seed: int = 1, rows: int = 10, cols: int = 10, iterations: int = 50,
    k: str = "2..23",
) -> Task:  # fmt: skip
    """Search for Good and keep away from Evil on a torus (Λ*), step by step."""
    settings = {"rows": rows, "cols": cols, "iterations": iterations, "k": str(k)}
    return _task("lambda-star", settings, n, seed)


@task
def lambda_(n: int = 7, seed: int = 1, cells: int | None = None, steps: int | None = None) -> Task:
    """Find out which symbol is Good in a graph of cells (Λ), step by step.

    By default it is the paper's test of seven exercises; `cells` and `steps` set other sizes.
    """
    given = {"cells": cells, "steps": steps}
    settings = {name: value for name, value in given.items() if value is not None}
    return _task("lambda", settings | ({"form": "general"} if settings else {}), n, seed)


@task
def game(
    name: str = "", n: int = 20, seed: int = 1, steps: int | None = None,
    against: str | list[str] = "", set: str | list[str] | dict[str, Any] = "",
) -> Task:  # fmt: skip
    """Play any game by its name: models with each other, or with allminds' minds in other slots.

    Other settings of the game are given as ``-T set="players=3 factor=1.5"``. `against` names one
    mind for all slots but the first, or one mind for each of them; `model` in it stands for the
    model again: ``model*2,flee``.
    """
    if not name:
        raise Error("name a game: -T name=stag-hunt; allminds list has them all")
    settings = _settings(set) | ({} if steps is None else {"steps": steps})
    others = ",".join(against) if isinstance(against, list) else against
    return _task(name, settings, n, seed, against=others)


@task
def prisoners_dilemma(n: int = 20, seed: int = 1, steps: int = 10, against: str = "") -> Task:
    """Play the prisoner's dilemma: two models, or a model against a mind such as tit-for-tat."""
    return _task("prisoners-dilemma", {"steps": steps}, n, seed, against=against)


@task
def matching_pennies(n: int = 20, seed: int = 1, steps: int = 10, against: str = "") -> Task:
    """Play matching pennies: two models, or a model against a mind such as random."""
    return _task("matching-pennies", {"steps": steps}, n, seed, against=against)


@task
def noughts(n: int = 20, seed: int = 1, against: str = "") -> Task:
    """Play noughts and crosses: two models, or a model with the crosses against a mind."""
    return _task("noughts-and-crosses", {}, n, seed, against=against)


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
    name: str, settings: dict[str, Any], n: int, seed: int, form: str = "", against: str = ""
) -> Task:
    """Make the task of an instrument with its settings."""
    tool = registry.make_instrument(name, settings)
    return Task(
        dataset=samples(tool, n, seed, form, str(against)), solver=play(),
        scorer=record(), metadata={"items": items_of(tool)}, version=tool.version,
    )  # fmt: skip
