"""Mock models of Inspect's, and what becomes of their logs."""

from __future__ import annotations

from inspect_ai.model import ModelOutput, ModelUsage, get_model

from allminds.runs.imports import import_results, read_results


def model(says, stop="stop"):
    """A mock model that says what `says` makes of the messages; it needs no network."""

    def reply(messages, *_given):
        text = says(messages) if callable(says) else says
        output = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return output

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


def imported(log, out):
    """A log in the common table."""
    return read_results(import_results(log.location, out))
