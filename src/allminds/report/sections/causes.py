"""The section on causes: where a mind breaks, exercise by exercise, beside a rival.

Every sentence is computed from the two plays; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from allminds.report.causes import TINY, Cause, Parting, Play, partings
from allminds.report.charts import ink
from allminds.report.charts.drawing import STYLES, short_names, spread
from allminds.report.data import TestData
from allminds.report.words import count, number
from allminds.runs.store import RunFolder

AROUND = 3  # steps before and after that are drawn too
MOST_ROWS = 60  # of the table of steps
WIDTH, HEIGHT, TOP = 410, 90, 28  # of the curve; of the box inside; room for the title


def section(
    tests: Sequence[TestData], folders: Sequence[RunFolder], minds: Sequence[str]
) -> list[dict[str, Any]]:
    """Collect the cards of each mind and test; none where there is nothing to say."""
    found = partings(tests, folders, minds)
    return [
        {
            "data": one.data,
            "mind": one.mind,
            "rival": one.rival,
            "about": about(one),
            "notes": one.notes,
            "cards": [_card(cause) for cause in one.causes],
        }
        for one in found
    ]


# ---------------------------------------------------------------- in words


def about(found: Parting) -> str:
    """Say what was searched and by which rule the cards were chosen."""
    if not found.searched:
        return ""
    alike = found.searched - found.worse - found.better
    said = (
        f"Of the {count(found.searched, 'exercise')} searched (those whose actions the run keeps), "
        f"{found.mind} did worse than {found.rival} on {found.worse}, better on {found.better} and "
        f"alike on {alike}."
    )
    if not found.largest:
        return said
    many = found.largest > 1
    return (
        f"{said} Shown {'are' if many else 'is'} the {f'{found.largest} ' * many}largest "
        f"loss{'es' * many}, {found.share:.0%} of all that it lost there: extreme cases, not "
        "typical ones. Of equal losses the least complex exercise comes first."
    )


def sentences(cause: Cause) -> list[str]:
    """Say what happened in an exercise."""
    return _asked(cause) if cause.question else _played(cause)


def signed(value: float) -> str:
    """Write a reward in three digits with its sign."""
    text = f"{value:+.3g}" if abs(value) > TINY else "0"
    return text.replace("-", "−")


def _asked(cause: Cause) -> list[str]:
    """Say what both answered, which is right, and what the instrument says of either answer."""
    item = cause.mine.replay.tool.presentation.item(cause.mine.replay.exercise)
    said, answer = [], item["answer"]
    for play in (cause.mine, cause.rival):
        chosen, remark = play.action(1), play.remark(1)
        if play.failed:
            said.append(f"{play.mind} failed ({play.failed}), which counts as {play.score:g}.")
        elif chosen not in item["options"]:
            said.append(f"{play.mind} gave no answer.")
        else:
            right = "right" if chosen == answer else "wrong"
            said.append(f"{play.mind} answered {chosen}, which is {right}{remark and ': '}{remark}.")
    if answer not in (cause.mine.action(1), cause.rival.action(1)):
        said.append(f"Right is {answer}.")
    return said


def _played(cause: Cause) -> list[str]:
    """Say what both did at the step at which the gap reached half its size, and what followed."""
    step, gap = cause.step, float(cause.gaps[-1])
    mine, rival = cause.mine, cause.rival
    whole = mine.replay.exercise.environment.steps
    said = [f"At step {step} of {whole}, {_did(mine, step)}; {_did(rival, step)}."]
    if abs(gap) > TINY:
        behind, ahead = (mine, rival) if gap > 0 else (rival, mine)
        said.append(
            f"There the gap in reward reached half its final size of {abs(gap):.3g}: from this "
            f"step on {behind.mind} got {signed(behind.since(step))} and {ahead.mind} "
            f"{signed(ahead.since(step))}."
        )
    if cause.parted is None:
        said.append("Both did the same at every step.")
    elif cause.parted > 1:
        said.append(f"Up to step {cause.parted - 1} both did the same.")
    return said


def _did(play: Play, step: int) -> str:
    if step <= play.steps:
        chose, others = play.action(step), play.others(step)
        against = f" (the others {others})" if others else ""
        verb = f"chose {chose}" if chose else "was not to move"
        return f"{play.mind} {verb}{against} and got {signed(play.reward(step))}"
    if not play.failed:
        return f"{play.mind} was done after step {play.steps}"
    if step == play.steps + 1:
        return f"{play.mind} failed ({play.failed}), and what it did not play counts as lost"
    return f"{play.mind} had failed at step {play.steps + 1} ({play.failed})"


# ---------------------------------------------------------------- cards


def _card(cause: Cause) -> dict[str, Any]:
    """Collect what the page shows of an exercise."""
    mine, rival = cause.mine, cause.rival
    world = mine.replay.exercise.environment
    names = {play.mind: f"{signed(play.score)}" for play in (mine, rival)}
    card = {
        "index": cause.index,
        "why": cause.why,
        "complexity": ", ".join(f"{k} {v:g}" for k, v in list(world.complexity.items())[:1]),
        "scores": names,
        "said": sentences(cause),
        "seen": _seen(cause),
    }
    if cause.question:
        return card | {"picture": _scaled(_picture(mine, 0)), "options": _options(cause)}
    return card | {
        "frames": _frames(cause),
        "remarks": [(play.mind, play.remark(cause.step)) for play in (mine, rival)],
        "curve": _curve(cause) if len(cause.gaps) > 1 else "",
        "rows": _rows(cause),
        "whole": len(cause.gaps) <= MOST_ROWS,
    }


def _options(cause: Cause) -> list[dict[str, Any]]:
    """List the answers that matter with who gave them; all of them if they are few."""
    item = cause.mine.replay.tool.presentation.item(cause.mine.replay.exercise)
    by = {play.mind: play.action(1) for play in (cause.mine, cause.rival) if not play.failed}
    few = len(item["options"]) <= 8
    return [
        {
            "name": option,
            "right": option == item["answer"],
            "by": [mind for mind, chosen in by.items() if chosen == option],
        }
        for option in item["options"]
        if few or option == item["answer"] or option in by.values()
    ]


def _seen(cause: Cause) -> list[tuple[str, str, str]]:
    """Return the fields of what either saw before the step: name, mine, rival."""
    step = 1 if cause.question else cause.step
    mine, rival = cause.mine.seen(step), cause.rival.seen(step)
    return [
        (name, mine.get(name, "–"), rival.get(name, "–")) for name in dict.fromkeys([*mine, *rival])
    ]


def _frames(cause: Cause) -> list[dict[str, Any]]:
    """Draw the states round the step, both plays beside each other."""
    step, last = cause.step, len(cause.gaps)
    first = max(0, step - 1 - AROUND)
    if cause.parted is not None and cause.parted - 1 < step - 1:
        first = cause.parted - 1
    after = sorted({first, step - 1, step, min(last, step + AROUND)})
    return [
        {
            "at": "at the start" if not at else f"after step {at}",
            "key": at == step,
            "plays": [
                {"mind": play.mind, "caption": _caption(play, at, step),
                 "picture": _scaled(_picture(play, at))}
                for play in (cause.mine, cause.rival)
            ],
        }
        for at in after
    ]  # fmt: skip


def _caption(play: Play, at: int, step: int) -> str:
    """Say what the mind did to get here, or does next from the state before the step."""
    if at > play.steps:
        return "failed" if play.failed else "done"
    if at == step - 1:
        return f"now chooses {play.action(step)}" if play.action(step) else "not to move"
    return f"so far {signed(float(play.gained[at]))}" if at != step else (
        f"got {signed(play.reward(step))}"
    )


def _picture(play: Play, at: int) -> str:
    """Draw the state after so many steps of a play, or its last one."""
    replay = play.replay
    state = replay.states[min(at, len(replay.states) - 1)]
    return replay.tool.presentation.picture(replay.exercise.environment, state)


def _scaled(svg: str) -> str:
    """Let a picture of fixed size shrink and grow with the page, but not beyond its size."""
    head, end, rest = svg.partition(">")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', head)
    if size is None:
        return svg
    width, height = size.groups()
    box = "" if "viewBox" in head else f' viewBox="0 0 {width} {height}"'
    plain = head.replace(size[0], f'style="max-width:{width}px"{box}', 1)
    return plain + end + rest


def _curve(cause: Cause) -> str:
    """Draw the reward so far of both minds, with the step marked."""
    plays = (cause.mine, cause.rival)
    last = len(cause.gaps)
    values = [float(v) for play in plays for v in play.gained]
    low, high = min(values), max(values)
    margin = 0.08 * (high - low) or 0.5
    domain = (low - margin, high + margin)
    labels = short_names([play.mind for play in plays])
    left, room = ink.y_room(domain), 30 + ink.LETTER * max(map(len, labels.values()))
    box = ink.Box(left, TOP, WIDTH - left - room, HEIGHT, (0, last), domain)
    at = box.x(cause.step)
    parts = [ink.y_axis(box, "reward so far"), ink.x_axis(box, "step")]
    parts.append(ink.rules([(at, box.top - 4, at, box.bottom)], ink.INK, 1.2, dash=(2, 2)))
    parts.append(ink.text(at, box.top - 12, f"step {cause.step}", "middle"))
    ends = [box.y(float(play.gained[-1])) for play in plays]
    for play, style, y in zip(plays, STYLES, spread(ends, 15, box.top, box.bottom), strict=False):
        ways = [(box.x(n), box.y(float(v))) for n, v in enumerate(play.gained)]
        parts.append(ink.line(ways, style.colour, 1.8, () if play is cause.mine else (5, 3)))
        parts.append(ink.symbols(style.shape, [ways[min(cause.step, len(ways) - 1)]], style.colour, 4))
        parts.append(ink.symbols(style.shape, [(box.right + 12, y)], style.colour, 3.6))
        parts.append(ink.text(box.right + 20, y, labels[play.mind]))
    return ink.picture(WIDTH, box.bottom + ink.depth(), parts)


def _rows(cause: Cause) -> list[dict[str, Any]]:
    """List the steps with what both did and got; those around the step if there are many."""
    last, step = len(cause.gaps), cause.step
    first = max(1, min(step - MOST_ROWS // 2, last - MOST_ROWS + 1))
    return [
        {
            "step": n,
            "key": n == step,
            "plays": [
                (" / ".join(filter(None, (play.action(n), play.others(n)))) or "–",
                 signed(play.reward(n)))
                for play in (cause.mine, cause.rival)
            ],
            "gap": number(float(cause.gaps[n - 1])),
        }
        for n in range(first, min(last, first + MOST_ROWS - 1) + 1)
    ]  # fmt: skip
