"""A mock model through Inspect: no network, no key, nothing to pay.

    python examples/inspect_mock.py

It plays fresh letter series and the prisoner's dilemma, and puts the logs into the common table.
With a real model the same is done on the command line:

    inspect eval allminds/c_test --model openai/gpt-4o -T n=50
    allminds import logs/….eval --out runs/gpt-4o
"""

from __future__ import annotations

import tempfile
from typing import Any

import inspect_ai
import pandas as pd
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from allminds.administration.imports import read_results
from allminds.bridges import inspect_ai as tasks


def reply(messages: list[Any], *given: Any) -> ModelOutput:
    """Say the letter that comes first in the series, or defect."""
    question = str(messages[-1].content)
    answer = "defect" if "Choose: cooperate" in question else question.splitlines()[-1][0]
    output = ModelOutput.from_content("mockllm/model", f"ANSWER: {answer}")
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)  # or it is
    return output  # counted with a table that is fetched from the network


def main() -> None:
    """Evaluate, import, and print."""
    given = [tasks.c_test(n=18), tasks.prisoners_dilemma(n=2, against="tit-for-tat")]
    with tempfile.TemporaryDirectory() as folder:
        model = get_model("mockllm/model", custom_outputs=reply)
        logs = inspect_ai.eval(given, model=model, log_dir=folder, display="none")
        table = pd.concat([read_results(log.location) for log in logs])
    by = table.groupby(["instrument", "items", "mind"], sort=True)
    print(by.agg(exercises=("exercise", "nunique"), score=("score", "mean")).to_string())


if __name__ == "__main__":
    main()
