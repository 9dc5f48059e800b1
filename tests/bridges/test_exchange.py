"""Results to and from other tools, and items as JSON lines."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import registry
from allminds.bridges.exchange import items, write_items, write_results
from allminds.cli import main
from allminds.core.errors import Error
from allminds.core.settings import checked
from allminds.runs import plan as plans
from allminds.runs.imports import import_results, read_results
from allminds.runs.run import How, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small run: a mind that hits, one that guesses, one that refuses."""
    place = tmp_path_factory.mktemp("exchange")
    (place / "minds.py").write_text(
        "from allminds.contracts import Failure\ndef no(seen): return Failure('refused', 'no')\n"
    )
    what = {
        "tests": [
            {
                "instrument": "c-test",
                "minds": ["levin-search", "random", f"{place}/minds.py:no"],
                "episodes": 20,
            }
        ]
    }
    run(checked(plans.Plan, what, "a test"), place / "run", How(jobs=1))
    return place / "run"


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    names = ["exercise", "instrument", "seed", "index", "mind", "slot", "k", "score", "status"]
    for name in names:
        left, right = one[name], other[name]
        if left.dtype == float:
            pd.testing.assert_series_equal(left, right, check_exact=True)
        else:
            assert list(left.astype(str)) == list(right.astype(str)), name


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_come_back_as_they_went(folder, tmp_path, ending):
    frame = read_results(folder)
    file = write_results(frame, tmp_path / f"table.{ending}")
    same(read_results(import_results(file, tmp_path / "in")), frame)
    same(read_results(file), frame)


def test_py_irt_has_a_line_for_every_mind(folder, tmp_path):
    frame = read_results(folder)
    file = write_results(frame, tmp_path / "answers.jsonl")
    told = {one["subject_id"]: one["responses"] for one in map(json.loads, file.open())}
    (refusing,) = set(told) - {"levin-search", "random"}
    assert set(told["levin-search"].values()) == {1}
    assert list(told[refusing].values()) == [0] * 20, "to refuse is to be wrong"
    assert len(told["random"]) == 20
    back = read_results(import_results(file, tmp_path / "in"))
    assert _answers(back) == _answers(frame)
    assert set(back["instrument"]) == {"c-test"}


def _answers(frame: pd.DataFrame) -> dict[tuple[str, str], float]:
    rows = zip(frame["mind"], frame["exercise"], frame["score"], strict=True)
    return {(str(mind), exercise): score for mind, exercise, score in rows}


RESPONSES = st.dictionaries(st.text(min_size=1), st.sampled_from([0, 1]), min_size=1)


@settings(max_examples=30)
@given(st.dictionaries(st.text(min_size=1), RESPONSES, min_size=1, max_size=4))
def test_whatever_py_irt_has_is_read_and_written_again(tmp_path, subjects):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    lines = [json.dumps({"subject_id": s, "responses": r}) for s, r in subjects.items()]
    first.write_text("\n".join(lines), encoding="utf-8")
    table = read_results(first)
    write_results(table, second)
    assert _answers(read_results(second)) == _answers(table)
    told = [json.loads(line) for line in second.read_text("utf-8").split("\n") if line]
    assert {one["subject_id"]: one["responses"] for one in told} == subjects


def test_scores_that_are_neither_right_nor_wrong_are_no_answers(tmp_path):
    frame = pd.DataFrame({"exercise": ["a"], "mind": ["m"], "score": [0.5], "status": ["ok"]})
    with pytest.raises(Error, match=r"not the score 0\.5 of a"):
        write_results(frame, tmp_path / "a.jsonl")
    twice = pd.DataFrame({"exercise": "a", "mind": "m", "score": [1.0, 0.0], "status": "ok"})
    with pytest.raises(Error, match="m has a twice"):
        write_results(twice, tmp_path / "a.jsonl")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense\n", "line 1: needs subject_id and responses"),
        ('{"subject_id": "a"}\n', "line 1: needs subject_id and responses"),
        ('{"subject_id": "a", "responses": {"q": 2}}\n', "line 1: the response to q is 2"),
        ('{"subject_id": "a", "responses": {"q": true}}\n', "the response to q is True"),
        ('{"subject_id": "a", "responses": {"q": 1}}\n' * 2, "the subject a answers an item twice"),
        ("\n", "is empty"),
    ],
)
def test_bad_answers_are_one_sentence(tmp_path, text, said):
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    with pytest.raises(Error, match=said):
        import_results(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"exercise": ["a"], "mind": ["m"]}, "no column 'score'"),
        ({"exercise": ["a"], "mind": ["m"], "score": [3.0]}, "rescale"),
        ({"exercise": ["a"], "mind": ["m"], "score": ["x"]}, "rescale"),
        ({"exercise": ["a"], "mind": ["m"], "score": [None]}, "rescale|needs a status"),
        ({"exercise": ["a"], "mind": ["m"], "score": [1.0], "status": ["okay"]}, "is unknown"),
    ],
)
def test_bad_tables_are_one_sentence(tmp_path, columns, said):
    file = tmp_path / "bad.parquet"
    pd.DataFrame(columns).to_parquet(file)
    with pytest.raises(Error, match=said):
        import_results(file, tmp_path / "out")
    (tmp_path / "none.parquet").write_bytes(b"nonsense")
    with pytest.raises(Error, match="is not a Parquet file"):
        import_results(tmp_path / "none.parquet", tmp_path / "out")


def test_other_endings_and_places_are_one_sentence(folder, tmp_path):
    frame = read_results(folder)
    with pytest.raises(Error, match="cannot write results as"):
        write_results(frame, tmp_path / "a.xlsx")
    with pytest.raises(Error, match="cannot write"):
        write_results(frame, tmp_path / "nowhere" / "a.csv")


def test_the_command_line_exports(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["allminds", "export", str(folder), str(tmp_path / "a.csv")])
    main()
    assert capsys.readouterr().out == f"{tmp_path / 'a.csv'}: 60 results\n"


# ---------------------------------------------------------------- items


@pytest.mark.parametrize(
    ("name", "given_settings"),
    [("c-test", {}), ("c-test", {"form": "generated", "options": 5}), ("matrices", {})],
)
def test_an_item_has_its_answer(name, given_settings, tmp_path):
    tool = registry.make_instrument(name, given_settings)
    file = write_items(tool, 6, tmp_path / "bank.jsonl", seed=3)
    told = [json.loads(line) for line in file.open()]
    assert told == list(items(tool, 6, 3))
    public = {"published": "published", "generated": "public"}
    of_items = "fresh" if name == "matrices" else public[given_settings.get("form", "published")]
    for i, item in enumerate(told):
        exercise = tool.exercise(3, i)
        assert item["id"] == exercise.id
        action = item["options"].index(item["answer"])
        state = exercise.environment.reset(None)
        _, rewards = exercise.environment.step(state, {0: action}, None)
        assert rewards == [1.0]
        assert item["items"] == of_items


def test_only_questions_are_items(tmp_path):
    with pytest.raises(Error, match="has no items with one answer"):
        write_items(registry.make_instrument("lambda-star"), 1, tmp_path / "a.jsonl")
    with pytest.raises(Error, match="has 20 published items, not 21"):
        write_items(registry.make_instrument("c-test"), 21, tmp_path / "a.jsonl")
    with pytest.raises(Error, match="1 item or more"):
        write_items(registry.make_instrument("matrices"), 0, tmp_path / "a.jsonl")


def test_the_command_line_makes_items_by_the_ids_of_results(folder, tmp_path, monkeypatch, capsys):
    file = tmp_path / "bank.jsonl"
    monkeypatch.setattr("sys.argv", ["allminds", "make", "items", "c-test", "--out", str(file)])
    main()
    assert capsys.readouterr().out == f"{file}: 20 items\n"
    ids = {json.loads(line)["id"] for line in file.open()}
    assert ids == set(read_results(folder)["exercise"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lambda-star"], "lambda-star has no items with one answer; choose c-test or matrices"),
        (["c-tes"], "there is no instrument 'c-tes'; did you mean 'c-test'?"),
        (["c-test", "--count", "0"], "there must be 1 item or more, not 0"),
        (["c-test", "--set", "form"], "--set takes KEY=VALUE, such as rows=10, not 'form'"),
    ],
)
def test_items_that_cannot_be_made_are_one_sentence(words, said, tmp_path, monkeypatch, capsys):
    out = tmp_path / "a.jsonl"
    monkeypatch.setattr("sys.argv", ["allminds", "make", "items", *words, "--out", str(out)])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == f"allminds: {said}\n"
    assert not out.exists()
