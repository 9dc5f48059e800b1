"""Problems by the thousand, compiled: the twin of `generator.coded` and of `solver.verify`."""

# mypy: disable-error-code="no-any-return, return-value"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.core.compiled import below, kernel, word
from allminds.instruments.matrices.making.generator import (
    ANSWER,
    BASE,
    CASE,
    GROUP,
    LINE,
    MOST_TRIES,
    ORDER,
    PLAN,
    RULES,
    TRIES,
    VALUES,
    VARIANT,
)
from allminds.instruments.matrices.making.rules import ANGLE, FIELDS, SHAPE

Codes = NDArray[np.uint16]
Ints = NDArray[np.int64]

NAMES, LINE_ORDER, COUNT, RING, TRANSITIONS, GRID = range(6)
ORDERS = ("names", "line", "count", "ring", "transitions", "grid")
FULL, BITS = 9, 16


class Tables(NamedTuple):
    """The cases for one number of rules and their banks, as arrays."""

    groups: Ints  # the first plan of each group, and the end
    plans: Ints  # the first case of each plan, and the end
    base: Codes  # [case, field]
    fields: Ints  # [case, rule]
    banks: Ints  # [case, rule]
    orders: Ints  # [bank]: a number of ORDERS
    lengths: Ints  # [bank]: of the order
    lines: Codes  # [line, 9]: whole arrays; or rows, to the left
    spans: Ints  # [bank, 2]: of the lines; a bank of rows is marked by `rows`
    rows: NDArray[np.bool_]  # [bank]
    sets: Ints  # [set, value, 3]: an answer, the first of its lines, and their end
    choices: Ints  # [bank, 2]: of the sets


# ---------------------------------------------------------------- words


@kernel
def drawn(key: np.uint64, step: int, j: int, n: int) -> int:
    """Draw a number below n."""
    return np.int64(below(word(key, np.uint64(step), np.uint64(j)), np.uint64(n)))


@kernel
def bit_count(code: int) -> int:
    """Count the bits that are set."""
    count = 0
    while code:
        code &= code - 1
        count += 1
    return count


@kernel
def nth_bit(code: int, n: int) -> int:
    """Return the n-th bit that is set, counted from 0."""
    for _ in range(n):
        code &= code - 1
    return code & -code


@kernel
def index(code: int) -> int:
    """Return the number of the highest bit."""
    n = -1
    while code:
        code >>= 1
        n += 1
    return n


# ---------------------------------------------------------------- hypotheses


@kernel
def note(found: Ints, count: int, value: int) -> int:
    """Add a value to those found, if it is new; return how many there are."""
    for n in range(count):
        if found[n] == value:
            return count
    found[count] = value
    return count + 1


@kernel
def step(left: int, right: int, order: int, length: int) -> int:
    """Return the step between two values as one number; -1000 for values outside the order."""
    if order == GRID:
        return 10 * (right // 3 - left // 3) + right % 3 - left % 3
    if left >= length or right >= length:
        return -1000
    return (right - left) % length if order == RING else right - left


@kernel
def progression(v: Ints, order: int, length: int) -> int:
    """Predict the ninth value if all steps are the same and not zero; else -1."""
    first = step(index(v[0]), index(v[1]), order, length)
    if first in (0, -1000):
        return -1
    for n in (1, 3, 4, 6):
        if step(index(v[n]), index(v[n + 1]), order, length) != first:
            return -1
    last = index(v[7])
    if order == GRID:
        row, column = 2 * (last // 3) - index(v[6]) // 3, 2 * (last % 3) - index(v[6]) % 3
        return 1 << (3 * row + column) if 0 <= row < 3 and 0 <= column < 3 else -1
    if order == RING:
        return 1 << (last + first) % length
    return 1 << (last + first) if 0 <= last + first < length else -1


@kernel
def transition(v: Ints) -> int:
    """Predict what follows the eighth value, if each is always followed by the same; else -1."""
    follows = -1
    for n in (0, 1, 3, 4, 6):
        for m in (0, 1, 3, 4, 6):
            if v[n] == v[m] and v[n + 1] != v[m + 1]:
                return -1
        if v[n] == v[7]:
            follows = v[n + 1]
    return follows


@kernel
def added(v: Ints, sign: int) -> int:
    """Predict the ninth count if the third is the sum or difference of the others; else -1."""
    for n in (0, 3):
        if index(v[n]) + 1 + sign * (index(v[n + 1]) + 1) != index(v[n + 2]) + 1:
            return -1
    count = index(v[6]) + 1 + sign * (index(v[7]) + 1)
    return 1 << (count - 1) if 1 <= count <= 4 else -1


@kernel
def operated(p: int, q: int, operation: int) -> int:
    """Combine two sets: 0 union, 1 remainder, 2 symmetric difference, 3 intersection."""
    if operation == 0:
        return p | q
    if operation == 1:
        return p & ~q
    return p ^ q if operation == 2 else p & q


@kernel
def any_values(v: Ints, found: Ints, count: int) -> int:
    """Add what a constant row, a repeated row and the same three values predict."""
    if v[0] == v[1] == v[2] and v[3] == v[4] == v[5] and v[6] == v[7]:
        count = note(found, count, v[6])
    if v[0] == v[3] == v[6] and v[1] == v[4] == v[7] and v[2] == v[5]:
        count = note(found, count, v[2])
    a, b, c = v[0], v[1], v[2]
    if a != b and b != c and a != c and v[6] != v[7]:
        same = True
        for n in (3, 4, 5, 6, 7):
            same = same and (v[n] == a or v[n] == b or v[n] == c)
        if same and v[3] != v[4] and v[4] != v[5] and v[3] != v[5]:
            count = note(found, count, a ^ b ^ c ^ v[6] ^ v[7])
    return count


@kernel
def along(v: Ints, order: int, length: int, found: Ints, count: int) -> int:
    """Add what is predicted along the rows to those found."""
    count = any_values(v, found, count)
    several = False
    for n in range(8):
        several = several or v[n] & (v[n] - 1) != 0
    if several:
        for n in range(4):
            if operated(v[0], v[1], n) == v[2] and operated(v[3], v[4], n) == v[5]:
                count = note(found, count, operated(v[6], v[7], n))
        return count
    value = -1
    if order == TRANSITIONS:
        value = transition(v)
    elif order != NAMES:
        value = progression(v, order, length)
    if value >= 0:
        count = note(found, count, value)
    if order == COUNT:
        for sign in (1, -1):
            value = added(v, sign)
            if value >= 0:
                count = note(found, count, value)
    return count


@kernel
def predictions(v: Ints, turned: Ints, order: int, length: int, found: Ints) -> int:
    """Count the ninth values predicted along rows or columns; put them into `found`."""
    alike = True
    for n in range(1, 8):
        alike = alike and v[n] == v[0]
    if alike:  # all that holds says the same
        found[0] = v[0]
        return 1
    count = along(v, order, length, found, 0)
    for n in range(8):
        turned[n] = v[3 * (n % 3) + n // 3]
    return along(turned, order, length, found, count)


# ---------------------------------------------------------------- verification


@kernel
def verified(
    cells: Codes, options: Codes, answers: Ints, orders: Ints, lengths: Ints, turns: Ints
) -> NDArray[np.bool_]:
    """Return whether one value is predicted for each field, and the answer alone has them all.

    `orders` and `lengths` are those of fields, but an angle's length is that of the shape's turns.
    """
    good = np.ones(len(cells), np.bool_)
    v, turned, found = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(16, np.int64)
    wanted = np.zeros(FIELDS, np.int64)
    for i in range(len(cells)):
        shape = int(cells[i, 0, SHAPE])
        for n in range(1, 8):
            if cells[i, n, SHAPE] != shape:
                shape = 0
        for field in range(FIELDS):
            for n in range(8):
                v[n] = cells[i, n, field]
            length = lengths[field]
            if field == ANGLE:
                length = turns[index(shape)] if bit_count(shape) == 1 else 1
            if predictions(v, turned, orders[field], length, found) != 1:
                good[i] = False
            wanted[field] = found[0]
        for k in range(options.shape[1]):
            same = True
            for field in range(FIELDS):
                same = same and options[i, k, field] == wanted[field]
            good[i] = good[i] and same == (k == answers[i])
    return good


# ---------------------------------------------------------------- making


@kernel
def draw_array(tables: Any, bank: int, chosen: Ints, key: np.uint64, at: int, work: Ints) -> None:
    """Fill the first nine of `work` with an unambiguous array that ends in the chosen answer."""
    line = chosen[1] + drawn(key, at, LINE, chosen[2] - chosen[1])
    if not tables.rows[bank]:
        for n in range(FULL):
            work[n] = tables.lines[line, n]
        return
    first, last = tables.spans[bank, 0], tables.spans[bank, 1]
    v, turned, found = work[:8], work[9:17], work[17:33]
    for j in range(TRIES, TRIES + 2 * MOST_TRIES, 2):
        for n in range(3):
            work[n] = tables.lines[first + drawn(key, at, j, last - first), n]
            work[3 + n] = tables.lines[first + drawn(key, at, j + 1, last - first), n]
            work[6 + n] = tables.lines[line, n]
        count = predictions(v, turned, tables.orders[bank], tables.lengths[bank], found)
        if count == 1 and found[0] == work[8]:
            return


@kernel
def place_options(
    options: Codes, fields: Ints, values: Ints, design: Ints, key: np.uint64, order: Ints
) -> int:
    """Fill the governed fields of the options in random order; return the right one's place."""
    answer = 0
    for n in range(len(order)):
        order[n] = n
    for place in range(len(order) - 1, 0, -1):
        other = drawn(key, ORDER, place, place + 1)
        order[place], order[other] = order[other], order[place]
    for place in range(len(order)):
        if order[place] == 0:
            answer = place
        for rule in range(len(values)):
            options[place, fields[rule]] = values[rule, design[order[place], rule]]
    return answer


@kernel
def make(keys: NDArray[np.uint64], tables: Any, design: Ints) -> Any:
    """Make cells [problem, 9, field], options [problem, option, field], answers and cases."""
    total, candidates, count = len(keys), design.shape[0], design.shape[1]
    cells = np.zeros((total, FULL, FIELDS), np.uint16)
    options = np.zeros((total, candidates, FIELDS), np.uint16)
    answers, cases = np.zeros(total, np.int64), np.zeros(total, np.int64)
    values, work = np.zeros((count, 4), np.int64), np.zeros(33, np.int64)
    order = np.zeros(candidates, np.int64)
    for i in range(total):
        key = keys[i]
        group = drawn(key, CASE, GROUP, len(tables.groups) - 1)
        first = tables.groups[group]
        plan = first + drawn(key, CASE, PLAN, tables.groups[group + 1] - first)
        first = tables.plans[plan]
        case = first + drawn(key, CASE, VARIANT, tables.plans[plan + 1] - first)
        cases[i] = case
        for field in range(FIELDS):
            code = np.int64(tables.base[case, field])
            if code:
                value = nth_bit(code, drawn(key, CASE, BASE + field, bit_count(code)))
                cells[i, :, field] = value
                options[i, :, field] = value
        for rule in range(count):
            bank, field = tables.banks[case, rule], tables.fields[case, rule]
            low, high = tables.choices[bank, 0], tables.choices[bank, 1]
            chosen = tables.sets[low + drawn(key, RULES + rule, VALUES, high - low)]
            answer = drawn(key, RULES + rule, ANSWER, len(chosen))
            values[rule, 0] = chosen[answer, 0]
            for n in range(1, len(chosen)):
                values[rule, n] = chosen[n - 1 if n <= answer else n, 0]
            draw_array(tables, bank, chosen[answer], key, RULES + rule, work)
            for n in range(FULL):
                cells[i, n, field] = work[n]
        answers[i] = place_options(options[i], tables.fields[case], values, design, key, order)
    return cells, options, answers, cases
