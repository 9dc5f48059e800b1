"""The data card: what a set is, how it was made, and what it gives away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from allminds.instruments.matrices.dataset.battery import Entry
from allminds.instruments.matrices.dataset.files import META
from allminds.instruments.matrices.dataset.items import Chosen, Recipe
from allminds.instruments.matrices.dataset.regimes import REGIMES, SPLITS
from allminds.instruments.matrices.environment import DEFAULT
from allminds.instruments.matrices.making.panel import KINDS, NAMES

CANARY = "allminds-matrices canary 4d1f6c52-8a0e-4b57-9c3d-5e2f70b9a861"
LOADING = {
    "parquet": """\
```python
pandas.read_parquet("{first}")  # images are PNG bytes
datasets.load_dataset("path/to/this/folder")  # images are decoded
```
`panels` has eight images, `choices` the options.""",
    "imagefolder": """\
```python
datasets.load_dataset("imagefolder", data_dir="path/to/this/folder")
```
Each item has a folder of PNG files; `metadata.jsonl` of a split names them.""",
    "npz": """\
```python
item = numpy.load("{first}")
item["image"]        # [8 cells row by row, then the options; row; column], grey, uint8
item["target"]       # which option, from 0
item["meta_matrix"]  # [rule, column] of 0 and 1; unused rows are 0
item["meta_target"]  # [column]: whether any rule has it
```
Columns: {meta}.""",
    "jsonl": """\
```python
pandas.read_json("{first}", lines=True)
```
`prose` and `tuples` are the item in words, `cells` and `options` its attributes; no images.""",
}


class Findings(NamedTuple):
    """What was found out about a set."""

    entries: list[Entry]  # the battery
    judged: int  # items it was tried on
    kinds: Counter[tuple[int, str]]  # how many rules there are, by (C, kind)
    visible: float  # the least number of pixels that tell two options of an item apart


def card(
    recipe: Recipe, chosen: Sequence[Chosen], findings: Findings, total_bytes: int, first: str
) -> str:
    """Write the README of a data set; `first` is one of its files."""
    splits = Counter(item.split for item in chosen)
    loading = LOADING[recipe.format].format(first=first, meta=", ".join(META))
    letters = NAMES[: recipe.settings.candidates]
    return f"""\
---
license: mit
task_categories: [visual-question-answering]
tags: [raven-progressive-matrices, abstract-reasoning, synthetic]
---

# Matrices in the style of Raven's progressive matrices

{len(chosen):,} problems: the ninth panel of a 3 x 3 matrix is to be found among {len(letters)}
options, {letters[0]} to {letters[-1]}. Made by allminds after Hilton, Liao and Poggio, *Spatial IQ
Test for AI*. Exactly one option satisfies the rules, found by a solver that is not told them; no
matrix occurs twice; every two options of a problem differ in {findings.visible:.0f} pixels or more
of a panel of 160 x 160.

- made by: `{command(recipe)}`
- regime `{recipe.regime}`: {REGIMES[recipe.regime].told}
- bytes an item: {total_bytes / len(chosen):,.0f}
- licence: MIT; canary: `{CANARY}`

| split | items |
| --- | ---: |
{_rows((name, f"{splits[name]:,}") for name in SPLITS)}

The split is the canonical hash mod 10: 0 to 5 train, 6 and 7 validation, 8 and 9 test; in a regime
train and validation show nothing that is held out, and test is about it. An item is made from
(seed, index) alone; the set has the first indices whose matrices are new.

| rules (C) | {" | ".join(KINDS)} |
| --- |{" ---: |" * len(KINDS)}
{_kinds(findings.kinds)}

## Reading it

{loading}

`target` (`answer` in JSON lines) is the right option from 0, `metadata` the whole record as JSON:
`id, seed, index, hash, split, C, cells` (nine attribute records, the ninth the answer), `options`,
`answer`, `letter`, `rules`, `measures`. Measures are bits of an ideal observer: `I_context` that
rows 1 and 2 must supply, `I_answer` of the answer, `L_rules` to describe the rules, `H_rule_row1`
of doubt after one row; `needed_rules`, `option_distance`, `elements` drawn, `min_visible_pixels`
between two options. `SHA256SUMS` has a line for every file: `sha256sum -c SHA256SUMS`.

## What the set gives away

Accuracy of shortcuts on {findings.judged:,} items. Blind ones see the options alone and must be at
chance, within four standard errors; the others are printed, for no design removes them all.

| shortcut | accuracy | chance | standard error | |
| --- | ---: | ---: | ---: | --- |
{battery_rows(findings.entries)}
"""


def command(recipe: Recipe) -> str:
    """Write the command that makes the set again."""
    given = recipe.settings
    words = [
        f"allminds make matrices --count {recipe.count} --rules {given.rules}",
        f"--format {recipe.format} --seed {recipe.seed} --regime {recipe.regime}",
        f"--candidates {given.candidates} --size {recipe.size}",
    ]
    words += [
        f"--{name} {','.join(getattr(given, name))}"
        for name in ("kinds", "attributes")
        if getattr(given, name) != getattr(DEFAULT, name)
    ]
    return " ".join(words + ["--no-composites"] * (not recipe.composites) + ["--out DIR"])


def battery_rows(entries: Sequence[Entry]) -> str:
    """Format the battery as rows of a table."""
    return _rows(
        (entry.name, f"{entry.hits:.3f}", f"{entry.chance:.3f}", f"{entry.stderr:.3f}", said(entry))
        for entry in entries
    )


def said(entry: Entry) -> str:
    """Tell whether a blind shortcut is at chance, as it must be."""
    if not entry.blind:
        return "sees cells"
    return "blind, at chance" if entry.fair else "blind, NOT AT CHANCE"


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _kinds(kinds: Counter[tuple[int, str]]) -> str:
    counts = sorted({count for count, _ in kinds})
    return _rows((str(count), *(f"{kinds[count, kind]:,}" for kind in KINDS)) for count in counts)
