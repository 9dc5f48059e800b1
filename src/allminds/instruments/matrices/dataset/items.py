"""What a data set asks for, which items it has, what each says, and what learners do not see.

The split of an item is its canonical hash mod 10: 0 to 5 train, 6 and 7 validation, 8 and 9 test.
A regime other than `neutral` also holds something out: train and validation show nothing of it
anywhere, and every item of the test split is about it. Items that are neither are left out.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator

from allminds import registry
from allminds.core.errors import Error, nearest
from allminds.core.settings import Settings
from allminds.instruments.matrices.drawing.visibility import pixels
from allminds.instruments.matrices.instrument import Matrices
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making import text
from allminds.instruments.matrices.making.cases import shapes_code
from allminds.instruments.matrices.making.generator import Coded, batch, supply
from allminds.instruments.matrices.making.panel import COLOURS, SHAPES, SIDE, Problem
from allminds.instruments.matrices.making.rules import DEFAULT, Code, MatricesSettings, union

FORMATS = ("parquet", "imagefolder", "npz", "jsonl")
BLOCK = 4096  # indices looked at together
IMPATIENCE = 20  # an end to the search after so many times as many indices as there are items
LEAST_LOOKED = 40 * BLOCK

Blocks = Callable[[Iterator[int]], Iterator[list["Chosen"]]]


class Recipe(Settings):
    """All that a data set depends on; what is not here cannot change a byte of it."""

    count: int = Field(ge=1, description="items")
    seed: int = 1
    settings: MatricesSettings = DEFAULT
    regime: str = "neutral"
    format: Literal["parquet", "imagefolder", "npz", "jsonl"] = "parquet"
    size: int = Field(SIDE, ge=64, le=1024, description="pixels of a panel")
    composites: bool = Field(True, description="with pictures of whole problems")

    @field_validator("regime")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in REGIMES:
            raise ValueError(f"there is no '{value}'; {nearest(value, REGIMES)}")
        return value


class Chosen(NamedTuple):
    """An item of a data set."""

    number: int  # the index of the problem
    hash: str
    split: str


# ---------------------------------------------------------------- which items


def choose(recipe: Recipe, blocks: Blocks) -> Iterator[Chosen]:
    """Yield the first indices whose matrices are new and belong to a split.

    `blocks` looks at blocks of indices, given by their first, and gives what it finds in order.
    """
    most = supply(recipe.settings)
    if recipe.count > most:
        raise Error(f"there are at most {most:,} such matrices; ask for {most:,} or fewer")
    known: set[str] = set()
    latest = 0
    for first, found in enumerate(blocks(itertools.count(0, BLOCK))):
        if first == 0:
            _check_regime(recipe, found)
        for item in found:
            if item.hash not in known:
                known.add(item.hash)
                latest = item.number
                yield item
                if len(known) == recipe.count:
                    return
        looked = (first + 1) * BLOCK
        if looked - latest > max(LEAST_LOOKED, IMPATIENCE * len(known)):
            raise Error(
                f"of the first {looked:,} matrices only {len(known):,} are different and fit the "
                f"regime {recipe.regime}; ask for {len(known):,} or fewer"
            )


def _check_regime(recipe: Recipe, found: list[Chosen]) -> None:
    """Raise an error if a split would surely be empty."""
    missing = {"train", "test"} - {item.split for item in found}
    if recipe.regime != "neutral" and missing:
        raise Error(
            f"with these settings the regime {recipe.regime} leaves nothing for "
            f"{' and '.join(sorted(missing))}; allow more rules, kinds or attributes"
        )


def look(recipe: Recipe, first: int) -> list[Chosen]:
    """List the items of one block of indices that belong to a split."""
    made = batch(recipe.seed, range(first, first + BLOCK), recipe.settings)
    regime = REGIMES[recipe.regime]
    found = []
    for n in range(len(made)):
        hash_ = made.hash(n)
        split = placed(made.coded(n), hash_, regime)
        if split is not None:
            found.append(Chosen(first + n, hash_, split))
    return found


# ---------------------------------------------------------------- what they say


@lru_cache(maxsize=4)
def _prefix(settings: MatricesSettings, seed: int) -> str:
    tool = Matrices(**settings.model_dump())
    return registry.exercise_prefix(tool, seed)


def record(problem: Problem, recipe: Recipe, split: str) -> dict[str, Any]:
    """Convert an item to plain JSON values; its id is that of the exercise."""
    told = problem.to_record()
    least = min(pixels(a, b) for a, b in itertools.combinations(problem.options, 2))
    return {
        "id": f"{_prefix(recipe.settings, recipe.seed)}{problem.index}",
        "version": Matrices.version,
        "split": split,
        **told,
        "measures": {**told["measures"], "min_visible_pixels": float(least)},
    }


def columns(told: dict[str, Any], problem: Problem) -> dict[str, Any]:
    """Convert a record to the columns of a table: figures separately, the whole as JSON."""
    return {
        "id": told["id"],
        "seed": told["seed"],
        "index": told["index"],
        "hash": told["hash"],
        "C": told["C"],
        "target": told["answer"],
        "letter": told["letter"],
        "rules": json.dumps(told["rules"]),
        **told["measures"],
        "text": text.prose(problem),
        "metadata": json.dumps(told),
    }


def sha256(*parts: bytes) -> str:
    """Hash several pieces of data, one after the other, to one sum."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


# ---------------------------------------------------------------- what is held out


SPLITS = ("train", "validation", "test")
_OF_TEN = (0, 0, 0, 0, 0, 0, 1, 1, 2, 2)


class Regime(NamedTuple):
    """What is held out: whether a problem shows any of it, and whether its answer is about it."""

    told: str
    shows: Callable[[Coded], bool]
    asks: Callable[[Coded], bool]


def split_of(hash_: str) -> str:
    """Return the split of a canonical hash."""
    return SPLITS[_OF_TEN[int(hash_, 16) % 10]]


def placed(problem: Coded, hash_: str, regime: Regime) -> str | None:
    """Return the split of a problem, or None if it belongs to none."""
    split = split_of(hash_)
    if regime is NEUTRAL:
        return split
    fits = regime.asks(problem) if split == "test" else not regime.shows(problem)
    return split if fits else None


# ---------------------------------------------------------------- values


def _values(told: str, held: Mapping[int, int]) -> Regime:
    """Hold out some values of some fields, given as codes."""

    def shows(problem: Coded) -> bool:
        panels = (*problem.cells, *problem.options)
        return any(panel[field] & code for panel in panels for field, code in held.items())

    def asks(problem: Coded) -> bool:
        governed = {carrier.field for carrier in problem.case.plan}
        return any(problem.cells[8][field] & held[field] for field in governed & set(held))

    return Regime(told, shows, asks)


# For each shape the colours that it does not have in train: a third of all pairs.
_APART = [
    union([colour for colour in range(len(COLOURS)) if (shape + colour) % 3 == 0])
    for shape in range(len(SHAPES))
]


def _has_pair(panel: Code) -> bool:
    return any(panel[codes.COLOUR] & _APART[shape] for shape in codes.bits(panel[codes.SHAPE]))


# ---------------------------------------------------------------- rules


def _rules(told: str, about: Callable[[Coded], bool]) -> Regime:
    return Regime(told, about, about)


HELD_OUT_RULES = (
    ("constant", "colour"), ("progression", "size"), ("distribution-of-three", "shape"),
    ("addition-subtraction", "count"), ("distribution-of-two", "position"),
)  # fmt: skip
HELD_OUT_SLOTS = ({"shape", "colour"}, {"size", "count"}, {"orientation", "position"})


def _has_held_out_rule(problem: Coded) -> bool:
    return any((one.kind, one.attribute) in HELD_OUT_RULES for one in problem.case.plan)


def _has_held_out_slots(problem: Coded) -> bool:
    governed = {carrier.attribute for carrier in problem.case.plan if carrier.layer == "figure"}
    return any(pair <= governed for pair in HELD_OUT_SLOTS)


NEUTRAL = Regime("nothing is held out", lambda _: False, lambda _: True)
REGIMES = {
    "neutral": NEUTRAL,
    "interpolation": _values(
        "sizes 1, 3 and 5 of 0 to 6, and five and seven sides, are held out",
        {codes.SIZE: union([1, 3, 5]), codes.SHAPE: shapes_code(("5", "7"))},
    ),
    "extrapolation": _values(
        "sizes 5 and 6 of 0 to 6, and seven to nine sides, are held out",
        {codes.SIZE: union([5, 6]), codes.SHAPE: shapes_code(("7", "8", "9"))},
    ),
    "held-out-pairs": Regime(
        "a third of all pairs of a shape and a colour are held out",
        lambda problem: any(map(_has_pair, (*problem.cells, *problem.options))),
        lambda problem: _has_pair(problem.cells[8]),
    ),
    "held-out-rules": _rules(
        "some rules on some attributes are held out: "
        + ", ".join(f"{kind} on {attribute}" for kind, attribute in HELD_OUT_RULES),
        _has_held_out_rule,
    ),
    "held-out-slots": _rules(
        "rules on shape and colour, on size and count, or on orientation and position of the "
        "figure together are held out",
        _has_held_out_slots,
    ),
    "held-out-attribute": _rules(
        "rules on colour are held out",
        lambda problem: any(carrier.attribute == "colour" for carrier in problem.case.plan),
    ),
    "held-out-kind": _rules(
        "distributions of two are held out",
        lambda problem: any(one.kind == "distribution-of-two" for one in problem.case.plan),
    ),
    "held-out-C": _rules(
        "matrices of three rules are held out", lambda problem: len(problem.case.plan) == 3
    ),
}
