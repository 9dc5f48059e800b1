"""A second solver, written apart from the first: brute force over all ninth values.

It takes panels as they are. For each attribute it puts every value there is into the ninth cell and
asks of the whole 3 x 3 array whether it has a property, along the rows or along the columns. A
property that one value alone gives to the array predicts that value.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise

SHAPES = ["3", "4", "5", "6", "7", "8", "9", "circle", "ellipse", "line", "arc"]
COLOURS = ["black", "white", "blue", "red", "green", "yellow"]
PERIOD = {"3": 120, "4": 90, "5": 72, "ellipse": 180, "line": 180, "arc": 360}
STEPS = {"3": 4, "4": 4, "5": 3, "ellipse": 6, "line": 4, "arc": 8}
ELEMENTS = {"lines": 4, "corners": 4, "dots": 6}


def solve(cells, options):
    """The options that have, in every attribute, the one value that is predicted.

    None if some attribute has no prediction, or several.
    """
    wanted = {}
    for name in attributes(cells[0]):
        values = [attributes(cell)[name] for cell in cells]
        found = predicted(values, *domain(name, values, cells[0]))
        if len(found) != 1:
            return None
        wanted[name] = found.pop()
    return [n for n, option in enumerate(options) if attributes(option) == wanted]


def attributes(panel):
    """All attributes of a panel by name, as sets of values."""
    found = {}
    if panel.figure is not None:
        for name in ("shape", "size", "colour", "angle", "place"):
            found[name] = frozenset(getattr(panel.figure, name))
        found["count"] = frozenset([panel.figure.count])
        found["layout"] = frozenset([panel.figure.layout])
    if panel.marks is not None:
        found["inventory"] = frozenset([panel.marks.inventory])
        found["present"] = frozenset(panel.marks.present)
        found["mark colour"] = frozenset([panel.marks.colour])
    return found


def domain(name, values, panel):
    """What the attribute may be in the ninth cell, and the properties an array may have."""
    single = all(len(value) == 1 for value in values)
    shape = next(iter(panel.figure.shape)) if panel.figure else ""
    if name == "shape":
        universe, ordered = SHAPES, [by_difference(sides)]
    elif name == "size":
        universe, ordered = range(5), [by_difference(int)]
    elif name == "count":
        universe, ordered = range(1, 5), [by_difference(int), added, subtracted]
    elif name in ("colour", "mark colour"):
        universe, ordered = COLOURS, [followed]
    elif name == "angle":
        steps, period = STEPS.get(shape, 1), PERIOD.get(shape, 0)
        universe = [period * k / steps for k in range(steps)]
        ordered = [by_turn(period)] if period else []
    elif name == "place":
        universe, ordered = range(9), [by_difference(lambda n: (n // 3, n % 3))]
    elif name == "present":
        universe, ordered = range(ELEMENTS[panel.marks.inventory]), []
    else:
        universe, ordered = {value for some in values for value in some}, []
    if single and name != "present":
        plain = [constant, repeated, three, *(unpacked(one) for one in ordered)]
        return [frozenset([value]) for value in universe], plain
    if single and len(set(values)) == 1:
        return subsets(tuple(universe)), [constant]
    sets = [constant, repeated, three, together, left, differing, common]
    return subsets(tuple(universe)), sets


@cache
def subsets(universe):
    sizes = range(len(universe) + 1)
    return [frozenset(some) for n in sizes for some in combinations(universe, n)]


def predicted(values, candidates, properties):
    found = set()
    for has in properties:
        for turned in (False, True):
            if not has(rows([*values, None], turned)[:2]):
                continue  # nor has the whole array
            fits = [x for x in candidates if has(rows([*values, x], turned))]
            if len(fits) == 1:
                found.add(fits[0])
    return found


def rows(nine, turned):
    three_rows = [nine[0:3], nine[3:6], nine[6:9]]
    return [list(column) for column in zip(*three_rows, strict=True)] if turned else three_rows


def unpacked(has):
    """A property of single values, from sets of one."""
    return lambda some: has([[next(iter(value)) for value in row] for row in some])


# ---------------------------------------------------------------- properties of whole arrays


def constant(some):
    return all(len(set(row)) == 1 for row in some)


def repeated(some):
    return all(row == some[0] for row in some)


def three(some):
    return len(set(some[0])) == 3 and all(set(row) == set(some[0]) for row in some)


def sides(shape):
    return int(shape) if shape.isdigit() else None


def by_difference(number):
    """Neighbours always differ by the same, and by something."""

    def has(some):
        found = set()
        for row in some:
            for left_one, right_one in pairwise(row):
                a, b = number(left_one), number(right_one)
                if a is None or b is None:
                    return False
                pair = isinstance(a, tuple)
                found.add((b[0] - a[0], b[1] - a[1]) if pair else b - a)
        return len(found) == 1 and found.pop() not in (0, (0, 0))

    return has


def by_turn(period):
    """Neighbours are always turned by the same, and by something."""

    def has(some):
        turns = {round((b - a) % period, 6) for row in some for a, b in pairwise(row)}
        return len(turns) == 1 and turns.pop() not in (0, period)

    return has


def followed(some):
    """A value is always followed by the same one."""
    pairs = {(a, b) for row in some for a, b in pairwise(row)}
    return len({a for a, _ in pairs}) == len(pairs)


def added(some):
    return all(a + b == c for a, b, c in some)


def subtracted(some):
    return all(a - b == c for a, b, c in some)


def together(some):
    return all(a | b == c for a, b, c in some)


def left(some):
    return all(a - b == c for a, b, c in some)


def differing(some):
    return all(a ^ b == c for a, b, c in some)


def common(some):
    return all(a & b == c for a, b, c in some)
