"""Items of the C-test: what a mind sees, the question it is asked, and the 35 published items.

The published items are those of J. Hernández-Orallo, "Beyond the Turing Test", Journal of Logic,
Language and Information 9 (2000) 447-466, with the hit rates of the students who took them: 48
students, five options, -1/4 for a wrong one, so blanks were possible. Never put these rates beside
free answers without a word. The author leaves induction item 11 out of his totals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from allminds.contracts import Discrete
from allminds.core.bases import Question
from allminds.core.seeding import Random

LETTERS = "abcdefghijklmnopqrstuvwxyz"
BLANK = "_"
NO_ANSWER = -1

Scoring = Literal["weighted", "administered"]
Form = Literal["induction", "abduction"]


def from_a(series: str) -> str:
    """Shift a series so that it begins with a: what shifts of one series have in common."""
    by = ord(series[0]) - ord("a")
    return "".join(chr((ord(one) - ord("a") - by) % 26 + ord("a")) for one in series)


class Item(NamedTuple):
    """What a mind sees: the series with `_` at the blank, and the letters it may answer."""

    shown: str
    options: str

    @property
    def blank(self) -> int:
        """The place of the blank, from 0."""
        return self.shown.index(BLANK)


@dataclass(frozen=True)
class Answers(Discrete):
    """The options, numbered from 0, or `NO_ANSWER`."""

    none: ClassVar[int | None] = NO_ANSWER

    def contains(self, action: Any) -> bool:
        """Return whether an answer is an option, or the choice to give none."""
        return super().contains(action) or (type(action) is int and action == NO_ANSWER)


@dataclass(frozen=True)
class SeriesQuestion(Question):
    """One item of the C-test. The reward is the hit, or the points as given to people."""

    shown: str
    answer: str
    options: str
    complexity: Mapping[str, float]
    scoring: Scoring = "weighted"

    @property
    def actions(self) -> Sequence[Discrete]:
        """The options, one of which is the action."""
        return (Answers(len(self.options), labels=tuple(self.options)),)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The order of the letters, which is a circle."""
        return {"alphabet": LETTERS}

    def observe(self, state: int | None, slot: int) -> Item:
        """Show the series and the options."""
        return Item(self.shown, self.options)

    def reward(self, answer: int) -> float:
        """Reward a hit by 1; as administered, -1/4 for a wrong one of five, 0 for none."""
        if answer != NO_ANSWER and self.options[answer] == self.answer:
            return 1.0
        wrong = answer != NO_ANSWER and self.scoring == "administered"
        return -1 / (len(self.options) - 1) if wrong else 0.0

    def secret(self, state: int | None, slot: int, random: Random) -> str:
        """Return the letter that is right."""
        return self.answer


# ---------------------------------------------------------------- the published items


class Published(NamedTuple):
    """One item: the series with `_` at the blank, its answer, k and the students' hit rate.

    `rivals` are other letters that programs within two of the cheapest give (`complexity.levin`).
    An item with one within δ = 1 is not unquestionable: induction 13, where z costs .14 more, and
    abduction 4, where a costs the same.
    """

    task: Form
    number: int
    shown: str
    answer: str
    k: int
    students: float
    rivals: str


_RIVALS = {
    ("induction", 13): "z",
    ("induction", 17): "ax",
    ("induction", 18): "z",
    ("abduction", 4): "a",
    ("abduction", 12): "a",
    ("abduction", 15): "z",
}
_INDUCTION = """
ababab_ a 7 .875    acbdce_ d 10 .333   aczbya_ x 10 .396   aazzyy_ x 7 .833    aazcyex_ g 12 .292
aaabbbc_ c 8 .854   azbdcegf_ h 13 .417 adgj_ m 9 .708      cabdbccecd_ d 14 .104
aaaabbbbc_ c 9 .854 aacyawy_ u 12 .188  abdeg_ h 10 .875    aabbzabb_ y 11 .292
zayxxuw_ r 14 .000  zaxava_ t 11 .354   abazaayza_ x 10 .167 aaazbby_ c 12 .292
aadazca_ y 13 .146  azbzzyby_ y 12 .125 bazbayba_ x 11 .375
"""
_ABDUCTION = """
hgf_dcba e 7 .917   a_bbccd a 7 .938    a_azaya a 8 .354    aa_yyawwy c 13 .146 _bzayzxy a 8 .542
aa_zzayyz b 9 .354  ax_vwtu y 10 .438   ayw_wuwus y 13 .188 abcf_hk g 12 .625
acb_dceeedf d 11 .083 ad_zcbyba c 13 .083 ab_bcacdb z 13 .083 aa_cyex z 12 .208
_abyzabxyzabwxyz z 12 .312 zz_zyyxyx y 10 .188
"""


def _items(task: Form, text: str) -> tuple[Published, ...]:
    words = text.split()
    rows = [words[n : n + 4] for n in range(0, len(words), 4)]
    return tuple(
        Published(
            task, number, shown, answer, int(k), float(students), _RIVALS.get((task, number), "")
        )
        for number, (shown, answer, k, students) in enumerate(rows, start=1)
    )


INDUCTION = _items("induction", _INDUCTION)
ABDUCTION = _items("abduction", _ABDUCTION)
