"""The answer about some minds on one screen: their profile, the verdicts, where they break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from allminds.core.errors import printable
from allminds.inference.words import interval, number
from allminds.statistics.answer_words import Topic, between, sentences, verdicts
from allminds.terminal.tables import abbreviated, say, show_test, text_of

if TYPE_CHECKING:
    from allminds.statistics.answer import Answer, MindAnswer, OnTest

MARKS = {"better": "+", "equivalent": "=", "worse": "−", "undecided": "?", None: " "}
MOST_LONG = 10  # tests with a line of their own; more stand in two columns
MOST_TESTS = 30  # in two columns
MOST_MINDS = 4
SCREEN = 26  # lines of the answer, of which the first on where one mind breaks is always there
LINES = 24  # of a small terminal
BAR = 10  # signs from floor to ceiling
SURE: tuple[Topic, ...] = ("place", "rivals")  # which are always printed about one mind
MORE: tuple[Topic, ...] = ("breaks", "surer")  # which are printed as far as they fit


def show_answer(found: Answer, room: int | None = SCREEN, where: str = "in the report") -> None:
    """Print the answer about the user's minds, or about the best fair ones: one screen.

    Several minds share `room` lines, and what does not fit is said to be `where`; without
    `room` all is printed.
    """
    console = Console()
    first = [Text(printable(text), style="bold") for text in between(found)]
    _print(first, console)
    minds = found.minds[:MOST_MINDS]
    share = room
    if room is not None and len(minds) > 1:
        share = max(1, (room - _height(first, console) - len(minds)) // len(minds))
    left_out = 0
    for n, mind in enumerate(minds):
        if n or first:
            print()
        left_out += _show_mind(found, mind, console, share)
    if len(found.minds) > MOST_MINDS:
        say(f"… and {len(found.minds) - MOST_MINDS} more minds of yours, {where}")
    if left_out and len(minds) > 1:
        say(f"… and {_more(left_out)}, {where}")


def show_tables(tests: Sequence[dict[str, Any]], found: Answer | None, below: int = 1) -> None:
    """Print the tables of some tests and the verdicts on their minds, on one small screen.

    Tables that do not fit give way to the profile. `below` is the number of lines that follow.
    """
    room = LINES - 1 - below  # a line for the prompt
    heights = [text_of(test).count("\n") + 2 for test in tests]
    if found is None or sum(heights) < room - 2 * (len(tests) > 1):
        for test in tests:
            show_test(test)
        if found is not None:
            show_verdicts(found, room - sum(heights))
        return
    if len(tests) == 1:
        show_test(tests[0])
        show_verdicts(found, max(4, room - heights[0]))
        return
    show_answer(found, room - 1, "with --verbose")


def show_verdicts(found: Answer, room: int) -> None:
    """Print what the answer says of minds and their rivals, below a table with their scores.

    Printed are the user's minds against each other, and then the sentences on each in turn, as far
    as they fit; it is said how many do not.
    """
    console = Console()
    lines = [Text(printable(text), style="bold") for text in between(found)]
    told = [verdicts(found, mind) for mind in found.minds]
    rest = 0
    for turn in range(max(map(len, told), default=0)):
        for mind, texts in zip(found.minds, told, strict=True):
            if turn >= len(texts):
                continue
            name = abbreviated(printable(mind.mind or "The best fair mind"), console.width // 3)
            line = Text(f"{name}: ", style="bold").append(printable(texts[turn]), style="not bold")
            if rest or _height([*lines, line], console) > room - 1:
                rest += 1
            else:
                lines.append(line)
    _print(lines, console)
    if rest:
        say(f"… and {_more(rest)} with --verbose")


def _show_mind(found: Answer, mind: MindAnswer, console: Console, room: int | None) -> int:
    """Print the answer about one mind, and return how many sentences do not fit."""
    said: dict[Topic, list[str]] = {}
    for one in sentences(found, mind):
        said.setdefault(one.topic, []).append(one.text)
    lines = [Text(printable(text), style="bold") for text in said.get("did", ())]
    if len(mind.tests) > 1:
        best = "best" if found.yours else "next best"
        legend = f"+ better than the {best} fair mind, − worse, = equivalent, ? undecided"
        if mind is found.minds[0]:
            lines.append(Text(f"From floor (0) to ceiling (1); {legend}:", style="dim"))
        lines += _profile(mind, console.width)
    alone, left_out = len(found.minds) == 1, 0
    for topics, always in ((SURE, alone), (MORE, False)):
        for n, text in enumerate(text for topic in topics for text in said.get(topic, ())):
            line = Text(printable(text))
            fits = room is None or _height([*lines, line], console) <= room
            if fits or always or (alone and n == 0):
                lines.append(line)
            else:
                left_out += 1
    _print(lines, console)
    return left_out


def _more(count: int) -> str:
    return f"{count} more sentence" + ("s" if count > 1 else "")


def _height(lines: Sequence[Text], console: Console) -> int:
    return sum(len(line.wrap(console, console.width)) for line in lines)


def _print(lines: Sequence[Text], console: Console) -> None:
    for line in lines:
        console.print(line)


def _profile(mind: MindAnswer, width: int) -> Iterator[Text]:
    """Lay out the tests of a mind: its place between floor and ceiling, and a mark for a rival."""
    tests = mind.tests
    if len(tests) <= MOST_LONG:
        yield from _long(tests, width, mind.mind is None)
        return
    shown = tests[:MOST_TESTS]
    half, room = -(-len(shown) // 2), (width - 2) // 2
    left, right = shown[:half], shown[half:]
    for n, one in enumerate(left):
        line = _short(one, room, mind.mind is None)
        if n < len(right):
            line.append("  ").append_text(_short(right[n], room, mind.mind is None))
        yield line
    if len(tests) > MOST_TESTS:
        yield Text(f"… and {len(tests) - MOST_TESTS} more tests, in the report")


def _short(one: OnTest, room: int, named: bool) -> Text:
    """Write a test in half a line: label, place, mark."""
    figures = f" {number(one.row['normalised']):>6} {MARKS[one.outcome(one.best)]}"
    return _label(one, room - len(figures), named).append(figures)


def _long(tests: Sequence[OnTest], width: int, named: bool) -> Iterator[Text]:
    """Write a line for each test: label, bar, place with its interval, mark and rival."""
    ends = [interval(one.row["normalised_ci95"]) for one in tests]
    reach = max(map(len, ends))
    rivals = [one.best or "" for one in tests]
    beside = min(max(map(len, rivals)), max(8, (width - 21 - reach) // 3))
    for one, its, rival in zip(tests, ends, rivals, strict=True):
        figures = f" {_bar(one)} {number(one.row['normalised']):>6} {its:>{reach}}"
        figures += f" {MARKS[one.outcome(one.best)]} "
        line = _label(one, width - len(figures) - beside, named).append(figures)
        yield line.append_text(_cell(rival, beside))


def _label(one: OnTest, room: int, named: bool) -> Text:
    """Write the label of a test, and the mind that took it unless the whole answer is about it."""
    if not named:
        return _cell(one.test.label, room)
    who = abbreviated(printable(one.mind), room // 2)
    return _cell(one.test.label, room - len(who) - 2).append(f"  {who}", style="bold")


def _cell(label: str, room: int) -> Text:
    """Fit a label into some room; the settings at its end, which tell tests apart, stay."""
    label = printable(label)
    head, comma, tail = label.rpartition(", ")
    if len(label) > room and comma and len(tail) <= room // 2:
        label = f"{abbreviated(head, room - len(tail) - 2)}, {tail}"
    return Text(abbreviated(label, room).ljust(room))


def _bar(one: OnTest) -> str:
    """Draw the place of a mind between floor and ceiling."""
    place = one.row["normalised"]
    if place is None:
        return "·" * BAR
    filled = round(min(max(float(place), 0.0), 1.0) * BAR)
    return "█" * filled + "·" * (BAR - filled)
