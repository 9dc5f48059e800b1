"""Logs of Inspect as rows of the common table, so that a report shows models, people and learners.

A failed sample has the score that the instrument gives a failure. A sample that ended by an error
of the provider or the machine is `missing`; ``inspect eval-retry`` asks it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allminds import registry
from allminds.bridges.inspect_words import mind_name
from allminds.contracts import FAILURES, Exercise, Failure
from allminds.core.errors import Error
from allminds.core.table import units_of
from allminds.episode import Episode

SCORERS = ("record", "weighted_record")
_NEEDED = ("exercise", "instrument", "settings", "form", "against", "complexity", "items")


def rows(path: Path) -> list[dict[str, Any]]:
    """Read a log as one row for each sample and slot, with failed samples and unchanged numbers."""
    log = _read(path)
    made = [row for sample in log.samples or [] for row in _of_sample(log, sample, path)]
    if not made:
        raise Error(f"{path} has no samples; was it broken off before the first was done?")
    if all(row["repeat"] == 0 for row in made):  # one epoch
        made = [{name: row[name] for name in row if name != "repeat"} for row in made]
    return made


def _read(path: Path) -> Any:
    try:
        from inspect_ai.log import read_eval_log
    except ModuleNotFoundError:
        raise Error("logs of Inspect need it: pip install 'allminds[llm]'") from None
    try:
        log = read_eval_log(str(path), resolve_attachments=False)
    except FileNotFoundError:
        raise Error(f"cannot read {path}: there is no such file") from None
    except Exception as error:  # of zip, JSON, validation
        said = " ".join(str(error).split())[:120]
        raise Error(f"{path} is no log of Inspect's: {said}") from None
    ours = "allminds" in (log.eval.packages or {}) or log.eval.task.startswith("allminds/")
    samples = log.samples or []
    if not ours or any(
        name not in (sample.metadata or {}) for sample in samples for name in _NEEDED
    ):
        raise Error(
            f"{path} is a log of the task {log.eval.task}, not of allminds; import logs of "
            "inspect eval allminds/…"
        )
    return log


def _of_sample(log: Any, sample: Any, path: Path) -> Iterator[dict[str, Any]]:
    about = sample.metadata
    exercise = _exercise(about)
    found = _record(sample)
    found = _unplayed(log, sample, path) if found is None else _counted(exercise, found)
    units = {name: about[name] for name in ("item", "cluster") if name in about}
    seen: set[str] = set()
    for slot, mind in enumerate(found["minds"]):
        usage = None if mind in seen else _usage(sample, mind)
        seen.add(mind)
        yield {
            "exercise": about["exercise"],
            **(units or units_of(exercise)),
            **about["complexity"],
            "items": about["items"],
            "repeat": sample.epoch - 1,
            "mind": mind,
            "slot": slot,
            "team": found["team"][slot],
            "steps": found["steps"],
            "score": found["score"][slot],
            "learning": found["learning"][slot],
            "status": found["status"][slot],
            "reason": found["reason"] or None,
            "input_tokens": None if usage is None else float(usage.input_tokens),
            "output_tokens": None if usage is None else float(usage.output_tokens),
            "cost": None if usage is None else usage.total_cost,
        }


def _record(sample: Any) -> dict[str, Any] | None:
    """Return the record that the scorer stored, or None if the sample was not scored by it."""
    for name, score in (sample.scores or {}).items():
        if name in SCORERS and score.metadata and "status" in score.metadata:
            return dict(score.metadata)
    return None


def _exercise(about: dict[str, Any]) -> Exercise:
    tool = registry.make_instrument(about["instrument"], about["settings"])
    return tool.exercise(about["seed"], about["index"])


def _counted(exercise: Exercise, found: dict[str, Any]) -> dict[str, Any]:
    """Add the scores of failures to a record from an older log, which has none."""
    failures = {
        slot: Failure(status)
        for slot, status in enumerate(found["status"])
        if status in FAILURES and found["score"][slot] is None
    }
    if not failures:
        return found
    episode = Episode(exercise)
    for actions in found["actions"]:
        episode.play({int(slot): action for slot, action in actions.items()})
    episode.fail(failures)
    assert episode.record is not None
    return found | {"score": list(episode.record.score)}


def _unplayed(log: Any, sample: Any, path: Path) -> dict[str, Any]:
    """Make the record of an exercise that Inspect ended early, by an error or by its limit."""
    from allminds.bridges.inspect_play import LIMITS, seats  # which need Inspect

    about = sample.metadata
    exercise = _exercise(about)
    tool, environment = exercise.tool, exercise.environment
    failed = False
    if sample.error is not None:
        reason = " ".join(sample.error.message.split())[:200]
    elif sample.limit is not None:  # of a log made before the scorer had these
        failed = sample.limit.type in LIMITS
        reason = f"Inspect's limit on {sample.limit.type}"
    else:
        raise Error(f"{path}: sample {sample.id} was not scored; evaluate it without --no-score")
    slots = range(tool.slots)
    ours = {slot: seat.subject.name for slot, seat in seats(tool, about["against"]).items()}
    status = ["void" if slot in ours else "timeout" if failed else "missing" for slot in slots]
    teams = environment.teams
    return {
        "minds": [
            ours.get(slot) or mind_name(_model(log, slot), tool, about["form"]) for slot in slots
        ],
        "team": [next(n for n, team in enumerate(teams) if slot in team) for slot in slots],
        "steps": 0,
        "score": [
            tool.failed_score(environment, slot, ()) if status[slot] in FAILURES else None
            for slot in slots
        ],
        "learning": [None for _ in slots],
        "status": status,
        "reason": reason,
    }


def _model(log: Any, slot: int) -> str:
    """Name the model in a slot: the model of its role, or the evaluated one."""
    role = (log.eval.model_roles or {}).get(f"slot_{slot}")
    role = role[0] if isinstance(role, list) else role
    return str(role.model if role is not None else log.eval.model)


def _usage(sample: Any, mind: str) -> Any:
    """Return the tokens and the cost of a model, in all its slots together; None if unknown."""
    for model, usage in (sample.model_usage or {}).items():
        if mind == f"llm({model})" or mind.startswith(f"llm({model},"):
            return usage
    return None
