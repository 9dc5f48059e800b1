"""The instruments as Inspect tasks, under its mock model and without network."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from allminds import registry
from allminds.core.errors import Error
from allminds.episode import play
from allminds.runs.imports import import_results, read_results

pytest.importorskip("inspect_ai")
from inspect_ai.log import write_eval_log
from mocked_models import imported, model

from allminds.bridges import inspect_ai as tasks


def metrics(log):
    assert log.status == "success", log.error
    return {
        score.name: {name.split("/")[-1]: one.value for name, one in score.metrics.items()}
        for score in log.results.scores
    }


def knowing(task):
    """A model that has the right answers: it finds the question among the samples."""
    answers = {str(sample.input[0].content): str(sample.target) for sample in task.dataset}
    return lambda messages: f"Let me think.\nANSWER: {answers[str(messages[0].content)]}"


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize(
    "task",
    [
        lambda: tasks.c_test(n=9),
        lambda: tasks.c_test(form="published"),
        lambda: tasks.c_test(n=6, options=5, task="abduction"),
        lambda: tasks.matrices(n=6),
        lambda: tasks.matrices(n=6, form="text"),
    ],
)
def test_right_answers_score_1_and_wrong_ones_0(task, given):
    made = task()
    right = metrics(given(made, model(knowing(made))))
    figure = "weighted" if "weighted" in right["score"] else "mean"
    assert right["score"][figure] == 1.0
    assert right["coverage"]["mean"] == 1.0
    right_of = {str(s.input[0].content): str(s.target) for s in made.dataset}

    def wrong(messages):
        answer = right_of[str(messages[0].content)]
        return "none" if len(answer) == 1 and answer.islower() else "AB"[answer == "A"]

    found = metrics(given(made, model(wrong)))
    assert found["score"][figure] == 0.0
    assert [found[s]["total"] for s in ("refused", "malformed", "timeout", "error")] == [0] * 4


def test_the_c_test_weighs_hits_by_complexity(given):
    made = tasks.c_test(form="published")
    ks = [sample.metadata["complexity"]["k"] for sample in made.dataset]
    know = knowing(made)
    easy = {str(s.input[0].content) for s, k in zip(made.dataset, ks, strict=True) if k == ks[0]}
    log = given(made, model(lambda m: know(m) if str(m[0].content) in easy else "none"))
    hits = [k for k in ks if k == ks[0]]
    assert metrics(log)["score"]["weighted"] == pytest.approx(sum(hits) / sum(ks))


def test_refusals_and_nonsense_are_counted_and_are_wrong(given):
    said = ["I'm sorry, but I can't help with that.", "", "The answer is surely b or c.", "none"]
    made = tasks.c_test(n=4)
    order = {str(sample.input[0].content): said[n] for n, sample in enumerate(made.dataset)}
    log = given(made, model(lambda messages: order[str(messages[0].content)]))
    found = metrics(log)
    assert (found["refused"]["total"], found["malformed"]["total"]) == (2, 1)
    assert found["coverage"]["mean"] == 0.25
    assert found["score"]["weighted"] == found["hit"]["mean"] == 0.0
    assert log.samples[0].scores["weighted_record"].value["score"] == 0.0
    filtered = given(tasks.c_test(n=2), model("b", stop="content_filter"))
    assert metrics(filtered)["refused"]["total"] == 2
    cut = given(tasks.c_test(n=2), model("Let me think about", stop="max_tokens"))
    assert metrics(cut)["malformed"]["total"] == 2
    assert "cut off" in cut.samples[0].scores["weighted_record"].explanation


# ---------------------------------------------------------------- interactive


def test_an_interactive_episode_is_played_to_its_end_and_has_a_transcript(given):
    log = given(tasks.lambda_star(n=2, iterations=6), model("ANSWER: stay"))
    tool = registry.make_instrument("lambda-star", {"iterations": 6})
    for sample in log.samples:
        ours = play(tool.exercise(1, sample.id), registry.line_up(lambda seen: 5, tool))
        kept = sample.scores["record"].metadata
        assert kept["steps"] == 6
        assert kept["score"] == list(ours.score)
        assert len(sample.messages) == 12
        assert "Your reward" in sample.messages[2].content


def test_lambda_ends_and_may_be_small(given):
    log = given(tasks.lambda_(n=2, form="general", cells=3, steps=4), model("0"))
    assert [sample.scores["record"].metadata["steps"] for sample in log.samples] == [4, 4]
    assert len(tasks.lambda_().dataset) == 7


def test_a_model_that_breaks_off_stays_where_it_is_which_is_counted(given):
    def tires(messages):
        return "6" if len(messages) < 4 else "I cannot go on."

    log = given(tasks.lambda_star(n=1, iterations=10), model(tires))
    tool = registry.make_instrument("lambda-star", {"iterations": 10})
    moves = iter([6, 6] + [5] * 8)
    ours = play(tool.exercise(1, 0), registry.line_up(lambda seen: next(moves), tool))
    kept = log.samples[0].scores["record"].metadata
    assert (kept["status"], kept["score"]) == (["ok"], list(ours.score))
    assert metrics(log)["defaults"]["total"] == 8
    assert metrics(log)["lenient"]["mean"] == pytest.approx(2 / 18)


def test_a_model_that_never_answers_has_failed(given):
    log = given(tasks.lambda_star(n=1, iterations=10), model("I cannot do this."))
    kept = log.samples[0].scores["record"].metadata
    assert (kept["status"], kept["steps"]) == (["refused"], 2)


def test_a_model_against_a_mind_is_as_in_the_runner(given):
    log = given(tasks.prisoners_dilemma(n=2, steps=5, against="tit-for-tat"), model("defect"))
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 5})
    ours = play(tool.exercise(1, 0), registry.line_up("defect,tit-for-tat", tool))
    kept = log.samples[0].scores["record"].metadata
    assert kept["score"] == list(ours.score)
    assert kept["minds"] == ["llm(mockllm/model)", "tit-for-tat"]
    against = given(tasks.noughts_and_crosses(n=1, against="random"), model(_first_free))
    line_up = [_free, "random"]
    board = registry.make_instrument("noughts-and-crosses")
    won = play(board.exercise(1, 0), registry.line_up(line_up, board))
    assert against.samples[0].scores["record"].metadata["score"] == list(won.score)


def _first_free(messages):
    return messages[-1].content.rsplit("Choose: ", 1)[1].split(",")[0]


def _free(observation):
    return observation.legal[0]


def test_model_against_model_by_role(given):
    roles = {"slot_0": model("heads"), "slot_1": model("tails")}
    log = given(tasks.matching_pennies(n=2, steps=3), model("heads"), model_roles=roles)
    found = metrics(log)
    assert (found["score"]["mean"], found["score_1"]["mean"]) == (-1.0, 1.0)


def test_bad_parameters_are_one_sentence():
    with pytest.raises(Error, match="c-test: form must be 'published', 'generated' or 'fresh'"):
        tasks.c_test(form="publishd")
    with pytest.raises(Error, match="c-test has no setting 'rows'"):
        tasks.c_test(rows=3)
    with pytest.raises(Error, match="there is no mind 'tit-for-ta'"):
        tasks.prisoners_dilemma(against="tit-for-ta")
    with pytest.raises(Error, match="group, or rehearses"):
        tasks.noughts_and_crosses(against="q-learning")
    with pytest.raises(Error, match="there is no form 'svg'"):
        tasks.matrices(form="svg")
    with pytest.raises(Error, match="n must be a whole number, 1 or more, not 0"):
        tasks.lambda_star(n=0)
    with pytest.raises(Error, match="seed must be a whole number, 0 or more, not 'x'"):
        tasks.noughts_and_crosses(seed="x")


def test_fresh_and_published_items_are_apart():
    fresh, published = tasks.c_test(), tasks.c_test(form="published")
    assert {sample.metadata["items"] for sample in fresh.dataset} == {"fresh"}
    assert {sample.metadata["items"] for sample in published.dataset} == {"published"}
    assert published.metadata == {"items": "published"}
    ids = [{sample.metadata["exercise"] for sample in one.dataset} for one in (fresh, published)]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize(
    ("task", "instrument", "settings"),
    [
        (tasks.c_test, "c-test", {"form": "fresh"}),
        (tasks.matrices, "matrices", {}),
        (tasks.lambda_star, "lambda-star", {}),
        (tasks.lambda_, "lambda", {}),
        (tasks.noughts_and_crosses, "noughts-and-crosses", {}),
    ],
)
def test_exercises_are_those_of_the_runner(task, instrument, settings):
    tool = registry.make_instrument(instrument, settings)
    ids = [sample.metadata["exercise"] for sample in task(n=2, seed=4).dataset]
    assert ids == [tool.exercise(4, i).id for i in range(2)]


def test_matrices_are_pictures_unless_text_is_asked_for():
    (question,) = tasks.matrices(n=1).dataset[0].input
    _, image = question.content
    assert image.image.startswith("data:image/png;base64,")
    (question,) = tasks.matrices(n=1, form="text").dataset[0].input
    assert "Cell 1:" in question.content


# ---------------------------------------------------------------- logs


def test_a_log_imports_without_loss(given, tmp_path):
    said = ["I'm sorry, no.", "z z z", "none", "none"]
    made = tasks.c_test(n=4)
    order = {str(sample.input[0].content): said[n] for n, sample in enumerate(made.dataset)}
    log = given(made, model(lambda messages: order[str(messages[0].content)]))
    table = imported(log, tmp_path / "in")
    assert list(table["status"]) == ["refused", "malformed", "ok", "ok"]
    assert table["score"].tolist() == [0.0] * 4
    tool = registry.make_instrument("c-test", {"form": "fresh"})
    assert list(table["item"]) == [tool.exercise(1, i).item for i in range(4)]
    assert set(table["mind"]) == {"llm(mockllm/model)"}
    assert set(table["items"]) == {"fresh"}
    assert list(table["exercise"]) == [one.metadata["exercise"] for one in made.dataset]
    assert list(table["k"]) == [one.metadata["complexity"]["k"] for one in made.dataset]
    assert table["input_tokens"].sum() == 600  # those that could not be read were asked once more
    assert table["unread"].tolist() == [2, 2, 0, 0]
    assert table["reason"][1] == "'z z z' is not one of the letters on offer"
    assert read_results(log.location).equals(table)  # as it is, too


def test_slots_epochs_and_learning_import(given, tmp_path):
    task = tasks.prisoners_dilemma(n=2, steps=4, against="grim")
    log = given(task, model("defect"), epochs=2)
    table = imported(log, tmp_path / "in")
    assert len(table) == 2 * 2 * 2
    assert sorted(table["repeat"].unique()) == [0, 1]
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 4})
    ours = play(tool.exercise(1, 0), registry.line_up("defect,grim", tool))
    mine = table[(table["index"] == 0) & (table["repeat"] == 0)].sort_values("slot")
    assert tuple(mine["score"]) == ours.score
    assert tuple(mine["learning"]) == ours.learning
    assert list(mine["team"]) == [0, 1]


def test_what_an_error_broke_off_is_missing_and_what_a_limit_did_has_failed(given, tmp_path):
    def breaks(messages):
        raise RuntimeError("the provider is down")

    log = given(
        tasks.noughts_and_crosses(n=2, against="random"), model(breaks), fail_on_error=False
    )
    table = imported(log, tmp_path / "error")
    assert list(table["status"]) == ["missing", "void"] * 2
    assert table["score"].isna().all()
    assert "the provider is down" in table["reason"][0]
    limited = given(tasks.lambda_star(n=1, iterations=9), model("5"), message_limit=4)
    table = imported(limited, tmp_path / "limit")
    assert list(table["status"]) == ["timeout"]
    assert table["reason"][0] == "Inspect's limit on message"
    steps, made = int(table["steps"][0]), registry.make_instrument("lambda-star", {"iterations": 9})
    stays = play(made.exercise(1, 0), registry.line_up(lambda seen: 5, made))
    kept = sum(one[0] for one in stays.rewards[:steps])
    assert 0 < steps < 9
    assert table["score"][0] == pytest.approx((kept - (9 - steps)) / 9)


def test_a_log_of_another_task_and_what_is_none_are_one_sentence(given, tmp_path):
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    other = given(Task([Sample(input="Say a.", target="a")], name="other"), model("a"))
    with pytest.raises(Error, match="is a log of the task other, not of allminds"):
        import_results(other.location, tmp_path / "out")
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"nonsense")
    with pytest.raises(Error, match="is not a log of Inspect"):
        import_results(broken, tmp_path / "out")
    with pytest.raises(Error, match="there is no such file"):
        import_results(tmp_path / "none.eval", tmp_path / "out")
    log = given(tasks.c_test(n=1), model("a"))
    log.samples = []
    empty = tmp_path / "empty.eval"
    write_eval_log(log, str(empty))
    with pytest.raises(Error, match="has no samples"):
        import_results(empty, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------- finding them


def test_inspect_finds_the_tasks_by_their_entry_point():
    groups = importlib.metadata.entry_points(group="inspect_ai")
    assert groups["allminds"].value == "allminds.bridges.inspect_ai"
    from inspect_ai._util.registry import registry_find, registry_info

    registry_find(lambda info: info.type == "task")  # loads the entry points
    named = {name: cls for name, cls in registry.instruments().items() if not cls.adaptive}
    words = {name.replace("-", "_") for name in named}
    levelled = {"c_test_adaptive", "lambda_staircase_adaptive", "matrices_adaptive"}
    assert {registry_info(one).name for one in tasks.TASKS.values()} == {
        f"allminds/{word}" for word in words | levelled
    }
    assert registry_info(tasks.game).name == "allminds/game"
    for name, cls in named.items():
        parameters = inspect.signature(tasks.TASKS[name.replace("-", "_")]).parameters
        own = {"n", "seed", "form", "against", "history", "answer", "few_shot", "tools", "disguise"}
        assert set(parameters) == {*own, *cls.Settings.model_fields}


@pytest.mark.slow
def test_inspect_eval_runs_a_task_by_its_name(tmp_path):
    inspect = Path(sys.executable).parent / "inspect"
    done = subprocess.run(
        [inspect, "eval", "allminds/c_test", "-T", "n=3", "-T", "form=published", "--model",
         "mockllm/model", "--log-dir", tmp_path, "--display", "plain", "--no-fail-on-error"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    logs = list(tmp_path.glob("*.eval"))
    assert len(logs) == 1, done.stdout + done.stderr
    assert len(read_results(logs[0])) == 3


@pytest.mark.slow
def test_inspect_eval_says_what_is_wrong_in_one_line(tmp_path):
    inspect = Path(sys.executable).parent / "inspect"
    done = subprocess.run(
        [inspect, "eval", "allminds/game", "-T", "name=stag-hun", "--model", "mockllm/model"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert said == "allminds: there is no instrument 'stag-hun'; did you mean 'stag-hunt'?"


def test_nothing_of_this_is_loaded_unless_it_is_used():
    code = (
        "import sys, allminds\nfrom allminds import registry\n"
        "registry.minds('c-test')\nprint('inspect_ai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
