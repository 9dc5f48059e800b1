"""Levin's complexity k of a letter series in the C-test (Chmait et al. 2017, section 5).

The machine has letters a..z in a circle, registers A, B, C and ten instructions; `run` is its
definition. The cost of a program for a series is |p| + log2 t: its instructions, and the steps up
to its fifth WRITE. Costs are kept as weights t·2^|p|, which are integers. `plain_search` is the
definition of the search for the cheapest program; `levin` and `rivals` find the same with compiled
code, which must agree to the step. `describe` puts a program into words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error, nearest

__all__ = [
    "INSTRUCTIONS", "Explanation", "Program", "Rival", "Run", "complexity", "continued", "describe",
    "levin", "parsed", "plain_search", "printed", "puzzle", "rivals", "run", "variant",
]  # fmt: skip

INSTRUCTIONS = (
    "LOOPTOP", "LOOPS", "LOOPM", "SUCC", "PRED", "WRITE", "MOV A,B", "MOV B,A", "MOV A,C", "MOV C,A"
)  # fmt: skip
LOOPTOP, LOOPS, LOOPM, SUCC, PRED, WRITE, MOV_AB, MOV_BA, MOV_AC, MOV_CA = range(10)
LETTERS = 26
CLOCK = 5  # the WRITE at which the steps t of a program are read
QUIET = 1_000  # steps without a WRITE that count as halting

Program = tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """The letters that a program printed, when, and how its run ended."""

    letters: tuple[int, ...]  # what every WRITE printed, 0 for a
    times: tuple[int, ...]  # the steps up to and including each WRITE
    off_end: bool  # it ran off its end: a longer program would go on from here
    steps: int  # in all


def run(program: Sequence[int], start: int, writes: int) -> Run:
    """Run a program with A = B = the start letter and C = a until it has printed `writes` letters.

    Every executed instruction is one step. The run halts before that when it leaves the end of
    the program, or after `QUIET` steps without a WRITE.
    """
    a = b = start
    c = 0
    at = steps = quiet = 0
    letters: list[int] = []
    times: list[int] = []
    while len(letters) < writes and at < len(program) and quiet < QUIET:
        instruction = program[at]
        at += 1
        steps += 1
        quiet += 1
        if instruction in (LOOPTOP, LOOPS, LOOPM):
            c = (c - 1) % LETTERS
            if c != 0:
                at = target(instruction, at)
        elif instruction == SUCC:
            a = (a + 1) % LETTERS
        elif instruction == PRED:
            a = (a - 1) % LETTERS
        elif instruction == WRITE:
            letters.append(a)
            times.append(steps)
            quiet = 0
        elif instruction == MOV_AB:
            a = b
        elif instruction == MOV_BA:
            b = a
        elif instruction == MOV_AC:
            a = c
        else:
            c = a
    off_end = len(letters) < writes and quiet < QUIET
    return Run(tuple(letters), tuple(times), off_end, steps)


def target(loop: int, following: int) -> int:
    """Compute where a loop jumps to, from the index of the instruction that follows it."""
    back = {LOOPTOP: following, LOOPS: 4, LOOPM: 7}[loop]
    return max(following - back, 0)


def weight(length: int, steps: int) -> int:
    """Compute 2 to the cost |p| + log2 t: an integer, so that costs compare exactly."""
    return steps << length


def rounded(weight: int) -> int:
    """Round a weight to k = ⌊cost + ½⌋ by integers alone.

    This is exact because k ≤ cost + ½ iff 2^(2k) ≤ 2 weight².
    """
    return ((2 * weight * weight).bit_length() - 1) // 2


def printed(program: Sequence[int]) -> str:
    """Write a program as its instructions: ``WRITE; SUCC; LOOPTOP``."""
    return "; ".join(INSTRUCTIONS[instruction] for instruction in program)


def parsed(text: str) -> Program:
    """Read a program that `printed` wrote."""
    names = [name.strip() for name in text.split(";")]
    for name in names:
        if name not in INSTRUCTIONS:
            raise Error(f"'{name}' is not an instruction: {nearest(name, INSTRUCTIONS)}")
    return tuple(INSTRUCTIONS.index(name) for name in names)


def letter(number: int) -> str:
    """Convert a number to its letter: 0 is a, 25 is z."""
    return chr(ord("a") + number)


def number(letter: str) -> int:
    """Convert a letter to its number: a is 0, z is 25."""
    if len(letter) != 1 or not "a" <= letter <= "z":
        raise Error(f"'{letter}' is not a letter of the alphabet: write one of a..z")
    return ord(letter) - ord("a")


# ---------------------------------------------------------------- the search


LIMIT = 10  # instructions
BLANK = "_"
LONGEST = 64  # letters
ANY = -1
HIGHEST = 24  # the most instructions a search can be asked for
MOST_K = 20  # a search gives up beyond: what costs more takes hours and explains nothing


@dataclass(frozen=True)
class Puzzle:
    """Letters to be printed, `ANY` for any letter, and the place asked about, from 0."""

    letters: tuple[int, ...]
    blank: int

    @property
    def starts(self) -> tuple[int, ...]:
        """The letters a series may begin with: all of them if the first is the blank."""
        return tuple(range(LETTERS)) if self.letters[0] == ANY else self.letters[:1]

    def begun(self, start: int, clock: int) -> tuple[int, ...]:
        """List the letters from a start letter, and `ANY` up to the clock's WRITE."""
        return (start, *self.letters[1:]) + (ANY,) * (clock - len(self.letters))


@dataclass(frozen=True)
class Explanation:
    """The cheapest program that agrees with what is shown, and its letter at the blank."""

    puzzle: Puzzle
    letter: str
    weight: int  # t·2^|p|
    program: Program
    limit: int

    @property
    def value(self) -> float:
        """The least cost |p| + log2 t, in full."""
        return math.log2(self.weight)

    @property
    def k(self) -> int:
        """The complexity k (reconstructed): k = ⌊value + ½⌋."""
        return rounded(self.weight)

    @property
    def programs(self) -> tuple[Program, ...]:
        """All the cheapest programs, whatever letter they give; each access searches for them."""
        return _all_programs(self.puzzle, self.limit, self.weight + 1)


@dataclass(frozen=True)
class Rival:
    """A letter at the blank, the cheapest program that gives it, and how much more that costs."""

    letter: str
    weight: int
    program: Program
    distance: float

    @property
    def value(self) -> float:
        """The cost |p| + log2 t of the program."""
        return math.log2(self.weight)


def puzzle(series: str, blank: int | None = None, answer: str | None = None) -> Puzzle:
    """Parse shown letters and their blank: marked ``_``, or a place from 1; else the next letter.

    A blank given by its place, in a series without a mark, is where the mark would be put in.
    """
    if BLANK in series:
        place = series.index(BLANK)
        if blank is not None and blank != place + 1:
            raise Error(f"'{series}' has its blank at place {place + 1}, not {blank}")
        shown = series[:place] + series[place + 1 :]
    else:
        place = len(series) if blank is None else blank - 1
        shown = series
    if not 0 <= place <= len(shown):
        raise Error(f"'{series}' has no place {blank}: write 1..{len(shown) + 1}")
    if not 1 <= len(shown) < LONGEST:
        raise Error(f"'{series}' shows {len(shown)} letters: show 1..{LONGEST - 1}")
    letters = [number(one) for one in shown]
    letters.insert(place, ANY if answer is None else number(answer))
    return Puzzle(tuple(letters), place)


def plain_search(puzzle: Puzzle, below: int, limit: int) -> dict[int, dict[Program, int]]:
    """Find the programs below a weight that agree with what is shown, by the letter they give.

    A program is made longer only when its run reaches its end: otherwise the longer one would do
    the same and cost more. Every WRITE up to the fifth that is still to come takes a step.
    """
    found: dict[int, dict[Program, int]] = {}
    for start in puzzle.starts:
        letters = puzzle.begun(start, CLOCK)
        for program, steps in _agreeing(letters, start, below, limit):
            printed = run(program, start, len(letters)).letters
            by_letter = found.setdefault(printed[puzzle.blank], {})
            by_letter[program] = weight(len(program), steps)
    return found


def _agreeing(
    letters: tuple[int, ...], start: int, below: int, limit: int
) -> Iterator[tuple[Program, int]]:
    """Yield the programs that print the letters, each with its steps t."""
    waiting: list[Program] = [()]
    while waiting:
        program = waiting.pop()
        done = run(program, start, len(letters))
        agrees = all(b in (ANY, a) for a, b in zip(done.letters, letters, strict=False))
        writes = len(done.letters)
        time = done.times[CLOCK - 1] if writes >= CLOCK else done.steps + CLOCK - writes
        if agrees and writes == len(letters) and weight(len(program), time) < below:
            yield program, time
        longer = len(program) + 1
        if agrees and done.off_end and longer <= limit and weight(longer, time) < below:
            waiting += [(*program, instruction) for instruction in range(len(INSTRUCTIONS))]


def levin(
    series: str,
    answer: str | None = None,
    blank: int | None = None,
    limit: int = LIMIT,
    most_k: int = MOST_K,
) -> Explanation:
    """Find the cheapest program for a series with its answer, or, without one, for what is shown.

    Programs of up to `limit` instructions and `most_k` are searched. A program that halts before
    the blank gives no letter and does not count. Of letters that cost the same, the first in the
    alphabet is returned.
    """
    asked = puzzle(series, blank, answer)
    weights, programs = _cheapest(asked, limit, CLOCK, most_k)
    given = int(np.argmin(weights))
    return Explanation(asked, letter(given), int(weights[given]), programs[given], limit)


def complexity(series: str, limit: int = LIMIT) -> Explanation:
    """Find the cheapest program that prints a whole series; its `value` is the complexity."""
    if len(series) < 2:
        raise Error(f"'{series}' is not a series: write two letters or more, such as abcd")
    return levin(series[:-1], answer=series[-1], limit=limit)


def continued(series: str, limit: int = LIMIT) -> str:
    """Predict the next letter: the one that the cheapest program that goes on prints."""
    return levin(series, limit=limit).letter


def variant(
    series: str, answer: str | None = None, blank: int | None = None, limit: int = LIMIT
) -> int:
    """Compute k by another reading of the paper: ⌊|p| + log2 t_6⌋.

    Here t_6 are the steps up to the sixth WRITE.
    """
    weights, _ = _cheapest(puzzle(series, blank, answer), limit, CLOCK + 1)
    return int(weights.min()).bit_length() - 1


def rivals(
    shown: str, blank: int | None = None, delta: float = 1.0, limit: int = LIMIT
) -> tuple[Rival, ...]:
    """List every letter that a program within δ of the best gives, the cheapest first.

    The first is the best itself, at a distance of 0; those at a distance of δ are left out.
    """
    asked = puzzle(shown, blank)
    best = int(_cheapest(asked, limit, CLOCK)[0].min())
    weights, programs = _below(asked, limit, CLOCK, max(best + 1, math.ceil(best * 2**delta)))
    order = [int(n) for n in np.argsort(weights, kind="stable") if n in programs]
    return tuple(
        Rival(letter(n), int(weights[n]), programs[n], math.log2(weights[n] / best)) for n in order
    )


# ---------------------------------------------------------------- search by compiled code

Weights = NDArray[np.int64]


def _cheapest(
    puzzle: Puzzle, limit: int, clock: int, most_k: int = MOST_K
) -> tuple[Weights, dict[int, Program]]:
    """Find the least weight by letter, right for the cheapest letter.

    The bound rises by one k at a time.
    """
    for k in range(min(7, most_k), most_k + 1):
        below = math.isqrt(2 ** (2 * k + 1)) + 1  # weights of up to this k
        weights, programs = _below(puzzle, limit, clock, below, shrink=True)
        if programs:
            return weights, programs
        if below > (QUIET * clock) << limit:
            break
    shown = "".join(BLANK if n == ANY else letter(n) for n in puzzle.letters)
    raise Error(f"no program of up to {limit} instructions and k = {most_k} prints '{shown}'")


def _below(
    puzzle: Puzzle, limit: int, clock: int, below: int, shrink: bool = False
) -> tuple[Weights, dict[int, Program]]:
    """Find the least weight below a bound, and a program of it, by the letter at the blank."""
    from allminds.complexity import levin_fast as fast

    if not 1 <= limit <= HIGHEST:
        raise Error(f"a search for programs of up to {limit} instructions: choose 1..{HIGHEST}")
    best = np.full(LETTERS, fast.NOTHING, np.int64)
    witness = np.zeros((LETTERS, fast.MOST + 1), np.int8)
    none = np.zeros((0, fast.MOST + 1), np.int8)
    for start in puzzle.starts:
        letters = np.array(puzzle.begun(start, clock), np.int8)
        bound = min(below, int(best.min()) + 1) if shrink else below
        fast.search(
            letters, puzzle.blank, start, clock, limit, bound, shrink, True, best, witness, none
        )
    found = {int(n): _unpacked(witness[n]) for n in np.flatnonzero(best < fast.NOTHING)}
    return best, found


def _all_programs(puzzle: Puzzle, limit: int, below: int) -> tuple[Program, ...]:
    """List every program below a bound, none skipped, in the order of instructions."""
    from allminds.complexity import levin_fast as fast

    programs: list[Program] = []
    for start in puzzle.starts:
        letters = np.array(puzzle.begun(start, CLOCK), np.int8)
        room = 64
        while True:
            best = np.full(LETTERS, fast.NOTHING, np.int64)
            witness = np.zeros((LETTERS, fast.MOST + 1), np.int8)
            listed = np.zeros((room, fast.MOST + 1), np.int8)
            found = fast.search(
                letters, puzzle.blank, start, CLOCK, limit, below, False, False, best, witness,
                listed,
            )  # fmt: skip
            if found <= room:
                break
            room = found
        programs += [_unpacked(row) for row in listed[:found]]
    return tuple(sorted(programs))


def _unpacked(row: NDArray[np.int8]) -> Program:
    return tuple(int(n) for n in row[1 : row[0] + 1])


# ---------------------------------------------------------------- a program in words


LOOPS_ALL = (LOOPTOP, LOOPS, LOOPM)
PLAIN = {
    SUCC: "go one letter on",
    PRED: "go one letter back",
    WRITE: "write the letter",
    MOV_AB: "take the letter kept in B",
    MOV_BA: "keep the letter in B",
    MOV_AC: "take the letter of the counter C",
    MOV_CA: "set the counter C to the letter",
}
TIMES = {1: "", 2: " twice"}


def describe(program: Sequence[int], start: str | None = None) -> str:
    """Describe the program step by step: ``1. write the letter; 2. go one letter on; ...``.

    With the start letter, the letters that the program writes are added.
    """
    words = "; ".join(f"{number}. {text}" for number, text in _steps(tuple(program)))
    if start is None:
        return words
    letters = run(program, ord(start) - ord("a"), 12).letters
    return f"Start with {start}. {words}. It writes {''.join(map(letter, letters))}."


def _steps(program: Program) -> list[tuple[int, str]]:
    """Describe numbered steps; repeated instructions are one step, unless a loop enters there."""
    landings = {target(x, at + 1) for at, x in enumerate(program) if x in LOOPS_ALL}
    groups: list[list[int]] = []
    for _, run_of in groupby(range(len(program)), key=program.__getitem__):
        for at in run_of:
            same = groups and program[groups[-1][0]] == program[at]
            if same and at not in landings and program[at] not in LOOPS_ALL:
                groups[-1].append(at)
            else:
                groups.append([at])
    number_of = {at: n + 1 for n, group in enumerate(groups) for at in group}
    return [(n + 1, _words(program, group, number_of)) for n, group in enumerate(groups)]


def _words(program: Program, group: list[int], number_of: dict[int, int]) -> str:
    instruction = program[group[0]]
    if instruction in LOOPS_ALL:
        to = number_of[target(instruction, group[0] + 1)]
        return f"count C one back and, unless it is now a, return to {to}"
    return PLAIN[instruction] + TIMES.get(len(group), f" {len(group)} times")
