"""How a language model is asked: the parameters of ``llm(…)``, which are part of its name."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

from allminds.contracts import Instrument
from allminds.core.errors import Error

FORMS = ("text", "image")
ANSWERS = ("text", "schema", "tool")
EVERY = 10  # steps between two summaries, if no number is named
_HISTORY = re.compile(r"full|last\(([1-9]\d{0,5})\)|summary(?:\(([1-9]\d{0,5})\))?")
# parameters that a provider is sent, by their names in Inspect
GENERATION = {
    "effort": "reasoning_effort",
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "seed": "seed",
}
_PLAIN = re.compile(r'[^\s(),=*"]+|full|last\(\d+\)|summary\(\d+\)')


@dataclass(frozen=True)
class Manner:
    """How a model is asked; what is None or empty is as the provider or the instrument has it."""

    form: str = ""
    effort: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    system: str = ""
    few_shot: int = 0
    history: str = "full"
    answer: str = "text"

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        if self.answer not in ANSWERS:
            raise Error(f"there is no answer={self.answer}; choose {', '.join(ANSWERS)}")
        if not _HISTORY.fullmatch(self.history):
            raise Error(f"history is full, last(n), summary or summary(n), not '{self.history}'")
        if self.few_shot < 0:
            raise Error(f"few_shot must be 0 or more, not {self.few_shot}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise Error(f"max_tokens must be 1 or more, not {self.max_tokens}")
        if self.temperature is not None and not self.temperature >= 0:
            raise Error(f"temperature must be 0 or more, not {self.temperature:g}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise Error(f"top_p must be above 0 and at most 1, not {self.top_p:g}")

    @property
    def trims(self) -> bool:
        """True if only the last steps are sent."""
        return self.history.startswith("last")

    @property
    def summarises(self) -> bool:
        """True if a summary of the model's own replaces what came before."""
        return self.history.startswith("summary")

    @property
    def kept(self) -> int:
        """The number of steps that are kept, or that a summary is made after."""
        found = _HISTORY.fullmatch(self.history)
        assert found is not None
        return int(found[1] or found[2] or EVERY)

    @property
    def generation(self) -> dict[str, Any]:
        """The settings that the provider is sent, by their names in Inspect."""
        given = {theirs: getattr(self, ours) for ours, theirs in GENERATION.items()}
        return {name: value for name, value in given.items() if value not in (None, "")}

    def named(self, model: str, tool: Instrument) -> str:
        """Write the name of the mind, which `allminds evaluate` accepts: ``llm(MODEL,…)``."""
        parts = [model]
        for one in fields(self):
            value = getattr(self, one.name)
            if value == one.default or (one.name == "form" and value == form_of(tool, "")):
                continue
            text = f"{value:g}" if isinstance(value, float) else str(value)
            plain = _PLAIN.fullmatch(text)
            parts.append(f"{one.name}={text if plain else quoted(text)}")
        return f"llm({','.join(parts)})"


def quoted(text: str) -> str:
    """Put a text into the double quotes that a name may have round a value."""
    return '"' + text.replace('"', "'") + '"'


def sent_by(config: Any) -> dict[str, Any]:
    """Return the parameters of a manner that a configuration of Inspect sets."""
    made = {ours: getattr(config, theirs) for ours, theirs in GENERATION.items()}
    made["system"] = config.system_message
    return {name: value for name, value in made.items() if value is not None}


def form_of(tool: Instrument, form: str) -> str:
    """Choose text or image: the form asked for, or else the instrument's usual one."""
    if form and form not in FORMS:
        raise Error(f"there is no form '{form}'; choose {' or '.join(FORMS)}")
    pictured = tool.presentation.pictured
    if form == "image" and not pictured:
        raise Error(f"{tool.name} is shown to language models as text, not as an image")
    return form or ("image" if pictured else "text")
