"""A program in words, for people who want to know why an answer is right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from allminds.complexity.levin.machine import (
    LOOPM,
    LOOPS,
    LOOPTOP,
    MOV_AB,
    MOV_AC,
    MOV_BA,
    MOV_CA,
    PRED,
    SUCC,
    WRITE,
    Program,
    letter,
    run,
    target,
)

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
    """The program step by step: ``1. write the letter; 2. go one letter on; ...``.

    With the start letter, what it writes is added.
    """
    words = "; ".join(f"{number}. {text}" for number, text in _steps(tuple(program)))
    if start is None:
        return words
    letters = run(program, ord(start) - ord("a"), 12).letters
    return f"Start with {start}. {words}. It writes {''.join(map(letter, letters))}."


def _steps(program: Program) -> list[tuple[int, str]]:
    """Numbered steps; instructions that repeat are one, unless a loop goes back between them."""
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
