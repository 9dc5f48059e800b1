"""Language models in a run: calls are counted, money is guarded, and what was paid for is kept."""

from __future__ import annotations

import contextlib
from importlib import import_module

import pytest
from plainly import evaluate

from allminds import registry
from allminds.bridges import llm
from allminds.cli import main
from allminds.core.spending import spending
from allminds.runs.plan import Plan, read_plan
from allminds.runs.run import How, Resolved, count_calls, resume, run
from allminds.runs.store import RunFolder

PLAN = """
seed = 3
[[tests]]
instrument = "c-test"
minds = ["llm(mockllm/b)", "mode"]
episodes = 10
[[tests]]
instrument = "prisoners-dilemma"
minds = ["llm(mockllm/defect),tit-for-tat"]
episodes = 3
settings = { steps = 4 }
"""


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Run a command in a folder that has a plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("allminds.report"), "write_report", lambda folder, path: path)
    (tmp_path / "plan.toml").write_text(PLAN)

    def command(*words):
        monkeypatch.setattr("sys.argv", ["allminds", *words])
        with contextlib.suppress(SystemExit):
            main()
        return capsys.readouterr()

    return command


# ---------------------------------------------------------------- a dry run


def test_a_dry_run_of_a_plan_asks_nobody_and_writes_nothing(said, tmp_path, monkeypatch):
    monkeypatch.setattr(llm, "model_named", lambda name: pytest.fail("was asked"))
    found = said("run", "plan.toml", "--mind", "llm(openai/x)", "--dry-run", "--price", "1/1").out
    assert found.startswith("language models would be asked 56 times")  # 2 x 10 + 12 + 2 x 12
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


def test_a_plan_without_language_models_asks_none(said, tmp_path):
    plan = '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\nepisodes = 10\n'
    (tmp_path / "none.toml").write_text(plan)
    found = said("run", "none.toml", "--dry-run").out
    assert found.startswith("language models would be asked 0 times")
    assert not (tmp_path / "runs").exists()


def test_counting_plays_only_language_models():
    played = []
    plan = Plan.model_validate(
        {"tests": [{"instrument": "c-test", "minds": ["mode", "llm(a/b)"], "episodes": 7}]}
    )
    with spending(dry=True) as ledger:
        count_calls(Resolved.of(plan), How(progress=lambda *told: played.append(told)))
    assert ledger.calls == 7
    assert played == [("c-test, llm(a/b)", done, 7) for done in range(1, 8)]


# ---------------------------------------------------------------- the guard


@pytest.mark.slow
def test_a_run_stops_when_the_money_is_spent_and_goes_on_with_more(said, tmp_path):
    pytest.importorskip("inspect_ai")
    words = ("run", "plan.toml", "--out", "one", "--jobs", "2")  # a call is 2 tokens
    found = said(*words, "--max-cost", "0.000007", "--price", "1/1")
    assert found.out == ""
    assert found.err == (
        "allminds: $7e-06 are spent and the run is not complete; the exercises that were done are "
        "kept, and as much again is spent by: allminds run --resume one --max-cost 7e-06 "
        "--price 1/1\n"
    )
    assert len(RunFolder.open(tmp_path / "one").parts()) == 4  # what was paid for, and no more
    left = said("run", "--resume", "one", "--dry-run").out
    assert left.startswith("language models would be asked 18 times")
    again = said("run", "--resume", "one", "--max-cost", "1", "--price", "1/1").out
    assert "language models were asked 18 times" in again
    with spending(price="1/1"):  # the cost is a column
        unbroken = run(read_plan(tmp_path / "plan.toml"), tmp_path / "other", How(jobs=1))
    assert RunFolder.open(tmp_path / "one").records().equals(unbroken.records())


def test_an_exercise_that_the_money_ran_out_in_is_not_kept(said, tmp_path):
    pytest.importorskip("inspect_ai")
    one = ("--max-connections", "1")  # or three games are begun, and none is whole
    said("run", "plan.toml", "--out", "one", "--max-cost", "0.000031", "--price", "1/1", *one)
    folder = RunFolder.open(tmp_path / "one")  # 10 calls, and 6 of the dilemma's 4 a game
    assert [path.name[5:8] for path in folder.parts()].count("001") == 1
    assert set(folder.records()["status"].astype(str)) == {"ok"}


def test_a_most_without_a_price_is_found_before_anything_is_made(said, tmp_path):
    pytest.importorskip("inspect_ai")
    found = said("run", "plan.toml", "--out", "one", "--max-cost", "1").err
    assert found == "allminds: no price of mockllm/b is known; give one with --price, as 2.5/10\n"
    assert not (tmp_path / "one").exists()


def test_a_testbed_is_guarded_too(said):
    pytest.importorskip("inspect_ai")
    words = ("testbed", "prisoners-dilemma", "--set", "steps=2", "--episodes", "36", "--sampled",
             "--minds", "llm(mockllm/defect),tit-for-tat")  # fmt: skip
    dry = said(*words, "--dry-run", "--price", "1/1").out
    assert dry.startswith("language models would be asked ")
    assert not dry.startswith("language models would be asked 0 ")
    spent = said(*words, "--max-cost", "0.000007", "--price", "1/1").err
    assert "not asked, for $7e-06 are spent" in spent


def test_no_other_command_asks_a_model(said, tmp_path):
    pytest.importorskip("inspect_ai")
    test = {"instrument": "c-test", "minds": ["llm(mockllm/b)"], "episodes": 2}
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run", How(jobs=1))
    replay = ("replay", "run", "--exercise", "1")
    assert "llm(mockllm/b)" in said(*replay).out  # from its transcript
    for path in (folder.path / "transcripts").iterdir():
        path.unlink()
    lines = (folder.path / "SHA256SUMS").read_text().splitlines(keepends=True)
    kept = [line for line in lines if "transcripts/" not in line]
    (folder.path / "SHA256SUMS").write_text("".join(kept))
    assert said(*replay).err == (
        "allminds: allminds replay asks no language model; give it minds that cost nothing\n"
    )


# ---------------------------------------------------------------- how they are played


def test_whatever_the_jobs_every_call_is_counted_here():
    pytest.importorskip("inspect_ai")
    with spending() as ledger:
        evaluate("c-test", ["llm(mockllm/b)"], episodes=20, how=How(jobs=2))
    assert ledger.calls == 20


def test_only_their_exercises_are_kept_one_by_one(tmp_path):
    pytest.importorskip("inspect_ai")
    tests = [{"instrument": "c-test", "minds": ["mode", "llm(mockllm/b)"], "episodes": 5}]
    plan = Plan.model_validate({"tests": tests})
    folder = run(plan, tmp_path / "run", How(jobs=1))
    sizes = [int(path.stem[-12:]) - int(path.stem[-25:-13]) for path in folder.parts()]
    assert sizes == [1] * 5 + [5] or sizes == [5] + [1] * 5
    assert resume(tmp_path / "run", How(jobs=1)).records().equals(folder.records())


def test_an_administration_of_an_adaptive_test_is_never_split(tmp_path):
    pytest.importorskip("inspect_ai")
    tests = [
        {
            "instrument": "lambda-staircase", "minds": ["llm(mockllm/0)"], "episodes": 6,
            "settings": {"time": 6, "steps": 2},
        }
    ]  # fmt: skip
    folder = run(Plan.model_validate({"tests": tests}), tmp_path / "run", How(jobs=1))
    assert len(folder.parts()) == 2


def test_a_language_model_is_known_by_itself_and_in_a_group():
    pytest.importorskip("inspect_ai")
    tool = registry.make_instrument("lambda-star", {"agents": 3})
    assert registry.subject("llm(mockllm/5)", tool).paid
    assert registry.subject("majority(expert,llm(mockllm/5)*2)", tool).paid
    assert not registry.subject("majority(expert*3)", tool).paid
    assert not registry.subject(lambda seen: 5, tool).paid
