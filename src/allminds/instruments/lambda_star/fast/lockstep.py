"""Λ* with NumPy, many episodes side by side: one step of all, then the next.

The observations of all episodes are made at once, so that what is left to pay for a plain Python
mind is its own `act`. A mind with ``act_many`` is asked once for all episodes; built-in minds with
kernels have it too, for jobs so small that kernels would not be worth loading. Results are those
of the plain loop, bit for bit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Failure, MindBase, Task
from allminds.core import seeding
from allminds.core.bases import BatchMind
from allminds.core.blocks import Block
from allminds.core.line_up import LineUp, Subject
from allminds.core.seeding import MINDS
from allminds.core.watch import Watch, malformed
from allminds.instruments.chance import RandomMind
from allminds.instruments.lambda_star.fast.arrays import (
    Failures,
    Worlds,
    block_of,
    half_rewards,
    make_worlds,
    makes_arrays,
    meets_itself,
    shared,
    sight,
    worlds_by_arrays,
)
from allminds.instruments.lambda_star.instrument import LambdaStar
from allminds.instruments.lambda_star.minds import Expert, LocalSearch, Optimum
from allminds.instruments.lambda_star.world import MOVE, Foresight, View

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.instrument import LambdaStar

Numbers = NDArray[np.int64]
MakeWorlds = Callable[["LambdaStar", int, int, int], Worlds]
STAY = 5


class Word(seeding.Random):
    """`Random` at one step with word 0 drawn beforehand, for all episodes at once."""

    __slots__ = ("first",)

    first: int

    def begin(self, step: int, first: int) -> None:
        """Go to the beginning of a step, whose word 0 is `first`."""
        self.step, self.first, self.drawn = step, first, 0

    def word_at(self, j: int) -> int:
        """Return 64 random bits; word 0 is known already."""
        return self.first if j == 0 else super().word_at(j)

    def below(self, n: int) -> int:
        """Draw a number in 0..n-1."""
        if self.drawn or not 0 < n <= 9:
            return super().below(n)
        self.drawn = 1
        return (self.first >> 32) * n >> 32


MOST_PLANS = 1 << 26  # bytes: the plans of an optimum for all exercises of a block
HALVES = {n: n * 0.5 for n in range(-2, 3)}  # the same numbers in all views stay at hand
MOST_VIEWS = 1 << 19  # views that are kept: some 40 MB, if all are met


def small_form(tool: LambdaStar, line_up: LineUp, watch: Watch) -> Lockstep | None:
    """Return the form without kernels of built-in minds that have kernels, and `act_many` too."""
    kinds = {type(seat.subject.make()) for seat in line_up.seats if not seat.subject.group}
    plans = tool.torus.cells * tool.settings.iterations * 1024
    if (
        any(seat.subject.group for seat in line_up.seats)
        or not kinds <= {RandomMind, LocalSearch, Expert, Optimum}
        or (Optimum in kinds and plans > MOST_PLANS)
        or meets_itself(tool)
        or not makes_arrays(tool)
    ):
        return None
    return Lockstep(tool, line_up, watch, worlds_by_arrays)


class Lockstep:
    """A line-up of single minds without rehearsals; `worlds` makes those of a block."""

    compiled = False

    def __init__(
        self, tool: LambdaStar, line_up: LineUp, watch: Watch, worlds: MakeWorlds = make_worlds
    ) -> None:
        self.tool, self.line_up, self.watch, self.worlds = tool, line_up, watch, worlds
        self.sights = Sights(tool)

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Play all episodes of the block, step by step."""
        here = self.worlds(self.tool, seed, first, last)
        stage = Stage(self.tool, here, self.sights)
        casts = [
            _cast(self.tool, here, stage, seat.subject, seat.slots[0], self.watch)
            for seat in self.line_up.seats
        ]
        dead: Failures = {}
        for step in range(here.rules.steps):
            for slot, cast in enumerate(casts):
                stage.actions[slot, step] = cast.act(stage, slot, step, dead)
            _bury(casts, dead, step)
            stage.advance(step)
            for slot, cast in enumerate(casts):
                if cast.learns:
                    cast.learn(stage, slot, step, dead)
        kept = max(0, min(traced - first, here.count))
        return _settled(self.tool, here, stage, shared(dead, self.line_up), kept)


class Kept:
    """Values by number, each made when it is first wanted; all, once as many were asked for."""

    def __init__(self, count: int, make: Callable[[list[int]], Iterable[Any]]) -> None:
        self.values, self.known = np.empty(count, object), np.zeros(count, bool)
        self.make = make  # makes those of some numbers
        self.asked = 0

    def at(self, places: Numbers) -> list[Any]:
        """Return the values at some places."""
        new = places[~self.known[places]]
        if len(new):
            self.asked += len(places)
            new = np.unique(new) if self.asked < len(self.known) else np.flatnonzero(~self.known)
            for number, value in zip(new.tolist(), self.make(new.tolist()), strict=True):
                self.values[number] = value  # one at a time: a tuple would be taken for a row
            self.known[new] = True
        found: list[Any] = self.values[places].tolist()
        return found


class Sights:
    """The views from all cells; on a torus of usual size each is made once."""

    def __init__(self, tool: LambdaStar) -> None:
        reach, torus = tool.settings.range, tool.torus
        self.table = sight(torus.rows, torus.cols, reach)
        gains, self.alike = np.unique(self.table.gains, axis=0, return_inverse=True)
        self.kinds = kinds = len(gains)  # what can be seen of Good; classes that look alike are one

        def rewards(good: int, evil: int) -> tuple[float, ...]:
            return tuple(map(HALVES.__getitem__, (gains[good] - gains[evil]).tolist()))

        self.cells = Kept(torus.cells, lambda all: (torus.around(one + 1, reach) for one in all))
        self.rewards = Kept(kinds**2, lambda all: (rewards(*divmod(one, kinds)) for one in all))
        count = torus.cells * kinds**2
        self.kept = Kept(count, self._made) if count <= MOST_VIEWS else None

    def views(self, places: Numbers) -> list[View]:
        """Return views by cell from 0, kind of Good and kind of Evil, in one number each."""
        return self._made(places) if self.kept is None else self.kept.at(places)

    def _made(self, places: Numbers | list[int]) -> list[View]:
        cells, both = np.divmod(places, self.kinds**2)
        return list(map(_new_view, zip(self.cells.at(cells), self.rewards.at(both), strict=True)))


_new_view = partial(tuple.__new__, View)  # as `View._make`, without a call of Python


class Stage:
    """The cells of all minds in all episodes; rewards are counted in half units."""

    def __init__(self, tool: LambdaStar, here: Worlds, sights: Sights) -> None:
        self.torus, self.rows, self.cols = tool.torus, tool.torus.rows, tool.torus.cols
        steps, agents, ways = here.rules.steps, here.rules.agents, here.ways

        def flat(way: Any) -> Numbers:  # [block, step, lane] -> [step, exercise]
            lanes = way.transpose(1, 0, 2).reshape(way.shape[1], -1)
            return np.ascontiguousarray(lanes[:, : here.count]).astype(np.int64)

        self.good_row, self.good_col = flat(ways.good_row), flat(ways.good_col)
        self.evil_row, self.evil_col = flat(ways.evil_row), flat(ways.evil_col)
        self.row, self.col = flat(ways.start_row), flat(ways.start_col)  # [slot, exercise]
        span = np.arange(-tool.settings.range, tool.settings.range + 1)
        rows, cols = np.meshgrid(span, span, indexing="ij")
        self.by_row, self.by_col = rows.reshape(-1), cols.reshape(-1)
        self.sights = sights
        self.actions = np.full((agents, steps, here.count), STAY, np.int16)
        self.rewards = np.zeros((agents, steps, here.count), np.int32)
        self.step = 0

    def observe(self, slot: int) -> tuple[Numbers, NDArray[np.float64]]:
        """Compute the cells round a slot and the rewards in them: [exercise, cell]."""
        row = (self.row[slot][:, None] + self.by_row) % self.rows
        col = (self.col[slot][:, None] + self.by_col) % self.cols
        good, evil = self._classes(slot)
        gains = self.sights.table.gains
        return row * self.cols + col + 1, (gains[good] - gains[evil]) * 0.5

    def views(self, slot: int) -> list[View]:
        """Make the views of a slot in every episode."""
        good, evil = (self.sights.alike[of] for of in self._classes(slot))
        cells, kinds = self.row[slot] * self.cols + self.col[slot], self.sights.kinds
        return self.sights.views((cells * kinds + good) * kinds + evil)

    def _classes(self, slot: int) -> tuple[Any, Any]:
        """Classify where Good and Evil lie from a slot in every episode, as `SightTable` says."""
        table, now = self.sights.table, self.step
        row, col = self.row[slot] - self.rows, self.col[slot] - self.cols
        ways = (self.good_row, self.good_col), (self.evil_row, self.evil_col)
        good, evil = (table.row_class[rows[now] - row] + table.col_class[cols[now] - col]
                      for rows, cols in ways)  # fmt: skip
        return good, evil

    def advance(self, step: int) -> None:
        """Move the minds, then Good and Evil, and write down the rewards."""
        moves = self.actions[:, step] - 1
        self.row = (self.row + moves // 3 - 1) % self.rows
        self.col = (self.col + moves % 3 - 1) % self.cols
        self.step = step + 1
        self.rewards[:, step] = half_rewards(
            self.torus, self.row, self.col,
            (self.good_row[step + 1], self.good_col[step + 1]),
            (self.evil_row[step + 1], self.evil_col[step + 1]),
        )  # fmt: skip


class _OneByOne:
    """A mind of its own in every episode, for one slot."""

    def __init__(
        self, here: Worlds, tasks: list[Task], subject: Subject, slot: int, watch: Watch
    ) -> None:
        self.watch, self.count = watch, here.count
        self.keys = _keys(here, slot)
        self.randoms = [Word(key) for key in self.keys.tolist()]
        self.failures: dict[int, Failure] = {}
        self.minds = [self._safely(lane, subject.make) for lane in range(here.count)]
        self.learns = _learns(self.minds[0])
        for lane, mind in enumerate(self.minds):
            if hasattr(mind, "begin"):
                self._safely(lane, mind.begin, tasks[lane])

    def act(self, stage: Stage, slot: int, step: int, dead: Failures) -> Any:
        """Ask every mind; an episode that has failed stands still."""
        words = seeding.words(self.keys, step).tolist()
        several = zip(self.minds, stage.views(slot), self.randoms, words, strict=True)
        answers = list[Any]()

        def ask() -> None:
            for mind, view, random, word in several:
                random.step, random.first, random.drawn = step, word, 0  # as `begin` does
                answers.append(mind.act(view, random))

        def ask_alive() -> None:
            for mind, view, random, word in several:
                if (lane := len(answers)) in self.failures or lane in dead:
                    answers.append(STAY)
                    continue
                random.begin(step, word)
                answers.append(mind.act(view, random))

        self._through(ask if not self.failures and not dead else ask_alive, answers)
        if set(map(type, answers)) == {int}:
            given = np.array(answers)
            if given.min() >= 1 and given.max() <= 9:
                return given
        return [self._checked(lane, answer) for lane, answer in enumerate(answers)]

    def _through(self, call: Callable[[], None], answers: list[Any]) -> None:
        """Call all minds, of which one after the other answers; one that raises stands still.

        Nothing is noted of a call but its answer, by whose number the watch sees that minds go on.
        """
        watch = self.watch
        watch.calls, watch.answers, watch.inside = watch.calls + 1, answers, True
        while len(answers) < self.count:
            try:
                call()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # as in `Watch.call`
                self.failures[len(answers)] = watch.failure(error)
                answers.append(STAY)
        watch.inside = False

    def _checked(self, lane: int, action: Any) -> int:
        """Return an action as a number, or note that it is none and stand still."""
        if MOVE.contains(action):
            return operator.index(action)
        said = action if isinstance(action, Failure) else malformed(action, MOVE)
        self.failures[lane] = said
        return STAY

    def learn(self, stage: Stage, slot: int, step: int, dead: Failures) -> None:
        """Tell every mind what its action brought."""
        rewards = (stage.rewards[slot, step] * 0.5).tolist()
        done = stage.step == stage.actions.shape[1]
        views = [None] * self.count if done else stage.views(slot)
        several = zip(self.minds, rewards, views, strict=True)
        told = list[Any]()

        def tell() -> None:
            for mind, reward, view in several:
                lane = len(told)
                gone = lane in self.failures or lane in dead
                told.append(None if gone else mind.learn(reward, view, done))

        self._through(tell, told)

    def _safely(self, lane: int, function: Any, *arguments: Any) -> Any:
        answer = self.watch.call(function, *arguments)
        if isinstance(answer, Failure):
            self.failures[lane] = answer
            return None
        return answer


class _Together:
    """One mind with `act_many` for one slot of all episodes at once."""

    learns = False

    def __init__(
        self, here: Worlds, tasks: list[Task], subject: Subject, slot: int, watch: Watch
    ) -> None:
        self.watch, self.count = watch, here.count
        self.keys = _keys(here, slot)
        self.failures: dict[int, Failure] = {}
        self.mind = watch.call(subject.make)
        failed = isinstance(self.mind, Failure)
        begun = self.mind if failed else watch.call(self.mind.begin_many, tasks)
        if isinstance(begun, Failure):
            self._all(begun)

    def act(self, stage: Stage, slot: int, step: int, dead: Failures) -> NDArray[Any]:
        """Ask once; what is wrong as a whole fails every episode."""
        nothing = np.full(self.count, STAY)
        if len(self.failures) == self.count or len(dead) == self.count:
            return nothing
        words = [seeding.words(self.keys, step, j) for j in range(self.mind.words)]
        view = View(*stage.observe(slot))  # type: ignore[arg-type] # one more axis in front
        answer = self.watch.call(self.mind.act_many, view, np.stack(words, axis=1))
        given = answer if isinstance(answer, Failure) else self.watch.call(np.asarray, answer)
        if isinstance(given, Failure):
            return self._all(given)
        if given.shape != (self.count,) or not np.issubdtype(given.dtype, np.integer):
            said = f"{self.count} whole numbers were awaited, not {given.dtype}{given.shape}"
            return self._all(Failure("malformed", f"act_many: {said}"))
        wrong = (given < 1) | (given > 9)
        for lane in np.flatnonzero(wrong).tolist():
            self.failures.setdefault(lane, malformed(int(given[lane]), MOVE))
        return np.where(wrong, nothing, given)

    def learn(self, stage: Stage, slot: int, step: int, dead: Failures) -> None:
        """Do nothing: a mind with `act_many` does not learn."""

    def _all(self, failure: Failure) -> NDArray[Any]:
        self.failures |= dict.fromkeys(range(self.count), failure)
        return np.full(self.count, STAY)


_Cast = _OneByOne | _Together


def _keys(here: Worlds, slot: int) -> seeding.Words:
    numbers = np.arange(here.first, here.first + here.count)
    return seeding.keys(here.seed, numbers, MINDS + slot)


def _learns(mind: Any) -> bool:
    """Return whether a mind has a `learn` of its own."""
    return hasattr(mind, "learn") and getattr(type(mind), "learn", None) is not MindBase.learn


def _cast(
    tool: LambdaStar, here: Worlds, stage: Stage, subject: Subject, slot: int, watch: Watch
) -> _Cast:
    future = subject.traits.sees == "future"
    own = watch.over(subject)
    mind = own.call(subject.make)
    if isinstance(mind, BatchMind) and not future:
        return _Together(here, [_task(tool, stage, slot, None)], subject, slot, own)
    tasks = [_task(tool, stage, slot, lane if future else None) for lane in range(here.count)]
    ready = isinstance(mind, BatchMind) and type(mind).begin_many is not BatchMind.begin_many
    return (_Together if ready else _OneByOne)(here, tasks, subject, slot, own)


def _task(tool: LambdaStar, stage: Stage, slot: int, lane: int | None) -> Task:
    given = tool.settings
    secret = None
    if lane is not None:
        good = stage.good_row[:, lane] * stage.cols + stage.good_col[:, lane] + 1
        evil = stage.evil_row[:, lane] * stage.cols + stage.evil_col[:, lane] + 1
        secret = Foresight(tuple(good.tolist()), tuple(evil.tolist()))
    return Task(
        instrument=tool.name,
        slot=slot,
        slots=given.agents,
        team=(slot,),
        actions=MOVE,
        steps=given.iterations,
        facts={"rows": given.rows, "cols": given.cols, "range": given.range},
        secret=secret,
    )


def _bury(casts: list[_Cast], dead: Failures, step: int) -> None:
    """Note the episodes that have failed at this step, and the slot at fault."""
    for slot, cast in enumerate(casts):
        for lane, failure in cast.failures.items():
            died, of = dead.setdefault(lane, (step, {}))
            if died == step:
                of[slot] = failure


def _settled(tool: LambdaStar, here: Worlds, stage: Stage, dead: Failures, kept: int) -> Block:
    half, rewards = here.rules.steps // 2, stage.rewards
    made = {lane: rewards[:, :, lane].copy() for lane in dead}
    rewards[:, :, list(dead)] = 0
    late = here.rules.steps - half
    sums = [rewards[:, :half].sum(1), rewards[:, late:].sum(1), rewards.sum(1)]
    actions = stage.actions[:, :, :kept].transpose(2, 1, 0)
    return block_of(
        tool, here, np.stack(sums, axis=2), rewards.sum(axis=(0, 2)), actions, dead,
        lambda slot, lane: made[lane][slot],
    )  # fmt: skip


# ---------------------------------------------------------------- many copies for Gymnasium


class LambdaStarCopies:
    """See `contracts.Copies`; Good's and Evil's ways come from the compiled core at the start."""

    def __init__(self, tool: LambdaStar) -> None:
        self.tool, self._sights = tool, Sights(tool)
        self._stage: Stage | None = None

    def begin(self, seed: int, first: int, last: int) -> None:
        self._stage = Stage(self.tool, make_worlds(self.tool, seed, first, last), self._sights)

    @property
    def stage(self) -> Stage:
        """The exercises that were begun."""
        assert self._stage is not None
        return self._stage

    @property
    def step(self) -> int:
        return self.stage.step

    def observe(self) -> NDArray[np.float32]:
        return np.concatenate(self.stage.observe(0), axis=1, dtype=np.float32)

    def play(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        stage = self.stage
        stage.actions[0, stage.step] = actions
        stage.advance(stage.step)
        rewards: NDArray[np.float64] = stage.rewards[0, stage.step - 1] * 0.5
        return rewards

    def scores(self) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = self.stage.rewards[0].sum(axis=0) * 0.5 / self.stage.step
        return scores
