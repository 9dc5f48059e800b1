"""What a researcher writes down: checked at once, with one sentence that says what is wrong."""

from __future__ import annotations

import tomllib

import pytest
from studio import CELLS, SHORT, study

from allminds import registry
from allminds.core.errors import Error
from allminds.web.agenda import Agenda
from allminds.web.checking import EXAMPLE, example, read_study
from allminds.web.study import stored

SERIES = {"instrument": "c-test", "settings": {"form": "generated", "k": "7..9"}}


def test_the_example_can_be_read_and_has_a_comment_for_every_setting():
    made = read_study(EXAMPLE)
    assert stored(made.text) == made
    assert tomllib.loads(example())["tests"][0]["instrument"] == "lambda"
    plain = ("#", "en", "es", "form", "cells", "steps", "choices", "joins", "admin", "body")
    for line in example().splitlines():
        assert "=" not in line or "#" in line or line.startswith(plain), line


def test_a_language_without_a_catalogue_is_refused(tmp_path):
    text = example().replace('languages = ["en", "es"]', 'languages = ["en", "xx"]')
    text = text.replace("\nes = ", "\nxx = ")
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(Error, match="there is no language 'xx'"):
        read_study(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"slug": "No Spaces"}, "slug"),
        ({"participants": 0}, "participants must be greater than or equal to 1, not 0"),
        ({"colour": 1}, "has no 'colour'"),
        ({"languages": ["english"]}, "'english' is not a language"),
        ({"languages": ["en", "fr"]}, "title is missing in the language 'fr'"),
        ({"consent": {"version": "1", "text": {"en": "x"}}}, "consent.text is missing in .* 'es'"),
        ({"retention": "soon"}, "retention must be a valid date"),
        ({"opens": "2027-01-01T08:00:00"}, "has no time zone"),
        ({"opens": "2027-01-02T00:00:00Z", "closes": "2027-01-01T00:00:00Z"}, "after opens"),
        ({"completion_url": "javascript:alert(1)"}, "must begin with https"),
        ({"assignment": "random"}, "assignment must be 'same' or 'own'"),
        ({"resume": {"policy": "forget"}}, "resume.policy must be"),
        ({"limits": {"choices_per_second": 0}}, "limits.choices_per_second must be greater than 0"),
        ({"tests": []}, "tests must not be empty"),
        ({"tests": [{"instrument": "lamda"}]}, "did you mean 'lambda"),
        ({"tests": [{"instrument": "lambda"}]}, "has no end of exercises"),
        ({"tests": [SHORT | {"settings": {"agents": 2}}]}, "is for 2 at once"),
        ({"tests": [SHORT | {"minds": ["nobody"]}]}, "there is no mind 'nobody'"),
        ({"tests": [{"instrument": "c-test", "practice": 1}]}, "practice would give away"),
        ({"tests": [{"instrument": "c-test", "exercises": 99}]}, "has 20 exercises"),
        ({"tests": [{"instrument": "c-test"}], "assignment": "own"}, "has a fixed form"),
        ({"tests": [{"instrument": "c-test"}], "resume": {"policy": "replace"}}, "no fresh"),
        ({"tests": [{"instrument": "lambda-staircase", "shuffled": True}]}, "is adaptive"),
        ({"tests": [SHORT, SHORT]}, "the same exercises as tests.0"),
        # the first participant has 0..20 and 21..27, the second 21..41 and 28..34
        ({"tests": [SHORT | {"exercises": 21}, SHORT | {"exercises": 7, "first": 21}],
          "assignment": "own"}, "the same exercises as tests.0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(wrong, said):
    with pytest.raises(Error, match=said) as caught:
        study(**wrong)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_study(tmp_path):
    with pytest.raises(Error, match="write one with allminds study new --write-plan"):
        read_study(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("slug = ")
    with pytest.raises(Error, match="is not TOML"):
        read_study(tmp_path / "bad.toml")


# ---------------------------------------------------------------- the agenda


def kinds(agenda: Agenda) -> list[str]:
    short = {"exercise": "x", "between": "b", "instructions": "i", "check": "?", "consent": "c"}
    return "".join(
        short.get(p.kind, "e").upper() if p.practice else short.get(p.kind, "e")
        for p in agenda.places
    )


@pytest.mark.parametrize(
    ("tests", "wanted"),
    [
        ([SHORT], "cixbxbe"),
        ([SHORT | {"check": True, "practice": 1}], "ci?XBxbxbe"),
        ([SERIES | {"exercises": 5, "pause_every": 2}], "cixxbxxbxe"),
        ([SERIES | {"exercises": 4, "pause_every": 2}], "cixxbxxe"),
        ([SERIES | {"exercises": 3, "pause_every": 0, "practice": 2}], "ciXBXBxxxe"),
        ([SERIES | {"exercises": 2, "feedback": True}], "cixbxbe"),
        ([SHORT, SERIES | {"exercises": 1}], "cixbxbixe"),
    ],
)
def test_the_screens_come_in_order(tests, wanted):
    assert kinds(Agenda(study(tests=tests))) == wanted


def test_people_and_programs_are_paired_by_the_exercise():
    agenda = Agenda(study(seed=5))
    place = next(place for place in agenda.places if place.kind == "exercise")
    exercise = agenda.exercise(0, False, agenda.number(place, 7), ())
    tool = registry.make_instrument("lambda", CELLS)
    assert exercise.id == tool.exercise(5, 0).id
    assert exercise.environment == tool.exercise(5, 0).environment


def test_practice_is_never_one_of_the_exercises_that_count():
    agenda = Agenda(study(tests=[SHORT | {"practice": 2}]))
    practice = [agenda.exercise(0, True, n, ()).environment for n in range(2)]
    counted = [agenda.exercise(0, False, n, ()).environment for n in range(2)]
    assert not [one for one in practice if one in counted]


def test_a_shuffled_test_has_an_order_for_each_person():
    agenda = Agenda(study(tests=[SHORT | {"exercises": 6, "shuffled": True}]))
    places = [place for place in agenda.places if place.kind == "exercise"]
    orders = [tuple(agenda.number(place, person) for place in places) for person in range(8)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(orders)) > 1
    assert orders == [tuple(agenda.number(p, n) for p in places) for n in range(8)]


def test_own_exercises_follow_each_other_and_those_of_a_sitting_stay_together():
    assert study(assignment="own").numbers(0, 3) == [6, 7]
    staircase = {"instrument": "lambda-staircase", "settings": {"time": 40, "steps": 10}}
    made = study(tests=[staircase | {"exercises": 3}], assignment="own")
    assert made.numbers(0, 2) == [8, 9, 10]


def test_a_seed_is_drawn_unless_one_is_given_and_weak_ones_are_told():
    from allminds.web.checking import weak_seed
    from allminds.web.study import Study

    def drawn() -> int:
        values = study().model_dump(mode="json")
        del values["seed"]
        return Study.model_validate(values).seed

    seeds = {drawn() for _ in range(20)}
    assert len(seeds) == 20
    assert max(seeds).bit_length() > 55
    assert not any(weak_seed(seed) for seed in seeds)
    assert weak_seed(1) == weak_seed(20261116) == weak_seed(1_700_000_000) == "is small"
    assert weak_seed(202611161830) == weak_seed(1_700_000_000_000) == "looks like a date"
    assert weak_seed(1111111111111111) == "has a pattern"
