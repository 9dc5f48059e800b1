"""Long runs: quick tasks make one part, nothing played is lost, and summaries stay small."""

from __future__ import annotations

import pytest

import allminds as am
from allminds.inference import tally
from allminds.runs import engine, plan, resolve
from allminds.runs.summary import summarise

PLAN = am.Plan(tests=[am.Test(instrument="lambda-star", minds=["local-search"], episodes=600)])


@pytest.fixture
def quick_tasks(monkeypatch):
    """Tasks of 16 exercises, as if these were the largest there are."""
    monkeypatch.setattr(engine, "BLOCK", 16)
    monkeypatch.setattr(engine, "LARGEST", 16)


def files(folder):
    return sorted(path.name for path in (folder.path / "records").iterdir())


def test_quick_tasks_are_written_as_one_part_with_the_same_records(
    quick_tasks, monkeypatch, tmp_path
):
    merged = am.run(PLAN, tmp_path / "merged", am.How(jobs=1))
    monkeypatch.setattr(engine, "MERGED", 1)
    single = am.run(PLAN, tmp_path / "single", am.How(jobs=1))
    assert (len(files(merged)), len(files(single))) == (3, 38)
    assert merged.records().equals(single.records())
    assert merged.traces().equals(single.traces())
    totals = [one.curves().groupby(["mind", "step"]).sum() for one in (merged, single)]
    assert totals[0].equals(totals[1])


def test_what_waits_to_be_written_is_written_if_the_run_breaks_off(quick_tasks, tmp_path):
    def stop(what, done, total):
        if done >= 5 * 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        am.run(PLAN, tmp_path / "broken", am.How(jobs=1, progress=stop))
    broken = am.RunFolder.open(tmp_path / "broken")
    assert files(broken) == ["part-000-000-000000000000-000000000080.parquet"]
    whole = am.run(PLAN, tmp_path / "whole", am.How(jobs=1))
    assert am.resume(broken).records().equals(whole.records())


def test_slow_tasks_are_written_one_by_one():
    kinds = [engine.Sitting("lambda-star", (), (who,), 1) for who in ("local-search", "q-learning")]
    assert [one.merged for one in kinds] == [engine.MERGED, 1]


# ---------------------------------------------------------------- summaries in flat memory


@pytest.fixture
def few_plays(monkeypatch):
    """Count plays beyond 100, and let floor and ceiling play 120 exercises."""
    monkeypatch.setattr(tally, "MOST", 100)
    for module in (plan, resolve):
        monkeypatch.setattr(module, "MOST_ENDS", 120)
    monkeypatch.setattr(plan, "PIECES", 4)


def figures(summary):
    """All rows of a test by name, without the seconds."""
    (test,) = summary["tests"]
    return {row["mind"]: {**row, "seconds": 0} for row in test["results"]}


def long_plan(full=False):
    small = {"rows": 5, "cols": 5, "iterations": 10}
    test = am.Test(instrument="lambda-star", minds=["local-search"], episodes=600, settings=small)
    return resolve.Resolved.of(am.Plan(tests=[test])).with_ends(full)


def test_a_long_run_has_the_summary_of_all_its_plays(quick_tasks, few_plays, monkeypatch, tmp_path):
    sizes, count = [], tally.counted
    monkeypatch.setattr(tally, "counted", lambda parts: sizes.append(len(parts)) or count(parts))
    counted = figures(am.run(long_plan(), tmp_path / "counted", am.How(jobs=1)).summary())
    assert len(sizes) > 5
    monkeypatch.setattr(tally, "MOST", 10**6)
    full = figures(am.run(long_plan(), tmp_path / "full", am.How(jobs=1)).summary())
    assert counted.keys() == full.keys() == {"local-search", "random", "optimum"}
    for mind, row in full.items():
        for name, value in row.items():
            if isinstance(value, (float, list)):
                value = pytest.approx(value, rel=1e-12, abs=1e-12)
            assert counted[mind][name] == value, (mind, name)
    assert counted["local-search"]["normalised_ci95"] == full["local-search"]["normalised_ci95"]


def test_the_summary_of_a_long_run_is_the_same_on_two_jobs_and_after_a_break(
    quick_tasks, few_plays, tmp_path
):
    def stop(what, done, total):
        if done >= 21 * 16:
            raise KeyboardInterrupt

    whole = am.run(long_plan(), tmp_path / "whole", am.How(jobs=1))
    two = am.run(long_plan(), tmp_path / "two", am.How(jobs=2))
    with pytest.raises(KeyboardInterrupt):
        am.run(long_plan(), tmp_path / "broken", am.How(jobs=1, progress=stop))
    broken = am.resume(tmp_path / "broken")
    assert figures(whole.summary()) == figures(two.summary()) == figures(broken.summary())
    assert figures(summarise(whole)) == figures(whole.summary())


def test_ends_in_full_are_paired_on_all_exercises(quick_tasks, few_plays, monkeypatch, tmp_path):
    kept = figures(am.run(long_plan(full=True), tmp_path / "kept", am.How(jobs=1)).summary())
    monkeypatch.setattr(tally, "MOST", 10**6)
    full = am.run(long_plan(full=True), tmp_path / "full", am.How(jobs=1))
    assert kept == figures(full.summary())
