"""How games are put to people, language models and libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from allminds.contracts import Instrument, Task
from allminds.disguise import Skin
from allminds.instruments.games.boards import PREDATORS, PREY, STEP, Board
from allminds.instruments.games.faces import NoughtsFace, RoundsFace
from allminds.instruments.games.game import MatrixGame, Round
from allminds.instruments.games.skins import (
    ChaseSkin,
    CommonsSkin,
    NormSkin,
    NoughtsSkin,
    PublicGoodsSkin,
    TableSkin,
)
from allminds.instruments.lambda_.present import CellsPresentation, yours
from allminds.instruments.lambda_star.present import GoodAndEvil
from allminds.presentation import (
    FILLER,
    Column,
    Face,
    Field,
    Presentation,
    Rules,
    either,
    joined,
    labels,
    lasts,
)  # fmt: skip

FOR_YOURSELF = "Get as much as you can for yourself."
ROUNDS = {"rounds": Column("rounds of the game", "1, 2, …")}
CELLS = {"cells": Column("cells of the board", "1, 2, …")}
RANDOM = "random"
TEAM_PAY = "The share of its team, as the rules say, the same for every member."


def you_all(task: Task) -> str:
    """Name the players from the side of one of them."""
    others = task.slots - 1
    return f"You and {'another' if others == 1 else f'{others} others'}"


def number(value: float) -> str:
    """Write a pay-off in at most three digits."""
    return f"{value:.3g}"


def two_teams(tool: Any, task: Task, yours: str = "") -> str:
    """Say that there are teams of equal size, and what they get."""
    size = len(task.team)
    paid = (
        "half of how much the mean gain of its members is above that of the other team"
        if tool.settings.shares == "difference"
        else "the mean gain of its members"
    )
    return joined(
        f"There are two teams of {size} player{'s' * (size > 1)}.",
        yours,
        f"Everybody in a team gets {paid}. Get as much as you can for your team.",
    )


# ---------------------------------------------------------------- games in normal form


class TablePresentation(Presentation):
    """A game by its table of pay-offs."""

    meanings: ClassVar[Mapping[str, str]] = {
        "step": "rounds played so far",
        "own": "its own action in the last round; -1 before the first",
        "others": "the actions of the other slots in the last round, in slot order without its "
        "own; () before the first",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "rules": "the game itself: `rules.table[joint]` has the rewards of all slots, by the tuple "
        "of their actions in slot order; `rules.labels`, `rules.players`, `rules.steps`"
    }
    unseen = "Only the last round is shown: what was before, a mind has to remember."
    pay = "What the table of pay-offs has for the actions of all slots in this round."
    example = "observation.others[0] if observation.others else 0"

    columns: ClassVar[Mapping[str, Column]] = ROUNDS
    usual: ClassVar[Mapping[str, tuple[str, ...]]] = {  # by the name of the game
        "matching-pennies": ("heads", "tails", RANDOM),
        "rock-paper-scissors": ("rock", "paper", "scissors"),
        "prisoners-dilemma": ("cooperate", "defect", RANDOM, "tit-for-tat"),
        "stag-hunt": ("stag", "hare", RANDOM, "tit-for-tat"),
    }

    @property
    def minds(self) -> tuple[str, ...]:  # type: ignore[override] # by the name
        """The minds of a testbed."""
        return self.usual.get(self.tool.name, ())

    @property
    def moves(self) -> str:  # type: ignore[override] # by the game
        told = "Language models are told A, B, … instead of the labels, which name the game."
        return told if self.tool.neutral else ""

    def rules(self, task: Task) -> Rules:
        """Return the pay-offs of two, from the side of a slot, without labels that name a game."""
        names, world = labels(task), task.facts["rules"]
        names = self.tool.names if names == self.tool.labels else names
        lines = []
        for own, mine in enumerate(names):
            for other, theirs in enumerate(names):
                joint = (own, other) if task.slot == 0 else (other, own)
                paid = world.table[joint]
                lines.append(
                    f"If you choose {mine} and the other {theirs}, you get "
                    f"{number(paid[task.slot])} and the other {number(paid[1 - task.slot])}."
                )
        text = joined(
            f"{you_all(task)} choose {either(names)[1:-1]}, both at once and without talking.",
            *lines,
            lasts(task, "rounds"),
            FOR_YOURSELF,
        )
        return Rules(text, either(names))

    def words(self, observation: Round) -> str:
        return self.in_words(observation, self.tool.names)

    def in_words(self, observation: Round, names: Sequence[str]) -> str:
        """Tell what happened, and what can be done now, in these names of the actions."""
        return f"{self.tool.told(observation, names)}\nChoose: {', '.join(names)}"

    def skin(self, n: int) -> Skin:
        return TableSkin(self.tool, n)

    def fields(self) -> Sequence[Field]:
        last = len(self.tool.environment.labels) - 1
        return (
            Field("step", 1, 0, self.tool.environment.steps),
            Field("own", 1, FILLER, last),
            Field("others", self.tool.slots - 1, FILLER, last),
        )

    def face(self, slot: int) -> Face:
        return RoundsFace(self.tool, slot) if self.tool.slots == 2 else super().face(slot)


class PublicGoodsPresentation(TablePresentation):
    """To give or to keep."""

    usual: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "public-goods": ("give", "keep", RANDOM, "conditional-cooperator")
    }

    def skin(self, n: int) -> Skin:
        return PublicGoodsSkin(self.tool, n)

    def rules(self, task: Task) -> Rules:
        given, table = self.tool.settings, self.tool.environment.table
        others = task.slots - 1

        def paid(own: int) -> str:
            joints = [(own, *[0] * n, *[1] * (others - n)) for n in range(task.slots)]
            return ", ".join(number(table[joint][0]) for joint in joints)

        counts = ", ".join(map(str, range(task.slots)))
        text = joined(
            f"{you_all(task)} have one unit each, to give or to keep, and choose at once. What is "
            f"given becomes {given.factor:g} times as much and is shared equally among all of "
            "you, whoever gave. What you have then is your pay-off, rescaled to lie between -1 "
            f"and 1: if {counts} of the others give, you get {paid(0)} if you give and {paid(1)} "
            "if you keep.",
            lasts(task, "rounds"),
            FOR_YOURSELF,
        )
        return Rules(text, either(labels(task)))


# ---------------------------------------------------------------- one game each


class CommonsPresentation(Presentation):
    """A stock that several harvest from."""

    meanings: ClassVar[Mapping[str, str]] = {
        "step": "rounds played so far",
        "stock": "units that are left to harvest",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "rules": "the game itself: `rules.players`, `rules.capacity`, `rules.most`, "
        "`rules.growth`, `rules.steps`, and `rules.grown(left)`, the stock of the next round"
    }
    default_action = 0  # asks for nothing
    moves = "Action n asks for n units."
    unseen = "Not shown: what each of the others took; their sum follows from the stock."
    pay = "What it got in this round: -1 for nothing, 1 for the most one may ask for."

    columns: ClassVar[Mapping[str, Column]] = ROUNDS
    minds = ("greedy", "sustain", RANDOM)

    def skin(self, n: int) -> Skin:
        return CommonsSkin(self.tool, n)

    def rules(self, task: Task) -> Rules:
        given = self.tool.settings
        text = joined(
            f"{you_all(task)} harvest from one stock, {given.capacity} units at first. Each step "
            f"everybody asks at once for 0 to {given.most} units, and gets them; if that is more "
            "than there is, it is shared out as it was asked for. What is left grows by "
            f"{given.growth:g} x left x (1 - left / {given.capacity}), rounded down, so that "
            "nothing grows back from nothing. Your reward is what you got: -1 for 0 units, 1 for "
            f"{given.most}, and evenly between.",
            lasts(task),
            FOR_YOURSELF,
        )
        return Rules(text, either(labels(task)))

    def fields(self) -> Sequence[Field]:
        world = self.tool.environment
        return Field("step", 1, 0, world.steps), Field("stock", 1, 0, world.capacity)


class PluralisticPresentation(Presentation):
    """To say in public what one thinks, or what the others say."""

    meanings: ClassVar[Mapping[str, str]] = {
        "step": "rounds played so far",
        "attitude": "what it thinks itself, which never changes: 0 opposes, 1 supports",
        "others": "what the other slots last did in public, in slot order: 0 opposed, 1 supported",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "conformity": "weight c of agreement; that of being true to oneself is 1 - c"
    }
    unseen = "Not shown: what the others think in private."
    pay = "In every round: 1 - c for truth and c for agreement, as the rules say."
    example = "observation.attitude"

    columns: ClassVar[Mapping[str, Column]] = ROUNDS
    minds = ("honest", "conform", RANDOM)

    def skin(self, n: int) -> Skin:
        return NormSkin(self.tool, n)

    def rules(self, task: Task) -> Rules:
        weight = self.tool.settings.conformity
        text = joined(
            f"{you_all(task)} oppose or support something in public, all at once, again and "
            "again; so far all have supported it. You know what you think of it in private, not "
            "what the others think. Each round you get the sum of two parts: "
            f"{number(1 - weight)} if you do in public what you think in private, else "
            f"{number(weight - 1)}; and {number(weight)} times how much the share of the others "
            "who do as you do is above the share of those who do not.",
            lasts(task, "rounds"),
            FOR_YOURSELF,
        )
        return Rules(text, either(labels(task)))

    def fields(self) -> Sequence[Field]:
        return (
            Field("step", 1, 0, self.tool.environment.steps),
            Field("attitude", 1, 0, 1),
            Field("others", self.tool.slots - 1, 0, 1),
        )


class PredatorsPresentation(Presentation):
    """The presentation of predator and prey, in which three chase one."""

    meanings: ClassVar[Mapping[str, str]] = {
        "step": "steps made so far",
        "slot": "its own slot: 0, 1 and 2 are predators, 3 is the prey",
        "cells": "the cells of slots 0 to 3, numbered from 1 row by row",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "rows": "rows of the torus, whose cells are numbered row by row from 1",
        "cols": "columns of the torus",
    }
    default_action = STEP.labels.index("stay")
    unseen = "Nothing is hidden: all see where all stand."
    pay = "Once, when the prey is caught or has lived through the last step; before that 0."

    columns: ClassVar[Mapping[str, Column]] = CELLS
    minds = (RANDOM, "greedy")
    legend = "0, 1 and 2 are the predators, P is the prey. The edges are joined."

    def skin(self, n: int) -> Skin:
        return ChaseSkin(self.tool, n)

    def rules(self, task: Task) -> Rules:
        given, prize = self.tool.settings, number(1 / PREDATORS)
        who = (
            "You are the prey."
            if task.slot == PREY
            else f"You are predator {task.slot}, in a team with the other predators."
        )
        text = joined(
            f"There are {PREDATORS} predators, marked by their numbers from 0, and a prey, P, on a "
            f"grid of {given.rows} x {given.cols} cells whose edges are joined, like a torus. All "
            "move at once, one cell up, down, left or right, or stay. The prey is caught when a "
            "predator is in its cell or changes places with it. If it is caught within "
            f"{task.steps} steps each predator gets {prize} and the prey -1; if not, each "
            f"predator gets -{prize} and the prey 1.",
            who,
        )
        return Rules(text, either(labels(task)))

    def fields(self) -> Sequence[Field]:
        world = self.tool.environment
        return (
            Field("step", 1, 0, world.steps),
            Field("slot", 1, 0, self.tool.slots - 1),
            Field("cells", self.tool.slots, 1, world.torus.cells),
        )


class NoughtsPresentation(Presentation):
    """Three in a row."""

    meanings: ClassVar[Mapping[str, str]] = {
        "cells": "nine cells row by row: `.` is empty, `x` is of slot 0, `o` of slot 1",
        "turn": "the slot that is to move: in `act`, its own",
    }
    facts: ClassVar[Mapping[str, str]] = {"rules": "the game itself: `rules.steps`"}
    moves = "The label is the row and the column of the cell."
    unseen = "Nothing is hidden: both see the whole board."
    pay = "Once, at the end: 1 to the winner, -1 to the loser, 0 for a draw."

    columns: ClassVar[Mapping[str, Column]] = CELLS
    minds = (RANDOM, "minimax")

    def skin(self, n: int) -> Skin:
        return NoughtsSkin(self.tool, n)

    def rules(self, task: Task) -> Rules:
        return Rules(
            "You play noughts and crosses against another: three of your marks in a row, a column "
            "or a diagonal win. The winner gets 1, the loser -1, and for a draw there is 0. Name "
            "the empty cell for your next mark, its row and then its column.",
            "<cell>",
        )

    def fields(self) -> Sequence[Field]:
        return Field("turn", 1, 1, 2), Field("board", 9, 0, 2)

    def vector(self, observation: Board, slots: int) -> Iterable[float]:
        return observation.turn + 1, *(".xo".index(mark) for mark in observation.cells)

    def face(self, slot: int) -> Face:
        return NoughtsFace(self.tool, slot)


# ---------------------------------------------------------------- Λ and Λ* between teams


class TeamLambdaStarPresentation(GoodAndEvil):
    """Λ* between two teams."""

    pay = TEAM_PAY
    minds = (RANDOM, "local-search", "expert")

    @property
    def ground(self) -> Any:
        return self.tool.alone

    def special(self, task: Task) -> Sequence[str]:
        gain = "After the step every player gains the reward of its cell."
        return gain, two_teams(self.tool, task)

    def face(self, slot: int) -> Face:
        return Presentation.face(self, slot)


class TeamLambdaPresentation(CellsPresentation):
    """Λ between two teams."""

    pay = TEAM_PAY
    minds = (RANDOM, "follower", "expert")

    @property
    def ground(self) -> Any:
        return self.tool.alone

    def special(self, task: Task) -> Sequence[str]:
        return (two_teams(self.tool, task, yours(task)),)

    def face(self, slot: int) -> Face:
        return Presentation.face(self, slot)


# ---------------------------------------------------------------- which game has which


BY_NAME: Mapping[str, type[Presentation]] = {
    "commons": CommonsPresentation,
    "noughts-and-crosses": NoughtsPresentation,
    "pluralistic-ignorance": PluralisticPresentation,
    "predator-prey": PredatorsPresentation,
    "public-goods": PublicGoodsPresentation,
    "team-lambda": TeamLambdaPresentation,
    "team-lambda-star": TeamLambdaStarPresentation,
}


def presentation_of(tool: Instrument) -> Presentation:
    """Make the presentation of a game; one that is not ours has the default, or a table."""
    default = TablePresentation if isinstance(tool, MatrixGame) else Presentation
    return BY_NAME.get(tool.name, default)(tool)
