"""allminds evaluate: one instrument, some minds, their scores."""

from __future__ import annotations

from typing import Annotated

import typer

from allminds.cli.app import GIVE, app, print_json
from allminds.cli.options import (
    CORES,
    LONG,
    DryRunOption,
    EngineOption,
    InstrumentArgument,
    JobsOption,
    JsonOption,
    MaxCostOption,
    MindOption,
    PlotOption,
    PriceOption,
    SettingOption,
    StrictOption,
    TrustOption,
    YesOption,
    check_length,
    settings_of,
)
from allminds.cli.run import leave
from allminds.core.errors import Error


@app.command(
    rich_help_panel=GIVE,
    epilog='Example: allminds evaluate lambda-star -m local-search -m "expert(intercept=false)"',
)
def evaluate(
    instrument: InstrumentArgument,
    mind: MindOption = None,
    setting: SettingOption = None,
    episodes: Annotated[
        int | None,
        typer.Option(
            help="The number of exercises for each mind; by default 1000, or all of a fixed form."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same exercises.")] = 1,
    jobs: JobsOption = CORES,
    as_json: JsonOption = False,
    engine: EngineOption = "local",
    strict: StrictOption = False,
    time_limit: Annotated[
        float,
        typer.Option(
            help="Seconds of processor time that a mind of yours may take to act; ten times as "
            "long by the clock."
        ),
    ] = 10.0,
    plot: PlotOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
    trust: TrustOption = False,
    yes: YesOption = False,
) -> None:
    """Give one instrument to some minds, and show their scores with floor and ceiling.

    The exit code is 1 if a mind failed every exercise.
    """
    from allminds import registry
    from allminds.core.spending import spending
    from allminds.evaluate import evaluate as give
    from allminds.runs.run import How
    from allminds.terminal import show_test, watching

    minds = list(mind or [])
    if not minds and as_json:
        raise Error("name at least one mind with --mind; see allminds list minds")
    if dry_run:
        registry.built_in_only("a dry run", trust)
    if (episodes or 0) > LONG and not (yes or dry_run):
        from allminds.runs.engine import Given

        given = Given.of(instrument, settings_of(setting), minds)
        ends = registry.missing_ends(given.line_ups, given.tool)
        given = given.joined(ends, [registry.line_up(end, given.tool) for end in ends])
        check_length([(given, int(episodes or 0))], seed)
    with watching() as progress, spending(max_cost, price, dry_run) as ledger:
        how = How(jobs=jobs, engine=engine, strict=strict, progress=progress)
        found = give(
            instrument, minds, settings=settings_of(setting), seed=seed, how=how,
            time_limit=time_limit, episodes=episodes, ends=not dry_run, records=False,
        ).summary  # fmt: skip
    asked = {"llm": ledger.as_json()} if ledger.calls or dry_run else {}
    if dry_run:
        print_json(asked) if as_json else print(ledger)
        return
    if plot is not None:
        from allminds.report.charts.files import save, score_plot
        from allminds.terminal.tables import best_first

        save(score_plot(best_first(found), f"score on {instrument}"), plot)
    if as_json:
        print_json(found | asked)
    else:
        show_test(found)
        if asked:
            print(ledger)
    leave([found])
