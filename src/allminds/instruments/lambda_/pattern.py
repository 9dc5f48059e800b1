"""How Good and Evil move: one pattern of actions, over and over, from different cells (P3 §3)."""

from __future__ import annotations

from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_.space import Space

LONGEST = 4096  # digits; at p_stop = 1/9 one in 10^200 patterns would be longer


def draw_pattern(actions: int, stop: float, random: Random) -> str:
    """Digits uniform over the actions; after each it stops with probability p_stop."""
    digits = ""
    while True:
        place = 2 * len(digits)
        digits += str(random.below_at(actions, place))
        if random.unit_at(place + 1) < stop or len(digits) == LONGEST:
            return digits


def check_pattern(pattern: str, space: Space) -> None:
    """Refuse a pattern that has no digits, or an action that the space does not know."""
    if not pattern:
        raise Error("the pattern is empty; write the actions of Good and Evil, such as 2210")
    for digit in pattern:
        if not ("0" <= digit <= "9" and int(digit) < space.actions):
            raise Error(
                f"the pattern '{pattern}' has an action '{digit}'; this space has the actions "
                f"0..{space.actions - 1}"
            )


def period(pattern: str) -> str:
    """The shortest pattern that, repeated, is the same."""
    return pattern[: (pattern + pattern).index(pattern, 1)]


def travel(space: Space, action: int, good: int, evil: int, random: Random) -> tuple[int, int]:
    """Good and Evil make the same move; they never share a cell.

    If both would, the one already there keeps it and the other its old cell; if neither is, one
    drawn by lot moves and the other keeps its old cell.
    """
    to_good, to_evil = space.moved(good, action), space.moved(evil, action)
    if to_good != to_evil:
        return to_good, to_evil
    good_moves = to_good == good or (to_evil != evil and random.below_at(2, 0) == 0)
    return (to_good, evil) if good_moves else (good, to_evil)


def draw_pattern_of(phrases: int, actions: int, random: Random) -> str:
    """A pattern whose period has just this many phrases by LZ76.

    Digits are uniform over the actions and go on until there are so many phrases; it stops there,
    or at any later digit of the same phrase, with probability ½ each. What repeats a shorter
    pattern is drawn again.
    """
    attempt = 0
    while True:
        attempt += 1
        digits = _digits_of(phrases, actions, random.at_step(attempt))
        if digits and period(digits) == digits:
            return digits


def _digits_of(phrases: int, actions: int, random: Random) -> str:
    """Empty if the pattern went on into the next phrase."""
    digits, begun, complete = "", 0, 0  # where the phrase in hand began, and phrases before it
    while complete < phrases:
        place = 2 * len(digits)
        digits += str(random.below_at(actions, place))
        counted = complete + 1
        if digits[begun:] not in digits[:-1]:
            begun, complete = len(digits), complete + 1
        if counted == phrases and random.unit_at(place + 1) < 0.5:
            return digits
    return ""
