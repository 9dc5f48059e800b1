"""The fair ceiling of Λ, against a program that knows nothing of beliefs, and against minds."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import allminds
from allminds import registry
from allminds.core.errors import Error
from allminds.core.groups import Committee, Team
from allminds.instruments.lambda_.bayes import Beliefs, Patterns, spaces

SMALL = {"form": "general", "cells": 3, "actions": 2}


# ------------------------------------------------------------ brute force, written independently


def prefix_chance(digits, actions, stop):
    """Add up the patterns, one by one, whose repetition begins with these digits."""
    t = len(digits)
    total = (1 - stop) ** t * actions**-t  # longer patterns
    for size in range(1, t + 1):
        for pattern in itertools.product(range(actions), repeat=size):
            if all(digits[n] == pattern[n % size] for n in range(t)):
                total += stop * (1 - stop) ** (size - 1) * actions**-size
    return total


def reaches_all(to, start):
    found = {start}
    for _ in to:
        found |= {goal for cell in found for goal in to[cell]}
    return len(found) == len(to)


def brute_force(cells, actions, steps, disabled=0.0, starts=()):
    """Expectimax over histories: all spaces, patterns, starts, lots and both Goods, one by one."""
    starts = starts or list(itertools.permutations(range(cells), 2))
    hypotheses = []
    for goals in itertools.product(range(cells), repeat=cells * (actions - 1)):
        to = [
            (cell, *goals[cell * (actions - 1) : (cell + 1) * (actions - 1)])
            for cell in range(cells)
        ]
        if not all(reaches_all(to, cell) for cell in range(cells)):
            continue
        chance = 1.0
        for cell in range(cells):
            for goal in to[cell][1:]:
                chance *= (1 - disabled) / cells + (disabled if goal == cell else 0.0)
        hypotheses.append((chance, to))
    whole = sum(chance for chance, _ in hypotheses)

    @functools.cache
    def prefix(digits):
        return prefix_chance(digits, actions, 1 / cells)

    @functools.cache
    def next_digits(digits):
        """The digits that may come next, each with its chance."""
        longer = [(*digits, digit) for digit in range(actions)]
        return [(digit, prefix(one) / prefix(digits), one) for digit, one in enumerate(longer)]

    def parts(to, good, evil, digit):
        to_good, to_evil = to[good][digit], to[evil][digit]
        if to_good != to_evil:
            return [(1.0, to_good, to_evil)]
        if to_good == good or to_evil == evil:
            return [(1.0, good, evil)]
        return [(0.5, to_good, evil), (0.5, good, to_evil)]

    def best(worlds, cell, left):
        """Worlds: (weight, space, digits so far, Good, Evil, whether Good is the first symbol)."""
        gained, seen = {}, {}
        for goal in set(worlds[0][1][cell]):
            gained[goal], seen[goal] = 0.0, {}
        for weight, to, digits, good, evil, first in worlds:
            for digit, chance, longer in next_digits(digits):
                for share, now_good, now_evil in parts(to, good, evil, digit):
                    own = weight * chance * share
                    symbols = (now_good, now_evil) if first else (now_evil, now_good)
                    world = (own, to, longer, now_good, now_evil, first)
                    for goal, views in seen.items():
                        reward = (goal == now_good) - (goal == now_evil)
                        gained[goal] += own * reward
                        if left > 1:
                            view = (symbols, to[goal], reward)
                            views.setdefault(view, []).append(world)
        return max(
            gained[goal] + sum(best(one, goal, left - 1) for one in views.values())
            for goal, views in seen.items()
        )

    total = 0.0
    for cell in range(cells):
        views = {}
        for chance, to in hypotheses:
            for good, evil in starts:
                for first in (True, False):
                    symbols = (good, evil) if first else (evil, good)
                    weight = chance / whole / len(starts) / cells / 2
                    views.setdefault((symbols, to[cell]), []).append(
                        (weight, to, (), good, evil, first)
                    )
        total += sum(best(worlds, cell, steps) for worlds in views.values())
    return total / steps


@pytest.mark.parametrize(
    ("cells", "actions", "steps", "disabled"),
    [
        (2, 2, 1, 0.0),
        (2, 2, 4, 0.0),
        (3, 2, 2, 0.0),
        (3, 2, 3, 0.25),
        (3, 2, 4, 0.0),
        (3, 3, 1, 0.0),
        (3, 3, 2, 0.3),
        pytest.param(3, 3, 3, 0.0, marks=pytest.mark.slow),
    ],
)
def test_it_equals_expectimax_over_all_histories(cells, actions, steps, disabled):
    found = Beliefs(cells, actions, steps, disabled).score()
    assert found == pytest.approx(brute_force(cells, actions, steps, disabled), abs=1e-12)


@pytest.mark.slow
def test_it_equals_expectimax_at_four_steps_with_three_actions():
    """Symbols begin in cells 0 and 1: names of cells do not matter, as the tests above show."""
    found = brute_force(3, 3, 4, starts=[(0, 1), (1, 0)])
    assert Beliefs(3, 3, 4).score() == pytest.approx(found, abs=1e-12)


def test_chances_of_patterns_are_those_of_the_law():
    patterns = Patterns(3, 3, 6)
    for digits in itertools.product(range(3), repeat=4):
        number = patterns.first
        for digit in digits:
            number = patterns.after(number)[digit]
        assert patterns.chance[number] == pytest.approx(prefix_chance(digits, 3, 1 / 3), rel=1e-12)


def test_spaces_have_the_chances_of_the_generator():
    """Drawn 3,000 times; χ² with 1 - p below 1e-6."""
    from scipy.stats import chisquare

    tool = registry.make_instrument("lambda", {**SMALL, "disabled": 0.3})
    law = spaces(3, 2, 0.3)
    whole = sum(law.values())
    drawn = dict.fromkeys(law, 0)
    for i in range(3000):
        space = tool.exercise(7, i).environment.space
        drawn[tuple(space.reachable(cell) for cell in range(3))] += 1
    expected = [3000 * chance / whole for chance in law.values()]
    assert chisquare(list(drawn.values()), expected).pvalue > 1e-6


# ------------------------------------------------------------ what it says of minds

FIGURES = {"steps=20": (SMALL, 0.836), "steps=5": ({**SMALL, "actions": 3, "steps": 5}, 0.486)}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_no_fair_mind_beats_it_and_the_optimal_mind_reaches_it(name):
    """Paired on 500 exercises; each claim fails by chance with probability 1e-5 or less."""
    settings, printed = FIGURES[name]
    tool = registry.make_instrument("lambda", settings)
    known = tool.fair_ceiling().score
    assert round(known, 3) == printed
    alone = {
        mind
        for mind, maker in registry.minds("lambda").items()
        if mind not in ("human", "llm", "policy", "program")
        and not (isinstance(maker, type) and issubclass(maker, Committee | Team))
    }
    fair = [mind for mind in alone if registry.subject(mind, tool).traits.sees == "own"]
    assert {"random", "q-learning", "sarsa", "q-lambda", "model-based", "bayes-optimal"} <= set(
        fair
    )
    scores = allminds.evaluate("lambda", fair, settings=settings, episodes=500, ends=False).wide()
    best = scores.loc["bayes-optimal"].to_numpy()
    error = best.std(ddof=1) / math.sqrt(len(best))
    assert abs(best.mean() - known) < 4.4 * error
    for mind in set(fair) - {"bayes-optimal"}:
        more = scores.loc[mind].to_numpy() - best
        assert more.mean() < 4.3 * more.std(ddof=1) / math.sqrt(len(more)), mind


def test_the_number_of_actions_may_be_drawn_too():
    """It is drawn with the space; the mean over 20,000 exercises agrees to 4.4 errors."""
    settings = {"form": "general", "cells": 3, "steps": 3}
    known = registry.make_instrument("lambda", settings).fair_ceiling().score
    found = allminds.evaluate(
        "lambda", ["bayes-optimal"], settings=settings, episodes=4000, ends=False
    )
    scores = found.wide().to_numpy()[0]
    assert abs(scores.mean() - known) < 4.4 * scores.std() / math.sqrt(len(scores))
    assert abs(known - Beliefs(3, 3, 3).score()) > 1e-3  # a mixture, not one of its parts


def test_more_steps_never_lower_it():
    values = [Beliefs(3, 2, steps).score() for steps in range(1, 11)]
    assert values[0] == 0.0
    assert np.all(np.diff(values) > 0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "form=general with cells=2 or cells=3 only"),
        ({"form": "general"}, "cells=2 or cells=3 only"),
        ({"form": "general", "cells": 3}, "up to 6 steps (up to 8 if asked for), not 20"),
        ({**SMALL, "rewards": "trail"}, "rewards=position only, not trail"),
        ({**SMALL, "observation": "adjacent"}, "observation=full only, not adjacent"),
        ({**SMALL, "agents": 2}, "agents=1 only, not 2"),
        ({"form": "given", "space": "1+|1-", "pattern": "01"}, "form=given has no chances"),
    ],
)
def test_where_it_is_not_computed_the_reason_is_said(settings, said):
    tool = registry.make_instrument("lambda", settings)
    score, reason = tool.fair_ceiling()
    assert score is None
    assert said in reason
    if "asked for" not in said:
        with pytest.raises(Error, match="bayes-optimal: "):
            registry.line_up("bayes-optimal", tool)


def test_tables_and_pages_have_it_where_it_is_known():
    settings = {**SMALL, "steps": 4}
    found = allminds.evaluate("lambda", ["random"], settings=settings, episodes=20)
    assert found["fair_ceiling"] == pytest.approx(0.3680555555555555, abs=1e-12)
    line = next(line for line in str(found).split("\n") if "fair ceiling" in line)
    assert line.split()[:4] == ["fair", "ceiling", "0.368", "computed"]
    assert "fair ceiling</th>" in found._repr_html_()
    assert "is 0.368." in str(allminds.describe("lambda", settings))
    without = allminds.evaluate("lambda", ["random"], episodes=7)
    assert "fair_ceiling" not in without.summary
    assert "fair ceiling" not in str(without)


def test_the_report_has_it(tmp_path):
    found = allminds.evaluate("lambda", ["random"], settings={**SMALL, "steps": 4}, episodes=20)
    page = allminds.report(found, tmp_path / "page.html").read_text()
    assert "fair ceiling<small" in page
    assert "0.368" in page


def test_a_kept_figure_that_cannot_be_read_is_computed_again(tmp_path, monkeypatch):
    from allminds.instruments.lambda_ import bayes

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bayes._kept.cache_clear()
    first = bayes._kept(2, 2, 5, 0.0)
    (path,) = (tmp_path / "allminds" / "fair-ceilings").iterdir()
    assert float(path.read_text()) == first
    path.write_text("no figure")
    bayes._kept.cache_clear()
    assert bayes._kept(2, 2, 5, 0.0) == first
    bayes._kept.cache_clear()
