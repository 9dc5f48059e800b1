"""How to repeat a run: its plan as TOML, and marks to check a repetition by."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from allminds.runs.plan import Plan
from allminds.runs.store import RunFolder


def section(folder: RunFolder) -> dict[str, Any]:
    """What the page says about repeating one run."""
    plan = folder.plan
    return {
        "plan": plan_text(plan),
        "from_files": any(".py:" in mind for test in plan.tests for mind in test.minds),
        "seed": plan.seed,
        "run": plan.run,
        "figures": figures_hash(folder),
        "versions": folder.made["versions"],
    }


def figures_hash(folder: RunFolder) -> str:
    """Twelve hex digits that are the same whenever all scores are, to the last bit."""
    tests = folder.summary()["tests"]
    kept = [
        [{name: row[name] for name in sorted(row) if name != "seconds"} for row in test["results"]]
        for test in tests
    ]
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


# ---------------------------------------------------------------- the plan as TOML


def plan_text(plan: Plan) -> str:
    """The plan as the TOML file that would repeat it."""
    values = plan.model_dump(mode="json")
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if name != "tests"]
    for test in values["tests"]:
        settings = test.pop("settings")
        given = {name: value for name, value in test.items() if value not in ("", {})}
        lines += ["", "[[tests]]", *(f"{name} = {_toml(value)}" for name, value in given.items())]
        lines += ["[tests.settings]"] if settings else []
        lines += [f"{_key(name)} = {_toml(value)}" for name, value in settings.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml(name)
