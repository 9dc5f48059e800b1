"""Cause cards: exercises on which two minds part, played again from the recorded actions.

No mind is imported or called: what it did is in the run folder, and the environment says the rest.
The cards are illustrations, chosen by a stated rule; whether one mind is better than another is
for `compare` to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error, nearest
from allminds.core.line_up import parse_all
from allminds.core.messages import in_words
from allminds.report.charts.drawing import without_folders
from allminds.report.data import TestData, read_tests
from allminds.report.sources import Floats
from allminds.runs.replay import Replay, recorded, retraced
from allminds.runs.store import RunFolder

LARGEST = 2  # cards of a test, besides the typical one
MOST_TESTS = 3  # with cards of one mind: those on which it loses most
MOST_MINDS = 3  # with cards
LONGEST = 120  # characters of a reason or of a value that was seen
MOST_SAID = 9  # messages of a group at a step
TINY = 1e-9  # rewards are sums of floats


# ---------------------------------------------------------------- one exercise, two plays


@dataclass(frozen=True)
class Play:
    """What one mind did on an exercise, played again from its recorded actions."""

    mind: str
    replay: Replay
    slots: tuple[int, ...]  # of the mind
    score: float

    @property
    def steps(self) -> int:
        """The number of steps that were made."""
        return self.replay.record.steps

    @property
    def failed(self) -> str:
        """The kind of failure that ended the play and its reason, or nothing."""
        record = self.replay.record
        status = next((word for word in record.status if word not in ("ok", "void")), "")
        if not status:
            return ""
        reason = " ".join(record.reason.split())
        short = reason if len(reason) <= LONGEST else f"{reason[: LONGEST - 1]}…"
        return f"{status}: {short}" if short and short != status else status

    @cached_property
    def gained(self) -> Floats:
        """The reward so far, after 0, 1, 2, … steps; what a failure costs counts.

        The scored slots are averaged. What the score of a failed play has beyond the rewards that
        were made is spread evenly over the steps that were not.
        """
        record, world = self.replay.record, self.replay.exercise.environment
        scored = list(self.replay.tool.scored_slots)
        if self.failed:
            scored = [n for n in scored if record.score[n] is not None] or scored
        made = [float(np.mean([rewards[n] for n in scored])) for rewards in record.rewards]
        if self.failed:
            left = 1 if world.score == "total" else world.steps - len(made)
            whole = self.score * (1 if world.score == "total" else world.steps)
            made += [(whole - sum(made)) / left] * left
        return np.concatenate([[0.0], np.cumsum(made)])

    def reward(self, step: int) -> float:
        """Return the reward that counts for a step, counted from 1; 0 after the end."""
        return float(np.diff(self.gained)[step - 1]) if step < len(self.gained) else 0.0

    def since(self, step: int) -> float:
        """Return the reward from a step on, to the end."""
        return float(self.gained[-1] - self.gained[min(step, len(self.gained)) - 1])

    def action(self, step: int) -> str:
        """Write what the mind chose at a step; a group's members one after the other."""
        if step > self.steps:
            return ""
        made = self.replay.record.actions[step - 1]
        return ", ".join(self.replay.action(n, made[n]) for n in self.slots if n in made)

    def others(self, step: int) -> str:
        """Write what the other slots chose at a step."""
        made = self.replay.record.actions[step - 1] if step <= self.steps else {}
        return ", ".join(self.replay.action(n, made[n]) for n in made if n not in self.slots)

    @property
    def rest(self) -> str:
        """The words for the other slots of a game."""
        return f"the other{'s' * (self.replay.tool.slots - len(self.slots) > 1)}"

    def seen(self, step: int) -> dict[str, str]:
        """Return what the mind's first slot was shown before a step, field by field.

        Fields that are no plain values, such as panels, are left to the picture.
        """
        if step > len(self.replay.states):
            return {}
        world, state = self.replay.exercise.environment, self.replay.states[step - 1]
        observation = world.observe(state, self.slots[0])
        names = getattr(observation, "_fields", None)
        fields = {name: getattr(observation, name) for name in names or ()}
        written = {name: _written(value) for name, value in fields.items()}
        if names is None:
            written = {"observation": _written(observation)}
        return {name: text for name, text in written.items() if text}

    def reply(self, step: int) -> str:
        """Return what a language model in the mind's first slot wrote at a step; its end if long.

        Nothing if it was asked more or less than once a step, so that the step is not known.
        """
        said = [one.reply for one in self.replay.transcript if one.slot == self.slots[0]]
        if not step <= len(said) or len(said) not in (self.steps, self.steps + 1):
            return ""
        words = " ".join(said[step - 1].split())
        return words if len(words) <= LONGEST else f"…{words[1 - LONGEST :]}"

    def talk(self, step: int) -> list[str]:
        """Write what members of the mind, if it is a group, said at a step; the last if many."""
        world = self.replay.exercise.environment
        said = [one for one in self.replay.record.messages if one.step == step]
        said = [one for one in said if one.slot in self.slots]
        words = [in_words(one, world.actions[one.slot]) for one in said]
        cut = [one if len(one) <= LONGEST else f"{one[: LONGEST - 1]}…" for one in words]
        left_out = [f"({len(cut) - MOST_SAID} messages before)"] if len(cut) > MOST_SAID else []
        return [*left_out, *cut[-MOST_SAID:]]

    def remark(self, step: int) -> str:
        """Say what the instrument has to say of the mind's first action at a step."""
        if step > self.steps:
            return ""
        replay, slot = self.replay, self.slots[0]
        action = replay.record.actions[step - 1].get(slot)
        if action is None:
            return ""
        world, (before, after) = replay.exercise.environment, replay.states[step - 1 : step + 1]
        return replay.tool.presentation.remark(world, before, after, slot, action)


@dataclass(frozen=True)
class Cause:
    """An exercise on which two minds part."""

    index: int
    why: str  # it was chosen
    mine: Play
    rival: Play

    @cached_property
    def gaps(self) -> Floats:
        """How far the rival is ahead in reward, after 1, 2, 3, … steps."""
        mine, rival = self.mine.gained, self.rival.gained
        longest = max(len(mine), len(rival))
        ahead = [np.pad(one, (0, longest - len(one)), mode="edge") for one in (rival, mine)]
        return np.asarray(ahead[0] - ahead[1])[1:]

    @property
    def step(self) -> int:
        """The step at which the gap reaches half its final size; the last if there is none."""
        return half_step(self.gaps) or len(self.gaps)

    @cached_property
    def parted(self) -> int | None:
        """The first step at which any slot did something else; None if there is none."""
        mine, rival = self.mine.replay.record.actions, self.rival.replay.record.actions
        alike = [dict(a) == dict(b) for a, b in zip(mine, rival, strict=False)]
        if False in alike:
            return alike.index(False) + 1
        return None if len(mine) == len(rival) else len(alike) + 1

    def same(self, other: Cause) -> bool:
        """Return True if both minds did and got the same at every step of another exercise."""
        pairs = ((self.mine, other.mine), (self.rival, other.rival))
        records = [(one.replay.record, two.replay.record) for one, two in pairs]
        alike = all(a.actions == b.actions and a.rewards == b.rewards for a, b in records)
        return alike and not self.question

    @property
    def question(self) -> bool:
        """True if the exercise is one question for one mind."""
        world = self.mine.replay.exercise.environment
        return world.steps == 1 and len(world.actions) == 1


def half_step(gaps: Floats) -> int | None:
    """Find the first step, from 1, at which a gap reaches half its final size; None without one."""
    final = float(gaps[-1]) if len(gaps) else 0.0
    if abs(final) <= TINY:
        return None
    reached = gaps * np.sign(final) >= abs(final) / 2 - TINY
    return int(np.argmax(reached)) + 1


def _written(value: Any) -> str:
    """Write a value that was seen; nothing if it is not made of numbers and words."""
    if isinstance(value, float):
        text = f"{value:g}".replace("-", "−")
    elif isinstance(value, int):
        text = str(value).replace("-", "−")
    elif isinstance(value, str):
        text = value
    elif isinstance(value, tuple | list) and all(isinstance(v, int | float | str) for v in value):
        text = " ".join(map(_written, value)) or "none"
    else:
        return ""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# ---------------------------------------------------------------- which exercises


@dataclass
class Parting:
    """A mind and its rival on one test: how often they part, and the exercises that show it."""

    data: TestData
    mind: str
    rival: str
    alike: int = 0  # losses as large as the largest
    searched: int = 0
    worse: int = 0  # exercises
    better: int = 0
    share: float = 0.0  # of all that the mind lost there, in the largest ones
    largest: int = 0  # cards
    causes: list[Cause] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, str]:
        """The two names without the folders of files, if that leaves them different."""
        mind, rival = without_folders(self.mind), without_folders(self.rival)
        return (mind, rival) if mind != rival else (self.mind, self.rival)


def find_causes(
    folders: Sequence[RunFolder], minds: Sequence[str] = (), rival: str | None = None
) -> list[Parting]:
    """Find where minds of complete runs part from their rivals, as `partings` does."""
    tests = read_tests(*folders)
    names = {name: None for data in tests for one in data.minds for name in (one, data.bare[one])}
    for mind in (*minds, *([rival] if rival else [])):
        if mind not in names:
            raise Error(f"the mind '{mind}' is not in this run; {nearest(mind, list(names))}")
    return partings(tests, folders, minds, rival)


def partings(
    tests: Sequence[TestData],
    folders: Sequence[RunFolder],
    minds: Sequence[str] = (),
    rival: str | None = None,
) -> list[Parting]:
    """Find, for each mind asked about, the tests on which it loses most, and their cards.

    By default these are the minds that the runs were made for; without any, the best fair mind of
    each test.
    """
    yours = list(minds) or [mind for folder in folders for mind in folder.plan.yours]
    if not yours:
        best = [(data, one) for data in tests for one in _best(data)]
        return _most_lost(best, folders, rival)
    found = list[Parting]()
    yours = list(dict.fromkeys(yours))[:MOST_MINDS]
    for mind, other in permutations(yours[:2], 2) if rival is None else ():  # each beside the other
        found += [one for one in _most_lost(_taken(tests, mind), folders, other, 1) if one.causes]
    shown = {(one.data.label, one.mind, one.rival) for one in found}
    for mind in yours:
        lost = _most_lost(_taken(tests, mind), folders, rival)
        found += [one for one in lost if (one.data.label, one.mind, one.rival) not in shown]
    return found


def _taken(tests: Sequence[TestData], mind: str) -> list[tuple[TestData, str]]:
    """List the tests that a mind took, with the line-ups that it is first in."""
    pairs = [(data, one) for data in tests for one in data.minds]
    return [(data, one) for data, one in pairs if mind in (one, data.bare.get(one, one))]


def _most_lost(
    taken: Sequence[tuple[TestData, str]], folders: Sequence[RunFolder], wanted: str | None,
    most: int = MOST_TESTS,
) -> list[Parting]:  # fmt: skip
    """Make the cards of the tests on which a mind is farthest behind its rival.

    Tests without a card (nothing was lost, or the exercises were chosen for each mind) are left
    out; if all are, the first of them says why.
    """
    pairs = [(data, mind, rival_of(data, mind, wanted)) for data, mind in taken]
    behind = [(_lost(data, mind, rival), data, mind, rival) for data, mind, rival in pairs if rival]
    behind.sort(key=lambda pair: -pair[0])
    found, nothing = list[Parting](), list[Parting]()
    for _, data, mind, rival in behind:
        if len(found) < most:
            one = parting(data, folders, mind, rival)
            (found if one.causes else nothing).append(one)
    return found or nothing[:1]


def _best(data: TestData) -> list[str]:
    """Return the fair mind with the best score that is not the floor, if there is one."""
    scores = {row["mind"]: row["score"] for row in data.summary["results"] if row["end"] != "floor"}
    there = [one for one in scores if fair(data, one)]
    return [max(there, key=lambda one: float(scores[one]))] if there else []


def fair(data: TestData, mind: str) -> bool:
    """Return False for a mind that sees the future, is the ceiling, or has no rank."""
    row = next(row for row in data.summary["results"] if row["mind"] == mind)
    above = row["end"] == "ceiling" or _sees_future(data, mind)
    return not above and row["score"] is not None and row["ranked"]


def _sees_future(data: TestData, mind: str) -> bool:
    return "sees the future" in data.traits.get(mind, "")


def rival_of(data: TestData, mind: str, wanted: str | None = None) -> str | None:
    """Choose the fair mind with the best score above the mind's own, else the floor.

    Where there is neither, it is the ceiling, if that does not see the future.
    In a game only line-ups with the same opponents are rivals, where there are any.
    """
    scores = {row["mind"]: row["score"] for row in data.summary["results"]}
    others = [one for one in scores if one != mind and scores[one] is not None]
    if wanted is not None:
        return next((one for one in others if wanted in (one, data.bare.get(one, one))), None)
    alike = [one for one in others if _opponents(data, one) == _opponents(data, mind)]
    others = [one for one in alike or others if not _sees_future(data, one)]
    own = scores[mind]
    above = [one for one in others if fair(data, one) and (own is None or scores[one] > own)]
    if above:
        best: str = max(above, key=lambda one: float(scores[one]))
        return best
    ends = [row for row in data.summary["results"] if row["end"] and row["ranked"]]
    ends.sort(key=lambda row: row["end"] != "floor")
    return next((row["mind"] for row in ends if row["mind"] in others), None)


def _opponents(data: TestData, mind: str) -> tuple[str, ...]:
    """Name those in the other slots of a game, itself if it is alone; nobody if all slots count."""
    if data.tool.slots == 1 or data.tool.scored == "all":
        return ()
    first, *others = map(str, parse_all(data.plain[mind]))
    return tuple(others) or (first,) * (data.tool.slots - 1)


def _lost(data: TestData, mind: str, rival: str) -> float:
    """Compute what share of the range of scores the mind is behind its rival."""
    scores = {row["mind"]: row["score"] for row in data.summary["results"]}
    wide = data.tool.highest - data.tool.lowest
    own = data.tool.lowest if scores[mind] is None else scores[mind]
    return float(scores[rival] - own) / wide if wide else 0.0


def parting(data: TestData, folders: Sequence[RunFolder], mind: str, rival: str) -> Parting:
    """Choose the exercises that show how a mind and a rival part, and play them again."""
    found = Parting(data, mind, rival)
    if data.tool.adaptive:
        found.notes.append(
            f"{data.tool.name} is adaptive: {mind} and {rival} had exercises of their own, and no "
            "two plays can be put side by side."
        )
        return found
    if _opponents(data, mind) != _opponents(data, rival):
        found.notes.append("The two did not have the same opponents in this game.")
    kept = min(folders[data.run_of(one) - 1].plan.traces for one in (mind, rival))
    chosen = _chosen(found, kept)
    try:
        for index, why in chosen:
            plays = [
                _again(data, folders, one, index, shown)
                for one, shown in zip((mind, rival), found.names, strict=True)
            ]
            cause = Cause(index, why, *plays)
            if not any(cause.same(other) for other in found.causes):
                found.causes.append(cause)
    except Error as error:
        found.causes.clear()
        found.notes.append(f"There are no cards: {error}.")
    if 0 < len(found.causes) < len(chosen):
        found.notes.append("Others that were chosen went just like these, and are not shown.")
    return found


def _chosen(found: Parting, kept: int) -> list[tuple[int, str]]:
    """Choose the largest losses and the median gap; note how often the two part."""
    data = found.data
    places = [data.minds.index(one) for one in (found.mind, found.rival)]
    mine, rival = data.scores[:kept, places].T if len(data.scores) else np.zeros((2, 0))
    gaps = rival - mine
    numbers: NDArray[np.intp] = np.flatnonzero(np.isfinite(gaps))
    if not len(numbers):
        found.notes.append(
            "There are no cards: the run keeps no actions of this test; set traces in its plan to "
            "the number of exercises whose actions shall be kept, and run it again."
            if not kept
            else "There are no cards: no exercise whose actions are kept has a score of both."
        )
        return []
    gaps = np.where(np.abs(gaps[numbers]) > TINY, gaps[numbers], 0.0)
    found.searched = len(numbers)
    found.worse, found.better = int((gaps > 0).sum()), int((gaps < 0).sum())
    if not found.worse:
        return []
    items = data.about[0].view(np.int64)[numbers]
    order = np.lexsort((numbers, _complexity(data, numbers), -gaps))
    found.alike = int((gaps >= gaps[order[0]] - TINY).sum())
    largest = _of_different_items(order[: found.worse], items)
    found.largest = len(largest)
    found.share = float(gaps[largest].sum() / gaps[gaps > 0].sum())
    equal = found.alike > 1
    first, next_ = ("one of the largest losses",) * 2 if equal else ("the largest loss", "the next")
    chosen = [(int(numbers[n]), next_ if place else first) for place, n in enumerate(largest)]
    middle = int(order[(len(order) - 1) // 2])
    if len(numbers) == 1:
        return [(int(numbers[0]), "the only exercise searched")]
    if gaps[middle] >= gaps[order[0]] - TINY:
        found.notes.append("The median loss is as large, so that these are typical too.")
    elif gaps[middle] == 0:
        found.notes.append("On a typical exercise, that of the median gap, both did alike.")
    elif items[middle] not in items[largest]:
        chosen.append((int(numbers[middle]), "a typical exercise (the median gap)"))
    return chosen


def _of_different_items(order: NDArray[np.intp], items: NDArray[np.int64]) -> list[int]:
    """Return the first places of an order that show different items."""
    found: dict[int, int] = {}
    for n in order:
        found.setdefault(int(items[n]), int(n))
        if len(found) == LARGEST:
            break
    return list(found.values())


def _complexity(data: TestData, numbers: NDArray[np.intp]) -> Floats:
    """Return the complexity of exercises where it is what they are spread over, else zeros."""
    about = data.about[2] if data.about.shape[1] else np.zeros(0)
    return about[numbers] if len(about) > numbers.max(initial=-1) else np.zeros(len(numbers))


# ---------------------------------------------------------------- recorded actions


def _again(data: TestData, folders: Sequence[RunFolder], mind: str, index: int, shown: str) -> Play:
    """Play what a mind did on an exercise again from the record."""
    source = next(one for one in data.sources if mind in one.names.values())
    name, seed = data.plain[mind], folders[source.run - 1].plan.seed
    rows, actions = recorded(source.parts, name, index, data.tool.slots)
    replay = retraced(data.tool, seed, index, shown, rows, actions)
    test = int(source.parts[0].name.split("-")[1])
    folder = folders[source.run - 1]
    said = tuple(folder.messages(test, index, name))
    replay = replace(
        replay,
        transcript=folder.transcript(test, index, name),
        record=replace(replay.record, messages=said),
    )
    slots = tuple(data.tool.scored_slots)
    portrait = data.portraits.get(mind)
    if data.tool.scored == "first" and portrait and portrait.slots:
        slots = portrait.slots
    return Play(shown, replay, slots, float(data.scores[index, data.minds.index(mind)]))
