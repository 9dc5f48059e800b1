"""The command line itself: its name, its version, and its exit codes."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import sys
from typing import Annotated, Any

import typer

from allminds.core.errors import Error, printable

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


def _said(sentence: str, detail: str = "") -> int:
    print(f"allminds: {printable(' '.join(sentence.split()))}", file=sys.stderr)
    if detail:
        print(printable(detail), file=sys.stderr)
    return 2
