"""Program search compiled: finds what `levin.plain_search` finds.

One search walks the tree of programs depth first. A program is extended only when its run reaches
its end; it is dropped at the first wrong letter, and as soon as its cost must reach the bound:

- *steps*: the run so far, one step for each WRITE up to the clock, one for each change of letter
  between them, and what it takes to get the next letter into A. A step moves A by one letter or
  copies B or C into it, and moves C by one at most, so that is no less than the smallest of A's
  distance to the letter, B's plus one and C's plus one.
- *length*: where there is no room for another instruction this one must be the last, and the last
  is a loop (which goes back) or the WRITE of the last letter.
- *jumps*: what the instructions that there is room for cannot WRITE before the first jump back, an
  instruction must WRITE again after one; a jump is a step, and each but the last is followed by all
  instructions it went back over.
- *loops*: a loop over instructions that neither WRITE nor loop nor set C takes C rounds; one that
  is the last instruction must be able to get back to a WRITE.

Some programs are skipped (`redundant`) because another one, first in the order of instructions,
does the same in the same number of instructions and of steps:

1. Loops that go back to the top anyway are LOOPTOP.
2. What changed A alone just before MOV A,B or MOV A,C is SUCC. A jump that lands between the two
   finds the same instruction in both programs.
3. A window of two or three straight instructions is the first that has the same effect, with its
   WRITEs at the same places (so SUCC; PRED stands for PRED; SUCC too), unless a jump lands inside
   it. One that lands on index i comes from a LOOPS at i + 3 or a LOOPM at i + 6: windows are
   skipped when those have become impossible, for want of room or because something else is there.

Each rule replaces a program by one that is earlier in dictionary order, of the same length, that
prints the same letters at the same steps. So of the programs that are alike the first is never
skipped, and no least cost and no prediction is lost.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from allminds.complexity.levin import (
    LETTERS,
    LOOPM,
    LOOPS,
    LOOPTOP,
    MOV_AB,
    MOV_AC,
    MOV_BA,
    MOV_CA,
    PRED,
    QUIET,
    SUCC,
    WRITE,
)
from allminds.core.compiled import inlined, kernel

Ints = NDArray[np.int64]
Bytes = NDArray[np.int8]

END, WROTE, OUT = 0, 1, 2  # why a run stopped: at the end, all printed, no use
# A run where it reached the end of the program. BUSY is the last index that WRITEs, loops or sets
# C, SPOKE the last that WRITEs; PENS are the instructions that WRITE, LOOPED those that loop; SPELT
# are the letters after the first in five bits each; CAP is how long the program may become and NEXT
# the instruction to try next.
A, B, C, STEPS, WRITES, SILENT, TIME, GUESS = range(8)
BUSY, SPOKE, PENS, LOOPED, SPELT, CAP, NEXT, FIELDS = range(8, 16)
SHORTEST = 4  # the way back of LOOPS: no other loop goes back less, but near the top
MOST = 32  # instructions
NOTHING = 2**62


def _effect(window: tuple[int, ...]) -> tuple[object, ...]:
    """Describe straight instructions: (register, letters added) in A, B, C, and WRITEs by place."""
    a, b, c = ("A", 0), ("B", 0), ("C", 0)
    written = []
    for place, instruction in enumerate(window):
        if instruction == WRITE:
            written.append((place, a))
        elif instruction in (SUCC, PRED):
            a = (a[0], a[1] + (1 if instruction == SUCC else -1))
        elif instruction == MOV_AB:
            a = b
        elif instruction == MOV_BA:
            b = a
        elif instruction == MOV_AC:
            a = c
        else:
            c = a
    return a, b, c, tuple(written)


def _doubles(size: int) -> NDArray[np.bool_]:
    """Mark the windows of straight instructions that do what an earlier window does."""
    seen = set()
    result = np.zeros((10,) * size, np.bool_)
    for window in product(range(SUCC, 10), repeat=size):
        effect = _effect(window)
        result[window] = effect in seen
        seen.add(effect)
    return result


PAIRS, TRIPLES = _doubles(2), _doubles(3)


@inlined
def back(loop: int, length: int) -> int:
    """Compute how far a loop goes back, unless that passes the top."""
    return length if loop == LOOPTOP else (4 if loop == LOOPS else 7)


@kernel
def advance(
    program: Bytes, length: int, at: int, a: int, b: int, c: int, most: int
) -> tuple[int, int, int, int, int, int]:
    """Run until a WRITE, the end of the program, or so many steps without a WRITE.

    Return why the run stopped, then the index, A, B, C and the steps it took. A loop at the end of
    the program that meets the same registers twice without a WRITE would go on for ever.
    """
    steps = 0
    old_a = old_b = old_c = -1
    while at < length:
        instruction = program[at]
        at += 1
        steps += 1
        if instruction <= LOOPM:
            c = 25 if c == 0 else c - 1
            if c != 0:
                if at == length:
                    if a == old_a and b == old_b and c == old_c:
                        return OUT, at, a, b, c, steps
                    old_a, old_b, old_c = a, b, c
                at = max(at - back(instruction, at), 0)
        elif instruction == WRITE:
            return WROTE, at, a, b, c, steps
        else:
            a, b, c = stepped(instruction, a, b, c)
        if steps >= most:
            return OUT, at, a, b, c, steps
    return END, at, a, b, c, steps


@inlined
def stepped(instruction: int, a: int, b: int, c: int) -> tuple[int, int, int]:
    """Apply an instruction that neither WRITEs nor loops to the registers."""
    if instruction == SUCC:
        a = 0 if a == 25 else a + 1
    elif instruction == PRED:
        a = 25 if a == 0 else a - 1
    elif instruction == MOV_AB:
        a = b
    elif instruction == MOV_BA:
        b = a
    elif instruction == MOV_AC:
        a = c
    else:
        c = a
    return a, b, c


@inlined
def patience(states: Ints, depth: int, need: Ints, clock: int, longest: int) -> int:
    """Compute how many steps without a WRITE the run of this depth may still make, and one."""
    most = QUIET - states[depth, SILENT]
    writes = states[depth, WRITES]
    if writes < clock:
        most = min(most, longest - states[depth, STEPS] - need[writes, 0] + 1)
    return most


@inlined
def straight(
    x: int, depth: int, states: Ints, letters: Bytes, blank: int, need: Ints, clock: int,
    longest: int,
) -> int:  # fmt: skip
    """Run one instruction that does not loop: what `follow` does in general."""
    length = depth + 1
    writes, spelt, time = states[depth, WRITES], states[depth, SPELT], states[depth, TIME]
    a = states[depth, A]
    states[length, WRITES], states[length, SPELT], states[length, TIME] = writes, spelt, time
    most = patience(states, depth, need, clock, longest)
    if most < 1 or time > longest or (x != WRITE and most == 1):
        return OUT
    steps = states[depth, STEPS] + 1
    guess = states[depth, GUESS]
    silent = states[depth, SILENT] + 1
    b, c = states[depth, B], states[depth, C]
    if x != WRITE:
        a, b, c = stepped(x, a, b, c)
    else:
        if letters[writes] >= 0 and letters[writes] != a:
            return OUT
        if writes == blank:
            guess = a
        if writes > 0:
            spelt = spelt << 5 | (a + 1)
        writes += 1
        silent = 0
        if writes == clock:
            time = steps
    states[length, A], states[length, B], states[length, C] = a, b, c
    states[length, STEPS], states[length, SILENT] = steps, silent
    states[length, WRITES], states[length, SPELT], states[length, TIME] = writes, spelt, time
    states[length, GUESS] = guess
    return WROTE if x == WRITE and writes == len(letters) else END


@inlined
def follow(
    program: Bytes, depth: int, states: Ints, letters: Bytes, blank: int, need: Ints, clock: int,
    longest: int,
) -> int:  # fmt: skip
    """Run the instruction put at this depth and on, as long as letters are right.

    The run goes from the state of this depth to that of the next. `need` are the steps that the
    WRITEs up to the clock take at least, `longest` is what the clock may show.
    """
    a, b, c = states[depth, A], states[depth, B], states[depth, C]
    steps, writes, silent = states[depth, STEPS], states[depth, WRITES], states[depth, SILENT]
    time, guess, spelt = states[depth, TIME], states[depth, GUESS], states[depth, SPELT]
    at, length = depth, depth + 1
    why = OUT
    while True:
        most = QUIET - silent
        if writes < clock:
            most = min(most, longest - steps - need[writes, 0] + 1)
        if most < 1 or time > longest:
            why = OUT
            break
        why, at, a, b, c, took = advance(program, length, at, a, b, c, most)
        steps += took
        silent += took
        if why != WROTE:
            break
        if letters[writes] >= 0 and letters[writes] != a:
            why = OUT
            break
        if writes == blank:
            guess = a
        if writes > 0:
            spelt = spelt << 5 | (a + 1)
        writes += 1
        silent = 0
        if writes == clock:
            time = steps
        if writes == len(letters):
            break
    if why != OUT:
        states[length, A], states[length, B], states[length, C] = a, b, c
        states[length, STEPS], states[length, SILENT] = steps, silent
        states[length, GUESS] = guess
    states[length, WRITES], states[length, SPELT], states[length, TIME] = writes, spelt, time
    return why


@inlined
def redundant(program: Bytes, at: int, room: int) -> bool:
    """Check whether a program may be skipped for its instruction at `at`, with `room` for more."""
    last = program[at]
    if last <= LOOPM:
        if (at < 4 and last == LOOPS) or (at < 7 and last == LOOPM):
            return True
    elif at > 0:
        before = program[at - 1]
        if (last in (MOV_AB, MOV_AC)) and (before in (PRED, MOV_AB, MOV_AC)):
            return True
        if room <= 2 and PAIRS[before, last]:
            return True
        if at > 1 and room <= 1 and TRIPLES[program[at - 2], before, last]:
            return True
    if at > 3 and room <= 2 and last != LOOPS and PAIRS[program[at - 4], program[at - 3]]:
        return True
    return (
        at > 6
        and last != LOOPM
        and program[at - 3] != LOOPS
        and PAIRS[program[at - 7], program[at - 6]]
    )


@inlined
def spins(program: Bytes, depth: int, states: Ints, need: Ints, clock: int, longest: int) -> bool:
    """Check whether the loop at this depth would turn too long, without a WRITE or an exit."""
    far = back(program[depth], depth + 1)
    if depth + 1 - far <= states[depth, BUSY]:
        return False
    most = patience(states, depth, need, clock, longest)
    rounds = 25 if states[depth, C] == 0 else states[depth, C] - 1
    return 1 + rounds * far >= most


@inlined
def mute(program: Bytes, depth: int, spoke: int) -> bool:
    """Check whether the loop at this depth reaches a WRITE only by leaving the program's end."""
    if depth + 1 - back(program[depth], depth + 1) <= spoke:
        return False
    for at in range(spoke + 1, depth):
        if program[at] <= LOOPM and at + 1 - back(program[at], at + 1) <= spoke:
            return False
    return True


@kernel
def needed(letters: Bytes, clock: int) -> Ints:
    """Bound the steps from each WRITE to the clock from below, changes of A included.

    They are in column 0. Column m has how many WRITEs from this one on m straight instructions can
    make at most, with the letter of the first in A.
    """
    need = np.zeros((len(letters) + 1, MOST + 1), np.int64)
    for n in range(clock - 1, -1, -1):
        known = n + 1 < clock and letters[n] >= 0 and letters[n + 1] >= 0
        takes = 1 + (known and letters[n] != letters[n + 1])
        need[n, 0] = need[n + 1, 0] + takes
        for m in range(1, MOST + 1):
            need[n, m] = 1 + (need[n + 1, m - takes] if m > takes else 0)
    return need


@inlined
def apart(a: int, b: int) -> int:
    """Compute the distance of two letters in the circle."""
    d = abs(a - b)
    return min(d, LETTERS - d)


@inlined
def jumps_left(pens: int, first: int, left: int) -> int:
    """Bound the jumps back from below: `first` WRITEs come before, `pens` at most after each."""
    jumps = 0
    left -= first
    while left > 0:
        jumps += 1
        left -= max(pens, 1)
    return jumps


@inlined
def longest_program(
    states: Ints, depth: int, letters: Bytes, need: Ints, clock: int, limit: int, below: int,
    prints: int,
) -> int:  # fmt: skip
    """Compute how long a program that goes on from here can be, with its weight below the bound.

    Unless there is room to WRITE all that is left, the last instruction is a loop.
    """
    writes, steps = states[depth, WRITES], states[depth, STEPS]
    least, way = states[depth, TIME], 0
    if writes < clock:
        to = letters[writes]
        if to >= 0:
            by_copy = 1 + min(apart(states[depth, B], to), apart(states[depth, C], to))
            way = min(apart(states[depth, A], to), by_copy)
        least = steps + need[writes, 0] + way
    length = limit
    while length > depth:
        room = length - depth
        time = least
        if writes < clock and room < prints - writes:
            first = need[writes, room - 1 - way] if room - 1 > way else 0
            jumps = jumps_left(states[depth, PENS] + room - 1, first, clock - writes)
            # A loop may move C to the letter, but it never changes A.
            time = max(least, steps + need[writes, 0] + (way > 0) + jumps)
            if jumps > 1 and states[depth, LOOPED] == 0:
                time = max(time, steps + min(SHORTEST, depth + 1) * (jumps - 1) + 2)
        if time << length < below:
            return length
        length -= 1
    return 0


@kernel
def beginning(start: int) -> Ints:
    """Allocate states for every length of a program; the first is that of the empty one."""
    states = np.zeros((MOST + 2, FIELDS), np.int64)
    states[0, A] = states[0, B] = start
    states[0, BUSY] = states[0, SPOKE] = -1
    return states


@inlined
def proposed(program: Bytes, depth: int, states: Ints, prints: int, skip: bool) -> bool:
    """Put the next instruction at this depth, and check whether the program is worth running.

    A last instruction that is a WRITE must bring the letters to `prints` at least.
    """
    x = states[depth, NEXT]
    room = states[depth, CAP] - depth - 1
    if room == 0 and x > LOOPM:
        states[depth, NEXT] = 10
        if states[depth, WRITES] + 1 < prints:
            return False
        x = WRITE
    else:
        states[depth, NEXT] = x + 1
    program[depth] = x
    if room == 0 and x <= LOOPM and mute(program, depth, states[depth, SPOKE]):
        return False
    return not (skip and redundant(program, depth, room))


@inlined
def tried(
    program: Bytes, depth: int, states: Ints, letters: Bytes, blank: int, need: Ints, clock: int,
    longest: int,
) -> int:  # fmt: skip
    """Run the instruction put at this depth, and on if it loops; return why the run stopped."""
    x = program[depth]
    if x > LOOPM:
        return straight(x, depth, states, letters, blank, need, clock, longest)
    if spins(program, depth, states, need, clock, longest):
        states[depth + 1, WRITES] = states[depth, WRITES]
        return OUT
    return follow(program, depth, states, letters, blank, need, clock, longest)


@inlined
def extended(
    program: Bytes, depth: int, states: Ints, letters: Bytes, need: Ints, clock: int, below: int,
    prints: int,
) -> bool:  # fmt: skip
    """Make the state after this depth the place to extend programs from, if they can be below."""
    x = program[depth]
    length = depth + 1
    writes, loops = x == WRITE, x <= LOOPM
    states[length, BUSY] = depth if loops or writes or x == MOV_CA else states[depth, BUSY]
    states[length, SPOKE] = depth if writes else states[depth, SPOKE]
    states[length, PENS] = states[depth, PENS] + writes
    states[length, LOOPED] = states[depth, LOOPED] + loops
    states[length, NEXT] = 0
    cap = longest_program(states, length, letters, need, clock, states[depth, CAP], below, prints)
    states[length, CAP] = cap
    return cap > length


@kernel
def search(
    letters: Bytes, blank: int, start: int, clock: int, limit: int, below: int, shrink: bool,
    skip: bool, best: Ints, witness: Bytes, listed: Bytes,
) -> int:  # fmt: skip
    """Search for programs that print the letters (-1: any) with a weight t·2^|p| below a bound.

    Return the number of programs found. `best` and `witness` get the least weight for each letter
    at the blank and a program of that weight. With `shrink` the bound falls to the least weight
    found, ties included. Programs are put into `listed` while there is room.
    """
    need = needed(letters, clock)
    prints = len(letters)
    program = np.zeros(MOST, np.int8)
    states = beginning(start)
    states[0, CAP] = longest_program(states, 0, letters, need, clock, limit, below, prints)
    found = depth = 0
    while depth >= 0:
        if states[depth, NEXT] == 10 or states[depth, CAP] <= depth:
            depth -= 1
            continue
        if not proposed(program, depth, states, prints, skip):
            continue
        length = depth + 1
        longest = (below - 1) >> length
        why = tried(program, depth, states, letters, blank, need, clock, longest)
        if why == END:
            depth += extended(program, depth, states, letters, need, clock, below, prints)
        elif why == WROTE:
            weight = states[length, TIME] << length
            guess = states[length, GUESS]
            if found < len(listed):
                listed[found, 0] = length
                listed[found, 1 : length + 1] = program[:length]
            found += 1
            if weight < best[guess]:
                best[guess] = weight
                witness[guess, 0] = length
                witness[guess, 1 : length + 1] = program[:length]
            if shrink:
                below = min(below, weight + 1)
    return found
