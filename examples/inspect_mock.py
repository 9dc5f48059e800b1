"""A mock model through Inspect: no network, no key, nothing to pay.

    python examples/inspect_mock.py

It plays fresh letter series, the prisoner's dilemma against a program and the stag hunt with
itself, and puts the logs into the common table. With a real model, on the command line:

    inspect eval allminds/c_test --model openai/gpt-4o -T n=50
    inspect eval allminds/game --model openai/gpt-4o -T name=stag-hunt
    allminds import logs/….eval --out runs/gpt-4o
"""

from __future__ import annotations

import tempfile
from typing import Any

import inspect_ai
import pandas as pd
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from allminds.bridges import inspect_ai as tasks
from allminds.runs.imports import read_results


def reply(messages: list[Any], *given: Any) -> ModelOutput:
    """Say the last of the choices in a game, or the letter that comes first in a series."""
    shown = str(messages[-1].content).splitlines()[-1]
    answer = shown.split(", ")[-1] if shown.startswith("Choose: ") else shown[0]
    output = ModelOutput.from_content("mockllm/model", f"ANSWER: {answer}")
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)  # or it is
    return output  # counted with a table that is fetched from the network


def main() -> None:
    """Evaluate, import, and print."""
    given = [
        tasks.c_test(n=18),
        tasks.game(name="prisoners-dilemma", n=2, against="tit-for-tat"),
        tasks.game(name="stag-hunt", n=2, steps=5),
    ]
    with tempfile.TemporaryDirectory() as folder:
        model = get_model("mockllm/model", custom_outputs=reply)
        logs = inspect_ai.eval(given, model=model, log_dir=folder, display="none")
        table = pd.concat([read_results(log.location) for log in logs])
    by = table.groupby(["instrument", "items", "mind"], sort=True)
    print(by.agg(exercises=("exercise", "nunique"), score=("score", "mean")).to_string())


if __name__ == "__main__":
    main()
