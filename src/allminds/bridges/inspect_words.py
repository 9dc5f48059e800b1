"""What a language model is told and asked, and how its reply is read: no library needed.

A `Conversation` is one model in one slot of one exercise, without the asking itself, so that the
mind `llm` and the Inspect tasks say the same words and read replies in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allminds.contracts import Failure, Instrument, Task
from allminds.errors import Error
from allminds.instruments.series.environment import LETTERS, Item

FORMS = ("text", "image")
PICTURED = ("matrices",)  # shown as an image unless text is asked for

_ANSWER = re.compile(
    r"^[ \t*#>]*answer[ \t*]*:[ \t*]*(.*?)[ \t\r*]*$", re.IGNORECASE | re.MULTILINE
)
_REFUSAL = re.compile(
    r"\W*(?:(?:i am|i'm) (?:very )?(?:sorry|unable|not able)|sorry|i (?:cannot|can't|can not|won't|"
    r"will not|must decline|decline|refuse)|as an ai\b|unfortunately,? i (?:cannot|can't))",
    re.IGNORECASE,
)
_HOW = "You may think first. End your reply with a line that has only your answer: ANSWER: {}"

# the rules of a test, and what an answer is: never an example, which a model may lean to
RULES = {
    "c-test": (
        "A series of letters follows a rule; the alphabet is a circle, so that a comes after z. "
        "One letter is missing, marked _. Find the letter that belongs there.{choice} If you do "
        "not know, answer none.",
        "<letter>",
    ),
    "matrices": (
        "A 3 x 3 matrix follows rules along its rows; its last panel is missing. Choose the option "
        "that belongs there.",
        "<letter of the option>",
    ),
    "lambda-star": (
        "You are on a grid whose edges are joined, like a torus. Good and Evil wander over it, "
        "each in a pattern that repeats itself. In Good's cell lies the reward +1.0 and next to "
        "it +0.5; with Evil they are negative. Each step you see the rewards in the cells around "
        "you, with you in the middle, and make one move; then you get the reward of your cell. "
        "Collect as much as you can. Moves: 1 up-left, 2 up, 3 up-right, 4 left, 5 stay, 6 right, "
        "7 down-left, 8 down, 9 down-right.",
        "<number>",
    ),
    "lambda": (
        "You are in a space of cells, together with the symbols ◆ and ★. One of the two is good: "
        "whoever is in its cell after a step gets +1. The other is evil, and brings -1. You are "
        "not told which is which. Both repeat a pattern of actions, and you all move at the same "
        "time. Each step, choose an action by its number. Collect as much as you can.",
        "<number>",
    ),
    "prisoners-dilemma": (
        "You and another play a game at once, without talking. Pay-offs to (you, the other): both "
        "cooperate 0.2, 0.2; both defect -0.6, -0.6; you cooperate and the other defects -1, 1; "
        "you defect and the other cooperates 1, -1. Get as much as you can for yourself.",
        "<cooperate or defect>",
    ),
    "matching-pennies": (
        "Two players each show heads or tails at once. {side} The winner gets 1, the loser -1.",
        "<heads or tails>",
    ),
    "noughts-and-crosses": (
        "You play noughts and crosses: three of your marks in a row win. Name the empty cell for "
        "your next mark, its row and then its column.",
        "<cell>",
    ),
}
_SIDES = ("You win when both show the same.", "You win when they show different sides.")


@dataclass(frozen=True)
class Turn:
    """What a model is told next: words, and a PNG picture if there is one."""

    text: str
    picture: bytes | None = None


class Conversation:
    """One model in one slot: what to say to it, and what it meant."""

    def __init__(self, tool: Instrument, form: str = "") -> None:
        self.tool, self.form = tool, form_of(tool, form)
        self.task: Task | None = None
        self.reward: float | None = None

    def begin(self, task: Task) -> None:
        """An exercise begins."""
        self.task, self.reward = task, None

    def ask(self, observation: Any) -> Turn:
        """The rules, if they were not told yet; what the last action brought; what is seen."""
        lines = []
        if self.task is not None:
            lines += [rules(self.tool, self.task), ""]
            self.task = None
        if self.reward is not None:
            lines.append(f"Your reward: {self.reward:+g}")
        if self.form == "image":
            from allminds.instruments.matrices.composite import composite_png

            return Turn("\n".join(lines).strip(), composite_png(observation))
        return Turn("\n".join([*lines, shown(self.tool, observation)]))

    def told(self, reward: float) -> None:
        """What the last action brought; said with the next question."""
        self.reward = reward

    def meant(self, reply: str, observation: Any, stop: str = "stop") -> Any | Failure:
        """The action in a reply, read strictly; `stop` is why it ended, in Inspect's words.

        The answer is what follows the last ``ANSWER:`` at the start of a line; without one, the
        whole reply is it.
        """
        if stop == "content_filter":
            return Failure("refused", "the provider's filter stopped the reply")
        if not reply.strip():
            return Failure("refused", "gave no answer")
        found = _ANSWER.findall(reply)
        action = self.tool.read(found[-1] if found else reply.strip(), observation)
        if not isinstance(action, Failure):
            return action
        if not found and _REFUSAL.match(reply.replace("’", "'")):
            return Failure("refused", f"refused: '{' '.join(reply.split())[:100]}'")
        if stop in ("max_tokens", "model_length"):
            return Failure("malformed", "the reply was cut off before its answer")
        return action


def rules(tool: Instrument, task: Task) -> str:
    """What a model is told before an exercise."""
    first_line = (tool.__doc__ or tool.name).strip().split("\n")[0]
    text, what = RULES.get(tool.name, (first_line, "<your choice>"))
    text = text.replace("{side}", _SIDES[task.slot % 2]).replace("{choice}", _choice(task))
    steps = f" There are {task.steps} steps." if task.steps > 1 else ""
    return f"{text}{steps}\n{_HOW.format(what)}"


def _choice(task: Task) -> str:
    """The letters on offer, if they are not all there are."""
    labels = getattr(task.actions, "labels", ())
    return f" Choose from: {', '.join(labels)}." if len(labels) < len(LETTERS) else ""


def shown(tool: Instrument, observation: Any) -> str:
    """What is seen, in words; the letters on offer in a series are part of the rules."""
    if isinstance(observation, Item):
        observation = observation._replace(options=LETTERS)
    return str(tool.show(observation, "text"))


def form_of(tool: Instrument, form: str) -> str:
    """Text or image: as asked for, or as the instrument is shown best."""
    if form and form not in FORMS:
        raise Error(f"there is no form '{form}'; choose {' or '.join(FORMS)}")
    if form == "image" and tool.name not in PICTURED:
        raise Error(f"{tool.name} is shown to language models as text, not as an image")
    return form or ("image" if tool.name in PICTURED else "text")


def mind_name(model: str, tool: Instrument, form: str) -> str:
    """The name of a model in the results table: the one that `allminds evaluate` takes."""
    usual = form_of(tool, "")
    return f"llm({model})" if form in ("", usual) else f"llm({model},form={form})"


def legal_actions(task: Task, observation: Any) -> Sequence[Any]:
    """What may be done now."""
    legal = getattr(observation, "legal", None)
    space: Any = task.actions
    return list(range(space.start, space.start + space.n)) if legal is None else list(legal)
