"""A league table with a real language model: the figures and transcripts of docs/league.md.

    python benchmarks/league.py --write              # in about ten minutes; rewrites the page's end
    python benchmarks/league.py --exercises 4        # a trial, printed

SmolLM2-135M-Instruct is served on loopback (`allminds.bridges.offline`) and asked through Inspect.
Built-in minds take the same exercises, and simulated people the same again through the pages that
people use: these are programs, see `Simulated`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import allminds as am
from allminds import registry
from allminds.bridges.offline import Offline, answers_to
from allminds.contracts import Instrument, MindBase, Task
from allminds.core.seeding import Random
from allminds.core.transcripts import Reply
from allminds.runs.store import RunFolder
from allminds.web.simulate import simulate
from allminds.web.study import Study

PAGE = Path(__file__).parents[1] / "docs" / "league.md"
MARK = "<!-- made by benchmarks/league.py -->\n"
SEED = 20261118
PEOPLE, LAPSE = 12, 0.2
TURNS = 3  # of a transcript that are quoted


class Contest(NamedTuple):
    """One instrument of the league."""

    name: str
    settings: dict[str, Any]
    exercises: int
    minds: tuple[str, ...]
    person: str  # the mind that simulated people have
    against: str = ""
    form: str = ""  # how the model is shown it
    free: bool = False  # also let the model write what it likes


CONTESTS = (
    Contest("c-test", {"form": "fresh", "k": "9..12"}, 40, ("mode", "pattern"), "pattern",
            free=True),
    Contest("matrices", {}, 30, ("position", "in-context", "last-row-only"), "rule-induction",
            form="text"),
    Contest("prisoners-dilemma", {"steps": 5}, 10, ("defect", "tit-for-tat"), "tit-for-tat",
            against="joss"),
    Contest("lambda-star", {"iterations": 10}, 10, ("local-search",), "local-search"),
)  # fmt: skip


class Simulated(MindBase):
    """A simulated person: does what a built-in mind does, but draws one choice in five by lot."""

    takes_instrument = True

    def __init__(self, tool: Instrument, mind: str = "random") -> None:
        self.mind = registry.line_up(mind, tool).seats[0].subject.make()

    def begin(self, task: Task) -> None:
        """Begin an exercise."""
        self.task = task
        self.mind.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Choose as the mind does, or by lot."""
        space: Any = self.task.actions
        meant = self.mind.act(observation, random.part(1))
        if random.below(1000) >= 1000 * LAPSE:
            return meant
        legal = list(space.allowed(observation))
        return legal[random.below(len(legal))]

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Pass on what came of the choice."""
        self.mind.learn(reward, observation, done)


# ---------------------------------------------------------------- playing


def asked(contest: Contest, count: int, folder: Path) -> list[Path]:
    """Ask the model about an instrument; return the run folders, one for each way of answering."""
    tool = registry.make_instrument(contest.name, contest.settings)
    ways: dict[str, Sequence[str]] = {"offline": answers_to(tool)}
    if contest.free:
        ways["free"] = ()
    for provider, answers in ways.items():
        with Offline(provider, answers=answers) as model:
            name = f"llm({model.name}{',form=' + contest.form if contest.form else ''})"
            played(contest, [name], count, folder / provider, ends=False)
    return [folder / provider for provider in ways]


def played(contest: Contest, minds: Sequence[str], count: int, out: Path, ends: bool) -> Path:
    """Give an instrument to some minds, in a new run folder."""
    am.evaluate(
        contest.name, minds, against=contest.against or None, settings=contest.settings,
        episodes=count, seed=SEED, ends=ends, out=out, how=am.How(jobs=1, connections=1),
    )  # fmt: skip
    return out


def lived(counts: Mapping[str, int], folder: Path) -> Path:
    """Let simulated people take all instruments through the pages that people use."""
    tests = [
        {"instrument": one.name, "settings": one.settings, "exercises": counts[one.name],
         "practice": 0, "check": False} | ({"opponent": one.against} if one.against else {})
        for one in CONTESTS
    ]  # fmt: skip
    study = Study.model_validate({
        "slug": "league", "title": {"en": "League"}, "languages": ["en"], "participants": PEOPLE,
        "retention": "2099-01-01", "seed": SEED, "tests": tests,
        "consent": {"version": "1", "text": {"en": "Simulated."}},
    })  # fmt: skip
    minds = [f"{__file__}:Simulated({one.person})" for one in CONTESTS]
    with tempfile.TemporaryDirectory() as place:
        found = simulate(study, minds, PEOPLE, f"{place}/people.db", folder)
    if found["minds"] != minds:
        raise SystemExit(f"the simulated people were others: {found['minds']}")
    return folder


# ---------------------------------------------------------------- telling


def table(contest: Contest, floor: str, folders: Sequence[Path], runs: Sequence[Path]) -> str:
    """Write one instrument's table, as `allminds compare` has it."""
    words = ["compare", *map(str, folders), "--instrument", contest.name, "--baseline", floor]
    done = subprocess.run(
        [sys.executable, "-m", "allminds", *words, "--json", "--trust"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (found,) = json.loads(done.stdout)["comparisons"]
    beside = {one["first"]: one for one in found["differences"]}
    costs = dict(map(costs_of, runs))
    rows = [
        f"| mind | score | minus {floor} | verdict | failed | tokens in, out | s a reply |",
        "| --- | --- | --- | --- | ---: | --- | ---: |",
    ]
    for one in found["standings"]:
        name, gap = one["mind"], beside.get(one["mind"])
        shown = f"{PEOPLE} simulated people" if name == "people" else f"`{name}`"
        shown += "" if one["ranked"] else ", not ranked"
        cells = [shown, figure(one["score"], one["ci95"])]
        cells += [figure(gap["mean"], gap["interval"], "+"), gap["verdict"]] if gap else ["", ""]
        rows.append(f"| {' | '.join([*cells, str(one['failed']), *costs.get(name, ('', ''))])} |")
    return "\n".join(rows)


def figure(value: float, interval: Sequence[float], sign: str = "") -> str:
    """Write a figure with its 95 % interval."""
    return f"{value:{sign}.3f} [{interval[0]:.3f}, {interval[1]:.3f}]".replace("-", "−")


def replies_in(folder: Path) -> tuple[str, list[list[Reply]]]:
    """Return the line-up of a model's run, and its replies, exercise by exercise."""
    run = RunFolder.open(folder)
    frame = run.records()
    name = str(frame["line_up"].iloc[0])
    return name, [run.transcript(0, index, name) for index in sorted(frame["index"].unique())]


def costs_of(folder: Path) -> tuple[str, tuple[str, str]]:
    """Sum the tokens of a model's run, and average the seconds of its replies."""
    name, exercises = replies_in(folder)
    replies = [one for exercise in exercises for one in exercise]
    given, made = sum(r.input_tokens for r in replies), sum(r.output_tokens for r in replies)
    seconds = sum(one.seconds for one in replies) / len(replies)
    return name, (f"{given:,}, {made:,}", f"{seconds:.1f}")


def transcript(folder: Path) -> str:
    """Quote the first exercise of a model's run: what was said to the model, and by it."""
    name, (first, *_) = replies_in(folder)
    said = [
        line
        for one in first[:TURNS]
        for line in (*(f"> {line}" for line in one.asked.splitlines()), one.reply.strip())
    ]
    more = [f"(and so on: {len(first)} replies)"] if len(first) > TURNS else []
    words = "\n".join([*said, *more])
    return f"`{name}`, exercise 0; lines with `>` are what it was told:\n\n```text\n{words}\n```"


def contested(contest: Contest, count: int, folder: Path, people: Path) -> str:
    """Play one instrument, and write its section."""
    tool = registry.make_instrument(contest.name, contest.settings)
    begun = time.perf_counter()
    runs = asked(contest, count, folder)
    took = time.perf_counter() - begun
    minds = played(contest, contest.minds, count, folder / "minds", ends=True)
    floor = tool.floor_mind + (f", {contest.against}" if contest.against else "")
    settings = ", ".join(f"{key} = {value}" for key, value in contest.settings.items())
    return "\n\n".join([
        f"### {contest.name}",
        f"{count} exercises{', ' + settings if settings else ''}"
        f"{', against ' + contest.against if contest.against else ''}. Simulated people are "
        f"`{contest.person}` with lapses. The model took {took:.0f} s in all.",
        table(contest, floor, [*runs, minds, people], runs), *map(transcript, runs),
    ])  # fmt: skip


def main() -> None:
    """Play all contests; print the tables and transcripts, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exercises", type=int, help="of each instrument, at most")
    parser.add_argument("--write", action="store_true", help="rewrite the end of docs/league.md")
    given = parser.parse_args()
    counts = {one.name: min(one.exercises, given.exercises or 1000) for one in CONTESTS}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        people = lived(counts, folder / "people")
        parts = [contested(one, counts[one.name], folder / one.name, people) for one in CONTESTS]
    head = f"`python benchmarks/league.py --write`, {date.today()}, seed {SEED}."
    made = "\n\n".join([head, *parts]) + "\n"
    if given.write:
        PAGE.write_text(PAGE.read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n" + made)
    else:
        print(made)


if __name__ == "__main__":
    main()
