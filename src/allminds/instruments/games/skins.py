"""Skins of games: actions in another order and with other names, boards turned, other stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any

from allminds.contracts import Discrete, Failure, Space, Task
from allminds.core.line_up import Subject
from allminds.disguise import Isomorph, Skin, retold
from allminds.instruments.games.boards import EMPTY, MARKS, MOVES, Board, Sight
from allminds.instruments.games.game import Repeated, Round
from allminds.instruments.games.minds import TableReader
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.skins import Symmetry, TorusSkin
from allminds.presentation import Rules


class TableSkin(Skin):
    """A game in normal form: its actions in another order, with names that mean nothing.

    A mind is told the table of pay-offs in that order. Of built-in minds those that read the table
    act through it; others, such as tit-for-tat, are made of the actions themselves and keep them.
    """

    def suits(self, subject: Subject) -> bool:
        """Check whether a built-in mind reads the table of pay-offs."""
        return isinstance(subject.maker, type) and issubclass(subject.maker, TableReader)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the actions, in their order in disguise."""
        return self.names(len(self.tool.exercise(0, 0).environment.labels))  # type: ignore[attr-defined] # a table

    def task(self, task: Task) -> Task:
        rules, order = task.facts["rules"], self.order(len(self.labels))
        joints = product(order, repeat=rules.players)
        table = tuple(rules.table[joint] for joint in joints)
        worn = Repeated(rules.steps, rules.players, self.labels, table)
        space = Discrete(len(order), labels=self.labels)
        return replace(task, actions=space, facts={**task.facts, "rules": worn})

    def observation(self, observation: Round, space: Space) -> Round:
        if not observation.others:
            return observation
        others = tuple(self.worn(other, space) for other in observation.others)
        return observation._replace(own=self.worn(observation.own, space), others=others)

    @property
    def plain_space(self) -> Space:
        """The actions of the plain game."""
        return self.tool.exercise(0, 0).environment.actions[0]

    def rules(self, task: Task) -> Rules:
        return self.presentation.rules(self.task(task))

    def words(self, observation: Round) -> str:
        presentation: Any = self.presentation
        worn = self.observation(observation, self.plain_space)
        return str(presentation.in_words(worn, self.labels))

    def read(self, answer: str, observation: Round) -> Any | Failure:
        text = answer.strip().lower()
        if text in self.labels:
            return self.action(self.labels.index(text), self.plain_space)
        return Failure("malformed", f"'{answer[:60]}' is not one of {', '.join(self.labels)}")


class PublicGoodsSkin(TableSkin):
    """To give or to keep, in other words."""

    stories = (
        {"give": "pour", "given": "poured", "gave": "poured", "keep": "store", "unit": "jug"},
        {"give": "plant", "given": "planted", "gave": "planted", "keep": "eat", "unit": "seed"},
        {"give": "lend", "given": "lent", "gave": "lent", "keep": "hide", "unit": "coin"},
    )

    @property
    def story(self) -> Mapping[str, str]:
        """The words that this skin has for others."""
        return self.stories[(self.n - 1) % len(self.stories)]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        plain = ("give", "keep")
        return tuple(self.story[plain[n]] for n in self.order(len(plain)))

    def rules(self, task: Task) -> Rules:
        text, answer = self.presentation.rules(task)
        return Rules(retold(text, self.story), retold(answer, self.story))


class StorySkin(Isomorph):
    """Other words for a game whose actions have a meaning of their own and keep their numbers."""

    def suits(self, subject: Subject) -> bool:
        """Give built-in minds the plain game, for which they may have a faster form."""
        return False

    def task(self, task: Task) -> Task:
        """Return the task as it is: only words are others."""
        return task

    def observation(self, observation: Any, space: Space) -> Any:
        return observation

    def action(self, action: Any, space: Space) -> Any:
        return action

    worn = action


class CommonsSkin(StorySkin):
    """A stock that several take from, of something else."""

    stories = (
        {"harvest": "fish", "stock": "shoal", "units": "fish"},
        {"harvest": "pump", "stock": "reservoir", "units": "barrels"},
        {"harvest": "fell", "stock": "forest", "units": "trees"},
    )


class NormSkin(StorySkin):
    """A public choice between other things than to oppose and to support."""

    stories = (
        {"oppose": "whistle", "support": "hum", "supported": "hummed"},
        {"oppose": "walk", "support": "ride", "supported": "ridden"},
        {"oppose": "fold", "support": "roll", "supported": "rolled"},
    )


class ChaseSkin(TorusSkin):
    """Predators and prey on a torus that is turned, mirrored and shifted."""

    numbered = False
    stories = (
        {"predator": "guard", "predators": "guards", "prey": "runner"},
        {"predator": "net", "predators": "nets", "prey": "moth"},
        {"predator": "tug", "predators": "tugs", "prey": "raft"},
    )

    @property
    def torus(self) -> Torus:
        game: Any = self.tool
        torus: Torus = game.environment.torus
        return torus

    def move_sets(self) -> Sequence[Sequence[int]]:
        return [MOVES]

    def observation(self, observation: Sight, space: Space) -> Sight:
        return observation._replace(cells=tuple(map(self.symmetry.cell, observation.cells)))

    def action(self, action: Any, space: Space) -> Any:
        if not space.contains(action):
            return action
        return MOVES.index(self.symmetry.back[MOVES[int(action)]])

    def worn(self, action: Any, space: Space) -> Any:
        if not space.contains(action):
            return action
        return MOVES.index(self.symmetry.moves[MOVES[int(action)]])


# ---------------------------------------------------------------- noughts and crosses

FIFTEEN = (2, 7, 6, 9, 5, 1, 4, 3, 8)  # a magic square: the lines are the threes that make fifteen
BOARD = Torus(3, 3)
TURNS = tuple(
    tuple(turn.cell(cell) - 1 for cell in range(1, 10))
    for turn in (
        Symmetry(BOARD, (swaps, up, along), 6 * up + 2 * along)
        for swaps, up, along in product((False, True), repeat=3)
    )
)[1:]  # for each cell, the cell that it becomes; the first leaves all as they are


class NoughtsSkin(Isomorph):
    """The board turned or mirrored; to a reader, the game of fifteen, which is the same game."""

    @cached_property
    def turn(self) -> tuple[int, ...]:
        """The cell that each cell becomes."""
        return TURNS[(self.n - 1) % len(TURNS)]

    def task(self, task: Task) -> Task:
        """Return the task: a cell is called by its place, as ever."""
        return task

    def observation(self, observation: Board, space: Space) -> Board:
        marks = [EMPTY] * len(observation.cells)
        for old, new in enumerate(self.turn):
            marks[new] = observation.cells[old]
        return Board("".join(marks), observation.turn)

    def action(self, action: Any, space: Space) -> Any:
        return self.turn.index(int(action)) if space.contains(action) else action

    def worn(self, action: Any, space: Space) -> Any:
        return self.turn[int(action)] if space.contains(action) else action

    def rules(self, task: Task) -> Rules:
        return Rules(
            "You and another take numbers from 1 to 9 in turn, and no number twice. Whoever first "
            "has three numbers that add up to 15 wins. The winner gets 1, the loser -1, and if all "
            "numbers are taken without that, there is 0. Name the number that you take next.",
            "<number>",
        )

    def words(self, observation: Board) -> str:
        worn = self.observation(observation, Discrete(9))
        own = MARKS[worn.turn]

        def held(mark: str) -> str:
            found = sorted(FIFTEEN[n] for n, one in enumerate(worn.cells) if one == mark)
            return ", ".join(map(str, found)) or "none"

        other = MARKS[1 - worn.turn]
        return f"You have: {held(own)}. The other has: {held(other)}. Left: {held(EMPTY)}."

    def read(self, answer: str, observation: Board) -> Any | Failure:
        text = answer.strip()
        left = {str(FIFTEEN[self.turn[cell]]): cell for cell in observation.legal}
        if text in left:
            return left[text]
        return Failure("malformed", f"'{answer[:60]}' is not one of {', '.join(sorted(left))}")
