"""People in a comparison: a sample of people, crossed with items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from allminds.inference import Rule
from allminds.statistics.comparison import compare
from allminds.statistics.comparison.people import people_difference, pooled


def table(people, program, items=20):
    """Results of people (name -> scores by item) and of one program."""
    rows = [
        {"exercise": f"e{i}", "mind": name, "kind": "person", "person": name, "score": float(of[i])}
        for name, of in people.items()
        for i in range(items)
    ]
    rows += [
        {
            "exercise": f"e{i}",
            "mind": "program",
            "kind": "",
            "person": None,
            "score": float(program[i]),
        }
        for i in range(items)
    ]
    return pd.DataFrame(rows).assign(status="ok")


def test_one_always_right_and_one_always_wrong_say_nothing_of_people():
    found = compare(
        table({"ann": [1] * 20, "bob": [0] * 20}, [0, 1] * 10),
        np.random.default_rng(1),
    )
    (pair,) = found.differences
    assert (pair.first, pair.second) == ("people", "program")
    assert pair.verdict == "undecided"
    assert pair.interval[1] - pair.interval[0] > 1.5
    people = next(one for one in found.standings if one.mind == "people")
    assert people.found.score == pytest.approx(0.5)
    assert people.found.ci95[1] - people.found.ci95[0] > 0.9


def test_one_person_is_not_ranked_before_a_program_and_people_have_no_reliability():
    found = compare(table({"ann": [1] * 20}, [0] * 20), np.random.default_rng(1))
    assert {one.mind: one.ranks for one in found.standings} == {"people": (1, 2), "program": (1, 2)}
    assert found.sizes == (None,)
    assert found.reliability.generalisability is None
    assert any("Reliability leaves out people" in note for note in found.notes)


def test_people_who_are_surely_better_have_a_place_of_their_own():
    rng = np.random.default_rng(3)
    hits = {f"p{n}": rng.random(20) < 0.9 for n in range(20)}
    found = compare(table(hits, rng.random(20) < 0.3), np.random.default_rng(1))
    assert [(one.mind, one.ranks) for one in found.standings] == [
        ("people", (1, 1)),
        ("program", (2, 2)),
    ]


def test_many_people_who_are_better_are_different_and_the_words_say_so():
    rng = np.random.default_rng(3)
    hits = {f"p{n}": rng.random(20) < 0.9 for n in range(20)}
    found = compare(table(hits, rng.random(20) < 0.3), np.random.default_rng(1))
    (pair,) = found.differences
    assert pair.verdict == "different"
    assert pair.mean > 0.3
    assert pair.units == (20, 20)  # people and items
    assert any("log odds" in note for note in found.notes)


@pytest.mark.parametrize("people", [3, 8])
def test_people_like_a_program_are_seldom_called_different(people):
    """Family of one pair, people differ (sd .15): false words in at most 5 % (here 60 tables)."""
    rng = np.random.default_rng(people)
    wrong = 0
    for _ in range(60):
        skill = np.clip(rng.normal(0.5, 0.15, people), 0, 1)
        made = {f"p{n}": rng.random(10) < p for n, p in enumerate(skill)}
        frame = pooled(table(made, rng.random(10) < 0.5, 10))
        pair, _ = people_difference(frame, ("people", "program"), Rule(low=0.0), 0.05)
        wrong += pair.verdict != "undecided"
    assert wrong <= 7  # 98 % of binomial(60, .05) lie at or below


@pytest.mark.parametrize("name", ["c-test", "matrices"])
def test_a_difference_is_that_of_the_scores_beside_it(name):
    """Weighted (r̃) or over strata: `compare` compares what it prints, and what `evaluate` does."""
    from allminds import registry

    tool, rng = registry.make_instrument(name), np.random.default_rng(8)
    strata = tool.rule().strata
    people = {f"p{n}": rng.random(20) < 0.6 for n in range(5)}
    frame = table(people, rng.random(20) < 0.5)
    level = {f"e{i}": float(value) for i, value in enumerate(rng.integers(2, 6, 20))}
    frame[strata] = frame["exercise"].map(level)
    found = compare(frame, np.random.default_rng(1), tool=tool)
    score = {one.mind: one.found.score for one in found.standings}
    (pair,) = found.differences
    assert pair.mean == pytest.approx(score["people"] - score["program"])
    plain = frame.groupby(frame["mind"] == "program")["score"].mean()
    assert pair.mean != pytest.approx(plain[False] - plain[True], abs=1e-4), "else nothing is shown"
    assert not any("plain means" in note for note in found.notes)
