"""Generated questions: certified again by other means, and the bank that ships."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from allminds.complexity.levin import (
    letter,
    levin,
    number,
    plain_search,
    puzzle,
    rivals,
    rounded,
    run,
    weight,
)
from allminds.instruments.series import bank

FORMS = ("induction", "abduction")
LONGEST = 16  # instructions: more than a question of any k here can have


@pytest.fixture(scope="module")
def levels():
    return bank.tables("a", 10)


def by_letters(level: bank.Level) -> dict[str, int]:
    codes = zip(level.starts.tolist(), level.codes.tolist(), strict=True)
    return dict(zip([bank.spelt(*one) for one in codes], level.weights.tolist(), strict=True))


def test_the_table_is_that_of_all_programs_one_by_one():
    below = 180  # k = 7
    found: dict[str, int] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        program = waiting.pop()
        done = run(program, 0, 13)
        writes = len(done.letters)
        steps = done.times[4] if writes > 4 else done.steps + 5 - writes
        cost = weight(len(program), steps)
        if cost >= below or (done.letters and done.letters[0] != 0):
            continue
        series = "".join(map(letter, done.letters))
        for size in range(5, len(series) + 1):
            found[series[:size]] = min(cost, found.get(series[:size], cost))
        if done.off_end and 2 * cost < below:
            waiting += [(*program, x) for x in range(10)]
    for level in bank.table("a", 7):
        mine = {one: cost for one, cost in by_letters(level).items() if cost < below}
        assert mine == {one: cost for one, cost in found.items() if len(one) == level.letters}


def test_there_are_as_many_as_there_are(levels):
    found = bank.certified(levels, 10, "induction")
    assert Counter(found.ks().tolist()) == {5: 1, 7: 9, 8: 32, 9: 96, 10: 384}


@pytest.mark.parametrize("form", FORMS)
def test_no_series_is_the_beginning_of_another(levels, form):
    found = bank.certified(levels, 10, form)
    series = {bank.spelt(0, code) for code in found.codes.tolist()}
    assert len(series) == len(found.codes)
    assert not any(one[:size] in series for one in series for size in range(5, len(one)))


def letters_below(series: str, below: int) -> set[str]:
    """What programs below a weight have at the blank, by the plain search."""
    return {letter(n) for n in plain_search(puzzle(series), below, LONGEST)}


@pytest.mark.parametrize("form", FORMS)
def test_questions_pass_the_definitions_by_plain_search(form):
    for one in [one for one in bank.questions({(form, 7): 6}, seed=3) if one.blank > 1][:3]:
        bound = math.ceil(2 ** (one.value + 1))
        assert letters_below(one.series, bound) == {one.answer}
        if form == "induction":
            assert letters_below(one.series[:-2] + "_", bound) == {one.series[-2]}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [8, 9, 10])
def test_questions_pass_the_definitions_by_search(k, form):
    questions = bank.questions({(form, k): 12}, seed=2)
    for one in questions:
        (only,) = rivals(one.series, limit=LONGEST)
        assert (only.letter, only.value) == (one.answer, one.value)
        assert (one.k, one.form) == (k, form)
        assert levin(one.series, one.answer, limit=LONGEST).value == one.value
        assert 5 <= len(one.series) - 1 <= 12
        assert one.series[one.blank - 1] == "_"
        _check_stable(one)
    assert len({one.whole for one in questions}) == 12


def _check_stable(one: bank.BankItem) -> None:
    """The programs that agree with all but the last shown letter give it."""
    shown = one.whole[:-1] if one.form == "induction" else one.whole
    if one.form == "induction":
        best = levin(shown[:-1] + "_", limit=LONGEST)
        near = rivals(shown[:-1] + "_", delta=one.value - best.value + 1, limit=LONGEST)
        assert [rival.letter for rival in near] == [shown[-1]]
        return
    for start in range(26) if one.blank == 1 else [number(one.whole[0])]:
        letters = [number(x) for x in shown]
        letters[one.blank - 1] = letters[-1] = -1
        letters[0] = start
        assert _last_letters(letters, one.value) <= {number(shown[-1])}


def _last_letters(letters: list[int], value: float) -> set[int]:
    from allminds.complexity import levin_fast as kernels

    best = np.full(26, kernels.NOTHING, np.int64)
    witness = np.zeros((26, kernels.MOST + 1), np.int8)
    kernels.search(
        np.array(letters, np.int8), len(letters) - 1, letters[0], 5, LONGEST,
        math.ceil(2 ** (value + 1)), False, True, best, witness, witness[:0],
    )  # fmt: skip
    return {int(n) for n in np.flatnonzero(best < kernels.NOTHING)}


def test_fewer_letters_would_not_do(levels):
    """Every shorter beginning of a question fails: it has a rival, or its last letter has."""
    found = bank.certified(levels, 9, "induction")
    chosen = found.chosen(np.flatnonzero(found.letters > 6)[::12])
    for code in chosen.codes.tolist():
        whole = bank.spelt(0, code)
        for size in range(6, len(whole)):
            shown, answer = whole[: size - 1], whole[size - 1]
            value = levin(shown, answer, limit=LONGEST).value
            fails = False
            for text in (shown, shown[:-1]):
                best = levin(text, limit=LONGEST)
                near = rivals(text, delta=value - best.value + 1, limit=LONGEST)
                fails |= [one.letter for one in near] != [whole[len(text)]]
            assert fails


def test_questions_depend_on_the_seed_alone():
    five = {("induction", 8): 5}
    assert bank.questions(five, 1) == bank.questions(five, 1)
    assert bank.questions(five, 1) != bank.questions(five, 2)


def test_there_are_no_more_than_there_are():
    assert len(bank.questions({("induction", 7): 300}, 1)) == 231


def test_the_specification_counts_series_that_begin_with_another_letter_too():
    """DEFINITIONS §4 has 13 series at k = 7 from a; but a program starts with the first letter."""
    found: dict[tuple[int, ...], int] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        program = waiting.pop()
        done = run(program, 0, 12)
        writes = len(done.letters)
        steps = done.times[4] if writes > 4 else done.steps + 5 - writes
        cost = weight(len(program), steps)
        if rounded(cost) > 7:
            continue
        if writes == 12:
            found[done.letters] = min(cost, found.get(done.letters, cost))
        if done.off_end:
            waiting += [(*program, x) for x in range(10)]
    of_7 = [letters for letters, cost in found.items() if rounded(cost) == 7]
    assert len(of_7) == 13
    assert sum(letters[0] == 0 for letters in of_7) == 9


# ---------------------------------------------------------------- the bank


def test_the_bank_has_its_sizes():
    sizes = Counter((one.form, one.k) for one in bank.shipped())
    for form in FORMS:
        assert sizes[form, 7] == 231
        assert {k: sizes[form, k] for k in range(8, 16)} == dict.fromkeys(range(8, 15), 300) | {
            15: 100
        }
    assert len({one.id for one in bank.shipped()}) == len(bank.shipped())


def test_programs_of_the_bank_print_its_series_at_its_k():
    for one in bank.shipped():
        done = run(one.program, number(one.whole[0]), len(one.whole))
        assert "".join(map(letter, done.letters)) == one.whole
        assert rounded(weight(len(one.program), done.times[4])) == one.k


@pytest.mark.parametrize("form", FORMS)
def test_no_series_of_the_bank_is_the_beginning_of_another(form):
    questions = [one for one in bank.shipped() if one.form == form]
    series = {one.whole for one in questions}
    assert len(series) == len(questions)
    assert not any(one[:size] in series for one in series for size in range(5, len(one)))


@pytest.mark.slow
def test_some_of_the_bank_by_search():
    for one in bank.shipped()[5::199]:
        if one.k <= 12:
            (only,) = rivals(one.series, limit=LONGEST)
            assert (only.letter, only.value) == (one.answer, one.value)
