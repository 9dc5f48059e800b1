"""Fresh series: all there are by brute force, none public, none twice, blocks that tell nothing."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from allminds import registry
from allminds.check import check_instrument
from allminds.complexity.levin import rivals, rounded, run, weight
from allminds.core.errors import Error
from allminds.inference.intervals import wilson
from allminds.instruments.series import bank, datasets, fresh
from allminds.instruments.series.items import ABDUCTION, INDUCTION, LETTERS

EXIST = {7: 231, 8: 992, 9: 3_064, 10: 11_517, 11: 48_446, 12: 172_640}  # LANGUAGE_MODELS.md
UP_TO_SHIFT = {7: 81, 8: 352, 9: 1_308, 10: 5_412, 11: 24_447, 12: 98_620}


# ---------------------------------------------------------------- how many there are


def by_definition(start: int, k: int) -> set[tuple[int, ...]]:
    """Certify the next letter by running all programs, with nothing of `bank` but the machine."""
    below = math.ceil(2 ** (k + 1.5))  # δ = 1 above the dearest of this k
    cost: dict[tuple[int, ...], int] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        program = waiting.pop()
        done = run(program, start, 13)
        writes = len(done.letters)
        steps = done.times[4] if writes > 4 else done.steps + 5 - writes
        now = weight(len(program), steps)
        if now >= below or (done.letters and done.letters[0] != start):
            continue
        for size in range(5, writes + 1):
            one = done.letters[:size]
            cost[one] = min(now, cost.get(one, now))
        if done.off_end and weight(len(program) + 1, steps) < below:
            waiting += [(*program, x) for x in range(10)]
    by_parent: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for one, least in cost.items():
        by_parent.setdefault(one[:-1], []).append((one[-1], least))

    def alone(one: tuple[int, ...], below: int) -> bool:
        return all(last == one[-1] or w >= below for last, w in by_parent[one[:-1]])

    found: set[tuple[int, ...]] = set()
    for size in range(6, 14):
        for one, least in cost.items():
            if len(one) != size or rounded(least) > k or any(one[:n] in found for n in range(size)):
                continue
            if alone(one, 2 * least) and alone(one[:-1], 2 * least):
                found.add(one)
    return {one for one in found if rounded(cost[one]) == k}


def spelt(rows: bank.Certified) -> list[str]:
    codes = zip(rows.starts.tolist(), rows.codes.tolist(), strict=True)
    return [bank.spelt(*one) for one in codes]


@pytest.mark.parametrize("start", ["a", "b", "q"])
def test_all_series_of_k_7_are_those_that_the_definition_gives(start):
    expected = by_definition(ord(start) - 97, 7)
    rows = fresh.of_start(start, 7)["induction"]
    found = [
        bank.spelt(*one) for one in zip(rows.starts.tolist(), rows.codes.tolist(), strict=True)
    ]
    assert len(found) == {"a": 9, "b": 6, "q": 9}[start]
    assert {tuple(ord(x) - 97 for x in one) for one in found} == expected


@pytest.mark.slow
def test_all_series_of_k_8_from_a_are_those_that_the_definition_gives():
    rows = fresh.of_start("a", 8)["induction"]
    found = [
        bank.spelt(*one) for one in zip(rows.starts.tolist(), rows.codes.tolist(), strict=True)
    ]
    assert {tuple(ord(x) - 97 for x in one) for one in found} == by_definition(0, 8)
    assert len(found) == 32


@pytest.mark.parametrize(
    "k", [7, 8, 9, 10, *(pytest.param(k, marks=pytest.mark.slow) for k in (11, 12))]
)
def test_there_are_as_many_series_as_were_counted(k):
    wholes = set()
    for start in LETTERS:
        rows = fresh.of_start(start, k)["induction"]
        wholes |= set(spelt(rows))
    assert len(wholes) == EXIST[k]
    assert len({fresh.from_a(one) for one in wholes}) == UP_TO_SHIFT[k]


@pytest.mark.parametrize("task", ["induction", "both"])
@pytest.mark.parametrize("k", [9, *(pytest.param(k, marks=pytest.mark.slow) for k in (10, 11, 12))])
def test_the_stated_numbers_of_fresh_series_are_right(task, k):
    found = fresh.counted(task, k)
    total, shares = fresh.THERE[task, k]
    assert found.total() == total
    for one, share in shares.items():
        assert round(found[one] / total, 4) == share
    assert found.most_common(1)[0][1] / total == pytest.approx(max(shares.values()), abs=1e-4)


# ---------------------------------------------------------------- certificates


@pytest.mark.parametrize("task", ["induction", "abduction"])
@pytest.mark.parametrize("k", [9, 10])
def test_a_search_confirms_the_certificate(k, task):
    supply = fresh.supply(task, k, 12, False)
    for n in range(6):
        one = supply.question(n).question
        (only,) = rivals(one.series, limit=14)
        assert (only.letter, only.value, rounded(only.weight)) == (one.answer, one.value, k)


def test_none_comes_twice_and_the_order_of_asking_does_not_matter():
    supply = fresh.Supply("both", 9, 4, False)
    late = supply.question(700)
    found = [supply.question(n).question for n in range(1_000)]
    assert len({one.whole for one in found}) == 1_000
    assert late == fresh.Supply("both", 9, 4, False, jobs=2).question(700)
    assert found[:5] != [fresh.supply("both", 9, 5, False).question(n).question for n in range(5)]


def test_the_end_of_the_supply_is_one_sentence():
    with pytest.raises(Error, match=r"there are 2,460 fresh series of k = 9 for task=induction"):
        fresh.supply("induction", 9, 3, False).question(5_000)


# ---------------------------------------------------------------- nothing public


def agree(shown: str, whole: str) -> bool:
    """Return whether a whole series fits what is shown as far as both go."""
    return all(a in ("_", b) for a, b in zip(shown, whole, strict=False))


def looked_up(shown: str, wholes: list[str], shifted: bool) -> str | None:
    """Answer from a table of series, at any shift of them if asked for."""
    blank = shown.index("_")
    for whole in wholes:
        for by in range(26) if shifted else [0]:
            moved = "".join(LETTERS[(ord(x) - 97 + by) % 26] for x in whole) if by else whole
            if len(moved) > blank and agree(shown, moved):
                return moved[blank]
    return None


@pytest.mark.parametrize("k", ["9..10", pytest.param("11..12", marks=pytest.mark.slow)])
def test_a_table_of_all_that_ships_finds_none_of_the_fresh_series(k):
    """So it scores what it answers blind; on the public bank it is always right."""
    wholes = [one.whole for one in bank.shipped()]
    wholes += [one.shown.replace("_", one.answer) for one in INDUCTION + ABDUCTION]
    tool = registry.make_instrument("c-test", {"form": "fresh", "k": k, "task": "both"})
    public = registry.make_instrument("c-test", {"form": "generated", "k": k})
    chance, hits = tool.chance, 0.0
    for i in range(60):
        asked = tool.exercise(2**40 + 7, i).environment
        answer = looked_up(asked.shown, wholes, False)
        hits += (answer or "a") == asked.answer
        known = public.exercise(2**40 + 7, i).environment
        assert looked_up(known.shown, wholes, False) == known.answer
    assert hits / 60 < chance + 4 * math.sqrt(chance * (1 - chance) / 60)


def test_no_shift_of_a_public_series_is_asked_from_k_10_on():
    begun = {fresh.from_a(one.whole)[:6] for one in bank.shipped()}
    wholes = [fresh.from_a(one.whole) for one in bank.shipped()]
    for n in range(300):
        whole = fresh.from_a(fresh.supply("induction", 10, 8, False).question(n).question.whole)
        if whole[:6] in begun:
            assert not any(agree(whole, other) for other in wholes)


@pytest.mark.parametrize("k", [9, pytest.param(10, marks=pytest.mark.slow)])
def test_two_seeds_share_what_n_squared_over_the_number_says(k):
    """The mean of 28 pairs lies within four standard errors of n²/N, of which the error is 1 %."""
    n, seeds = 400, range(50, 58)
    supplies = [fresh.Supply("induction", k, seed, False) for seed in seeds]
    drawn = [{supply.question(i).question.whole for i in range(n)} for supply in supplies]
    shared = [len(a & b) for a, b in itertools.combinations(drawn, 2)]
    expected = n * n / fresh.THERE["induction", k][0]
    error = math.sqrt(expected / len(shared))
    assert abs(np.mean(shared) - expected) < 4 * error + 0.01 * expected


# ---------------------------------------------------------------- closed blocks


def test_a_block_has_five_answers_near_what_each_of_its_members_shows():
    found = fresh.candidates(LETTERS, "both", 10, 5, places=True)
    made = fresh.blocks(found)
    assert len(made) >= 5
    for block in made:
        answers = {one.answer for one in block}
        assert len(block) == len(answers) == 5
        bags = [{x: min(n, 3) for x, n in Counter(one.shown).items()} for one in block]
        assert all(bag == bags[0] for bag in bags)
        assert all(answers <= fresh.near(one.shown) for one in block)
    members = Counter(one.whole for block in made for one in block)
    assert max(members.values()) == 1


def circle(a: str, b: str) -> int:
    apart = abs(ord(a) - ord(b))
    return min(apart, 26 - apart)


BAGS = {  # each sees the letters shown, without their order
    "most often": lambda bag, x: bag.count(x),
    "least often": lambda bag, x: -bag.count(x),
    "near": lambda bag, x: -sum(circle(x, y) for y in bag),
    "far": lambda bag, x: sum(circle(x, y) for y in bag),
    "neighbours": lambda bag, x: sum(circle(x, y) <= 1 for y in bag),
    "fewest neighbours": lambda bag, x: -sum(circle(x, y) <= 1 for y in bag),
    "beside": lambda bag, x: sum(circle(x, y) == 1 for y in bag),
}


@cache
def blocks_of(task: str) -> list[tuple[fresh.Candidate, ...]]:
    """Make the closed blocks of k = 12, the only k with five options, of ten start letters."""
    pairs = [LETTERS[n : n + 2] for n in (0, 4, 12, 22, 24)]
    return [
        block
        for pair in pairs
        for block in fresh.blocks(fresh.candidates(pair, task, 12, 5, places=True))
    ]


TASKS = ["induction", "abduction", "both"]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_minds_that_see_only_the_bag_of_letters_score_at_most_three_tenths(task):
    """The hits of each member of a block are counted: what the lot gives on average."""
    made = blocks_of(task)
    for name, way in BAGS.items():
        hits = 0.0
        for block in made:
            for one in block:
                values = [way(one.shown, other.answer) for other in block]
                best = [other for other, v in zip(block, values, strict=True) if v == max(values)]
                hits += (one in best) / len(best)
        assert hits / (5 * len(made)) <= 0.30, name


def seen_in_the_bag(shown: str, options: list[str]) -> list[list[float]]:
    """Describe each option by the letters shown, without their order."""
    times = np.bincount([ord(x) - 97 for x in shown], minlength=26)
    on_offer = [times[ord(x) - 97] for x in options]
    rows = []
    for x in (ord(x) - 97 for x in options):
        mine = times[x]
        row = [float(mine == n) for n in range(5)]
        for by in (-3, -2, -1, 1, 2, 3):
            other = times[(x + by) % 26]
            row += [min(other, 3) / 2, other > 0, other == mine, other > mine]
        row += [mine == max(times), mine == max(on_offer), mine == min(on_offer), mine / len(shown)]
        row += [sum(n < mine for n in on_offer), mine * len(shown) / 10, mine % 2]
        apart = np.minimum((np.arange(26) - x) % 26, (x - np.arange(26)) % 26)
        row += [(times * apart).sum() / len(shown) / 5, ((times > 0) * apart).sum() / 10]
        rows.append([float(value) for value in [*row, *np.eye(26)[x]]])
    return rows


def learnt(seen: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Fit a conditional logit with a ridge: the weights of what is seen of an option."""
    rows = np.arange(len(seen))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        chances = softmax(seen @ weights, axis=1)
        wrong = np.einsum("nof,no->f", seen, chances) - seen[rows, right].sum(0)
        value = -np.log(chances[rows, right]).sum() + 1.5 * weights @ weights
        return value, wrong + 3 * weights

    return minimize(loss, np.zeros(seen.shape[-1]), jac=True, method="L-BFGS-B").x


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_mind_that_learns_from_the_bags_of_other_blocks_scores_at_most_three_tenths(task):
    """All members of one half of the blocks are learnt from, all of the other half are tried."""
    made = blocks_of(task)
    seen = np.array(
        [[seen_in_the_bag(one.shown, [x.answer for x in block]) for one in block] for block in made]
    )
    halves = np.random.default_rng(3).permutation(len(made))
    halves = halves[: len(made) // 2], halves[len(made) // 2 :]
    rates = []
    for train, test in (halves, halves[::-1]):
        right = np.tile(np.arange(5), len(train))
        weights = learnt(seen[train].reshape(-1, 5, seen.shape[-1]), right)
        rates += ((seen[test] @ weights).argmax(-1) == np.arange(5)).mean(1).tolist()
    score, error = np.mean(rates), np.std(rates) / math.sqrt(len(rates))
    print(f"{task}: {score:.3f} ± {1.96 * error:.3f} on {len(made)} blocks")
    assert len(made) >= 300
    assert score + 1.96 * error <= 0.30


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_learner_that_sees_the_options_alone_is_at_chance(task):
    """Learnt from the blocks of one half of a test, tried on one item a block of the other."""
    made = [fresh.supply(task, 12, 6, True).question(n) for n in range(160)]
    right, offered = Counter(), Counter()
    for one in made[::2]:
        right[one.question.answer] += 1
        offered.update(one.options)
    rate = {x: right[x] / max(offered[x], 1) for x in LETTERS}
    hits = sum(
        max(sorted(one.options), key=rate.__getitem__) == one.question.answer for one in made[1::2]
    )
    low, high = wilson(hits / 80, 80, 1.96)
    assert low <= 0.20 <= high
    wholes = [one.question.whole for one in made]
    assert len(set(wholes)) == len(wholes)


# ---------------------------------------------------------------- in the instrument


@pytest.mark.parametrize(
    "more", [{"k": "9..10"}, pytest.param({"options": 5, "task": "both"}, marks=pytest.mark.slow)]
)
def test_fresh_items_keep_the_contract(more):
    check_instrument("c-test", {"form": "fresh", **more}, plays=60)


def test_settings_that_were_there_before_have_the_ids_they_had():
    assert registry.make_instrument("c-test").exercise(1, 0).id == "c-test@2/585d0329/1/0"
    generated = registry.make_instrument("c-test", {"form": "generated"})
    assert generated.exercise(1, 0).id == "c-test@2/4172dcb1/1/0"


def test_the_bank_that_ships_is_called_public():
    tool = registry.make_instrument("c-test", {"form": "generated"})
    assert tool.items == "public"
    assert "is public" in tool.caution
    assert registry.make_instrument("c-test", {"form": "fresh"}).items == "fresh"


def test_the_share_used_is_told_by_k():
    tool = registry.make_instrument("c-test", {"form": "fresh", "k": "9..10"})
    assert "2,460 of k = 9 (2 % used), 5,719 of k = 10 (0.87 % used)" in tool.cautioned(100)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"form": "fresh", "k": "8..10"}, "all are public below k = 9"),
        ({"form": "fresh", "k": "11..12", "options": 5}, "below k = 12 too few series show"),
        ({"form": "fresh", "k": "13"}, "allminds make series --fresh --k 13"),
        ({"form": "generated", "bank": "x"}, "needs form=fresh"),
        ({"form": "fresh", "bank": "no/such/file"}, "cannot read the bank no/such/file"),
    ],
)
def test_what_cannot_be_fresh_is_said(settings, said):
    with pytest.raises(Error, match=said):
        registry.make_instrument("c-test", settings)


# ---------------------------------------------------------------- a private bank


@pytest.fixture(scope="module")
def private(tmp_path_factory):
    out = tmp_path_factory.mktemp("private") / "bank"
    drawn = datasets.private([9, 10], 40, "both", 77, False)
    datasets.write([one.question for one in drawn], out, 77, 26)
    return out / "questions.jsonl"


def test_a_private_bank_is_drawn_from_without_replacement(private):
    tool = registry.make_instrument(
        "c-test", {"form": "fresh", "task": "both", "bank": str(private)}
    )
    again = registry.make_instrument("c-test", tool.settings.model_dump())
    shown = [tool.exercise(3, i).environment.shown for i in range(40)]
    assert sorted(shown) == sorted(json.loads(line)["series"] for line in private.open())
    assert [again.exercise(3, i).environment.shown for i in range(40)] == shown
    with pytest.raises(Error, match=r"there are 20 fresh series of k = (9|10)"):
        tool.exercise(3, 41)


def test_a_bank_that_changed_or_is_public_or_wrong_is_refused(private, tmp_path):
    before = fresh.with_hash(str(private))
    copy = tmp_path / "copy.jsonl"
    copy.write_text(private.read_text() + "\n")
    with pytest.raises(Error, match="is not the one it was"):
        fresh.with_hash(before.replace(str(private), str(copy)))
    row = json.loads(private.read_text().splitlines()[0])
    copy.write_text(json.dumps(row | {"k": 12}) + "\n")
    with pytest.raises(Error, match="line 1 is not a question"):
        fresh.read_bank(str(copy))
    datasets.write(list(bank.shipped()[600:610]), tmp_path / "public", 1, 26)
    with pytest.raises(Error, match=r"10 of the 10 questions .* are public"):
        fresh.read_bank(str(tmp_path / "public" / "questions.jsonl"))
