"""The anytime test and the staircase: how ξ moves, what is used, and what comes of it."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from plainly import evaluate

from allminds import registry
from allminds.contracts import STATUSES, Failure, MindBase
from allminds.core.blocks import Block, block_difference
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.episode import Plain, play_on
from allminds.inference.intervals import t_interval
from allminds.inference.words import notes
from allminds.runs import engine
from allminds.runs.plan import Plan
from allminds.runs.replay import replayed
from allminds.runs.run import How, run
from allminds.statistics.calibration.figures import simulate_staircase

STAIRCASE = {"time": 200, "steps": 20}


def tool_of(name, **settings):
    return registry.make_instrument(name, settings)


def series(tool, who, exercises, seed=1):
    return play_on(tool, registry.line_up(who, tool), seed, 0, exercises)


def path(played):
    return [exercise.environment.complexity["xi"] for exercise, _ in played]


# ---------------------------------------------------------------- how ξ moves


@pytest.mark.parametrize("who", ["random", "q-learning", "expert"])
def test_the_anytime_test_goes_as_it_is_defined(who):
    tool = tool_of("lambda-anytime", time=1500)
    played = series(tool, who, 2 * tool.sitting)
    for sitting in (played[: tool.sitting], played[tool.sitting :]):
        xi, upsilon, tau = 1.0, 0.0, 20.0
        for exercise, record in sitting:
            seen = exercise.environment.complexity
            assert seen["LZ"] == int(seen["xi"])
            assert seen["xi"] == pytest.approx(xi, abs=1e-12)
            assert seen["upsilon"] == pytest.approx(upsilon, abs=1e-12)
            assert exercise.environment.steps == int(tau) or exercise is sitting[-1][0]
            upsilon += xi * record.score[0]
            xi = min(40, max(1, xi + xi * record.score[0] / 2))
            tau = min(2000, 1.5 * tau)
        assert sum(exercise.environment.steps for exercise, _ in sitting) == 1500


def test_exercises_grow_to_2000_steps_and_no_further():
    durations = tool_of("lambda-anytime", time=10_000).durations
    assert durations[:6] == (20, 30, 45, 67, 101, 151)
    assert max(durations) == 2000
    assert sum(durations) == 10_000


@pytest.mark.parametrize("who", ["random", "q-learning", "expert"])
def test_the_staircase_goes_as_it_is_defined(who):
    tool = tool_of("lambda-staircase", **STAIRCASE)
    played = series(tool, who, tool.sitting)
    xi = 1.0
    for exercise, record in played:
        assert exercise.environment.complexity["xi"] == pytest.approx(xi, abs=1e-12)
        assert exercise.environment.complexity["LZ"] == int(xi + 1e-9)
        assert exercise.environment.steps == 20
        xi = max(1, xi + 2 * (record.score[0] - 0.5))


def test_a_mind_that_never_fails_stops_at_40():
    tool = tool_of("lambda-staircase", time=1800, steps=20)
    assert path(series(tool, "optimum", 90))[-1] == 40


def test_no_environment_is_used_twice_in_an_administration():
    tool = tool_of("lambda-staircase", time=400, steps=2)
    played = series(tool, "random", tool.sitting)
    worlds = [(e.environment.space, e.environment.pattern) for e, _ in played]
    assert len(set(worlds)) == len(worlds) == 200


def test_xi_goes_up_by_1_where_none_is_unused():
    """With 2 cells there is one space; its patterns of one phrase are 0 and 1."""
    tool = tool_of("lambda-staircase", time=30, steps=2, cells=2)
    phrases = [e.environment.complexity["LZ"] for e, _ in series(tool, "random", 15)]
    assert phrases.count(1) == 2
    assert max(phrases) > 1


# ---------------------------------------------------------------- history


def test_an_exercise_depends_on_the_history_of_its_own_administration():
    tool = tool_of("lambda-staircase", **STAIRCASE)
    with pytest.raises(Error, match="number 3 of its administration and needs the 3 records"):
        tool.exercise(1, 13)
    good, bad = series(tool, "expert", 3), series(tool, "random", 3)
    assert path(good)[0] == path(bad)[0] == 1
    assert path(good)[2] > path(bad)[2]
    assert tool.exercise(1, 10).environment.complexity["xi"] == 1  # the next begins anew


def test_a_block_that_begins_within_an_administration_is_the_same():
    tool = tool_of("lambda-staircase", **STAIRCASE)
    way = Plain(tool, registry.line_up("q-learning", tool), Watch())
    whole = way.play(1, 0, 25, 0)
    part = Block.join([way.play(1, 0, 7, 0), way.play(1, 7, 13, 0), way.play(1, 13, 25, 0)])
    assert block_difference(whole, part) == ""


def test_a_task_never_splits_an_administration():
    sitting = engine.Sitting("lambda-staircase", tuple(STAIRCASE.items()), ("random",), 1)
    assert list(engine.tasks(sitting, [(0, 25)])) == [(0, 10), (10, 20), (20, 25)]


def test_any_number_of_jobs_gives_the_same():
    found = [
        evaluate("lambda-staircase", ["q-learning"], settings=STAIRCASE, episodes=30,
                 how=How(jobs=jobs))["results"][0]
        for jobs in (1, 2)
    ]  # fmt: skip
    for result in found:
        del result["seconds"]
    assert found[0] == found[1]
    assert found[0]["normalised"] is None


def test_a_run_is_summed_up_and_replays(tmp_path):
    test = {"instrument": "lambda-staircase", "minds": ["q-learning"], "episodes": 25}
    plan = Plan(tests=[test | {"settings": STAIRCASE}], seed=3)
    folder = run(plan, tmp_path / "run", How(jobs=1))
    rows = folder.records()
    tool = tool_of("lambda-staircase", **STAIRCASE)
    assert rows["xi"].tolist() == path(series(tool, "q-learning", 25, seed=3))
    alone = evaluate("lambda-staircase", ["q-learning"], settings=STAIRCASE, episodes=25, seed=3)
    assert folder.summary()["tests"][0]["results"][0]["score"] == alone["results"][0]["score"]
    again = replayed(folder, 14, None, 0)
    assert again.exercise.environment.complexity["xi"] == rows["xi"][14]
    assert again.record.score[0] == rows["score"][14]


# ---------------------------------------------------------------- what comes of it


def block(xi, score, status=None):
    n = len(xi)
    status = np.zeros((n, 1), np.int8) if status is None else np.array(status, np.int8)[:, None]
    return Block(
        first=0, complexity={"xi": np.array(xi, float)}, score=np.array(score, float)[:, None],
        learning=np.full((n, 1), np.nan), status=status, steps=np.full(n, 20, np.int32),
        curve=np.zeros(0), actions=np.zeros((0, 0, 1), np.int16),
    )  # fmt: skip


def test_the_anytime_score_is_upsilon_over_environments_used():
    tally = tool_of("lambda-anytime", time=50).tally()
    assert tally.rule.sitting == 2
    tally.add(block([1], [0.5]))
    assert tally.estimate().score == 0.5  # read in the midst of it
    assert tally.estimate().ci95 is None
    tally.add(block([1.25, 1, 2], [1, -1, 0.25]))
    figures = [(0.5 + 1.25) / 2, (-1 + 0.5) / 2]
    found = tally.estimate()
    assert found.score == pytest.approx(np.mean(figures))
    assert found.stderr == pytest.approx(np.std(figures, ddof=1) / 2**0.5)
    assert found.ci95 == pytest.approx(t_interval(found.score, found.stderr, 1))
    assert (found.episodes, found.units, found.clusters) == (4, 2, 2)


def test_a_failure_counts_with_the_score_it_was_given():
    tally = tool_of("lambda-anytime", time=50).tally()
    tally.add(block([1, 2], [0.5, -0.75], [0, STATUSES.index("timeout")]))
    found = tally.estimate()
    assert (found.score, found.failed, found.episodes, found.units) == (-0.5, 1, 2, 1)
    assert not found.ranked


def test_steps_that_are_not_made_count_0():
    """A mind that comes to the end of its time is no failure: R is over all steps."""
    tool = tool_of("lambda-anytime", time=50)
    ((_, record),) = series(tool, "random", 1)
    short = replace(record, rewards=record.rewards[:5])
    assert tool._reward(short) == pytest.approx(sum(one for (one,) in record.rewards[:5]) / 20)


def test_a_long_administration_has_an_error_by_batch_means():
    tally = tool_of("lambda-staircase", time=100_000).tally()
    rng = np.random.default_rng(1)
    xi = 5 + rng.normal(size=1000)
    tally.add(block(xi, np.zeros(1000)))
    found = tally.estimate()
    means = xi[500:].reshape(5, 100).mean(axis=1)
    assert found.score == pytest.approx(xi[500:].mean())
    assert found.stderr == pytest.approx(means.std(ddof=1) / 5**0.5)
    assert found.ci95 == pytest.approx(t_interval(found.score, found.stderr, 4))
    assert (found.episodes, found.units) == (1000, 1)


def test_a_short_administration_cannot_tell_its_own_error():
    tally = tool_of("lambda-staircase", time=4000).tally()
    xi = 5 + np.random.default_rng(1).normal(size=40)
    tally.add(block(xi, np.zeros(40)))
    found = tally.estimate()
    assert found.score == pytest.approx(xi[20:].mean())
    assert found.stderr is found.ci95 is None
    assert (found.episodes, found.units) == (40, 1)
    tally.add(block(xi + 1, np.zeros(40)))
    found = tally.estimate()
    assert found.units == 2
    assert found.stderr == pytest.approx(0.5)  # levels 1 apart: √(1/2) / √2
    assert found.ci95 == pytest.approx(t_interval(found.score, 0.5, 1))


def test_a_table_says_why_a_level_has_no_interval():
    found = evaluate("lambda-staircase", ["random"], settings=STAIRCASE, episodes=10)
    (row,) = [row for row in found["results"] if row["mind"] == "random"]
    assert row["ci95"] is None
    assert row["units"] == 1
    assert any(
        said.startswith("random has no interval: one administration cannot tell its own error")
        for said in notes([row])
    )


def test_administrations_that_are_alike_have_no_interval_of_no_width():
    tally = tool_of("lambda-staircase", time=1000).tally()
    for _ in range(3):
        tally.add(block(np.full(10, 40.0), np.ones(10)))
    found = tally.estimate()
    assert (found.score, found.units, found.ci95) == (40.0, 3, None)
    tally.add(block(np.linspace(1, 9, 10), np.ones(10)))
    assert tally.estimate().units == 4
    assert tally.estimate().ci95 is None  # three of four are alike


@pytest.mark.parametrize("memory", [5, 20])
def test_the_error_of_a_long_staircase_holds_the_level(memory):
    """At most 7 % of 400 intervals miss, give or take 4 standard errors."""
    wrong, total = simulate_staircase(np.random.default_rng(2), 400, exercises=1000, memory=memory)
    assert total == 400
    assert wrong / total < 0.07 + 4 * np.sqrt(0.07 * 0.93 / total)


def test_nothing_yet_is_nothing():
    assert tool_of("lambda-staircase").tally().estimate().score is None


class Fails(MindBase):
    """Plays three steps, then refuses."""

    def begin(self, task):
        self.left = 3

    def act(self, observation, random):
        self.left -= 1
        return Failure("refused") if self.left < 0 else 0


def test_failing_gains_nothing():
    tool = tool_of("lambda-staircase", **STAIRCASE)
    played = series(tool, Fails, 6)
    assert {record.status for _, record in played} == {("refused",)}
    assert set(path(played)) == {1.0}  # three rewards in twenty steps lift nobody


# ---------------------------------------------------------------- the order of minds

MINDS = ("random", "q-learning", "model-based", "expert")
TIME = 4000


@functools.cache
def staircase(who, administrations=3):
    tool = tool_of("lambda-staircase", time=TIME)
    way = Plain(tool, registry.line_up(who, tool), Watch())
    tally, paths = tool.tally(), []
    for n in range(administrations):
        part = way.play(7, n * tool.sitting, (n + 1) * tool.sitting, 0)
        tally.add(part)
        paths.append(part.complexity["xi"])
    return tally.estimate(), np.array(paths)


@pytest.mark.slow
def test_the_staircase_ranks_minds_with_intervals_apart():
    """Random and expert stay at the ends of the scale and have no interval; their levels do."""
    ends = {}
    for who in MINDS:
        found = staircase(who)[0]
        ends[who] = found.ci95 or (found.score, found.score)
    for worse, better in itertools.pairwise(MINDS):
        assert ends[worse][1] < ends[better][0], (worse, better)


@pytest.mark.slow
def test_a_tenth_of_the_time_gives_the_same_order():
    from scipy.stats import kendalltau

    whole = [staircase(who)[0].score for who in MINDS]
    tenth = TIME // 100 // 10
    early = [staircase(who)[1][:, tenth // 2 : tenth].mean() for who in MINDS]
    assert kendalltau(whole, early).statistic == 1.0


@pytest.mark.slow
def test_the_anytime_test_ranks_them_too():
    tool = tool_of("lambda-anytime", time=2500)
    scores = []
    for who in MINDS:
        tally = tool.tally()
        tally.add(Plain(tool, registry.line_up(who, tool), Watch()).play(7, 0, 4 * tool.sitting, 0))
        scores.append(tally.estimate().score)
    assert scores == sorted(scores)
    assert abs(scores[0]) < 0.3
