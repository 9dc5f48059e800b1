"""The result card as a picture: each score on a bar from floor to ceiling, with its interval.

What it says in words comes from `report.card`. Tests stand in one column, or in two if one would be
longer than a page is.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from allminds.inference.words import interval, number

WIDTH, PAD, ROW = 560, 24, 22
LONGEST = 820  # of a column of tests: 1.45 times as long as wide, with heading and foot, is a page
FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "'DejaVu Sans Mono', Menlo, Consolas, monospace"
EM = 0.65  # of the size: a letter's mean width in the widest of common fonts
INK, SOFT, LINE, BAND, YOURS = "#1a1a1a", "#5a5a5a", "#d8d8d8", "#eef1f4", "#0b5cad"
NAME, BAR, SCORE, ENDS = 176, 132, 68, 136  # widths of the columns
TERM = 76  # the width of the names of facts

Drawn = tuple[list[str], int]  # what is drawn, and how high it is


def draw(
    title: str,
    notes: Sequence[str],
    tests: Sequence[Mapping[str, Any]],
    facts: Sequence[tuple[str, str, str]],
) -> str:
    """Draw the card from its title, notes, tests and facts.

    A test is that of the card with its description (`about`), and of every row what `failed`; a
    fact is (name, value, what the value is).
    """
    blocks = [_test(test) for test in tests]
    whole = sum(height for _, height in blocks)
    two = whole > LONGEST and len(blocks) > 1
    wide = 2 * WIDTH - PAD if two else WIDTH
    parts, top = _heading(title, notes, wide)
    left, right = _in_two(blocks, whole) if two else (blocks, [])
    low = max(_stack(parts, left, 0, top), _stack(parts, right, WIDTH - PAD, top))
    low = _facts(parts, facts, low + 10, wide)
    height = low + PAD - 6
    box = f'<rect x=".5" y=".5" width="{wide - 1}" height="{height - 1}" rx="10" '
    box += f'fill="#fff" stroke="{LINE}"/>'
    told = html.escape(f"Result card: {title}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {height}" role="img" '
        f'width="{wide}" height="{height}" style="max-width:100%;height:auto" '
        f'font-family="{FONT}" font-size="13" fill="{INK}">'
        f"<title>{told}</title>{box}{''.join(parts)}</svg>"
    )


def _in_two(blocks: Sequence[Drawn], whole: int) -> tuple[list[Drawn], list[Drawn]]:
    """Divide tests into two columns, the first as long as the second or a little longer."""
    left, height = [], 0
    for block in blocks:
        if height >= whole / 2:
            break
        left.append(block)
        height += block[1]
    return left, list(blocks[len(left) :])


def _stack(parts: list[str], blocks: Sequence[Drawn], x: int, y: int) -> int:
    """Put tests below each other, and return where they end."""
    for drawn, height in blocks:
        parts.append(f'<g transform="translate({x} {y})">{"".join(drawn)}</g>')
        y += height
    return y


def _heading(title: str, notes: Sequence[str], wide: int) -> Drawn:
    room, parts, y = wide - 2 * PAD, [], PAD + 14
    lines = _wrapped(title, room, 17)
    for line in [*lines[:2], *([] if len(lines) < 3 else [" ".join(lines[2:])])]:
        parts.append(_text(PAD, y, line, room, 17, weight="bold"))
        y += 22
    for said in (line for note in notes for line in _wrapped(note, room, 12)):
        parts.append(_text(PAD, y, said, room, 12, fill=SOFT))
        y += 16
    return parts, y - 4


# ---------------------------------------------------------------- one test


def _test(test: Mapping[str, Any]) -> Drawn:
    """Draw one test: its name, its minds, what failed, floor and ceiling."""
    parts, y = _test_heading(test)
    if not test["minds"]:
        parts.append(_text(PAD, y + 15, "no fair mind took it", NAME, 11, fill=SOFT))
        y += ROW
    for row in test["minds"]:
        parts += _row(row, y, YOURS)
        y += ROW + 15 * (len(_named(row["mind"])) - 1)
        if row["said"]:
            room = BAR + SCORE + ENDS
            parts.append(_text(PAD + NAME, y + 10, row["said"], room, 11, fill="#9a3412"))
            y += 16
    ends = [f"{row['end']}: {row['mind']}, {number(row['score'])}" for row in test["ends"]]
    placed = any(row["normalised"] is not None for row in test["minds"])
    if placed and not any(row["end"] == "ceiling" for row in test["ends"]):
        ends.append("ceiling: the best possible score")
    room = WIDTH - 2 * PAD - NAME
    together = " · ".join(ends)
    for said in ends if len(together) * EM * 11 > room else [together]:
        parts.append(_text(PAD + NAME, y + 11, said, room, 11, fill=SOFT))
        y += 14
    return parts, y + 8


def _test_heading(test: Mapping[str, Any]) -> Drawn:
    """Write the instrument and what it is given with, side by side or below each other."""
    room = WIDTH - 2 * PAD
    parts, y = [f'<path d="M{PAD} 0H{WIDTH - PAD}" stroke="{LINE}"/>'], 19
    name, about = test["instrument"], test["about"]
    beside = len(name) * EM * 13 <= NAME - 8
    names = [name] if beside else _wrapped(name, room, 13)
    for line in names:
        parts.append(_text(PAD, y, line, room, 13, weight="bold"))
        y += 0 if beside else 16
    for line in _wrapped(about, room - NAME if beside else room, 11):
        parts.append(_text(PAD + NAME if beside else PAD, y, line, room, 11, fill=SOFT))
        y += 14
    return parts, y - 7


def _row(row: Mapping[str, Any], y: int, colour: str) -> list[str]:
    """Draw the place of one mind, and write its score."""
    left, middle = PAD + NAME, y + ROW / 2
    made = [
        _text(PAD, y + 15 + 15 * n, line, NAME - 8, 13)
        for n, line in enumerate(_named(row["mind"]))
    ]
    if row["normalised"] is not None:
        made.append(
            f'<rect x="{left}" y="{middle - 4}" width="{BAR}" height="8" rx="4" fill="{BAND}"/>'
        )
        ends = row["normalised_ci95"] or [row["normalised"]] * 2
        low, at, high = (
            left + BAR * min(1, max(0, value)) for value in (ends[0], row["normalised"], ends[1])
        )
        width = max(high - low, 1)
        made.append(f'<rect x="{low:.1f}" y="{middle - 4}" width="{width:.1f}" height="8" rx="3" '
                    f'fill="{colour}" opacity=".28"/>')  # fmt: skip
        inside = 0 <= row["normalised"] <= 1  # beyond the bar the dot is hollow
        fill, edge = (colour, "#fff") if inside else ("#fff", colour)
        made.append(f'<circle cx="{at:.1f}" cy="{middle}" r="5" fill="{fill}" stroke="{edge}"/>')
    score, right = number(row["score"]), left + BAR + SCORE
    made.append(_text(right, y + 15, score, SCORE - 8, 12, weight="bold", anchor="end"))
    made.append(_text(WIDTH - PAD, y + 15, interval(row["ci95"]), ENDS, 12, anchor="end"))
    return made


def _named(mind: str) -> list[str]:
    """Break the name of a mind into two lines at the most; the second is cut if need be."""
    first, *more = _wrapped(mind, NAME - 8, 13)
    return [first, "".join(more)] if more else [first]


# ---------------------------------------------------------------- facts and texts


def _facts(parts: list[str], facts: Sequence[tuple[str, str, str]], y: int, wide: int) -> int:
    """Write what identifies and repeats the run; a value that is explained is code."""
    parts.append(f'<path d="M{PAD} {y - 10}H{wide - PAD}" stroke="{LINE}"/>')
    left, room = PAD + TERM, wide - 2 * PAD - TERM
    for name, value, what in facts:
        size, family = (10, MONO) if what or name == "repeat" else (11, "")
        parts.append(_text(PAD, y + 10, name, TERM - 6, 11, fill=SOFT))
        lines = _wrapped(value, room, size)
        for line in lines:
            parts.append(_text(left, y + 10, line, room, size, family=family))
            y += 15
        taken = (len(lines[-1]) + 2) * EM * size
        if what and taken + len(what) * EM * 11 <= room:
            parts.append(_text(left + taken, y - 5, what, room - taken, 11, fill=SOFT))
        elif what:
            parts.append(_text(left, y + 10, what, room, 11, fill=SOFT))
            y += 15
        y += 3
    return y


def _wrapped(text: str, width: float, size: float) -> list[str]:
    """Break a text into lines that fit, at spaces where there are any, or after a hyphen."""
    most, lines, line = max(8, int(width / (EM * size))), [], ""
    for word in text.split(" "):
        while len(word) > most:
            room = most - len(line) - bool(line)
            if room < 8:
                lines.append(line)
                line, room = "", most
            room = word.rfind("-", 4, room) + 1 or room
            lines.append(f"{line} {word[:room]}".strip())
            line, word = "", word[room:]
        if line and len(line) + 1 + len(word) > most:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines


def _text(
    x: float, y: float, text: str, width: float, size: float, *, weight: str = "",
    fill: str = "", anchor: str = "", family: str = "",
) -> str:  # fmt: skip
    """Write a text, cut in its middle if it may not fit; the whole of it shows on hover."""
    most = int(width / (EM * size))
    shown, half = text, (most - 1) // 2
    if len(text) > most:
        shown = f"{text[: most - 1 - half]}…{text[-half:]}"
    given = {"font-weight": weight, "fill": fill, "text-anchor": anchor, "font-family": family}
    more = "".join(f' {key}="{html.escape(value)}"' for key, value in given.items() if value)
    hover = "" if shown == text else f"<title>{html.escape(text)}</title>"
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{more} xml:space="preserve">{hover}'
        f"{html.escape(shown)}</text>"
    )
