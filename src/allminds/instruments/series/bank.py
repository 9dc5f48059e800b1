"""Certified questions for the C-test: made from a table of all cheap programs, or from the bank.

A question is *valid* (its program prints it with its answer), *unquestionable* (every program
that agrees with the shown letters at a cost below value + δ has the same letter at the blank) and
*stable* (without the last shown letter, the programs below the same threshold all give it); δ = 1.
It shows the least number of letters, 5..12, at which all this holds, and no series of a form is
the beginning of another. ``python -m allminds.instruments.series.bank --write`` makes the bank.
"""

from __future__ import annotations

import gzip
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from allminds.complexity.levin import (
    CLOCK,
    LETTERS,
    Program,
    describe,
    letter,
    number,
    run,
    weight,
)
from allminds.core import seeding
from allminds.instruments.series.items import LETTERS as ALPHABET
from allminds.instruments.series.items import Form

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

FEWEST, MOST = 6, 13  # letters of a series with its answer: 5..12 are shown
TWICE = 2  # 2^δ: weights are 2 to the cost, δ = 1
BANK = Path(__file__).parent / "data" / "bank.csv.gz"
BANK_SEED = 1
# How many questions of each form and k the bank has at most, and the start letters they have.
SIZES = {7: 300, 8: 300, 9: 300, 10: 300, 11: 300, 12: 300, 13: 300, 14: 300, 15: 100}
STAGES = {12: ALPHABET, 13: "adhlptxz", 14: "ahnu", 15: "an"}
NOTHING = 2**62


@dataclass(frozen=True)
class BankItem:
    """A series with a blank, and all that is known of it."""

    id: str
    form: Form
    series: str  # the shown letters, with _ at the blank
    blank: int  # its place, from 1
    answer: str
    k: int
    value: float  # the cost of the cheapest program for the series with its answer
    program: Program
    explanation: str
    rivals: str = ""  # other letters at the blank, by the cost of their programs, as far as known

    @property
    def whole(self) -> str:
        """The series with its answer."""
        return self.series.replace("_", self.answer)


# ---------------------------------------------------------------- the table of series


@dataclass(frozen=True)
class Level:
    """All series of one length below a bound: a row each, in the order of start and code."""

    letters: int
    starts: Ints  # 0 for a
    codes: Ints  # the letters after the first, from 1, in five bits each
    weights: Ints  # t·2^|p| of the cheapest program
    programs: Ints  # in four bits an instruction, from 1

    def prefixes(self) -> Ints:
        """Compute a number for each series without its last letter."""
        return (self.starts + 1) << 55 | self.codes >> 5


def weight_bound(most_k: int, delta: float = 0.0) -> int:
    """Return the least weight that has a higher k, or is further than δ from any of this k."""
    return math.isqrt(math.ceil(2 ** (2 * (most_k + delta) + 1))) + 1


def table(start: str, most_k: int) -> list[Level]:
    """Build the table of series from a start letter, with costs within δ of questions up to k."""
    from allminds.instruments.series import fast as kernels

    rows = kernels.sweep(number(start), weight_bound(most_k, 1.0), MOST)
    sizes = 1 + np.searchsorted(1 << 5 * np.arange(MOST - 1), rows[:, 0], side="right")
    levels: list[Level] = []
    longer = np.zeros((0, 3), np.int64)
    for letters in range(MOST, CLOCK - 1, -1):
        beginnings = longer.copy()
        beginnings[:, 0] >>= 5
        longer = _cheapest(np.concatenate([rows[sizes == letters], beginnings]))
        starts = np.full(len(longer), number(start), np.int64)
        levels.append(Level(letters, starts, *np.ascontiguousarray(longer.T)))
    return levels[::-1]


def _cheapest(rows: Ints) -> Ints:
    """Keep one row for each code: the least weight, and of its programs the first."""
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return rows[np.flatnonzero(np.diff(rows[:, 0], prepend=-1))]


def tables(
    starts: str, most_k: int, jobs: int = 1, done: Callable[[str], object] = lambda _: None
) -> list[Level]:
    """Build the tables of several start letters, put together length by length."""

    def one(start: str) -> list[Level]:
        made = table(start, most_k)
        done(f"k {most_k}: {start} of {starts}")
        return made

    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(one, sorted(starts)))
    return [
        Level(
            levels[0].letters,
            np.concatenate([level.starts for level in levels]),
            np.concatenate([level.codes for level in levels]),
            np.concatenate([level.weights for level in levels]),
            np.concatenate([level.programs for level in levels]),
        )
        for levels in zip(*parts, strict=True)
    ]


# ---------------------------------------------------------------- certified questions


@dataclass(frozen=True)
class Certified:
    """Series that make questions, a row each, with bits for the places that may be blank."""

    letters: Ints
    starts: Ints
    codes: Ints
    weights: Ints
    programs: Ints
    blanks: Ints  # bit 0 is place 1

    def chosen(self, rows: Flags | Ints) -> Certified:
        """Select some of the rows."""
        return Certified(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def ks(self) -> Ints:
        """Compute k of each row: a weight has at least this k from 2^(k - ½) on."""
        steps = [weight_bound(k - 1) for k in range(1, 30)]
        return np.searchsorted(np.array(steps), self.weights, side="right")


def least_other(groups: Ints, weights: Ints) -> Ints:
    """Find for each row the least weight of the other rows in its group."""
    order = np.lexsort((weights, groups))
    ordered, by_weight = groups[order], weights[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    size = np.diff(first, append=len(ordered))
    others = np.repeat(by_weight[first], size)
    others[first] = NOTHING
    several = first[size > 1]
    others[several] = by_weight[several + 1]
    result = np.empty_like(others)
    result[order] = others
    return result


def certified(levels: Sequence[Level], most_k: int, form: Form) -> Certified:
    """Certify all questions of a form up to a k, from tables that reach to δ above it.

    A place that may be blank makes a question of a series, but for the first: that one may be
    blank in a series with another such place, if there are tables of all 26 start letters.
    """
    found: list[Certified] = []
    taken: Flags = np.zeros(len(levels[0].codes), np.bool_)  # a question, or begins with one
    first = taken  # so it is if the first letter is blank
    for shorter, level in pairwise(levels):
        full = (shorter.starts + 1) << 55 | shorter.codes
        parents = np.searchsorted(full, level.prefixes())
        blanks = (_induction if form == "induction" else _abduction)(shorter, level, parents)
        blanks[level.weights >= weight_bound(most_k)] = 0
        asked = np.flatnonzero((blanks > 1) & ~taken[parents])
        taken = taken[parents] | (blanks > 1)
        blanks[first[parents]] &= ~1
        first = first[parents] | (blanks & 1 == 1)
        columns = (level.starts, level.codes, level.weights, level.programs, blanks)
        letters = np.full(len(asked), level.letters)
        found.append(Certified(letters, *(column[asked] for column in columns)))
    names = Certified.__dataclass_fields__
    return Certified(*(np.concatenate([getattr(part, name) for part in found]) for name in names))


def _induction(shorter: Level, level: Level, parents: Ints) -> Ints:
    """Certify the next letter: no rival for it or the last shown letter below the threshold."""
    threshold = TWICE * level.weights
    unquestionable = least_other(level.prefixes(), level.weights) >= threshold
    stable = least_other(shorter.prefixes(), shorter.weights)[parents] >= threshold
    return np.where(unquestionable & stable, 1 << (level.letters - 1), 0)


def _abduction(shorter: Level, level: Level, _parents: Ints) -> Ints:
    """Certify a missing letter, for each place but the last.

    Of the programs that agree with all shown letters but the last, all below the threshold must
    give the last one, and then all must have the same letter at the blank: together, there must
    be no other series with the same letters at all places but these two.
    """
    blanks = np.zeros(len(level.codes), np.int64)
    all_starts = len(np.unique(shorter.starts)) == LETTERS
    for place in range(1 if all_starts else 2, level.letters):
        shift = 55 if place == 1 else 5 * (level.letters - 1 - place)
        masked = level.prefixes() & ~(31 << shift)
        alone = least_other(masked, level.weights) >= TWICE * level.weights
        blanks |= np.where(alone, 1 << (place - 1), 0)
    return blanks


# ---------------------------------------------------------------- questions


def questions(
    sizes: Mapping[tuple[Form, int], int],
    seed: int,
    jobs: int = 1,
    done: Callable[[str], object] = lambda _: None,
) -> list[BankItem]:
    """Make so many questions of each form and k, or all where there are fewer, in that order.

    The harder they are, the longer a start letter takes, so hard ones begin with a few letters
    only (`STAGES`).
    """
    result: list[BankItem] = []
    easiest = 0
    for stage, starts in STAGES.items():
        ks = [k for _, k in sizes if easiest < k <= stage]
        easiest = stage
        if not ks:
            continue
        levels = tables(starts, max(ks), jobs, done)
        for form in get_args(Form):
            rows = certified(levels, max(ks), form)
            for k in sorted({k for of, k in sizes if of == form and k in ks}):
                of_k = rows.chosen(rows.ks() == k)
                found = drawn(of_k, levels, k, form, sizes[form, k], seed)
                done(f"k {k}: {len(found)} of {len(of_k.codes):,} {form} questions")
                result += found
    return sorted(result, key=lambda one: (one.form != "induction", one.k))


def drawn(
    rows: Certified, levels: Sequence[Level], k: int, form: Form, count: int, seed: int
) -> tuple[BankItem, ...]:
    """Draw some of the rows at random, and a place for the blank of each."""
    keys = seeding.keys(seed, np.arange(len(rows.codes)), seeding.MAKING)
    step = 2 * k + (form == "abduction")
    order = np.argsort(seeding.words(keys, step), kind="stable")[:count]
    words = seeding.words(keys, step, 1)
    picked = rows.chosen(order)
    result = []
    for n, row in enumerate(order):
        places = [p for p in range(1, MOST + 1) if picked.blanks[n] >> (p - 1) & 1]
        place = places[int(seeding.below(words[row : row + 1], len(places))[0])]
        whole = spelt(int(picked.starts[n]), int(picked.codes[n]))
        program = unpacked(int(picked.programs[n]))
        others = rivals(levels[len(whole) - CLOCK], whole, place)
        name = f"{form}-{k}-{seed}-{n}"
        result.append(question(name, form, whole, place, k, program, others))
    return tuple(result)


def rivals(level: Level, whole: str, blank: int) -> str:
    """List the letters that other programs of the table have at the blank, the cheapest first."""
    shift = 55 if blank == 1 else 5 * (len(whole) - blank)
    series = (level.starts + 1) << 55 | level.codes
    same = (series ^ _code(whole)) & ~(31 << shift) == 0
    letters = (series[same] >> shift & 31) - 1
    ordered = letters[np.lexsort((letters, level.weights[same]))]
    return "".join(letter(int(n)) for n in ordered).replace(whole[blank - 1], "")


def _code(whole: str) -> int:
    code = 0
    for one in whole[1:]:
        code = code << 5 | (number(one) + 1)
    return (number(whole[0]) + 1) << 55 | code


def question(
    name: str, form: Form, whole: str, blank: int, k: int, program: Program, rivals: str
) -> BankItem:
    """Make the question of a whole series with one place left blank."""
    steps = run(program, number(whole[0]), CLOCK).times[-1]
    return BankItem(
        id=name,
        form=form,
        series=f"{whole[: blank - 1]}_{whole[blank:]}",
        blank=blank,
        answer=whole[blank - 1],
        k=k,
        value=math.log2(weight(len(program), steps)),
        program=program,
        explanation=describe(program, whole[0]),
        rivals=rivals,
    )


def spelt(start: int, code: int) -> str:
    """Spell the letters of a start and a code."""
    letters = ""
    while code:
        letters = letter((code & 31) - 1) + letters
        code >>= 5
    return letter(start) + letters


def unpacked(program: int) -> Program:
    """Unpack a program from four bits an instruction."""
    return tuple(int(digit, 16) - 1 for digit in f"{program:x}")


# ---------------------------------------------------------------- the bank that ships


@cache
def shipped() -> tuple[BankItem, ...]:
    """Read the questions that come with allminds, in the order of form and k."""
    lines = gzip.decompress(BANK.read_bytes()).decode().splitlines()
    result = []
    for line in lines[1:]:
        name, form, k, whole, blank, program, others = line.split(",")
        instructions = tuple(int(digit) for digit in program)
        task: Form = "induction" if form == "induction" else "abduction"
        result.append(question(name, task, whole, int(blank), int(k), instructions, others))
    return tuple(result)


@cache
def known() -> dict[str, BankItem]:
    """Index the shipped questions by what they show."""
    return {one.series: one for one in shipped()}


def write(chosen: Iterable[BankItem], path: Path = BANK) -> None:
    """Write the bank: the same bytes for the same questions."""
    lines = ["id,form,k,series,blank,program,rivals"]
    numbers: dict[tuple[str, int], int] = {}
    for one in chosen:
        n = numbers[one.form, one.k] = numbers.get((one.form, one.k), 0) + 1
        program = "".join(map(str, one.program))
        name = f"{one.form}-{one.k}-{n}"
        lines.append(f"{name},{one.form},{one.k},{one.whole},{one.blank},{program},{one.rivals}")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))


def main(arguments: Sequence[str]) -> None:
    """Make the bank by ``--write [most k] [jobs]``; print a line for each table and each k."""
    if not arguments or arguments[0] != "--write":
        raise SystemExit("python -m allminds.instruments.series.bank --write [most k] [jobs]")
    most_k, jobs = (*map(int, arguments[1:]), *(max(SIZES), 1)[len(arguments) - 1 :])
    sizes = {(form, k): SIZES[k] for form in get_args(Form) for k in SIZES if k <= most_k}
    write(questions(sizes, BANK_SEED, jobs, lambda line: print(line, flush=True)))
    print(f"{BANK}: {BANK.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
