"""The design of a study: arms, the order of tests, questions, attention checks and bonuses.

`Study` holds these models; what one participant is given follows from the study and from the number
of the participant's place (`Study.of`), so that places which are given again keep their arm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from allminds.core.seeding import Random, key
from allminds.core.settings import Settings

NAME = r"^[a-z][a-z0-9_-]{0,39}$"
ARMS = (1 << 20) + 2  # streams that no mind draws from: arms, and the order of tests
TESTS = ARMS + 1
LONGEST = 2000  # characters of a free text
BEFORE, AFTER = "before", "after"

Texts = dict[str, str]  # by language


# ---------------------------------------------------------------- arms and orders


class Arm(Settings):
    """A group of participants that differs from the others in what it is given."""

    name: str = Field(pattern=NAME)
    weight: int = Field(1, ge=1, le=20, description="places of each block that it has")
    tests: list[str] | None = Field(None, min_length=1, description="names; all if left out")
    settings: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="of instruments, by the names of tests"
    )
    show_numbers: bool | None = None


def arm_of(weights: Sequence[int], seed: int, place: int) -> tuple[int, int]:
    """Return the arm of a place, and the number of places before it in the same arm.

    Places are drawn in blocks that have `weight` places of every arm, in random order.
    """
    one = [arm for arm, weight in enumerate(weights) for _ in range(weight)]
    block, at = divmod(place, len(one))
    order = shuffled(one, Random(key(seed, block, ARMS)))
    return order[at], block * weights[order[at]] + order[:at].count(order[at])


Order = Literal["fixed", "shuffled", "latin"]


def order_of(order: Order, tests: int, seed: int, place: int, rank: int) -> list[int]:
    """Return the order of tests for a place; a Latin square gives its rows in turn, by `rank`."""
    if order == "fixed":
        return list(range(tests))
    if order == "shuffled":
        return shuffled(list(range(tests)), Random(key(seed, place, TESTS)))
    rows = latin(tests)
    return rows[rank % len(rows)]


def latin(n: int) -> list[list[int]]:
    """Make Williams's (1949) Latin square: each test is as often in every position.

    Each also follows every other equally often; for an odd number this takes twice as many rows.

    >>> latin(4)
    [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    """
    first = [(at + 1) // 2 if at % 2 else (n - at // 2) % n for at in range(n)]
    rows = [[(one + row) % n for one in first] for row in range(n)]
    return rows if n % 2 == 0 else rows + [row[::-1] for row in rows]


def shuffled(values: Sequence[int], random: Random) -> list[int]:
    """Return the values in an order drawn by the words of `random`, from the first on."""
    made = list(values)
    for place in range(len(made) - 1):
        other = place + random.below_at(len(made) - place, place)
        made[place], made[other] = made[other], made[place]
    return made


# ---------------------------------------------------------------- questions


class Option(Settings):
    """An answer to choose, or a row of a matrix: its value in the data, and its words."""

    value: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")
    text: Texts


class Problem(NamedTuple):
    """An answer that cannot be taken: the field, why, and the number that is in its way."""

    field: str
    why: Literal["missing", "number", "whole", "small", "large", "long", "unknown"]
    bound: float = 0


class AskedQuestion(Settings):
    """A question of the researcher's, with its own name in the data."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    kind: Literal["choice", "number", "scale", "text"]
    text: Texts
    when: str = Field(AFTER, description="'before', 'after', or a test: asked when it is over")
    page: int = Field(1, ge=1, le=50, description="questions of one page are shown together")
    required: bool = True
    options: list[Option] = Field(default_factory=list, max_length=50)
    rows: list[Option] = Field(default_factory=list, max_length=30, description="of a scale")
    points: int = Field(5, ge=2, le=11, description="of a scale")
    ends: dict[str, tuple[str, str]] = Field(
        default_factory=dict, description="words at both ends of a scale, by language"
    )
    least: float | None = None
    most: float | None = None
    whole: bool = Field(True, description="whether a number must be whole")
    longest: int = Field(500, ge=1, le=LONGEST, description="characters of a text")
    right: str = Field("", description="the value that shows attention; empty if none does")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.kind == "choice") != bool(self.options):
            raise ValueError(f"'{self.name}': a choice needs options, and nothing else has any")
        if self.rows and self.kind != "scale":
            raise ValueError(f"'{self.name}': only a scale has rows")
        for given in (self.options, self.rows):
            if len({one.value for one in given}) < len(given):
                raise ValueError(f"'{self.name}': two options or rows have the same value")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError(f"'{self.name}': least is above most")
        if self.right and (self.rows or self.kind == "text" or self._wrong(self.right)):
            raise ValueError(f"'{self.name}': '{self.right}' is not an answer that can be given")
        return self

    @property
    def fields(self) -> list[str]:
        """The names of its answers: one, or one for every row of a matrix."""
        return [f"{self.name}.{row.value}" for row in self.rows] or [self.name]

    @property
    def values(self) -> list[str]:
        """The answers that can be chosen; empty for numbers and texts."""
        if self.kind == "scale":
            return [str(point) for point in range(1, self.points + 1)]
        return [one.value for one in self.options]

    def read(self, given: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
        """Read the answers off a form, without what is left out, and say what is wrong."""
        told = {name: given.get(name, "").strip() for name in self.fields}
        answers = {name: value for name, value in told.items() if value}
        wrong = [Problem(name, "missing") for name in told if self.required and not told[name]]
        for name, value in answers.items():
            found = self._wrong(value)
            wrong += [found._replace(field=name)] if found else []
        return answers, wrong

    def _wrong(self, value: str) -> Problem | None:
        if self.kind == "text":
            long = len(value) > self.longest
            return Problem("", "long", self.longest) if long else None
        if self.kind != "number":
            return None if value in self.values else Problem("", "unknown")
        try:
            number = float(value.replace(",", "."))
        except ValueError:
            return Problem("", "number")
        if not math.isfinite(number):
            return Problem("", "number")
        if self.whole and number != int(number):
            return Problem("", "whole")
        if self.least is not None and number < self.least:
            return Problem("", "small", self.least)
        if self.most is not None and number > self.most:
            return Problem("", "large", self.most)
        return None


Page = tuple[AskedQuestion, ...]


def pages_of(questions: Sequence[AskedQuestion], when: str) -> list[Page]:
    """Group the questions that are asked at one time into pages, in the order of their numbers."""
    found: dict[int, list[AskedQuestion]] = {}
    for one in questions:
        if one.when == when:
            found.setdefault(one.page, []).append(one)
    return [tuple(found[page]) for page in sorted(found)]


def read(page: Page, given: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
    """Read the answers to a page of questions off a form, and say what is wrong with them."""
    found = [one.read(given) for one in page]
    answers = {name: value for told, _ in found for name, value in told.items()}
    return answers, [problem for _, wrong in found for problem in wrong]


def inattentive(questions: Sequence[AskedQuestion], answers: Mapping[str, str]) -> int:
    """Count the attention checks that were answered wrongly, or left out when they were shown."""
    return sum(answers.get(one.name, "") != one.right for one in questions if one.right)


# ---------------------------------------------------------------- careless participants


Sign = Literal["fast", "same-choice", "hidden", "pasted", "misread", "attention", "unfinished"]


class Careless(Settings):
    """When a participant is marked as careless, and which marks exclude from the analysis.

    Write `exclude` before the first participant comes: the report applies it, and shows the figures
    with and without.
    """

    fast_ms: float = Field(350, ge=0, description="a test whose median move is quicker")
    fast_question_ms: float = Field(1500, ge=0, description="likewise, of questions")
    same_choices: int = Field(20, ge=2, description="choices from which on sameness is looked at")
    same_share: float = Field(0.75, gt=0, le=1, description="share of the commonest choice")
    hidden_seconds: float = Field(60, ge=0, description="in the background")
    pastes: int = Field(1, ge=1)
    misreads: int = Field(3, ge=1, description="wrong attempts at the checks of instructions")
    attention: int = Field(1, ge=1, description="failed attention checks")
    exclude: list[Sign] = Field(default_factory=list, description="the rule of exclusion")


# ---------------------------------------------------------------- the end


class Bonus(Settings):
    """What participants are paid for their scores, beside what everybody gets."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    base: float = Field(0.0, ge=0)
    per_point: dict[str, float] = Field(
        min_length=1, description="for each point of an exercise's score, by test"
    )
    most: float = Field(gt=0, le=10_000)
    shown: bool = Field(True, description="at the end, to the participant")

    def of(self, tests: Sequence[str], scores: Sequence[Sequence[float]]) -> float:
        """Compute the bonus for the scores in the named tests, cut to whole cents."""
        gained = self.base
        for name, made in zip(tests, scores, strict=True):
            gained += self.per_point.get(name, 0.0) * math.fsum(made)
        cents = math.floor(round(100 * min(max(gained, 0.0), self.most), 6))
        return cents / 100


class Debrief(Settings):
    """What participants see when all is done."""

    results: bool = Field(True, description="their scores, beside those of programs")
    text: Texts = Field(default_factory=dict, description="in Markdown")
