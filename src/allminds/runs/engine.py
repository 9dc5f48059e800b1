"""Engines: exercises are played in chunks on threads, processes or a cluster, and come in order.

A task is (sitting, first exercise, last exercise) and its value depends on nothing else, so any
engine, any number of jobs and any chunk gives the same records.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from allminds import registry
from allminds.contracts import Fast, Instrument
from allminds.core import files
from allminds.core.blocks import Block
from allminds.core.errors import Error, nearest
from allminds.core.line_up import LineUp, parse_all
from allminds.core.transcripts import Reply
from allminds.core.user_code import remember_sources, sources_of, working_folder
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.registry import NO_OBJECTS, Objects, name_of
from allminds.runs.plan import sample_of

ENGINES = ("local", "dask")  # or the address of a Dask scheduler
ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:\d+")
BLOCK = 1024  # exercises played together: their worlds stay in the processor's cache
COMPILED_WORK, PYTHON_WORK = 1 << 23, 1 << 18  # agent-steps in a task: about half a second
LARGEST = 16 * BLOCK  # exercises in a task: what waits to be written stays small
MERGED = 16  # tasks of that size whose records are written as one part
SMALL = 1 << 20  # agent-steps of a sitting that are played before kernels would be loaded
MIDDLE = 1 << 24  # agent-steps that are played before kernels would be compiled
SOON = 1 << 15  # agent-steps that even the plain loop has played before then


@dataclass(frozen=True)
class Sitting:
    """Some minds that take a test together, because they are played in the same way."""

    instrument: str | type[Instrument]
    settings: tuple[tuple[str, Any], ...]
    minds: tuple[Any, ...]
    seed: int
    traced: int = 0
    time_limit: float = 10.0
    folder: str = ""  # the user's, to which the paths in reasons are relative
    sources: tuple[tuple[str, str], ...] = ()  # code of minds that is no file where it is played
    episodes: int = 0  # of the whole test; 0 if it is not known
    sampled: bool = False  # plays only a sample of a long test: see `plan.sample_of`
    cold: bool = False  # nothing was compiled when the run began: only what must be is

    @cached_property
    def tool(self) -> Instrument:
        """The instrument, made with the settings of the sitting."""
        return registry.make_instrument(self.instrument, dict(self.settings))

    @cached_property
    def line_ups(self) -> list[LineUp]:
        """The line-ups: the minds in the slots of the instrument."""
        return [registry.line_up(who, self.tool) for who in self.minds]

    @cached_property
    def watch(self) -> Watch:
        """The time-out guard that every call to a mind goes through."""
        return Watch(self.time_limit, self.folder)

    @cached_property
    def forms(self) -> list[Fast]:
        """The form in which each line-up is played, compiled or not."""
        return [form(self.tool, line_up, self.watch) for line_up in self.line_ups]

    @cached_property
    def small_forms(self) -> list[Fast]:
        """The forms that need no compiler; none unless every line-up has one beside its kernels."""
        if any(seat.subject.one_at_a_time for one in self.line_ups for seat in one.seats):
            return []
        found = [self.tool.small(line_up, self.watch) for line_up in self.line_ups]
        ways = [way for way in found if way is not None]
        return ways if len(ways) == len(found) else []

    @cached_property
    def light_forms(self) -> list[Fast]:
        """The forms to play in if no kernels are on disk: those that are over before compiling."""
        return [self._light(*each) for each in zip(self.line_ups, self.forms, strict=True)]

    def _light(self, line_up: LineUp, way: Fast) -> Fast:
        work = self.work_of(line_up)
        if not way.compiled or not 0 < work <= MIDDLE:
            return way
        small = self.tool.small(line_up, self.watch)
        plain = work <= SOON and all(seat.subject.built_in for seat in line_up.seats)
        return small or (Plain(self.tool, line_up, self.watch) if plain else way)

    def ways(self, cold: bool) -> list[Fast]:
        """Choose the form of each line-up; `cold` says that kernels are not on disk."""
        if self.small_forms and (self.is_small or cold):
            return self.small_forms
        return self.light_forms if cold else self.forms

    @property
    def compiled(self) -> bool:
        """True if every line-up has a compiled form, so that threads run in parallel."""
        return bool(self.small_forms) or all(way.compiled for way in self.forms)

    @cached_property
    def is_small(self) -> bool:
        """True if the whole job is played in the forms that need no compiler."""
        return bool(self.small_forms) and 0 < self.work <= SMALL

    @cached_property
    def work(self) -> int:
        """The agent-steps of the whole job; 0 if it is not known how long it is."""
        return sum(map(self.work_of, self.line_ups))

    def work_of(self, line_up: LineUp) -> int:
        """Count the agent-steps of one line-up in the whole job."""
        steps = self.steps * (1 + line_up.practice)
        return steps * sum(high - low for low, high in self.wanted)

    @property
    def wanted(self) -> list[tuple[int, int]]:
        """The exercises to be played, as ranges."""
        return sample_of(self.episodes) if self.sampled else [(0, self.episodes)]

    @cached_property
    def cost(self) -> int:
        """The agent-steps of all line-ups in one exercise."""
        return sum(self.steps * (1 + line_up.practice) for line_up in self.line_ups)

    @cached_property
    def steps(self) -> int:
        """The agent-steps of one play of an exercise."""
        return self.tool.exercise(self.seed, 0).environment.steps * self.tool.slots

    def bare(self, every: bool = False) -> Sitting:
        """Copy the sitting as it is sent: without prepared forms, with source that is no file.

        With `every`, for another machine, the copy has the source of all the user's minds.
        """
        subjects = [seat.subject for line_up in self.line_ups for seat in line_up.seats]
        makers = [one.maker for who in subjects for one in (who, *who.members)]
        return replace(self, sources=sources_of(makers, every))

    @property
    def block(self) -> int:
        """The number of exercises played together; an adaptive administration is never split."""
        return self.tool.sitting if self.tool.adaptive else BLOCK

    @cached_property
    def merged(self) -> int:
        """The number of tasks that are written as one part: more than one if all are quick."""
        quick = self.compiled and not self.tool.adaptive and self.chunk() == LARGEST
        return MERGED if quick else 1

    def chunk(self) -> int:
        """Choose the number of exercises in a task, for about half a second of work."""
        if self.tool.adaptive:
            return self.block
        work = COMPILED_WORK if self.compiled else PYTHON_WORK
        wanted = max(1, work // self.cost)
        return min(wanted // BLOCK * BLOCK, LARGEST) if wanted >= BLOCK else wanted


@dataclass(frozen=True)
class Part:
    """A task that is done: one block per line-up of its sitting, and the seconds each took."""

    sitting: int
    first: int
    last: int
    blocks: list[Block]
    seconds: list[float]
    stories: dict[str, str] = field(default_factory=dict)  # reason -> frames of the user's code
    replies: list[Reply] = field(default_factory=list)  # of language models

    @classmethod
    def join(cls, parts: Sequence[Part]) -> Part:
        """Join the parts of consecutive tasks of a sitting into one."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            parts[0].sitting, parts[0].first, parts[-1].last,
            [Block.join(of) for of in zip(*(one.blocks for one in parts), strict=True)],
            [sum(of) for of in zip(*(one.seconds for one in parts), strict=True)],
            {reason: story for one in parts for reason, story in one.stories.items()},
            [reply for one in parts for reply in one.replies],
        )  # fmt: skip


@dataclass(frozen=True)
class Given:
    """A test with its names resolved: an instrument, and line-ups for it."""

    instrument: str | type[Instrument]  # as another process finds it, or the class that is sent
    tool: Instrument
    settings: Mapping[str, Any]
    minds: Sequence[Any]  # as they are sent: names, classes, functions or objects
    line_ups: Sequence[LineUp]
    objects: Objects = field(default_factory=dict)  # the user's own minds, by their names

    @classmethod
    def of(
        cls,
        instrument: str | type[Instrument],
        settings: Mapping[str, Any],
        minds: Sequence[Any],
        objects: Objects = NO_OBJECTS,
    ) -> Given:
        """Resolve names, of `objects` too, and reject a mind that is given twice."""
        tool = registry.make_instrument(instrument, settings)
        kind = tool.kind
        where = kind if registry.in_memory(kind) else registry.reference(instrument)
        return cls(where, tool, settings, [], [], {}).joined(minds, objects=objects)

    def __post_init__(self) -> None:
        """Reject a mind that is given twice."""
        names = [one.name for one in self.line_ups]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise Error(f"the mind '{twice}' is given twice to {self.tool.name}; name it once")

    def joined(
        self,
        minds: Sequence[Any],
        line_ups: Sequence[LineUp] | None = None,
        objects: Objects = NO_OBJECTS,
    ) -> Given:
        """Add minds; their line-ups are given if they have been resolved already."""
        if line_ups is None:
            line_ups = [registry.line_up(who, self.tool, objects) for who in minds]
        sent = [_sendable(who, one, objects) for who, one in zip(minds, line_ups, strict=True)]
        return replace(
            self, minds=[*self.minds, *sent], line_ups=[*self.line_ups, *line_ups],
            objects={**self.objects, **objects},
        )  # fmt: skip

    def seats(
        self,
        seed: int,
        traced: int,
        time_limit: float,
        episodes: int = 0,
        sampled: Sequence[str] = (),
        cold: bool = False,
    ) -> list[Sitting]:
        """Make the sittings: all compiled minds in one, every other in one of its own.

        Compiled minds that are `sampled` sit together too, for they play fewer exercises.
        """

        def sitting(minds: Sequence[Any], line_ups: Sequence[LineUp]) -> Sitting:
            made = Sitting(
                self.instrument, tuple(sorted(self.settings.items())), tuple(minds), seed, traced,
                time_limit, working_folder(), episodes=episodes,
                sampled=line_ups[0].name in sampled, cold=cold,
            )  # fmt: skip
            vars(made).update(tool=self.tool, line_ups=list(line_ups))  # another process looks up
            return made

        each = [sitting([who], [one]) for who, one in zip(self.minds, self.line_ups, strict=True)]
        made = [one for one in each if not one.compiled]
        for kind in (True, False):
            together = [one for one in each if one.compiled and one.sampled is kind]
            if together:
                minds = [one.minds[0] for one in together]
                made.insert(0, sitting(minds, [one.line_ups[0] for one in together]))
        return made


def _sendable(who: Any, line_up: LineUp, objects: Objects) -> Any:
    """Return a mind as another process can make it: by its name, or as the object itself."""
    if not isinstance(who, str) or not {who, *re.split(r"[\s(),=*]+", who)} & set(objects):
        return who
    if who in objects and not isinstance(objects[who], str) and name_of(objects[who]) == who:
        return objects[who]  # a class is known again by a process that has played it
    alone = who in objects or len(parse_all(who)) == 1
    return line_up.seats[0].subject if alone else [seat.subject for seat in line_up.seats]


def tasks(sitting: Sitting, gaps: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cut the exercises still to be played into chunks."""
    size = sitting.chunk()
    for low, high in gaps:
        for first in range(low, high, size):
            yield first, min(high, first + size)


def play(
    sitting: Sitting, number: int, first: int, last: int, compiling: Callable[[], bool] = bool
) -> Part:
    """Play one task: every line-up of a sitting on exercises first to last - 1.

    A small job is played in forms that need no compiler, and so is every block that is begun while
    kernels are still `compiling`; the records are the same.
    """
    blocks: list[list[Block]] = [[] for _ in sitting.line_ups]
    seconds = [0.0] * len(blocks)
    remember_sources(sitting.sources)
    with sitting.watch.running():
        for low in range(first, last, sitting.block):
            for n, way in enumerate(sitting.ways(compiling())):
                start = time.perf_counter()
                high = min(last, low + sitting.block)
                blocks[n].append(way.play(sitting.seed, low, high, sitting.traced))
                seconds[n] += time.perf_counter() - start
    made = [Block.join(of) for of in blocks]
    return Part(number, first, last, made, seconds, dict(sitting.watch.stories))


# ---------------------------------------------------------------- engines

Spread = Callable[[Sitting, int, Iterator[tuple[int, int]]], Iterator[Part]]
"""Plays the tasks of a sitting, which has a number, and hands the parts back in their order."""


def check_engine(name: str) -> None:
    """Reject a name that is neither an engine nor the address of a Dask scheduler."""
    if "://" in name and not ADDRESS.fullmatch(name):
        raise Error(f"'{name}' is not an address of a Dask scheduler, such as tcp://localhost:8786")
    if name not in ENGINES and "://" not in name:
        raise Error(
            f"there is no engine '{name}'; {nearest(name, ENGINES)}, "
            "or give the address of a Dask scheduler: tcp://host:8786"
        )


@contextlib.contextmanager
def opened(name: str, jobs: int) -> Iterator[Spread]:
    """Open an engine while this lasts.

    `jobs` is for this machine; a cluster has its own threads.
    """
    check_engine(name)
    if name == "local":
        yield partial(_spread_here, jobs)
        return
    from allminds.runs.dask import cluster

    with cluster(name, jobs) as spread:
        yield spread


def play_all(
    sittings: Sequence[Sitting], gaps: Sequence[Iterable[tuple[int, int]]], spread: Spread
) -> Iterator[Part]:
    """Play what is missing of every sitting; yield parts in the order of their exercises."""
    for number, (sitting, missing) in enumerate(zip(sittings, gaps, strict=True)):
        yield from spread(sitting, number, tasks(sitting, missing))


def _spread_here(
    jobs: int, sitting: Sitting, number: int, todo: Iterator[tuple[int, int]]
) -> Iterator[Part]:
    """Play on threads for kernels, on processes for Python minds; a few tasks at a time.

    Parts that wait to be taken cost memory, so tasks are handed out in waves.
    """
    if sitting.is_small or _is_played_without_compiling(sitting):
        for task in todo:
            yield play(sitting, number, *task, lambda: True)
        return
    if jobs == 1:
        for task in todo:
            yield play(sitting, number, *task)
        return
    with _compiling(sitting) as compiling:
        while compiling() and (ahead := next(todo, None)):
            yield play(sitting, number, *ahead, compiling)
    wave = list(itertools.islice(todo, 2))
    if wave and (sitting.compiled or len(wave) == 1):  # only one thread is to compile, or load
        yield play(sitting, number, *wave.pop(0))
    if wave:
        yield from _in_parallel(jobs, sitting, number, itertools.chain(wave, todo))


def _in_parallel(
    jobs: int, sitting: Sitting, number: int, todo: Iterator[tuple[int, int]]
) -> Iterator[Part]:
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    how: dict[str, Any] = {"prefer": "threads"} if sitting.compiled else {"prefer": "processes"}
    try:
        with Parallel(n_jobs=jobs, return_as="generator", batch_size=1, **how) as parallel:
            for wave in _waves(todo, 2 * jobs):
                yield from parallel(
                    delayed(_remote)(_sent(sitting), number, *task) for task in wave
                )
    except BrokenProcessPool:
        raise Error(
            f"a process that played {sitting.line_ups[0].name} on {sitting.tool.name} was killed; "
            "it may have needed more memory than there is: try fewer --jobs"
        ) from None


def _waves(todo: Iterator[tuple[int, int]], size: int) -> Iterator[list[tuple[int, int]]]:
    while wave := list(itertools.islice(todo, size)):
        yield wave


def _sent(sitting: Sitting) -> Sitting:
    """Strip a sitting for another process; threads share it whole."""
    return sitting if sitting.compiled else sitting.bare()


def _remote(sitting: Sitting, number: int, first: int, last: int) -> Part:
    with contextlib.suppress(TypeError):  # a mind without a hash is made ready for every task
        sitting = _known(sitting)
    return play(sitting, number, first, last)


@lru_cache(maxsize=8)
def _known(sitting: Sitting) -> Sitting:
    """Return the sitting that this process prepared already, if it did."""
    return sitting


# ---------------------------------------------------------------- the first run on a machine

_AHEAD = "from allminds.runs.engine import compile_all; import sys; compile_all(sys.stdin.read())"


@dataclass(frozen=True)
class Ahead:
    """Kernels of some tests that another process compiles, and the order to give the tests in."""

    order: Sequence[int]  # tests that wait for no kernels come first
    cold: bool = False  # nothing was compiled before
    awaited: set[int] = field(default_factory=set)  # tests whose kernels are not compiled yet
    helper: subprocess.Popen[bytes] | None = None

    def wait(self, test: int) -> None:
        """Wait until the kernels of a test are compiled, or the other process is gone."""
        while self.helper and self.helper.stdout and test in self.awaited:
            said = self.helper.stdout.readline()
            if not said:
                self.awaited.clear()
            elif said.strip().isdigit():  # else a mind of the user's printed something
                self.awaited.discard(int(said))


@contextlib.contextmanager
def compiling_ahead(tests: Sequence[Given], episodes: Sequence[int]) -> Iterator[Ahead]:
    """Compile the kernels that tests need in another process, if none ever were compiled.

    Compiling is most of a first run and keeps one core busy. Meanwhile this process gives the tests
    that need none. If there are no such tests, it compiles for the first one itself. What it has
    played without kernels is compiled last, for the next run. If anything goes wrong in the other
    process, the run does without.
    """
    cold = files.is_cold()  # now: to make some forms compiles a little
    seats = [given.seats(1, 0, 10.0, of) for given, of in zip(tests, episodes, strict=True)]
    large = [any(one.compiled and not one.is_small for one in of) for of in seats]
    if len(tests) < 2 or not any(large):
        yield Ahead(range(len(tests)))
        return
    needed = {n: _minds(of[0], True) for n, of in enumerate(seats) if cold and large[n]}
    needed = {n: minds for n, minds in needed.items() if minds}
    order = sorted(range(len(tests)), key=lambda n: n in needed)
    names = [n for n in needed if n != order[0]]
    if not names:
        yield Ahead(order, bool(needed))
        return
    todo = [(n, seats[n][0].instrument, dict(tests[n].settings), needed[n]) for n in names]
    rest = {n: _minds(of[0], False) for n, of in enumerate(seats) if large[n]}
    todo += [
        (-1, seats[n][0].instrument, dict(tests[n].settings), rest[n]) for n in rest if rest[n]
    ]
    with _helper(todo) as helper:
        yield Ahead(order, True, set(names), helper)


def _minds(sitting: Sitting, kernels: bool) -> list[str]:
    """Name the minds of a sitting that need kernels, or those that could do without them."""
    if not isinstance(sitting.instrument, str) or not sitting.compiled:
        return []
    ways = zip(sitting.minds, sitting.light_forms, strict=True)
    return [who for who, way in ways if way.compiled is kernels and isinstance(who, str)]


@contextlib.contextmanager
def _compiling(sitting: Sitting) -> Iterator[Callable[[], bool]]:
    """Compile the kernels of a large sitting in another process; tell whether it is at it still.

    It is not if they are on disk already, and if no other process could compile the same.
    """
    named = isinstance(sitting.instrument, str) and all(isinstance(m, str) for m in sitting.minds)
    if not sitting.small_forms or not named or _kernels_are_kept(sitting):
        yield bool
        return
    names = [(0, sitting.instrument, dict(sitting.settings), list(sitting.minds))]
    with _helper(names) as helper:
        yield lambda: helper.poll() is None


def _is_played_without_compiling(sitting: Sitting) -> bool:
    """Check whether no kernels are on disk, and some line-ups are played sooner than compiled."""
    if not sitting.compiled or max(map(sitting.work_of, sitting.line_ups)) > MIDDLE:
        return False
    if not sitting.small_forms and sitting.light_forms == sitting.forms:
        return False
    return sitting.work > 0 and (sitting.cold or not _are_on_disk(sitting))


def _are_on_disk(sitting: Sitting) -> bool:
    """Check whether the kernels of an instrument are on disk."""
    assert sitting.forms  # imports the kernels, so that it is known which there are
    from allminds.core.compiled import is_warm

    return is_warm(Path(sys.modules[type(sitting.tool).__module__].__file__ or "").parent)


def _kernels_are_kept(sitting: Sitting) -> bool:
    """Check whether the kernels are on disk, or there is no place where they would be kept."""
    from allminds.core.compiled import can_keep

    return _are_on_disk(sitting) or not can_keep()


@contextlib.contextmanager
def _helper(names: Sequence[Any]) -> Iterator[subprocess.Popen[bytes]]:
    """Compile the kernels of some tests in another process, which ends with this."""
    with subprocess.Popen(
        [sys.executable, "-c", _AHEAD],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt is for the run, which ends this
    ) as helper:  # fmt: skip
        try:
            assert helper.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                helper.stdin.write(json.dumps(names).encode())
                helper.stdin.close()
            yield helper
        finally:
            helper.kill()


def compile_all(names: str) -> None:
    """Play the first exercise of some tests (JSON) with the minds that have kernels.

    The number of each test is printed when its kernels are compiled.
    """
    for number, instrument, settings, minds in json.loads(names):
        sittings = Given.of(instrument, settings, minds).seats(1, 0, 10.0)
        if sittings[0].compiled:
            play(sittings[0], 0, 0, sittings[0].tool.sitting)
        print(number, flush=True)
