"""allminds worth: what each member adds to its group."""

from __future__ import annotations

from typing import Annotated

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
    """Measure what each member adds to its group, and what its messages add.

    Coalitions of the members play the same exercises with the same random words. A contribution is
    a Shapley value: what a member adds to those before it, averaged over all orders. They sum to
    the group's score minus chance. Up to eight members all coalitions are played; of more, orders
    are drawn. Members of a group with language models are left out one by one: the command says
    what that will cost, and does it with --yes.
    """
    from allminds import registry
    from allminds.core.spending import spending
    from allminds.results import check_margin
    from allminds.statistics import worth as statistics
    from allminds.terminal import working
    from allminds.terminal.worth import show_worth

    check_margin(margin)
    tool = registry.make_instrument(instrument, settings_of(setting))

    def measured() -> list[statistics.Worth]:
        how = {"episodes": episodes, "seed": seed, "margin": margin}
        with working(instrument):
            return [statistics.worth(tool, group, **how) for group in mind]  # type: ignore[arg-type]

    line_ups = [registry.line_up(group, tool) for group in mind]
    paid = any(seat.subject.paid for one in line_ups for seat in one.seats)
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
        settings = tool.settings.model_dump(mode="json")
        print_json({"instrument": tool.name, "settings": settings, "episodes": episodes,
                    "seed": seed, "margin": margin,
                    "groups": [one.as_json() for one in found]} | asked)  # fmt: skip
        return
    for one in found:
        show_worth(one)
    if asked:
        print(ledger)
