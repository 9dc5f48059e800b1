"""One reader of written replies, for all instruments, in `evaluate`, `run` and `inspect eval`.

A reply is read *strictly* if it is as it was asked for: its last line that begins with ``ANSWER:``,
or the whole reply, is just the answer. Otherwise it is read *leniently*: the last place that states
an answer counts ("Final answer: k", "The answer is **K**.", ``\\boxed{k}``, ``{"answer": "k"}``,
a last line with nothing else), freed of quotes, brackets, emphasis and a full stop. What is
stated there must then be one answer and no more: "b or c", "not b" and "a letter" are not read,
and no earlier statement is read instead. Both rates are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from allminds.contracts import Failure, Instrument

_STRICT = re.compile(
    r"^[ \t*#>]*answer[ \t*]*:[ \t*]*(.*?)[ \t\r*]*$", re.IGNORECASE | re.MULTILINE
)
_MARKS = r"[ \t*_`\"'“”]*"
_CUES = (
    r"\b(?:answer|solution|decision|(?:my|final|best|chosen|correct|right|missing|next) "
    rf"(?:choice|move|action|option|letter)){_MARKS}(?:is\b|would be\b|will be\b|:|=){_MARKS}:?",
    r"\bi(?:'ll| will|'d| would| shall)? (?:choose|pick|select|answer|play|go with|go for)\b:?",
    r"\b(?:so|thus|therefore|hence),? (?:it is|it's)\b:?",
)
_CUE = re.compile("|".join(_CUES), re.IGNORECASE)
_STATED_END = re.compile(r"[.;!](?=\s|$)|\s(?:because|since)\b|\s[(–—]|\s-\s")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_TAGGED = re.compile(r"<(answer|action|move|choice)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]*\}")
_KEYS = ("answer", "final_answer", "action", "move", "choice", "letter", "option")
_COMMAND = re.compile(r"\\(?:boxed|fbox|text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}")
_WORD = re.compile(r"(?:the |my )?(?:option|letter|action|move|choice|number|answer|#)\W*", re.I)
_BULLET = re.compile(r"^(?:[-*•>#]+)\s+")
_AROUND = " \t\r\n*_`~\"'“”‘’«»$.,;:!"
_PAIRS = ("()", "[]", "{}", "<>")
_REFUSAL = re.compile(
    r"\W*(?:(?:(?:i am|i'm) )?(?:very |so )?sorry\W*(?:but\W+)?(?:$|no\b|i (?:cannot|can't|can not|"
    r"won't|will not|must decline|decline|refuse|do not|don't|am unable|am not able)|"
    r"i'm (?:unable|not able))|(?:i am|i'm) (?:unable|not able)|i (?:cannot|can't|can not|won't|"
    r"will not|must decline|decline|refuse)|as an ai\b|unfortunately,? i (?:cannot|can't))",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """The action in a reply, or the failure, and whether it was written as it was asked for."""

    action: Any
    strict: bool

    @property
    def read(self) -> bool:
        """True if there is an action."""
        return not isinstance(self.action, Failure)


def read_reply(tool: Instrument, reply: str, observation: Any, stop: str = "stop") -> Reading:
    """Read the action in a reply; `stop` is Inspect's reason why the reply ended."""
    if stop == "content_filter":
        return Reading(Failure("refused", "the provider's filter stopped the reply"), False)
    if not reply.strip():
        return Reading(Failure("refused", "gave no answer"), False)
    asked = _STRICT.findall(reply)
    action = tool.read(asked[-1] if asked else reply.strip(), observation)
    if not isinstance(action, Failure):
        return Reading(action, True)
    plain = reply.replace("’", "'")
    cut = stop in ("max_tokens", "model_length")  # what was stated last is not its last word
    found = None if cut else _leniently(tool, plain, observation)
    if found is not None:
        return Reading(found, False)
    if not asked and _REFUSAL.match(plain):
        action = Failure("refused", f"refused: '{' '.join(reply.split())[:100]}'")
    elif cut:
        action = Failure("malformed", "the reply was cut off before its answer")
    return Reading(action, False)


def read_call(tool: Instrument, calls: Sequence[Any], observation: Any) -> Reading:
    """Read the action in the calls of a tool that a reply makes; all must give the same."""
    given = {str(one) for call in calls for one in call.arguments.values()}
    wrong = next((call for call in calls if call.parse_error or len(call.arguments) != 1), None)
    if wrong is not None:
        said = wrong.parse_error or f"{wrong.function} takes one argument, the answer"
        return Reading(Failure("malformed", " ".join(said.split())[:200]), False)
    if len(given) > 1:
        said = f"the tool was called with different answers: {', '.join(sorted(given))[:100]}"
        return Reading(Failure("malformed", said), False)
    return read_answer(tool, given.pop(), observation)


def read_object(tool: Instrument, reply: str, observation: Any) -> Reading | None:
    """Read the action in a reply that is a JSON object with an answer; None if it is none."""
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    answer = value.get("answer") if isinstance(value, dict) else None
    return read_answer(tool, str(answer), observation) if isinstance(answer, str | int) else None


def read_answer(tool: Instrument, words: str, observation: Any) -> Reading:
    """Read an answer that stands in its own field: strictly as it is, else leniently."""
    action = tool.read(words, observation)
    if not isinstance(action, Failure):
        return Reading(action, True)
    found = _one(tool, words, observation)
    return Reading(action if found is None else found, False)


def _leniently(tool: Instrument, reply: str, observation: Any) -> Any | None:
    """Read what the reply states last, or None if that is not one answer."""
    stated = sorted(_statements(reply))
    if stated:
        return _one(tool, stated[-1][1], observation)
    whole = _one(tool, reply, observation)
    if whole is not None:
        return whole
    lines = [line for line in reply.splitlines() if line.strip(_AROUND)]
    alone = [_one(tool, line, observation) for line in lines]
    if alone and all(one is None or one == alone[-1] for one in alone):
        return alone[-1]  # None if no line is an answer
    return None


def _statements(reply: str) -> Iterator[tuple[int, str]]:
    """Yield every place that states an answer: where it begins, and the words stated."""
    for cue in _CUE.finditer(reply):
        rest = reply[cue.end() :].lstrip(" \t*_`:")
        line = rest.lstrip().partition("\n")[0]
        yield cue.end(), _STATED_END.split(line, maxsplit=1)[0]
    for boxed in _BOXED.finditer(reply):
        yield boxed.end(), boxed[1]
    for tagged in _TAGGED.finditer(reply):
        yield tagged.end(), tagged[2]
    for found in _OBJECT.finditer(reply):
        try:
            value = json.loads(found[0])
        except ValueError:
            continue
        given = [value[key] for key in value if str(key).lower() in _KEYS]
        if len(given) == 1 and isinstance(given[0], str | int):
            yield found.end(), str(given[0])


def _one(tool: Instrument, words: str, observation: Any) -> Any | None:
    """Read words that are one answer, as they stand or freed of what stands around them."""
    before = ""
    text = words.strip()
    while text != before:
        action = tool.read(text, observation)
        if not isinstance(action, Failure):
            return action
        before = text
        text = _COMMAND.sub(r"\1", _BULLET.sub("", text)).strip(_AROUND)
        if len(text) > 1 and text[0] + text[-1] in _PAIRS:
            text = text[1:-1].strip()
        elif text == before and (word := _WORD.match(text)):
            text = text[word.end() :]
    return None
