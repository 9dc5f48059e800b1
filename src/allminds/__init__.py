"""allminds measures minds: programs, learners, language models, people, and groups of them.

    import allminds as am
    results = am.evaluate("lambda-star", ["random", "local-search", MyMind()])
    results.plot()

Names are imported when they are used, so that ``import allminds`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allminds.administration.plan import Plan, Test, read_plan
    from allminds.administration.run import How, resume, run
    from allminds.administration.store import RunFolder
    from allminds.check import check_instrument, check_mind
    from allminds.contracts import BatchMind, Discrete, Instrument, MindBase, Task, Traits
    from allminds.errors import Error
    from allminds.registry import group, instrument, mind
    from allminds.screen.results import Results, evaluate
    from allminds.seeding import Random

_HOMES = {
    "administration.plan": ("Plan", "Test", "read_plan"),
    "administration.run": ("How", "resume", "run"),
    "administration.store": ("RunFolder",),
    "check": ("check_instrument", "check_mind"),
    "contracts": ("BatchMind", "Discrete", "Instrument", "MindBase", "Task", "Traits"),
    "errors": ("Error",),
    "registry": ("group", "instrument", "mind"),
    "screen.results": ("Results", "evaluate"),
    "seeding": ("Random",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BatchMind", "Discrete", "Error", "How", "Instrument", "MindBase", "Plan", "Random",
    "Results", "RunFolder", "Task", "Test", "Traits", "check_instrument", "check_mind", "evaluate",
    "group", "instrument", "mind", "read_plan", "resume", "run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'allminds' has no attribute '{name}'")
    return getattr(importlib.import_module(f"allminds.{_HOME_OF[name]}"), name)
