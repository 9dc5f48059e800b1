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
from allminds.instruments.matrices.making.solver import ORDERS, ROW, THIRDS

Codes = NDArray[np.uint16]
Ints = NDArray[np.int64]

NAMES, LEVELS, NUMBERS, RING, GRID = range(len(ORDERS))
RIVALS = np.array([len(THIRDS[order]) for order in ORDERS])  # hypotheses about third numbers
NOTHING = -1000  # for what is no number
FULL = 9
MOST = 64  # predictions there can be


class Tables(NamedTuple):
    """The cases for one number of rules and their banks, as arrays."""

    groups: Ints  # the first plan of each group, and the end
    plans: Ints  # the first case of each plan, and the end
    base: Codes  # [case, field]
    fields: Ints  # [case, rule]
    banks: Ints  # [case, rule]
    scales: Ints  # [bank, 3]: order as its number, length and first
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
def number(code: int, scale: Ints) -> int:
    """Return the number that a value is; NOTHING for a value outside the order, and for none."""
    n = index(code)
    if n < 0 or n >= scale[1]:
        return NOTHING
    return ROW * (n // 3) + n % 3 if scale[0] == GRID else n + scale[2]


@kernel
def value(n: int, scale: Ints) -> int:
    """Return the value that a number is; -1 outside the order."""
    if n == NOTHING:
        return -1
    if scale[0] == GRID:
        row = (n + ROW // 2) // ROW
        column = n - ROW * row
        return 1 << (3 * row + column) if 0 <= row < 3 and 0 <= column < 3 else -1
    n = n % scale[1] if scale[0] == RING else n - scale[2]
    return 1 << n if 0 <= n < scale[1] else -1


@kernel
def divided(p: int, q: int) -> int:
    """Divide a number by another that is in it; NOTHING if it is not."""
    return p // q if p % q == 0 else NOTHING


@kernel
def third(which: int, p: int, q: int, a: int, b: int, c: int) -> int:
    """Return what hypothesis number `which` of `solver.NUMBERS` says; the first row is a, b, c."""
    if which == 0:
        return 2 * q - p
    if which == 1:
        return p + c - a
    if which == 2:
        return q + c - b
    if which == 3:
        return max(p, q)
    if which == 4:
        return min(p, q)
    if which == 5:
        return divided(p + q, 2)
    if which == 6:
        return 2 * p - q
    if which == 7:
        return p + q + c - a - b
    if which == 8:
        return p - q + c - a + b
    if which == 9:
        return q - p + c + a - b
    if which == 10:
        return a + b + c - p - q
    if which == 11:
        return abs(p - q)
    if which == 12:
        return 2 * p
    if which == 13:
        return 2 * q
    if which == 14:
        return divided(p, 2)
    if which == 15:
        return divided(q, 2)
    if which == 16:
        return p * q
    return divided(p, q) if which == 17 else divided(q, p)


@kernel
def same(n: int, known: int, scale: Ints) -> bool:
    """Return whether a number is the same value as the number of a known value."""
    return n == known or (scale[0] == RING and n != NOTHING and (n - known) % scale[1] == 0)


@kernel
def of_numbers(v: Ints, scale: Ints, n: Ints, found: Ints, count: int) -> int:
    """Add what hypotheses about values in an order predict; `n` has room for eight numbers."""
    for k in range(8):
        n[k] = number(v[k], scale)
        if n[k] == NOTHING:
            return count
    a, b, c = n[0], n[1], n[2]
    for k in range(RIVALS[scale[0]]):
        if same(third(k, a, b, a, b, c), c, scale) and same(
            third(k, n[3], n[4], a, b, c), n[5], scale
        ):
            ninth = value(third(k, n[6], n[7], a, b, c), scale)
            if ninth >= 0:
                count = note(found, count, ninth)
    return count


@kernel
def operated(p: int, q: int, operation: int) -> int:
    """Combine two sets as operation number `operation` of `solver.OPERATIONS` does."""
    if operation == 0:
        return p | q
    if operation == 1:
        return p & ~q
    if operation == 2:
        return q & ~p
    return p ^ q if operation == 3 else p & q


@kernel
def of_sets(v: Ints, found: Ints, count: int) -> int:
    """Add what hypotheses about sets predict."""
    for n in range(5):
        if operated(v[0], v[1], n) == v[2] and operated(v[3], v[4], n) == v[5]:
            count = note(found, count, operated(v[6], v[7], n))
    odd, left = v[0] ^ v[1] ^ v[2], v[0] ^ v[1] ^ v[2] ^ v[6] ^ v[7]
    twice = (v[0] & v[1]) | (v[0] & v[2]) | (v[1] & v[2])
    if (
        odd == v[3] ^ v[4] ^ v[5]
        and twice == (v[3] & v[4]) | (v[3] & v[5]) | (v[4] & v[5])
        and twice == (v[6] & v[7]) | (v[6] & left) | (v[7] & left)
    ):
        count = note(found, count, left)
    return count


@kernel
def taken(v: Ints, left: int, value: int) -> int:
    """Take a value from those of the first row that are left, given as bits; -1 if it is not."""
    for n in range(3):
        if left >> n & 1 and v[n] == value:
            return left & ~(1 << n)
    return -1


@kernel
def same_values(v: Ints) -> int:
    """Predict the ninth value if each row has the same three values in some order; else -1."""
    left = 7
    for n in (3, 4, 5):
        left = taken(v, left, v[n])
        if left < 0:
            return -1
    left = taken(v, 7, v[6])
    if left >= 0:
        left = taken(v, left, v[7])
    return v[index(left)] if left >= 0 else -1


@kernel
def followed(v: Ints) -> int:
    """Predict what follows the eighth value, if each is always followed by the same; else -1."""
    follows = -1
    for n in range(7):
        if n != 2 and n != 5:
            for m in range(n):
                if v[n] == v[m] and v[n + 1] != v[m + 1] and m != 2 and m != 5:
                    return -1
            if v[n] == v[7]:
                follows = v[n + 1]
    return follows


@kernel
def any_values(v: Ints, found: Ints, count: int) -> int:
    """Add what hypotheses about any values predict."""
    if v[0] == v[2] and v[3] == v[5]:
        count = note(found, count, v[6])
    if v[1] == v[2] and v[4] == v[5]:
        count = note(found, count, v[7])
    if v[2] == v[5]:
        count = note(found, count, v[2])
    ninth = same_values(v)
    if ninth >= 0:
        count = note(found, count, ninth)
    ninth = followed(v)
    return note(found, count, ninth) if ninth >= 0 else count


@kernel
def along(v: Ints, scale: Ints, numbers: Ints, found: Ints, count: int) -> int:
    """Add what is predicted along the rows to those found."""
    count = any_values(v, found, count)
    several = False
    for n in range(8):
        several = several or v[n] & (v[n] - 1) != 0
    if several:
        return of_sets(v, found, count)
    return of_numbers(v, scale, numbers, found, count) if scale[0] != NAMES else count


@kernel
def predictions(v: Ints, scale: Ints, work: Ints, found: Ints) -> int:
    """Count the ninth values predicted along rows or columns; put them into `found`.

    `scale` is an order as its number, its length and its first number; `work` has room for 16.
    """
    alike = True
    for n in range(1, 8):
        alike = alike and v[n] == v[0]
    if alike:  # all that holds says the same
        found[0] = v[0]
        return 1
    turned, numbers = work[:8], work[8:16]
    count = along(v, scale, numbers, found, 0)
    for n in range(8):
        turned[n] = v[3 * (n % 3) + n // 3]
    return along(turned, scale, numbers, found, count)


@kernel
def third_amount(which: int, p: int, q: int) -> int:
    """Return what number `which` of `solver.AMOUNTS` makes of two amounts."""
    if which == 0:
        return p + q
    return p - q if which == 1 else 2 * q - p


@kernel
def contradicted(v: Ints, ninth: int, work: Ints) -> bool:
    """Return whether a number of elements is predicted that a ninth value does not have."""
    several, amount = False, bit_count(ninth)
    for n in range(8):
        several = several or v[n] & (v[n] - 1) != 0
    if not several:
        return False
    for turned in range(2):
        for n in range(8):
            work[n] = bit_count(v[3 * (n % 3) + n // 3 if turned else n])
        if turned == 0 and work[2] == work[5] != amount:
            return True
        if same_values(work) not in (-1, amount):
            return True
        for which in range(3):
            if (
                third_amount(which, work[0], work[1]) == work[2]
                and third_amount(which, work[3], work[4]) == work[5]
            ):
                found = third_amount(which, work[6], work[7])
                if found >= 0 and found != amount:
                    return True
    return False


# ---------------------------------------------------------------- verification


@kernel
def verified(
    cells: Codes, options: Codes, answers: Ints, scales: Ints, turns: Ints
) -> NDArray[np.bool_]:
    """Return whether one value is predicted for each field, and the answer alone has them all.

    `scales` are those of fields, but an angle's length is that of the shape's turns.
    """
    good = np.ones(len(cells), np.bool_)
    v, work, found = np.zeros(8, np.int64), np.zeros(16, np.int64), np.zeros(MOST, np.int64)
    scale = np.zeros(3, np.int64)
    wanted = np.zeros(FIELDS, np.int64)
    for i in range(len(cells)):
        shape = int(cells[i, 0, SHAPE])
        for n in range(1, 8):
            if cells[i, n, SHAPE] != shape:
                shape = 0
        for field in range(FIELDS):
            alike = True
            for n in range(8):
                v[n] = cells[i, n, field]
                alike = alike and v[n] == v[0]
            wanted[field] = v[0]
            if alike:  # nothing else is predicted, nor another number of elements
                continue
            scale[:] = scales[field]
            if field == ANGLE:
                scale[1] = turns[index(shape)] if bit_count(shape) == 1 else 1
            if predictions(v, scale, work, found) != 1 or contradicted(v, found[0], work):
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
    v, room, found = work[:8], work[9:25], work[25:]
    for j in range(TRIES, TRIES + 2 * MOST_TRIES, 2):
        for n in range(3):
            work[n] = tables.lines[first + drawn(key, at, j, last - first), n]
            work[3 + n] = tables.lines[first + drawn(key, at, j + 1, last - first), n]
            work[6 + n] = tables.lines[line, n]
        count = predictions(v, tables.scales[bank], room, found)
        if count == 1 and found[0] == work[8] and not contradicted(v, work[8], room):
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
    values, work = np.zeros((count, 4), np.int64), np.zeros(25 + MOST, np.int64)
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
