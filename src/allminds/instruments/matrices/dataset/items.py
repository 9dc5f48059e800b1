"""What a data set asks for, which items it has, and what each of them says."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator

from allminds import registry
from allminds.core.errors import Error, nearest
from allminds.core.settings import Settings
from allminds.instruments.matrices.dataset.regimes import REGIMES, placed
from allminds.instruments.matrices.environment import DEFAULT, MatricesSettings
from allminds.instruments.matrices.instrument import Matrices
from allminds.instruments.matrices.making import text
from allminds.instruments.matrices.making.batch import batch
from allminds.instruments.matrices.making.generator import supply
from allminds.instruments.matrices.making.panel import SIDE, Problem
from allminds.instruments.matrices.seeing.visibility import pixels

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
