"""Sets of questions as files, with a card of what blind shortcuts get on them.

Every shortcut sees the options alone (or, with a free answer, nothing at all) and should be at
chance. They are printed with every set, so that a score can be read against what the options
give away.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from pydantic import Field

from allminds.complexity.levin import printed
from allminds.core import seeding
from allminds.core.errors import Error
from allminds.core.settings import Settings, whole_numbers
from allminds.instruments.series.bank import SIZES, STAGES, BankItem, questions, shipped
from allminds.instruments.series.fresh import (
    AT_ONCE,
    FIRST,
    FIRST_OF_FIVE,
    THERE,
    TOGETHER,
    Fresh,
    Supply,
    Tasks,
)
from allminds.instruments.series.instrument import five_options, shuffled
from allminds.instruments.series.items import LETTERS, Form
from allminds.presentation import DataSet, Generator


@dataclass(frozen=True)
class Shortcut:
    """How often a shortcut hit, against how often chance does."""

    name: str
    hits: float
    stderr: float  # of chance, for as many questions
    chance: float

    @property
    def at_chance(self) -> bool:
        """True within four standard errors; a fair set fails once in some 16,000 times."""
        return abs(self.hits - self.chance) <= 4 * self.stderr


def battery(options: Sequence[str], answers: Sequence[str]) -> list[Shortcut]:
    """Try the shortcuts on questions with these options; for free answers that is all letters."""
    learnt = _learnt(options, answers)
    ways: dict[str, Callable[[int], str]] = {"the likeliest, by other questions": learnt}
    if any(given != LETTERS for given in options):
        ways["the nearest to the others"] = lambda n: _nearest(options[n])
        ways["the farthest from the others"] = lambda n: _nearest(options[n], -1)
        for place in range(len(options[0])):
            ways[f"place {place + 1}"] = lambda n, place=place: options[n][place]  # type: ignore[misc]
            ways[f"number {place + 1} of the alphabet"] = lambda n, place=place: (  # type: ignore[misc] # a default
                sorted(options[n])[place]
            )
    return [
        _shortcut(name, options, [way(n) == answers[n] for n in range(len(answers))])
        for name, way in sorted(ways.items())
    ]


def _shortcut(name: str, options: Sequence[str], hits: Sequence[bool]) -> Shortcut:
    chance = 1 / len(options[0])
    error = math.sqrt(chance * (1 - chance) / len(hits))
    return Shortcut(name, sum(hits) / len(hits), error, chance)


def _nearest(options: str, sign: int = 1) -> str:
    """Return the option with the least distance to the others round the circle; first wins."""

    def distance(one: str) -> int:
        apart = [abs(ord(one) - ord(other)) for other in options]
        return sign * sum(min(gap, len(LETTERS) - gap) for gap in apart)

    return min(options, key=distance)


def _learnt(options: Sequence[str], answers: Sequence[str]) -> Callable[[int], str]:
    """Choose the letter most often right when on offer, learnt from the other half of the set."""
    halves = []
    for half in (0, 1):
        right = Counter(answers[half::2])
        offered = Counter(letter for given in options[half::2] for letter in given)
        halves.append({letter: right[letter] / max(offered[letter], 1) for letter in LETTERS})
    return lambda n: max(options[n], key=lambda letter: halves[(n + 1) % 2][letter])


# ---------------------------------------------------------------- questions as a data set


COLUMNS = ("id", "form", "series", "blank", "answer", "k", "program", "explanation")


def chosen(
    ks: Sequence[int],
    count: int,
    forms: Sequence[Form],
    seed: int,
    jobs: int = 1,
    done: Callable[[str], object] = lambda _: None,
) -> list[BankItem]:
    """Choose so many questions in all, spread over forms and k as evenly as possible.

    They come from the bank that ships where it has enough of a form and k, else they are made
    anew, which takes minutes from k = 13 on.
    """
    for k in ks:
        if k not in SIZES:
            raise Error(f"there are no questions of k = {k}: choose {min(SIZES)}..{max(SIZES)}")
    stored: dict[tuple[Form, int], list[BankItem]] = {}
    for one in shipped():
        stored.setdefault((one.form, one.k), []).append(one)
    shares = _shares([(form, k) for k in ks for form in forms], count, stored)
    fresh = {cell: share for cell, share in shares.items() if share > len(stored[cell])}
    made = questions(fresh, seed, jobs, done) if fresh else []
    for cell, share in shares.items():
        if cell in fresh:
            there = sum((one.form, one.k) == cell for one in made)
            if there < share:
                _too_many(cell, there, share)
        else:
            keys = seeding.keys(seed, np.arange(len(stored[cell])), seeding.MAKING)
            made += [stored[cell][n] for n in np.argsort(keys, kind="stable")[:share]]
    return sorted(made, key=lambda one: (one.form != "induction", one.k))


def private(
    ks: Sequence[int], count: int, task: Tasks, seed: int, five: bool,
    done: Callable[[str], object] = lambda _: None, jobs: int = 1,
) -> list[Fresh]:  # fmt: skip
    """Make so many fresh questions in all, spread over k as evenly as possible; none is public."""
    made: list[Fresh] = []
    for n, k in enumerate(ks):
        if k not in TOGETHER or (five and k < FIRST_OF_FIVE):
            first, offered = (FIRST_OF_FIVE, " with five options") if five else (FIRST, "")
            raise Error(
                f"there are no fresh series of k = {k}{offered}: choose {first}..{max(TOGETHER)}"
            )
        done(f"fresh series of k = {k}")
        supply = Supply(task, k, seed, five, jobs=jobs)
        share = count // len(ks) + (n < count % len(ks))
        made += [supply.question(number) for number in range(share)]
    return made


def used_of(found: Sequence[BankItem], task: Tasks) -> str:
    """State the share of all fresh series of each k that a set uses, as far as they are counted."""
    said = []
    for k, n in sorted(Counter(one.k for one in found).items()):
        there = THERE.get((task, k))
        of = f" of {there[0]:,} ({n / there[0]:.1%})".replace("%", " %") if there else ""
        said.append(f"k = {k} {n:,}{of}")
    return f"{', '.join(said)}; another seed shares n²/N of N series on average"


def _shares(
    cells: Sequence[tuple[Form, int]], count: int, stored: dict[tuple[Form, int], list[BankItem]]
) -> dict[tuple[Form, int], int]:
    """Divide the total: the forms and k that have few give all, the others share the rest."""
    shares: dict[tuple[Form, int], int] = {}
    few = [cell for cell in cells if len(stored[cell]) < SIZES[cell[1]]]
    for cell in sorted(cells, key=lambda cell: cell not in few):
        left, share = divmod(count - sum(shares.values()), len(cells) - len(shares))
        share = left + (share > 0)
        shares[cell] = min(share, len(stored[cell])) if cell in few else share
    if sum(shares.values()) < count:
        raise Error(f"there are {sum(shares.values())} such questions: ask for fewer")
    return {cell: shares[cell] for cell in cells if shares[cell]}


def _too_many(cell: tuple[Form, int], there: int, share: int) -> None:
    starts = next(starts for stage, starts in STAGES.items() if cell[1] <= stage)
    where = "" if len(starts) == len(LETTERS) else f" that begin with one of {starts}"
    raise Error(
        f"there are {there} {cell[0]} questions of k = {cell[1]}{where}, and {share} were asked for"
    )


def letters_by_k(found: Sequence[BankItem]) -> list[tuple[str, float, float]]:
    """Average the number of letters shown, for each form and k."""
    shown: dict[tuple[str, int], list[int]] = {}
    for one in found:
        shown.setdefault((one.form, one.k), []).append(len(one.series) - 1)
    return [(form, float(k), sum(of) / len(of)) for (form, k), of in shown.items()]


# ---------------------------------------------------------------- as files


def rows(
    found: Sequence[BankItem], seed: int, options: int, offered: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Make a plain row for each question; with five options also the letters on offer."""
    made = []
    for n, one in enumerate(found):
        row = {name: getattr(one, name) for name in COLUMNS} | {"program": printed(one.program)}
        if options < len(LETTERS):
            random = seeding.Random(seeding.key(seed, n, seeding.MAKING)).at_step(1)
            row["options"] = (
                shuffled(offered[n], random)
                if offered
                else five_options(one.series, one.answer, one.rivals, random)
            )
        made.append(row)
    return made


def write(
    found: Sequence[BankItem], out: Path, seed: int, options: int, offered: Sequence[str] = ()
) -> list[Shortcut]:
    """Write the set whole or not at all; return the shortcuts that its card shows."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Error(f"{out} is not empty; name a new folder with --out")
    table = rows(found, seed, options, offered)
    shortcuts = battery(
        [row.get("options", LETTERS) for row in table], [row["answer"] for row in table]
    )
    lines = io.StringIO()
    writer = csv.DictWriter(lines, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    files = {
        "questions.jsonl": "".join(json.dumps(row) + "\n" for row in table),
        "questions.csv": lines.getvalue(),
        "README.md": card(found, shortcuts, seed, options),
    }
    temporary = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f"{out.name}.", dir=out.parent))
        for name, text in files.items():
            (temporary / name).write_text(text, encoding="utf-8")
        temporary.chmod(0o755)
        os.replace(temporary, out)
    except OSError as error:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise Error(f"cannot write {out}: {error.strerror or error}") from None
    return shortcuts


def card(found: Sequence[BankItem], shortcuts: Sequence[Shortcut], seed: int, options: int) -> str:
    """Describe the set: how many questions there are of each k, and what blind minds get."""
    of_k = Counter((one.form, one.k) for one in found)
    forms = [form for form in get_args(Form) if any(form == of for of, _ in of_k)]
    counts = "\n".join(
        f"| {k} | " + " | ".join(str(of_k[form, k]) for form in forms) + " |"
        for k in sorted({k for _, k in of_k})
    )
    blind = "\n".join(
        f"| {one.name} | {one.hits:.3f} | {one.chance:.3f} ± {one.stderr:.3f} | "
        f"{'yes' if one.at_chance else 'no'} |"
        for one in shortcuts
    )
    return f"""# Letter series of known complexity

{len(found):,} questions made by allminds, seed {seed}: complete the series at `_`.
{"Any letter may be the answer." if options == len(LETTERS) else "Five options each."}

`questions.jsonl` and `questions.csv` have the same rows: {", ".join(COLUMNS)}. `blank` is the place
of the blank from 1; `k` the complexity of the series with its answer; `program` the cheapest
program that prints it and `explanation` the same in words. Every question is valid,
unquestionable and stable (δ = 1).

| k | {" | ".join(forms)} |
| --- |{" --- |" * len(forms)}
{counts}

## What a blind mind gets

| it always takes | hits | chance | within four standard errors |
| --- | --- | --- | --- |
{blind}
"""


# ---------------------------------------------------------------- as a command


class SeriesSettings(Settings):
    """The options of `allminds make series`."""

    k: str = Field("7..15", description="Complexities: a value or low..high, 7..15.")
    count: int = Field(100, ge=1, le=10**6, description="How many, over all k.")
    form: Literal["induction", "abduction", "both"] = Field(
        "induction", description="induction, abduction or both"
    )
    options: int = Field(26, description="26 for a free answer, or 5.")
    seed: int = Field(1, description="The same seed makes the same questions.")
    fresh: bool = Field(False, description="Made from the seed, none public: a private bank.")


class SeriesGenerator(Generator):
    """Certified letter series of wanted complexity, as JSON lines and CSV.

    The plot shows how many letters it takes to make a question certain, by complexity.
    """

    Settings = SeriesSettings
    example = "Example: allminds make series --k 7..12 --count 500 --out questions"
    axes = ("complexity k", "letters shown, mean")

    def make(
        self,
        settings: SeriesSettings,
        out: Path,
        jobs: int,
        progress: Callable[[str, int, int], None],
    ) -> DataSet:
        if settings.options not in (5, 26):
            raise Error(f"--options {settings.options} will not do; choose 26 for a free one, or 5")
        forms = [one for one in get_args(Form) if settings.form in (one, "both")]

        def tell(line: str) -> None:
            progress(f"certifying questions: {line}", 0, 0)

        offered: list[str] = []
        made = "the bank that ships is public"
        if settings.fresh:
            usual = settings.k == SeriesSettings.model_fields["k"].default
            five = settings.options < len(LETTERS)
            first = FIRST_OF_FIVE if five else FIRST
            ks = whole_numbers(f"{first}..{AT_ONCE}" if usual else settings.k, "--k")
            drawn = private(ks, settings.count, settings.form, settings.seed, five, tell, jobs)
            found, offered = [one.question for one in drawn], [one.options for one in drawn]
            made = f"none public: {used_of(found, settings.form)}"
        else:
            ks = whole_numbers(settings.k, "--k")
            found = chosen(ks, settings.count, forms, settings.seed, jobs, tell)
        shortcuts = write(found, out, settings.seed, settings.options, offered)
        blind = [
            {"shortcut": one.name, "hits": one.hits, "chance": one.chance, "stderr": one.stderr}
            for one in shortcuts
        ]
        table = [
            {
                "it always takes": one.name, "hits": f"{one.hits:.3f}",
                "chance": f"{one.chance:.3f} ± {one.stderr:.3f}",
                "": "" if one.at_chance else "not at chance",
            }
            for one in shortcuts
        ]  # fmt: skip
        return DataSet(
            f"{len(found):,} questions in {out} ({made}); what a mind gets that does not see the "
            "series:",
            {"out": str(out), "questions": len(found), "blind": blind},
            table, letters_by_k(found),
        )  # fmt: skip
