"""The rules of every test in words, as a language model is told them before it begins.

They are worked out from the instrument's settings and the slot, so that sizes and pay-offs are
those of this very test. What an answer looks like is said without an example, which a model may
lean to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from allminds.contracts import Instrument, Task
from allminds.instruments.games.predators import PREDATORS, PREY
from allminds.instruments.lambda_.screen import OTHER, SYMBOLS, YOU
from allminds.instruments.series.environment import LETTERS

_HOW = "You may think first. End your reply with a line that has only your answer: ANSWER: {}"


class Told(NamedTuple):
    """The rules of a test, and what an answer is."""

    text: str
    answer: str


def rules(tool: Instrument, task: Task) -> str:
    """What a model is told before an exercise."""
    told = RULES.get(tool.name, _by_its_page)(tool, task)
    return f"{told.text}\n{_HOW.format(told.answer)}"


def _by_its_page(tool: Any, task: Task) -> Told:
    """An instrument of somebody else's: the first line of its documentation."""
    first_line = (tool.__doc__ or "").strip().split("\n")[0]
    which = f"This is {tool.name}." if ":" in tool.name or not first_line else ""  # of a family
    return Told(_joined(which, first_line, _lasts(task)), "<your choice>")


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _lasts(task: Task, of: str = "steps") -> str:
    return f"There are {task.steps} {of}." if task.steps > 1 else ""


def _either(words: Sequence[str]) -> str:
    """The answers that there are, as <a, b or c>."""
    return f"<{', '.join(words[:-1])} or {words[-1]}>"


def _you_all(task: Task) -> str:
    others = task.slots - 1
    return f"You and {'another' if others == 1 else f'{others} others'}"


def _labels(task: Task) -> Sequence[str]:
    space: Any = task.actions
    return tuple(space.labels)


def _number(value: float) -> str:
    """A pay-off, in at most three digits."""
    return f"{value:.3g}"


# ---------------------------------------------------------------- questions


def _series(tool: Any, task: Task) -> Told:  # noqa: ARG001
    labels = _labels(task)
    choice = f"Choose from: {', '.join(labels)}." if len(labels) < len(LETTERS) else ""
    text = _joined(
        "A series of letters follows a rule; the alphabet is a circle, so that a comes after z. "
        "One letter is missing, marked _. Find the letter that belongs there.",
        choice,
        "If you do not know, answer none.",
    )
    return Told(text, "<letter>")


def _matrices(tool: Any, task: Task) -> Told:  # noqa: ARG001
    return Told(
        "A 3 x 3 matrix follows rules along its rows; its last panel is missing. Choose the option "
        "that belongs there.",
        "<letter of the option>",
    )


# ---------------------------------------------------------------- Λ* and what is made of it


def _on_torus(tool: Any, task: Task, *special: str) -> Told:
    """Λ*, and the sentences that say what is special."""
    text = _joined(
        _field(tool, task),
        "Good and Evil wander over it, each in a pattern that repeats itself. In Good's cell lies "
        "the reward +1.0 and next to it +0.5; with Evil they are negative, and near both they "
        f"add up. Each step you see the rewards that lie in {_sight(tool)}. Then everybody makes "
        "one move at once, Good and Evil too.",
        *special,
        _lasts(task),
        _MOVES,
    )
    return Told(text, "<number>")


_MOVES = (
    "Moves: 1 up-left, 2 up, 3 up-right, 4 left, 5 stay, 6 right, 7 down-left, 8 down, "
    "9 down-right."
)


def _field(tool: Any, task: Task) -> str:
    """The torus, and the others on it, whom nobody is shown."""
    given, others = tool.settings, task.slots - 1
    who = "Another player is" if others == 1 else f"{others} other players are"
    return _joined(
        f"You are on a grid of {given.rows} x {given.cols} cells whose edges are joined, like a "
        "torus.",
        f"{who} on it too, and you do not see where." if others else "",
    )


def _sight(tool: Any) -> str:
    reach = tool.settings.range
    away = "next to you" if reach == 1 else f"up to {reach} away from you"
    return f"the cells {away}, with your own in the middle"


def _landscape(tool: Any, task: Task) -> Told:
    drift = tool.settings.drift
    text = _joined(
        _field(tool, task),
        "It is a land of hills, whose heights go from -1 at its lowest to 1 on top of the highest "
        f"hill; their mean is 0. Each step you see the heights of {_sight(tool)}, and make "
        "one move.",
        f"In a step every hill moves by a cell with chance {drift:g}." if drift else "",
        "After the step you get the height of your cell. Collect as much as you can.",
        _lasts(task),
        _MOVES,
    )
    return Told(text, "<number>")


_OWN_CELL = "After the step you get the reward of your cell. Collect as much as you can."


def _lambda_star(tool: Any, task: Task) -> Told:
    return _on_torus(tool, task, _OWN_CELL)


def _coordination(tool: Any, task: Task) -> Told:
    rule = (
        f"Good gives its reward only at a step after which at least {tool.settings.needed} players "
        "are in its cell or next to it; Evil takes from anybody."
    )
    return _on_torus(tool, task, _OWN_CELL, rule)


def _responsive(tool: Any, task: Task) -> Told:
    rule = (
        f"At every step, with chance {tool.settings.responsive:g}, Good leaves its pattern and "
        "moves away from the player nearest to it, and with the same chance Evil leaves its own "
        "and moves toward the player nearest to it."
    )
    return _on_torus(tool, task, rule, _OWN_CELL)


def _coverage(tool: Any, task: Task) -> Told:
    who, whose = ("all of you", "any of you has") if task.slots > 1 else ("you", "you have")
    rule = (
        f"But Good and Evil do not count here: after a step {who} get the share of all cells that "
        f"{whose} seen so far. Get as much as you can."
    )
    return _on_torus(tool, task, rule)


def _team_lambda_star(tool: Any, task: Task) -> Told:
    gain = "After the step every player gains the reward of its cell."
    return _on_torus(tool, task, gain, _two_teams(tool, task))


def _two_teams(tool: Any, task: Task, yours: str = "") -> str:
    """Teams of equal size, and what they get."""
    size = len(task.team)
    paid = (
        "half of how much the mean gain of its members is above that of the other team"
        if tool.settings.shares == "difference"
        else "the mean gain of its members"
    )
    return _joined(
        f"There are two teams of {size} player{'s' * (size > 1)}.",
        yours,
        f"Everybody in a team gets {paid}. Get as much as you can for your team.",
    )


# ---------------------------------------------------------------- Λ and what is made of it


def _in_cells(tool: Any, task: Task, *special: str) -> Told:
    """Λ, and the sentences that say what is special."""
    first, second = SYMBOLS
    unseen = (
        "You see only what is in your own cell and in those that your actions lead to."
        if tool.settings.observation == "adjacent"
        else ""
    )
    text = _joined(
        f"You ({YOU}) are in a space of cells, together with the symbols {first} and {second}"
        f"{_signs(task)}. One of the two symbols is good, the other evil, and you are not told "
        "which is which. Both repeat a pattern of actions, and all move at the same time.",
        _TRAIL if tool.settings.rewards == "trail" else _POSITION,
        unseen,
        *special,
        _lasts(task),
        "Each step, choose an action by its number.",
    )
    return Told(text, "<number>")


_POSITION = (
    "After a step whoever is in the good symbol's cell gains +1, whoever is in the evil one's -1."
)
_TRAIL = (
    "At every step the good symbol leaves +1 in its cell and the evil one -1, in place of what "
    "lay there, and what lies in all other cells becomes half of it. After a step you gain what "
    "lies in your cell, in equal shares with whoever else is there, and the cell is empty then."
)


def _sign(n: int) -> str:
    """How the n-th of the other players is shown."""
    return f"{OTHER}{n}" if n else OTHER


def _signs(task: Task) -> str:
    """The other players, if there are any."""
    signs = [_sign(n) for n in range(task.slots - 1)]
    return f" and other players ({', '.join(signs)})" if signs else ""


def _yours(task: Task) -> str:
    """Who is in the same team, if anybody is."""
    others = [slot for slot in range(task.slots) if slot != task.slot]
    mates = [_sign(n) for n, slot in enumerate(others) if slot in task.team]
    return f"Your team are you and {', '.join(mates)}." if mates else ""


def _lambda(tool: Any, task: Task) -> Told:
    shared = "Each of you gets the mean of what your team gains." if len(task.team) > 1 else ""
    return _in_cells(tool, task, _yours(task), shared, "Collect as much as you can.")


def _team_lambda(tool: Any, task: Task) -> Told:
    return _in_cells(tool, task, _two_teams(tool, task, _yours(task)))


# ---------------------------------------------------------------- games


def _table(tool: Any, task: Task) -> Told:
    """A game of two by its table of pay-offs, from the side of a slot."""
    labels, world = _labels(task), tool.environment
    lines = []
    for own, mine in enumerate(labels):
        for other, theirs in enumerate(labels):
            joint = (own, other) if task.slot == 0 else (other, own)
            paid = world.table[joint]
            lines.append(
                f"If you choose {mine} and the other {theirs}, you get "
                f"{_number(paid[task.slot])} and the other {_number(paid[1 - task.slot])}."
            )
    text = _joined(
        f"{_you_all(task)} choose {_either(labels)[1:-1]}, both at once and without talking.",
        *lines,
        _lasts(task, "rounds"),
        "Get as much as you can for yourself.",
    )
    return Told(text, _either(labels))


def _public_goods(tool: Any, task: Task) -> Told:
    given, table, others = tool.settings, tool.environment.table, task.slots - 1

    def paid(own: int) -> str:
        joints = [(own, *[0] * givers, *[1] * (others - givers)) for givers in range(task.slots)]
        return ", ".join(_number(table[joint][0]) for joint in joints)

    counts = ", ".join(map(str, range(task.slots)))
    text = _joined(
        f"{_you_all(task)} have one unit each, to give or to keep, and choose at once. What is "
        f"given becomes {given.factor:g} times as much and is shared equally among all of you, "
        "whoever gave. What you have then is your pay-off, rescaled to lie between -1 and 1: if "
        f"{counts} of the others give, you get {paid(0)} if you give and {paid(1)} if you keep.",
        _lasts(task, "rounds"),
        "Get as much as you can for yourself.",
    )
    return Told(text, _either(_labels(task)))


def _commons(tool: Any, task: Task) -> Told:
    given = tool.settings
    text = _joined(
        f"{_you_all(task)} harvest from one stock, {given.capacity} units at first. "
        f"Each step everybody asks at once for 0 to {given.most} units, and gets them; if that is "
        "more than there is, it is shared out as it was asked for. What is left grows by "
        f"{given.growth:g} x left x (1 - left / {given.capacity}), rounded down, so that nothing "
        "grows back from nothing. Your reward is what you got: -1 for 0 units, 1 for "
        f"{given.most}, and evenly between.",
        _lasts(task),
        "Get as much as you can for yourself.",
    )
    return Told(text, _either(_labels(task)))


def _pluralistic(tool: Any, task: Task) -> Told:
    weight = tool.settings.conformity
    text = _joined(
        f"{_you_all(task)} oppose or support something in public, all at once, again and again; "
        "so far all have supported it. You know what you think of it in private, not what the "
        "others think. Each round you get the sum of two parts: "
        f"{_number(1 - weight)} if you do in public what you think in private, else "
        f"{_number(weight - 1)}; and {_number(weight)} times how much the share of the others who "
        "do as you do is above the share of those who do not.",
        _lasts(task, "rounds"),
        "Get as much as you can for yourself.",
    )
    return Told(text, _either(_labels(task)))


def _predators(tool: Any, task: Task) -> Told:
    given, prize = tool.settings, _number(1 / PREDATORS)
    who = (
        "You are the prey."
        if task.slot == PREY
        else f"You are predator {task.slot}, in a team with the other predators."
    )
    text = _joined(
        f"There are {PREDATORS} predators, marked by their numbers from 0, and a prey, P, on a "
        f"grid of {given.rows} x {given.cols} cells whose edges are joined, like a torus. All move "
        "at once, one cell up, down, left or right, or stay. The prey is caught when a predator is "
        f"in its cell or changes places with it. If it is caught within {task.steps} steps each "
        f"predator gets {prize} and the prey -1; if not, each predator gets -{prize} and the prey "
        "1.",
        who,
    )
    return Told(text, _either(_labels(task)))


def _noughts(tool: Any, task: Task) -> Told:  # noqa: ARG001
    return Told(
        "You play noughts and crosses against another: three of your marks in a row, a column or a "
        "diagonal win. The winner gets 1, the loser -1, and for a draw there is 0. Name the empty "
        "cell for your next mark, its row and then its column.",
        "<cell>",
    )


RULES: dict[str, Callable[[Any, Task], Told]] = {  # by instrument; one of your own may be added
    "c-test": _series,
    "commons": _commons,
    "lambda": _lambda,
    "lambda-anytime": _lambda,
    "lambda-staircase": _lambda,
    "lambda-star": _lambda_star,
    "lambda-star-coordination": _coordination,
    "lambda-star-coverage": _coverage,
    "lambda-star-responsive": _responsive,
    "landscape": _landscape,
    "matching-pennies": _table,
    "matrices": _matrices,
    "noughts-and-crosses": _noughts,
    "pluralistic-ignorance": _pluralistic,
    "predator-prey": _predators,
    "prisoners-dilemma": _table,
    "public-goods": _public_goods,
    "rock-paper-scissors": _table,
    "stag-hunt": _table,
    "team-lambda": _team_lambda,
    "team-lambda-star": _team_lambda_star,
}
