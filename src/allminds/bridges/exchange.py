"""Results and items for other tools: CSV, Parquet, py-irt, item banks, and logs of Inspect.

`write_results` exports results and ``allminds import`` reads them again; CSV and Parquet keep
everything. py-irt knows only right and wrong answers: one line for each mind, with its answers.

A failed sample of a log of Inspect has the score that the instrument gives a failure. A sample
that ended by an error of the provider or the machine is `missing`; ``inspect eval-retry`` asks it
again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds import registry
from allminds.bridges.manner import Manner, sent_by
from allminds.contracts import FAILURES, STATUSES, Exercise, Failure, Instrument
from allminds.core.errors import Error, nearest
from allminds.core.files import write_bytes
from allminds.core.spending import COUNTED
from allminds.core.table import harmless, units_of
from allminds.core.transcripts import ASKED
from allminds.episode import Episode
from allminds.until import exercise_of

if TYPE_CHECKING:
    import pandas as pd


# ---------------------------------------------------------------- results


def write_results(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a results table as .csv, .parquet, or .jsonl for py-irt; never leave a partial file."""
    path = Path(path)
    writers = {".csv": _csv, ".parquet": _parquet, ".jsonl": _py_irt}
    if path.suffix not in writers:
        raise Error(f"cannot write results as '{path.name}'; {nearest(path.suffix, writers)}")
    write_bytes(path, writers[path.suffix](frame))
    return path


def _csv(frame: pd.DataFrame) -> bytes:
    """Write a table; text that a spreadsheet would take for a formula gets a quote in front."""
    words = frame.select_dtypes(include=["object", "category", "string"]).columns
    made = frame.assign(**{name: frame[name].astype(object).map(harmless) for name in words})
    return str(made.to_csv(index=False, lineterminator="\n")).encode()


def _parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), out, compression="zstd")
    return bytes(out.getvalue().to_pybytes())


def _py_irt(frame: pd.DataFrame) -> bytes:
    """Write failures as wrong answers, and leave out void and missing plays, as items not given."""
    failed = frame["status"].isin(FAILURES)
    played = frame.assign(score=frame["score"].mask(failed, 0.0))
    played = played[failed | (frame["status"] == "ok")]
    wrong = played.loc[~played["score"].isin([0, 1])]
    if len(wrong):
        raise Error(
            f"py-irt takes answers that are right (1) or wrong (0), not the score "
            f"{wrong['score'].iloc[0]:g} of {wrong['exercise'].iloc[0]}"
        )
    twice = played.duplicated(["mind", "exercise"])
    if twice.any():
        first = played[twice].iloc[0]
        raise Error(f"{first['mind']} has {first['exercise']} twice; py-irt takes one answer each")
    lines = []
    for mind, its in played.groupby("mind", sort=True, observed=True):
        answers = dict(zip(its["exercise"], its["score"].astype(int), strict=True))
        lines.append(_line({"subject_id": str(mind), "responses": answers}))
    return "".join(lines).encode()


def read_py_irt(path: Path) -> pd.DataFrame:
    """Read a file of py-irt: one row for each answer."""
    import pandas as pd

    made: list[dict[str, Any]] = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            told = json.loads(line)
            mind, answers = str(told["subject_id"]), dict(told["responses"])
        except (ValueError, KeyError, TypeError):
            raise Error(f"{where}: needs subject_id and responses, as py-irt has them") from None
        for exercise, answer in answers.items():
            if isinstance(answer, bool) or answer not in (0, 1):
                raise Error(f"{where}: the response to {exercise} is {answer!r}, not 0 or 1")
            made.append({"exercise": str(exercise), "mind": mind, "score": float(answer)})
    if not made:
        raise Error(f"{path} is empty: there is no response in it")
    pairs = [(row["mind"], row["exercise"]) for row in made]
    if len(set(pairs)) < len(pairs):
        mind = next(pair[0] for n, pair in enumerate(pairs) if pair in pairs[:n])
        raise Error(f"{path}: the subject {mind} answers an item twice")
    return pd.DataFrame(made)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a table that has at least exercise, mind and score; keep its other columns."""
    import pandas as pd
    import pyarrow as pa

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise Error(f"{path} is not a Parquet file: {' '.join(str(error).split())[:120]}") from None
    missing = [name for name in ("exercise", "mind", "score") if name not in frame]
    if missing:
        there = ", ".join(map(str, frame.columns))
        raise Error(f"{path}: there is no column '{missing[0]}' among {there}")
    if not pd.api.types.is_numeric_dtype(frame["score"]) or (frame["score"].abs() > 1).any():
        raise Error(f"{path}: the scores are not all numbers in -1..1; rescale them")
    status = frame["status"].map(str) if "status" in frame else pd.Series("ok", frame.index)
    unknown = [word for word in status.unique() if word not in STATUSES]
    if unknown:
        raise Error(
            f"{path}: the status '{unknown[0]}' is unknown; {nearest(unknown[0], STATUSES)}"
        )
    if (frame["score"].isna() & (status == "ok")).any():
        raise Error(f"{path}: a play without a score needs a status, such as refused")
    return frame.assign(exercise=frame["exercise"].astype(str), mind=frame["mind"].astype(str))


def read_inspect(path: Path) -> pd.DataFrame:
    """Read a log of Inspect: one row for each sample and slot."""
    import pandas as pd

    frame = pd.DataFrame(log_rows(path))
    numbers = ["score", "learning", *ASKED[1:], "reply_seconds"]
    return frame.astype(dict.fromkeys(numbers, "float64"))


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "inspect": read_inspect,
    "parquet": read_parquet,
    "py-irt": read_py_irt,
}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Error(f"cannot read {path}: it is not text in UTF-8") from None
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror or error}") from None


# ---------------------------------------------------------------- items


def items(tool: Instrument, n: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield questions 0..n-1 of a seed, as in `evaluate`: id, text, options, answer, complexity.

    The field `items` says whether they are published or fresh, so that they cannot be confused.
    """
    shown = tool.presentation
    if not shown.bank:
        banks = [name for name in registry.instruments() if _is_bank(name)]
        raise Error(f"{tool.name} has no items with one answer; choose {' or '.join(banks)}")
    for i in range(n):
        exercise = tool.exercise(seed, i)
        yield {
            "id": exercise.id,
            "instrument": tool.name,
            "items": tool.items,
            **shown.item(exercise),
            **exercise.environment.complexity,
        }


def _is_bank(name: str) -> bool:
    return registry.make_instrument(name).presentation.bank


def write_items(tool: Instrument, n: int, path: str | Path, seed: int = 1) -> Path:
    """Write questions as JSON lines; never leave a partial file."""
    path = Path(path)
    if n < 1:
        raise Error(f"there must be 1 item or more, not {n}")
    if tool.length is not None and n > tool.length:
        raise Error(f"{tool.name} has {tool.length} published items, not {n}")
    write_bytes(path, "".join(_line(item) for item in items(tool, n, seed)).encode())
    return path


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"


# ---------------------------------------------------------------- logs of Inspect


SCORERS = ("record", "weighted_record", "ability_record")
_NEEDED = ("exercise", "instrument", "settings", "form", "against", "complexity", "items")


def log_rows(path: Path) -> list[dict[str, Any]]:
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
        raise Error(f"{path} is not a log of Inspect: {said}") from None
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
    counts = found.get("counts") or [None] * len(found["minds"])  # an older log has none
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
            **_took(usage, sample),
            **(counts[slot] or dict.fromkeys(COUNTED)),
            "model_settings": _settings(log, slot) if mind.startswith("llm(") else None,
        }


def _took(usage: Any, sample: Any) -> dict[str, float | None]:
    """Return tokens, cost and seconds a reply as columns; None where the log has none."""
    if usage is None:
        return dict.fromkeys((*ASKED[1:], "reply_seconds"))
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    thought = usage.reasoning_tokens
    calls = [one for one in sample.events or () if one.event == "model" and one.working_time]
    seconds = [float(one.working_time) for one in calls]
    return {
        "input_tokens": float(usage.input_tokens + cached),
        "output_tokens": float(usage.output_tokens),
        "reasoning_tokens": None if thought is None else float(thought),
        "cost": usage.total_cost,
        "reply_seconds": sum(seconds) / len(seconds) if seconds else None,
    }


def _settings(log: Any, slot: int) -> str | None:
    """Write the generation settings of the model in a slot as JSON; None if all were usual."""
    given = _config(log, slot).model_dump(mode="json", exclude_none=True)
    return json.dumps(given, sort_keys=True) if given else None


def _config(log: Any, slot: int) -> Any:
    """Return the generation settings of the model in a slot."""
    from inspect_ai.model import GenerateConfig

    role = (log.eval.model_roles or {}).get(f"slot_{slot}")
    role = role[0] if isinstance(role, list) else role
    config = log.eval.model_generate_config if role is None else role.config
    return (
        GenerateConfig()
        .merge((log.plan.config if log.plan else None) or GenerateConfig())
        .merge(config or GenerateConfig())
    )


def _record(sample: Any) -> dict[str, Any] | None:
    """Return the record that the scorer stored, or None if the sample was not scored by it."""
    for name, score in (sample.scores or {}).items():
        if name in SCORERS and score.metadata and "status" in score.metadata:
            return dict(score.metadata)
    return None


def _exercise(about: dict[str, Any]) -> Exercise:
    return exercise_of(registry.make_instrument(about["instrument"], about["settings"]), about)


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
    from allminds.bridges.inspect_play import seats  # which need Inspect
    from allminds.bridges.inspect_scores import LIMITS

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
        "minds": [ours.get(slot) or _named(log, slot, about, tool) for slot in slots],
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


def _named(log: Any, slot: int, about: dict[str, Any], tool: Any) -> str:
    """Name the mind in a slot by its model, the manner of the task and the generation settings."""
    manner = Manner(**about.get("manner", {"form": about["form"]}))
    given = sent_by(_config(log, slot))
    return replace(manner, **given).named(_model(log, slot), tool)


def _usage(sample: Any, mind: str) -> Any:
    """Return the tokens and the cost of a model, in all its slots together; None if unknown."""
    for model, usage in (sample.model_usage or {}).items():
        if mind == f"llm({model})" or mind.startswith(f"llm({model},"):
            return usage
    return None
