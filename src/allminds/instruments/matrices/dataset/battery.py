"""Shortcuts: ways to score options without understanding the matrix, and one that understands it.

Each takes eight cells and the options in codes and gives every option a score; the highest is the
choice, by lot among equals. Blind ones see the options alone, and must be at chance. The battery
of all of them, what a set of problems gives away, is printed with every data set.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from allminds.core.errors import Error
from allminds.instruments.matrices.making import problems as beliefs
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.panel import (
    COLOURS,
    NAMES,
    OPEN,
    PALETTE,
    POLYGONS,
    ROOM,
    ROOM_WITHIN_MARKS,
    SHAPES,
    Problem,
    scale,
)
from allminds.instruments.matrices.making.rules import Code, bits, encoded
from allminds.instruments.matrices.making.solver import predicted

Score = Callable[[Sequence[Code], Sequence[Code]], list[float]]


class Sight(NamedTuple):
    """A problem in codes, and its answer."""

    cells: Sequence[Code]  # eight
    options: Sequence[Code]
    answer: int


def sight(problem: Problem) -> Sight:
    """Convert a problem to what shortcuts see of it."""
    return Sight(
        [encoded(cell) for cell in problem.cells[:8]],
        [encoded(option) for option in problem.options],
        problem.answer,
    )


def best(scores: Sequence[float]) -> list[int]:
    """List the options with the highest score."""
    highest = max(scores)
    return [number for number, score in enumerate(scores) if score == highest]


# ---------------------------------------------------------------- blind ones


def vote(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:  # noqa: ARG001
    """Sum over the fields how many options, itself included, share an option's value."""
    counts = [Counter(values) for values in zip(*options, strict=True)]
    return [
        float(sum(count[value] for count, value in zip(counts, option, strict=True)))
        for option in options
    ]


def position(place: int) -> Score:
    """Build a score for always the same place, from 0."""

    def score(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:  # noqa: ARG001
        return [float(number == place) for number in range(len(options))]

    return score


def ink(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:  # noqa: ARG001
    """Measure how much of a panel is not white, as far as its values tell."""
    return [_area(option, lambda colour: float(colour != "white")) for option in options]


def darkness(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:  # noqa: ARG001
    """Measure how dark a panel is, as far as its values tell."""
    return [_area(option, lambda colour: 1 - _light(colour)) for option in options]


def less(score: Score) -> Score:
    """Reverse the sign of a score."""
    return lambda cells, options: [-value for value in score(cells, options)]


def _light(colour: str) -> float:
    red, green, blue = (int(PALETTE[colour][n : n + 2], 16) / 255 for n in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _area(option: Code, weight: Callable[[str], float]) -> float:
    """Sum the areas of all that is drawn, with an outline of 2, times each colour's weight."""
    total = 0.0
    if option[codes.SHAPE]:
        layout = codes.LAYOUTS[codes.index(option[codes.LAYOUT])]
        room = (ROOM_WITHIN_MARKS if option[codes.PRESENT] else ROOM)[layout]
        colours = [weight(COLOURS[n]) for n in bits(option[codes.COLOUR])]
        filled = sum(colours) / len(colours)
        for shape in bits(option[codes.SHAPE]):
            for level in bits(option[codes.SIZE]):
                area, edge = _extent(SHAPES[shape], room * scale(level))
                total += area * filled + 2 * edge
        lines, places = (option[field].bit_count() for field in (codes.ANGLE, codes.PLACE))
        total *= (codes.index(option[codes.COUNT]) + 1) * lines * places
    if option[codes.PRESENT]:
        mark = weight(COLOURS[codes.index(option[codes.MARK_COLOUR])])
        total += 150 * mark * option[codes.PRESENT].bit_count()
    return total


def _extent(shape: str, r: float) -> tuple[float, float]:
    """Return the area of a shape and the length of its outline."""
    if shape in OPEN:
        return 0.28 * r * r, 0.0
    if shape in POLYGONS:
        turn = 2 * math.pi / int(shape)
        return int(shape) * r * r * math.sin(turn) / 2, int(shape) * 2 * r * math.sin(turn / 2)
    return math.pi * r * r * (0.55 if shape == "ellipse" else 1), 2 * math.pi * r


@dataclass(frozen=True)
class BlindTable:
    """What options of other problems tell: how often each value was right when on offer."""

    right: Mapping[tuple[object, ...], int]
    wrong: Mapping[tuple[object, ...], int]

    @classmethod
    def learnt(cls, sights: Iterable[Sight]) -> BlindTable:
        """Learn the table from some problems."""
        right: Counter[tuple[object, ...]] = Counter()
        wrong: Counter[tuple[object, ...]] = Counter()
        for seen in sights:
            for number, features in enumerate(_features(seen.options)):
                (right if number == seen.answer else wrong).update(features)
        return cls(right, wrong)

    def __call__(self, cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        """Score each option by the sum of the logarithms of right to wrong."""
        return [
            sum(
                math.log((self.right.get(one, 0) + 1) / (self.wrong.get(one, 0) + len(options) - 1))
                for one in features
            )
            for features in _features(options)
        ]


def _features(options: Sequence[Code]) -> list[list[tuple[object, ...]]]:
    """List for each option the values that differ among options, alone and among those on offer."""
    columns = list(zip(*options, strict=True))
    differing = [field for field, values in enumerate(columns) if len(set(values)) > 1]
    sets = {field: tuple(sorted(set(columns[field]))) for field in differing}
    return [
        [(field, option[field]) for field in differing]
        + [(field, option[field], sets[field]) for field in differing]
        for option in options
    ]


# ---------------------------------------------------------------- those that see some of the matrix


def in_context(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
    """Count how many of an option's values occur among the cells."""
    known = [set(values) for values in zip(*cells, strict=True)]
    return [
        float(sum(value in some for some, value in zip(known, option, strict=True)))
        for option in options
    ]


def nearest(cell: int) -> Score:
    """Build a score that counts the values an option shares with cell number `cell`, from 1."""

    def score(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
        shown = cells[cell - 1]
        return [
            float(sum(a == b for a, b in zip(shown, option, strict=True))) for option in options
        ]

    return score


def last_row(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
    """Compute the log likelihood of each option after the two cells before it, and nothing else."""
    totals = [0.0] * len(options)
    for field in range(codes.FIELDS):
        values = [option[field] for option in options]
        if len(set(values)) == 1:
            continue
        belief = beliefs.of_cells([cells[6], cells[7], *options], field)
        weights = belief.answers.get((cells[6][field], cells[7][field]), {})
        for number, value in enumerate(values):
            totals[number] += math.log(weights.get(value, 0.0) + 1e-12)
    return totals


SHUFFLED = (4, 0, 5, 2, 3, 1, 6, 7)  # rows 1 and 2 in disorder


def shuffled_rows(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
    """Count predicted values when rows 1 and 2 are in disorder."""
    return rule_induction([cells[n] for n in SHUFFLED], options)


def rule_induction(cells: Sequence[Code], options: Sequence[Code]) -> list[float]:
    """Count how many of an option's values are predicted by all that holds of the cells."""
    wanted = predicted(cells)
    return [
        float(sum(value in some for some, value in zip(wanted, option, strict=True)))
        for option in options
    ]


# ---------------------------------------------------------------- the battery


BLIND: dict[str, Score] = {
    "majority vote": vote,
    "most ink": ink,
    "least ink": less(ink),
    "darkest": darkness,
    "brightest": less(darkness),
}
PARTIAL: dict[str, Score] = {
    "seen in context": in_context,
    "not seen in context": less(in_context),
    "nearest to cell 8": nearest(8),
    "nearest to cell 6": nearest(6),
    "nearest to cell 5": nearest(5),
    "last row only": last_row,
    "rows 1 and 2 shuffled": shuffled_rows,
}


@dataclass(frozen=True)
class Entry:
    """How often a shortcut finds the answer; a lot among equals counts by its chance."""

    name: str
    hits: float
    stderr: float
    chance: float
    blind: bool  # sees the options alone, and so must be at chance

    @property
    def at_chance(self) -> bool:
        """True within four standard errors of chance."""
        return abs(self.hits - self.chance) <= 4 * self.stderr + 1e-9

    @property
    def fair(self) -> bool:
        """True if at chance, or not required to be."""
        return self.at_chance or not self.blind


def battery(
    problems: Sequence[Problem],
    measured: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> list[Entry]:
    """Try all shortcuts on a set of problems with equally many options.

    `measured` has more that a blind mind could go by, such as the size of files: for each problem
    a number for each option. The highest and the lowest are tried.
    """
    return of_sights([sight(problem) for problem in problems], measured)


def of_sights(
    sights: Sequence[Sight], measured: Mapping[str, Sequence[Sequence[float]]] | None = None
) -> list[Entry]:
    """Try all shortcuts, like `battery`, on problems in codes."""
    if len(sights) < 2:
        raise Error("the battery needs two problems or more: one half learns from the other")
    if len({len(seen.options) for seen in sights}) != 1:
        raise Error("the battery needs problems with equally many options")
    entries = [_entry("blind table", sights, _learnt(sights), blind=True)]
    scores = BLIND | {
        f"position {NAMES[place]}": position(place) for place in range(len(sights[0].options))
    }
    entries += [_entry(name, sights, _each(sights, score), True) for name, score in scores.items()]
    for name, values in (measured or {}).items():
        entries.append(_entry(f"largest {name}", sights, values, True))
        turned = [[-value for value in row] for row in values]
        entries.append(_entry(f"smallest {name}", sights, turned, True))
    return entries + [
        _entry(name, sights, _each(sights, score), False) for name, score in PARTIAL.items()
    ]


def unfair(entries: Sequence[Entry]) -> list[Entry]:
    """List the blind shortcuts that are not at chance."""
    return [entry for entry in entries if not entry.fair]


def _each(sights: Sequence[Sight], score: Score) -> list[list[float]]:
    return [score(seen.cells, seen.options) for seen in sights]


def _learnt(sights: Sequence[Sight]) -> list[list[float]]:
    """Score by a table that each half of the set learns from the other."""
    tables = [BlindTable.learnt(sights[half::2]) for half in (1, 0)]
    return [tables[n % 2](seen.cells, seen.options) for n, seen in enumerate(sights)]


def _entry(
    name: str, sights: Sequence[Sight], scores: Sequence[Sequence[float]], blind: bool
) -> Entry:
    hits = []
    for seen, some in zip(sights, scores, strict=True):
        chosen = best(some)
        hits.append((seen.answer in chosen) / len(chosen))
    mean = sum(hits) / len(hits)
    variance = sum((hit - mean) ** 2 for hit in hits) / (len(hits) - 1)
    chance = 1 / len(sights[0].options)
    return Entry(name, mean, math.sqrt(variance / len(hits)), chance, blind)
