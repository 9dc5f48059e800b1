"""allminds make matrices: the options of the command, and what it prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field

from allminds.core.settings import Settings, checked
from allminds.instruments.matrices.dataset.files import said
from allminds.instruments.matrices.dataset.items import Recipe
from allminds.instruments.matrices.dataset.writing import make
from allminds.instruments.matrices.environment import made
from allminds.presentation import DataSet, Generator


class MatricesOptions(Settings):
    """The options of `allminds make matrices`."""

    count: int = Field(1000, ge=1, le=10**7, description="How many, all different.")
    rules: str = Field("any", description="Rules of a matrix: 1, 2, 3, or any.")
    format: Literal["parquet", "imagefolder", "npz", "jsonl"] = Field(
        "parquet", description="parquet, imagefolder, npz or jsonl"
    )
    candidates: int = Field(4, description="Options: 4, or 8 with --rules 3.")
    size: int = Field(160, description="Pixels along a panel, 64 to 1024.")
    regime: str = Field(
        "neutral", description="What is held out of train: neutral for nothing; see the docs."
    )
    kinds: str | None = Field(None, description="Kinds of rules, with commas.")
    attributes: str | None = Field(None, description="Attributes they govern.")
    composites: bool = Field(True, description="With pictures of whole problems.")
    seed: int = Field(1, description="The same seed makes the same questions.")


class MatricesGenerator(Generator):
    """Matrices in the style of Raven, with images, attributes and a data card.

    If it is interrupted, the same command goes on where it stopped.
    """

    Settings = MatricesOptions
    example = (
        "Example: allminds make matrices --count 10000 --rules 2 --format parquet --out matrices"
    )

    def make(
        self,
        settings: MatricesOptions,
        out: Path,
        jobs: int,
        progress: Callable[[str, int, int], None],
    ) -> DataSet:
        of_matrices = {"rules", "candidates", "kinds", "attributes"}
        given = settings.model_dump(include=of_matrices, exclude_none=True)
        asked = settings.model_dump(exclude=of_matrices) | {"settings": made(**given)}
        found = make(checked(Recipe, asked, "make matrices"), out, jobs, progress)
        each = found.total_bytes / found.items
        splits = ", ".join(f"{number:,} {name}" for name, number in found.splits.items())
        battery = [
            {"shortcut": one.name, "hits": one.hits, "chance": one.chance, "stderr": one.stderr}
            for one in found.battery
        ]
        table = [
            {
                "shortcut": one.name, "accuracy": f"{one.hits:.3f}",
                "chance": f"{one.chance:.3f} ± {one.stderr:.3f}", "": said(one),
            }
            for one in found.battery
        ]  # fmt: skip
        return DataSet(
            f"{found.items:,} matrices in {out} ({splits}), {each:,.0f} bytes each",
            {
                "out": str(out), "items": found.items, "splits": found.splits, "bytes": each,
                "battery": battery,
            },
            table,
        )  # fmt: skip
