"""Write docs/cli.md, the page of all commands, from the functions behind them.

``python docs/make_cli.py`` writes it; a test compares it with what is there.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.models import ArgumentInfo, CommandInfo

import allminds.cli  # noqa: F401 - its modules register the commands
from allminds.cli.app import app
from allminds.cli.make import command_of, generators

PAGE = Path(__file__).parent / "cli.md"
HEAD = """\
# Commands

Every command has `--help`, which says the same as this page. What a user can mend is told in one
line, with exit code 2. This page is written by `python docs/make_cli.py`.

**Completion.** `allminds --install-completion` teaches your shell (bash, zsh, fish or PowerShell) to complete
commands, options, instruments, the minds of the instrument or the run that the line names, and settings:
`allminds evaluate c-test --set fo` and the tab key give `form=published`, `form=generated` and `form=fresh`. A setting
without choices is completed with its default. `allminds --show-completion` prints the script instead.
"""


class Parameter(NamedTuple):
    """An argument or an option of a command."""

    usage: str
    argument: bool
    required: bool
    help: str
    default: str


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_section(path, one) for path, one in sorted(_commands(app), key=_path))


def options() -> dict[str, set[str]]:
    """The names of the options of every command."""
    found = {}
    for path, one in _commands(app):
        assert one.callback is not None
        names = " ".join(each.usage for each in _parameters(one.callback) if not each.argument)
        found[path.removeprefix("allminds ")] = set(re.findall(r"--?[a-z][a-z-]*", names))
    return found


def _path(named: tuple[str, CommandInfo]) -> str:
    return named[0]


def _commands(of: typer.Typer, path: str = "allminds") -> Iterator[tuple[str, CommandInfo]]:
    """All commands, with what one types to call them."""
    for one in of.registered_commands:
        assert one.callback is not None
        yield f"{path} {one.name or one.callback.__name__.replace('_', '-')}", one
    for group in of.registered_groups:
        assert group.typer_instance is not None
        name = group.name or group.typer_instance.info.name
        yield from _commands(group.typer_instance, f"{path} {name}")
        if name == "make":
            yield from _generators(f"{path} {name}")


def _generators(path: str) -> Iterator[tuple[str, CommandInfo]]:
    """The commands of the instruments' generators."""
    for name, one in generators().items():
        callback = command_of(name, one)
        yield (
            f"{path} {name}",
            CommandInfo(name, callback=callback, help=inspect.getdoc(one), epilog=one.example),
        )


def _section(path: str, command: CommandInfo) -> str:
    assert command.callback is not None
    parameters = sorted(_parameters(command.callback), key=lambda one: not one.argument)
    said = command.help or inspect.getdoc(command.callback) or ""
    words = [one.usage for one in parameters if one.argument]
    options = ["[OPTIONS]"] if len(words) < len(parameters) else []
    usage = " ".join([path, *words, *options])
    lines = ["", f"## {path}", "", f"```text\n{usage}\n```", "", _paragraphs(said), ""]
    if parameters:
        lines += ["| parameter | what it is | default |", "| --- | --- | --- |"]
        lines += [f"| `{one.usage}` | {_cell(one.help)} | {one.default} |" for one in parameters]
        lines += [""]
    if command.epilog:
        examples = command.epilog.removeprefix("Example: ").removeprefix("Examples: ")
        lines += ["```text", *examples.split("  |  "), "```", ""]
    return "\n".join(lines)


def _parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    hints = typing.get_type_hints(function, include_extras=True)
    for name, one in inspect.signature(function).parameters.items():
        kind, info = typing.get_args(hints[name])
        if info.hidden:
            continue
        argument = isinstance(info, ArgumentInfo)
        required = one.default is one.empty
        usage = _argument(name, info, kind) if argument else _option(name, info, kind)
        help_ = info.help or ""
        yield Parameter(usage, argument, required, help_, _default(info, one.default))


def _argument(name: str, info: Any, kind: Any) -> str:
    return info.metavar or name.upper() + ("..." if _is_list(kind) else "")


def _option(name: str, info: Any, kind: Any) -> str:
    # within Annotated the first name stands where a default would
    named = [one for one in (info.default, *(info.param_decls or ())) if isinstance(one, str)]
    plain = name.replace("_", "-")
    if _plain_type(kind) is bool:
        return ", ".join(named) or f"--{plain}/--no-{plain}"
    names = sorted(named, key=len, reverse=True) or [f"--{plain}"]
    words = {int: "NUMBER", float: "NUMBER", Path: "PATH"}
    takes = info.metavar or words.get(_plain_type(kind), "TEXT")
    return f"{', '.join(names)} {takes}"


def _plain_type(kind: Any) -> Any:
    """What is left of a type without None and without the list."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    return typing.get_args(kind)[0] if typing.get_origin(kind) is list else kind


def _is_list(kind: Any) -> bool:
    return "list" in str(kind)


def _default(info: Any, value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(info.show_default, str):
        return info.show_default  # of the machine that runs it, not of the one that wrote the page
    if value in (None, False, "", (), []):
        return ""
    return "yes" if value is True else f"`{value}`"


def _cell(text: str) -> str:
    return _paragraphs(text).replace("|", "\\|")


def _paragraphs(text: str) -> str:
    """A docstring as paragraphs, whose line breaks are the source's."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
