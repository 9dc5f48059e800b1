"""allminds run: a whole plan of tests, into a run folder with a report."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import (
    CORES,
    GIVE,
    ConnectionsOption,
    DryRunOption,
    EngineOption,
    JobsOption,
    MaxCostOption,
    MindOption,
    PriceOption,
    ReplyTokensOption,
    StrictOption,
    TrustOption,
    VerboseOption,
    YesOption,
    app,
    check_length,
    complete_instrument,
    print_line,
)
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.core.spending import Ledger
    from allminds.runs.resolve import Resolved


@app.command(
    rich_help_panel=GIVE,
    epilog="Example: allminds run  |  allminds run groups  |  allminds run plan.toml",
)
def run(
    plan: Annotated[
        str, typer.Argument(metavar="[PLAN]", help="A TOML file, or battery, groups or factors.")
    ] = "battery",
    mind: MindOption = None,
    write_plan: Annotated[
        bool, typer.Option("--write-plan", help="Print the plan with comments, and stop.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the run; by default runs/1, ….")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INSTRUMENT",
            show_default="all tests",
            help="Only the tests of this instrument; lambda* is a pattern.",
            autocompletion=complete_instrument,
        ),
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(help="The exercises of every test; by default as the plan says.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The seed of all exercises; by default the plan's.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(show_default="a new run", help="Finish the run in this folder.")
    ] = None,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Resume though minds or versions have changed; the table is marked as mixed.",
        ),
    ] = False,
    engine: EngineOption = "local",
    jobs: JobsOption = CORES,
    strict: StrictOption = False,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
    reply_tokens: ReplyTokensOption = 300,
    max_connections: ConnectionsOption = 10,
    trust: TrustOption = False,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Give tests to minds: a plan of yours, or a built-in one (battery, groups, factors).

    Shows on one screen how your minds did (--mind), or the best fair ones, and writes one HTML
    report into the run folder; --verbose shows a table for every test too. The exit code is 1 if a
    mind failed every exercise of a test.
    """
    from allminds import registry
    from allminds.core.spending import spending
    from allminds.report import write_report
    from allminds.runs import plan as plans
    from allminds.runs import run as runs
    from allminds.runs.resolve import Resolved
    from allminds.runs.store import RunFolder
    from allminds.runs.summary import answer_of_run
    from allminds.terminal import show_profiles, show_test, watching
    from allminds.terminal.answer import SCREEN, show_answer

    if write_plan:
        print(plans.plan_text(plan), end="")
        return
    if accept_changes and resume is None:
        raise Error("--accept-changes is about a run that is resumed; name its folder by --resume")
    given = (plan != plans.DEFAULT, mind, out, only, episodes is not None, seed is not None)
    if resume is not None and any(given):
        raise Error(
            "--resume takes the plan from its folder; leave out PLAN, --mind, --out, --only, "
            "--episodes and --seed"
        )
    if dry_run:
        registry.built_in_only("a dry run", trust)
    with (
        reserved(resume or out or (Path() if dry_run else None)) as target,
        watching(again := f"allminds run --resume {target}") as progress,
        spending(max_cost, price, dry_run, reply_tokens) as ledger,
    ):
        assert target is not None
        found = RunFolder.open(resume) if resume else None
        whole = found.plan if found else plans.read_plan(plan)
        if only or episodes is not None or seed is not None:
            whole = plans.narrowed(whole, only, episodes, seed)
        what = Resolved.of(whole, mind or [], narrowed=bool(only))
        _tell_left_out(what, verbose)
        if not (yes or dry_run or resume):
            counts = [test.exercises for test in what.plan.tests]
            check_length(zip(what.tests, counts, strict=True), what.plan.seed)
        how = runs.How(
            jobs=jobs, engine=engine, strict=strict, progress=progress,
            check=lambda: stop_if_spent(ledger, again), connections=max_connections,
        )  # fmt: skip
        if dry_run:
            runs.count_calls(what, how, found)
        else:
            folder = (
                runs.resume(found, how, what, accept_changes)
                if found
                else runs.run(what, target, how)
            )
            page = write_report(folder, target / "report.html")
    if dry_run:
        print(ledger)
        return
    tests = folder.summary()["tests"]
    if verbose:
        for test in tests:
            show_test(test)
        show_profiles(folder.plan.tests, tests)
    show_answer(answer_of_run(folder), None if verbose else SCREEN)
    if ledger.calls:
        print(ledger)
    print_line(f"report: {page}")
    if folder.lacking():
        if not verbose:  # whose tables have said it
            _tell_missing(tests)
        print(f"the run is not complete; its missing exercises are asked again by: {again}")
    leave(tests)


def _tell_left_out(what: Resolved, verbose: bool) -> None:
    """Say which tests minds cannot take: a line for each mind, or with every reason."""
    for sentence in what.left_out if verbose else what.left_out_in_short():
        print(f"allminds: {sentence}", file=sys.stderr)


def _tell_missing(tests: Sequence[dict[str, Any]]) -> None:
    """Say how many exercises of which tests are missing, and why."""
    from allminds.inference.words import missing
    from allminds.terminal.tables import say

    for test in tests:
        for sentence in missing(test["results"]):
            say(f"{test['instrument']}, {sentence}")


def leave(tests: Sequence[dict[str, Any]]) -> None:
    """Leave with exit code 1 if a mind failed all exercises of a test, and say so."""
    from allminds.runs.summary import total_failures

    sentences = total_failures(tests)
    sys.stdout.flush()  # the table comes first, whoever reads both
    for sentence in sentences:
        print(f"allminds: {sentence}", file=sys.stderr)
    if sentences:
        raise typer.Exit(1)


def stop_if_spent(ledger: Ledger, again: str) -> None:
    """Stop with an error if the budget is spent, so that the rest can be asked later."""
    if ledger.unasked:
        price = "" if ledger.price is None else f" --price {'{:g}/{:g}'.format(*ledger.price)}"
        raise Error(
            f"${ledger.most:g} are spent and the run is not complete; the exercises that were done "
            f"are kept, and as much again is spent by: {again} --max-cost {ledger.most:g}{price}"
        )


@contextlib.contextmanager
def reserved(out: Path | None, needed: bool = True) -> Iterator[Path | None]:
    """Reserve the folder for a run: `out`, or the next of runs/1, runs/2, …, which is made here.

    If none can be made, that is an error, or None with a sentence unless it is `needed`: what was
    measured can be shown all the same. A folder that stays empty is removed.
    """
    folder = out
    try:
        folder = out or _next_folder()
    except OSError as error:
        said = f"cannot write {error.filename}: {error.strerror}; name a folder with --out"
        if needed:
            raise Error(said) from None
        print(f"allminds: the run is not saved: {said}", file=sys.stderr)
    try:
        yield folder
    finally:
        if out is None and folder is not None:
            with contextlib.suppress(OSError):  # it is not empty, as a rule
                folder.rmdir()
                folder.parent.rmdir()


def _next_folder() -> Path:
    """Make the first of runs/1, runs/2, … that is not there yet."""
    number, runs = 1, Path("runs")
    runs.mkdir(exist_ok=True)
    while True:
        with contextlib.suppress(FileExistsError):
            (runs / str(number)).mkdir()
            return runs / str(number)
        number += 1
