"""Long runs: quick tasks are written as one part, and nothing that was played is lost."""

from __future__ import annotations

import pytest

import allminds as am
from allminds.runs import engine

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
