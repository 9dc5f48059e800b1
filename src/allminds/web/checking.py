"""Reading a study, and finding what is wrong with it before participants are invited."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from allminds import registry
from allminds.core.errors import Error
from allminds.core.settings import checked, file_text
from allminds.web.study import PERSON, QUESTIONS, Study, all_of

EXAMPLE = Path(__file__).with_name("study_example.toml")


def example() -> str:
    """Return a study to start from, with comments."""
    return EXAMPLE.read_text(encoding="utf-8")


def read_study(path: str | Path) -> Study:
    """Read a study from a TOML file, and check it as far as possible."""
    where = f"the study {path}"
    try:
        values = tomllib.loads(file_text(Path(path)))
    except OSError as error:
        raise Error(
            f"cannot read {where}: {error.strerror}; write one with allminds study new "
            "--write-plan > STUDY.toml"
        ) from None
    except (ValueError, RecursionError) as error:  # of TOML, UTF-8, endless lists
        raise Error(f"{where} is not TOML: {error}") from None
    study = checked(Study, values, where)
    check(study, where)
    return study


def check(study: Study, where: str) -> None:
    """Find what is wrong with the tests of a study before participants are invited."""
    from allminds.web.dataset import MEANINGS
    from allminds.web.languages import language

    for code in study.languages:
        language(code)  # one without a catalogue is found here
    for one in study.questions:
        if one.name in (*MEANINGS, *QUESTIONS):
            raise Error(
                f"{where}: questions: '{one.name}' is a column of the data already; name it "
                f"'my_{one.name}', or otherwise"
            )
    if study.arm:
        raise Error(f"{where}: 'arm' is drawn for each participant; write [[arms]] instead")
    if any(given.opponent == PERSON for given in study.tests) and (
        study.order != "fixed" or study.arms
    ):
        raise Error(
            f"{where}: two people who play with each other take the same tests in one order; set "
            "order = 'fixed' and leave out arms"
        )
    for made in study.variants:
        _check_tests(made, f"{where}, arm '{made.arm}'" if made.arm else where)


def _check_tests(study: Study, where: str) -> None:
    for number, given in enumerate(study.tests):
        here = f"{where}: tests.{number} ({given.instrument})"
        tool = study.tool(number)
        _check_opponent(study, number, here)
        _check_course(study, number, here)
        _check_count(study, number, here)
        if given.practice and study.practice_tool(number).length is not None:
            raise Error(
                f"{here}: practice would give away one of its {tool.length} fixed exercises; set "
                "practice = 0, or practice_settings with another form"
            )
        _check_twins(study, number, here)
    study.resolve()


def _check_count(study: Study, number: int, here: str) -> None:
    given, tool = study.tests[number], study.tool(number)
    most = all_of(tool)
    if given.exercises is None and not most:
        raise Error(f"{here} has no end of exercises; say how many with exercises = 7")
    if most and given.first + study.count(number) > most:
        raise Error(f"{here} has {most} exercises; take at most so many, the first included")
    if tool.length is not None and study.assignment == "own":
        raise Error(f"{here} has a fixed form; set assignment = 'same'")
    if study.resume.policy == "replace" and (tool.adaptive or tool.length is not None):
        raise Error(f"{here} has no fresh exercise to replace one by; set resume.policy otherwise")
    if tool.adaptive and (given.shuffled or given.first):
        what = "is a course" if tool.parts else "is adaptive"
        raise Error(f"{here} {what}: its exercises have one order; leave out shuffled, first")


def _check_course(study: Study, number: int, here: str) -> None:
    """Require that a course can be given to people: in one instrument, as long as it says."""
    given, tool = study.tests[number], study.tool(number)
    if not tool.parts:
        return
    if given.exercises is not None:
        raise Error(f"{here}: its course says how many exercises there are; leave out exercises")
    other = next((part.name for part in tool.parts if part.name != tool.name), "")
    if other:
        raise Error(f"{here}: people take a course in one instrument; give {other} as a test")
    if given.opponent and study.machine(number).traits.carries:
        raise Error(f"{here}: '{given.machine}' carries, which the other in a study cannot do")


def _check_opponent(study: Study, number: int, here: str) -> None:
    """Require that a test is for one, or a game for two that names its opponent."""
    given, slots = study.tests[number], study.tool(number).slots
    if slots > 2:
        raise Error(f"{here} is for {slots} at once; people take tests alone or in twos")
    if slots == 2 and not given.opponent:
        raise Error(
            f"{here} is for 2 at once; name the other: opponent = 'person', or a mind's name"
        )
    if slots == 1:
        if given.opponent:
            raise Error(f"{here} is for one alone; leave out opponent")
        return
    if study.practice_tool(number).slots != 2:
        raise Error(f"{here} is a game for 2, and so must its practice_settings be")
    machine = study.machine(number)
    if machine.group or machine.traits.practice:
        raise Error(f"{here}: '{machine.name}' must take one slot, and need no rehearsals")
    if machine.traits.one_at_a_time:
        raise Error(f"{here}: the moves of '{machine.name}' could not be worked out again later")
    if given.opponent == PERSON and (given.choice_seconds or given.exercise_seconds):
        raise Error(f"{here}: people who play with each other have move_seconds; leave out others")
    if given.opponent == PERSON and (given.shuffled or study.assignment == "own"):
        raise Error(
            f"{here}: two people take the same exercises in one order; leave out shuffled, and set "
            "assignment = 'same'"
        )


def _check_twins(study: Study, number: int, here: str) -> None:
    """Require that no two tests give a participant the same exercises."""
    people = range(study.participants if study.assignment == "own" else 1)
    for other in range(number):
        if study.tool(other).parts or study.tool(number).parts:
            if _drawn(study, other) & _drawn(study, number):
                raise Error(
                    f"{here} has the same exercises as tests.{other}; give the phases of a course "
                    "another seed"
                )
            continue
        if not study.same_series(other, number):
            continue
        if any(set(study.numbers(other, p)) & set(study.numbers(number, p)) for p in people):
            raise Error(f"{here} has the same exercises as tests.{other}; set first to begin later")


def _drawn(study: Study, test: int) -> set[str]:
    """Collect the exercises of the first participant by their series, in a course or not."""
    tool, numbers = study.tool(test), study.numbers(test, 0)
    if tool.adaptive and not tool.parts:
        return set()
    made = [tool.exercise(study.seed, number) for number in numbers]
    return {f"{registry.exercise_prefix(one.tool, one.seed)}{one.index}" for one in made}


def weak_seed(seed: int) -> str:
    """Say why a seed could be found by trying; empty if it could not."""
    if seed < 1 << 32:
        return "is small"
    text = str(seed)
    dated = re.fullmatch(r"(19|20|21)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{0,9}", text)
    if dated or 10**9 <= seed // 1000 < 10**10:  # as 202701311830, or milliseconds since 1970
        return "looks like a date"
    return "has a pattern" if len(set(text)) < 5 else ""
