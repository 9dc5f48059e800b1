"""Failing never pays, and a provider's fault is nobody's failure: models, programs, learners."""

from __future__ import annotations

import contextlib
import json
import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from plainly import evaluate

from allminds import registry
from allminds.bridges import llm, providers
from allminds.bridges.exchange import write_results
from allminds.cli import main
from allminds.core.errors import Error
from allminds.episode import Episode, play
from allminds.runs.imports import read_results
from allminds.runs.plan import Plan
from allminds.runs.run import How, records, resume, run

pytest.importorskip("inspect_ai")
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from allminds.bridges import inspect_ai as tasks

ITEMS, KNOWN = 90, 40
BANK = {"form": "generated"}
ONE = How(jobs=1, connections=1)  # so that calls come in order


def replying(says):
    def reply(messages, *_given):
        output = ModelOutput.from_content("mockllm/model", says(messages))
        output.usage = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)
        return output

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


@pytest.fixture
def models(monkeypatch):
    """Mock models by name, asked without waiting."""
    found = {}
    monkeypatch.setattr(llm, "model_named", lambda name: found[name])
    monkeypatch.setattr(providers, "WAITS", ())
    monkeypatch.setattr(providers.Call, "down", set())
    return found


def series():
    """What the items of seed 1 show, with their answers; some series come twice."""
    tool = registry.make_instrument("c-test", BANK)
    found = []
    for i in range(ITEMS):
        episode = Episode(tool.exercise(1, i))
        seen, space = episode.waiting[0], episode.environment.actions[0]
        secret = episode.environment.secret(episode.state, 0, episode.random)
        answer = secret if isinstance(secret, str) else space.labels[secret]
        found.append((" ".join(seen.shown), answer))
    return found


def known():
    """The series of exactly 40 of the items."""
    found = set()
    for shown, times in Counter(shown for shown, _ in series()).items():
        if sum(one in found for one, _ in series()) + times <= KNOWN:
            found.add(shown)
    return found


def knowing(otherwise):
    """A model that knows 40 items; to others it says what `otherwise` makes of the answer."""
    right, mine = dict(series()), known()

    def says(messages):
        shown = str(messages[0].content).splitlines()[-1]
        return right[shown] if shown in mine else otherwise(right[shown])

    return says


def another(letter):
    return "b" if letter != "b" else "c"


SORTS = {
    "a/wrong": another,
    "a/malformed": lambda letter: f"perhaps {letter}, perhaps not",
    "a/refusing": lambda letter: "I'm sorry, I cannot help.",
}


def put(models):
    models |= {name: replying(knowing(otherwise)) for name, otherwise in SORTS.items()}
    return [f"llm({name})" for name in SORTS]


# ---------------------------------------------------------------- the same items known


def test_by_evaluate_failing_is_to_be_wrong(models):
    minds = put(models)
    rows = evaluate("c-test", minds, settings=BANK, episodes=ITEMS, how=ONE)["results"]
    assert len({row["score"] for row in rows}) == 1
    assert len({tuple(row["ci95"]) for row in rows}) == 1
    assert [row["failures"] for row in rows] == [{}, {"malformed": 50}, {"refused": 50}]
    assert [row["ranked"] for row in rows] == [True, False, False]
    assert rows[1]["finished"] == 1.0


def test_by_run_and_compare_failing_is_to_be_wrong(models, tmp_path, monkeypatch, capsys):
    minds = put(models)
    test = {"instrument": "c-test", "settings": BANK, "minds": minds, "episodes": ITEMS}
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run", ONE)
    rows = folder.summary()["tests"][0]["results"]
    assert len({row["score"] for row in rows}) == 1
    monkeypatch.setattr("sys.argv", ["allminds", "compare", str(folder.path), "--json"])
    with contextlib.suppress(SystemExit):
        main()
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert {pair["mean"] for pair in found["differences"]} == {0.0}
    assert {pair["verdict"] for pair in found["differences"]} == {"undecided"}


def test_by_inspect_failing_is_to_be_wrong(models, given, tmp_path):
    put(models)
    ours = evaluate("c-test", ["llm(a/wrong)"], settings=BANK, episodes=ITEMS, how=ONE)
    (row,) = ours["results"]
    kept = []
    for name in SORTS:
        log = given(tasks.c_test(n=ITEMS, form="generated"), models[name])
        figures = {
            score.name: {key.split("/")[-1]: one.value for key, one in score.metrics.items()}
            for score in log.results.scores
        }
        assert figures["score"]["weighted"] == pytest.approx(row["score"], abs=1e-12)
        assert [figures["score"][end] for end in ("low", "high")] == pytest.approx(row["ci95"])
        assert figures["hit"]["mean"] == pytest.approx(KNOWN / ITEMS)
        kept.append((figures["coverage"]["mean"], figures["malformed"]["total"]))
        frame = read_results(log.location)
        assert frame["score"].sum() == KNOWN
    assert kept == [(1.0, 0.0), (pytest.approx(4 / 9), 50.0), (pytest.approx(4 / 9), 0.0)]


def test_by_inspect_a_world_left_is_no_better_than_one_played_on(given):
    def moves(last):
        return replying(lambda messages: "5" if len(messages) < 6 else last)

    def figure(log):
        (score,) = (one for one in log.results.scores if one.name == "score")
        return next(one.value for key, one in score.metrics.items() if key.endswith("mean"))

    task = lambda: tasks.lambda_star(n=6, iterations=8)  # noqa: E731
    assert figure(given(task(), moves("I cannot."))) <= figure(given(task(), moves("5")))


def test_py_irt_counts_failures_as_wrong_and_leaves_out_what_is_missing(models, tmp_path):
    minds = put(models)
    frames = []
    evaluate(
        "c-test",
        minds,
        settings=BANK,
        episodes=50,
        how=ONE,
        keep=lambda *part: frames.append(records("", *part)),
    )
    import pandas as pd

    frame = pd.concat([table.to_pandas() for table in frames], ignore_index=True)
    frame["status"] = frame["status"].astype(str)
    frame.loc[frame.index[-1], ["status", "score"]] = ["missing", np.nan]
    lines = write_results(frame, tmp_path / "a.jsonl").read_text().splitlines()
    told = {one["subject_id"]: one["responses"] for one in map(json.loads, lines)}
    mine = known()
    assert [sum(told[mind].values()) for mind in minds] == [
        sum(shown in mine for shown, _ in series()[:50])
    ] * 3
    assert [len(told[mind]) for mind in minds] == [50, 50, 49]


# ---------------------------------------------------------------- the provider's fault


class Refused(Exception):
    """An exception as providers have them."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status_code = status


def faulty(status, which):
    """A model that says b, but whose provider is at fault in some calls."""
    calls = []

    def says(messages):
        calls.append(1)
        if which(len(calls)):
            raise Refused(status)
        return "b"

    return replying(says), calls


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_faults_that_stay_are_missing_and_change_no_score(models, status):
    models["a/sound"], _ = faulty(status, lambda n: False)
    models["a/faulty"], _ = faulty(status, lambda n: n > 10)
    rows = evaluate("c-test", ["llm(a/sound)"], episodes=10, how=ONE)["results"]
    rows += evaluate("c-test", ["llm(a/faulty)"], episodes=20, how=ONE)["results"]
    assert rows[0]["score"] == rows[1]["score"]
    assert (rows[1]["missing"], rows[1]["failed"], rows[1]["ranked"]) == (10, 0, True)
    assert f"status {status}" in rows[1]["reason"]


def test_a_fault_that_passes_is_asked_again(models, monkeypatch):
    monkeypatch.setattr(providers, "WAITS", (0.0, 0.0))
    models["a/b"], calls = faulty(429, lambda n: n % 3)
    (row,) = evaluate("c-test", ["llm(a/b)"], episodes=4, how=ONE)["results"]
    assert (row["missing"], row["failed"], len(calls)) == (0, 0, 12)


def test_an_outage_is_waited_for_once(models, monkeypatch):
    monkeypatch.setattr(providers, "WAITS", (0.0, 0.0))
    models["a/b"], calls = faulty(503, lambda n: True)
    (row,) = evaluate("c-test", ["llm(a/b)"], episodes=5, how=ONE)["results"]
    assert (row["missing"], len(calls)) == (5, 3 + 4)


def test_waiting_for_the_provider_is_not_the_models_time(models, monkeypatch):
    monkeypatch.setattr(providers, "WAITS", (1.0,))
    models["a/b"], _ = faulty(429, lambda n: n == 1)
    (row,) = evaluate("c-test", ["llm(a/b)"], episodes=2, how=ONE, time_limit=0.2)["results"]
    assert (row["failures"], row["missing"]) == ({}, 0)


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_stops_at_once(models, status):
    models["a/b"], calls = faulty(status, lambda n: True)
    with pytest.raises(Error, match=rf"cannot be asked \({status}\)"):
        evaluate("c-test", ["llm(a/b)"], episodes=5, how=ONE)
    assert len(calls) == 1


def test_a_conversation_that_is_not_taken_is_a_failure(models):
    models["a/b"], calls = faulty(400, lambda n: True)
    (row,) = evaluate("c-test", ["llm(a/b)"], episodes=3, how=ONE)["results"]
    assert (row["failures"], row["score"], len(calls)) == ({"error": 3}, 0.0, 3)


def test_what_is_missing_is_asked_again_by_resume_and_nothing_else(
    models, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(import_module("allminds.report"), "write_report", lambda folder, path: path)
    models["a/b"], calls = faulty(429, lambda n: 4 <= n <= 6)
    test = {"instrument": "c-test", "minds": ["llm(a/b)", "mode"], "episodes": 10}
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run", ONE)
    assert folder.lacking()
    assert len(calls) == 10
    monkeypatch.setattr("sys.argv", ["allminds", "run", "--resume", str(folder.path), "--dry-run"])
    with contextlib.suppress(SystemExit):
        main()
    assert capsys.readouterr().out.startswith("language models would be asked 3 times")
    assert folder.lacking(), "a dry run removes nothing"
    whole = resume(folder.path, ONE)
    assert len(calls) == 13
    assert not whole.lacking()
    models["a/b"], _ = faulty(429, lambda n: False)
    unbroken = run(Plan.model_validate({"tests": [test]}), tmp_path / "other", ONE)
    assert whole.records().equals(unbroken.records())


def test_a_run_that_lacks_something_says_so(models, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("allminds.report"), "write_report", lambda folder, path: path)
    models["a/b"], _ = faulty(429, lambda n: n == 2)
    (tmp_path / "plan.toml").write_text(
        '[[tests]]\ninstrument = "c-test"\nminds = ["llm(a/b)"]\nepisodes = 4\n'
    )
    monkeypatch.setattr("sys.argv", ["allminds", "run", "plan.toml", "--out", "one"])
    with contextlib.suppress(SystemExit):
        main()
    said = capsys.readouterr().out
    assert "asked again by: allminds run --resume one" in said
    assert "1 of 4 exercises are missing" in " ".join(said.split())


# ---------------------------------------------------------------- programs and learners


PLAYS = """import json, sys
made = 0
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "act":
        made += 1
        if made > {steps}:
            {then}
        print(json.dumps({{"action": told["legal"][0]}}), flush=True)
"""
ENDS = {
    "dies": "sys.exit(1)",
    "nonsense": "print('nonsense', flush=True)",
    "refuses": "print(json.dumps({'refuse': 'no'}), flush=True)",
    "plays on": "pass",
}


@pytest.mark.parametrize("game", ["lambda-star", "noughts-and-crosses"])
def test_a_program_that_quits_never_beats_one_that_plays_on_badly(game, tmp_path):
    tool = registry.make_instrument(game, {"iterations": 8} if game == "lambda-star" else {})
    rest = ", random" if tool.slots > 1 else ""
    for index in range(3):
        scores = {}
        for end, then in ENDS.items():
            file = tmp_path / f"{end.replace(' ', '')}.py"
            file.write_text(PLAYS.format(steps=2, then=then))
            line_up = registry.line_up(f"program({sys.executable},{file}){rest}", tool)
            record = play(tool.exercise(1, index), line_up)
            scores[end] = record.score[0]
        honest = scores.pop("plays on")
        assert all(score <= honest for score in scores.values()), scores
        assert len(set(scores.values())) == 1


def test_the_return_of_an_agent_that_ends_an_exercise_is_the_score_of_a_failure():
    gymnasium = pytest.importorskip("gymnasium")
    import allminds.bridges.gymnasium  # noqa: F401 - registers the environments

    env = gymnasium.make("allminds/LambdaStar-v1", iterations=8, disable_env_checker=True).unwrapped
    env.reset(seed=1)
    gained = [env.step(5)[1] for _ in range(3)]
    _, reward, terminated, _, info = env.step(0)
    assert (terminated, info["status"], reward) == (True, "malformed", -5.0)
    assert sum(gained) + reward == pytest.approx(8 * info["score"])


def test_whoever_makes_no_move_of_the_game_loses_it_and_the_other_gets_nothing():
    pettingzoo = pytest.importorskip("pettingzoo")
    import allminds.bridges.pettingzoo  # noqa: F401 - registers the environments

    env = pettingzoo.make("parallel", "allminds/NoughtsAndCrosses-v1")
    env.reset(seed=1)
    _, rewards, *_ = env.step({"player_0": 99, "player_1": 0})
    assert rewards == {"player_0": -1.0, "player_1": 0.0}


def test_an_exercise_that_failed_cannot_fail_again():
    episode = Episode(registry.make_instrument("c-test").exercise(1, 0))
    episode.play({0: -1})
    with pytest.raises(Error, match="is over"):
        episode.fail({})
