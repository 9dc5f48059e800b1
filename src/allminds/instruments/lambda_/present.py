"""How Λ is put to people, language models and libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from allminds.contracts import Discrete, Space, Task
from allminds.core.seeding import Random
from allminds.disguise import Isomorph, Skin
from allminds.instruments.lambda_ import rows
from allminds.instruments.lambda_.instrument import OTHER as OTHER_SIGN
from allminds.instruments.lambda_.instrument import SYMBOLS
from allminds.instruments.lambda_.instrument import YOU as OWN_SIGN
from allminds.instruments.lambda_.world import HIDDEN, MOST, View
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.present import (
    EVIL,
    GOOD,
    GOOD_AND_EVIL,
    Square,
    mixed,
    torus_svg,
)
from allminds.instruments.unequal import PLAIN, signed
from allminds.presentation import (
    FILLER,
    Column,
    Face,
    Field,
    Move,
    Presentation,
    Rules,
    joined,
    lasts,
    signs,
)

POSITION = (
    "After a step whoever is in the good symbol's cell gains +1, whoever is in the evil one's -1."
)
TRAIL = (
    "At every step the good symbol leaves +1 in its cell and the evil one -1, in place of what "
    "lay there, and what lies in all other cells becomes half of it. After a step you gain what "
    "lies in your cell, in equal shares with whoever else is there, and the cell is empty then."
)


class CellsPresentation(Presentation):
    """Two symbols in a graph of cells, and the mind among them."""

    most_actions = MOST
    legend = GOOD_AND_EVIL
    asked = 7  # one test of the paper
    readers: ClassVar[Mapping[str, Callable[[Path], Any]]] = {"lambda-2011": rows.results}
    columns: ClassVar[Mapping[str, Column]] = {
        "cells": Column("cells of the space", "1, 2, …"),
        "actions": Column("actions of the space", "2, 3, …"),
        "K": Column("complexity of the pattern: bytes after zlib", "1, 2, …"),
        "K_prefix": Column("bytes after zlib, with the authors' prefix", "bytes"),
        "LZ": Column("LZ76 phrases in one period of the pattern", "1, 2, …"),
        "bits": Column("description length of the space", "bits"),
        "pattern": Column("length of the pattern", "actions"),
        "xi": Column("ξ, the complexity an adaptive test asked for", "1 to 40"),
        "identity": Column("number of the environment", "a whole number"),
        "upsilon": Column("Υ before the exercise, in the anytime test"),
    }

    meanings: ClassVar[Mapping[str, str]] = {
        "symbols": "the cells of the two symbols, in an order that is kept throughout an exercise; "
        "-1 is out of sight",
        "cell": "its own cell",
        "reachable": "the cell that each action leads to: action n leads to `reachable[n]`",
        "others": "the cells of the other minds, in slot order without its own; -1 is out of sight",
        "cells": "how many cells there are; they are numbered from 0",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "cells": "how many cells there are",
        "observation": "full, or adjacent: only its own cell and those that actions lead to",
        "rewards": "position, or trail: rewards lie in cells and fade",
        "actions": "how many actions the space has, of which the mind may have fewer",
        "weights": "what it gets in place of +1 for Good and -1 for Evil",
    }
    default_action = 0  # stays
    moves = "Action 0 stays; where the others lead depends on the cell: `observation.reachable`."
    unseen = "Not shown: which of the two symbols is Good, and the pattern that both repeat."
    example = "random.below(len(observation.reachable))"

    @property
    def pay(self) -> str:  # type: ignore[override] # by a setting
        plain = TRAIL if self.tool.settings.rewards == "trail" else POSITION
        return f"{plain} With weights, a slot has its own numbers." if self.ground.own else plain

    @property
    def ground(self) -> Any:
        """The instrument that has the space: this one, or the one that is played by teams."""
        return self.tool

    def rules(self, task: Task) -> Rules:
        first, second = SYMBOLS
        given = self.tool.settings
        unseen = (
            "You see only what is in your own cell and in those that your actions lead to."
            if task.facts["observation"] == "adjacent"
            else ""
        )
        text = joined(
            f"You ({OWN_SIGN}) are in a space of cells, together with the symbols {first} and "
            f"{second}{_signs(task)}. One of the two symbols is good, the other evil, and you are "
            "not told which is which. Both repeat a pattern of actions, and all move at the same "
            "time.",
            _paid(task, given.rewards == "trail"),
            _few(task),
            unseen,
            *self.special(task),
            lasts(task),
            "Each step, choose an action by its number.",
        )
        return Rules(text, "<number>")

    def special(self, task: Task) -> Sequence[str]:
        """Say who shares, and what to do."""
        shared = "Each of you gets the mean of what your team gains." if len(task.team) > 1 else ""
        return yours(task), shared, "Collect as much as you can."

    def fields(self) -> Sequence[Field]:
        return (
            Field("symbols", 2, FILLER, MOST - 1),
            Field("cell", 1, 0, MOST - 1),
            Field("reachable", MOST, FILLER, MOST - 1),
            Field("others", self.tool.slots - 1, FILLER, MOST - 1),
            Field("cells", 1, 0, MOST),
        )

    def vector(self, observation: View, slots: int) -> Iterable[float]:
        seen = observation
        to = (*seen.reachable, *[FILLER] * (MOST - len(seen.reachable)))
        return *seen.symbols, seen.cell, *to, *seen.others, seen.cells

    def picture(self, environment: Any, state: Any) -> str:
        """Draw the cells in a row with their numbers: Good (+), Evil (−), minds, and trails."""
        squares = [
            Square(cell, mixed(GOOD if left > 0 else EVIL, abs(left)))
            for cell, left in enumerate(state.trail, 1)
            if left
        ]
        squares += [Square(state.good + 1, GOOD, "+"), Square(state.evil + 1, EVIL, "−")]
        row = Torus(1, environment.observe(state, 0).cells)
        return torus_svg(row, squares, [cell + 1 for cell in state.minds], numbers=True)

    def remark(self, environment: Any, before: Any, after: Any, slot: int, action: Any) -> str:
        """Say from which cell to which the mind, Good and Evil went."""
        ways = {
            "it": (before.minds[slot], after.minds[slot]),
            "Good": (before.good, after.good),
            "Evil": (before.evil, after.evil),
        }
        return "; ".join(
            f"{name} stayed in cell {here}" if here == there
            else f"{name} went from cell {here} to {there}"
            for name, (here, there) in ways.items()
        )  # fmt: skip

    def skin(self, n: int) -> Skin:
        return CellsSkin(self.tool, n)

    def face(self, slot: int) -> Face:
        return Presentation.face(self, slot) if self.ground.own else CellsFace(self.tool)


def yours(task: Task) -> str:
    """Say who is in the same team, if there is another."""
    others = [slot for slot in range(task.slots) if slot != task.slot]
    mates = [_sign(n) for n, slot in enumerate(others) if slot in task.team]
    return f"Your team are you and {', '.join(mates)}." if mates else ""


def _paid(task: Task, trail: bool) -> str:
    """Say what is gained, and that it is of the slot's own if it is."""
    weights = task.facts.get("weights", PLAIN)
    if weights == PLAIN:
        return TRAIL if trail else POSITION
    good, evil = map(signed, weights)
    others = "The others may gain something else." if task.slots > 1 else ""
    if trail:
        return joined(TRAIL, f"But for you what lies in a cell counts {good} times.", others)
    return joined(
        f"After a step you gain {good} if you are in the good symbol's cell, and {evil} if you are "
        "in the evil one's.",
        others,
    )


def _few(task: Task) -> str:
    """Say that the symbols may have actions that a mind has not."""
    space: Any = task.actions
    if task.facts.get("actions", space.n) == space.n:
        return ""
    return (
        f"You have {space.n} action{'s' * (space.n > 1)} of the {task.facts['actions']} that there "
        "are, and the symbols use them all."
    )


def _sign(n: int) -> str:
    """How the n-th of the other players is shown."""
    return f"{OTHER_SIGN}{n}" if n else OTHER_SIGN


def _signs(task: Task) -> str:
    """Describe the other players, if there are any."""
    signs = [_sign(n) for n in range(task.slots - 1)]
    return f" and other players ({', '.join(signs)})" if signs else ""


# ---------------------------------------------------------------- other cells, actions and signs


class CellsSkin(Isomorph):
    """Cells with other numbers, all actions but 0 in another order, and the symbols too.

    Action 0 stays where it is, as ever, and an observation says where the others lead. A mind that
    reads is shown other signs, in another story.
    """

    signs: ClassVar[Sequence[str]] = ("■▲◇●", "✚♣☾♠", "◆▼○★", "♦♥◻△")  # first, second, own, other
    stories = (
        {"good": "warm", "evil": "cold", "cells": "rooms", "cell": "room", "cell's": "room's"},
        {"good": "kind", "evil": "harsh", "cells": "isles", "cell": "isle"},
        {"good": "lucky", "evil": "unlucky", "cells": "squares", "cell": "square"},
    )

    def observation(self, observation: View, space: Space) -> View:
        seen = observation
        cells = self.order(seen.cells, 1)

        def place(cell: int) -> int:
            return HIDDEN if cell == HIDDEN else cells[cell]

        worn, own = [place(cell) for cell in seen.symbols], Discrete(len(seen.reachable))
        return View(
            symbols=(worn[1], worn[0]) if self.drawn(3).below(2) else (worn[0], worn[1]),
            cell=place(seen.cell),
            reachable=tuple(place(seen.reachable[self.action(n, own)]) for n in own.numbers),
            others=tuple(map(place, seen.others)),
            cells=seen.cells,
        )

    def task(self, task: Task) -> Task:
        """Return the task: actions are told apart by where they lead."""
        return task

    def action(self, action: Any, space: Space) -> Any:
        count = self._actions(space)
        if not (space.contains(action) and 0 < int(action) < count):
            return action
        return 1 + self.order(count - 1, 4)[int(action) - 1]

    def worn(self, action: Any, space: Space) -> Any:
        count = self._actions(space)
        if not (space.contains(action) and 0 < int(action) < count):
            return action
        return 1 + self.order(count - 1, 4).index(int(action) - 1)

    def _actions(self, space: Space) -> int:
        return space.n if isinstance(space, Discrete) else 0

    def rules(self, task: Task) -> Rules:
        text, answer = super().rules(task)
        return Rules(self._signed(text), answer)

    def words(self, observation: View) -> str:
        return self._signed(super().words(observation))

    def _signed(self, text: str) -> str:
        worn = self.signs[(self.n - 1) % len(self.signs)]
        return text.translate(str.maketrans("".join((*SYMBOLS, OWN_SIGN, OTHER_SIGN)), worn))

    def _space(self, observation: View) -> Space:
        return Discrete(len(observation.reachable))


# ---------------------------------------------------------------- the screen of a participant

SHAPES = (
    "crescent", "diamond", "drop", "half-disc", "hexagon", "pentagon", "star", "trefoil"
)  # fmt: skip
YOU, OTHER = "you", "other"
HUES = 9
COLUMNS = {2: 2, 3: 3, 4: 4, 5: 5, 6: 3, 7: 4, 8: 4, 9: 3}  # cells in a row


class CellsFace(Face):
    """A board of cells; a choice is the number of the cell to go to, from 1."""

    def told(self) -> dict[str, Any]:
        """How much of the board is seen, and whether there are other minds."""
        given = self.tool.settings
        return {
            "kind": "cells",
            "adjacent": given.observation == "adjacent",
            "others": given.agents - 1,
        }

    def parity(self, numbers: bool) -> Sequence[str]:
        return (
            signs(numbers),
            "People chose a cell: of several actions that lead to it, the lowest counts as theirs.",
        )

    def view(self, observation: View, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Return the cells and what is in them; in `places`, cell 0 is out of sight."""
        shapes, hues = _shapes(shuffle.at_step(0)), _order(HUES, shuffle.at_step(0).part(1))
        now = _places(observation, shapes)
        earlier = _places(before.observation, shapes) if before else {}
        return self.told() | {
            "cells": [
                {
                    "number": cell + 1,
                    "hue": hues[cell],
                    "open": cell in observation.reachable,
                    "here": _sorted([shape for shape, at in now.items() if cell in at]),
                    "others": now.get(OTHER, []).count(cell),
                }
                for cell in range(observation.cells)
            ],
            "columns": COLUMNS[observation.cells],
            "shapes": sorted(shapes),
            "places": [
                {"shape": shape, "cell": cell + 1, "from": _came(shape, cell, earlier)}
                for shape in _sorted(now)
                for cell in now[shape]
            ],
        }

    def choices(self, observation: View) -> Sequence[str]:
        """List the cells that some action leads to."""
        return [str(cell + 1) for cell in sorted(set(observation.reachable))]

    def chosen(self, choice: str, observation: View) -> int:
        """Return the lowest of the actions that lead to the cell."""
        return observation.reachable.index(int(choice) - 1)


def _places(seen: View, shapes: Sequence[str]) -> dict[str, list[int]]:
    """List the cells of all players, by the name of the shape they are drawn as."""
    places = {YOU: [seen.cell]}
    places |= {shape: [cell] for shape, cell in zip(shapes, seen.symbols, strict=True)}
    if seen.others:
        places[OTHER] = list(seen.others)
    return places


def _came(shape: str, cell: int, earlier: dict[str, list[int]]) -> int | None:
    """Find the cell that a shape came from, if it moved in sight; for those who only hear."""
    before = earlier.get(shape, [HIDDEN])
    return None if shape == OTHER or before[0] in (HIDDEN, cell) else before[0] + 1


def _sorted(shapes: Any) -> list[str]:
    """By name, the person first."""
    return sorted(shapes, key=lambda shape: (shape != YOU, shape))


def _shapes(shuffle: Random) -> tuple[str, str]:
    """Two different shapes, for the two symbols in the instrument's order."""
    order = _order(len(SHAPES), shuffle)
    return SHAPES[order[0]], SHAPES[order[1]]


def _order(count: int, shuffle: Random) -> list[int]:
    """0..count-1 in random order, by words 1..count-1."""
    order = list(range(count))
    for place in range(count - 1, 0, -1):
        other = shuffle.below_at(place + 1, place)
        order[place], order[other] = order[other], order[place]
    return order
