"""The command line: a file for each verb. Heavy imports wait until a command needs them."""

from importlib import import_module

from allminds.cli.app import app, join_lines, main

VERBS = (  # in the order of --help
    "list", "show", "run", "evaluate", "report", "card", "compare", "replay", "import_export",
    "plan_size",
    "testbed", "complexity", "calibrate", "predict", "vote", "crossing", "select", "serve", "study",
    "make", "reproduce",
)  # fmt: skip
for _verb in VERBS:
    import_module(f"allminds.cli.{_verb}")
join_lines(app)

__all__ = ["main"]
