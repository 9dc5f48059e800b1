"""Commands that give tests: run, evaluate, list, report, replay."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import JsonOption, PlotOption, app, print_json
from allminds.cli.reading import settings_of
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.core.spending import Ledger
    from allminds.runs.plan import Plan

CORES = os.cpu_count() or 1
MOST_TABLES = 30  # on the screen: more than the battery has
MindOption = Annotated[
    list[str] | None,
    typer.Option("--mind", "-m", metavar="MIND", help="A name, module:Name or file.py:Name."),
]
JobsOption = Annotated[int, typer.Option(min=1, help="Threads or processes.")]
StrictOption = Annotated[
    bool,
    typer.Option(help="Stop at the first exercise that fails, and show where in your code it did."),
]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="ENGINE",
        help="Where to play: local, dask (a cluster on this machine), or a Dask scheduler's "
        "address, tcp://host:8786. The results are the same.",
    ),
]
MaxCostOption = Annotated[
    float | None, typer.Option(help="Dollars: what language models may cost at most.")
]
PriceOption = Annotated[str, typer.Option(help="Dollars per million tokens in and out, as 2.5/10.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Ask no language model; count the calls, and stop.")
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]


@app.command(epilog="Example: allminds run  |  allminds run groups  |  allminds run plan.toml")
def run(
    plan: Annotated[
        str, typer.Argument(metavar="[PLAN]", help="A TOML file, or battery, groups or factors.")
    ] = "battery",
    mind: MindOption = None,
    write_plan: Annotated[
        bool, typer.Option("--write-plan", help="Print the plan with comments, and stop.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the run; runs/1, … if none.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Finish the run in this folder.")] = None,
    engine: EngineOption = "local",
    jobs: JobsOption = CORES,
    strict: StrictOption = False,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    dry_run: DryRunOption = False,
) -> None:
    """Give tests to minds: a plan of yours, or a built-in one (battery, groups, factors).

    Shows a table for every test and writes one HTML report into the run folder. The exit code is
    1 if a mind failed every exercise of a test.
    """
    from allminds.core.spending import spending
    from allminds.report import write_report
    from allminds.runs import plan as plans
    from allminds.runs import run as runs
    from allminds.runs.asking import Asking, count_calls
    from allminds.runs.store import RunFolder
    from allminds.terminal import show_profiles, show_test, watching

    if write_plan:
        print(plans.plan_text(plan), end="")
        return
    if resume is not None and (plan != plans.DEFAULT or mind or out):
        raise Error("--resume takes the plan from its folder; leave out PLAN, --mind and --out")
    target = resume or out or _free_folder()
    again = f"allminds run --resume {target}"
    with watching(again) as progress, spending(max_cost, price, dry_run) as ledger:
        found = RunFolder.open(resume) if resume else None
        what = found.plan if found else _plan_with(plan, mind or [])
        how = Asking(
            jobs=jobs, engine=engine, strict=strict, progress=progress,
            check=lambda: _stop_if_spent(ledger, again),
        )  # fmt: skip
        if dry_run:
            count_calls(what, how, found)
        else:
            folder = runs.resume(target, how) if found else runs.run(what, target, how)
            page = write_report(folder, target / "report.html")
    if dry_run:
        print(ledger)
        return
    tests = folder.summary()["tests"]
    for test in tests[:MOST_TABLES]:
        show_test(test)
    if len(tests) > MOST_TABLES:
        print(f"… and {len(tests) - MOST_TABLES} more tests, all of them in the report")
    show_profiles(folder.plan.tests, tests)
    if ledger.calls:
        print(ledger)
    print(f"report: {page}")
    if folder.lacking():
        print(f"the run is not complete; its missing exercises are asked again by: {again}")
    _end(tests)


@app.command(
    epilog='Example: allminds evaluate lambda-star -m local-search -m "expert(intercept=false)"'
)
def evaluate(
    instrument: Annotated[str, typer.Argument(help="Its name (allminds list), or FILE.py:CLASS.")],
    mind: MindOption = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting.")
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(help="Exercises each mind is given; 1000, or all of a fixed form."),
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
) -> None:
    """Give one instrument to some minds, and show their scores with floor and ceiling.

    The exit code is 1 if a mind failed every exercise.
    """
    from allminds.core.spending import spending
    from allminds.evaluate import evaluate as give
    from allminds.runs.asking import Asking
    from allminds.terminal import show_test, watching

    minds = list(mind or [])
    if not minds and as_json:
        raise Error("name at least one mind with --mind; see allminds list minds")
    with watching() as progress, spending(max_cost, price, dry_run) as ledger:
        how = Asking(jobs=jobs, engine=engine, strict=strict, progress=progress)
        found = give(
            instrument, minds, settings=settings_of(setting or []), seed=seed, how=how,
            time_limit=time_limit, episodes=episodes, ends=not dry_run, records=False,
        ).summary  # fmt: skip
    asked = {"llm": ledger.as_json()} if ledger.calls or dry_run else {}
    if dry_run:
        print_json(asked) if as_json else print(ledger)
        return
    if plot is not None:
        from allminds.report.figure import save_chart, score_chart
        from allminds.terminal.tables import best_first

        save_chart(score_chart(best_first(found), f"score on {instrument}"), plot)
    if as_json:
        print_json(found | asked)
    else:
        show_test(found)
        if asked:
            print(ledger)
    _end([found])


@app.command("list", epilog="Example: allminds list minds")
def list_what(
    what: Annotated[str, typer.Argument(help="instruments, minds or papers")] = "instruments",
    as_json: JsonOption = False,
) -> None:
    """List what there is: instruments, minds or papers, with a line each."""
    from allminds.core.errors import nearest
    from allminds.terminal import listing, show_listing

    kinds = ("instruments", "minds", "papers")
    if what not in kinds:
        raise Error(f"cannot list '{what}'; {nearest(what, kinds)}")
    found = listing(what)
    if as_json:
        print_json({what: found})
    else:
        show_listing(found)


@app.command(
    epilog="Example: allminds report runs/1  |  allminds report runs/1 runs/2 -o both.html  |  "
    "allminds report runs/1 --weights lambda-star=1,c-test=2"
)
def report(
    run: Annotated[list[Path], typer.Argument(metavar="RUN …", help="Run folders.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File; RUN/report.html if none.")
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            metavar="NAME=W,…", help="Weights of instruments, for a total: c-test=2,matrices=1."
        ),
    ] = "",
) -> None:
    """Write the HTML report of a run again, or of several runs side by side."""
    from allminds.report import write_report
    from allminds.runs.store import RunFolder

    if len(run) > 1 and out is None:
        raise Error("a report of several runs needs a file of its own; name it with --out")
    folders = [RunFolder.open(one) for one in run]
    page = write_report(folders, out or run[0] / "report.html", _weights(weights))
    print(f"report: {page}")


@app.command(epilog="Example: allminds replay runs/1 --exercise 7 --mind local-search")
def replay(
    run: RunArgument,
    exercise: Annotated[int, typer.Option(min=0, help="Number of the exercise.")],
    mind: Annotated[str | None, typer.Option(help="Whose; the first mind if none.")] = None,
    test: Annotated[int, typer.Option(min=1, help="Number of the test in the plan.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Show one exercise of a run step by step, and check it against what was recorded."""
    from allminds.runs.replay import replayed
    from allminds.runs.store import RunFolder

    steps = replayed(RunFolder.open(run), exercise, mind, test - 1)
    if as_json:
        print_json(steps.as_json())
    else:
        print(steps.as_text())


# ---------------------------------------------------------------- helpers


def _end(tests: Sequence[dict[str, Any]]) -> None:
    """Leave with exit code 1 if a mind failed all exercises of a test, and say so."""
    from allminds.runs.summary import total_failures

    sentences = total_failures(tests)
    sys.stdout.flush()  # the table comes first, whoever reads both
    for sentence in sentences:
        print(f"allminds: {sentence}", file=sys.stderr)
    if sentences:
        raise typer.Exit(1)


def _plan_with(name: str, minds: list[str]) -> Plan:
    """Add minds to a plan and print which tests each of them cannot take."""
    from allminds.runs.plan import read_plan, with_minds

    found, left_out = with_minds(read_plan(name), minds)
    for sentence in left_out:
        print(f"allminds: {sentence}", file=sys.stderr)
    return found


def _stop_if_spent(ledger: Ledger, again: str) -> None:
    """Stop with an error if the budget is spent, so that the rest can be asked later."""
    if ledger.unasked:
        price = "" if ledger.price is None else f" --price {'{:g}/{:g}'.format(*ledger.price)}"
        raise Error(
            f"${ledger.most:g} are spent and the run is not complete; the exercises that were done "
            f"are kept, and as much again is spent by: {again} --max-cost {ledger.most:g}{price}"
        )


def _weights(text: str) -> dict[str, float]:
    """Parse weights by instrument, from NAME=W words with commas between."""
    found: dict[str, float] = {}
    for part in text.split(",") if text else ():
        name, _, value = part.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            name = ""
        if not name.strip():
            raise Error(f"--weights takes NAME=W,NAME=W, such as c-test=2,matrices=1, not '{text}'")
    return found


def _free_folder() -> Path:
    number = 1
    while (Path("runs") / str(number)).exists():
        number += 1
    return Path("runs") / str(number)
