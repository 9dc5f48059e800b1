"""The command line: a file for a verb, or for verbs that are used together.

The first line of a file names its verbs. Heavy imports wait until a command needs them.
"""

from importlib import import_module

from allminds.cli.app import app, join_lines, main

FILES = (  # in the order of --help
    "list", "run", "evaluate", "worth", "report", "compare",
    "plan_size", "design", "accuracy", "study", "make",
)  # fmt: skip
for _file in FILES:
    import_module(f"allminds.cli.{_file}")
join_lines(app)

__all__ = ["main"]
