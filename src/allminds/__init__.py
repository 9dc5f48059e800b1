"""allminds measures minds: programs, learners, language models, people, and groups of them.

    import allminds as am
    results = am.evaluate("lambda-star", ["random", "local-search", MyMind()])
    results.plot()

Names are imported when they are used, so that ``import allminds`` is instant.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from allminds.evaluate import evaluate  # now, lest the module hide the function

if TYPE_CHECKING:
    from allminds.check import check_instrument, check_mind
    from allminds.contracts import (  # fmt: skip
        Discrete,
        Environment,
        Instrument,
        Message,
        MindBase,
        Task,
        Traits,
    )
    from allminds.core.bases import BatchMind, PolicyMind, Question, Wrapper
    from allminds.core.errors import Error
    from allminds.core.groups import Committee, Team
    from allminds.core.seeding import Random
    from allminds.description import Description, describe
    from allminds.evaluate import battery, compare, report
    from allminds.evaluate import listed as list
    from allminds.registry import group, instrument, mind
    from allminds.results import Results
    from allminds.runs.plan import Plan, Test, read_plan
    from allminds.runs.run import How, resume, run
    from allminds.runs.store import RunFolder

_HOMES = {
    "evaluate": ("battery", "compare", "report"),
    "results": ("Results",),
    "runs.plan": ("Plan", "Test", "read_plan"),
    "runs.run": ("How", "resume", "run"),
    "runs.store": ("RunFolder",),
    "check": ("check_instrument", "check_mind"),
    "description": ("Description", "describe"),
    "contracts": ("Discrete", "Environment", "Instrument", "Message", "MindBase", "Task", "Traits"),
    "core.bases": ("BatchMind", "PolicyMind", "Question", "Wrapper"),
    "core.errors": ("Error",),
    "core.groups": ("Committee", "Team"),
    "registry": ("group", "instrument", "mind"),
    "core.seeding": ("Random",),
}
_HOME_OF = {name: (home, name) for home, names in _HOMES.items() for name in names}
_HOME_OF["list"] = ("evaluate", "listed")  # no module can call a function list and use lists

__all__ = [
    "BatchMind", "Committee", "Description", "Discrete", "Environment", "Error", "How",
    "Instrument", "Message", "MindBase", "Plan", "PolicyMind", "Question", "Random", "Results",
    "RunFolder", "Task", "Team", "Test", "Traits", "Wrapper", "battery", "check_instrument",
    "check_mind", "compare", "describe", "evaluate", "group", "instrument", "list", "mind",
    "read_plan", "report", "resume", "run",
]  # fmt: skip


def __dir__() -> tuple[str, ...]:
    return (*__all__, "__version__")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("allminds")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'allminds' has no attribute '{name}'")
    home, own = _HOME_OF[name]
    return getattr(importlib.import_module(f"allminds.{home}"), own)


class _Package(types.ModuleType):
    """The package, whose function `report` the folder of the same name does not hide."""

    @property
    def report(self) -> Any:
        return __getattr__("report")

    @report.setter
    def report(self, module: types.ModuleType) -> None:
        """Ignore that the folder was imported, which would put it in the function's place."""


sys.modules[__name__].__class__ = _Package
