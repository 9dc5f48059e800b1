"""The answer about some minds on one screen: their profile, the verdicts, where they break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from allminds.core.errors import printable
from allminds.inference.words import interval, number
from allminds.statistics.answer_words import Topic, sentences
from allminds.terminal.tables import abbreviated, say

if TYPE_CHECKING:
    from allminds.statistics.answer import Answer, MindAnswer, OnTest

MARKS = {"better": "+", "equivalent": "=", "worse": "−", "undecided": "?", None: " "}
MOST_LONG = 10  # tests with a line of their own; more stand in two columns
MOST_TESTS = 30  # in two columns
MOST_MINDS = 4
SCREEN = 26  # lines of the answer about one mind; the first on where it breaks is always there
BAR = 10  # signs from floor to ceiling
SURE: tuple[Topic, ...] = ("place", "rivals")  # which are always printed
MORE: tuple[Topic, ...] = ("breaks", "surer")  # which are printed as far as they fit


def show_answer(found: Answer) -> None:
    """Print the answer about the user's minds, or about the best fair ones: one screen."""
    console = Console()
    for n, mind in enumerate(found.minds[:MOST_MINDS]):
        if n:
            print()
        _show_mind(found, mind, console)
    if len(found.minds) > MOST_MINDS:
        say(f"… and {len(found.minds) - MOST_MINDS} more minds of yours, in the report")


def _show_mind(found: Answer, mind: MindAnswer, console: Console) -> None:
    said: dict[Topic, list[str]] = {}
    for one in sentences(found, mind):
        said.setdefault(one.topic, []).append(one.text)
    lines = [Text(printable(text), style="bold") for text in said.get("did", ())]
    if len(mind.tests) > 1:
        best = "best" if found.yours else "next best"
        legend = f"+ better than the {best} fair mind, − worse, = equivalent, ? undecided"
        lines.append(Text(f"From floor (0) to ceiling (1); {legend}:", style="dim"))
        lines += _profile(mind, console.width)
    lines += [Text(printable(text)) for topic in SURE for text in said.get(topic, ())]
    height = sum(len(line.wrap(console, console.width)) for line in lines)
    for n, text in enumerate(text for topic in MORE for text in said.get(topic, ())):
        line = Text(printable(text))
        height += len(line.wrap(console, console.width))
        if n == 0 or height <= SCREEN:
            lines.append(line)
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
