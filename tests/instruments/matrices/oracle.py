"""A second solver, written apart from the first: brute force over all ninth values.

It takes panels as they are. For each attribute it puts every value there is into the ninth cell and
asks of the whole 3 x 3 array whether it has a property, along the rows or along the columns. A
property that one value alone gives to the array predicts that value. A rule by which another value
than the answer's is predicted gives a *second answer*.

`ANY`, `STEPPING`, `BETWEEN`, `SUMS` and `SETS` are the rules by which no problem may have a second
answer. `FARTHER` has some that are farther off: they are counted, not forbidden.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, pairwise, product

SHAPES = ["3", "4", "5", "6", "7", "8", "9", "circle", "ellipse", "line", "arc"]
COLOURS = ["black", "white", "blue", "red", "green", "yellow"]
PERIOD = {"3": 120, "4": 90, "5": 72, "ellipse": 180, "line": 180, "arc": 360}
STEPS = {"3": 4, "4": 4, "5": 3, "ellipse": 6, "line": 4, "arc": 8}
ELEMENTS = {"lines": 4, "corners": 4, "dots": 6}
SIZES = 7


# ---------------------------------------------------------------- problems


def solve(cells, options):
    """The options that have, in every attribute, the one value that is predicted.

    None if some attribute has no prediction, or several.
    """
    wanted = {}
    for name in attributes(cells[0]):
        found = set(predictions(name, cells).values())
        if len(found) != 1:
            return None
        (wanted[name],) = found
    return [n for n, option in enumerate(options) if attributes(option) == wanted]


def second_answers(cells, answer):
    """The rules by which an attribute of the ninth cell would be another than the answer's."""
    found, right = set(), attributes(answer)
    for name, value in right.items():
        said = {rule for rule, other in predictions(name, cells).items() if other != value}
        said |= {rule for rule, n in amounts(name, cells).items() if n != len(value)} - NO_REASON
        found |= {f"{rule} ({name})" for rule in said}
    return found


def farther_answers(cells, options, answer):
    """The rules farther off by which an option is right that is wrong, and the answer is not."""
    right = attributes(options[answer])
    found = set()
    for name, value in right.items():
        others = [attributes(option)[name] for option in options]
        said = {
            rule
            for rule, other in predictions(name, cells, FARTHER).items()
            if other != value and other in others
        }
        sizes = [len(other) for other in others]
        said |= {
            rule
            for rule, n in amounts(name, cells).items()
            if rule in NO_REASON and n != len(value) and n in sizes
        }
        found |= {f"{rule} ({name})" for rule in said}
    return found


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


def predictions(name, cells, known=None):
    """What each rule that holds of eight cells predicts of an attribute of the ninth, by rule."""
    values = tuple(attributes(cell)[name] for cell in cells)
    shapes = {cell.figure.shape for cell in cells if cell.figure}
    shape = shapes.pop()[0] if len(shapes) == 1 else ""
    marks = cells[0].marks.inventory if cells[0].marks else ""
    return predicted(name, values, shape, marks, known is FARTHER)


@cache
def predicted(name, values, shape, marks, farther=False):
    """What each rule that holds of eight values predicts of the ninth, by rule."""
    universe = universe_of(name, values, shape, marks)
    if name == "present" or any(len(value) != 1 for value in values):
        candidates, known = subsets(tuple(universe)), FARTHER["sets"] if farther else SETS
        known = {rule: has(universe, name) for rule, has in known.items()} if farther else known
    else:
        candidates = [frozenset([value]) for value in universe]
        known = rules_of_numbers(name, shape, farther)
    known = known if farther else {**ANY, **known}
    found = {}
    for (rule, has), turned in product(known.items(), (False, True)):
        if not has(rows([*values, None], turned)[:2]):
            continue  # nor has the whole array
        fits = [x for x in candidates if has(rows([*values, x], turned))]
        if len(fits) == 1:
            found[rule + ", columns" * turned] = fits[0]
    return found


def amounts(name, cells):
    """What rules predict of how many values an attribute has, where cells have several."""
    return predicted_amounts(name, [attributes(cell)[name] for cell in cells])


def predicted_amounts(name, values):
    """What rules predict of how many elements the ninth of some sets has, by rule."""
    shown = [len(value) for value in values]
    if name != "present" and set(shown) == {1}:
        return {}
    found = {}
    for (rule, has), turned in product(AMOUNTS.items(), (False, True)):
        if has(rows([*shown, None], turned)[:2]):
            fits = [n for n in range(10) if has(rows([*shown, n], turned))]
            if len(fits) == 1:
                found["how many: " + rule + ", columns" * turned] = fits[0]
    return found


def universe_of(name, values, shape, marks):
    """What an attribute may be in the ninth cell."""
    if name == "angle":
        steps = STEPS.get(shape, 1)
        return [PERIOD.get(shape, 0) * k / steps for k in range(steps)]
    if name == "present":
        return range(ELEMENTS[marks])
    known = {
        "shape": SHAPES, "size": range(SIZES), "count": range(1, 5), "colour": COLOURS,
        "mark colour": COLOURS, "place": range(9),
    }  # fmt: skip
    return known.get(name) or {value for some in values for value in some}


def rules_of_numbers(name, shape, farther):
    """Rules for values of an attribute that are numbers in some way, each cell having one."""
    if name == "size":
        return {} if farther else over(int, {**STEPPING, **BETWEEN})
    if name in ("count", "shape"):
        number = int if name == "count" else sides
        return over(number, FARTHER["numbers"] if farther else {**STEPPING, **BETWEEN, **SUMS})
    if name == "angle" and shape in PERIOD:
        per_step = PERIOD[shape] / STEPS[shape]
        turn = Turn.modulo(STEPS[shape])
        return over(lambda angle: turn(round(angle / per_step)), {} if farther else STEPPING)
    if name == "place":
        return over(lambda n: Move(n % 3, n // 3), FARTHER["places"] if farther else STEPPING)
    return {}


def over(number, known):
    """Rules of numbers as rules of sets of one value; none holds where a value is no number."""

    def reading(has):
        def read(some):
            read_rows = [[number(next(iter(value))) for value in row] for row in some]
            return not any(None in row for row in read_rows) and has(read_rows)

        return read

    return {name: reading(has) for name, has in known.items()}


def sides(shape):
    return int(shape) if shape.isdigit() else None


@cache
def subsets(universe):
    sizes = range(len(universe) + 1)
    return [frozenset(some) for n in sizes for some in combinations(universe, n)]


def rows(nine, turned):
    three_rows = [nine[0:3], nine[3:6], nine[6:9]]
    return [list(column) for column in zip(*three_rows, strict=True)] if turned else three_rows


# ---------------------------------------------------------------- numbers that are no integers


class Move(tuple):
    """A place as a point: differences of points are moves."""

    def __new__(cls, x, y):
        return super().__new__(cls, (x, y))

    def __sub__(self, other):
        return Move(self[0] - other[0], self[1] - other[1])


class Turn(int):
    """An orientation: differences are turns, less than a period."""

    @staticmethod
    def modulo(steps):
        class Modulo(Turn):
            def __sub__(self, other):
                return (int(self) - int(other)) % steps

        return Modulo


# ---------------------------------------------------------------- properties of whole arrays


def each(holds):
    """A property of each row."""
    return lambda some: all(holds(*row) for row in some)


def same(value):
    """A value that is the same in all rows."""
    return lambda some: len({value(*row) for row in some}) == 1


def followed(some):
    """A value is always followed by the same one."""
    pairs = {(a, b) for row in some for a, b in pairwise(row)}
    return len({a for a, _ in pairs}) == len(pairs)


def diagonal(step):
    """Values move by one cell from row to row, and come in again at the other side."""
    return lambda some: all(
        one[n] == other[(n + step) % 3] for one, other in pairwise(some) for n in range(3)
    )


ANY = {
    "constant in a row": each(lambda a, b, c: a == b == c),
    "constant in a column": lambda some: all(row == some[0] for row in some),
    "the same third cell": same(lambda a, b, c: c),
    "the same values in some order": same(lambda a, b, c: frozenset(Counter((a, b, c)).items())),
    "third is first": each(lambda a, b, c: a == c),
    "third is second": each(lambda a, b, c: b == c),
    "always followed by the same": followed,
    "diagonals": diagonal(1),
    "other diagonals": diagonal(2),
}
STEPPING = {
    "even steps": each(lambda a, b, c: b - a == c - b),
    "third from first": same(lambda a, b, c: c - a),
    "third from second": same(lambda a, b, c: c - b),
}
BETWEEN = {
    "larger": each(lambda a, b, c: c == max(a, b)),
    "smaller": each(lambda a, b, c: c == min(a, b)),
    "third is midway": each(lambda a, b, c: a + b == 2 * c),
    "first is midway": each(lambda a, b, c: b + c == 2 * a),
}
SUMS = {
    "sum": each(lambda a, b, c: a + b == c),
    "first less second": each(lambda a, b, c: a - b == c),
    "second less first": each(lambda a, b, c: b - a == c),
    "sum and a constant": same(lambda a, b, c: a + b - c),
    "first less second and a constant": same(lambda a, b, c: a - b - c),
    "second less first and a constant": same(lambda a, b, c: b - a - c),
    "difference": each(lambda a, b, c: abs(a - b) == c),
    "same total": same(lambda a, b, c: a + b + c),
    "double the first": each(lambda a, b, c: c == 2 * a),
    "double the second": each(lambda a, b, c: c == 2 * b),
    "half the first": each(lambda a, b, c: 2 * c == a),
    "half the second": each(lambda a, b, c: 2 * c == b),
    "product": each(lambda a, b, c: c == a * b),
    "first by second": each(lambda a, b, c: c * b == a),
    "second by first": each(lambda a, b, c: c * a == b),
}
SETS = {
    "union": each(lambda a, b, c: a | b == c),
    "first without second": each(lambda a, b, c: a - b == c),
    "second without first": each(lambda a, b, c: b - a == c),
    "in one of them": each(lambda a, b, c: a ^ b == c),
    "in both": each(lambda a, b, c: a & b == c),
    "each as often": same(lambda a, b, c: frozenset(Counter([*a, *b, *c]).items())),
}

AMOUNTS = {
    "constant in a row": ANY["constant in a row"],
    "the same third cell": ANY["the same third cell"],
    "the same values in some order": ANY["the same values in some order"],
    "sum": SUMS["sum"],
    "first less second": SUMS["first less second"],
    "even steps": STEPPING["even steps"],
}
# The last row having as many elements in two cells is no reason for a third.
NO_REASON = {"how many: the same third cell, columns"}


# ---------------------------------------------------------------- and some that are farther off


def step(a, b):
    """A move that leaves the panel on one side and comes in again on the other."""
    return (b[0] - a[0]) % 3, (b[1] - a[1]) % 3


CLOCKWISE = {"lines": (0, 1, 2, 3), "dots": (0, 1, 2, 5, 4, 3), "place": (0, 1, 2, 5, 8, 7, 6, 3)}


def turning(universe, name):
    """Whether all elements go round by as many places from cell to cell."""
    ring = CLOCKWISE.get(name) or CLOCKWISE["dots" if len(universe) == 6 else "lines"]

    def turned(some, by):
        return frozenset(ring[(ring.index(n) + by) % len(ring)] if n in ring else n for n in some)

    def has(some):
        whole = [row for row in some if None not in row]
        return any(
            all(turned(a, by) == b and turned(b, by) == c for a, b, c in whole)
            for by in range(1, len(ring))
        )

    return has


FARTHER = {
    "numbers": {
        "three times the first": each(lambda a, b, c: c == 3 * a),
        "three times the second": each(lambda a, b, c: c == 3 * b),
        "double the first and a constant": same(lambda a, b, c: c - 2 * a),
        "double the second and a constant": same(lambda a, b, c: c - 2 * b),
        "double the larger": each(lambda a, b, c: c == 2 * max(a, b)),
        "double the smaller": each(lambda a, b, c: c == 2 * min(a, b)),
        "larger and a constant": same(lambda a, b, c: c - max(a, b)),
        "smaller and a constant": same(lambda a, b, c: c - min(a, b)),
    },
    "places": {"even steps, in again": each(lambda a, b, c: step(a, b) == step(b, c))},
    "sets": {
        "what is in neither": lambda universe, _: each(
            lambda a, b, c: c == frozenset(universe) - a - b
        ),
        "turning": turning,
    },
}
