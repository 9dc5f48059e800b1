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
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

from allminds import registry
from allminds.contracts import Fast, Instrument
from allminds.core.blocks import Block
from allminds.core.errors import Error, nearest
from allminds.core.line_up import LineUp, parse_all
from allminds.core.user_code import remember_sources, sources_of, working_folder
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.registry import NO_OBJECTS, Objects, name_of

ENGINES = ("local", "dask")  # or the address of a Dask scheduler
ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:\d+")
BLOCK = 1024  # exercises played together: their worlds stay in the processor's cache
COMPILED_WORK, PYTHON_WORK = 1 << 23, 1 << 18  # agent-steps in a task: about half a second
LARGEST = 16 * BLOCK  # exercises in a task: what waits to be written stays small


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

    @property
    def compiled(self) -> bool:
        """True if every line-up has a compiled form, so that threads run in parallel."""
        return all(way.compiled for way in self.forms)

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

    def chunk(self) -> int:
        """Choose the number of exercises in a task, for about half a second of work."""
        if self.tool.adaptive:
            return self.block
        steps = self.tool.exercise(self.seed, 0).environment.steps * self.tool.slots
        cost = sum(steps * (1 + line_up.practice) for line_up in self.line_ups)
        work = COMPILED_WORK if self.compiled else PYTHON_WORK
        wanted = max(1, work // cost)
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

    def seats(self, seed: int, traced: int, time_limit: float) -> list[Sitting]:
        """Make the sittings: all compiled minds in one, every other in one of its own."""

        def sitting(minds: Sequence[Any], line_ups: Sequence[LineUp]) -> Sitting:
            made = Sitting(
                self.instrument, tuple(sorted(self.settings.items())), tuple(minds), seed, traced,
                time_limit, working_folder(),
            )  # fmt: skip
            vars(made).update(tool=self.tool, line_ups=list(line_ups))  # another process looks up
            return made

        each = [sitting([who], [one]) for who, one in zip(self.minds, self.line_ups, strict=True)]
        together = [one for one in each if one.compiled]
        alone = [one for one in each if not one.compiled]
        if together:
            minds = [one.minds[0] for one in together]
            alone.insert(0, sitting(minds, [one.line_ups[0] for one in together]))
        return alone


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


def play(sitting: Sitting, number: int, first: int, last: int) -> Part:
    """Play one task: every line-up of a sitting on exercises first to last - 1."""
    blocks: list[list[Block]] = [[] for _ in sitting.line_ups]
    seconds = [0.0] * len(blocks)
    remember_sources(sitting.sources)
    with sitting.watch.running():
        for low in range(first, last, sitting.block):
            for n, way in enumerate(sitting.forms):
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
    if jobs == 1:
        for task in todo:
            yield play(sitting, number, *task)
        return
    from joblib import Parallel, delayed

    how: dict[str, Any] = {"prefer": "threads"} if sitting.compiled else {"prefer": "processes"}
    wave = list(itertools.islice(todo, 1 if sitting.compiled else 2))
    if len(wave) == 1:  # one task needs no helpers, and only one thread is to compile
        yield play(sitting, number, *wave.pop())
    todo = itertools.chain(wave, todo)
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


@contextlib.contextmanager
def compiling_ahead(tests: Sequence[Given]) -> Iterator[None]:
    """Compile the kernels of later tests in another process, if none ever were compiled.

    Compiling is most of a first run and keeps one core busy. While the first test compiles its own
    kernels, another process plays one exercise of each of the others, and what it compiled is on
    disk when the run gets there. If anything goes wrong in it, the run does without.
    """
    from allminds.core.compiled import is_cold

    if len(tests) < 2 or not is_cold():
        yield
        return
    names = [
        (test.instrument, dict(test.settings), [who for who in test.minds if isinstance(who, str)])
        for test in tests[1:]
        if isinstance(test.instrument, str)
    ]
    with subprocess.Popen(
        [sys.executable, "-c", _AHEAD],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt is for the run, which ends this
    ) as helper:  # fmt: skip
        try:
            assert helper.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                helper.stdin.write(json.dumps(names).encode())
                helper.stdin.close()
            yield
        finally:
            helper.kill()


def compile_all(names: str) -> None:
    """Play the first exercise of some tests (JSON) with the minds that have kernels."""
    for instrument, settings, minds in json.loads(names):
        sittings = Given.of(instrument, settings, minds).seats(1, 0, 10.0)
        if sittings[0].compiled:
            play(sittings[0], 0, 0, sittings[0].tool.sitting)
