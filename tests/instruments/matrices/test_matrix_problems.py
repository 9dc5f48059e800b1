"""Problems: exactly one right option, nothing in the options gives it away, all can be seen."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from many import examined
from oracle import second_answers, solve

from allminds.core.errors import Error
from allminds.instruments.matrices.dataset.battery import unfair
from allminds.instruments.matrices.drawing.visibility import visible
from allminds.instruments.matrices.instrument import Matrices
from allminds.instruments.matrices.making import rules
from allminds.instruments.matrices.making import rules as settings
from allminds.instruments.matrices.making.cases import cases
from allminds.instruments.matrices.making.generator import (
    batch,
    coded,
    generate,
    problems,
    supply,
)
from allminds.instruments.matrices.making.panel import ATTRIBUTES, KINDS, Figure, Panel, Problem
from allminds.instruments.matrices.making.rules import decoded, encoded
from allminds.instruments.matrices.making.solver import verify

EIGHT = settings.made(rules=3, candidates=8)


# ---------------------------------------------------------------- right, and only one


def test_400_problems_have_no_second_answer_by_any_rule_of_the_independent_solver():
    """The command of `many` looks at 20,000; each rule can find one: see `test_arrays`."""
    for problem in problems(10, 0, 400):
        assert second_answers(problem.cells[:8], problem.cells[8]) == set()


def test_a_second_answer_is_found_where_there_is_one():
    """Counts (2, 2, 4), (1, 1, 2), (1, 2, ?): 3 is the sum, 2 is double the first."""
    cells = [
        Panel(Figure(("6",), (6,), n, ("red",), (0.0,), (4,), "slots"), None)
        for n in (2, 2, 4, 1, 1, 2, 1, 2, 3)
    ]
    found = second_answers(cells[:8], cells[8])
    assert "double the first (count)" in found
    assert not any(rule.startswith("sum (") for rule in found)


@pytest.mark.slow
def test_of_3000_problems_none_has_a_fault_and_no_blind_shortcut_works():
    faults, entries, _ = examined(11, 3000)
    assert not faults.total(), faults
    assert not unfair(entries)


def test_the_same_with_eight_options():
    for problem in problems(12, 0, 200, EIGHT):
        assert solve(problem.cells[:8], problem.options) == [problem.answer]
        assert len(set(problem.options)) == 8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_every_rule_on_every_attribute_that_can_carry_it(kind, attribute):
    if attribute not in rules.able((kind,)):
        with pytest.raises(Error, match=f"{attribute} cannot carry {kind}"):
            settings.made(rules=1, kinds=[kind], attributes=[attribute])
        return
    asked = settings.made(rules=1, kinds=[kind], attributes=[attribute])
    for problem in problems(13, 0, 12, asked):
        (rule,) = problem.rules
        assert (rule.kind, rule.attribute) == (kind, attribute)
        assert solve(problem.cells[:8], problem.options) == [problem.answer]


def test_a_problem_that_is_spoilt_does_not_pass():
    made = coded(1, 4, settings.DEFAULT)
    right, wrong = made.options[made.answer], made.options[made.answer - 1]
    with pytest.raises(Error, match="that satisfy its rules"):
        verify(made.cells[:8], [right, right, wrong, wrong], 0)
    with pytest.raises(Error, match="that satisfy its rules"):
        verify(made.cells[:8], [wrong] * 4, 0)
    with pytest.raises(Error, match="ambiguous"):
        verify([wrong, right, *made.cells[2:8]], made.options, made.answer)


# ---------------------------------------------------------------- what can be seen


def test_values_that_occur_in_a_matrix_can_be_told_apart_by_the_table():
    for problem in problems(14, 0, 300):
        different = dict.fromkeys(problem.cells)
        assert all(visible(a, b) for a, b in combinations(different, 2)), problem


# ---------------------------------------------------------------- the options


@pytest.mark.parametrize(("count", "asked"), [(1, 4), (2, 4), (3, 4), (3, 8)])
def test_options_are_factorial(count, asked):
    """Every rule splits the options evenly; with three rules and four, any two differ in two."""
    for problem in problems(15, 0, 60, settings.made(rules=count, candidates=asked)):
        options = [encoded(option) for option in problem.options]
        columns = [Counter(values) for values in zip(*options, strict=True)]
        differing = [sorted(column.values()) for column in columns if len(column) > 1]
        expected = [[1, 1, 1, 1]] if count == 1 else [[asked // 2] * 2] * count
        assert differing == expected
        apart = [
            sum(a != b for a, b in zip(one, other, strict=True))
            for one, other in combinations(options, 2)
        ]
        assert (
            set(apart)
            == {(1, 4): {1}, (2, 4): {1, 2}, (3, 4): {2}, (3, 8): {1, 2, 3}}[count, asked]
        )


def test_the_answer_is_anywhere():
    for asked in (settings.DEFAULT, EIGHT):
        answers = batch(16, range(30_000), asked).answers
        share = 1 / asked.candidates
        error = math.sqrt(share * (1 - share) / len(answers))
        shares = np.bincount(answers, minlength=asked.candidates) / len(answers)
        assert np.abs(shares - share).max() < 4 * error


# ---------------------------------------------------------------- balance


def test_every_three_have_each_c_and_kinds_are_even():
    made = batch(17, range(30_000))
    plans = [made.case(n).plan for n in range(len(made))]
    runs = [[len(plan) for plan in plans[n : n + 3]] for n in range(0, 30_000, 3)]
    assert all(sorted(run) == [1, 2, 3] for run in runs)
    assert len({tuple(run) for run in runs}) == 6
    for count in (1, 2, 3):
        some = [plan for plan in plans if len(plan) == count]
        for kind in KINDS:
            shares = np.array([sum(c.kind == kind for c in plan) / count for plan in some])
            error = shares.std() / math.sqrt(len(shares))
            assert abs(shares.mean() - 0.2) < 4 * error


def test_attributes_are_even_within_a_kind_of_one_rule_and_plans_within_kinds():
    made = batch(18, range(30_000), settings.made(rules=1))
    found = Counter(made.case(n).plan for n in range(len(made)))
    for kind in KINDS:
        able = rules.plans((kind,))
        total = sum(found[plan] for plan in able)
        error = math.sqrt((1 - 1 / len(able)) / len(able) / total)
        assert all(abs(found[plan] / total - 1 / len(able)) < 4 * error for plan in able)


def steps_of(asked, count):
    """How often progressions have each step, by attribute."""
    found = {"size": Counter(), "shape": Counter(), "position": Counter()}
    for problem in problems(28, 0, count, asked):
        for rule in problem.rules:
            if rule.layer == "figure" and rule.attribute in found:
                found[rule.attribute][str(rule.parameters["step"])] += 1
    return found


def test_the_ranges_of_progressions_are_reached_evenly():
    """Within four standard errors; four options allow three sides at once 7 % less often."""
    found = steps_of(settings.made(rules=1, kinds="progression"), 4000)
    assert {name: len(steps) for name, steps in found.items()} == {
        "size": 4, "shape": 6, "position": 8,
    }  # fmt: skip
    for name, steps in found.items():
        even = steps.total() / len(steps)
        slack = 4 * math.sqrt(even) + (0.07 * even if name == "shape" else 0)
        assert all(abs(count - even) < slack for count in steps.values()), (name, steps)


def test_with_more_rules_they_are_reached_where_there_is_room():
    found = steps_of(settings.made(kinds="progression"), 3000)
    size, shape, position = found.values()
    assert (size["2"] + size["-2"]) / size.total() > 0.25
    assert (shape["3"] + shape["-3"]) / shape.total() > 0.1
    diagonal = sum(count for step, count in position.items() if "0" not in step)
    assert abs(diagonal / position.total() - 0.5) < 4 * 0.5 / math.sqrt(position.total())


def test_copies_are_alike_or_similar_where_no_rule_turns_or_scales_them():
    found = Counter()
    for problem in problems(29, 0, 600):
        governed = {rule.attribute for rule in problem.rules if rule.layer == "figure"}
        layout = problem.cells[0].figure and problem.cells[0].figure.layout
        if "count" in governed:
            found[bool(governed & {"size", "orientation"}), layout] += 1
        else:
            assert layout != "similar"
    assert set(found) == {(True, "slots"), (False, "slots"), (False, "similar")}
    share = found[False, "similar"] / (found[False, "similar"] + found[False, "slots"])
    assert abs(share - 0.5) < 4 * 0.5 / math.sqrt(found[False, "similar"] + found[False, "slots"])


def test_there_are_5_15_and_35_multisets_of_kinds_and_none_is_left_out():
    for count, groups in ((1, 5), (2, 15), (3, 35)):
        made = cases(count, KINDS, ATTRIBUTES)
        assert len(made.groups) == groups
        kinds = {tuple(sorted(c.kind for c in group[0][0].plan)) for group in made.groups}
        assert len(kinds) == groups


def test_some_kinds_and_attributes_only():
    asked = settings.made(rules=2, kinds="constant, progression", attributes="size,colour")
    for problem in problems(19, 0, 50, asked):
        assert {rule.attribute for rule in problem.rules} == {"size", "colour"}
        assert {rule.kind for rule in problem.rules} <= {"constant", "progression"}


# ---------------------------------------------------------------- alone and in a batch


@limits(max_examples=40)
@given(st.integers(0, 2**63), st.integers(0, 10**9), st.booleans())
def test_a_problem_is_the_same_alone_and_in_a_batch(seed, index, eight):
    asked = EIGHT if eight else settings.DEFAULT
    many = batch(seed, [3, index, index + 1], asked)
    assert many.coded(1) == coded(seed, index, asked)
    assert many[1] == generate(seed, index, asked)
    assert many.hash(1) == many[1].hash


def test_problems_in_chunks_are_those_made_alone():
    found = list(problems(20, 4090, 4100))
    assert [problem.index for problem in found] == list(range(4090, 4100))
    assert found[8] == generate(20, 4098)


# ---------------------------------------------------------------- records and hashes


def test_records_are_json_and_come_back():
    import json

    for problem in problems(21, 0, 30):
        assert Problem.from_record(json.loads(json.dumps(problem.to_record()))) == problem
        assert all(decoded(encoded(cell)) == cell for cell in problem.cells)


def test_the_hash_is_that_of_the_nine_cells():
    one, other = generate(22, 0), generate(22, 3)
    assert one.hash != other.hash
    assert len(one.hash) == 16
    again = Problem(7, 8, one.cells, one.options[::-1], 3 - one.answer, one.rules, one.measures)
    assert again.hash == one.hash


def test_a_narrow_setting_has_so_many_matrices_and_no_more():
    asked = settings.made(rules=1, kinds="progression", attributes="count")
    looks = 8 * 6 + 3 * 5  # shapes and their colours; ellipses, lines and arcs are not white
    assert supply(asked) == 12 * looks * 3 * 2  # arrays, sizes, copies alike or similar
    made = batch(1, range(60_000), asked)
    assert len({made.hash(n) for n in range(len(made))}) == supply(asked)


def test_the_supply_counts_a_matrix_once_for_each_rule_that_makes_it():
    """Colours in a cycle of three, all rows different, are a distribution of three too."""
    both = settings.made(rules=1, kinds="progression,distribution-of-three", attributes="colour")
    one = settings.made(rules=1, kinds="progression", attributes="colour")
    shapes, slender = 8 * 3, 3 * 3  # in three sizes; slender ones have five colours
    assert supply(one) == 4440 * shapes + 1620 * slender
    assert supply(both) == (4440 + 240) * shapes + (1620 + 120) * slender


# ---------------------------------------------------------------- rules as records


def test_distributions_of_three_that_turn_alike_are_bound():
    asked = settings.made(rules=2, kinds="distribution-of-three")
    bound = 0
    for problem in problems(23, 0, 200, asked):
        first, second = problem.rules
        assert not first.bound
        assert second.bound == (first.parameters["turn"] == second.parameters["turn"])
        bound += second.bound
    assert abs(bound / 200 - 0.5) < 4 * math.sqrt(0.25 / 200)


def test_steps_of_progressions_are_told():
    asked = settings.made(
        rules=1, kinds="progression", attributes="size,count,orientation,position"
    )
    for problem in problems(24, 0, 60, asked):
        (rule,) = problem.rules
        before, after = (cell.figure for cell in problem.cells[:2])
        step = rule.parameters["step"]
        if rule.attribute == "size":
            assert after.size[0] - before.size[0] == step
        elif rule.attribute == "count":
            assert after.count - before.count == step
        elif rule.attribute == "orientation":
            period = {"3": 120, "4": 90, "5": 72, "arc": 360}.get(before.shape[0], 180)
            assert (before.angle[0] + step) % period == pytest.approx(after.angle[0])
        else:
            assert before.place[0] + step[0] + 3 * step[1] == after.place[0]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"rules": 4}, "rules must be 1, 2, 3 or 'any', not 4"),
        ({"candidates": 5}, "candidates must be 4 or 8, not 5"),
        ({"candidates": 8}, "candidates=8 needs three rules; set rules=3"),
        ({"candidates": 8, "rules": 2}, "candidates=8 needs three rules"),
        ({"kinds": "constnt"}, "there is no 'constnt'; did you mean 'constant'?"),
        ({"attributes": []}, "choose from shape, size"),
        ({"attributes": 3}, "3 will not do"),
        ({"kinds": "distribution-of-two", "attributes": "count"}, "count cannot carry"),
        ({"kinds": "addition-subtraction", "attributes": "size,colour"}, "size or colour cannot"),
        ({"rule": 2}, "matrices has no 'rule'; did you mean 'rules'?"),
    ],
)
def test_bad_settings_are_told_in_one_line(values, said):
    with pytest.raises(Error) as told:
        settings.made(**values)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_rules_that_do_not_go_together_are_told():
    asked = settings.made(rules=2, attributes="size")
    with pytest.raises(Error, match=r"no 2 rules of .* on size go together"):
        generate(1, 0, asked)


def test_numbers_below_nought_are_told():
    with pytest.raises(Error, match="numbered from 0, not -1"):
        generate(1, -1)
    with pytest.raises(Error, match="numbered from 0, not -5"):
        batch(1, [3, -5])


# ---------------------------------------------------------------- the same, from release to release

GOLDEN = {"any, 4": "622199c501a3d964", "3, 8": "a6365db79ff10250"}


def test_problems_are_those_of_version_3():
    """If this fails, problems have changed: raise the version, and say why in the change log."""
    assert Matrices.version == 3
    found = {}
    for name, asked in (("any, 4", settings.DEFAULT), ("3, 8", EIGHT)):
        made = batch(2026, range(300), asked)
        parts = (made.cells, made.options, made.answers.astype(np.uint16))
        found[name] = hashlib.sha256(b"".join(part.astype("<u2").tobytes() for part in parts))
    assert {name: digest.hexdigest()[:16] for name, digest in found.items()} == GOLDEN
