"""Courses: what is carried and what is not, what is drawn, and how a course is written."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from coins import COINS, MEMO, Coins, Forgetful, Memo, course, played, scores

from allminds import How, Plan, Test, registry
from allminds.core.errors import Error
from allminds.core.settings import checked
from allminds.core.watch import Watch
from allminds.course import Course
from allminds.episode import Company, play_on
from allminds.evaluate import evaluate

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


def inner(exercise: Any) -> Any:
    """The exercise as the instrument made it, without its place in a course."""
    return exercise.tool.exercise(exercise.seed, exercise.index)


def roles(tool: Any, seed: int = 3) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"train": [], "test": []}
    for n in range(tool.sitting):
        exercise = tool.exercise(seed, n)
        found[exercise.lesson.role].append(inner(exercise))
    return found


def test_a_shift_of_a_series_that_was_trained_with_is_not_in_the_test():
    """Without this rule some would be: the bank has several shifts of one series."""
    tool = course("train=60,test=60", name="c-test", form="generated", k="7..8")
    found = roles(tool)
    clusters = {role: {one.cluster for one in given} for role, given in found.items()}
    assert not clusters["train"] & clusters["test"]
    plain = registry.make_instrument("c-test", {"form": "generated", "k": "7..8"})
    drawn = [plain.exercise(3, n) for n in range(120)]
    before = {one.cluster for one in drawn[:60]}
    assert any(one.cluster in before for one in drawn[60:])


def test_a_world_with_the_symbols_exchanged_or_its_pattern_repeated_is_the_same():
    settings = {"form": "given", "space": "1+|1-", "steps": 6}
    worlds = [
        registry.make_instrument("lambda", {**settings, "pattern": pattern}).exercise(1, n)
        for pattern in ("01", "0101", "011")
        for n in range(9)
    ]
    known = [one.environment.known_by for one in worlds]
    assert {one.environment.good_symbol for one in worlds[:9]} == {0, 1}
    assert len(set(known[:18])) == 1
    assert len(set(known)) == 2
    tool = course("train=12,test=8", name="lambda", form="general", cells=2, steps=6)
    found = roles(tool)
    known_by = {r: {one.environment.known_by for one in given} for r, given in found.items()}
    assert not known_by["train"] & known_by["test"]


def test_in_one_given_world_all_exercises_are_of_it():
    settings = {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "2210", "steps": 8}
    tool = course("train=20,test=10", name="lambda", **settings)
    found = roles(tool)
    assert [len(given) for given in found.values()] == [20, 10]
    assert len({one.index for given in found.values() for one in given}) == 30


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("lambda", {"form": "general", "steps": 5}), ("lambda-star", {"iterations": 10}),
        ("landscape", {"iterations": 10}), ("matrices", {}), ("c-test", {"form": "generated"}),
    ],
)  # fmt: skip
def test_no_instrument_shows_in_a_test_what_it_showed_in_training(name, settings):
    found = roles(course("train=40,test=20", name=name, **settings))
    for one in found["test"]:
        assert all(one.environment != other.environment for other in found["train"])
        assert one.item is None or one.item not in {other.item for other in found["train"]}


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
