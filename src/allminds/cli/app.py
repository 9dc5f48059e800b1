"""The command line itself: name, version, exit codes, and the options that commands share."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from allminds.core.errors import Error, printable

if TYPE_CHECKING:
    from allminds.runs.engine import Given

app = typer.Typer(
    name="allminds",
    help="Measure minds: programs, learners, language models, people, and groups of them.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
# the panels of --help: what one wants to do
LOOK, GIVE, READ, DESIGN = "Find out what there is", "Give tests", "Read results", "Design a test"
MODEL, PEOPLE, DATA = "The accuracy model", "Studies with people", "Data sets and papers"
LONG = 10**7  # exercises of a test, from which on one must say --yes
TRIED = 256, 1.0  # exercises, or seconds, of the trial that tells how long all would take
CORES = os.cpu_count() or 1
INSTRUMENT_HELP = "Its name (allminds list), or FILE.py:CLASS."


def join_lines(of: typer.Typer) -> None:
    """Make every paragraph of the commands' docstrings one line, to be wrapped by the terminal."""
    for command in of.registered_commands:
        text = inspect.getdoc(command.callback) or ""
        command.help = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    for group in of.registered_groups:
        if group.typer_instance is not None:
            join_lines(group.typer_instance)


def print_json(value: Any) -> None:
    """Print a value as JSON, as commands do with --json."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """Convert a NumPy number to a plain one, anything else to its text."""
    return value.item() if hasattr(value, "item") else str(value)


def _version(asked: bool) -> None:
    if asked:
        import importlib.metadata

        print(f"allminds {importlib.metadata.version('allminds')}")
        raise typer.Exit


def _trust_again() -> None:
    """End what a command said about code that data name: another may run in this process."""
    if "allminds.registry" in sys.modules:
        from allminds import registry

        registry.built_in_only("")


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - read by its callback
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    from allminds.core.spending import LEDGER, refuse

    before = LEDGER.get()
    refuse(f"allminds {context.invoked_subcommand}")  # unless it opens the books: see `spending`
    context.call_on_close(lambda: LEDGER.set(before))
    context.call_on_close(_trust_again)


_UsageError: Any = typer.BadParameter.__bases__[0]  # the command-line library's own


def main() -> None:
    """Run the command line; print an error that a user can mend in one line, exit with code 2."""
    try:
        if os.environ.get("_ALLMINDS_COMPLETE") == "complete_bash":
            _complete_in_bash()
            return
        code = app(standalone_mode=False)
        if code:  # of `typer.Exit`
            sys.exit(code)
    except Error as error:
        sys.exit(_said(str(error), error.detail))
    except _UsageError as error:
        where, wrong = error.ctx.command_path if error.ctx else "allminds", error.format_message()
        sys.exit(_said(f"{wrong.rstrip('.')}; see {where} --help") if wrong else 2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # of a path that the system does not take, or a device
        where = "a file or device" if error.filename is None else error.filename
        sys.exit(_said(f"cannot use {where}: {error.strerror or error}"))
    except MemoryError:
        sys.exit(_said("that needs more memory than there is; ask for less at a time"))
    except Exception as error:
        if os.environ.get("ALLMINDS_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}"[:300]
        _said(f"{what}; this is a fault of allminds: please report it, with the command and what "
              "ALLMINDS_TRACEBACK=1 shows in front of it")  # fmt: skip
        sys.exit(70)


def _complete_in_bash() -> None:
    """Complete a word with = or : in it, which bash takes for several words.

    Bash has `form`, `=` and `g` where the user typed form=g, and replaces the last of them only.
    """
    whole = [""]
    words = re.split(r"[ \n]", os.environ.get("COMP_WORDS", ""))
    for word in words[: int(os.environ["COMP_CWORD"]) + 1]:
        if word in ("=", ":") or whole[-1].endswith(("=", ":")):
            whole[-1] += word
        else:
            whole.append(word)
    words, last = whole[1:], whole[-1]
    os.environ |= {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    kept = max(last.rfind("="), last.rfind(":")) + 1
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        app(standalone_mode=False)
    print("\n".join(line[kept:] for line in said.getvalue().splitlines()))


def print_line(text: str) -> None:
    """Print a line that holds a name or a path, which must not steer the terminal."""
    print(printable(text))


def _said(sentence: str, detail: str = "") -> int:
    print(f"allminds: {printable(' '.join(sentence.split()))}", file=sys.stderr)
    if detail:
        print(printable(detail), file=sys.stderr)
    return 2


# ---------------------------------------------------------------- what a shell completes


def complete_instrument(incomplete: str) -> list[str]:
    """Complete the name of an instrument; none is imported for it."""
    from allminds import registry

    return [name for name in registry.instrument_names() if name.startswith(incomplete)]


def complete_mind(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a mind: of the run or the instrument that the line names, else of any."""
    from allminds import registry

    names = _minds_in(_words(context))
    if not names:
        one = _instrument(context)
        where = [one] if one else registry.instrument_names()
        names = {name for place in where for name in registry.minds(place)}
    return sorted(name for name in names if name.startswith(incomplete))


def _words(context: typer.Context) -> list[str]:
    """List the words of a line so far; those behind an option without a value are not parsed."""
    values = [context.params.get(name) for name in ("run", "instrument", "environment")]
    flat = [one for each in values for one in (each if isinstance(each, (tuple, list)) else [each])]
    return [str(one) for one in (*flat, *context.args) if one]


def _instrument(context: typer.Context) -> str:
    """Find the instrument that a line names, or an empty text."""
    from allminds import registry

    known = set(registry.instrument_names())
    return next((word for word in _words(context) if word in known), "")


def _minds_in(runs: Iterable[Any]) -> set[str]:
    """Read the names of the minds in the plans of run folders, as far as there are any."""
    found: set[str] = set()
    for run in runs:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            plan = json.loads((Path(run) / "plan.json").read_text(encoding="utf-8"))
            found.update(mind for test in plan["plan"]["tests"] for mind in test["minds"])
    return found


def complete_setting(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a setting of the instrument that the line names: KEY=VALUE for every choice.

    A setting without choices stands there with its default, to be changed.
    """
    from allminds import registry

    one = _instrument(context)
    if not one:
        return []
    fields = registry.kind(one).Settings.model_fields
    words = [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, info in fields.items()
        for value in (
            get_args(info.annotation) if get_origin(info.annotation) is Literal
            else (True, False) if info.annotation is bool else (info.get_default(),)
        )
    ]  # fmt: skip
    return [word for word in words if word.startswith(incomplete)]


# ---------------------------------------------------------------- options


JsonOption = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default="no figure",
        help="Draw a figure: a file that ends in .svg or .png.",
    ),
]
InstrumentArgument = Annotated[
    str, typer.Argument(help=INSTRUMENT_HELP, autocompletion=complete_instrument)
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]
MindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mind",
        "-m",
        metavar="MIND",
        show_default="the plan's, or floor and ceiling",
        help="A name, module:Name or file.py:Name.",
        autocompletion=complete_mind,
    ),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        show_default="the instrument's own",
        help="A setting.",
        autocompletion=complete_setting,
    ),
]
CourseOption = Annotated[
    str | None,
    typer.Option(
        metavar="PHASES",
        show_default="exercises one by one",
        help="Give exercises as a course, over which minds that carry learn: "
        "train=50,order=rising,test=20. Orders: drawn, rising, falling, blocked, interleaved.",
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        metavar="width=W",
        show_default="a fixed number of exercises",
        help="Choose exercises by the answers, and end when the ability is known within an "
        "interval of width W: width=1.0,most=300.",
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="FIGURE=VALUE",
        show_default="not computed",
        help="Exercises for rel=… or generalisability=…",
    ),
]
OptionsOption = Annotated[int, typer.Option(min=2, max=10**6, help="Options m of a task.")]
JobsOption = Annotated[
    int, typer.Option(min=1, max=1024, show_default="all cores", help="Threads or processes.")
]
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
    float | None,
    typer.Option(show_default="no limit", help="Dollars: what language models may cost at most."),
]
PriceOption = Annotated[
    str,
    typer.Option(
        show_default="not known", help="Dollars per million tokens in and out, as 2.5/10."
    ),
]
ReplyTokensOption = Annotated[
    int,
    typer.Option(min=1, max=10**6, help="Tokens of a likely reply, for the estimate of a dry run."),
]
ConnectionsOption = Annotated[
    int,
    typer.Option(
        "--max-connections", min=1, max=1000, help="The most calls of language models at once."
    ),
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Import the files and run the programs that the data name.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Ask no language model; estimate the costs, and stop.")
]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Print every table.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Begin, however long it will take.")]


def settings_of(given: list[str] | None) -> dict[str, Any]:
    """Parse settings from KEY=VALUE words."""
    settings: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Error(f"--set takes KEY=VALUE, such as rows=10, not '{text}'")
        settings[name.strip()] = value.strip()
    return settings


def budget_of(text: str | None) -> tuple[str, float] | None:
    """Parse a wanted reliability, such as rel=0.95."""
    from allminds.statistics.reliability import BUDGETS

    if text is None:
        return None
    figure, _, value = text.partition("=")
    try:
        wanted = float(value)
    except ValueError:
        wanted = 0.0
    if figure not in BUDGETS or not 0 < wanted < 1:
        raise Error(f"--budget takes rel=0.95 or generalisability=0.9, not '{text}'")
    return figure, wanted


def check_length(tests: Iterable[tuple[Given, int]], seed: int = 1) -> None:
    """Reject tests of more than `LONG` exercises, and say how long they would take.

    Each test comes with its number of exercises. The time is told by a trial of a few of them,
    without the minds that are paid by the call.
    """
    long = [(given, episodes) for given, episodes in tests if episodes > LONG]
    if not long:
        return
    hours = sum(_seconds_each(given, seed) * episodes for given, episodes in long) / 3600
    about = f"about {hours / 8766:,.0f} years" if hours > 17532 else f"about {hours:,.1f} hours"
    if not hours:
        about = "as long as a mind that is paid by the call does"
    count = sum(episodes for _, episodes in long)
    raise Error(f"{count:,} exercises would take {about} on one core; ask for fewer, or say --yes")


def _seconds_each(given: Given, seed: int) -> float:
    """Measure how long one exercise takes all minds of a test that cost nothing."""
    from dataclasses import replace

    from allminds.runs.run import How, give

    both = [
        (mind, one)
        for mind, one in zip(given.minds, given.line_ups, strict=True)
        if not any(seat.subject.paid for seat in one.seats)
    ]
    if not both:
        return 0.0
    given = replace(given, minds=[mind for mind, _ in both], line_ups=[one for _, one in both])
    most, enough = TRIED
    count = seconds = 0.0
    size = given.tool.sitting if given.tool.adaptive else 1
    give(given, size, seed, how=How(jobs=1))  # the first compiles
    while size < most and seconds < enough:
        begun = time.perf_counter()
        give(given, size, seed, how=How(jobs=1))
        count, seconds = size, time.perf_counter() - begun
        size *= 2
    return seconds / max(count, 1)
