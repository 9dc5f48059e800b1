"""allminds evaluate and gains: minds on some instruments, and who gains from whom."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import (
    CORES,
    GIVE,
    INSTRUMENT_HELP,
    ConnectionsOption,
    CourseOption,
    DryRunOption,
    EngineOption,
    InstrumentArgument,
    JobsOption,
    JsonOption,
    MaxCostOption,
    MindOption,
    PlotOption,
    PriceOption,
    ReplyTokensOption,
    SettingOption,
    StrictOption,
    TrustOption,
    UntilOption,
    VerboseOption,
    YesOption,
    app,
    check_length,
    complete_instrument,
    complete_mind,
    print_json,
    print_line,
    settings_of,
)
from allminds.cli.run import leave, reserved
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.results import Results
    from allminds.statistics.answer import Answer
    from allminds.statistics.gains import Gain


@app.command(
    rich_help_panel=GIVE,
    epilog='Example: allminds evaluate lambda-star -m local-search -m "expert(intercept=false)"'
    "  |  allminds evaluate lambda-star c-test -m mine.py:Mine --report",
)
def evaluate(
    instrument: Annotated[
        list[str],
        typer.Argument(
            metavar="INSTRUMENT …", help=INSTRUMENT_HELP, autocompletion=complete_instrument
        ),
    ],
    mind: MindOption = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MIND",
            show_default="itself in a game, and no rival elsewhere",
            autocompletion=complete_mind,
            help="Whom to measure against: in a game it sits in the other slots; any other test it "
            "takes too, as a rival.",
        ),
    ] = None,
    setting: SettingOption = None,
    episodes: Annotated[
        int | None,
        typer.Option(
            help="The number of exercises for each mind; by default 1000, or all of a fixed form. "
            "With --course, of courses; by default 20."
        ),
    ] = None,
    course: CourseOption = None,
    disguises: Annotated[
        int,
        typer.Option(
            min=0,
            max=1000,
            metavar="N",
            help="Give every exercise in N skins too, and tell how much of the score is recall.",
        ),
    ] = 0,
    until: UntilOption = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same exercises.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="The folder to save the run in; by default runs/1, ….")
    ] = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Save nothing.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write report.html into the folder too.")
    ] = False,
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
    full_ends: Annotated[
        bool,
        typer.Option(
            "--full-ends",
            help="Give floor and ceiling all exercises; beyond 20,000 they otherwise get a sample.",
        ),
    ] = False,
    plot: PlotOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
    reply_tokens: ReplyTokensOption = 300,
    max_connections: ConnectionsOption = 10,
    trust: TrustOption = False,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Give instruments to some minds, show their scores with floor and ceiling, and save the run.

    Minds that have rivals are compared with them. What is shown fits one screen: if the tables do
    not, each mind's place between floor and ceiling is shown instead; --verbose shows everything.

    The run folder is as that of allminds run: resume, report, compare and card take it. The exit
    code is 1 if a mind failed every exercise.
    """
    from allminds import registry
    from allminds.core.spending import spending
    from allminds.evaluate import played
    from allminds.runs.resolve import prepared
    from allminds.runs.run import How
    from allminds.terminal import watching

    minds = list(mind or [])
    if not minds and as_json:
        raise Error("name at least one mind with --mind; see allminds list minds")
    if no_save and (out or report):
        raise Error("--no-save writes nothing; leave it out to have --out or --report")
    if plot is not None:
        from allminds.report.charts.files import check_name

        check_name(plot)
    if dry_run:
        registry.built_in_only("a dry run", trust)
    with spending(max_cost, price, dry_run, reply_tokens) as ledger:  # before any model is made
        what = prepared(
            instrument, minds, against=against or None, settings=settings_of(setting) or None,
            episodes=episodes, seed=seed, time_limit=time_limit, course=course,
            disguises=disguises, until=until,
            ends="full" if full_ends and not dry_run else not dry_run,
        )  # fmt: skip
        for sentence in what.left_out_in_short():
            print(f"allminds: {sentence}", file=sys.stderr)
        if not (yes or dry_run):
            pairs = zip(what.tests, what.plan.tests, strict=True)
            check_length(((given, test.exercises) for given, test in pairs), seed)
        kept = contextlib.nullcontext() if no_save or dry_run else reserved(out, needed=report)
        with (
            kept as where,
            watching(again := f"allminds run --resume {where}" if where else "") as progress,
        ):
            how = How(
                jobs=jobs, engine=engine, strict=strict, progress=progress,
                connections=max_connections,
            )  # fmt: skip
            courses = any("course" in test.settings for test in what.plan.tests)
            found = played(what, where, how, records=courses or disguises > 0)
    asked = {"llm": ledger.as_json()} if ledger.calls or dry_run else {}
    if dry_run:
        print_json(asked) if as_json else print(ledger)
        return
    page = found.report(where / "report.html") if report and where else None
    if plot is not None:
        _draw(found, plot)
    if as_json:
        saved = {"folder": str(where)} if where else {}
        learnt = {"learning": found.learning().as_json()} if courses else {}
        lost = {"recall": [one.as_json() for one in found.recalled()]} if disguises else {}
        print_json(found.summary | learnt | lost | asked | saved)
    else:
        lacks = (
            again if any(row["missing"] for test in found.tests for row in test["results"]) else ""
        )
        told = [*([str(ledger)] if asked else []), *_places(where, page, lacks)]
        _show(found, told, verbose, courses)
    leave([test.summary for test in found.tests])


def _show(found: Results, lines: list[str], verbose: bool, courses: bool) -> None:
    """Print tables and verdicts, what was learnt over courses, and then some lines."""
    from allminds.terminal import show_test

    tests = [test.summary for test in found.shown]
    answered = None if found.disguised else _answer(found)
    if answered is None or verbose:
        for test in tests:
            show_test(test)
    if answered is not None:
        from allminds.terminal.answer import show_answer, show_tables

        show_answer(answered, None) if verbose else show_tables(tests, answered, len(lines))
    if courses:
        from allminds.terminal.comparison import show_learning

        show_learning(found.learning(), verbose)
    if found.disguised:
        from allminds.terminal.recall import show_recall

        show_recall(found.recalled())
    for line in lines:
        print_line(line)


def _answer(found: Results) -> Answer | None:
    """Answer from a saved run in which minds have rivals other than floor and ceiling."""
    rivals = any(
        sum(row["end"] is None for row in test.summary["results"]) > 1 for test in found.tests
    )
    if not rivals or found.folder is None:
        return None
    from allminds.runs.store import RunFolder
    from allminds.runs.summary import answer_of_run

    return answer_of_run(RunFolder.open(Path(found.folder)))


def _places(where: Path | None, page: Path | None, again: str) -> list[str]:
    """Say where the run and its report are, and how what is missing is asked again."""
    told = [f"run: {where}"] if where else []
    told += [f"report: {page}"] if page else []
    if again:
        told.append(f"the run is not complete; its missing exercises are asked again by: {again}")
    return told


def _draw(found: Results, plot: Path) -> None:
    """Draw a plot of the scores of one test."""
    from allminds.report.charts.files import save, score_plot
    from allminds.terminal.tables import best_first

    tests: list[Any] = found.tests
    if len(tests) > 1:
        raise Error("--plot draws one instrument; evaluate them one by one, or see --report")
    test = tests[0].summary
    save(score_plot(best_first(test), f"score on {test['instrument']}"), plot)


# ---------------------------------------------------------------- gains


@app.command(
    rich_help_panel=GIVE,
    epilog='Example: allminds gains team-lambda-star -m "local-search*2, random*2" --teams',
)
def gains(
    instrument: InstrumentArgument,
    mind: Annotated[
        str,
        typer.Option(
            "--mind",
            "-m",
            metavar="MIND,…",
            help="The line-up in slot order; one mind sits in every slot.",
            autocompletion=complete_mind,
        ),
    ],
    by: Annotated[
        str,
        typer.Option(
            metavar="MIND", help="Who replaces each in turn.", autocompletion=complete_mind
        ),
    ] = "random",
    teams: Annotated[
        bool, typer.Option("--teams", help="Replace whole teams, not minds and groups.")
    ] = False,
    setting: SettingOption = None,
    episodes: Annotated[
        int, typer.Option(min=1, max=10**6, help="The exercises that each line-up plays.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same exercises.")] = 1,
    margin: Annotated[float, typer.Option(help="δ: the least gain that matters.")] = 0.05,
    as_json: JsonOption = False,
) -> None:
    """Measure who gains from whom: how scores change if another mind is replaced.

    Each mind, group or team of the line-up is replaced in turn, and the same exercises are played
    again with the same random words. A gain is the score of one with the other minus its score with
    the replacement; verdicts are corrected for all pairs.
    """
    from allminds import registry
    from allminds.results import check_margin
    from allminds.statistics import gains as statistics
    from allminds.terminal import working

    check_margin(margin)
    tool = registry.make_instrument(instrument, settings_of(setting))
    with working(instrument):
        found = statistics.gains(
            tool, mind, by=by, teams=teams, episodes=episodes, seed=seed, margin=margin
        )
    if as_json:
        rows = [one.as_json() for one in found]
        settings = tool.settings.model_dump(mode="json")
        print_json({"instrument": tool.name, "settings": settings, "minds": mind, "by": by,
                    "teams": teams, "episodes": episodes, "seed": seed, "margin": margin,
                    "gains": rows})  # fmt: skip
        return
    _show_gains(found, f"{tool.name}  ·  {episodes:,} exercises  ·  replaced by {by}")


def _show_gains(found: Sequence[Gain], title: str) -> None:
    """Print the gains as a table, and what the verdicts mean."""
    from rich.console import Console

    from allminds.core.errors import printable
    from allminds.inference.words import interval, number
    from allminds.terminal.tables import Name, figures_table, say

    table = figures_table(["whose score", "with"], ["gain", "95 % interval", "verdict"])
    for one in found:
        change = one.found
        table.add_row(
            Name(printable(one.whose.label)), Name(printable(one.source.label)),
            number(change.mean), interval(change.interval), one.word,
        )  # fmt: skip
    say(title, "bold")
    Console().print(table)
    if any(not one.found.differs for one in found):
        say("No change: the scores are the same in every exercise.")
