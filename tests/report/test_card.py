"""The result card: it says what the run says, repeats it to the bit, and never overflows."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import allminds

import allminds as am
from allminds.core.errors import Error
from allminds.report.card import SCHEMA, as_svg, card, facts, section, title, write_card
from allminds.report.charts.card import EM, WIDTH
from allminds.runs.plan import Plan, Test
from allminds.runs.resolve import Resolved
from allminds.runs.run import run as play
from allminds.runs.store import RunFolder

SMALL = {"rows": 5, "cols": 5, "iterations": 10}
ONE = am.How(jobs=1)
MINE = """
from allminds import MindBase


class Still(MindBase):
    def act(self, observation, random):
        return len(observation.rewards) // 2
"""
DOCS = Path(__file__).parents[2] / "docs/python.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("card") / "run"
    minds = ["local-search", "expert(intercept=false)"]
    am.evaluate("lambda-star", minds, settings=SMALL, episodes=66, seed=3, out=out, how=ONE)
    return RunFolder.open(out)


def scores(folder):
    rows = [row for test in folder.summary()["tests"] for row in test["results"]]
    return {row["mind"]: (row["score"], row["ci95"], row["normalised"]) for row in rows}


def test_the_card_says_what_the_summary_says(folder):
    found = card(folder)
    assert found["card"] == SCHEMA
    (test,) = found["tests"]
    rows = {row["mind"]: row for row in folder.summary()["tests"][0]["results"]}
    assert [one["mind"] for one in test["minds"]] == ["expert(intercept=false)", "local-search"]
    assert [(one["mind"], one["end"]) for one in test["ends"]] == [
        ("random", "floor"), ("optimum", "ceiling"),
    ]  # fmt: skip
    for one in (*test["minds"], *test["ends"]):
        for name in set(one) - {"mind", "end"}:
            assert one[name] == rows[one["mind"]][name]
    assert (found["seed"], test["exercises"], test["settings"]) == (3, 66, SMALL)


def repeated(found, place):
    words = shlex.split(found["command"])
    assert words[0] == "allminds"
    done = allminds(*words[1:], "--out", "again", "--jobs", "2", cwd=place)
    assert done.returncode == 0, done.stderr
    return RunFolder.open(place / "again")


def test_the_command_repeats_the_scores_to_the_bit(folder, tmp_path):
    found = card(folder)
    again = repeated(found, tmp_path)
    assert scores(again) == scores(folder)
    assert card(again)["figures"] == found["figures"]


def test_the_command_repeats_games_rivals_and_plans(tmp_path):
    made = {
        "game": am.evaluate("stag-hunt", ["stag"], against="hare", episodes=20, how=ONE,
                            out=tmp_path / "game"),
        "rival": am.evaluate("c-test", ["mode"], against="min-distance", how=ONE,
                             out=tmp_path / "rival"),
        "both": am.evaluate(["c-test", {"instrument": "stag-hunt", "episodes": 9}], ["random"],
                            how=ONE, out=tmp_path / "both"),
    }  # fmt: skip
    for name, results in made.items():
        run = RunFolder.open(results.folder)
        found = card(run)
        again = repeated(found, tmp_path)
        assert scores(again) == scores(run), found["command"]
        shutil.rmtree(again.path)
        run_plan = f"allminds run {tmp_path}/both/plan.json"
        assert found["command"].startswith(run_plan if name == "both" else "allminds evaluate")


def test_the_command_of_a_plan_works_where_the_run_was_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(MINE)
    tests = [Test(instrument="lambda-star", minds=["random", "optimum"], episodes=22,
                  settings=SMALL | {"cols": cols}) for cols in (5, 6)]  # fmt: skip
    made = play(Resolved.of(Plan(tests=tests, seed=2), ["my.py:Still"]), Path("runs/1"), ONE)
    found = card(RunFolder.open(made.path))
    assert found["command"] == "allminds run runs/1/plan.json"
    assert scores(repeated(found, tmp_path)) == scores(made)
    assert card(RunFolder.open(tmp_path / "runs/1"))["command"] == found["command"]


def test_the_command_of_a_part_of_the_battery_names_tests_and_exercises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(MINE)
    words = "run battery --mind my.py:Still --only stag-hunt --only lambda-star* --episodes 11"
    done = allminds(*words.split(), "--seed", "4", "--out", "a/b")
    assert done.returncode == 0, done.stderr
    run = RunFolder.open(Path("a/b"))
    found = card(run)
    assert found["command"].startswith("allminds run battery --mind my.py:Still --only ")
    again = repeated(found, tmp_path)
    assert again.plan == run.plan
    assert scores(again) == scores(run)


def test_a_card_has_the_tests_that_the_minds_took_and_counts_the_others(tmp_path):
    names = {"lambda-star": ["random", "local-search"], "stag-hunt": ["random", "stag"]}
    tests = [Test(instrument=name, minds=minds, episodes=22) for name, minds in names.items()]
    five = [tests[0].model_copy(update={"settings": {"agents": n}}) for n in (2, 3)]
    made = play(Plan(tests=[*tests, *five], yours=["local-search"]), tmp_path / "run", ONE)
    found = card(made)
    labels = [one["label"] for one in found["tests"]]
    assert labels == ["lambda-star", "lambda-star, agents 2", "lambda-star, agents 3"]
    assert found["given"] == 4
    assert title(found) == "local-search on lambda-star (3 of 4 tests)"
    many = [{"instrument": f"i{n}"} for n in range(7)]
    assert title(found | {"tests": many, "given": 23}) == "local-search on 7 of 23 tests"
    assert title(found | {"tests": many, "given": 7}) == "local-search on 7 instruments"
    for ending in ("md", "svg"):
        text = write_card(made, tmp_path / f"card.{ending}").read_text("utf-8")
        assert "1 of 4 tests of the run not taken by this mind" in text
        assert "stag" not in text.partition("repeat")[0]
    assert "| lambda-star, agents 3 | local-search |" in (tmp_path / "card.md").read_text("utf-8")


def test_the_command_of_a_battery_names_it(tmp_path):
    from allminds.report.card import command
    from allminds.runs.plan import read_plan

    plan = Resolved.of(read_plan("battery"), ["local-search"]).plan
    assert command(plan, Path("1"), set()) == "allminds run battery --mind local-search --seed 1"


def test_a_card_says_what_the_ceiling_is_where_no_mind_is_it(tmp_path):
    found = am.evaluate("stag-hunt", ["stag"], against="hare", episodes=20, how=ONE,
                        out=tmp_path / "run")  # fmt: skip
    (test,) = card(RunFolder.open(found.folder))["tests"]
    assert [row["end"] for row in test["ends"]] == ["floor"]
    drawn = found.card(tmp_path / "a.svg").read_text("utf-8")
    assert "ceiling: the best possible score" in drawn


def test_the_hash_of_the_records_is_that_of_the_lines_in_the_sums(folder):
    lines = (folder.path / "SHA256SUMS").read_text().splitlines(keepends=True)
    mine = sorted((one for one in lines if "  records/" in one), key=lambda one: one.split()[1])
    assert card(folder)["records"] == hashlib.sha256("".join(mine).encode()).hexdigest()


def test_the_hash_changes_with_a_record_and_damage_is_refused(folder, tmp_path):
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    other = tmp_path / "run"
    shutil.copytree(folder.path, other)
    run = RunFolder.open(other)
    assert card(run)["records"] == card(folder)["records"]
    path = next((other / "records").iterdir())
    table = pq.read_table(path)
    at = table.column_names.index("score")
    table = table.set_column(at, "score", pc.multiply(table["score"], 0.5))
    run.write(f"records/{path.name}", lambda file: pq.write_table(table, file))
    run.tidy_sums()
    assert card(RunFolder.open(other))["records"] != card(folder)["records"]
    path.write_bytes(path.read_bytes()[:-9] + b"x" * 5 + b"PAR1")
    with pytest.raises(Error, match="missing or damaged"):
        card(RunFolder.open(other))


def test_no_text_is_wider_than_its_place(tmp_path):
    """By the widest of common fonts; what is cut shows whole on hover."""
    long = "mind-" + "x" * 90
    minds = {long: lambda seen: 5, "<&>": lambda seen: 77, "random": "random"}
    found = am.evaluate("lambda-star", minds, settings=SMALL, episodes=22, how=ONE)
    root = ElementTree.parse(found.card(tmp_path / "card.svg")).getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = list(root.iter(f"{space}text"))
    for one in texts:
        text = "".join(part for part in one.itertext() if part != one.findtext(f"{space}title"))
        wide = len(text) * EM * float(one.get("font-size"))
        x = float(one.get("x"))
        low, high = (x - wide, x) if one.get("text-anchor") == "end" else (x, x + wide)
        assert low >= 0, text
        assert high <= WIDTH, text
    told = [one.findtext(f"{space}title") or one.text for one in texts]
    assert long in "".join(told)
    assert "22 failed, not ranked of 22 exercises" in told
    markdown = found.card(tmp_path / "card.md").read_text(encoding="utf-8")
    assert "&lt;&amp;&gt;" in markdown


def test_without_a_mind_of_yours_it_has_the_best_three_that_do_not_see_the_future(tmp_path):
    minds = ["random", "optimum", "expert", "local-search", "q-learning(sessions=2)",
             "sarsa(sessions=2)", "local-search(slip=0.5)"]  # fmt: skip
    test = Test(instrument="lambda-star", minds=minds, episodes=66, settings=SMALL)
    found = card(play(Plan(tests=[test]), tmp_path / "run", ONE))
    (one,) = found["tests"]
    names = [row["mind"] for row in one["minds"]]
    assert len(names) == 3
    assert "local-search" in names
    assert not {"expert", "optimum", "random"} & set(names)
    assert one["others"] == 4
    assert title(found) == "the best fair minds on lambda-star"


def test_a_test_that_only_clairvoyants_took_says_so(tmp_path):
    test = Test(instrument="lambda-star", minds=["random", "expert"], episodes=11, settings=SMALL)
    found = card(play(Plan(tests=[test]), tmp_path / "run", ONE))
    assert found["tests"][0]["minds"] == []
    assert "no fair mind took it" in as_svg(found)


def test_a_long_name_of_a_test_is_whole_and_many_tests_stand_in_two_columns(folder):
    found = card(folder)
    name = "lambda-star-coordination"
    svg = as_svg(found | {"tests": [found["tests"][0] | {"instrument": name}]})
    assert f">{name}</text>" in svg
    assert f'viewBox="0 0 {WIDTH} ' in svg
    tall = as_svg(found | {"tests": found["tests"] * 20})
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', tall).groups())
    assert width > WIDTH
    assert height < 1.5 * width  # as a page is
    assert tall.count(">lambda-star</text>") == 20


def test_the_legend_says_what_is_drawn_and_nothing_else(folder):
    found = card(folder)
    (row,) = found["tests"][0]["minds"][:1]
    tests = [found["tests"][0] | {"minds": [row | {"normalised": place}]} for place in (0.5, None)]

    def words(*tests):
        return " ".join(re.sub(r"<[^>]+>", " ", as_svg(found | {"tests": list(tests)})).split())

    low = tests[0] | {"minds": [row | {"normalised": -0.5}]}
    assert "A ring" not in words(tests[0])
    assert "No bar" not in words(tests[0])
    assert "A ring: below the floor." in words(tests[0], low)
    assert "No bar: the ceiling is not known." in words(*tests)
    assert "A bar runs" not in words(tests[1])


def test_every_hash_says_what_it_is(folder):
    for name, value, what in facts(card(folder)):
        assert (name in ("plan", "records", "scores")) == bool(what), name
        assert not re.fullmatch(r"[0-9a-f]{12,}", value) or what


def test_the_report_has_the_card_and_its_files(folder):
    import base64

    found = card(folder, "PLAN.toml")
    made = section(folder)
    assert made["picture"] == as_svg(found)
    files = {name: base64.b64decode(link.partition(",")[2]) for name, link in made["files"]}
    assert json.loads(files["card.json"]) == json.loads(json.dumps(found))
    assert files["card.svg"].decode() == made["picture"]
    assert b"| lambda-star | local-search |" in files["card.md"]


def test_a_card_is_a_file_by_its_ending(folder, tmp_path):
    assert write_card(folder, tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    assert json.loads(write_card(folder, tmp_path / "a.json").read_text()) == card(folder)
    text = write_card(folder, tmp_path / "a.md").read_text(encoding="utf-8")
    assert "`allminds evaluate lambda-star --mind local-search" in text
    with pytest.raises(Error, match=r"cannot write a card as 'a\.pdf'"):
        write_card(folder, tmp_path / "a.pdf")


def test_the_command_line_writes_it(folder, tmp_path):
    done = allminds("card", folder.path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads(json.dumps(card(folder)))
    done = allminds("card", folder.path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder.path / "card.svg").read_text().startswith("<svg")
    assert done.stdout == f"card: {folder.path}/card.svg\n"


def test_every_field_of_the_json_is_explained(folder):
    known = set(re.findall(r"^\| `([a-z0-9_]+)` \|", DOCS.read_text(), re.M))
    found = card(folder)
    fields = {*found, *found["tests"][0], *found["tests"][0]["minds"][0], "end"}
    assert fields <= known, fields - known
