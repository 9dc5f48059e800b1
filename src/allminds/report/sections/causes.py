"""The section on causes: where a mind breaks, exercise by exercise, beside a rival.

Every sentence is computed from the two plays; nothing is guessed.
"""

from __future__ import annotations

import re
import textwrap
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
WIDTH, HEIGHT, TOP = 410, 90, 40  # of the curve; of the box inside; room for title and step


def section(tests: Sequence[TestData], folders: Sequence[RunFolder]) -> list[dict[str, Any]]:
    """Collect the cards of each mind that is asked about, test by test."""
    return [
        {
            "data": one.data,
            "mind": one.names[0],
            "rival": one.names[1],
            "about": about(one),
            "notes": one.notes,
            "legend": one.data.tool.presentation.legend if one.causes else "",
            "cards": [_card(cause) for cause in one.causes],
        }
        for one in partings(tests, folders)
    ]


# ---------------------------------------------------------------- in words


def about(found: Parting) -> str:
    """Say what was searched and by which rule the cards were chosen."""
    if not found.searched:
        return ""
    mind, rival = found.names
    kept = f"{count(found.searched, 'exercise')} whose actions the run keeps"
    if not found.worse:
        how = "both did alike on all" if not found.better else "it did worse on none"
        return f"{mind} beside {rival}: of the {kept}, {how}, so there are no cards."
    alike = found.searched - found.worse - found.better
    said = (
        f"Of the {kept}, {mind} did worse than {rival} on {found.worse}, better on {found.better} "
        f"and alike on {alike}."
    )
    if not found.causes:
        return said
    if found.alike > found.largest:
        chosen = f"{found.largest} of the {found.alike} equal and largest losses, the least complex"
    else:
        chosen = "the largest loss" if found.largest == 1 else f"the {found.largest} largest losses"
    return (
        f"{said} Shown first: {chosen}. What it lost there is {100 * found.share:.0f} % of all "
        "that it lost. They were chosen for the size of the loss, not as typical ones."
    )


def as_text(found: Parting, width: int = 80) -> str:
    """Write what the page says about a mind and its rival, without pictures."""
    mind, rival = found.names
    lines = [f"{mind} beside {rival} on {found.data.label}"]
    lines += [f"  {said}" for said in (about(found), *found.notes) if said]
    for cause in found.causes:
        lines += ["", f"  {headline(cause)}", *(f"    {said}" for said in sentences(cause))]
        for play in (cause.mine, cause.rival):
            if not cause.question and play.remark(cause.step):
                whose = f", slot {play.slots[0]}," if len(play.slots) > 1 else ""
                fact = play.remark(cause.step)
                lines.append(f"    {play.mind}{whose} at step {cause.step}: {fact}.")
    indents = [" " * (len(line) - len(line.lstrip())) for line in lines]
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)
        for line, indent in zip(lines, indents, strict=True)
    )


def as_json(found: Parting) -> dict[str, Any]:
    """Convert what is known of a mind and its rival to a plain value for JSON."""
    return {
        "test": found.data.label,
        "mind": found.mind,
        "rival": found.rival,
        "searched": found.searched,
        "worse": found.worse,
        "better": found.better,
        "share": found.share,
        "notes": found.notes,
        "causes": [
            {
                "exercise": cause.mine.replay.exercise.id,
                "why": cause.why,
                "scores": [cause.mine.score, cause.rival.score],
                "parted": cause.parted,
                "step": None if cause.question else cause.step,
                "gaps": cause.gaps.tolist(),
                "said": sentences(cause),
            }
            for cause in found.causes
        ],
    }


def headline(cause: Cause) -> str:
    """Name the exercise, why it was chosen, and both scores."""
    complexity = cause.mine.replay.exercise.environment.complexity
    first = next((f" (complexity: {name} {value:g})" for name, value in complexity.items()), "")
    scores = ", ".join(f"{one.mind} {signed(one.score)}" for one in (cause.mine, cause.rival))
    return f"Exercise {cause.index}{first}, {cause.why}: {scores}"


def sentences(cause: Cause) -> list[str]:
    """Say what happened in an exercise, and what language models wrote at the step shown."""
    told = _asked(cause) if cause.question else _played(cause)
    step = 1 if cause.question else cause.step
    written = ((play.mind, play.reply(step)) for play in (cause.mine, cause.rival))
    talked = ((play.mind, play.talk(step)) for play in (cause.mine, cause.rival))
    return [
        *told,
        *(f"{mind} wrote: “{words}”" for mind, words in written if words),
        *(f"In {mind}: {'; '.join(said)}." for mind, said in talked if said),
    ]


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
            said.append(
                f"{play.mind} answered {chosen}, which is {right}{remark and ': '}{remark}."
            )
    if answer not in (cause.mine.action(1), cause.rival.action(1)):
        said.append(f"Right is {answer}.")
    return said


def _played(cause: Cause) -> list[str]:
    """Say what both did where they part and where the gap reached half its size."""
    step, gap, parted = cause.step, float(cause.gaps[-1]), cause.parted
    mine, rival = cause.mine, cause.rival
    said = [
        f"{play.mind} failed at step {play.steps + 1} ({play.failed}), and what it did not play "
        "counts as lost."
        for play in (mine, rival)
        if play.failed
    ]
    if parted is None:
        said.append("Both did the same at every step.")
    elif parted < step:
        said.append(f"They part at step {parted}: {_did(mine, parted)}; {_did(rival, parted)}.")
    elif parted == step and parted > 1:
        said.append(f"Up to step {step - 1} both did the same.")
    whole = mine.replay.exercise.environment.steps
    said.append(f"At step {step} of {whole}, {_did(mine, step)}; {_did(rival, step)}.")
    if abs(gap) > TINY:
        behind, ahead = (mine, rival) if gap > 0 else (rival, mine)
        said.append(
            f"There the gap in reward reached half its final size of {abs(gap):.3g}: from this "
            f"step on {behind.mind} got {signed(behind.since(step))} and {ahead.mind} "
            f"{signed(ahead.since(step))}."
        )
    return said


def _did(play: Play, step: int) -> str:
    if step <= play.steps:
        chose, others = play.action(step), play.others(step)
        against = f" ({play.rest} {others})" if others else ""
        verb = f"chose {chose}" if chose else "was not to move"
        return f"{play.mind} {verb}{against} and got {signed(play.reward(step))}"
    if play.failed:
        return f"{play.mind} {'failed' if step == play.steps + 1 else 'had failed'}"
    return f"{play.mind} was done after step {play.steps}"


# ---------------------------------------------------------------- cards


def _card(cause: Cause) -> dict[str, Any]:
    """Collect what the page shows of an exercise."""
    mine, rival = cause.mine, cause.rival
    shown = mine.replay.tool.presentation
    card: dict[str, Any] = {
        "index": cause.index,
        "headline": headline(cause),
        "minds": [play.mind for play in (mine, rival)],
        "said": sentences(cause),
        "question": cause.question,
    }
    if cause.question:
        seen = {**mine.seen(1), **rival.seen(1)}
        picture = _scaled(_picture(mine, 0), 1.0 if shown.pictured else 1.8)
        return card | {"picture": picture, "options": _options(cause), "seen": seen}
    drawn = shown.drawn
    return card | {
        "frames": _frames(cause) if drawn else [],
        "strip": None if drawn else _strip(cause),
        "moments": _moments(cause),
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


def _moments(cause: Cause) -> list[dict[str, Any]]:
    """Put side by side what either saw and did where they part, and at half the gap."""
    at = {cause.step: "half the gap"}
    if cause.parted is not None and cause.parted <= cause.step:
        both = "they part, and half the gap"
        at = {cause.parted: "they part"} | (
            {cause.step: both} if cause.parted == cause.step else at
        )
    plays = (cause.mine, cause.rival)
    whose = f"slot {plays[0].slots[0]} " if max(len(play.slots) for play in plays) > 1 else ""
    found = []
    for step, what in at.items():
        seen = [play.seen(step) for play in plays]
        rows = [
            (f"{whose}saw {name}", *(one.get(name, "–") for one in seen))
            for name in dict.fromkeys([*seen[0], *seen[1]])
        ]
        rows.append(("chose", *(play.action(step) or "–" for play in plays)))
        rows.append((f"{whose}in fact", *(play.remark(step) for play in plays)))
        rows.append(("got", *(signed(play.reward(step)) for play in plays)))
        told = [row for row in rows if set(row[1:]) - {"", "none"}]
        found.append({"step": step, "what": what, "rows": told})
    return found


def _frames(cause: Cause) -> list[dict[str, Any]]:
    """Draw the states where they part and round the step, both plays beside each other."""
    step, last = cause.step, len(cause.gaps)
    parted = min(cause.parted or step, step)
    if parted < step - 1:
        shown = {parted - 1, min(parted - 1 + AROUND, step - 2), step - 1, step}
    else:
        shown = {max(0, parted - 1 - (parted == step) * AROUND), step - 1, step,
                 min(last, step + AROUND)}  # fmt: skip
    return [
        {
            "key": at == step,
            "plays": [
                {"mind": play.mind, "caption": _caption(play, at, (parted, step)),
                 "picture": _scaled(_picture(play, at))}
                for play in (cause.mine, cause.rival)
            ],
        }
        for at in sorted(shown)
    ]  # fmt: skip


def _caption(play: Play, at: int, steps: tuple[int, int]) -> str:
    """Say when it is, and what the mind has got so far, or does next where that matters."""
    if at > play.steps or (at == play.steps and play.failed):
        how = f"failed at step {play.steps + 1}" if play.failed else "was done"
        return f"{how}; its last state, after step {play.steps}"
    when = f"after step {at}" if at else "at the start"
    if at + 1 in steps:
        return f"{when}: {f'chooses {next_}' if (next_ := play.action(at + 1)) else 'not to move'}"
    if at == steps[1]:
        return f"{when}: got {signed(play.reward(at))}"
    return f"{when}: has {signed(float(play.gained[at]))}"


def _strip(cause: Cause) -> dict[str, Any]:
    """List what both line-ups did at the steps round the step, where states are not drawn."""
    last, step = len(cause.gaps), cause.step
    first = max(1, min(step - AROUND, last - 2 * AROUND))
    steps = range(first, min(last, first + 2 * AROUND) + 1)
    lines = []
    for play in (cause.mine, cause.rival):
        others = [play.others(n) or "–" for n in steps]
        lines.append((play.mind, [play.action(n) or "–" for n in steps]))
        lines += [(f"{play.rest} beside {play.mind}", others)] if set(others) != {"–"} else []
        lines.append((f"{play.mind} got", [signed(play.reward(n)) for n in steps]))
    return {"steps": list(steps), "lines": lines, "key": step}


def _picture(play: Play, at: int) -> str:
    """Draw the state after so many steps of a play, or its last one."""
    replay = play.replay
    state = replay.states[min(at, len(replay.states) - 1)]
    return replay.tool.presentation.picture(replay.exercise.environment, state)


def _scaled(svg: str, times: float = 1.0) -> str:
    """Let a picture shrink and grow with the page, but not beyond its size, or `times` that."""
    head, end, rest = svg.partition(">")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', head)
    if size is None:
        return svg
    width, height = size.groups()
    box = "" if "viewBox" in head else f' viewBox="0 0 {width} {height}"'
    plain = head.replace(size[0], f'style="max-width:{times * float(width):g}px"{box}', 1)
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
    parts = [ink.y_axis(box, ""), ink.text(2, 8, "reward so far"), ink.x_axis(box, "step")]
    parts.append(ink.rules([(at, box.top - 4, at, box.bottom)], ink.INK, 1.2, dash=(2, 2)))
    parts.append(ink.text(at, box.top - 11, f"step {cause.step}", "middle"))
    ends = [box.y(float(play.gained[-1])) for play in plays]
    for play, style, y in zip(plays, STYLES, spread(ends, 15, box.top, box.bottom), strict=False):
        ways = [(box.x(n), box.y(float(v))) for n, v in enumerate(play.gained)]
        parts.append(ink.line(ways, style.colour, 1.8, () if play is cause.mine else (5, 3)))
        parts.append(
            ink.symbols(style.shape, [ways[min(cause.step, len(ways) - 1)]], style.colour, 4)
        )
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
