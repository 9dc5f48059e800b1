"""The machine of the C-test: letters a..z in a circle, registers A, B, C, ten instructions.

It is defined in section 5 of Chmait et al. (2017). `run` is the definition, to be read. The search
and the bank of questions run programs in compiled code, which must agree with it to the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allminds.core.errors import Error, nearest

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
            raise Error(f"'{name}' is no instruction: {nearest(name, INSTRUCTIONS)}")
    return tuple(INSTRUCTIONS.index(name) for name in names)


def letter(number: int) -> str:
    """Convert a number to its letter: 0 is a, 25 is z."""
    return chr(ord("a") + number)


def number(letter: str) -> int:
    """Convert a letter to its number: a is 0, z is 25."""
    if len(letter) != 1 or not "a" <= letter <= "z":
        raise Error(f"'{letter}' is not a letter of the alphabet: write one of a..z")
    return ord(letter) - ord("a")
