"""The instrument `c-test`: the published items, or certified ones, public or fresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from allminds import registry
from allminds.contracts import Exercise, Failure, Instrument, Record
from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, fingerprint, key, stratum
from allminds.core.settings import MOST, Settings, checked
from allminds.inference import Rule
from allminds.instruments.series.items import (
    ABDUCTION,
    BLANK,
    INDUCTION,
    LETTERS,
    NO_ANSWER,
    Item,
    Scoring,
    SeriesQuestion,
    from_a,
)
from allminds.instruments.series.minds import (
    LetterMind,
    MaxDistance,
    MinDistance,
    Mode,
    Pattern,
    later,
)
from allminds.presentation import Presentation

if TYPE_CHECKING:
    from allminds.instruments.series.bank import BankItem as Certified
    from allminds.instruments.series.fresh import Stock


ALL_K = "7..15"  # cut to what the bank has; any other range must be there whole


class CTestSettings(Settings):
    """Settings of the C-test."""

    form: Literal["published", "generated", "fresh"] = Field(
        "published",
        description="the author's items, a bank that ships (both are public), or new ones",
    )
    task: Literal["induction", "abduction", "both"] = Field(
        "induction", description="the next letter, a missing one, or both"
    )
    k: str = Field(ALL_K, description="complexities of certified items: a value or low..high")
    options: int = Field(26, description="26 for a free answer, or 5")
    scoring: Scoring = Field("weighted", description="r̃, or points as given to people")
    bank: str = Field("", description="form=fresh: a file that `make series --fresh` wrote")

    @model_serializer(mode="wrap")
    def _without_an_empty_bank(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a bank that is not given, so that ids of exercises stay what they were."""
        found: dict[str, Any] = handler(self)
        return {name: value for name, value in found.items() if name != "bank" or value}

    @field_validator("options")
    @classmethod
    def _free_or_five(cls, value: int) -> int:
        if value not in (5, 26):
            raise ValueError(f"{value} will not do; choose 26 for a free answer, or 5")
        return value

    @field_validator("k", mode="before")
    @classmethod
    def _k_is_a_range(cls, value: Any) -> str:
        text = str(value).strip()
        low, dots, high = text.partition("..")
        if (
            low.isdigit()
            and (high.isdigit() if dots else True)
            and (0 <= int((high or low)[:19]) - int(low[:19]) <= MOST)
        ):
            return text
        raise ValueError(f"'{text}' is not a value or a range such as 7..12")


@registry.instrument
class CTest(Instrument):
    """C-test: complete a series of letters whose simplest explanation has a known complexity k.

    After Hernández-Orallo (2000). An exercise is one question: the next letter (induction) or a
    missing one (abduction). The score r̃ weighs every hit by k: the author's for the published
    items; for certified ones k is reconstructed, the cost of the cheapest program on a machine of
    ten instructions. The published items and the bank that ships (`form=generated`) are public, so
    that a language model may have met them; `form=fresh` makes new ones from the seed.

    **Actions**: an option by its number from 0, or -1 for no answer.
    **Observation** `Item`: the series with `_` at the blank, and the letters to choose from.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "c-test"
    version = 2
    slots = 1
    ceiling = 1.0
    ceiling_mind = "levin-search"
    strata = None
    caution_by_settings = True
    Settings = CTestSettings
    stock: Stock | None = None  # of fresh series

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(CTestSettings, settings, self.name)
        given = self.settings
        administered = given.scoring == "administered"
        self.chance = 0.0 if administered else 1 / given.options
        self.lowest = -1 / (given.options - 1) if administered else 0.0
        if given.scoring == "administered" and given.options != 5:
            raise Error(f"{self.name}: scoring=administered needs five options; set options=5")
        self.length = len(self.published) if given.form == "published" else None
        if given.bank and given.form != "fresh":
            raise Error(f"{self.name}: a bank of your own needs form=fresh")
        if given.form == "published":
            self.items = "published"
            self.caution = "The published items are public: a language model may have met them."
        else:
            self.ceiling_mind = "levin-search(limit=13)"  # as long as programs of the bank get
        if given.form == "generated":
            self.bank  # noqa: B018 - a k that no question has is found here
            self.items = "public"
            self.caution = (
                "The bank that ships is public: a language model may have met its items. "
                "form=fresh makes new ones."
            )
        if given.form == "fresh":
            self._prepare_fresh()

    def _prepare_fresh(self) -> None:
        """Find what a blind mind gets on fresh series, which is their chance level."""
        from allminds.instruments.series import fresh

        given = self.settings
        if given.bank:
            self.settings = given = given.model_copy(update={"bank": fresh.with_hash(given.bank)})
        self.stock = fresh.Stock(given.task, given.k, ALL_K, given.options == 5, given.bank)
        self.caution = self.stock.caution(0)
        if given.options == len(LETTERS):
            letter, self.chance = self.stock.blind()
            self.floor_mind = f"blind(always={letter})"

    def cautioned(self, exercises: int) -> str:
        """State how many fresh series there are of each k, and which share of them is used."""
        return self.caution if self.stock is None else self.stock.caution(exercises)

    @cached_property
    def published(self) -> tuple[Any, ...]:
        """The published items asked for."""
        chosen = {"induction": INDUCTION, "abduction": ABDUCTION, "both": INDUCTION + ABDUCTION}
        return chosen[self.settings.task]

    # ------------------------------------------------------------ exercises

    @property
    def levels(self) -> Sequence[float]:  # type: ignore[override] # computed when it is asked for
        """The values of k; none in the published form, which has few items of each."""
        if self.stock is not None:
            return tuple(map(float, self.stock.ks))
        return () if self.settings.form == "published" else tuple(map(float, sorted(self.bank)))

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Return item i of the published form in order, repeated; or one from a bank, or fresh."""
        random = Random(key(seed, i, MAKING))
        options = LETTERS
        if self.stock is not None:
            question, options = self.stock.question(seed, i)
            shown, answer, k = question.series, question.answer, question.k
            if self.settings.options == 5:
                options = shuffled(options, random.at_step(1))
        elif self.settings.form == "published":
            item = self.published[i % len(self.published)]
            shown, answer, k, rivals = item.shown, item.answer, item.k, item.rivals
        else:
            question = self._drawn(seed, i, random)
            shown, answer, k = question.series, question.answer, question.k
            rivals = question.rivals
        if self.stock is None and self.settings.options == 5:
            options = five_options(shown, answer, rivals, random.at_step(1))
        columns = {"k": float(k), "letters": float(len(shown) - 1)}
        asked = SeriesQuestion(shown, answer, options, columns, self.settings.scoring)
        prefix = registry.exercise_prefix(self, seed)
        whole = shown.replace("_", answer) if "_" in shown else shown + answer
        return Exercise(
            f"{prefix}{i}", self, seed, i, asked, fingerprint(shown), fingerprint(from_a(whole))
        )

    @cached_property
    def bank(self) -> dict[int, list[Certified]]:
        """The certified questions asked for, by k."""
        from allminds.instruments.series.bank import shipped

        low, _, high = self.settings.k.partition("..")
        wanted = range(int(low), int(high or low) + 1)
        both = self.settings.task == "both"
        found: dict[int, list[Certified]] = {}
        for question in shipped():
            if question.k in wanted and (both or question.form == self.settings.task):
                found.setdefault(question.k, []).append(question)
        missing = [k for k in wanted if k not in found]
        if not found or (missing and self.settings.k != ALL_K):
            ks = sorted({question.k for question in shipped()})
            raise Error(
                f"{self.name}: no question of the bank has k = {missing[0]}; k runs from {ks[0]} "
                f"to {ks[-1]}"
            )
        return found

    def _drawn(self, seed: int, i: int, random: Random) -> Certified:
        """Draw a question; every run of S exercises has each of the S values of k once, by lot."""
        levels = sorted(self.bank)
        here = self.bank[levels[stratum(seed, i, len(levels))]]
        return here[random.below_at(len(here), 0)]

    def rule(self) -> Rule:
        """Score r̃ = Σ k·hit / Σ k, or the mean of the points."""
        if self.settings.scoring == "administered":
            return super().rule()
        return replace(super().rule(), strata="k", weighted=True)

    # ------------------------------------------------------------ for people and models

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.series.present import SeriesPresentation

        return SeriesPresentation(self)

    def show(self, observation: Item, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show the series, and the options if they are not all letters."""
        if form not in ("text", "html"):
            raise Error(f"{self.name} cannot be shown as {form}; choose text or html")
        series = " ".join(observation.shown)
        options = " ".join(observation.options)
        lines = [series] if observation.options == LETTERS else [series, options]
        return "".join(f"<p>{line}</p>" for line in lines) if form == "html" else "\n".join(lines)

    def read(self, answer: str, observation: Item) -> int | Failure:
        """Parse one of the letters on offer, or "none"."""
        text = answer.strip().lower()
        if text == "none":
            return NO_ANSWER
        if len(text) == 1 and text in observation.options:
            return observation.options.index(text)
        return Failure("malformed", f"'{answer[:60]}' is not one of the letters on offer")


# ---------------------------------------------------------------- five options


TEMPTED: tuple[LetterMind, ...] = (
    MinDistance(), MaxDistance(), Mode(), Pattern(1), Pattern(2), Pattern(3), Pattern(4)
)  # fmt: skip


def five_options(shown: str, answer: str, rivals: Iterable[str], random: Random) -> str:
    """Draw the answer and four distractors, shuffled by words 0..4.

    Distractors are distinct letters from the cheapest rival explanations, then what simple minds
    answer, then letters within two of those shown.
    """
    found = [answer]
    for letter in (*rivals, *_tempting(shown), *_near(shown), *LETTERS):
        if letter not in found:
            found.append(letter)
        if len(found) == 5:
            break
    return shuffled(found, random)


def shuffled(letters: Iterable[str], random: Random) -> str:
    """Shuffle options by the words from the number of letters down to 1."""
    found = list(letters)
    for place in range(len(found) - 1, 0, -1):
        other = random.below_at(place + 1, place)
        found[place], found[other] = found[other], found[place]
    return "".join(found)


def _tempting(shown: str) -> Iterator[str]:
    item = Item(shown, LETTERS)
    for mind in TEMPTED:
        letter = mind.letter(item)
        if letter is not None:
            yield letter


def _near(shown: str) -> Iterator[str]:
    for distance in (1, -1, 2, -2):
        for letter in shown.replace(BLANK, ""):
            yield later(letter, distance)
