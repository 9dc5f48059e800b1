"""allminds evaluate: some instruments, some minds, their scores, and the run they are saved in."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import (
    CORES,
    GIVE,
    INSTRUMENT_HELP,
    CourseOption,
    DryRunOption,
    EngineOption,
    JobsOption,
    JsonOption,
    MaxCostOption,
    MindOption,
    PlotOption,
    PriceOption,
    SettingOption,
    StrictOption,
    TrustOption,
    VerboseOption,
    YesOption,
    app,
    check_length,
    complete_instrument,
    complete_mind,
    print_json,
    settings_of,
)
from allminds.cli.run import leave, reserved
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.results import Results
    from allminds.statistics.answer import Answer


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
    plot: PlotOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
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
    from allminds.core.watch import spending
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
    with spending(max_cost, price, dry_run) as ledger:  # before any model is made
        what = prepared(
            instrument, minds, against=against or None, settings=settings_of(setting) or None,
            episodes=episodes, seed=seed, time_limit=time_limit, ends=not dry_run, course=course,
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
            how = How(jobs=jobs, engine=engine, strict=strict, progress=progress)
            courses = any("course" in test.settings for test in what.plan.tests)
            found = played(what, where, how, records=courses)
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
        print_json(found.summary | learnt | asked | saved)
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

    tests = [test.summary for test in found.tests]
    answered = _answer(found)
    if answered is None or verbose:
        for test in tests:
            show_test(test)
    if answered is not None:
        from allminds.terminal.answer import show_answer, show_tables

        show_answer(answered, None) if verbose else show_tables(tests, answered, len(lines))
    if courses:
        from allminds.terminal.learning import show_learning

        show_learning(found.learning(), verbose)
    for line in lines:
        print(line)


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
