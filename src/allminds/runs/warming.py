"""The first run on a machine: kernels are compiled ahead, by another process, on another core.

Compiling is most of a first run and keeps one core busy. While the first test of a plan compiles
its own kernels, a helper plays one exercise of each of the others; what it compiled is on disk when
the run gets there. It writes nothing else, and if anything goes wrong in it, the run does without.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from allminds.runs import engine
from allminds.runs.plan import Plan


@contextlib.contextmanager
def compiling_ahead(plan: Plan) -> Iterator[None]:
    """Compile the kernels of later tests in another process, if none ever were compiled."""
    from allminds.core.compiled import is_cold

    if len(plan.tests) < 2 or not is_cold():
        yield
        return
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt is for the run, which ends this
    ) as helper:  # fmt: skip
        try:
            assert helper.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                helper.stdin.write(plan.model_dump_json().encode())
                helper.stdin.close()
            yield
        finally:
            helper.kill()


def compile_all(plan: Plan) -> None:
    """Play the first exercise of every test but the first, with the minds that have kernels."""
    for test in plan.tests[1:]:
        given = engine.Given.of(test.instrument, test.settings, test.minds)
        sittings = given.seats(plan.seed, plan.traces, plan.time_limit)
        if sittings[0].compiled:
            engine.play(sittings[0], 0, 0, sittings[0].tool.sitting)


if __name__ == "__main__":
    compile_all(Plan.model_validate_json(sys.stdin.buffer.read()))
