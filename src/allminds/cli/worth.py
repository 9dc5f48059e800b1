"""allminds worth: what each member adds to its group, and whether a group is worth its cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from allminds.cli.app import (
    GIVE,
    DryRunOption,
    InstrumentArgument,
    JsonOption,
    MaxCostOption,
    PriceOption,
    ReplyTokensOption,
    SettingOption,
    app,
    complete_mind,
    print_json,
    settings_of,
)
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.contracts import Instrument
    from allminds.core.line_up import Subject
    from allminds.statistics.cost import Costs
    from allminds.statistics.worth import Worth


@app.command(
    rich_help_panel=GIVE,
    epilog='Example: allminds worth c-test -m "plurality(pattern(y=2),pattern(y=3),min-distance)"',
)
def worth(
    instrument: InstrumentArgument,
    mind: Annotated[
        list[str],
        typer.Option(
            "--mind",
            "-m",
            metavar="GROUP",
            help="A group with its members, vote(a,b,c); in a game, others may follow it.",
            autocompletion=complete_mind,
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar='"MIND; KEY=VALUE"',
            show_default="members are left out",
            help="A single mind to compare the groups with, by cost; behind semicolons, settings "
            "of its own.",
        ),
    ] = None,
    price_of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MIND=PRICE",
            show_default="1 a mind",
            help="The price a step of a mind, a member, or a group as a whole.",
        ),
    ] = None,
    cost: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="What a mind costs: its stated price, or the tokens or dollars of language "
            "models.",
        ),
    ] = "stated",
    setting: SettingOption = None,
    episodes: Annotated[
        int, typer.Option(min=1, max=10**6, help="The exercises that each coalition plays.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same exercises.")] = 1,
    margin: Annotated[float, typer.Option(help="δ: the least contribution that matters.")] = 0.05,
    as_json: JsonOption = False,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
    reply_tokens: ReplyTokensOption = 300,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask language models, whatever it costs.")
    ] = False,
) -> None:
    """Measure what each member adds to its group, or whether a group is worth its cost.

    Coalitions of the members play the same exercises with the same random words. A contribution is
    a Shapley value: what a member adds to those before it, averaged over all orders. They sum to
    the group's score minus chance. Up to eight members all coalitions are played; of more, orders
    are drawn. Members of a group with language models are left out one by one.

    With --against, groups are compared with single minds instead. The collaboration gain Γ is the
    score of a group minus that of the best of these that costs no more, which is chosen on one half
    of the exercises and compared on the other.

    Where language models are asked, the command says what it will cost, and asks with --yes.
    """
    from allminds import registry
    from allminds.core.spending import spending
    from allminds.results import check_margin
    from allminds.terminal import working

    check_margin(margin)
    if not against and (price_of or cost != "stated"):
        raise Error("a cost is for a comparison with single minds; name them with --against")
    if price_of and cost != "stated":
        raise Error(f"--price-of states prices, and --cost {cost} counts others; leave out one")
    tool = registry.make_instrument(instrument, settings_of(setting))
    how = _How(instrument, settings_of(setting), episodes, seed, margin)
    prices = _prices(price_of)

    def measured() -> Any:
        with working(instrument):
            return _costs(how, mind, against, prices, cost) if against else _members(how, mind)

    names = [*mind, *(text.partition(";")[0] for text in against or ())]
    paid = any(one.paid for text in names for one in _subjects(text, tool))
    if dry_run or (paid and not yes):
        with spending(None, price, True, reply_tokens) as supposed:
            measured()
        if not dry_run:
            raise Error(f"{supposed}; say --yes to ask them")
        print_json({"llm": supposed.as_json()}) if as_json else print(supposed)
        return
    with spending(max_cost, price, False, reply_tokens) as ledger:
        found = measured()
    asked = {"llm": ledger.as_json()} if ledger.calls else {}
    if as_json:
        given = {"instrument": tool.name, "settings": tool.settings.model_dump(mode="json")}
        given |= {"episodes": episodes, "seed": seed, "margin": margin}
        rows = found.as_json() if against else {"groups": [one.as_json() for one in found]}
        print_json(given | rows | asked)
        return
    _show(found)
    if asked:
        print(ledger)


class _How(NamedTuple):
    """What is played, and the margin of its verdicts."""

    instrument: str
    settings: dict[str, Any]
    episodes: int
    seed: int
    margin: float


def _subjects(text: str, tool: Instrument) -> list[Subject]:
    """Resolve the minds that a text names, in whichever settings they will play."""
    from allminds import registry
    from allminds.core.line_up import parse_all

    return [registry.subject(str(replace(name, times=1)), tool) for name in parse_all(text)]


def _prices(given: list[str] | None) -> dict[str, float]:
    """Parse stated prices: the number is behind the last = of a text."""
    prices = {}
    for text in given or ():
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not name or not 0 <= number < float("inf"):
            raise Error(f"--price-of takes MIND=PRICE, such as local-search=1.5, not '{text}'")
        prices[name.strip()] = number
    return prices


def _members(how: _How, groups: list[str]) -> list[Worth]:
    """Measure what members add, group by group."""
    from allminds import registry
    from allminds.statistics.worth import worth

    tool = registry.make_instrument(how.instrument, how.settings)
    return [
        worth(tool, group, episodes=how.episodes, seed=how.seed, margin=how.margin)
        for group in groups
    ]


def _costs(
    how: _How, groups: list[str], singles: list[str], prices: dict[str, float], unit: Any
) -> Costs:
    """Compare groups with single minds by what they cost."""
    import time

    from allminds.statistics.cost import Asked, costs

    asked = Asked(how.instrument, how.settings, prices, unit, how.episodes, how.seed)
    return costs(asked, groups, singles, how.margin, time.perf_counter)


def _show(found: Any) -> None:
    """Print the tables of one question or the other."""
    from allminds.terminal.worth import show_costs, show_worth

    if isinstance(found, list):
        for one in found:
            show_worth(one)
    else:
        show_costs(found)
