"""allminds measures minds: programs, learners, language models, people, and groups of them.

    import allminds as am
    results = am.evaluate("lambda-star", ["random", "local-search", MyMind()])
    results.plot()

Names are imported when they are used, so that ``import allminds`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from allminds.evaluate import Results, evaluate  # now, lest the module hide the function

if TYPE_CHECKING:
    from allminds.check import check_instrument, check_mind
    from allminds.contracts import (
        BatchMind,
        Discrete,
        Environment,
        Instrument,
        MindBase,
        PolicyMind,
        Question,
        Task,
        Traits,
        Wrapper,
    )  # fmt: skip
    from allminds.core.errors import Error
    from allminds.core.seeding import Random
    from allminds.description import Description, describe
    from allminds.registry import group, instrument, mind
    from allminds.runs.plan import Plan, Test, read_plan
    from allminds.runs.run import How, resume, run
    from allminds.runs.store import RunFolder

_HOMES = {
    "runs.plan": ("Plan", "Test", "read_plan"),
    "runs.run": ("How", "resume", "run"),
    "runs.store": ("RunFolder",),
    "check": ("check_instrument", "check_mind"),
    "description": ("Description", "describe"),
    "contracts": (
        "BatchMind",
        "Discrete",
        "Environment",
        "Instrument",
        "MindBase",
        "PolicyMind",
        "Question",
        "Task",
        "Traits",
        "Wrapper",
    ),
    "core.errors": ("Error",),
    "registry": ("group", "instrument", "mind"),
    "core.seeding": ("Random",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BatchMind", "Description", "Discrete", "Environment", "Error", "How", "Instrument", "MindBase",
    "Plan", "PolicyMind", "Question", "Random", "Results", "RunFolder", "Task", "Test", "Traits",
    "Wrapper", "check_instrument", "check_mind", "describe", "evaluate", "group", "instrument",
    "mind", "read_plan", "resume", "run",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("allminds")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'allminds' has no attribute '{name}'")
    return getattr(importlib.import_module(f"allminds.{_HOME_OF[name]}"), name)
