"""What members add to a group, and what a group is worth, as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from allminds.core.errors import printable
from allminds.inference.verdict import odds_explained
from allminds.inference.words import interval, number
from allminds.terminal.tables import Name, figures_table, say

if TYPE_CHECKING:
    from allminds.statistics.cost import Collaboration, Costs
    from allminds.statistics.redundancy import Redundancy
    from allminds.statistics.worth import Share, Worth

HOW = {
    "exact": "Contributions are Shapley values over all coalitions",
    "sampled": "Contributions are Shapley values over orders drawn for each exercise, whose error "
    "the intervals include",
    "left out": "A contribution is what the group loses without the member; they need not sum to "
    "the group's score, and replies of language models differ from time to time",
}


def show_worth(found: Worth) -> None:
    """Print what each member adds, what its messages add, and how alike members err."""
    title = f"{found.group}  ·  score {number(found.score.score)} {interval(found.score.ci95)}"
    chance = "" if found.chance is None else f"  ·  chance {number(found.chance)}"
    say(title + chance, "bold")
    _show_shares(found.shares)
    total = sum(one.found.mean for one in found.shares)
    said = [HOW[found.how]]
    if found.how != "left out":
        said.append(f"they sum to {number(total)}, the score minus chance")
    delta = f"Verdicts have δ = {found.shares[0].found.margin:g} and are corrected for all rows"
    others = "; beside others: more, or less, than the mean of the other members"
    say(f"{'; '.join(said)}. {delta}{others if len(found.shares) > 1 else ''}.", "dim")
    if found.score.failed:
        say(f"The group failed {found.score.failed:,} of {found.score.episodes:,} exercises, which "
            "count.")  # fmt: skip
    if found.senders:
        say("What is lost if nobody hears a member", "bold")
        _show_shares(found.senders)
    every = [*found.shares, *found.senders]
    for note in odds_explained(one.found for one in every):
        say(note, "dim")
    if found.redundancy is not None:
        for line in redundancy_lines(found.redundancy):
            say(line)


def _show_shares(shares: Sequence[Share]) -> None:
    """Print a table of shares, with the columns that some of them have."""
    alone = any(one.alone is not None for one in shares)
    beside = any(one.beside is not None for one in shares)
    columns = [*(["alone"] if alone else []), "adds", "95 % interval", "verdict"]
    table = figures_table(["", "member"], [*columns, *(["beside others"] if beside else [])])
    for one in shares:
        figures = [number(one.found.mean), interval(one.found.interval), one.word]
        table.add_row(
            str(one.member or ""), Name(printable(one.name)),
            *([number(one.alone)] if alone else []), *figures, *([one.unlike] if beside else []),
        )  # fmt: skip
    Console().print(table)


def redundancy_lines(found: Redundancy) -> list[str]:
    """Say how alike members err, and what that predicts for their vote beside what happened."""
    lines = []
    if found.errors is not None:
        pairs = "pair" if found.pairs == 1 else "pairs"
        lines.append(f"The scores of members alone correlate by {number(found.errors)} on average "
                     f"({found.pairs} {pairs}).")  # fmt: skip
    known = found.dependence
    if found.independent is not None:
        said = f"The vote was right in {number(found.observed)} of the exercises; "
        said += f"independent errors predict {number(found.independent)}"
        if known.correlation is not None:
            low, high = known.correlation.interval
            said += (f", a latent correlation of {number(known.correlation.value)} [{low:.3f}, "
                     f"{high:.3f}] {number(known.correlated)}")  # fmt: skip
        if known.bounds is not None:
            said += f"; any dependence allows {number(known.bounds.low)} to "
            said += number(known.bounds.high)
        lines.append(f"{said}.")
    return lines


# ---------------------------------------------------------------- costs


UNITS = {"stated": "cost", "tokens": "tokens", "dollars": "dollars"}
FRONTIER = (
    "Costs are of an exercise. Frontier: no other line-up here cost as little and scored as well, "
    "by the scores as measured. Seconds are of this machine, compilation included, and decide "
    "nothing."
)


def show_costs(found: Costs) -> None:
    """Print line-ups by cost, the frontier, and the collaboration gain of every group."""
    table = figures_table(
        ["line-up", ""], [UNITS[found.unit], "seconds", "score", "95 % interval", "frontier"]
    )
    for one in found.entries:
        table.add_row(
            Name(printable(one.label)), "group" if one.group else "", f"{one.cost:,.6g}",
            "–" if one.seconds is None else f"{one.seconds:.2g}", number(one.score.score),
            interval(one.score.ci95), "yes" if found.frontier(one) else "",
        )  # fmt: skip
    Console().print(table)
    say(FRONTIER, "dim")
    for one in found.entries:
        if one.score.failed:
            say(f"{one.label} failed {one.score.failed:,} of {one.score.episodes:,} exercises, "
                "which count.")  # fmt: skip
    for gain in found.gains:
        _show_gain(gain)
    every = [gain.gain for gain in found.gains if gain.gain]
    every += [band.gain for gain in found.gains for band in gain.bands]
    for note in odds_explained(every):
        say(note, "dim")


def _show_gain(found: Collaboration) -> None:
    """Print the collaboration gain of one group, overall and by complexity."""
    if found.gain is None:
        few = "there are too few exercises to choose the best single mind on and compare"
        say(f"{found.group}: {few if found.rivals else 'no single mind here costs as little'}.")
        return
    said = f"{found.group}: Γ = {number(found.gain.mean)} {interval(found.gain.interval)}, "
    said += f"{found.gain.gained}, against {found.best}, the best of {len(found.rivals)} that cost "
    said += f"no more, on {found.gain.units[0]:,} exercises that it was not chosen on"
    say(said + ("; it beats all of them." if found.beats_all else "."))
    if found.bands:
        table = figures_table([found.measure], ["Γ", "95 % interval", "units", "verdict"])
        for band in found.bands:
            span = f"{band.low:g}" if band.low == band.high else f"{band.low:g} to {band.high:g}"
            table.add_row(
                span, number(band.gain.mean), interval(band.gain.interval),
                f"{band.gain.units[0]:,}", band.gain.gained,
            )  # fmt: skip
        Console().print(table)
