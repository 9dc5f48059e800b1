"""What a person or a language model is shown of Λ, and how their answers are read."""

from __future__ import annotations

from allminds.contracts import Failure
from allminds.instruments.lambda_.world import HIDDEN, State, View, World

SYMBOLS = ("◆", "★")  # neutral signs: which is Good differs from exercise to exercise
YOU, OTHER = "○", "△"


def as_text(seen: View) -> str:
    """Put the view into words: where every player is, and what each action does."""
    places = [
        f"{sign} is out of sight" if cell == HIDDEN else f"{sign} is in cell {cell}"
        for sign, cell in [*zip(SYMBOLS, seen.symbols, strict=True), *_others(seen)]
    ]
    lines = [
        f"There are {seen.cells} cells, 0 to {seen.cells - 1}. You ({YOU}) are in cell "
        f"{seen.cell}; {', '.join(places)}.",
        "Actions:",
        "0: stay",
    ]
    lines += [f"{n}: to cell {to}" for n, to in enumerate(seen.reachable) if n]
    return "\n".join(lines)


def as_html(seen: View) -> str:
    """Draw the cells as a table: what is in each, and the actions that lead there."""
    rows = []
    for cell in range(seen.cells):
        here = [sign for sign, place in zip(SYMBOLS, seen.symbols, strict=True) if place == cell]
        here += [YOU] if seen.cell == cell else []
        here += [sign for sign, place in _others(seen) if place == cell]
        actions = [str(n) for n, to in enumerate(seen.reachable) if to == cell]
        rows.append(
            f"<tr><th>{cell}</th><td>{' '.join(here)}</td><td>{', '.join(actions)}</td></tr>"
        )
    head = "<tr><th>cell</th><th>who is there</th><th>actions that lead there</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _others(seen: View) -> list[tuple[str, int]]:
    return [(f"{OTHER}{n}" if n else OTHER, cell) for n, cell in enumerate(seen.others)]


def read_action(answer: str, seen: View) -> int | Failure:
    """Read an action by its number, or the word stay."""
    text, last = answer.strip().lower(), len(seen.reachable) - 1
    if text == "stay":
        return 0
    if text.isascii() and text.isdigit() and int(text) <= last:
        return int(text)
    return Failure("malformed", f"'{answer[:60]}' is not one of the actions 0..{last}")


def state_as_text(world: World, state: State) -> str:
    """Every cell with those in it: + Good, - Evil, digits the minds; and the next action."""
    parts = []
    for cell in range(world.space.cells):
        signs = "+" * (cell == state.good) + "-" * (cell == state.evil)
        signs += "".join(str(slot % 10) for slot, at in enumerate(state.minds) if at == cell)
        parts.append(f"{cell}[{signs}]")
    following = world.pattern[state.step % len(world.pattern)]
    return f"{' '.join(parts)}  next {following} of {world.pattern}"
