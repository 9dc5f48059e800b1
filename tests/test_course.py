"""Courses: what is carried, what is not, and that the bits do not depend on how it is played."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from allminds import Discrete, How, Instrument, MindBase, Plan, Question, Test, Traits, registry
from allminds.check import block_difference
from allminds.contracts import Exercise
from allminds.core.errors import Error
from allminds.core.seeding import fingerprint
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.course import Course
from allminds.episode import Company, Plain, form, play_on
from allminds.evaluate import evaluate
from allminds.runs.run import resume, run

HERE = Path(__file__).resolve()


# ---------------------------------------------------------------- a test of questions, and minds


class Asked(NamedTuple):
    """The number that a coin is called for."""

    number: int


class Coin(Question):
    """A coin whose side nothing tells but its number."""

    actions = (Discrete(2),)

    def __init__(self, number: int) -> None:
        self.number = number
        self.complexity = {"tens": float(number % 10)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coin) and other.number == self.number

    __hash__ = None

    def observe(self, state: Any, slot: int) -> Asked:
        return Asked(self.number)

    def reward(self, answer: int) -> float:
        return float(answer == fingerprint(self.number) % 2)


class Few(Settings):
    """How many coins there are."""

    coins: int = 10_000


class Coins(Instrument):
    """Call a coin: nothing can be learnt but the coins that were met."""

    name = "test-coins"
    version = 1
    chance, ceiling, lowest = 0.5, 1.0, 0.0
    strata = "tens"
    slots = 1
    Settings = Few

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(Few, settings, self.name)

    def exercise(self, seed: int, i: int, history: Any = ()) -> Exercise:
        number = fingerprint((seed, i)) % self.settings.coins
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Coin(number))

    def show(self, observation: Any, form: str) -> Any:
        return str(observation)

    def read(self, answer: str, observation: Any) -> Any:
        return int(answer)


class Memo(MindBase):
    """Says 0 to a coin that it does not know, and what was right to one that it does."""

    traits = Traits(deterministic=True, learns=True, carries=True)

    def __init__(self) -> None:
        self.right: dict[int, int] = {}
        self.told: list[Any] = []

    def begin_course(self, course: Any) -> None:
        self.told.append(course)

    def act(self, observation: Asked, random: Any) -> int:
        self.number, self.said = observation.number, self.right.get(observation.number, 0)
        return self.said

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        self.right[self.number] = self.said if reward else 1 - self.said


class Forgetful(Memo):
    """The same, but it does not say that it carries."""

    traits = Traits(deterministic=True, learns=True)


COINS = f"{HERE}:Coins"
MEMO, FORGETFUL = f"{HERE}:Memo", f"{HERE}:Forgetful"


def course(text: Any, name: str | type = Coins, **settings: Any) -> Any:
    return registry.make_instrument(name, {**settings, "course": text})


def played(tool: Instrument, who: Any, courses: int = 1, seed: int = 1) -> list[Any]:
    line_up = registry.line_up(who, tool)
    return play_on(tool, line_up, seed, 0, courses * tool.sitting, Watch())


def scores(records: list[Any], phase: int) -> list[float]:
    return [one.score[0] for _, one in records if one.lesson.phase == phase]


# ---------------------------------------------------------------- what is carried


def test_a_memorising_mind_knows_what_it_met_and_nothing_else():
    tool = course("train=60,train,again=1,test=60,test,again=1")
    found, without = played(tool, Memo), played(tool, Forgetful)
    assert scores(found, 2) == [1.0] * 60  # the second pass
    assert scores(found, 4) == [1.0] * 60  # a test with what it was trained on
    assert scores(found, 3) == scores(without, 3)  # fresh ones
    assert scores(without, 2) == scores(without, 1)
    assert 0.2 < np.mean(scores(found, 3)) < 0.8


def test_tests_that_are_trained_on_later_are_not_among_those_that_stay_fresh():
    for text in ("test=20,test=20,train,again=2", "test=20,train=20,test,again=2,test=20"):
        tool = course(text, coins=100)
        for number in range(5):
            phases: dict[int, set[int]] = {}
            for i in range(number * tool.sitting, (number + 1) * tool.sitting):
                exercise = tool.exercise(1, i)
                phases.setdefault(exercise.lesson.phase, set()).add(exercise.environment.number)
            trained = phases[3 if "train,again" in text else 2]
            fresh = phases[1] if "train,again" in text else phases[1] | phases[4]
            assert not trained & fresh


def test_one_mind_lives_through_a_course_and_another_through_the_next():
    made: list[Memo] = []

    class Watched(Memo):
        def __init__(self) -> None:
            super().__init__()
            self.ended = 0
            made.append(self)

        def end_course(self) -> None:
            self.ended += 1

    tool = course("train=5,test=3,train=2")
    line_up = registry.line_up(Watched, tool)
    made.clear()  # one is made to see whether it can be
    play_on(tool, line_up, 1, 0, 2 * tool.sitting, Watch())
    assert [(mind.told[0].train, mind.told[0].tests) for mind in made] == [(7, 3)] * 2
    assert [len(mind.told) for mind in made] == [1, 1]
    assert [mind.ended for mind in made] == [1, 1]
    assert [len(mind.right) for mind in made] == [7, 7]


def test_tests_teach_nothing_so_that_their_order_does_not_matter():
    tool = course("train=20,test=10", name="lambda-star", iterations=12)
    for who in ("q-learning(carry=true,epsilon=0.2)", "sarsa(carry=true,state=view)"):
        line_up = registry.line_up(who, tool)
        forward = play_on(tool, line_up, 3, 0, 30, Watch())
        company = Company(line_up, Watch())
        exercises = [tool.exercise(3, i) for i in range(30)]
        history: list[Any] = []
        for exercise in exercises[:20] + exercises[:19:-1]:
            history.append(company.play(exercise, history))
        assert [one for _, one in forward[20:]] == history[:19:-1]
        assert any(one.actions != history[0].actions for one in history)


def test_a_mind_that_does_not_carry_plays_as_in_an_ordinary_evaluation():
    tool = course("train=6,order=falling,test=5", name="lambda-star", iterations=10)
    inner = registry.make_instrument("lambda-star", {"iterations": 10})
    for who in ("local-search", "q-learning(sessions=2)", "random"):
        line_up = registry.line_up(who, inner)
        for exercise, record in played(tool, who, 2):
            index = exercise.index
            ((_, alone),) = play_on(inner, line_up, 1, index, index + 1, Watch())
            for name in ("actions", "rewards", "score", "status", "steps", "complexity"):
                assert getattr(record, name) == getattr(alone, name)


def test_words_of_a_mind_differ_from_pass_to_pass_but_tests_repeat_themselves():
    tool = course("test=4,train=4,times=2,test,again=1", name="lambda-star", iterations=20)
    found = played(tool, "random")
    moves = [one.actions for _, one in found]
    assert moves[:4] == moves[12:]  # the same test again
    assert all(one != other for one, other in zip(moves[4:8], moves[8:12], strict=True))


def test_minds_in_one_exercise_carry_what_is_their_own():
    settings = {"agents": 2, "iterations": 8}
    tool = course("train=8,test=4", name="lambda-star", **settings)
    learner = "q-learning(carry=true,state=view)"
    both = played(tool, learner)
    line_up = registry.line_up(learner, tool)
    company = Company(line_up, Watch())
    for n in range(8):
        company.play(tool.exercise(1, n), [])
    one, other = (pupil.mind for pupil in company.pupils.values())
    assert one is not other
    assert one.table != other.table
    group = played(tool, f"majority({learner}, random)")
    assert {one.status for _, one in (*both, *group)} == {("ok", "ok")}
    shared = played(tool, "shared-q-learning(carry=true)")
    assert {one.status for _, one in shared} == {("ok", "ok")}
    carried = registry.line_up(f"majority({learner}, random)", tool).seats[0].subject
    assert carried.traits.carries
    assert not registry.line_up("majority(random*2)", tool).seats[0].subject.traits.carries


def test_a_mind_that_rehearses_does_not_teach_its_neighbour():
    tool = course("train=3,test=1", name="lambda-star", agents=2, iterations=5)
    line_up = registry.line_up("q-learning(sessions=4), q-learning(carry=true)", tool)
    company = Company(line_up, Watch())
    for n in range(3):
        company.play(tool.exercise(1, n), [])
    (pupil,) = company.pupils.values()
    assert 0 < len(pupil.mind.table) <= 3 * 6


def test_a_game_is_learnt_against_the_same_opponent():
    tool = course("test=10,train=40,test,again=1", name="rock-paper-scissors", steps=10)
    found = played(tool, ["q-learning(carry=true,epsilon=0,gamma=0,initial=2)", always_rock])
    assert np.mean(scores(found, 3)) == 1.0
    assert np.mean(scores(found, 1)) < 0.9


def always_rock(observation: Any) -> int:
    """Play the first action."""
    return 0


# ---------------------------------------------------------------- how it is played


def table(found: Any) -> Any:
    frame = found.frame() if hasattr(found, "frame") else found.records()
    return frame.drop(columns=["run"])


def same(one: Any, other: Any) -> bool:
    return bool(table(one).equals(table(other)))


def test_the_bits_do_not_depend_on_the_number_of_jobs():
    minds = [MEMO, FORGETFUL]
    one, two = (
        evaluate(COINS, minds, course="train=12,test=6", episodes=5, how=How(jobs=n))
        for n in (1, 2)
    )
    assert same(one, two)
    assert [row["score"] for row in one["results"]] == [row["score"] for row in two["results"]]


@pytest.mark.slow
def test_the_bits_are_the_same_on_a_cluster():
    pytest.importorskip("distributed")
    here, there = (
        evaluate(COINS, [MEMO], course="train=6,test=3", episodes=3, how=How(jobs=2, engine=engine))
        for engine in ("local", "dask")
    )
    assert same(here, there)


LONG = """
import sys, time
from allminds import How, Plan, run
from allminds.runs.run import resume
from pathlib import Path
plan = Plan.model_validate_json(sys.argv[2])
print("ready", flush=True)
run(plan, sys.argv[1], How(jobs=1))
"""


def slow_memo() -> Plan:
    """A plan of six courses, each of which takes a while."""
    return Plan(
        tests=[Test(instrument=COINS, minds=[f"{HERE}:Slow"], episodes=6, course="train=8,test=4")]
    )


class Slow(Memo):
    """The memorising mind, in no hurry."""

    def act(self, observation: Asked, random: Any) -> int:
        time.sleep(0.02)
        return super().act(observation, random)


def test_a_run_killed_in_the_midst_of_a_course_ends_with_the_same_bits(tmp_path):
    whole = run(slow_memo(), tmp_path / "whole", How(jobs=1))
    out = tmp_path / "killed"
    child = subprocess.Popen([sys.executable, "-c", LONG, out, slow_memo().model_dump_json()])
    deadline = time.monotonic() + 60
    while len(list(out.glob("records/*.parquet"))) < 2 and time.monotonic() < deadline:
        assert child.poll() is None
        time.sleep(0.005)
    time.sleep(0.1)  # eight or nine of twelve exercises are to come
    child.send_signal(signal.SIGKILL)
    child.wait()
    parts = sorted(path.stem.split("-")[-2:] for path in out.glob("records/*.parquet"))
    assert all(int(low) % 12 == 0 and int(high) % 12 == 0 for low, high in parts)  # whole courses
    assert 2 <= len(parts) < 6
    finished = resume(out, How(jobs=1))
    assert same(whole, finished)
    assert [r["score"] for r in whole.summary()["tests"][0]["results"]] == [
        r["score"] for r in finished.summary()["tests"][0]["results"]
    ]


def test_the_chosen_form_equals_the_plain_one():
    tool = course("train=5,test=3", name="lambda-star", iterations=10)
    for who in ("local-search", "q-learning(carry=true)"):
        line_up = registry.line_up(who, tool)
        quick = form(tool, line_up, Watch()).play(1, 8, 16, 16)
        assert not block_difference(quick, Plain(tool, line_up, Watch()).play(1, 8, 16, 16))


# ---------------------------------------------------------------- what is recorded


def test_every_exercise_has_its_place_in_the_table_and_a_meaning_in_the_code_book():
    found = evaluate("lambda-star", ["random"], course="train=4,times=2,test=3", episodes=2,
                     settings={"iterations": 7}, ends=False, how=How(jobs=1))  # fmt: skip
    frame = found.frame()
    assert frame["course"].tolist() == [0] * 11 + [1] * 11
    assert frame["role"].tolist() == (["train"] * 8 + ["test"] * 3) * 2
    assert frame["phase"].tolist() == ([1] * 8 + [2] * 3) * 2
    assert frame["position"].tolist() == list(range(11)) * 2
    assert frame["trained"].tolist() == [*range(8), 8, 8, 8] * 2
    assert frame["trained_steps"].tolist() == [7 * n for n in frame["trained"]]
    assert frame["item"][:4].tolist() == frame["item"][4:8].tolist()
    assert frame["cluster"].nunique() == 2
    meanings = found.codebook()["meaning"]
    for name in ("course", "phase", "role", "position", "trained", "trained_steps"):
        assert "see the instrument" not in meanings[name]
    row = found["results"][0]
    assert (row["episodes"], row["units"], row["clusters"]) == (22, 2, 2)
    assert found["episodes"] == 22


def test_the_score_is_the_mean_of_the_tests_and_the_interval_is_over_courses():
    found = evaluate(COINS, [MEMO], course="train=5,test=4", episodes=30, ends=False,
                     how=How(jobs=1))  # fmt: skip
    frame, row = found.frame(), found["results"][0]
    tests = frame[frame["role"] == "test"].groupby("course")["score"].mean()
    assert row["score"] == pytest.approx(tests.mean(), abs=1e-12)
    assert row["stderr"] == pytest.approx(tests.std() / len(tests) ** 0.5)
    low, high = row["ci95"]
    assert 0 <= low < row["score"] < high <= 1
    alone = evaluate(COINS, [MEMO], course="train=5", episodes=10, ends=False, how=How(jobs=1))
    assert alone["results"][0]["score"] == pytest.approx(alone.frame()["score"].mean())


def test_an_exercise_of_a_course_is_replayed(tmp_path):
    from allminds.runs.replay import replayed

    test = Test(
        instrument="lambda-star", minds=["q-learning(carry=true)"], episodes=2,
        course="train=4,test=3", settings={"iterations": 6},
    )  # fmt: skip
    plan = Plan(tests=[test])
    folder = run(plan, tmp_path / "run", How(jobs=1))
    for index in (0, 5, 12):
        again = replayed(folder, index, None, 0)
        assert again.record.index == index
        assert "score" in again.as_text()
    with pytest.raises(Error, match=r"0\.\.13"):
        replayed(folder, 14, None, 0)


def test_comparisons_pair_minds_by_courses():
    found = evaluate(COINS, [MEMO, FORGETFUL], course="train=40,test,again=1", episodes=20,
                     ends=False, how=How(jobs=1))  # fmt: skip
    (row,) = found.compare().to_dict("records")
    assert row["verdict"] == "different"
    assert abs(row["difference"]) > 0.3


# ---------------------------------------------------------------- what is drawn


def test_training_and_tests_share_no_item():
    for text in ("train=60,test=30", "test=30,train=60"):
        tool = course(text, coins=120)
        for number in range(5):
            exercises = [tool.exercise(2, number * tool.sitting + n) for n in range(tool.sitting)]
            by_role = {"train": set(), "test": set()}
            for exercise in exercises:
                by_role[exercise.lesson.role].add(exercise.environment.number)
            assert not by_role["train"] & by_role["test"]


def test_an_exercise_is_redrawn_from_its_own_stratum():
    tool = course("train=60,test=30", coins=150)
    inner = registry.make_instrument(Coins, {"coins": 150})
    redrawn = 0
    for number in range(5):
        exercises = [tool.exercise(2, number * tool.sitting + n) for n in range(tool.sitting)]
        for before, exercise in itertools.pairwise(exercises):
            if exercise.index != before.index + 1:
                redrawn += 1
                first = inner.exercise(2, before.index + 1).environment
                assert first.complexity == exercise.environment.complexity
    assert redrawn > 10


def test_too_few_exercises_are_one_clear_sentence():
    with pytest.raises(Error, match="test-coins has too few different exercises for this course"):
        course("train=200,test=5", coins=20).exercise(1, 0)
    with pytest.raises(Error, match="c-test has too few different exercises"):
        course("train=100,test=5", name="c-test").exercise(1, 0)


def test_every_course_has_exercises_of_its_own_and_a_seed_changes_them():
    tool = course("train=5,test=5", coins=10**9)
    first, second = ([tool.exercise(1, 10 * c + n).index for n in range(10)] for c in (0, 1))
    assert not set(first) & set(second)
    numbers = [
        [course(text, coins=10**9).exercise(1, n).environment.number for n in range(10)]
        for text in ("train=5,test=5", "train=5,seed=8,test=5")
    ]
    assert numbers[0][:5] != numbers[1][:5]
    assert numbers[0][5:] == numbers[1][5:]


@pytest.mark.parametrize("order", ["drawn", "rising", "falling", "blocked", "interleaved"])
def test_orders(order):
    tens = [
        exercise.environment.complexity["tens"]
        for exercise in (course(f"train=40,order={order}").exercise(4, n) for n in range(40))
    ]
    drawn = [course("train=40").exercise(4, n).environment.complexity["tens"] for n in range(40)]
    assert sorted(tens) == sorted(drawn)
    changes = sum(one != other for one, other in itertools.pairwise(tens))
    expected = {
        "drawn": tens == drawn,
        "rising": tens == sorted(drawn),
        "falling": tens == sorted(drawn, reverse=True),
        "blocked": changes == len(set(tens)) - 1 and tens not in (sorted(tens), drawn),
        "interleaved": len(set(tens[: len(set(tens))])) == len(set(tens)),
    }
    assert expected[order]


def test_phases_with_other_settings_and_another_instrument():
    tool = course("train=4,k=2..5,test=4,k=9..10", name="lambda-star", iterations=20)
    ks = [tool.exercise(1, n).environment.complexity["K"] for n in range(8)]
    assert max(ks[:4]) <= 5
    assert min(ks[4:]) >= 9
    both = evaluate("lambda-star", ["q-learning(carry=true)"], ends=False, episodes=2,
                    course="train=3,test=2,instrument=landscape", how=How(jobs=1))  # fmt: skip
    frame = both.frame()
    assert frame["K"].notna().tolist() == [True, True, True, False, False] * 2
    assert frame["optima"].notna().tolist() == [False, False, False, True, True] * 2


def test_the_order_of_a_phase_holds_for_what_is_played_again():
    tool = course("train=10,test,again=1,order=rising")
    first = [tool.exercise(1, n).environment.number for n in range(20)]
    assert sorted(first[:10]) == sorted(first[10:])
    assert [n % 10 for n in first[10:]] == sorted(n % 10 for n in first[:10])


# ---------------------------------------------------------------- what is written


def test_a_course_is_read_from_text_mappings_and_lists():
    text = "train=50,order=rising,test=20"
    short = {"train": {"exercises": 50, "order": "rising"}, "test": 20}
    phases = [
        {"role": "train", "exercises": 50, "order": "rising"},
        {"role": "test", "exercises": 20},
    ]
    assert Course.of(text) == Course.of(short) == Course.of(phases) == Course.of({"phases": phases})
    assert str(Course.of(short)) == text == Course.of(short).plain()
    assert len(Course.of("train=5,times=3,test=2,test,again=1")) == 22
    odd = Course.of([{"role": "train", "exercises": 2, "settings": {"coins": 3}}])
    assert Course.of(odd.plain()) == odd


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "write phases as train=50"),
        ("fifty", "'fifty' in 'fifty' is not understood"),
        ("order=rising,train=5", "'order=rising' in"),
        ("train=5,order", "'order' in"),
        ("train=5,order=sideways", "order must be"),
        ("train=0", "exercises must be"),
        ("train=many", "exercises must be"),
        ("train", "say how many exercises, as train=20"),
        ("train=5,test=2,again=1", "'again' takes the exercises of another phase as they are"),
        ("train=5,test,again=2", "again=2 is no earlier phase"),
        ("test=5,times=2", "'times' is for training"),
        ({"training": 5}, "not 'training'; did you mean"),
        ({"train": {"exercise": 5}}, "has no 'phases.0.exercise'"),
        (7, "not 7"),
        ([], "must not be empty"),
        ("train=5,seed=-1", "seed must be"),
        ("train=5,colour=red", "test-coins has no setting 'colour'"),
        ("train=5,test=5,instrument=c-test", "the actions of phase 2"),
        ("train=5,test=5,instrument=stag-hunt", "phase 2 (stag-hunt) has not the slots"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_course_is_said_in_one_sentence(given, said):
    with pytest.raises(Error) as error:
        evaluate(COINS, [MEMO], course=given, how=How(jobs=1))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_adaptive_test_cannot_be_a_course():
    with pytest.raises(Error, match="lambda-staircase chooses its exercises by the scores"):
        course("train=5", name="lambda-staircase")


def test_a_course_in_a_plan_counts_courses(tmp_path):
    written = tmp_path / "plan.toml"
    written.write_text(
        'seed = 4\n[[tests]]\ninstrument = "lambda-star"\nminds = ["q-learning(carry=true)"]\n'
        "[tests.course]\ntrain = {exercises = 5, order = 'rising'}\ntest = 2\n"
    )
    from allminds import read_plan

    (test,) = read_plan(written).tests
    assert (test.episodes, test.exercises) == (20, 140)
    assert test.settings["course"] == "train=5,order=rising,test=2"
    assert test == Test.model_validate(test.model_dump())
    with pytest.raises(Error, match="the course is given twice"):
        checked(Test, {"instrument": "c-test", "minds": ["random"], "course": "train=1",
                       "settings": {"course": "train=2"}}, "the plan")  # fmt: skip


def test_plans_without_a_course_keep_their_names():
    plan = Plan(tests=[Test(instrument="c-test", minds=["random"], episodes=3)])
    assert plan.run == "290ed296a716"
    assert "course" not in plan.model_dump_json()
