"""Fresh questions: certified series made from a seed at run time, and none that is public.

`bank.certified` certifies all series of a k from a start letter. Here the start letters come in
an order drawn by the seed, a few at a time (`TOGETHER`), and the series of these in an order drawn
by the seed too, so that none comes twice. *Public* series are left out: those of the bank that
ships and the author's, in either form, at any blank, whole or as the beginning of one another;
from k = 10 on their shifts too. All series of k = 7 and 8 could be listed in a minute, so there
are no fresh ones.

With five options questions come in *closed blocks*: five questions with different answers that
show the same letters, each of them once, twice or more often alike, and whose answers are within
one letter of those shown. Their five answers are the options of each, and one of the five is asked,
by lot. So each option is right equally often, whatever a mind knows of letters, and a mind that
has learnt from many blocks what to make of the letters without their order gains little.
``python -m allminds.instruments.series.fresh`` counts all that there are.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from allminds.complexity.levin import CLOCK, letter, number, parsed, rounded, run, weight
from allminds.core.errors import Error
from allminds.core.files import cache_folder, keep
from allminds.core.seeding import MAKING, Random, key, keys, stratum, words
from allminds.instruments.series.bank import (
    MOST,
    BankItem,
    Certified,
    certified,
    question,
    shipped,
    spelt,
    table,
    unpacked,
)
from allminds.instruments.series.items import (
    ABDUCTION,
    BLANK,
    INDUCTION,
    LETTERS,
    Form,
    from_a,
)

Tasks = Literal["induction", "abduction", "both"]

VERSION = 1  # of the files in the cache: raise it when a certificate could change
FIRST, AT_ONCE = 9, 12  # k of fresh series; above the second, a start letter takes too long
FIRST_OF_FIVE = 12  # k from which there are enough closed blocks that give nothing away
SHIFTS = 10  # k from which shifts of public series are left out too
TOGETHER = {9: 26, 10: 26, 11: 8, 12: 2, 13: 1, 14: 1, 15: 1}  # start letters made at one time
OFTEN = 3  # times that a letter is shown from which more make no difference to a block
FIVE = 5
GROUP_STEP = 1 << 16  # steps of the making stream that are drawn at here, beyond other uses
# How many there are, and the shares of the commonest answers, as `main` prints them.
THERE: dict[tuple[Tasks, int], tuple[int, dict[str, float]]] = {
    ("induction", 9): (2_460, {"y": 0.1472, "z": 0.1077}),
    ("induction", 10): (5_719, {"y": 0.1455, "z": 0.1801}),
    ("induction", 11): (36_939, {"y": 0.1250, "z": 0.1328}),
    ("induction", 12): (154_224, {"y": 0.1162, "z": 0.1316}),
    ("abduction", 9): (2_296, {"a": 0.1672, "z": 0.1215}),
    ("abduction", 10): (5_289, {"a": 0.2568, "z": 0.1566}),
    ("abduction", 11): (34_409, {"a": 0.1816, "z": 0.1080}),
    ("abduction", 12): (143_974, {"a": 0.1651, "z": 0.1128}),
    ("both", 9): (4_151, {"a": 0.1212, "z": 0.1113}),
    ("both", 10): (9_321, {"a": 0.1693, "z": 0.1677}),
    ("both", 11): (63_054, {"a": 0.1241, "z": 0.1187}),
    ("both", 12): (264_345, {"a": 0.1211, "z": 0.1187}),
}


class Candidate(NamedTuple):
    """A certified series with a place for its blank, from 1."""

    form: Form
    whole: str
    place: int
    k: int
    program: tuple[int, ...]

    @property
    def answer(self) -> str:
        """The letter at the blank."""
        return self.whole[self.place - 1]

    @property
    def shown(self) -> str:
        """The letters that are not left out."""
        return self.whole[: self.place - 1] + self.whole[self.place :]


class Fresh(NamedTuple):
    """A question, and the letters on offer: those of its block, or all."""

    question: BankItem
    options: str


# ---------------------------------------------------------------- what is public


@cache
def _public(shifted: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Collect the public series with their answers, and all their beginnings."""
    wholes = {one.whole for one in shipped()}
    wholes |= {one.shown.replace(BLANK, one.answer) for one in INDUCTION + ABDUCTION}
    if shifted:
        wholes = {from_a(whole) for whole in wholes}
    least = min(map(len, wholes))
    begun = {whole[:size] for whole in wholes for size in range(least, len(whole) + 1)}
    return frozenset(wholes), frozenset(begun)


def is_public(whole: str, k: int) -> bool:
    """Return True if a public series agrees with this one as far as both go."""
    shifted = k >= SHIFTS
    wholes, begun = _public(shifted)
    one = from_a(whole) if shifted else whole
    return one in begun or any(one[:size] in wholes for size in range(CLOCK, len(one)))


# ---------------------------------------------------------------- certified series, by start


def of_start(start: str, k: int) -> dict[Form, Certified]:
    """Certify all series of a k from a start letter, or load what was certified before."""
    path = cache_folder() / "series" / f"certified-v{VERSION}-{k}-{start}.npy"
    forms: tuple[Form, ...] = ("induction", "abduction")
    try:
        kept = np.load(path)
        if kept.shape[1] != len(Certified.__dataclass_fields__) + 1:
            raise ValueError
    except (OSError, ValueError, IndexError, EOFError):
        levels = table(start, k)
        parts = []
        for n, form in enumerate(forms):
            rows = certified(levels, k, form)
            rows = rows.chosen(rows.ks() == k)
            columns = [getattr(rows, name) for name in Certified.__dataclass_fields__]
            parts.append(np.stack([*columns, np.full(len(rows.codes), n)], axis=1))
        kept = np.concatenate(parts).astype(np.int64)
        keep(path, lambda file: np.save(file, kept))
    return {
        form: Certified(*np.ascontiguousarray(kept[kept[:, -1] == n, :-1].T))
        for n, form in enumerate(forms)
    }


def candidates(
    starts: Sequence[str], task: Tasks, k: int, seed: int, jobs: int = 1, places: bool = False
) -> list[Candidate]:
    """List the series from some start letters that are not public, in an order by the seed.

    The blank of a series is at a place by lot; with `places` there is a candidate for each place.
    """
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        parts = list(pool.map(lambda start: of_start(start, k), starts))
    forms: list[Form] = ["induction", "abduction"] if task == "both" else [task]
    rows = [(form, part[form]) for part in parts for form in forms]
    total = sum(len(part.codes) for _, part in rows)
    step = GROUP_STEP + 64 * k + number(starts[0])
    of_rows = keys(seed, np.arange(total), MAKING)
    lots = words(of_rows, step, 1)
    found: list[list[Candidate]] = []
    for form, part in rows:
        columns = (part.starts, part.codes, part.blanks, part.programs)
        for start, code, blanks, program in zip(*(one.tolist() for one in columns), strict=True):
            whole = spelt(start, code)
            if is_public(whole, k):
                found.append([])
                continue
            free = [place for place in range(2, MOST + 1) if blanks >> (place - 1) & 1]
            chosen = free if places else [free[int(lots[len(found)]) % len(free)]]
            made = unpacked(program)
            found.append([Candidate(form, whole, place, k, made) for place in chosen])
    ordered = (found[n] for n in np.argsort(words(of_rows, step), kind="stable").tolist())
    unlike = {one[0].whole: one for one in ordered if one}
    return [one for several in unlike.values() for one in several]


# ---------------------------------------------------------------- closed blocks


def near(shown: str) -> set[str]:
    """Collect the letters within one of those shown."""
    return {letter((number(one) + by) % 26) for one in set(shown) for by in (-1, 0, 1)}


def blocks(found: Iterable[Candidate]) -> list[tuple[Candidate, ...]]:
    """Put candidates into closed blocks of five, each series into one block at most.

    Members show the same letters, each once, twice or more often alike; their answers differ and
    are within one letter of those shown. Blocks are in the order of their first members.
    """
    alike: dict[frozenset[tuple[str, int]], dict[str, list[int]]] = {}
    listed = list(found)
    for n, one in enumerate(listed):
        if one.answer in near(one.shown):
            bag = frozenset((x, min(times, OFTEN)) for x, times in Counter(one.shown).items())
            alike.setdefault(bag, {}).setdefault(one.answer, []).append(n)
    made: list[list[int]] = []
    used: set[str] = set()
    for by_answer in alike.values():
        while (block := _block(by_answer, listed, used)) is not None:
            made.append(block)
            used.update(listed[n].whole for n in block)
    return [tuple(listed[n] for n in sorted(block)) for block in sorted(made, key=min)]


def _block(
    by_answer: dict[str, list[int]], listed: Sequence[Candidate], used: set[str]
) -> list[int] | None:
    """Take five candidates with different answers and series, of the commonest answers first."""
    for answer in list(by_answer):
        by_answer[answer] = [n for n in by_answer[answer] if listed[n].whole not in used]
    block: list[int] = []
    wholes: set[str] = set()
    for answer in sorted(by_answer, key=lambda x: (-len(by_answer[x]), *by_answer[x][:1])):
        free = [n for n in by_answer[answer] if listed[n].whole not in wholes]
        if free and len(block) < FIVE:
            block.append(free[0])
            wholes.add(listed[free[0]].whole)
    return block if len(block) == FIVE else None


# ---------------------------------------------------------------- in the order of a seed


class Supply:
    """The fresh questions of one k in the order of a seed; more are made when they are needed."""

    def __init__(
        self, task: Tasks, k: int, seed: int, five: bool, bank: Sequence[Candidate] = (),
        jobs: int = 1,
    ) -> None:  # fmt: skip
        self.task, self.k, self.seed, self.five, self.jobs = task, k, seed, five, jobs
        self._made: list[tuple[Candidate, ...]] = []
        self._source = self._from_bank(bank) if bank else self._from_starts()
        self._lock = threading.Lock()

    def question(self, n: int) -> Fresh:
        """Make question number n, and its options if it has five."""
        with self._lock:
            while len(self._made) <= n:
                self._more(n)
        block = self._made[n]
        random = Random(key(self.seed, n, MAKING), GROUP_STEP + 32 + self.k)
        one = block[random.below_at(len(block), 0)]
        options = "".join(member.answer for member in block) if self.five else LETTERS
        name = f"{one.form}-{one.k}-{self.seed}-{n}"
        made = question(name, one.form, one.whole, one.place, one.k, one.program, "")
        _MADE[made.series] = made
        return Fresh(made, options)

    def _more(self, n: int) -> None:
        """Make the next questions, for want of number n."""
        more = next(self._source, None)
        if more is None:
            what = "closed blocks" if self.five else "series"
            raise Error(
                f"c-test: there are {len(self._made):,} fresh {what} of k = {self.k} for task="
                f"{self.task}, and {n + 1:,} were asked for; ask for fewer, or for another k"
            )
        self._made += blocks(more) if self.five else [(one,) for one in more]

    def _from_starts(self) -> Iterator[list[Candidate]]:
        """Yield the candidates of a few start letters after another, in an order by the seed."""
        order = Random(key(self.seed, self.k, MAKING), GROUP_STEP).permutation(len(LETTERS))
        for first in range(0, len(order), TOGETHER[self.k]):
            starts = [LETTERS[n] for n in order[first : first + TOGETHER[self.k]]]
            yield candidates(starts, self.task, self.k, self.seed, self.jobs, self.five)

    def _from_bank(self, bank: Sequence[Candidate]) -> Iterator[list[Candidate]]:
        """Yield the candidates of a private bank, in an order by the seed."""
        mine = [one for one in bank if one.k == self.k and self.task in (one.form, "both")]
        order = words(keys(self.seed, np.arange(len(mine)), MAKING), GROUP_STEP + self.k)
        yield [mine[n] for n in np.argsort(order, kind="stable").tolist()]


@lru_cache(maxsize=64)
def supply(task: Tasks, k: int, seed: int, five: bool, bank: str = "") -> Supply:
    """Return the supply of a seed, the same for all instruments of a process."""
    return Supply(task, k, seed, five, read_bank(bank) if bank else (), jobs=2)


_MADE: dict[str, BankItem] = {}  # the questions of this process by what they show


def certificate(series: str) -> BankItem | None:
    """Return a question that this process has certified, by what it shows."""
    return _MADE.get(series)


class Stock:
    """The fresh series that a test draws from: values of k, one after another by lot.

    `usual` is the range of k that stands for all that there are.
    """

    def __init__(self, task: Tasks, k: str, usual: str, five: bool, bank: str) -> None:
        self.task, self.five, self.bank = task, five, bank
        low, _, high = k.partition("..")
        wanted = range(int(low), int(high or low) + 1)
        if bank:
            there = sorted({one.k for one in read_bank(bank) if task in (one.form, "both")})
        else:
            there = list(range(FIRST, AT_ONCE + 1))
        there = [n for n in there if not five or n >= FIRST_OF_FIVE]
        self.ks = there if k == usual else [n for n in wanted if n in there]
        missing = [n for n in wanted if n not in there]
        if not self.ks or (missing and k != usual):
            self._refuse(missing, there)

    def _refuse(self, missing: Sequence[int], there: Sequence[int]) -> None:
        if self.five and missing and missing[0] < FIRST_OF_FIVE:
            said = (
                f"below k = {FIRST_OF_FIVE} too few series show the same letters for five options; "
                f"choose k from {FIRST_OF_FIVE} on, or options=26"
            )
        elif self.bank:
            said = f"the bank has k = {', '.join(map(str, there)) or 'none'} for task={self.task}"
        elif missing[0] < FIRST:
            said = f"all are public below k = {FIRST}; choose k from {FIRST} to {AT_ONCE}"
        else:
            said = (
                f"above k = {AT_ONCE} they take minutes; write a bank with 'allminds make series "
                f"--fresh --k {missing[0]} --out FOLDER', and set bank=FOLDER/questions.jsonl"
            )
        raise Error(f"c-test: no fresh series of k = {missing[0] if missing else '?'}: {said}")

    def question(self, seed: int, i: int) -> Fresh:
        """Make question i: every run of S exercises has each of the S values of k once, by lot."""
        k = self.ks[stratum(seed, i, len(self.ks))]
        return supply(self.task, k, seed, self.five, self.bank).question(i // len(self.ks))

    def _there(self, k: int) -> tuple[int, Mapping[str, float]]:
        """Return how many series there are of a k, and the shares of answers."""
        if not self.bank:
            return THERE[self.task, k]
        of_k = [one for one in read_bank(self.bank) if one.k == k]
        answers = Counter(one.answer for one in of_k if self.task in (one.form, "both"))
        return answers.total(), {x: n / answers.total() for x, n in answers.items()}

    def blind(self) -> tuple[str, float]:
        """Find the letter that is most often right, each k weighing k, and how often it is."""
        hits: Counter[str] = Counter()
        for k in self.ks:
            for one, share in self._there(k)[1].items():
                hits[one] += k * share  # type: ignore[assignment] # a Counter may have fractions
        best, total = max(hits.items(), key=lambda pair: (pair[1], pair[0]))
        return best, total / sum(self.ks)

    def caution(self, exercises: int) -> str:
        """State how many series there are of each k, and the share that so many exercises use."""
        used = exercises / len(self.ks)
        parts = []
        for k in self.ks:
            total = self._there(k)[0]
            share = f" ({100 * used / total:.2g} % used)" if exercises else ""
            parts.append(f"{total:,} of k = {k}{share}")
        kind = "in the bank" if self.bank else "that are not public"
        blocks = ", asked if they have a closed block" if self.five else ""
        return (
            f"Series {kind}: {', '.join(parts)}{blocks}. Two seeds that use n of N series share "
            f"n²/N on average; keep your seed to yourself."
        )


# ---------------------------------------------------------------- a private bank


MARK = "#"  # between the path of a private bank and the hash of what it contains


def with_hash(path: str) -> str:
    """Put a hash of the file's content behind the path of a bank, so that a change is noticed."""
    name, mark, before = path.rpartition(MARK)
    if not mark:
        name = path
    try:
        now = hashlib.sha256(Path(name).read_bytes()).hexdigest()[:8]
    except OSError as error:
        raise Error(f"cannot read the bank {name}: {error.strerror or error}") from None
    if mark and before != now:
        raise Error(
            f"the bank {name} is not the one it was: its hash is {now}, and {before} is asked for"
        )
    return f"{name}{MARK}{now}"


@lru_cache(maxsize=8)
def read_bank(path: str) -> tuple[Candidate, ...]:
    """Read a private bank that ``allminds make series --fresh`` wrote, and check every question."""
    name = path.rpartition(MARK)[0] or path
    found = []
    try:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read the bank {name}: {error}") from None
    for at, line in enumerate(lines, 1):
        try:
            found.append(_candidate(json.loads(line)))
        except (ValueError, KeyError, TypeError, IndexError, Error) as error:
            said = f": {error}" if isinstance(error, Error) else ""
            raise Error(
                f"{name}, line {at} is not a question that 'make series' wrote{said}"
            ) from None
    public = sum(is_public(one.whole, one.k) for one in found)
    if public:
        raise Error(
            f"{public:,} of the {len(found):,} questions of {name} are public; make a private bank "
            f"with: allminds make series --fresh --out FOLDER"
        )
    return tuple({one.whole: one for one in found}.values())


def _candidate(row: dict[str, Any]) -> Candidate:
    """Check that the program of a row prints its series at its k."""
    series, program, k = str(row["series"]), parsed(row["program"]), int(row["k"])
    form: Form = "induction" if row["form"] == "induction" else "abduction"
    whole = series.replace(BLANK, str(row["answer"]))
    done = run(program, number(whole[0]), len(whole))
    right = "".join(map(letter, done.letters)) == whole and series.count(BLANK) == 1
    if not right or rounded(weight(len(program), done.times[CLOCK - 1])) != k:
        raise Error(f"its program does not print {whole} at k = {k}")
    return Candidate(form, whole, series.index(BLANK) + 1, k, program)


# ---------------------------------------------------------------- how many there are


def counted(task: Tasks, k: int) -> Counter[str]:
    """Count the fresh series of a k by their answers."""
    found: Counter[str] = Counter()
    for start in LETTERS:
        found.update(one.answer for one in candidates([start], task, k, seed=1))
    return found


def main(arguments: Sequence[str]) -> None:
    """Print how many fresh series there are of each task and k, and the commonest answers."""
    for task in get_args(Tasks):
        for k in [int(one) for one in arguments] or range(FIRST, AT_ONCE + 1):
            found = counted(task, k)
            shares = ", ".join(f"{x} {n / found.total():.4f}" for x, n in found.most_common(3))
            print(f"{task} {k}: {found.total():,} fresh series; {shares}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
