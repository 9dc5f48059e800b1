"""The replay of one exercise of a run, step by step, checked against the record."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from allminds import registry
from allminds.contracts import Exercise, Failure, Instrument, Record
from allminds.core.errors import Error, nearest
from allminds.core.line_up import LineUp
from allminds.core.messages import in_words
from allminds.core.transcripts import SHEET, Journal, Reply, Sheet
from allminds.core.watch import Watch
from allminds.episode import Episode, play_on
from allminds.runs.store import RunFolder, read_part


@dataclass(frozen=True)
class Replay:
    """The states, actions and rewards of an exercise."""

    tool: Instrument
    exercise: Exercise
    mind: str
    states: list[Any]
    record: Record
    transcript: Sequence[Reply] = ()  # what language models were asked and replied

    def as_text(self) -> str:
        """Write the exercise state by state, as the instrument draws them."""
        complexity = "  ".join(
            f"{k} {v:g}" for k, v in self.exercise.environment.complexity.items()
        )
        lines = [f"{self.exercise.id}  {self.mind}", complexity]
        for step, state in enumerate(self.states):
            done = ""
            if step:
                made, got = self.record.actions[step - 1], self.record.rewards[step - 1]
                done = "  ".join(
                    f"slot {slot}: {self.action(slot, made.get(slot))} {got[slot]:+g}"
                    for slot in range(len(got))
                )
            lines += ["", f"step {step}  {done}".rstrip(), *self.talk(step)]
            lines.append(self.tool.show_state(self.exercise.environment, state))
        for one in self.transcript:
            took = f"{one.input_tokens:,} tokens in, {one.output_tokens:,} out, {one.seconds:g} s"
            who = f"slot {one.slot}, {one.member and f'member {one.member}, '}{one.model}"
            lines += ["", f"{who} was asked:", _indented(one.asked)]
            lines += [f"and replied ({took}):", _indented(one.reply)]
        scores = ", ".join("–" if s is None else f"{s:+.4f}" for s in self.record.score)
        return "\n".join([*lines, "", f"score {scores}, as recorded"])

    def as_json(self) -> dict[str, Any]:
        """Convert the replay to a plain value for JSON."""
        return {
            "exercise": self.exercise.id,
            "mind": self.mind,
            "complexity": dict(self.exercise.environment.complexity),
            "actions": [{str(k): v for k, v in made.items()} for made in self.record.actions],
            "rewards": [list(rewards) for rewards in self.record.rewards],
            "score": list(self.record.score),
            "status": list(self.record.status),
            **(
                {"messages": [asdict(one) for one in self.record.messages]}
                if self.record.messages
                else {}
            ),
            **({"transcript": list(map(_plainly, self.transcript))} if self.transcript else {}),
        }

    def talk(self, step: int) -> list[str]:
        """Write what members of groups said before a step was made, one line for each message."""
        said = [one for one in self.record.messages if one.step == step]
        several = len({one.slot for one in said}) > 1
        lines = []
        for one in said:
            words = in_words(one, self.exercise.environment.actions[one.slot])
            heard = f" (heard by {', '.join(map(str, one.hearers))})" if one.hearers else ""
            where = f"slot {one.slot}, " if several else ""
            lines.append(f"    {where}round {one.round}: {words}{heard}")
        return lines

    def action(self, slot: int, action: Any) -> str:
        """Write an action of a slot by its label, or as it is if it has none."""
        space: Any = self.exercise.environment.actions[slot]
        labels, start = getattr(space, "labels", ()), getattr(space, "start", 0)
        named = action is not None and 0 <= action - start < len(labels)
        return str(labels[action - start]) if named else str(action)


def replayed(folder: RunFolder, index: int, mind: str | None, test: int) -> Replay:
    """Play exercise number `index` of a run again for one of its minds."""
    if test >= len(folder.plan.tests):
        raise Error(f"there is no test {test + 1}; the plan has {len(folder.plan.tests)}")
    given = folder.plan.tests[test]
    if index >= given.exercises:
        raise Error(f"there is no exercise {index}; the test has 0..{given.exercises - 1}")
    tool = folder.tool(test)
    origins = folder.plan.objects
    known = {one: origin.reference for one, origin in origins.items() if origin.reference}
    lost = [one for one in given.minds if one in origins and one not in known]
    if mind in lost:
        raise Error(
            f"cannot replay {mind}: it was an object of a Python session, which is not here"
        )
    named = (registry.line_up(one, tool, known) for one in given.minds if one not in lost)
    line_ups = {line_up.name: line_up for line_up in named}
    if not line_ups:
        raise Error(f"cannot replay {lost[0]}: it was an object of a Python session")
    name = mind or next(iter(line_ups))
    if name not in line_ups:
        raise Error(f"the mind '{name}' is not in this test; {nearest(name, line_ups)}")
    said = folder.transcript(test, index, name)
    exercise, record = _again(folder, tool, line_ups[name], index, test)
    return Replay(tool, exercise, name, _states(exercise, record), record, said)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _plainly(reply: Reply) -> dict[str, Any]:
    """Convert a reply to plain values, without its form on the wire."""
    return {name: value for name, value in asdict(reply).items() if name != "output"}


def _again(
    folder: RunFolder, tool: Instrument, line_up: LineUp, index: int, test: int
) -> tuple[Exercise, Record]:
    """Play the exercise again; reject a result that is not the one in the table."""
    folder.check_version(test, tool)
    watch = Watch(folder.plan.time_limit)
    with _from_the_record(folder, test, line_up), watch.running():
        ((exercise, record),) = play_on(tool, line_up, folder.plan.seed, index, index + 1, watch)
    rows = folder.rows(test, record.index, line_up.name)
    recorded = [None if score is None else float(score) for score in rows["score"]]
    if recorded != list(record.score) or rows["status"] != list(record.status):
        raise Error(
            f"{line_up.name} does not repeat itself on {exercise.id}: recorded {recorded}, "
            f"now {list(record.score)}; it, or allminds, has changed since the run"
        )
    return exercise, record


@contextlib.contextmanager
def _from_the_record(folder: RunFolder, test: int, line_up: LineUp) -> Iterator[None]:
    """Let language models reply what they have replied in the run; none is asked."""
    if not any(seat.subject.paid for seat in line_up.seats):
        yield
        return
    stopped = threading.Event()
    stopped.set()
    journal = folder.journal(test)
    token = SHEET.set(Sheet(Journal(None, test, journal.kept), 0, stopped))
    try:
        yield
    finally:
        SHEET.reset(token)


def _states(exercise: Exercise, record: Record) -> list[Any]:
    episode = Episode(exercise)
    states = [episode.state]
    for actions in record.actions:
        episode.play(actions)
        states.append(episode.state)
    return states


# ---------------------------------------------------------------- without minds


def recorded(
    parts: Sequence[Path], mind: str, index: int, slots: int
) -> tuple[dict[str, list[Any]], list[list[int]]]:
    """Read the records of a mind on an exercise, slot by slot as columns, and [step][slot] actions.

    `parts` are the files of a test's records; their names give the exercises in them.
    """
    import numpy as np

    for part in parts:
        first, last = (int(number) for number in part.stem.split("-")[-2:])
        found: Any = _where(part, mind, index) if first <= index < last else ()
        if not len(found):
            continue
        path = part.parents[1] / "traces" / part.name
        traced: Any = _where(path, mind, index) if path.exists() else ()
        if not len(traced):
            raise Error(
                f"the run keeps no actions of {mind} on exercise {index}; run its plan again with "
                "this allminds"
            )
        step, slot = (traced[name].to_numpy() for name in ("step", "slot"))
        made = np.zeros((int(step.max()), slots), np.int64)
        made[step - 1, slot] = traced["action"].to_numpy()
        return found.sort_by("slot").to_pydict(), made.tolist()
    raise Error(f"the run has no record of {mind} on exercise {index}")


def _where(path: Path, mind: str, index: int) -> Any:
    """Read the rows of one line-up on one exercise from a file."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    known = pq.read_schema(path).names
    who = "line_up" if "line_up" in known else "mind"
    wanted = {who, "index", "slot", "exercise", "steps", "score", "status", "reason"}
    rows = read_part(path, sorted((wanted | {"step", "action"}) & set(known)))
    rows = rows.filter(pc.equal(rows["index"], index))
    return rows.filter(pc.equal(rows[who].cast("string"), mind))


def retraced(
    tool: Instrument,
    seed: int,
    index: int,
    mind: str,
    rows: Mapping[str, Sequence[Any]],
    actions: Sequence[Sequence[int]],
) -> Replay:
    """Play the recorded actions of an exercise again, without any mind.

    Parameters
    ----------
    rows
        The columns of its records, slot by slot: exercise, steps, score, status and reason.
    actions
        The recorded actions, [step][slot]; those of slots that were not awaited do not matter.
    """
    exercise = tool.exercise(seed, index)
    if exercise.id != rows["exercise"][0]:
        raise Error(
            f"{rows['exercise'][0]} is not an exercise of this allminds, which has {exercise.id} "
            "in its place; use the allminds that made it"
        )
    episode = Episode(exercise)
    states = [episode.state]
    for made in actions[: int(rows["steps"][0])]:
        if not episode.waiting:
            break
        if episode.play({slot: int(made[slot]) for slot in episode.waiting}):
            states.append(episode.state)
    at_fault = {
        slot: Failure(status, rows["reason"][slot] or "")
        for slot, status in enumerate(rows["status"])
        if status not in ("ok", "void")
    }
    if episode.record is None and at_fault:
        episode.fail(at_fault)
    record = episode.record
    recorded = [None if score is None else float(score) for score in rows["score"]]
    if (
        record is None
        or record.steps != rows["steps"][0]
        or list(record.score) != recorded
        or list(record.status) != list(rows["status"])
    ):
        raise Error(f"the recorded actions of {mind} on {exercise.id} do not give its score")
    return Replay(tool, exercise, mind, states, record)
