"""Commands of allminds as tests give them: in this process, or in a process of their own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from unittest import mock


def started(*words, cwd=None, **more):
    """Run a command in a new process, as a shell does; `more` are variables of its environment."""
    return subprocess.run(
        [sys.executable, "-m", "allminds", *map(str, words)],
        capture_output=True, text=True, check=False, cwd=cwd, env=os.environ | more,
    )  # fmt: skip


def allminds(*words, cwd=None, **more):
    """Run a command here: starting Python and importing again is most of what a small one costs."""
    from allminds.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    argv = ["allminds", *map(str, words)]
    with (
        mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ, more),
        contextlib.chdir(cwd or os.curdir),
        contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
    ):  # fmt: skip
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())


def assert_refused(words, said, folder):
    """A wrong command ends with 2, says why in one line, and leaves nothing in its folder."""
    done = allminds(*words, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("allminds: ")
    assert done.stderr.count("\n") == 1
    assert not list(folder.iterdir())
