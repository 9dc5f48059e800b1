"""Ways out: the instruments in other people's worlds, and other people's agents as minds.

`gymnasium` (one mind), `vector` (many copies of Λ* at once) and `pettingzoo` (several minds) turn
`allminds.episode.Episode` into what training libraries drive; `policies` makes a mind of what
they trained. Each imports its library only when it is itself imported.
"""

from __future__ import annotations

from allminds.contracts import Instrument


def environment_id(tool: type[Instrument] | Instrument) -> str:
    """The id of an instrument's environment: ``lambda-star`` is ``allminds/LambdaStar-v1``.

    Its number is one less than the instrument's version, so it goes up whenever results could
    change.
    """
    words = "".join(word.capitalize() for word in tool.name.split("-"))
    return f"allminds/{words}-v{tool.version - 1}"


def agent_name(slot: int) -> str:
    """What the mind in a slot is called where agents have names."""
    return f"player_{slot}"


def items_of(tool: Instrument) -> str:
    """Whether an instrument's items are `published`, which a language model may have met."""
    return "published" if getattr(tool.settings, "form", "") == "published" else "fresh"
