"""The figures Λ* must show: the authors' released code, ceilings, balance, complexity."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from plainly import evaluate

from allminds import registry
from allminds.core.watch import Watch
from allminds.episode import form

# Mean reward per iteration and its standard error on released patterns, by two programs: the
# authors' with its first map repaired (20,000 episodes), and ours written again independently,
# which is not theirs (5,000 episodes).
REPAIRED = {
    ("random", 5): (-0.00008, 0.00057),
    ("random", 10): (0.00015, 0.00053),
    ("local-search", 5): (0.44518, 0.00082),
    ("local-search", 10): (0.48377, 0.00088),
    ("expert(intercept=false)", 5): (0.88905, 0.00069),
    ("expert(intercept=false)", 10): (0.95313, 0.00024),
}
REWRITTEN = {("q-learning", 5): (0.56213, 0.00045), ("q-learning", 10): (0.39579, 0.00320)}


def scores(minds, episodes, seed=7, **settings):
    found = evaluate("lambda-star", minds, settings=settings, episodes=episodes, seed=seed)
    return {row["mind"]: row for row in found["results"]}


def test_our_copy_of_the_two_programs_figures_is_the_file(reference):
    lines = (reference / "lambda_star_programs.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for program, ours in (("map repaired", REPAIRED), ("rewritten", REWRITTEN)):
        stored = {
            (row["mind"], int(row["rows"])): (float(row["score"]), float(row["stderr"]))
            for row in rows
            if row["program"] == program and row["agents"] == "1" and row["stderr"]
        }
        assert {(mind.partition("(")[0], side): row for (mind, side), row in ours.items()} == stored


@pytest.mark.slow
@pytest.mark.parametrize("side", [5, 10])
def test_released_patterns_agree_with_both_programs(side):
    """Within four combined standard errors: 1 in 16,000 per figure by chance, seed fixed."""
    known = REPAIRED | REWRITTEN
    minds = [mind for mind, n in known if n == side]
    found = scores(minds, 20_000, rows=side, cols=side, iterations=50, patterns="released")
    for mind in minds:
        theirs, error = known[mind, side]
        combined = math.hypot(error, found[mind]["stderr"])
        assert abs(found[mind]["score"] - theirs) < 4 * combined, mind


def test_the_released_bootstrap_gives_the_authors_q_learning():
    """Theirs .326, .334 with its first map repaired, of 2,000 episodes; ours is another rule.

    Four standard errors of the difference; the spread of theirs is taken to be that of ours.
    """
    minds = ["q-learning", "q-learning(bootstrap=released)"]
    usual, theirs = scores(minds, 5_000, patterns="released").values()
    error = theirs["stderr"] * math.sqrt(1 + 5_000 / 2_000)
    for figure in (0.326, 0.334):
        assert abs(theirs["score"] - figure) < 4 * error < 0.03
    assert usual["score"] - theirs["score"] > 0.05


def test_ceilings_with_cyclic_patterns():
    """10x10, 50 iterations, Good's segment a draw (k=any): .919 and .927, each ± .005."""
    found = scores(["expert(intercept=false)", "optimum"], 20_000, k="any")
    assert found["expert(intercept=false)"]["score"] == pytest.approx(0.919, abs=0.005)
    assert found["optimum"]["score"] == pytest.approx(0.927, abs=0.005)


SETTINGS = [
    {},
    {"rows": 5, "cols": 5},
    {"rows": 3, "cols": 8, "iterations": 21},
    {"rows": 4, "cols": 4, "agents": 5},
    {"patterns": "drift"},
    {"patterns": "released", "rows": 7, "cols": 7},
    {"k": "any"},
]


def block(mind, count, seed=5, **settings):
    tool = registry.make_instrument("lambda-star", settings)
    return form(tool, registry.line_up(mind, tool), Watch()).play(seed, 0, count, 0)


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_random_mind_earns_nothing_at_any_k_and_any_step(settings):
    """|mean| < 4.5 standard errors at every K and step: under 1 in 1,000 for all of them."""
    played = block("random", 22_000, **settings)
    score, k = played.score.mean(axis=1), played.complexity["K"]
    for value in np.unique(k):
        here = score[k == value]
        if len(here) > 50:
            error = here.std(ddof=1) / math.sqrt(len(here))
            assert abs(here.mean()) < 4.5 * error, value
    steps, agents = len(played.curve), played.score.shape[1]
    per_step = played.curve / (22_000 * agents)
    error = 1.0 / math.sqrt(22_000)  # a reward's deviation is below 1 on any torus
    assert np.abs(per_step).max() < 4.5 * error
    assert steps == settings.get("iterations", 50)


@pytest.mark.parametrize("settings", SETTINGS)
def test_nobody_beats_the_optimum_in_any_episode(settings):
    best = block("optimum", 1_500, **settings).score
    minds = [
        "random",
        "local-search",
        "expert",
        "expert(intercept=false)",
        "q-learning(sessions=20)",
    ]
    beaten = 0
    for mind in minds:
        score = block(mind, 1_500, **settings).score
        assert (score <= best).all(), mind
        assert (np.abs(score) <= 1).all()
        beaten += (score < best).any()
    assert beaten == len(minds)


def test_the_expert_is_no_ceiling():
    """It is beaten in 12-27 % of episodes, with interception and without, on all patterns."""
    for settings in ({"k": "any"}, {"rows": 5, "cols": 5}, {"patterns": "drift", "k": "any"}):
        best = block("optimum", 10_000, **settings).score
        for expert in ("expert", "expert(intercept=false)"):
            assert 0.115 < (block(expert, 10_000, **settings).score < best).mean() < 0.28


def test_local_search_falls_as_k_rises_from_4_on():
    """5x5: mean scores by K, 5,000 exercises each (standard error .0014)."""
    played = block("local-search", 110_000, seed=3, rows=5, cols=5)
    k, score = played.complexity["K"], played.score[:, 0]
    means = np.array([score[k == value].mean() for value in range(4, 24)])
    assert (np.diff(means) < 4 * 0.0014 * math.sqrt(2)).all()
    assert means[0] - means[-1] > 0.2
    bands = means.reshape(5, 4).mean(axis=1)
    assert (np.diff(bands) < 0).all()


def test_minds_start_on_different_uniform_cells():
    """Each of 12 cells over 12,000 starts: chi-square on 11 degrees, 1 in 1,000 above 31.3."""
    from allminds.instruments.lambda_star.fast.forms import make_worlds

    tool = registry.make_instrument("lambda-star", {"rows": 3, "cols": 4, "agents": 12})
    here = make_worlds(tool, 3, 0, 12_800)
    cells = here.ways.start_row.astype(int) * 4 + here.ways.start_col
    assert (np.sort(cells, axis=1) == np.arange(12)[None, :, None]).all()
    for slot in (0, 5, 11):
        seen = np.bincount(cells[:, slot].reshape(-1), minlength=12)
        assert ((seen - 12_800 / 12) ** 2 / (12_800 / 12)).sum() < 31.3


def test_complexity_columns():
    exercise = registry.make_instrument("lambda-star", {"rows": 5, "cols": 5}).exercise(1, 10)
    columns = exercise.environment.complexity
    assert columns["H"] == math.log2(25 * 24)
    assert columns["bits"] == columns["H"] + columns["K"] * math.log2(50)
    assert set(columns) == {"K", "H", "bits", "segment", "cells"}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rows": 1, "cols": 1}, "rows must be greater than or equal to 2"),
        ({"rows": 2, "cols": 2, "agents": 5}, "5 minds do not fit on 2x2 = 4 cells"),
        ({"iterations": 0}, "iterations must be greater than or equal to 1"),
        ({"k": "40"}, "has K = 40; K runs from 2 to"),
        ({"k": "20..30"}, "has K = 2"),
        ({"k": "5..2"}, "'5..2' is empty"),
        ({"k": "some"}, "'some' is not a value"),
        ({"patterns": "round"}, "patterns must be 'cyclic', 'drift' or 'released'"),
        ({"patterns": "released", "rows": 4, "cols": 5}, "needs a square grid"),
        ({"agents": "many"}, "agents must be a valid integer, not 'many'"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    from allminds.core.errors import Error

    with pytest.raises(Error) as caught:
        registry.make_instrument("lambda-star", settings)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
